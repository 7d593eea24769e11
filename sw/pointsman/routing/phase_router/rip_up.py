"""The rounds of a negotiation: chains are ripped up and routed again at growing prices until no resource is used twice.

After McMurchie and Ebeling 1995; only chains in conflict are routed again. Routes are rows as
``cheapest_path.cheapest`` gives them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pointsman.kernels import kernel
from pointsman.routing.pathfinder.costs import UNIT

from .cheapest_path import (
    LONGEST_WAIT,
    NEVER,
    SHUT,
    cheapest,
    cheapest_starts,
    contested,
    following,
    mark,
    scratch_for,
)
from .steiner import branches_of_tree, grow, tree_of

HOPELESS = np.array([[4, 250], [8, 180], [15, 100], [20, 35], [30, 25], [40, 15]])
"""From so many rounds on, an attempt is given up that never had so few conflicts for each hundred chains: of two thousand that
succeeded in the phases of the examples, two were above this."""
UNMENDED = np.array([[1, 60], [3, 45], [4, 30], [8, 20]])
"""As HOPELESS, of attempts that begin with routes, where there are SEVERAL chains: of 2,950 on 36 to 256 nodes 29 succeeded, and
these had nine tenths of it at most."""
SEVERAL = 64
MENDED = 4
"""Routes that are looked for at most where slots are blocked: each for the starts that suit the route before best."""


class PartLinks(NamedTuple):
    """Links of a part; those that leave a node are ``links_from[first_link[n] : first_link[n + 1]]``."""

    wires: np.ndarray
    link_to: np.ndarray
    first_link: np.ndarray
    links_from: np.ndarray
    most_links: int
    blocked: np.ndarray
    any_blocked: bool
    clash: np.ndarray


class Demands(NamedTuple):
    """What is asked for, by demand, and the branchings of those that do not grow trees (see ``branches``).

    ``allowed`` are its nodes, ``kind`` says which table of ``PartLinks.blocked`` counts for it.
    Branching number w has the branches ``branches[first_branch[w] : first_branch[w + 1]]``, and onward rows
    likewise; ``branching`` is that of a demand, -1 for a tree to be grown, ``longer`` the one with two hops more, or the same.
    """

    source: np.ndarray
    first_end: np.ndarray
    ends: np.ndarray
    allowed: np.ndarray
    reads: np.ndarray
    delivers: np.ndarray
    anywhere: np.ndarray
    joins: np.ndarray
    clashing: np.ndarray
    rewritten: np.ndarray
    kind: np.ndarray
    branching: np.ndarray
    longer: np.ndarray
    first_branch: np.ndarray
    branches: np.ndarray
    first_onward: np.ndarray
    onward: np.ndarray


class PartChains(NamedTuple):
    """By chain: its demand, its words, and its route so far: rows from ``first_visit`` and ``first_op`` on."""

    demand: np.ndarray
    words: np.ndarray
    first_visit: np.ndarray
    n_visits: np.ndarray
    visits: np.ndarray
    first_op: np.ndarray
    n_ops: np.ndarray
    ops: np.ndarray
    gap: np.ndarray
    first_start: np.ndarray
    starts: np.ndarray


class PartUse(NamedTuple):
    """Who uses what, by (place, slot) or (wire, slot), and past conflicts.

    ``readers`` and ``writers`` of the interface stand by condition first; the ``_met`` ones count those that an access under
    this condition may meet. ``held`` is the slot of the reprogramming VFSM by place, -1 where there is none;
    ``turn_history`` that of a delivery in a slot with an injection in the next. The costs are what use and history come to at the
    price of a round, by slot and altogether.
    """

    cells: np.ndarray
    wires: np.ndarray
    readers: np.ndarray
    readers_met: np.ndarray
    writers: np.ndarray
    writers_met: np.ndarray
    numbers: np.ndarray
    held: np.ndarray
    cell_history: np.ndarray
    wire_history: np.ndarray
    turn_history: np.ndarray
    cell_cost: np.ndarray
    place_cost: np.ndarray
    wire_cost: np.ndarray
    whole_cost: np.ndarray


@kernel
def _count(
    net: PartLinks, demands: Demands, chains: PartChains, use: PartUse, price: int, chain: int, sign: int
) -> None:
    demand = chains.demand[chain]
    first, start = chains.first_op[chain], chains.first_start[chain]
    mark(
        use.cells, use.wires, use.readers, use.readers_met, use.writers, use.writers_met, use.numbers,
        use.cell_cost, use.place_cost, use.wire_cost, use.whole_cost, net.clash,
        chains.ops[first : first + chains.n_ops[chain]], chains.starts[start : start + chains.words[chain]],
        demands.reads[demand], demands.delivers[demand], price, sign,
    )  # fmt: skip


@kernel
def _reprice(use: PartUse, price: int) -> None:
    """Set the costs for a round."""
    places, slots = use.cells.shape
    for place in range(places):
        total = 0
        for slot in range(slots):
            cost = use.cell_history[place, slot] + price * use.cells[place, slot]
            use.cell_cost[place, slot] = cost
            total += cost
        use.place_cost[place] = total
    for wire in range(use.wires.shape[0]):
        total = 0
        for slot in range(slots):
            cost = use.wire_history[wire, slot] + price * use.wires[wire, slot]
            use.wire_cost[wire, slot] = cost
            total += cost
        use.whole_cost[wire] = total


@kernel
def _prices(net: PartLinks, use: PartUse, pipelines: int, state: int, node_price, link_price) -> int:  # type: ignore[no-untyped-def]
    """Prices by node and by link, without regard to slots, with some noise; the next state of the noise."""
    slots = use.cells.shape[1]
    for node in range(node_price.shape[0]):
        total = 0
        for place in range(node * pipelines, (node + 1) * pipelines):
            total += use.place_cost[place]
        state = following(state)
        node_price[node] = UNIT + 4 * total // (slots * pipelines) + (state >> 8) % 16
    for link in range(link_price.shape[0]):
        state = following(state)
        link_price[link] = 1 + 4 * use.whole_cost[net.wires[link]] // slots + (state >> 8) % 16
    return state


@kernel
def _hold(demands: Demands, chains: PartChains, use: PartUse, pipelines: int, price: int, phase_change: bool) -> None:
    """Give the reprogramming VFSM of each place that needs one the slot that costs least, and of no other."""
    places, slots = use.cells.shape
    conditions = use.writers.shape[0]
    need = np.zeros(places, np.bool_)
    for chain in range(chains.demand.shape[0]):
        rewritten = demands.rewritten[chains.demand[chain]]
        for op in range(chains.first_op[chain], chains.first_op[chain] + chains.n_ops[chain]):
            place = chains.ops[op, 0]
            if phase_change:
                need[place - place % pipelines] = True
            if rewritten:
                need[place] = True
    for place in range(places):
        old = use.held[place]
        if old >= 0:
            use.cells[place, old] -= 1
            use.readers[0, place, old] -= 1
            for condition in range(conditions):
                use.readers_met[condition, place, old] -= 1
        use.held[place] = -1
        if not need[place]:
            continue
        best, least = 0, NEVER
        for slot in range(slots):
            before = slot - 1 if slot else slots - 1
            writers = 0
            for condition in range(conditions):
                writers += use.writers[condition, place, before]
            cost = use.cell_history[place, slot] + price * (use.cells[place, slot] + writers)
            if writers:
                cost += use.turn_history[place, before]
            if cost < least:
                best, least = slot, cost
        use.held[place] = best
        use.cells[place, best] += 1
        use.readers[0, place, best] += 1
        for condition in range(conditions):
            use.readers_met[condition, place, best] += 1


@kernel
def _conflicts(use: PartUse, room: int, learn: int) -> int:
    """How many there are; ``learn`` is added to the history of each."""
    places, slots = use.cells.shape
    count = 0
    for place in range(places):
        count += max(use.numbers[place] - room, 0)
        for slot in range(slots):
            over = use.cells[place, slot] - 1
            if over > 0:
                count += over
                use.cell_history[place, slot] += learn * over
            after = slot + 1 if slot + 1 < slots else 0
            for condition in range(use.writers.shape[0]):
                writers = use.writers[condition, place, slot]
                if writers:
                    turns = writers * use.readers_met[condition, place, after]
                    count += turns
                    use.turn_history[place, slot] += learn * turns
    for wire in range(use.wires.shape[0]):
        for slot in range(slots):
            over = use.wires[wire, slot] - 1
            if over > 0:
                count += over
                use.wire_history[wire, slot] += learn * over
    return count


@kernel
def _least_gap(starts: np.ndarray, slots: int) -> int:
    """Smallest distance of two starts round the period; they ascend round it from any of them on."""
    count = starts.shape[0]
    least = slots
    for one in range(count if count > 1 else 0):
        apart = starts[one + 1 if one + 1 < count else 0] - starts[one]
        least = min(least, apart if apart > 0 else apart + slots)
    return least


@kernel
def _is_hopeless(rounds: int, fewest: int, chains: int, mending: bool) -> bool:
    """Whether attempts with so many conflicts after so many rounds fail; ``mending``: those that began with routes."""
    table = UNMENDED if mending and chains >= SEVERAL else HOPELESS
    most = -1
    for row in range(table.shape[0]):
        if rounds >= table[row, 0]:
            most = table[row, 1]
    return most >= 0 and 100 * fewest > most * chains


def unbegun() -> np.ndarray:
    """How a negotiation stands before its first round: rounds done, chains in conflict, state of its random numbers, price,
    fewest conflicts so far, and rounds since there were fewer."""
    return np.array([0, 0, 0, UNIT, -1, 0])


@kernel
def negotiate(
    rounds: int,
    patience: int,
    budget: float,
    pipelines: int,
    room: int,
    reserve: bool,
    phase_change: bool,
    seed: int,
    net: PartLinks,
    demands: Demands,
    chains: PartChains,
    use: PartUse,
    queue: np.ndarray,
    begin: int,
    stand: np.ndarray,
) -> tuple[int, float, bool]:
    """Route the first ``begin`` chains of ``queue`` in its order, beside the others, which have routes; then those in conflict,
    round by round. Give up when that looks hopeless. ``stand``: how it stands after the rounds so far (`unbegun`), from where
    another call with the same arrays goes on.

    Returns the number of chains that stay in conflict, which then stand first in ``queue`` (0: none, or -1 - c: chain c has no
    route at all), the work done: prices looked up, and whether more rounds, patience or budget would come to the same.
    """
    slots = use.cells.shape[1]
    nodes = demands.allowed.shape[1]
    done, count, state, price, fewest, waited = stand[0], stand[1], stand[2], stand[3], stand[4], stand[5]
    if not done:
        count, state = begin, seed % 2147483646 + 1
    work = 0.0
    node_price = np.zeros(nodes, np.int64)
    link_price = np.zeros(net.link_to.shape[0], np.int64)
    children = np.zeros((nodes, net.most_links + 1), np.int64)
    n_children = np.zeros(nodes, np.int64)
    tree_branches = np.zeros((nodes + 1, 6), np.int64)
    tree_onward = np.zeros((nodes + 1, 2), np.int64)
    pattern_of = np.zeros((2, slots), np.int64)
    most_branches, most_onward, most_fan = nodes + 1, nodes + 1, net.most_links
    for one in range(demands.first_branch.shape[0] - 1):
        most_branches = max(most_branches, demands.first_branch[one + 1] - demands.first_branch[one])
        most_onward = max(most_onward, demands.first_onward[one + 1] - demands.first_onward[one])
    for row in range(demands.branches.shape[0]):
        most_fan = max(most_fan, demands.branches[row, 2])
    scratch = scratch_for(most_branches, most_onward, most_fan, pipelines, slots)
    for chain in range(0 if done else chains.demand.shape[0]):
        if chains.n_ops[chain]:
            _count(net, demands, chains, use, price, chain, 1)
    for turn in range(done, rounds):
        if waited > patience or work > max(budget, 0.0):
            break
        if turn:
            _conflicts(use, room, 2 * UNIT)
            price = min(price + price // 10, 8 * UNIT)
        _reprice(use, price)
        for position in range(count):
            chain = queue[position]
            demand, words = chains.demand[chain], chains.words[chain]
            first_op, first_visit, first_start = (
                chains.first_op[chain],
                chains.first_visit[chain],
                chains.first_start[chain],
            )
            reads, delivers = demands.reads[demand], demands.delivers[demand]
            blocked = net.blocked[demands.kind[demand]]
            ends = demands.ends[demands.first_end[demand] : demands.first_end[demand + 1]]
            old = chains.n_ops[chain] > 0
            best = NEVER
            for word in range(words):
                pattern_of[1, word] = word * slots // words
                pattern_of[0, word] = chains.starts[first_start + word] if old else word * slots // words
            patterns = 2 if old and words > 1 and turn % 3 == 0 else 1
            candidates = 1
            grows = demands.branching[demand] < 0
            if old:
                _count(net, demands, chains, use, price, chain, -1)
                n_ops = chains.n_ops[chain]
                if grows:
                    candidates = 2
                    tree_of(
                        chains.visits[first_visit : first_visit + chains.n_visits[chain]],
                        chains.ops[first_op : first_op + n_ops], children, n_children,
                    )  # fmt: skip
                cost, starts = cheapest_starts(
                    chains.ops[first_op : first_op + n_ops], use.cell_cost, use.wire_cost,
                    use.writers_met[reads], use.readers_met[delivers], use.turn_history, use.numbers, blocked,
                    net.any_blocked, NEVER, words, chains.gap[chain], room, price,
                )  # fmt: skip
                work += n_ops * slots + 200
                best = cost
                if cost < NEVER:
                    for word in range(words):
                        chains.starts[first_start + word] = starts[word]
            found = old
            # A tree that it has, then one that is grown; other demands have one branching.
            for candidate in range(2 - candidates, 2):
                if grows:
                    if candidate == 1:
                        state = _prices(net, use, pipelines, state, node_price, link_price)
                        if not grow(
                            demands.source[demand], ends, demands.allowed[demand], net.first_link, net.links_from,
                            net.link_to, node_price, link_price, children, n_children,
                        ):  # fmt: skip
                            continue
                    n_branches, n_onward = branches_of_tree(
                        demands.source[demand], ends, net.link_to, children, n_children, tree_branches, tree_onward
                    )
                    branches, onward = tree_branches[:n_branches], tree_onward[:n_onward]
                else:
                    chosen = demands.longer[demand] if turn % 4 == 3 else demands.branching[demand]
                    branches = demands.branches[demands.first_branch[chosen] : demands.first_branch[chosen + 1]]
                    onward = demands.onward[demands.first_onward[chosen] : demands.first_onward[chosen + 1]]
                for word in range(words):
                    pattern_of[1, word] = word * slots // words
                for number in range(patterns + MENDED):
                    # Where words at even distances pass blocked slots, others may not: a route is found all the same, then
                    # starts for it, then a route for these.
                    mending = number >= patterns
                    if mending and (best < NEVER or not net.any_blocked):
                        break
                    pattern = pattern_of[1 if mending else number, :words]
                    gap = _least_gap(pattern, slots)
                    state = following(state)
                    n_visits, n_ops, own_gap = cheapest(
                        branches, onward, net.wires, use.cell_cost, use.wire_cost,
                        use.writers_met[reads], use.readers_met[delivers], use.turn_history, use.numbers, blocked,
                        net.any_blocked, SHUT if mending else NEVER, pattern, gap, pipelines, room, price, state,
                        demands.anywhere[demand], demands.clashing[demand], scratch,
                    )  # fmt: skip
                    work += branches.shape[0] * pipelines * slots * (words + min(gap, LONGEST_WAIT)) + 200
                    if not n_visits:
                        continue
                    ops = scratch.ops[:n_ops]
                    cost, starts = cheapest_starts(
                        ops, use.cell_cost, use.wire_cost, use.writers_met[reads],
                        use.readers_met[delivers], use.turn_history, use.numbers, blocked, net.any_blocked, SHUT,
                        words, own_gap, room, price,
                    )  # fmt: skip
                    work += n_ops * slots + 200
                    if cost >= SHUT:
                        for word in range(starts.shape[0]):
                            pattern_of[1, word] = starts[word]
                        continue
                    if cost < best:
                        best, found = cost, True
                        chains.gap[chain] = own_gap
                        chains.n_visits[chain], chains.n_ops[chain] = n_visits, n_ops
                        for row in range(n_visits):
                            chains.visits[first_visit + row] = scratch.visits[row]
                        for row in range(n_ops):
                            chains.ops[first_op + row] = ops[row]
                        for word in range(words):
                            chains.starts[first_start + word] = starts[word]
            if not found or best >= NEVER:
                queue[0] = chain
                return -1 - chain, work, True
            _count(net, demands, chains, use, price, chain, 1)
        if reserve:
            _hold(demands, chains, use, pipelines, price, phase_change)
        conflicts = _conflicts(use, room, 0)
        if not conflicts:
            return 0, work, True
        count = 0
        for chain in range(chains.demand.shape[0]):
            demand = chains.demand[chain]
            first, start = chains.first_op[chain], chains.first_start[chain]
            if contested(
                chains.ops[first : first + chains.n_ops[chain]], chains.starts[start : start + chains.words[chain]],
                use.cells, use.wires, use.writers_met[demands.reads[demand]], use.readers_met[demands.delivers[demand]],
                use.numbers, room,
            ):  # fmt: skip
                queue[count] = chain
                count += 1
        for position in range(count - 1, 0, -1):
            state = following(state)
            other = (state >> 8) % (position + 1)
            queue[position], queue[other] = queue[other], queue[position]
        if fewest < 0 or conflicts < fewest:
            fewest, waited = conflicts, 0
        else:
            waited += 1
        if _is_hopeless(turn + 1, fewest, chains.demand.shape[0], begin < chains.demand.shape[0]):
            return max(count, 1), work, True
        done = turn + 1
    stand[0], stand[1], stand[2], stand[3], stand[4], stand[5] = done, count, state, price, fewest, waited
    return max(count, 1), work, False
