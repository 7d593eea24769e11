"""Chains to several destinations: which links, and then the cheapest slots for them.

Places, wires and operations are described in the package, the arrays in ``arrays``.
"""

from __future__ import annotations

import heapq

import numpy as np

from numesh.codes import SHORTEST_RETURN
from pointsman.kernels import kernel
from pointsman.routing.pathfinder.costs import NOISE

from .arrays import (
    BUFFER,
    DELIVER,
    FEWEST_WAIT,
    FORK,
    INJECT,
    LINK,
    LONGEST_WAIT,
    NEVER,
    WAIT_COST,
    PackingLinks,
    PackingScratch,
    PackingUse,
)
from .cheapest_path import cell_costs, note_operation, random_number, turn_costs


@kernel
def grow_tree(
    net: PackingLinks,
    allowed: np.ndarray,
    source: int,
    ends: np.ndarray,
    use: PackingUse,
    node_price: np.ndarray,
    wire_price: np.ndarray,
    state: np.ndarray,
    scratch: PackingScratch,
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
            so_far, at = heapq.heappop(heap)
            node = int(at)
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


@kernel
def route_tree(
    net: PackingLinks,
    tree: np.ndarray,
    source: int,
    ends: np.ndarray,
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
    down, onset, waiting, waits_for, choice = (
        scratch.down,
        scratch.onset,
        scratch.waiting,
        scratch.waits_for,
        scratch.choice,
    )
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
        longest = min(gap - max(legs, SHORTEST_RETURN), LONGEST_WAIT)
        for pipeline in range(pipelines):
            place = node * pipelines + pipeline
            cell_costs(node, pipeline, legs, shifts, use, room, price, noise, random_number(state) % 1024, cost)
            for slot in range(slots):
                total = ahead[slot]
                for leg in range(legs):
                    total += cost[(slot + leg) % slots]
                onset[branch, pipeline, slot] = min(total, NEVER)
                waiting[branch, pipeline, slot] = NEVER
            if is_source or delivers:
                turn_costs(place, 0, fan, is_source, delivers, shifts, use, price, onset[branch, pipeline])
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
            note_operation(ops, made, place, offset, -1, origin, BUFFER, parent)
            parent, origin = made, BUFFER
            made += 1
            offset += wait
        order = choice[branch, (start + offset) % slots]
        for leg in range(fan):
            row = first[branch] + _row(fan, order, leg)
            note_operation(ops, made, place, offset, links[row], origin, LINK, parent)
            offsets[child[row]], parents[child[row]] = offset + 1, made
            parent, origin = made, FORK
            made += 1
            offset += 1
        if delivers:
            note_operation(ops, made, place, offset, -1, origin, DELIVER, parent)
            made += 1
    return made, start, work


@kernel
def _orders(fan: int) -> int:
    """Orders of ``fan`` legs that are tried."""
    return 6 if fan == 3 else max(fan, 1)


@kernel
def _row(fan: int, order: int, leg: int) -> int:
    """Which link is leg ``leg`` in ``order``: rotations, and for three legs the mirrored ones as well."""
    if fan == 3 and order >= 3:
        return (order - leg) % 3
    return (order + leg) % fan
