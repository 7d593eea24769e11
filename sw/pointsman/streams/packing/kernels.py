"""The inner loops of packing: chains are ripped up and routed again at growing prices until no resource is used twice.

After McMurchie and Ebeling 1995; only chains in conflict are routed again. All numbers are whole, so results are the same on
every machine.

A *place* is a (node, pipeline) pair, numbered node × pipelines + pipeline; a *wire* is a directed link, or a pair of them that
shares its handshake. An *operation* is one VFSM of a chain: a row (place, slot after the chain's start, link that it writes or
-1, source, destination, operation that the words come from or -1). Tables of prices are twice as long as the period, so that
a shifted row can be read without a division.
"""

from __future__ import annotations

import heapq

import numba
import numpy as np

from .tables import (
    BUDGET_DONE,
    BUFFER,
    CONFLICTS_FEWEST,
    DELIVER,
    FORK,
    GAIN_HIGHEST,
    GAIN_HISTORY,
    GAIN_LOAD,
    GAIN_PRICE,
    INJECT,
    LINK,
    OPERATION,
    ROUNDS_DONE,
    Chains,
    Network,
    Scratch,
    Use,
)

UNIT = 16
"""Cost of a free VFSM slot."""
NEVER = 1 << 28
"""Cost of what may not be used at all."""
WAIT_COST = 2
"""Cost of each slot of a wait, besides its VFSM."""
FEWEST_WAIT, LONGEST_WAIT = 2, 5
"""A word can be read from a buffer two slots after it was read from the link (docs/hardware.md)."""
TRIES = 4
"""Patterns of starts that are tried for a chain of several words."""
NOISE = 4
"""Costs get a random number below this, so that ties are broken."""


@numba.njit(cache=True)
def random_number(state: np.ndarray) -> int:
    """The next number 0..2^31-1 (xorshift)."""
    value = state[0]
    value ^= (value << 13) & 0x7FFFFFFFFFFFFFFF
    value ^= value >> 7
    value ^= (value << 17) & 0x7FFFFFFFFFFFFFFF
    state[0] = value
    return value >> 32


@numba.njit(cache=True)
def distances(net: Network, ends: np.ndarray, alive: np.ndarray) -> np.ndarray:
    """Hops to each of ``ends`` from every node, through nodes that are ``alive``; -1 where there is no way."""
    nodes = net.first_in.shape[0] - 1
    table = np.full((ends.shape[0], nodes), -1, np.int32)
    queue = np.zeros(nodes, np.int32)
    for row in range(ends.shape[0]):
        queue[0] = ends[row]
        table[row, ends[row]] = 0
        known, done = 1, 0
        while done < known:
            node = queue[done]
            done += 1
            for index in range(net.first_in[node], net.first_in[node + 1]):
                other = net.writer[net.links_in[index]]
                if alive[other] and table[row, other] < 0:
                    table[row, other] = table[row, node] + 1
                    queue[known] = other
                    known += 1
    return table


@numba.njit(cache=True)
def mark(ops: np.ndarray, starts: np.ndarray, net: Network, use: Use, price: int, sign: int) -> None:
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


@numba.njit(cache=True)
def contested(ops: np.ndarray, starts: np.ndarray, net: Network, use: Use, room: int) -> bool:
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


@numba.njit(cache=True)
def _cells(
    node: int, pipeline: int, legs: int, shifts: np.ndarray, use: Use, room: int, price: int, noise: np.ndarray, at: int, cost: np.ndarray
) -> None:
    """Cost by slot of one VFSM of a chain with words at ``shifts``."""
    pipelines = use.cells.shape[0] // use.node_cost.shape[0]
    place = node * pipelines + pipeline
    slots = use.cells.shape[1]
    over = use.numbers[place] + legs - room
    base = shifts.shape[0] * (UNIT + use.node_cost[node]) + (price * over if over > 0 else 0)
    noises = noise[at : at + slots]
    for slot in range(slots):
        cost[slot] = base + noises[slot]
    for word in range(shifts.shape[0]):
        row = use.cell_cost[place, shifts[word] : shifts[word] + slots]
        for slot in range(slots):
            cost[slot] += row[slot]


@numba.njit(cache=True)
def _turns(
    place: int, first: int, last: int, source: bool, delivers: bool, shifts: np.ndarray, use: Use, price: int, cost: np.ndarray
) -> None:
    """Add what it costs to read the interface right after another VFSM writes it, or to write right before one reads."""
    slots = use.cells.shape[1]
    for word in range(shifts.shape[0]):
        for slot in range(slots):
            if source:
                before = (slot + first + shifts[word] - 1) % slots
                if use.writes[place, before]:
                    cost[slot] += use.turn_history[place, before] + price * use.writes[place, before]
            if delivers:
                now = (slot + last + shifts[word]) % slots
                after = now + 1 if now + 1 < slots else 0
                if use.reads[place, after]:
                    cost[slot] += use.turn_history[place, now] + price * use.reads[place, after]


@numba.njit(cache=True)
def _walks(
    net: Network, hops: np.ndarray, allowed: np.ndarray, source: int, end: int, slack: int, scratch: Scratch
) -> int:
    """List the states (node, hops left) of all walks from ``source`` to ``end`` with at most ``slack`` hops more than need be.

    States stand in ``scratch.node``, the most hops first; ``scratch.first`` and ``links``/``ends`` hold the onward links of each.
    """
    least = hops[source]
    count, onward = 0, 0
    begin, finish = 0, 0
    for rest in range(least + slack, -1, -1):
        finish = count
        if rest >= least and source != end:
            scratch.node[count] = source
            scratch.rest[count] = rest
            count += 1
        # States of this layer were listed by the layer before, which stands in begin..finish.
        for state in range(begin, finish):
            for index in range(scratch.first[state], scratch.first[state + 1]):
                other = net.reader[scratch.links[index]]
                if scratch.stamp[other] != rest + 1:
                    scratch.stamp[other] = rest + 1
                    scratch.place[other] = count
                    scratch.node[count] = other
                    scratch.rest[count] = rest
                    count += 1
                scratch.ends[index] = scratch.place[other]
        if rest == least + slack and source == end:
            scratch.node[count] = end
            scratch.rest[count] = 0
            count += 1
            scratch.first[0], scratch.first[1] = 0, 0
            break
        for state in range(finish, count):
            scratch.first[state] = onward
            node = scratch.node[state]
            if rest:
                for index in range(net.first_out[node], net.first_out[node + 1]):
                    link = net.links_out[index]
                    other = net.reader[link]
                    if allowed[other] and 0 <= hops[other] < rest and other != source and (other != end or rest == 1):
                        scratch.links[onward] = link
                        onward += 1
        scratch.first[count] = onward
        begin = finish
    for state in range(count):
        scratch.stamp[scratch.node[state]] = 0
    return count


@numba.njit(cache=True)
def route_path(
    net: Network,
    hops: np.ndarray,
    allowed: np.ndarray,
    source: int,
    end: int,
    slack: int,
    shifts: np.ndarray,
    gap: int,
    use: Use,
    room: int,
    price: int,
    waits: bool,
    noise: np.ndarray,
    state: np.ndarray,
    scratch: Scratch,
    ops: np.ndarray,
) -> tuple[int, int, int]:
    """The cheapest way of a chain to one destination, its words at ``shifts`` from its start: (operations, start, work).

    Exact over all walks with at most ``slack`` hops too many. No operations if there is no way, or if the cheapest walk passes a
    node twice. O(states × pipelines × slots × words).
    """
    slots = use.cells.shape[1]
    pipelines = use.cells.shape[0] // use.node_cost.shape[0]
    words = shifts.shape[0]
    count = _walks(net, hops, allowed, source, end, slack, scratch)
    down, onset, waiting, waits_for, choice = scratch.down, scratch.onset, scratch.waiting, scratch.waits_for, scratch.choice
    ahead, cost, one = scratch.ahead, scratch.cost, scratch.one
    longest = min(gap - 1, LONGEST_WAIT)
    for branch in range(count - 1, -1, -1):
        node = scratch.node[branch]
        first, last = scratch.first[branch], scratch.first[branch + 1]
        is_end = scratch.rest[branch] == 0
        is_source = node == source
        for slot in range(slots):
            ahead[slot] = 0 if is_end else NEVER
            down[branch, slot] = NEVER
        for index in range(first, last):
            wire, to = net.wire[scratch.links[index]], scratch.ends[index]
            later = down[to, 1 : slots + 1]
            row = use.wire_cost[wire, shifts[0] : shifts[0] + slots]
            for slot in range(slots):
                one[slot] = later[slot] + row[slot]
            for word in range(1, words):
                row = use.wire_cost[wire, shifts[word] : shifts[word] + slots]
                for slot in range(slots):
                    one[slot] += row[slot]
            number = np.int32(index - first)
            chosen = choice[branch]
            for slot in range(slots):
                better = one[slot] < ahead[slot]
                ahead[slot] = one[slot] if better else ahead[slot]
                chosen[slot] = number if better else chosen[slot]
        for pipeline in range(pipelines):
            place = node * pipelines + pipeline
            _cells(node, pipeline, 1, shifts, use, room, price, noise, random_number(state) % 1024, cost)
            set_off, stay, how_long, low = onset[branch, pipeline], waiting[branch, pipeline], waits_for[branch, pipeline], down[branch]
            for slot in range(slots):
                set_off[slot] = ahead[slot] + cost[slot]
            if is_source or is_end:
                _turns(place, 0, 0, is_source, is_end, shifts, use, price, set_off)
            for slot in range(slots):
                low[slot] = min(low[slot], set_off[slot])
                stay[slot] = NEVER
            if is_source or not waits or longest < FEWEST_WAIT:
                continue
            for slot in range(LONGEST_WAIT):
                set_off[slots + slot] = set_off[slot % slots]
            extra = price if use.numbers[place] + 1 >= room else 0
            for wait in range(FEWEST_WAIT, longest + 1):
                toll = np.int32(WAIT_COST * words * (wait - FEWEST_WAIT))
                then = set_off[wait : wait + slots]
                number = np.int32(wait)
                for slot in range(slots):
                    total = then[slot] + toll
                    better = total < stay[slot]
                    stay[slot] = total if better else stay[slot]
                    how_long[slot] = number if better else how_long[slot]
            toll = np.int32(WAIT_COST * words * FEWEST_WAIT + extra)
            for slot in range(slots):
                stay[slot] += cost[slot] + toll
                low[slot] = min(low[slot], stay[slot])
        for slot in range(slots):
            down[branch, slot] = min(down[branch, slot], NEVER)
        down[branch, slots] = down[branch, 0]
    work = count * pipelines * slots * (words + 2)
    branch, start, least = -1, 0, NEVER
    for root in range(count):
        if scratch.node[root] == source:
            for slot in range(slots):
                if down[root, slot] < least:
                    branch, start, least = root, slot, down[root, slot]
    if branch < 0:
        return 0, 0, work
    made, offset, parent = 0, 0, -1
    while True:
        node = scratch.node[branch]
        for op in range(made):
            if ops[op, 0] // pipelines == node:
                return 0, 0, work
        if made + 2 > ops.shape[0]:
            return 0, 0, work
        slot = (start + offset) % slots
        pipeline, wait, least = 0, 0, NEVER << 1
        for other in range(pipelines):
            if onset[branch, other, slot] < least:
                pipeline, wait, least = other, 0, onset[branch, other, slot]
        for other in range(pipelines):
            if waiting[branch, other, slot] < least:
                pipeline, wait, least = other, waits_for[branch, other, slot], waiting[branch, other, slot]
        place = node * pipelines + pipeline
        origin = INJECT if parent < 0 else LINK
        if wait:
            _note(ops, made, place, offset, -1, origin, BUFFER, parent)
            parent, origin = made, BUFFER
            made += 1
            offset += wait
        if scratch.rest[branch] == 0:
            _note(ops, made, place, offset, -1, origin, DELIVER, parent)
            return made + 1, start, work
        index = scratch.first[branch] + choice[branch, (start + offset) % slots]
        _note(ops, made, place, offset, scratch.links[index], origin, LINK, parent)
        parent = made
        made += 1
        offset += 1
        branch = scratch.ends[index]


@numba.njit(cache=True)
def _note(
    ops: np.ndarray, row: int, place: int, offset: int, link: int, source: int, destination: int, parent: int
) -> None:
    ops[row, 0], ops[row, 1], ops[row, 2], ops[row, 3] = place, offset, link, source
    ops[row, 4], ops[row, 5] = destination, parent


@numba.njit(cache=True)
def grow_tree(
    net: Network,
    allowed: np.ndarray,
    source: int,
    ends: np.ndarray,
    use: Use,
    node_price: np.ndarray,
    wire_price: np.ndarray,
    state: np.ndarray,
    scratch: Scratch,
) -> int:
    """A tree from ``source`` to all ``ends``, grown towards the cheapest next one each time: its links into ``scratch.links``.

    Links stand parents first; -1 if an end cannot be reached. Prices ignore the slots: these are chosen afterwards.
    O(ends × links × log nodes).
    """
    nodes = net.first_out.shape[0] - 1
    inside = np.zeros(nodes, np.bool_)
    missing = np.zeros(nodes, np.bool_)
    inside[source] = True
    left = 0
    for end in ends:
        if end != source:
            missing[end] = True
            left += 1
    parent = np.full(nodes, -1, np.int64)
    while left:
        price = np.full(nodes, np.int64(1) << 60, np.int64)
        via = np.full(nodes, -1, np.int64)
        heap = [(np.int64(0), np.int64(source))]
        for node in range(nodes):
            if inside[node]:
                price[node] = 0
                if node != source:
                    heapq.heappush(heap, (np.int64(0), np.int64(node)))
        found = -1
        while len(heap):
            so_far, node = heapq.heappop(heap)
            if so_far > price[node]:
                continue
            if missing[node]:
                found = node
                break
            for index in range(net.first_out[node], net.first_out[node + 1]):
                link = net.links_out[index]
                other = net.reader[link]
                if not allowed[other] or inside[other]:
                    continue
                total = so_far + node_price[node] + wire_price[net.wire[link]] + random_number(state) % NOISE
                if total < price[other]:
                    price[other] = total
                    via[other] = link
                    heapq.heappush(heap, (total, np.int64(other)))
        if found < 0:
            return -1
        missing[found] = False
        left -= 1
        node = found
        while not inside[node]:
            inside[node] = True
            parent[node] = via[node]
            node = net.writer[via[node]]
    # Parents first.
    count, done = 0, 0
    queue = scratch.place
    queue[0] = source
    known = 1
    while done < known:
        node = queue[done]
        done += 1
        for index in range(net.first_out[node], net.first_out[node + 1]):
            link = net.links_out[index]
            if parent[net.reader[link]] == link:
                scratch.links[count] = link
                count += 1
                queue[known] = net.reader[link]
                known += 1
    return count


@numba.njit(cache=True)
def route_tree(
    net: Network,
    tree: np.ndarray,
    source: int,
    ends: np.ndarray,
    shifts: np.ndarray,
    gap: int,
    use: Use,
    room: int,
    price: int,
    waits: bool,
    noise: np.ndarray,
    state: np.ndarray,
    scratch: Scratch,
    ops: np.ndarray,
) -> tuple[int, int, int]:
    """The cheapest slots and pipelines for the tree of links ``tree`` (parents first): (operations, start, work).

    At a node the legs run in consecutive slots of one pipeline, the delivery last; their order is chosen, of more than three
    links among rotations.
    """
    slots = use.cells.shape[1]
    pipelines = use.cells.shape[0] // use.node_cost.shape[0]
    words = shifts.shape[0]
    node_of, first, links, child = scratch.node, scratch.first, scratch.links_of, scratch.ends
    count = tree.shape[0] + 1
    node_of[0] = source
    for row in range(tree.shape[0]):
        node_of[row + 1] = net.reader[tree[row]]
        scratch.rest[row + 1] = 0
    at = 0
    for branch in range(count):
        first[branch] = at
        for row in range(tree.shape[0]):
            if net.writer[tree[row]] == node_of[branch]:
                links[at], child[at] = tree[row], row + 1
                at += 1
    first[count] = at
    down, onset, waiting, waits_for, choice = scratch.down, scratch.onset, scratch.waiting, scratch.waits_for, scratch.choice
    ahead, cost = scratch.ahead, scratch.cost
    fans = 1
    for branch in range(count):
        fans = max(fans, first[branch + 1] - first[branch])
    beyond = np.zeros((fans, slots), np.int32)
    for branch in range(count - 1, -1, -1):
        node = node_of[branch]
        fan = first[branch + 1] - first[branch]
        delivers = False
        for end in ends:
            delivers |= end == node
        is_source = branch == 0
        legs = fan + (1 if delivers else 0)
        for slot in range(slots + 1):
            down[branch, slot] = NEVER
        if legs + (1 if delivers and is_source else 0) > gap:
            continue
        for row in range(fan):
            wire, to = net.wire[links[first[branch] + row]], child[first[branch] + row]
            for slot in range(slots):
                beyond[row, slot] = down[to, slot + 1]
            for word in range(words):
                for slot in range(slots):
                    beyond[row, slot] += use.wire_cost[wire, slot + shifts[word]]
        for slot in range(slots):
            ahead[slot] = NEVER if fan else 0
            for order in range(_orders(fan)):
                total = 0
                for leg in range(fan):
                    total += beyond[_row(fan, order, leg), (slot + leg) % slots]
                if total < ahead[slot]:
                    ahead[slot] = total
                    choice[branch, slot] = order
        longest = min(gap - legs, LONGEST_WAIT)
        for pipeline in range(pipelines):
            place = node * pipelines + pipeline
            _cells(node, pipeline, legs, shifts, use, room, price, noise, random_number(state) % 1024, cost)
            for slot in range(slots):
                total = ahead[slot]
                for leg in range(legs):
                    total += cost[(slot + leg) % slots]
                onset[branch, pipeline, slot] = min(total, NEVER)
                waiting[branch, pipeline, slot] = NEVER
            if is_source or delivers:
                _turns(place, 0, fan, is_source, delivers, shifts, use, price, onset[branch, pipeline])
            for slot in range(slots):
                down[branch, slot] = min(down[branch, slot], onset[branch, pipeline, slot])
            if is_source or not waits:
                continue
            for wait in range(FEWEST_WAIT, longest + 1):
                toll = WAIT_COST * words * wait + (price if use.numbers[place] + legs >= room else 0)
                for slot in range(slots):
                    total = onset[branch, pipeline, (slot + wait) % slots] + cost[slot] + toll
                    if total < waiting[branch, pipeline, slot]:
                        waiting[branch, pipeline, slot] = total
                        waits_for[branch, pipeline, slot] = wait
            for slot in range(slots):
                down[branch, slot] = min(down[branch, slot], waiting[branch, pipeline, slot])
        down[branch, slots] = down[branch, 0]
    work = count * pipelines * slots * (words + 2)
    start, least = 0, NEVER
    for slot in range(slots):
        if down[0, slot] < least:
            start, least = slot, down[0, slot]
    if least >= NEVER:
        return 0, 0, work
    made = 0
    offsets, parents = scratch.rest, scratch.place
    offsets[0], parents[0] = 0, -1
    for branch in range(count):
        node = node_of[branch]
        offset, parent = offsets[branch], parents[branch]
        fan = first[branch + 1] - first[branch]
        delivers = False
        for end in ends:
            delivers |= end == node
        if made + fan + 2 > ops.shape[0]:
            return 0, 0, work
        slot = (start + offset) % slots
        pipeline, wait, least = 0, 0, NEVER << 1
        for other in range(pipelines):
            if onset[branch, other, slot] < least:
                pipeline, wait, least = other, 0, onset[branch, other, slot]
        for other in range(pipelines):
            if waiting[branch, other, slot] < least:
                pipeline, wait, least = other, waits_for[branch, other, slot], waiting[branch, other, slot]
        place = node * pipelines + pipeline
        origin = INJECT if branch == 0 else LINK
        if wait:
            _note(ops, made, place, offset, -1, origin, BUFFER, parent)
            parent, origin = made, BUFFER
            made += 1
            offset += wait
        order = choice[branch, (start + offset) % slots]
        for leg in range(fan):
            row = first[branch] + _row(fan, order, leg)
            _note(ops, made, place, offset, links[row], origin, LINK, parent)
            offsets[child[row]], parents[child[row]] = offset + 1, made
            parent, origin = made, FORK
            made += 1
            offset += 1
        if delivers:
            _note(ops, made, place, offset, -1, origin, DELIVER, parent)
            made += 1
    return made, start, work


@numba.njit(cache=True)
def _orders(fan: int) -> int:
    """Orders of ``fan`` legs that are tried."""
    return 6 if fan == 3 else max(fan, 1)


@numba.njit(cache=True)
def _row(fan: int, order: int, leg: int) -> int:
    """Which link is leg ``leg`` in ``order``: rotations, and for three legs the mirrored ones as well."""
    if fan == 3 and order >= 3:
        return (order - leg) % 3
    return (order + leg) % fan


@numba.njit(cache=True)
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


@numba.njit(cache=True)
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


@numba.njit(cache=True)
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


@numba.njit(cache=True)
def hold_slot(place: int, use: Use, price: int) -> None:
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


@numba.njit(cache=True)
def _price_all(use: Use, price: int) -> None:
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


@numba.njit(cache=True)
def _learn(use: Use, capacity: np.ndarray, room: int, gains: np.ndarray) -> int:
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


@numba.njit(cache=True)
def negotiate(
    rounds: int,
    patience: int,
    budget: int,
    waits: bool,
    room: int,
    net: Network,
    hops: np.ndarray,
    allowed: np.ndarray,
    slack: int,
    chains: Chains,
    use: Use,
    capacity: np.ndarray,
    gains: np.ndarray,
    noise: np.ndarray,
    state: np.ndarray,
    price_now: np.ndarray,
    progress: np.ndarray,
    queue: np.ndarray,
    count: int,
    scratch: Scratch,
) -> tuple[int, int]:
    """Route the first ``count`` chains of ``queue``, then those in conflict, round by round.

    Returns the conflicts that stay (0: none; -1 - c: chain c has no way at all) and how many chains then stand in ``queue``.
    ``allowed`` and ``hops`` have a row for each stream and each first destination. ``price_now`` and ``progress`` are kept for a next call.
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
                best = choose_starts(by_start, words, own_gap(chains.ops[chain, :old]), slots, trial_starts)
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
                    n_tree = grow_tree(
                        net, allowed[stream], source, ends, use, node_price, wire_price, state, scratch
                    )
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
                    made, start, work = route_path(
                        net, hops[chains.hops_row[stream]], allowed[stream], source, ends[0], loose, shifts[:words], gap,
                        use, room, price, waits, noise, state, scratch, trial,
                    )  # fmt: skip
                    if not made and loose:
                        made, start, work = route_path(
                            net, hops[chains.hops_row[stream]], allowed[stream], source, ends[0], 0, shifts[:words], gap,
                            use, room, price, waits, noise, state, scratch, trial,
                        )  # fmt: skip
                else:
                    made, start, work = route_tree(
                        net, scratch.tree[:n_tree], source, ends, shifts[:words], gap,
                        use, room, price, waits, noise, state, scratch, trial,
                    )  # fmt: skip
                progress[BUDGET_DONE] += work
                if made:
                    start_costs(trial[:made], net, use, room, price, by_start)
                    total = choose_starts(by_start, words, own_gap(trial[:made]), slots, trial_starts)
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


@numba.njit(cache=True)
def add_word(
    stream: int,
    words_most: int,
    more_chains: bool,
    waits: bool,
    room: int,
    net: Network,
    hops: np.ndarray,
    allowed: np.ndarray,
    slack: int,
    chains: Chains,
    used: int,
    use: Use,
    noise: np.ndarray,
    state: np.ndarray,
    scratch: Scratch,
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
        gap = own_gap(chains.ops[chain, :n_ops])
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


@numba.njit(cache=True)
def _quiet(ops: np.ndarray, start: int, use: Use) -> bool:
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


@numba.njit(cache=True)
def forbid_used(use: Use) -> None:
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


@numba.njit(cache=True)
def balance(
    net: Network,
    hops: np.ndarray,
    allowed: np.ndarray,
    hops_row: np.ndarray,
    source: np.ndarray,
    first_end: np.ndarray,
    ends: np.ndarray,
    weight: np.ndarray,
    node_capacity: float,
    link_capacity: float,
    rounds: int,
    slack: int,
    scratch: Scratch,
) -> float:
    """About the greatest share that all unicast streams can have at once, were words divisible: a lower estimate.

    Paths are chosen one after the other at prices that grow exponentially with the load (Garg and Könemann 1998), and the
    flows of all rounds are averaged. Streams of several destinations count as paths to each of them (too much).
    """
    nodes = net.first_out.shape[0] - 1
    links = net.writer.shape[0]
    node_load = np.zeros(nodes, np.float64)
    wire_load = np.zeros(links + 1, np.float64)
    best = np.zeros(scratch.node.shape[0], np.float64)
    via = np.zeros(scratch.node.shape[0], np.int64)
    sharpness = 0.0
    highest = 1.0
    for turn in range(rounds):
        for stream in range(source.shape[0]):
            if first_end[stream + 1] - first_end[stream] > 1:
                continue
            end = ends[first_end[stream]]
            row = hops[hops_row[stream]]
            count = _walks(net, row, allowed[stream], source[stream], end, slack if turn % 2 else 0, scratch)
            for branch in range(count - 1, -1, -1):
                node = scratch.node[branch]
                price = np.exp(sharpness * node_load[node] / (node_capacity * highest))
                if scratch.rest[branch] == 0:
                    best[branch] = price
                    continue
                best[branch] = 1e300
                for index in range(scratch.first[branch], scratch.first[branch + 1]):
                    wire = net.wire[scratch.links[index]]
                    total = (
                        price
                        + np.exp(sharpness * wire_load[wire] / (link_capacity * highest)) * 0.1
                        + best[scratch.ends[index]]
                    )
                    if total < best[branch]:
                        best[branch], via[branch] = total, index
            root = -1
            for branch in range(count):
                if scratch.node[branch] == source[stream] and best[branch] < 1e299:
                    if root < 0 or best[branch] < best[root]:
                        root = branch
            if root < 0:
                continue
            branch = root
            while True:
                node_load[scratch.node[branch]] += weight[stream]
                if scratch.rest[branch] == 0:
                    break
                wire_load[net.wire[scratch.links[via[branch]]]] += weight[stream]
                branch = scratch.ends[via[branch]]
        highest = 1e-9
        for node in range(nodes):
            highest = max(highest, node_load[node] / node_capacity)
        for wire in range(links):
            highest = max(highest, wire_load[wire] / link_capacity)
        sharpness = 8.0 + turn
    return rounds / highest
