"""Negotiated congestion: chains are ripped up and routed again at growing prices until no resource is used twice.

After McMurchie and Ebeling 1995; only chains in conflict are routed again.

Places, wires and operations are described in the package, the arrays in ``arrays``.
"""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel
from pointsman.routing.pathfinder.costs import UNIT
from pointsman.routing.pathfinder.starts import choose_starts

from .arrays import (
    BUDGET_DONE,
    CONFLICTS_FEWEST,
    DELIVER,
    GAIN_HIGHEST,
    GAIN_HISTORY,
    GAIN_LOAD,
    GAIN_PRICE,
    INJECT,
    NEVER,
    OPERATION,
    ROUNDS_DONE,
    TRIES,
    PackingChains,
    PackingLinks,
    PackingScratch,
    PackingUse,
)
from .cheapest_path import random_number, route_path
from .starts import start_costs, word_gap
from .steiner import grow_tree, route_tree


@kernel
def mark(ops: np.ndarray, starts: np.ndarray, net: PackingLinks, use: PackingUse, price: int, sign: int) -> None:
    """Count a chain in (``sign`` 1) or out (-1), and its price with it."""
    slots = use.cells.shape[1]
    for op in range(ops.shape[0]):
        place, link = ops[op, 0], ops[op, 2]
        use.numbers[place] += sign
        for word in range(starts.shape[0]):
            slot = (starts[word] + ops[op, 1]) % slots
            use.cells[place, slot] += sign
            use.cell_cost[place, slot] += sign * price
            use.cell_cost[place, slot + slots] += sign * price
            if link >= 0:
                wire = net.wire[link]
                use.wires[wire, slot] += sign
                use.wire_cost[wire, slot] += sign * price
                use.wire_cost[wire, slot + slots] += sign * price
            if ops[op, 3] == INJECT:
                use.reads[place, slot] += sign
            if ops[op, 4] == DELIVER:
                use.writes[place, slot] += sign


@kernel
def contested(ops: np.ndarray, starts: np.ndarray, net: PackingLinks, use: PackingUse, room: int) -> bool:
    """Whether a chain shares a resource, or meets another at the interface."""
    slots = use.cells.shape[1]
    for op in range(ops.shape[0]):
        place, link = ops[op, 0], ops[op, 2]
        if use.numbers[place] > room:
            return True
        for word in range(starts.shape[0]):
            slot = (starts[word] + ops[op, 1]) % slots
            if use.cells[place, slot] > 1 or (link >= 0 and use.wires[net.wire[link], slot] > 1):
                return True
            if ops[op, 3] == INJECT and use.writes[place, slot - 1 if slot else slots - 1]:
                return True
            if ops[op, 4] == DELIVER and use.reads[place, slot + 1 if slot + 1 < slots else 0]:
                return True
    return False


@kernel
def hold_slot(place: int, use: PackingUse, price: int) -> None:
    """Give the reprogramming VFSM of ``place`` the slot that costs least."""
    slots = use.cells.shape[1]
    old = use.held[place]
    if old >= 0:
        use.cells[place, old] -= 1
        use.reads[place, old] -= 1
    best, least = 0, np.int64(NEVER) << 20
    for slot in range(slots):
        before = slot - 1 if slot else slots - 1
        cost = np.int64(use.cell_fixed[place, slot]) + use.cell_history[place, slot] + price * use.cells[place, slot]
        if use.writes[place, before]:
            cost += use.turn_history[place, before] + price * use.writes[place, before]
        if slot == old:
            cost -= 1
        if cost < least:
            best, least = slot, cost
    use.held[place] = best
    use.cells[place, best] += 1
    use.reads[place, best] += 1


@kernel
def _price_all(use: PackingUse, price: int) -> None:
    slots = use.cells.shape[1]
    for place in range(use.cells.shape[0]):
        for slot in range(slots):
            cost = use.cell_fixed[place, slot] + use.cell_history[place, slot] + price * use.cells[place, slot]
            use.cell_cost[place, slot] = cost
            use.cell_cost[place, slot + slots] = cost
    for wire in range(use.wires.shape[0]):
        for slot in range(slots):
            cost = use.wire_fixed[wire, slot] + use.wire_history[wire, slot] + price * use.wires[wire, slot]
            use.wire_cost[wire, slot] = cost
            use.wire_cost[wire, slot + slots] = cost


@kernel
def _learn(use: PackingUse, capacity: np.ndarray, room: int, gains: np.ndarray) -> int:
    """Count the conflicts and raise the history of what is in conflict."""
    slots = use.cells.shape[1]
    pipelines = use.cells.shape[0] // use.node_cost.shape[0]
    conflicts = 0
    for place in range(use.cells.shape[0]):
        conflicts += max(use.numbers[place] - room, 0)
        for slot in range(slots):
            if use.cells[place, slot] > 1:
                conflicts += use.cells[place, slot] - 1
                use.cell_history[place, slot] += gains[GAIN_HISTORY] * (use.cells[place, slot] - 1)
            after = slot + 1 if slot + 1 < slots else 0
            if use.writes[place, slot] and use.reads[place, after]:
                both = use.writes[place, slot] * use.reads[place, after]
                conflicts += both
                use.turn_history[place, slot] += gains[GAIN_HISTORY] * both
    for wire in range(use.wires.shape[0]):
        for slot in range(slots):
            if use.wires[wire, slot] > 1:
                conflicts += use.wires[wire, slot] - 1
                use.wire_history[wire, slot] += gains[GAIN_HISTORY] * (use.wires[wire, slot] - 1)
    # A node with more to do than it has slots never settles: its price rises as a whole, so that words go round it.
    for node in range(capacity.shape[0]):
        load = 0
        for pipeline in range(pipelines):
            for slot in range(slots):
                load += use.cells[node * pipelines + pipeline, slot]
        use.node_cost[node] = max(0, use.node_cost[node] + min(4, load - capacity[node]) * gains[GAIN_LOAD])
    return conflicts


@kernel
def negotiate(
    rounds: int,
    patience: int,
    budget: int,
    waits: bool,
    room: int,
    net: PackingLinks,
    hops: np.ndarray,
    allowed: np.ndarray,
    slack: int,
    chains: PackingChains,
    use: PackingUse,
    capacity: np.ndarray,
    gains: np.ndarray,
    noise: np.ndarray,
    state: np.ndarray,
    price_now: np.ndarray,
    progress: np.ndarray,
    queue: np.ndarray,
    count: int,
    scratch: PackingScratch,
) -> tuple[int, int]:
    """Route the first ``count`` chains of ``queue``, then those in conflict, round by round.

    Returns the conflicts that stay (0: none; -1 - c: chain c has no way at all) and how many chains then stand in
    ``queue``. ``allowed`` and ``hops`` have a row for each stream and each destination. ``price_now`` and ``progress``
    are kept for a next call.
    """
    slots = use.cells.shape[1]
    trial = np.zeros((chains.ops.shape[1], OPERATION), chains.ops.dtype)
    most_words = chains.starts.shape[1]
    trial_starts = np.zeros(most_words, np.int64)
    by_start = np.zeros(slots, np.int64)
    shifts = np.zeros(most_words, np.int64)
    node_price = np.zeros(use.node_cost.shape[0], np.int64)
    wire_price = np.zeros(use.wires.shape[0], np.int64)
    pipelines = use.cells.shape[0] // use.node_cost.shape[0]
    waited, conflicts = 0, 0
    for _ in range(rounds):
        price = price_now[0]
        turn = progress[ROUNDS_DONE]
        _price_all(use, price)
        trees = False
        for position in range(count):
            stream = chains.stream[queue[position]]
            trees |= chains.first_end[stream + 1] - chains.first_end[stream] > 1
        if trees:
            for node in range(node_price.shape[0]):
                total = 0
                for pipeline in range(pipelines):
                    for slot in range(slots):
                        total += use.cell_cost[node * pipelines + pipeline, slot]
                node_price[node] = UNIT + use.node_cost[node] + 4 * total // (slots * pipelines)
            for wire in range(wire_price.shape[0]):
                total = 0
                for slot in range(slots):
                    total += use.wire_cost[wire, slot]
                wire_price[wire] = 1 + 4 * total // slots
        for position in range(count):
            chain = queue[position]
            stream, words, old = chains.stream[chain], chains.words[chain], chains.n_ops[chain]
            source = chains.source[stream]
            ends = chains.ends[chains.first_end[stream] : chains.first_end[stream + 1]]
            if old:
                mark(chains.ops[chain, :old], chains.starts[chain, :words], net, use, price, -1)
            best = NEVER
            if old and words > 1:
                # The words anew on the old route.
                start_costs(chains.ops[chain, :old], net, use, room, price, by_start)
                best = choose_starts(
                    by_start, words, word_gap(chains.ops[chain, :old], words, slots), NEVER, trial_starts
                )
                progress[BUDGET_DONE] += old * slots
                if best < NEVER:
                    chains.starts[chain, :words] = trial_starts[:words]
            loose = slack if turn % 4 == 3 else 0
            for word in range(words):
                if old:
                    shifts[word] = (chains.starts[chain, word] - chains.starts[chain, 0]) % slots
                else:
                    shifts[word] = word * slots // words
            n_tree = 0
            if ends.shape[0] > 1:
                if old and random_number(state) % 2:
                    for op in range(old):
                        if chains.ops[chain, op, 2] >= 0:
                            scratch.tree[n_tree] = chains.ops[chain, op, 2]
                            n_tree += 1
                else:
                    n_tree = grow_tree(net, allowed[stream], source, ends, use, node_price, wire_price, state, scratch)
                    for row in range(n_tree):
                        scratch.tree[row] = scratch.links[row]
            # A route for the words as they lie, the words anew on that route, and so on while that helps.
            # Then other patterns at random.
            refining, tries = True, 0
            while tries < TRIES:
                tries += 1
                gap = slots
                for word in range(words):
                    gap = min(gap, (shifts[word + 1] if word + 1 < words else slots) - shifts[word])
                if ends.shape[0] == 1:
                    made, _, work = route_path(
                        net, hops[chains.hops_row[stream]], allowed[stream], source, ends[0], loose, shifts[:words], gap,
                        use, room, price, waits, noise, state, scratch, trial,
                    )  # fmt: skip
                    if not made and loose:
                        made, _, work = route_path(
                            net, hops[chains.hops_row[stream]], allowed[stream], source, ends[0], 0, shifts[:words], gap,
                            use, room, price, waits, noise, state, scratch, trial,
                        )  # fmt: skip
                else:
                    made, _start, work = route_tree(
                        net, scratch.tree[:n_tree], source, ends, shifts[:words], gap,
                        use, room, price, waits, noise, state, scratch, trial,
                    )  # fmt: skip
                progress[BUDGET_DONE] += work
                if made:
                    start_costs(trial[:made], net, use, room, price, by_start)
                    total = choose_starts(by_start, words, word_gap(trial[:made], words, slots), NEVER, trial_starts)
                    if total < best or not chains.n_ops[chain]:
                        best = total
                        chains.n_ops[chain] = made
                        chains.ops[chain, :made] = trial[:made]
                        chains.starts[chain, :words] = trial_starts[:words]
                    else:
                        refining = False
                if words == 1 or not made or not old:
                    break
                if refining:
                    for word in range(words):
                        shifts[word] = (trial_starts[word] - trial_starts[0]) % slots
                else:
                    spare = slots - 2 * words
                    for word in range(words):
                        trial_starts[word] = random_number(state) % (spare + 1)
                    trial_starts[:words].sort()
                    for word in range(words - 1, -1, -1):
                        shifts[word] = trial_starts[word] - trial_starts[0] + 2 * word
            made = chains.n_ops[chain]
            if not made:
                return -1 - chain, 0
            mark(chains.ops[chain, :made], chains.starts[chain, :words], net, use, price, 1)
        for place in range(use.cells.shape[0]):
            if use.hold[place]:
                at = use.held[place]
                if at < 0 or use.cells[place, at] > 1 or use.writes[place, at - 1 if at else slots - 1]:
                    hold_slot(place, use, price)
        conflicts = _learn(use, capacity, room, gains)
        progress[ROUNDS_DONE] += 1
        count = 0
        if not conflicts:
            progress[CONFLICTS_FEWEST] = 0
            return 0, 0
        for chain in range(chains.stream.shape[0]):
            n_ops, words = chains.n_ops[chain], chains.words[chain]
            if n_ops and not chains.frozen[chain]:
                if contested(chains.ops[chain, :n_ops], chains.starts[chain, :words], net, use, room):
                    queue[count] = chain
                    count += 1
        for position in range(count - 1, 0, -1):
            other = random_number(state) % (position + 1)
            queue[position], queue[other] = queue[other], queue[position]
        price_now[0] = min(price + max(1, price * gains[GAIN_PRICE] // 100), gains[GAIN_HIGHEST])
        if progress[CONFLICTS_FEWEST] < 0 or conflicts < progress[CONFLICTS_FEWEST]:
            progress[CONFLICTS_FEWEST], waited = conflicts, 0
        else:
            waited += 1
        if waited > patience or progress[BUDGET_DONE] > budget:
            break
    return conflicts, count
