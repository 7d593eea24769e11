"""Words more for streams that have room, without touching anything else.

Places, wires and operations are described in the package, the arrays in ``arrays``.
"""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel

from .arrays import DELIVER, INJECT, NEVER, PackingChains, PackingLinks, PackingScratch, PackingUse
from .cheapest_path import route_path
from .rip_up import mark
from .starts import start_costs, word_gap


@kernel
def add_word(
    stream: int,
    words_most: int,
    more_chains: bool,
    waits: bool,
    room: int,
    net: PackingLinks,
    hops: np.ndarray,
    allowed: np.ndarray,
    slack: int,
    chains: PackingChains,
    used: int,
    use: PackingUse,
    noise: np.ndarray,
    state: np.ndarray,
    scratch: PackingScratch,
) -> int:
    """Give ``stream`` a word more without touching anything else: in one of its chains, or in a new one.

    The prices must be ``NEVER`` where something is in use (``forbid_used``). ``used`` chains stand in ``chains``. Returns how
    many stand there afterwards, -1 if there is no place. Only for streams with one destination a new chain is looked for.
    """
    slots = use.cells.shape[1]
    by_start = np.zeros(slots, np.int64)
    for chain in range(used):
        if chains.stream[chain] != stream:
            continue
        words, n_ops = chains.words[chain], chains.n_ops[chain]
        gap = word_gap(chains.ops[chain, :n_ops], words + 1, slots)
        if words >= words_most or (words + 1) * gap > slots:
            continue
        start_costs(chains.ops[chain, :n_ops], net, use, 1 << 20, 0, by_start)
        best, least = -1, NEVER
        for slot in range(slots):
            if by_start[slot] >= least:
                continue
            near = False
            for word in range(words):
                between = (slot - chains.starts[chain, word]) % slots
                near |= between < gap or slots - between < gap
            if not near:
                best, least = slot, by_start[slot]
        if best < 0 or not _quiet(chains.ops[chain, :n_ops], best, use):
            continue
        chains.starts[chain, words] = best
        chains.words[chain] = words + 1
        one = np.zeros(1, np.int64)
        one[0] = best
        for op in range(n_ops):
            use.numbers[chains.ops[chain, op, 0]] -= 1
        mark(chains.ops[chain, :n_ops], one, net, use, NEVER, 1)
        return used
    ends = chains.ends[chains.first_end[stream] : chains.first_end[stream + 1]]
    if not more_chains or ends.shape[0] > 1 or used >= chains.stream.shape[0]:
        return -1
    shifts = np.zeros(1, np.int64)
    made, start, _ = route_path(
        net, hops[chains.hops_row[stream]], allowed[stream], chains.source[stream], ends[0], slack, shifts, slots,
        use, room, NEVER, waits, noise, state, scratch, chains.ops[used],
    )  # fmt: skip
    if not made:
        return -1
    start_costs(chains.ops[used, :made], net, use, room, NEVER, by_start)
    if by_start[start] >= NEVER or not _quiet(chains.ops[used, :made], start, use):
        return -1
    chains.stream[used], chains.words[used], chains.n_ops[used] = stream, 1, made
    chains.starts[used, 0] = start
    mark(chains.ops[used, :made], chains.starts[used, :1], net, use, NEVER, 1)
    return used + 1


@kernel
def _quiet(ops: np.ndarray, start: int, use: PackingUse) -> bool:
    """Whether a word from ``start`` finds all its slots free and meets nobody at the interface."""
    slots = use.cells.shape[1]
    for op in range(ops.shape[0]):
        place = ops[op, 0]
        slot = (start + ops[op, 1]) % slots
        if use.cells[place, slot]:
            return False
        if ops[op, 3] == INJECT and use.writes[place, slot - 1 if slot else slots - 1]:
            return False
        if ops[op, 4] == DELIVER and use.reads[place, slot + 1 if slot + 1 < slots else 0]:
            return False
    return True


@kernel
def forbid_used(use: PackingUse) -> None:
    """Prices for ``add_word``: nothing where it is free, ``NEVER`` where something is in use."""
    slots = use.cells.shape[1]
    for place in range(use.cells.shape[0]):
        for slot in range(slots):
            cost = NEVER if use.cells[place, slot] else min(use.cell_fixed[place, slot], NEVER)
            use.cell_cost[place, slot], use.cell_cost[place, slot + slots] = cost, cost
    for wire in range(use.wires.shape[0]):
        for slot in range(slots):
            cost = NEVER if use.wires[wire, slot] else min(use.wire_fixed[wire, slot], NEVER)
            use.wire_cost[wire, slot], use.wire_cost[wire, slot + slots] = cost, cost
    use.node_cost[:] = 0
    use.turn_history[:] = 0
