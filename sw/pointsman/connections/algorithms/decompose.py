"""Demands of a crossbar into configurations with durations; every configuration costs ``delta`` to establish.

Without that cost the least time is the largest sum of a row or column (Birkhoff, von Neumann; preemptive open shop), with it
the problem is NP-hard (Crescenzi, Deng and Papadimitriou 2001, PBS). So several decompositions are made and the shortest is
taken:

- *birkhoff*: padded to equal sums, perfect matchings of entries above a threshold that is halved; least sending time;
- *pack*: demands cut into packs of k, coloured by König, so that there are as many configurations as the fullest port has
  packs; the best of many k;
- *list*: nothing is cut; longest first into the first configuration with both ports free.

With several switches the configurations are dealt out to them (``parallel_switches``).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from pointsman.artifacts.configurations.configurations import (
    ConfigurationBound,
    DemandProblem,
    TimedConfiguration,
    Timetable,
)
from pointsman.errors import PointsmanError
from pointsman.kernels import kernel

from .crossbar import edge_colours
from .parallel_switches import Placed, on_one, spread

MAX_TIME = 1 << 52
"""Largest sum of all demands, in units in which they are whole."""
MAX_PACKS = 30_000_000
"""Packs, times packs of the fullest port, that are coloured."""
PACK_SIZES = 48

Parts = list[tuple[int, list[tuple[int, int]]]]
"""(duration, connections), in whole units."""


def decompose(problem: DemandProblem, *, algorithm: str = "best") -> Timetable:
    """Configurations with durations that carry the demand.

    Parameters
    ----------
    problem : DemandProblem
    algorithm : str
        One of ``DECOMPOSITIONS``.

    Raises
    ------
    PointsmanError
        If the algorithm is not known, or the demands have no common unit of reasonable size.

    >>> from fractions import Fraction
    >>> demand = ((Fraction(0), Fraction(3)), (Fraction(2), Fraction(0)))
    >>> [(int(part.duration), part.connections) for part in decompose(DemandProblem(demand)).configurations]
    [(3, ((0, 1), (1, 0)))]
    """
    if algorithm not in DECOMPOSITIONS:
        raise PointsmanError(f"there is no decomposition '{algorithm}'", hint=f"known are {', '.join(DECOMPOSITIONS)}")
    began = time.process_time()
    unit = math.lcm(problem.delta.denominator, *(amount.denominator for row in problem.demand for amount in row))
    total = sum((amount for row in problem.demand for amount in row), problem.delta) * unit
    if total > MAX_TIME:
        raise PointsmanError(f"demand: in units in which all are whole, the sum must be at most 2^52, not {total}")
    amounts = np.array([[int(amount * unit) for amount in row] for row in problem.demand], np.int64)
    delta = int(problem.delta * unit)
    names = list(_MAKERS) if algorithm == "best" else [algorithm]
    bounds = demand_bounds(problem)
    answers = []
    for name in names:
        parts = _MAKERS[name](amounts, delta)
        placed = [on_one(parts, problem.overlap)]
        if problem.switches > 1:
            placed = [spread(parts, delta, problem.switches, problem.overlap)]
            # Everything divided equally: more configurations, and every switch is busy as long as the others.
            shares: Placed = [
                (Fraction(duration, problem.switches), pairs, switch)
                for duration, pairs, _ in on_one(parts, problem.overlap)
                for switch in range(problem.switches)
            ]
            placed.append(shares)
        for entries in placed:
            configurations = tuple(
                TimedConfiguration(Fraction(duration) / unit, tuple(sorted(pairs)), switch)
                for duration, pairs, switch in entries
            )
            answers.append(Timetable(problem, configurations, name, bounds))
    best = min(answers, key=lambda one: (one.total, one.degree))
    return replace(best, seconds=time.process_time() - began)


def demand_bounds(problem: DemandProblem) -> tuple[ConfigurationBound, ...]:
    """The busiest port: all that it sends (or receives), and a configuration for each of its partners."""
    best = ConfigurationBound(Fraction(0), "port", "nothing is to be sent")
    columns = tuple(zip(*problem.demand, strict=True))
    for side, lines in (("input", problem.demand), ("output", columns)):
        for port, line in enumerate(lines):
            partners = sum(amount > 0 for amount in line)
            need = _least(problem, sum(line, Fraction(0)), partners)
            if need > best.value:
                best = ConfigurationBound(
                    need, "port", f"{side} {port} is busy for {float(sum(line)):g} with {partners} partners"
                )
    return (best,)


def _least(problem: DemandProblem, busy: Fraction, partners: int) -> Fraction:
    """Least time for a port: its partners need a configuration each, on some switch, and the first on a switch is established
    before anything is sent there."""
    if not partners:
        return Fraction(0)
    shared = busy / problem.switches + problem.delta
    if problem.overlap:
        return max(shared, -(-partners // problem.switches) * problem.delta)
    return max(shared, (busy + partners * problem.delta) / problem.switches)


def _cost(parts: Parts, delta: int) -> int:
    return sum(duration + delta for duration, _ in parts)


def _birkhoff(amounts: np.ndarray, delta: int) -> Parts:
    real = amounts.copy()
    padding = _padding(real)
    threshold = 1 << max(0, int((real + padding).max()).bit_length() - 1)
    matched = np.full(len(real), -1, np.int64)
    parts: Parts = []
    while real.any():
        open_ = real + padding
        if not _perfect(open_, threshold, matched):
            threshold //= 2
            continue
        rows = matched
        duration = int(open_[rows, np.arange(len(real))].min())
        sent = np.minimum(real[rows, np.arange(len(real))], duration)
        parts.append((int(sent.max()), [(int(rows[v]), int(v)) for v in np.flatnonzero(sent)]))
        real[rows, np.arange(len(real))] -= sent
        padding[rows, np.arange(len(real))] -= duration - sent
    return [(duration, pairs) for duration, pairs in parts if pairs]


def _padding(amounts: np.ndarray) -> np.ndarray:
    """What must be added so that all rows and columns have the largest sum."""
    padding = np.zeros_like(amounts)
    rows, columns = amounts.sum(1), amounts.sum(0)
    most = max(rows.max(), columns.max())
    u = v = 0
    while u < len(amounts) and v < len(amounts):
        room = min(most - rows[u], most - columns[v])
        padding[u, v] += room
        rows[u] += room
        columns[v] += room
        if rows[u] == most:
            u += 1
        else:
            v += 1
    return padding


@kernel
def _perfect(amounts: np.ndarray, threshold: int, matched: np.ndarray) -> bool:
    """Extend ``matched`` (row of each column) to a perfect matching of entries of at least ``threshold``, if there is one."""
    ports = len(amounts)
    of_row = np.full(ports, -1, np.int64)
    for v in range(ports):
        if matched[v] >= 0 and amounts[matched[v], v] < threshold:
            matched[v] = -1
        if matched[v] >= 0:
            of_row[matched[v]] = v
    parent = np.empty(ports, np.int64)
    queue = np.empty(ports, np.int64)
    for start in range(ports):
        if of_row[start] >= 0:
            continue
        parent[:] = -1
        queue[0] = start
        head, tail, end = 0, 1, -1
        while head < tail and end < 0:
            u = queue[head]
            head += 1
            for v in range(ports):
                if parent[v] < 0 and amounts[u, v] >= threshold:
                    parent[v] = u
                    if matched[v] < 0:
                        end = v
                        break
                    queue[tail] = matched[v]
                    tail += 1
        if end < 0:
            return False
        while end >= 0:
            u = parent[end]
            before = of_row[u]
            matched[end] = u
            of_row[u] = end
            end = before
    return True


def _pack(amounts: np.ndarray, delta: int) -> Parts:
    largest = int(amounts.max())
    best: Parts | None = None
    if not largest:
        return []
    sizes = {largest, *np.unique(np.geomspace(1, largest, PACK_SIZES).astype(np.int64)).tolist()}
    if delta:
        sizes |= {min(largest, max(1, delta * times)) for times in (1, 2, 4, 8)}
    for size in sorted(sizes, reverse=True):
        packs = -(-amounts // size)
        if int(packs.sum()) * int(max(packs.sum(0).max(), packs.sum(1).max())) > MAX_PACKS:
            break
        parts = _packed(amounts, packs, size)
        if best is None or _cost(parts, delta) < _cost(best, delta):
            best = parts
    return best or _list(amounts, delta)


def _packed(amounts: np.ndarray, packs: np.ndarray, size: int) -> Parts:
    sources, destinations = np.nonzero(packs)
    repeat = packs[sources, destinations]
    pairs = np.repeat(np.stack([sources, destinations], 1), repeat, 0)
    # The last pack of a pair may be short. Longest first, so that short ones share their configurations.
    lengths = np.full(len(pairs), size, np.int64)
    lengths[np.cumsum(repeat) - 1] = amounts[sources, destinations] - (repeat - 1) * size
    order = np.argsort(-lengths, kind="stable")
    pairs, lengths = pairs[order], lengths[order]
    colours = edge_colours(pairs, len(amounts))
    parts: list[tuple[int, list[tuple[int, int]]]] = [(0, []) for _ in range(int(colours.max()) + 1)]
    for pair, length, colour in zip(pairs.tolist(), lengths.tolist(), colours.tolist(), strict=True):
        longest, members = parts[colour]
        members.append((pair[0], pair[1]))
        parts[colour] = (max(longest, length), members)
    return parts


def _list(amounts: np.ndarray, delta: int) -> Parts:
    order = np.argsort(-amounts, axis=None, kind="stable")
    parts: Parts = []
    inputs: list[set[int]] = []
    outputs: list[set[int]] = []
    for place in order.tolist():
        u, v = divmod(place, len(amounts))
        if not amounts[u, v]:
            break
        free = (n for n in range(len(parts)) if u not in inputs[n] and v not in outputs[n])
        number = next(free, len(parts))
        if number == len(parts):
            parts.append((int(amounts[u, v]), []))
            inputs.append(set())
            outputs.append(set())
        parts[number][1].append((u, v))
        inputs[number].add(u)
        outputs[number].add(v)
    return parts


_MAKERS: dict[str, Callable[[np.ndarray, int], Parts]] = {"birkhoff": _birkhoff, "pack": _pack, "list": _list}
DECOMPOSITIONS = ("best", *_MAKERS)
