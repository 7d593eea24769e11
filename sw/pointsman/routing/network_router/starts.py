"""What the start of a word costs on a given route, and how far apart its words must start.

Places, wires and operations are described in the package, the arrays in ``arrays``.
"""

from __future__ import annotations

import numpy as np

from numesh.codes import SHORTEST_RETURN, SHORTEST_TURN
from pointsman.kernels import kernel
from pointsman.routing.pathfinder.costs import UNIT

from .arrays import BUFFER, DELIVER, INJECT, PackingLinks, PackingUse

SERVED = 4
"""Slots that a processor with several registers to serve should have from word to word of each."""


@kernel
def own_gap(ops: np.ndarray) -> int:
    """The least distance of two words of a chain: the shortest turn, or as long as one node is busy with a word, or until the
    buffer in which a word waits is free again."""
    least = SHORTEST_TURN
    for op in range(ops.shape[0]):
        first = op
        while ops[first, 5] >= 0 and ops[ops[first, 5], 0] == ops[op, 0]:
            first = ops[first, 5]
        busy = ops[op, 1] - ops[first, 1] + 1
        if ops[op, 4] == DELIVER and ops[first, 3] == INJECT:
            busy += 1
        if ops[op, 3] == BUFFER:
            busy = max(busy, ops[op, 1] - ops[first, 1] + SHORTEST_RETURN)
        least = max(least, busy)
    return least


@kernel
def word_gap(ops: np.ndarray, words: int, slots: int) -> int:
    """The least distance of ``words`` words of a chain: its own, and time for a busy processor to serve the register again."""
    return max(own_gap(ops), min(SERVED, slots // (2 * words)))


@kernel
def start_costs(ops: np.ndarray, net: PackingLinks, use: PackingUse, room: int, price: int, cost: np.ndarray) -> None:
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
