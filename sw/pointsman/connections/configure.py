"""Connections into configurations, by a scheduler that is chosen by name.

Takes connections of a network; gives configurations, in which no two connections share a link, a source or a destination, beside
the bound that no scheduler goes below. Leaves alone in which order the configurations come. All schedulers have one signature
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
"""Nodes up to which an all-to-all is made for ``best`` to start from."""
MAX_DSATUR = 20_000
"""Connections up to which ``best`` starts from saturation."""
WORK = 300_000_000
"""Resources that a tabu search looks at for one degree before it gives up, at effort 1."""
ROUNDS = 20


@dataclass(frozen=True)
class ScheduleOptions:
    """What a scheduler may go by. ``bound`` configurations are needed at least, so that a search ends there; ``seed`` and
    ``effort`` are for those that search."""

    bound: int
    seed: int = 0
    effort: float = 1.0


Schedule = tuple[np.ndarray, np.ndarray]
"""By connection, the number of its configuration, and its way."""
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
        One of ``ALGORITHMS``. *greedy*, *colouring*, *aapc* and *combined* are those of Yuan 1998, §5.4 (``yuan``); *dsatur*
        places the most constrained first; *koenig* is exact, for crossbars; *best* is exact on a crossbar, and elsewhere
        the best start, improved by iterated greedy and tabu search until the bound is met or ``effort`` is spent. All but
        *best* leave every connection on its way in dimension order, whatever the routing.
    degree : int, optional
        Slots there are.
    seed, effort :
        For *best*: same seed, same answer; work relative to the usual.

    Raises
    ------
    PointsmanError
        If the algorithm is not known or not for this network, or ``degree`` slots do not take the connections.

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
    """A scheduler that leaves every connection on its first way and asks for nothing else."""
    return lambda conflicts, options: (colour(conflicts), conflicts.ways[:-1].copy())


def _koenig(conflicts: Conflicts) -> np.ndarray:
    return edge_colours(np.array(conflicts.problem.connections, np.int64), conflicts.problem.network.nodes)


def _best(conflicts: Conflicts, options: ScheduleOptions) -> Schedule:
    """Exact on a crossbar. Elsewhere the best start, then fewer and fewer configurations: an eighth of the way to the bound at a
    time, at last one."""
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
    row = len(conflicts.rows) / max(1, conflicts.connections)  # resources of all ways of a connection
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
