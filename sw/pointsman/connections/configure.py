"""Connections into configurations, by a scheduler that is chosen by name.

Takes connections of a network; gives configurations, in which no two connections share a link, a source or a destination, and
a lower bound of their number. Leaves alone the order of the configurations. All schedulers have the same signature
(``Scheduler``); to add another, name it in ``SCHEDULERS``: ``pointsman configure`` offers it and the laws are tested on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pointsman.artifacts.configurations.configurations import ConfigurationBound, Configurations, ConnectionProblem
from pointsman.errors import PointsmanError

from .algorithms.crossbar import edge_colours
from .algorithms.dsatur import dsatur
from .algorithms.hypercube import of_hypercube
from .algorithms.iterated import iterated_greedy
from .algorithms.tabu import place_all, without_last
from .algorithms.yuan import colouring, colouring_updated, combined, greedy, ordered_aapc
from .bounds import bounds_of
from .conflicts import Conflicts, conflicts_of

MAX_AAPC_NODES = 256
"""Most nodes of a network for which ``best`` also starts from *aapc*, the all-to-all."""
MAX_DSATUR = 20_000
"""Most connections for which ``best`` starts from *dsatur*; above, from *greedy*."""
WORK = 300_000_000
"""Resources that the tabu search examines for each number of configurations before it gives up, at effort 1."""
ROUNDS = 20


@dataclass(frozen=True)
class ScheduleOptions:
    """Options of schedulers that search: they stop at ``bound`` configurations, the least that are needed; ``seed`` of their
    random numbers; ``effort`` is relative to the default."""

    bound: int
    seed: int = 0
    effort: float = 1.0


Schedule = tuple[np.ndarray, np.ndarray]
"""For each connection the number of its configuration, and the index of its path."""
Scheduler = Callable[[Conflicts, ScheduleOptions], Schedule]


def configure(
    problem: ConnectionProblem,
    *,
    algorithm: str = "best",
    degree: int | None = None,
    seed: int = 0,
    effort: float = 1.0,
) -> Configurations:
    """Divide connections into configurations.

    Parameters
    ----------
    problem : ConnectionProblem
    algorithm : str
        A name in ``ALGORITHMS``. *greedy*, *colouring*, *aapc* and *combined* are those of Yuan 1998, §5.4 (``yuan``); *dsatur*
        places the most constrained connection first; *koenig* is exact, for crossbars; *best* is exact on a crossbar, and
        elsewhere improves the best start by iterated greedy and tabu search until the bound is met or ``effort`` is spent.
        All but *best* leave every connection on its path in dimension order, whatever the routing.
    degree : int, optional
        Number of slots available.
    seed, effort :
        For *best*: the same seed gives the same answer; work relative to the default.

    Raises
    ------
    PointsmanError
        If the algorithm is not known or not for this network, or the connections were not fitted into ``degree`` slots.

    >>> from pointsman.connections import ConnectionProblem, Network
    >>> configure(ConnectionProblem(Network("crossbar", (3,)), ((0, 1), (1, 1), (1, 2)))).degree
    2
    """
    if algorithm not in ALGORITHMS:
        raise PointsmanError(f"there is no algorithm '{algorithm}'", hint=f"known are {', '.join(ALGORITHMS)}")
    if algorithm == "koenig" and problem.network.kind != "crossbar":
        raise PointsmanError(f"the algorithm koenig is for crossbars, not for a {problem.network.kind}")
    if degree is not None and degree < 1:
        raise PointsmanError(f"a degree must be at least 1, not {degree}")
    if not 0 < effort < 1e6:
        raise PointsmanError(f"effort must be positive and below a million, not {effort:g}")
    began = time.process_time()
    conflicts = conflicts_of(problem)
    bounds = bounds_of(conflicts)
    chosen = conflicts.ways[:-1].copy()
    if not problem.connections:
        colours = np.zeros(0, np.int64)
    else:
        bound = max(int(bound.value) for bound in bounds)
        colours, chosen = SCHEDULERS[algorithm](conflicts, ScheduleOptions(bound, seed, effort))
    result = _result(conflicts, colours, chosen, algorithm, bounds, time.process_time() - began)
    if degree is not None and result.degree > degree:
        raise PointsmanError(*_too_few(result, degree))
    return result


def _in_dimension_order(colour: Callable[[Conflicts], np.ndarray]) -> Scheduler:
    """A scheduler made of a colouring function: every connection keeps its first path; options are not used."""
    return lambda conflicts, options: (colour(conflicts), conflicts.ways[:-1].copy())


def _koenig(conflicts: Conflicts) -> np.ndarray:
    return edge_colours(np.array(conflicts.problem.connections, np.int64), conflicts.problem.network.nodes)


def _best(conflicts: Conflicts, options: ScheduleOptions) -> Schedule:
    """Exact on a crossbar. Elsewhere the best start, from which configurations are removed: an eighth of those above the bound at
    a time, in the end singly."""
    if conflicts.problem.network.kind == "crossbar":
        return SCHEDULERS["koenig"](conflicts, options)
    bound = options.bound
    starts = [dsatur(conflicts) if conflicts.connections <= MAX_DSATUR else greedy(conflicts)]
    if starts[0].max() >= bound:
        if conflicts.problem.network.nodes <= MAX_AAPC_NODES:
            starts.append(ordered_aapc(conflicts))
        cube = of_hypercube(conflicts.problem)
        if cube is not None:
            starts.append(cube)
    colours = min(starts, key=lambda found: found.max())
    chosen = conflicts.ways[:-1].copy()
    iterated_greedy(conflicts, colours, chosen, bound, ROUNDS, options.seed)
    row = len(conflicts.rows) / max(1, conflicts.connections)  # resources of all paths of a connection
    careful = False
    while (count := int(colours.max()) + 1) > bound:
        target = count - (1 if careful else max(1, (count - bound) // 8))
        trial, ways = without_last(colours, conflicts, chosen, target), chosen.copy()
        steps = int(options.effort * WORK / (row * count)) + 1
        if place_all(conflicts, trial, ways, target, steps, options.seed):
            colours, chosen = trial, ways
        elif target == count - 1:
            break
        else:
            careful = True
    return colours, chosen


SCHEDULERS: dict[str, Scheduler] = {
    "best": _best,
    "greedy": _in_dimension_order(greedy),
    "colouring": _in_dimension_order(colouring),
    "colouring-updated": _in_dimension_order(colouring_updated),
    "aapc": _in_dimension_order(ordered_aapc),
    "combined": _in_dimension_order(combined),
    "dsatur": _in_dimension_order(dsatur),
    "koenig": _in_dimension_order(_koenig),
}
ALGORITHMS = tuple(SCHEDULERS)


def _result(
    conflicts: Conflicts,
    colours: np.ndarray,
    chosen: np.ndarray,
    algorithm: str,
    bounds: tuple[ConfigurationBound, ...],
    seconds: float,
) -> Configurations:
    degree = int(colours.max(initial=-1)) + 1
    pairs: list[list[tuple[int, int]]] = [[] for _ in range(degree)]
    paths: list[list[tuple[int, ...]]] = [[] for _ in range(degree)]
    for pair, colour, way in zip(conflicts.problem.connections, colours.tolist(), chosen.tolist(), strict=True):
        pairs[colour].append(pair)
        paths[colour].append(conflicts.nodes[way])
    return Configurations(
        conflicts.problem, tuple(map(tuple, pairs)), tuple(map(tuple, paths)), algorithm, bounds, seconds
    )


def _too_few(result: Configurations, degree: int) -> tuple[str, ...]:
    tightest = max(result.bounds, key=lambda bound: bound.value)
    if tightest.value > degree:
        return (f"{degree} slots are too few, {tightest.value} are needed at least: {tightest.text}",)
    return (
        f"the connections were not fitted into {degree} slots: {result.algorithm} needs {result.degree}, and no bound is above "
        f"{tightest.value} ({tightest.text})",
    )
