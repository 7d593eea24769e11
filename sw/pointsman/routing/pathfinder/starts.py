"""When the words of a chain start, its way being given.

All numbers are whole, so results are the same on every machine. A *place* is a (node, pipeline) pair, numbered node ×
pipelines + pipeline; a *wire* is a directed link, or a pair of them that shares its handshake. Operations, and the tables that
these functions work on, are described in ``tables``.
"""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel

from .arrays import DELIVER, INJECT, NEVER, UNIT, Network, Use

SERVED = 4
"""Slots that a processor with several registers to serve should have from word to word of each."""


@kernel
def own_gap(ops: np.ndarray) -> int:
    """The least distance of two words of a chain: two slots, or as long as one node is busy with a word."""
    least = 2
    for op in range(ops.shape[0]):
        first = op
        while ops[first, 5] >= 0 and ops[ops[first, 5], 0] == ops[op, 0]:
            first = ops[first, 5]
        busy = ops[op, 1] - ops[first, 1] + 1
        if ops[op, 4] == DELIVER and ops[first, 3] == INJECT:
            busy += 1
        least = max(least, busy)
    return least


@kernel
def word_gap(ops: np.ndarray, words: int, slots: int) -> int:
    """The least distance of ``words`` words of a chain: its own, and time for a busy processor to serve the register again."""
    return max(own_gap(ops), min(SERVED, slots // (2 * words)))


@kernel
def start_costs(ops: np.ndarray, net: Network, use: Use, room: int, price: int, cost: np.ndarray) -> None:
    """What a word costs on a route, by its start."""
    slots = use.cells.shape[1]
    pipelines = use.cells.shape[0] // use.node_cost.shape[0]
    for slot in range(slots):
        cost[slot] = 0
    for op in range(ops.shape[0]):
        place, offset, link = ops[op, 0], ops[op, 1] % slots, ops[op, 2]
        over = use.numbers[place] + 1 - room
        base = UNIT + use.node_cost[place // pipelines] + (price * over if over > 0 else 0)
        for slot in range(slots):
            cost[slot] += base + use.cell_cost[place, slot + offset]
        if link >= 0:
            wire = net.wire[link]
            for slot in range(slots):
                cost[slot] += use.wire_cost[wire, slot + offset]
        if ops[op, 3] == INJECT or ops[op, 4] == DELIVER:
            for slot in range(slots):
                now = slot + offset if slot + offset < slots else slot + offset - slots
                if ops[op, 3] == INJECT:
                    before = now - 1 if now else slots - 1
                    if use.writes[place, before]:
                        cost[slot] += use.turn_history[place, before] + price * use.writes[place, before]
                if ops[op, 4] == DELIVER:
                    after = now + 1 if now + 1 < slots else 0
                    if use.reads[place, after]:
                        cost[slot] += use.turn_history[place, now] + price * use.reads[place, after]


@kernel
def choose_starts(cost: np.ndarray, words: int, gap: int, slots: int, starts: np.ndarray) -> int:
    """The ``words`` starts of least total cost that keep ``gap`` round the period, ascending; their cost, or NEVER.

    Either no start lies below ``gap`` - 1 or the first one does: each case is a choice on a line. O(slots × words × gap).
    """
    best_total = NEVER
    if words * gap > slots:
        return best_total
    if words == 1:
        for slot in range(slots):
            if cost[slot] < best_total:
                best_total = cost[slot]
                starts[0] = slot
        return best_total
    taking = np.zeros((words, slots), np.int64)
    least = np.zeros(slots, np.int64)
    for case in range(gap):
        fixed = case < gap - 1
        begin = case + gap if fixed else gap - 1
        end = case + slots - gap + 1 if fixed else slots
        left = words - 1 if fixed else words
        total = cost[case] if fixed else 0
        if left and (left - 1) * gap >= end - begin:
            continue
        for word in range(left):
            for slot in range(begin, end):
                value = NEVER
                if word == 0:
                    value = cost[slot]
                elif slot - gap >= begin:
                    value = min(cost[slot] + least[slot - gap], NEVER)
                taking[word, slot] = value
            lowest = NEVER
            for slot in range(begin, end):
                lowest = min(lowest, taking[word, slot])
                least[slot] = lowest
        if left:
            total += least[end - 1]
        if total < best_total:
            best_total = total
            if fixed:
                starts[0] = case
            until = end
            for word in range(left - 1, -1, -1):
                chosen = begin
                for slot in range(begin, until):
                    if taking[word, slot] < taking[word, chosen]:
                        chosen = slot
                starts[words - left + word] = chosen
                until = chosen - gap + 1
    return best_total
