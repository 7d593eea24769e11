"""Connections into the fewest phases, with ways, channels and timetables.

``best`` begins with the better of the published algorithm (`apr`) and of what structure gives (`starts`), and then takes away a
phase at a time: whoever was in it negotiates with the others about channels. It never has more phases than the published one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from pointsman.artifacts.channels.channels import MAX_CHANNELS, ChannelProblem, ChannelRoute, PhasedConnections
from pointsman.artifacts.configurations.configurations import ConfigurationBound
from pointsman.errors import PointsmanError

from .apr import apr
from .bounds import bounds_of
from .exact import fewest
from .kernel import negotiate, take_all
from .starts import by_offset, matchings
from .tables import Assignment, Tables, empty, state_of, tables_of
from .timetables import least, published, timetable

ROUNDS = 60
"""Rounds of a negotiation at effort 1."""
MOST_TRIES = 24
TRIES_BY_SIZE = 1200
"""Tries at a phase less: at most `MOST_TRIES`, for many connections so many divided by theirs, one at least."""
SETTLE = 20.0
"""Seconds of the solver for a number of phases that the search has not met and no bound forbids."""


def divide(
    problem: ChannelProblem, *, algorithm: str = "best", seed: int = 0, effort: float = 1.0
) -> PhasedConnections:
    """Divide connections into phases.

    Parameters
    ----------
    algorithm : str
        "best"; "apr": as published, timetables too; "exact": fewest phases proved by CP-SAT, for small problems.
    seed : int
        The same seed gives the same answer.
    effort : float
        Rounds of negotiation, relative to the usual.

    Raises
    ------
    PointsmanError
        If there is no such algorithm, or the connections do not fit into ``problem.phases``; the message says why, and what the
        smallest change would be.
    """
    if algorithm not in ALGORITHMS:
        raise PointsmanError(f"there is no algorithm '{algorithm}'", hint=f"known are {', '.join(ALGORITHMS)}")
    if not 0 < effort <= 1000:
        raise PointsmanError(f"effort must be above 0 and at most 1000, not {effort}")
    began = time.process_time()
    tables = tables_of(problem)
    bounds = bounds_of(problem, tables)
    bound = max((int(one.value) for one in bounds), default=0)
    if problem.phases is not None and bound > problem.phases:
        raise _too_few(problem, bounds[0], seed, effort)
    given = ALGORITHMS[algorithm](problem, tables, bound, seed, effort)
    if problem.phases is not None and count(given) > problem.phases:
        given = _settled(problem, tables, bounds, given, seed, effort)
    answer = _answer(problem, given, algorithm, bounds, seed)
    return PhasedConnections(problem, answer.phases, algorithm, bounds, time.process_time() - began)


def _published(problem: ChannelProblem, tables: Tables, bound: int, seed: int, effort: float) -> Assignment:
    found = apr(problem, tables, max(bound, 1), max(1, len(problem.connections)), seed=seed)
    assert found is not None, "with a phase each, all connections find a way"
    return found


def _best(problem: ChannelProblem, tables: Tables, bound: int, seed: int, effort: float) -> Assignment:
    found = [_published(problem, tables, bound, seed, effort)]
    packed = by_offset(problem, tables)
    if packed is not None:
        found.append(packed)
    best = min(found, key=count)
    while count(best) > bound:
        fewer = _without_one(tables, best, max(4, round(ROUNDS * effort)), seed)
        if fewer is None:
            break
        best = fewer
    found = [one for one in (*found, best) if count(one) == count(best)]
    if not problem.order:
        matched = _matched(problem, tables, count(best), max(4, round(ROUNDS * effort)), seed)
        found += [matched] if matched is not None else []
    return min(found, key=lambda one: sum(_least_times(problem, one)))


def _exactly(problem: ChannelProblem, tables: Tables, bound: int, seed: int, effort: float) -> Assignment:
    return fewest(problem, tables, bound, count(_best(problem, tables, bound, seed, effort)))


Divider = Callable[[ChannelProblem, Tables, int, int, float], Assignment]
ALGORITHMS: dict[str, Divider] = {"best": _best, "apr": _published, "exact": _exactly}


def count(given: Assignment) -> int:
    """Phases in use."""
    return len(np.unique(given.phase))


def _without_one(tables: Tables, given: Assignment, rounds: int, seed: int) -> Assignment | None:
    """The same with a phase less, or None. The phase with the fewest channels in use is dissolved; if that does not go, and the
    problem is small, the others are in turn, and then all of them, with other random numbers each time."""
    phases = count(given)
    if phases < 2:
        return None
    used, number = np.unique(given.phase, return_inverse=True)
    weight = np.bincount(number, given.lengths, len(used))
    free = np.full(len(number), -1, np.int64)
    turns = [[gone] for gone in np.argsort(weight, kind="stable").tolist()] + [list(range(phases))]
    for turn in range(min(MOST_TRIES, max(1, TRIES_BY_SIZE // len(number)))):
        gone = turns[turn % len(turns)]
        fewer = given.copy()
        fewer.phase[:] = np.where(np.isin(number, gone), -1, number - (number > gone[0]))
        state = state_of(tables, phases - 1)
        take_all(tables, state, fewer)
        if not negotiate(tables, state, fewer, phases - 1, free, rounds, seed + turn):
            return fewer
    return None


def _matched(problem: ChannelProblem, tables: Tables, phases: int, rounds: int, seed: int) -> Assignment | None:
    """So many phases whose processors have all equally much to do, if ways are found."""
    given = empty(tables)
    if not len(given.phase):
        return None
    fixed = matchings(problem, phases, seed)
    return None if negotiate(tables, state_of(tables, phases), given, phases, fixed, rounds, seed) else given


def _least_times(problem: ChannelProblem, given: Assignment) -> list[int]:
    """For each phase, the clocks of its busiest processor."""
    element = problem.costs.element
    parts: dict[int, list[tuple[int, int, int]]] = {}
    for one, p in zip(problem.connections, given.phase.tolist(), strict=True):
        parts.setdefault(p, []).append((one.source, one.destination, element * one.words))
    return [least(transfers, problem.costs.duplex) for transfers in parts.values()]


def _answer(
    problem: ChannelProblem, given: Assignment, algorithm: str, bounds: tuple[ConfigurationBound, ...], seed: int
) -> PhasedConnections:
    """Timetables and channels for ways."""
    element, schedule = problem.costs.element, published if algorithm == "apr" else timetable
    phases = []
    for p in np.unique(given.phase).tolist():
        members = np.flatnonzero(given.phase == p).tolist()
        place = {c: k for k, c in enumerate(members)}
        order = [(place[i], place[j]) for i, j in problem.order if i in place and j in place]
        demands = [problem.connections[c] for c in members]
        transfers = [(one.source, one.destination, element * one.words) for one in demands]
        starts = schedule(transfers, problem.costs.duplex, order)
        used = [0] * problem.topology.nodes
        routes = []
        for c, start, (_, _, clocks) in zip(members, starts, transfers, strict=True):
            path = tuple(given.paths[c, : given.lengths[c]].tolist())
            channels = tuple(used[node] for node in path)
            for node in path:
                used[node] += 1
            routes.append(ChannelRoute(c, path, channels, start, start + clocks))
        phases.append(tuple(routes))
    return PhasedConnections(problem, tuple(phases), algorithm, bounds)


def _too_few(problem: ChannelProblem, bound: ConfigurationBound, seed: int, effort: float) -> PointsmanError:
    return PointsmanError(
        f"phases: {problem.phases} are too few, {int(bound.value)} are needed at least: {bound.text}",
        hint=_change(problem, None, seed, effort),
    )


def _settled(
    problem: ChannelProblem,
    tables: Tables,
    bounds: tuple[ConfigurationBound, ...],
    given: Assignment,
    seed: int,
    effort: float,
) -> Assignment:
    """Into as many phases as are wanted, where the search needs more and no bound forbids it: CP-SAT finds them or proves that
    there are none, if the problem is small enough.

    Raises
    ------
    PointsmanError
        If there are none, or neither is known.
    """
    wanted, needed = problem.phases or 0, count(given)
    try:
        given = fewest(problem, tables, max(1, int(bounds[0].value)), needed, SETTLE)
        if count(given) <= wanted:
            return given
        text = f"{wanted} are too few, {count(given)} are needed at least, as CP-SAT has proved over all ways"
        hint = _change(problem, count(given), seed, effort)
    except PointsmanError:
        text = f"{wanted} phases were not enough for the search, which needs {needed}; the bound is {int(bounds[0].value)}: "
        text += bounds[0].text
        hint = _change(problem, needed, seed, effort)
    raise PointsmanError(f"phases: {text}", hint=hint)


def _change(problem: ChannelProblem, phases: int | None, seed: int, effort: float) -> str:
    """The smallest changes with which the connections fit: phases, and channels."""
    if phases is None:
        phases = len(divide(replace(problem, phases=None), seed=seed, effort=effort).phases)
    assert problem.phases is not None
    # With a channel for every connection channels are never lacking; what does not fit then lacks bandwidth.
    most = min(MAX_CHANNELS, len(problem.connections))
    high = problem.channels
    while not _fits(problem, high, seed, effort):
        if high >= most:
            return f"it fits with {phases} phases"
        high = min(2 * high, most)
    low = problem.channels
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _fits(problem, middle, seed, effort) else (middle, high)
    return f"it fits with {phases} phases, or with {high} channels a node"


def _fits(problem: ChannelProblem, channels: int, seed: int, effort: float) -> bool:
    wider = replace(problem, channels=channels, phases=None)
    tables = tables_of(wider)
    bound = max(int(one.value) for one in bounds_of(wider, tables))
    return bound <= (problem.phases or 0) and count(_best(wider, tables, bound, seed, effort)) <= (problem.phases or 0)
