"""The cheapest way of a chain to one destination: dynamic programming over walks, pipelines and slots.

Places, wires and operations are described in the package, the arrays in ``arrays``.
"""

from __future__ import annotations

import numpy as np

from numesh.codes import SHORTEST_RETURN
from pointsman.kernels import kernel
from pointsman.routing.pathfinder.costs import UNIT

from .arrays import (
    BUFFER,
    DELIVER,
    FEWEST_WAIT,
    INJECT,
    LINK,
    LONGEST_WAIT,
    NEVER,
    WAIT_COST,
    PackingLinks,
    PackingScratch,
    PackingUse,
)


@kernel
def random_number(state: np.ndarray) -> int:
    """The next number 0..2^31-1 (xorshift)."""
    value = state[0]
    value ^= (value << 13) & 0x7FFFFFFFFFFFFFFF
    value ^= value >> 7
    value ^= (value << 17) & 0x7FFFFFFFFFFFFFFF
    state[0] = value
    return value >> 32


@kernel
def cell_costs(
    node: int,
    pipeline: int,
    legs: int,
    shifts: np.ndarray,
    use: PackingUse,
    room: int,
    price: int,
    noise: np.ndarray,
    at: int,
    cost: np.ndarray,
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


@kernel
def turn_costs(
    place: int,
    first: int,
    last: int,
    source: bool,
    delivers: bool,
    shifts: np.ndarray,
    use: PackingUse,
    price: int,
    cost: np.ndarray,
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


@kernel
def walks(
    net: PackingLinks, hops: np.ndarray, allowed: np.ndarray, source: int, end: int, slack: int, scratch: PackingScratch
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


@kernel
def route_path(
    net: PackingLinks,
    hops: np.ndarray,
    allowed: np.ndarray,
    source: int,
    end: int,
    slack: int,
    shifts: np.ndarray,
    gap: int,
    use: PackingUse,
    room: int,
    price: int,
    waits: bool,
    noise: np.ndarray,
    state: np.ndarray,
    scratch: PackingScratch,
    ops: np.ndarray,
) -> tuple[int, int, int]:
    """The cheapest way of a chain to one destination, its words at ``shifts`` from its start: (operations, start, work).

    Exact over all walks with at most ``slack`` hops too many. No operations if there is no way, or if the cheapest walk passes a
    node twice. O(states × pipelines × slots × words).
    """
    slots = use.cells.shape[1]
    pipelines = use.cells.shape[0] // use.node_cost.shape[0]
    words = shifts.shape[0]
    count = walks(net, hops, allowed, source, end, slack, scratch)
    down, onset, waiting, waits_for, choice = (
        scratch.down,
        scratch.onset,
        scratch.waiting,
        scratch.waits_for,
        scratch.choice,
    )
    ahead, cost, one = scratch.ahead, scratch.cost, scratch.one
    longest = min(gap - SHORTEST_RETURN, LONGEST_WAIT)
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
            cell_costs(node, pipeline, 1, shifts, use, room, price, noise, random_number(state) % 1024, cost)
            set_off, stay, how_long, low = (
                onset[branch, pipeline],
                waiting[branch, pipeline],
                waits_for[branch, pipeline],
                down[branch],
            )
            for slot in range(slots):
                set_off[slot] = ahead[slot] + cost[slot]
            if is_source or is_end:
                turn_costs(place, 0, 0, is_source, is_end, shifts, use, price, set_off)
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
            note_operation(ops, made, place, offset, -1, origin, BUFFER, parent)
            parent, origin = made, BUFFER
            made += 1
            offset += wait
        if scratch.rest[branch] == 0:
            note_operation(ops, made, place, offset, -1, origin, DELIVER, parent)
            return made + 1, start, work
        index = scratch.first[branch] + choice[branch, (start + offset) % slots]
        note_operation(ops, made, place, offset, scratch.links[index], origin, LINK, parent)
        parent = made
        made += 1
        offset += 1
        branch = scratch.ends[index]


@kernel
def note_operation(
    ops: np.ndarray, row: int, place: int, offset: int, link: int, source: int, destination: int, parent: int
) -> None:
    ops[row, 0], ops[row, 1], ops[row, 2], ops[row, 3] = place, offset, link, source
    ops[row, 4], ops[row, 5] = destination, parent
