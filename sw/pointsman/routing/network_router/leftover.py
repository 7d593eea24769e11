"""More words for streams that have room, in the order of max-min fairness.

Takes a packing without conflicts; gives chains with more words. No word of the packing is moved.
"""

from __future__ import annotations

import heapq
from collections.abc import Collection, Sequence
from fractions import Fraction

import numpy as np

from pointsman.routing.pathfinder.costs import UNIT

from .arrays import PackingChains
from .augment import add_word, forbid_used
from .packing import PackedChain, PackingArrays, PackingAttempt
from .rip_up import hold_slot

MOST_EXTRA = 4
"""A chain gets at most this factor times the words of the largest chain; new chains are limited by registers only."""


def fill(
    arrays: PackingArrays,
    slots: int,
    chains: Sequence[PackedChain],
    weights: Sequence[Fraction],
    *,
    hold: bool,
    pinned: Collection[int] = (),
    seed: int,
    slack: int,
) -> list[PackedChain]:
    """``chains`` with words added as long as any fits, always to the stream with the least bandwidth / weight that has room;
    streams in ``pinned`` get none.

    A processor moves at most a word per cycle, so no node gets more words than slots (Metcalf 1997, §8.1.2).
    """
    problem = arrays.problem
    words = [0] * len(problem.streams)
    free = [problem.registers] * problem.nodes
    accesses = [0] * problem.nodes
    for packed in chains:
        words[packed.stream] += len(packed.starts)
        stream = problem.streams[packed.stream]
        for node in (stream.source, *stream.destinations):
            free[node] -= 1
            accesses[node] += len(packed.starts)
    packing = PackingAttempt(
        arrays,
        slots,
        [0] * len(words),
        [1] * len(words),
        hold=hold,
        seed=seed,
        slack=slack,
        fixed=chains,
    )
    use = packing.use
    for place in np.nonzero(use.hold)[0]:
        hold_slot(int(place), use, UNIT)
    forbid_used(use)
    room = len(chains) + sum(free) // 2
    most = max([1, *(len(packed.starts) for packed in chains)]) * MOST_EXTRA
    table = _grown(packing.chains, room, most)
    used = len(chains)
    counted = enumerate(zip(words, weights, strict=True))
    heap = [(Fraction(count) / weight, index) for index, (count, weight) in counted if index not in pinned]
    heapq.heapify(heap)
    shifts = arrays.scratch(slots, slack)
    while heap:
        _, index = heapq.heappop(heap)
        ends = (problem.streams[index].source, *problem.streams[index].destinations)
        if any(accesses[node] >= slots for node in ends):
            continue
        more = all(free[node] > 0 for node in ends)
        after = add_word(
            index,
            most,
            more,
            True,
            problem.room,
            arrays.net,
            arrays.hops,
            arrays.allowed,
            slack,
            table,
            used,
            use,
            packing.noise,
            packing.state,
            shifts,
        )
        if after < 0:
            continue
        if after > used:
            used = int(after)
            for node in ends:
                free[node] -= 1
        words[index] += 1
        for node in ends:
            accesses[node] += 1
        heapq.heappush(heap, (Fraction(words[index]) / weights[index], index))
    return [
        PackedChain(
            int(table.stream[index]),
            table.ops[index, : table.n_ops[index]].copy(),
            tuple(sorted(table.starts[index, : table.words[index]].tolist())),
        )
        for index in range(used)
    ]


def _grown(chains: PackingChains, room: int, most: int) -> PackingChains:
    """Copies of the arrays with room for more chains and words."""

    def wider(table: np.ndarray, *shape: int) -> np.ndarray:
        grown = np.zeros((max(room, len(table)), *shape), table.dtype)
        grown[tuple(slice(size) for size in table.shape)] = table
        return grown

    return chains._replace(
        stream=wider(chains.stream),
        words=wider(chains.words),
        frozen=wider(chains.frozen),
        n_ops=wider(chains.n_ops),
        ops=wider(chains.ops, *chains.ops.shape[1:]),
        starts=wider(chains.starts, max(most, chains.starts.shape[1])),
    )
