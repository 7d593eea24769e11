"""Timetables of a phase: when each connection is used by the processors at its ends.

``published`` is the greedy scheduler of Feldmann et al. 1993, §4.4.2 (AS): the processor with the most left to do takes its
longest connection into the first gap that is long enough in both timetables. ``timetable`` tries that, an edge colouring where
all transfers are equally long (it meets the bound), and a few other orders, and takes the shortest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pointsman.connections.algorithms.crossbar import edge_colours

Transfer = tuple[int, int, int]
"""(source, destination, clocks)"""
TRIES = 12
"""Other orders that are tried where the bound is missed."""


def least(transfers: Sequence[Transfer], duplex: bool) -> int:
    """Clocks that no timetable goes below: the busiest processor's (MIN_TIME of the paper)."""
    return max(_load(transfers, duplex).values(), default=0)


def timetable(
    transfers: Sequence[Transfer], duplex: bool, order: Sequence[tuple[int, int]] = (), seed: int = 0
) -> list[int]:
    """A start for each transfer, so that no processor does two at a time; as short as could be found.

    Parameters
    ----------
    duplex : bool
        A processor sends one and receives another at the same time.
    order : sequence of (int, int)
        Pairs of transfers (numbers in ``transfers``): the second begins when the first has ended.
    """
    starts = published(transfers, duplex, order)
    bound = least(transfers, duplex)
    best = _end(transfers, starts)
    if best == bound:
        return starts
    if not order and duplex and len({clocks for _, _, clocks in transfers}) == 1:
        pairs = np.array([one[:2] for one in transfers], np.int64)
        return (edge_colours(pairs, int(pairs.max()) + 1) * transfers[0][2]).tolist()
    random = np.random.default_rng([seed, len(transfers)])
    for _ in range(TRIES):
        weights = random.uniform(0.7, 1.3, len(transfers))
        other = published(transfers, duplex, order, weights)
        if _end(transfers, other) < best:
            starts, best = other, _end(transfers, other)
        if best == bound:
            break
    return starts


def published(
    transfers: Sequence[Transfer],
    duplex: bool,
    order: Sequence[tuple[int, int]] = (),
    weights: np.ndarray | None = None,
) -> list[int]:
    """Starts by AS. ``weights`` change which connection counts as the longest; the paper has none."""
    weight = np.ones(len(transfers)) if weights is None else weights
    left = _load(transfers, duplex)
    busy: dict[tuple[int, int], list[tuple[int, int]]] = {}
    before: dict[int, list[int]] = {}
    after: dict[int, list[int]] = {}
    for one, later in order:
        before.setdefault(later, []).append(one)
        after.setdefault(one, []).append(later)
    waits = {later: len(ones) for later, ones in before.items()}
    of: dict[tuple[int, int], list[int]] = {}
    for index, transfer in enumerate(transfers):
        for unit in _units(transfer, duplex):
            of.setdefault(unit, []).append(index)
    for unit in of:
        of[unit].sort(key=lambda index: (-transfers[index][2] * weight[index], index))
    starts = [-1] * len(transfers)
    for _ in range(len(transfers)):
        unit = max((unit for unit in of if _next(of[unit], starts, waits) >= 0), key=lambda unit: (left[unit], unit))
        index = _next(of[unit], starts, waits)
        clocks = transfers[index][2]
        ready = max((starts[one] + transfers[one][2] for one in before.get(index, ())), default=0)
        mine, other = _units(transfers[index], duplex)
        start = _gap(busy.setdefault(mine, []), busy.setdefault(other, []), clocks, ready)
        starts[index] = start
        for end in (mine, other):
            busy[end].append((start, start + clocks))
            busy[end].sort()
            left[end] -= clocks
        for later in after.get(index, ()):
            waits[later] -= 1
    return starts


def _next(indices: list[int], starts: list[int], waits: dict[int, int]) -> int:
    """The first that has no start and waits for nobody; -1 if there is none."""
    return next((index for index in indices if starts[index] < 0 and not waits.get(index)), -1)


def _gap(one: list[tuple[int, int]], other: list[tuple[int, int]], clocks: int, ready: int) -> int:
    """First time from ``ready`` on at which both are free for so long."""
    at = ready
    for begin, end in sorted(one + other):
        if begin >= at + clocks:
            break
        at = max(at, end)
    return at


def _units(transfer: Transfer, duplex: bool) -> tuple[tuple[int, int], tuple[int, int]]:
    """What a transfer occupies: the sender of one processor and the receiver of the other, or the two processors."""
    source, destination, _ = transfer
    return (source, 0), (destination, 1 if duplex else 0)


def _load(transfers: Sequence[Transfer], duplex: bool) -> dict[tuple[int, int], int]:
    load: dict[tuple[int, int], int] = {}
    for transfer in transfers:
        for unit in _units(transfer, duplex):
            load[unit] = load.get(unit, 0) + transfer[2]
    return load


def _end(transfers: Sequence[Transfer], starts: Sequence[int]) -> int:
    return max((start + one[2] for start, one in zip(starts, transfers, strict=True)), default=0)
