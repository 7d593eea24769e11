"""One chain at a time: its cheapest route, its cheapest starts, what it occupies; on arrays of whole numbers, compiled.

Places are (node, pipeline) pairs, numbered node × pipelines + pipeline. The tables of use are indexed by
(place, slot) or (wire, slot). An *operation* is one VFSM of a chain, a row (place, slot after the start, wire, link,
reads the interface, writes the interface); wire and link are -1 where it writes none. A *branch* is a row (node, first
onward row, onward rows, delivers, choose, source), an *onward* row is (link, branch), as in ``branches``.
"""

from __future__ import annotations

import numpy as np

from numesh.codes import SHORTEST_STAY, SHORTEST_TURN
from pointsman.kernels import kernel
from pointsman.routing.pathfinder.costs import NOISE, UNIT
from pointsman.routing.pathfinder.starts import choose_starts

NEVER = 1 << 40
"""Cost of what may not be used at all."""
SHUT = 1 << 30
"""Cost of a blocked slot where a route may pass it, because another start may do."""
WAIT_COST = 4
"""Cost of each slot of a wait, besides its VFSM."""
LONGEST_WAIT = 16
"""Slots; longer waits are not looked for."""
THREE = np.array([[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]])
"""Orders of three legs. Two legs have two; of more only the rotations are tried."""


@kernel
def following(state: int) -> int:
    """The next state of the noise: times 48271 modulo 2^31 - 1, without a division."""
    product = state * 48271
    folded = (product & 2147483647) + (product >> 31)
    return folded - 2147483647 if folded >= 2147483647 else folded


@kernel
def mark(
    use: np.ndarray,
    wire_use: np.ndarray,
    readers: np.ndarray,
    readers_met: np.ndarray,
    writers: np.ndarray,
    writers_met: np.ndarray,
    numbers: np.ndarray,
    cell_cost: np.ndarray,
    place_cost: np.ndarray,
    wire_cost: np.ndarray,
    whole_cost: np.ndarray,
    clash: np.ndarray,
    ops: np.ndarray,
    starts: np.ndarray,
    reads: int,
    delivers: int,
    price: int,
    sign: int,
) -> None:
    """Count a chain in (``sign`` 1) or out (-1), and what it costs others."""
    slots = use.shape[1]
    for op in range(ops.shape[0]):
        place, wire = ops[op, 0], ops[op, 2]
        numbers[place] += sign
        place_cost[place] += sign * price * starts.shape[0]
        if wire >= 0:
            whole_cost[wire] += sign * price * starts.shape[0]
        for word in range(starts.shape[0]):
            slot = (starts[word] + ops[op, 1]) % slots
            use[place, slot] += sign
            cell_cost[place, slot] += sign * price
            if wire >= 0:
                wire_use[wire, slot] += sign
                wire_cost[wire, slot] += sign * price
            if ops[op, 4]:
                readers[reads, place, slot] += sign
                for condition in range(clash.shape[0]):
                    if clash[condition, reads]:
                        readers_met[condition, place, slot] += sign
            if ops[op, 5]:
                writers[delivers, place, slot] += sign
                for condition in range(clash.shape[0]):
                    if clash[condition, delivers]:
                        writers_met[condition, place, slot] += sign


@kernel
def _twice(row: np.ndarray, doubled: np.ndarray) -> None:
    """Write ``row`` two times, one after the other: a slice of it is the row from another slot on."""
    slots = row.shape[0]
    first, second = doubled[:slots], doubled[slots:]
    for slot in range(slots):
        first[slot] = row[slot]
        second[slot] = row[slot]


@kernel
def _add(row: np.ndarray, more: np.ndarray) -> None:
    for slot in range(row.shape[0]):
        row[slot] += more[slot]


@kernel
def _soonest(onset: np.ndarray, longest: int, late: int, other: np.ndarray, best: np.ndarray) -> None:
    """By slot the least of ``onset`` (two times the period) after waits up to ``longest``, each slot of which costs ``late``.

    Windows double, and two of them cover the waits: O(slots × log(longest)). ``onset`` and ``other`` are overwritten.
    """
    slots = best.shape[0]
    window, count = 1, longest - SHORTEST_STAY + 1
    one, two = onset, other
    while 2 * window <= count:
        size = 2 * slots - 2 * window
        ahead = one[window:]
        for slot in range(size):
            two[slot] = min(one[slot], ahead[slot] + late * window)
        one, two = two, one
        window *= 2
    first, second = one[SHORTEST_STAY:], one[SHORTEST_STAY + count - window :]
    beyond = late * (count - window)
    for slot in range(slots):
        best[slot] = min(first[slot], second[slot] + beyond) + SHORTEST_STAY * late


@kernel
def cheapest(
    branches: np.ndarray,
    onward: np.ndarray,
    wires: np.ndarray,
    cell_cost: np.ndarray,
    wire_cost: np.ndarray,
    met_writers: np.ndarray,
    met_readers: np.ndarray,
    turn_history: np.ndarray,
    numbers: np.ndarray,
    blocked: np.ndarray,
    any_blocked: bool,
    shut: int,
    pattern: np.ndarray,
    gap: int,
    pipelines: int,
    room: int,
    price: int,
    seed: int,
    injects_anywhere: bool,
    clashing: bool,
) -> tuple[np.ndarray, np.ndarray, int]:
    """The cheapest route of a chain with words at ``pattern`` that keeps ``gap``: (visits, operations, own gap). A blocked slot
    costs ``shut``.

    Dynamic programming from the ends of the branching back to its source: exact for trees and for shortest paths.
    ``met_writers`` and ``met_readers`` count the accesses that may meet those of this chain. A visit is a row (node,
    parent, link, pipeline, slot after the start, wait, delivers, first link row, link rows); the operations hold the
    links in order. The own gap is the least that two of its words must keep. Arrays are empty if no route is
    possible. O(branches × pipelines × slots × (words + legs + log(waits))).
    """
    slots = cell_cost.shape[1]
    count = branches.shape[0]
    words = pattern.shape[0]
    down = np.full((count, slots), NEVER, np.int64)
    onset = np.full((count, pipelines, slots), NEVER, np.int64)
    waiting = np.full((count, pipelines, slots), NEVER, np.int64)
    choice = np.zeros((count, slots), np.int64)
    beyond = np.zeros((max(1, branches[:, 2].max()), 2 * slots), np.int64)
    ahead = np.zeros(slots, np.int64)
    total = np.zeros(slots, np.int64)
    vfsm = np.zeros(slots, np.int64)
    doubled = np.zeros(2 * slots, np.int64)
    other_half = np.zeros(2 * slots, np.int64)
    state = seed % 2147483646 + 1
    for branch in range(count - 1, -1, -1):
        node, first, fan = branches[branch, 0], branches[branch, 1], branches[branch, 2]
        delivers, choose, source = branches[branch, 3], branches[branch, 4], branches[branch, 5]
        links = min(fan, 1) if choose else fan
        legs = links + delivers
        reads = source or (injects_anywhere and links > 0)
        need = legs + (1 if delivers and reads and clashing else 0)
        if legs == 0 or need > gap:
            continue
        # Cost of each onward row by the slot of the leg: the wire for all words, and what lies behind it.
        for row in range(fan):
            link, to = onward[first + row, 0], onward[first + row, 1]
            behind = down[to]
            for slot in range(slots - 1):
                total[slot] = behind[slot + 1]
            total[slots - 1] = behind[0]
            _twice(wire_cost[wires[link]], doubled)
            for word in range(words):
                _add(total, doubled[pattern[word] : pattern[word] + slots])
            if any_blocked:
                for word in range(words):
                    for slot in range(slots):
                        if blocked[link, (slot + pattern[word]) % slots]:
                            total[slot] += shut
            _twice(total, beyond[row])
        # The best of them, or the best order of them, by the slot of the first leg.
        ahead[:] = NEVER if fan else 0
        best_order = choice[branch]
        for order in range(fan if choose or fan != 3 else 6):
            total[:] = 0
            for leg in range(links):
                row = order if choose else (THREE[order, leg] if fan == 3 else (order + leg) % fan)
                _add(total, beyond[row, leg : leg + slots])
            for slot in range(slots):
                if total[slot] < ahead[slot]:
                    ahead[slot] = total[slot]
                    best_order[slot] = order
        lowest = down[branch]
        for pipeline in range(pipelines):
            place = node * pipelines + pipeline
            base = words * (UNIT + price * max(numbers[place] + legs - room, 0))
            for slot in range(slots):
                state = following(state)
                vfsm[slot] = base + (state >> 8) % NOISE
            _twice(cell_cost[place], doubled)
            for word in range(words):
                _add(vfsm, doubled[pattern[word] : pattern[word] + slots])
            here = onset[branch, pipeline]
            here[:] = ahead
            _twice(vfsm, doubled)
            for leg in range(legs):
                _add(here, doubled[leg : leg + slots])
            if reads or delivers:
                met = False
                for slot in range(slots):
                    total[slot] = 0
                    before = slot - 1 if slot else slots - 1
                    if reads and met_writers[place, before]:
                        total[slot] += turn_history[place, before] + price * met_writers[place, before]
                        met = True
                    last = (slot + links) % slots
                    after = last + 1 if last + 1 < slots else 0
                    if delivers and met_readers[place, after]:
                        total[slot] += turn_history[place, last] + price * met_readers[place, after]
                        met = True
                if met:
                    _twice(total, doubled)
                    for word in range(words):
                        _add(here, doubled[pattern[word] : pattern[word] + slots])
            for slot in range(slots):
                lowest[slot] = min(lowest[slot], here[slot])
            longest = min(gap - legs, LONGEST_WAIT)
            if source or injects_anywhere or longest < SHORTEST_STAY:
                continue
            _twice(here, doubled)
            later = waiting[branch, pipeline]
            _soonest(doubled, longest, WAIT_COST * words, other_half, total)
            for slot in range(slots):
                later[slot] = min(later[slot], total[slot] + vfsm[slot])
                lowest[slot] = min(lowest[slot], later[slot])
    # Walk from the best start.
    root, start, least = -1, 0, NEVER
    for branch in range(count):
        if branches[branch, 5]:
            for slot in range(slots):
                if down[branch, slot] < least:
                    root, start, least = branch, slot, down[branch, slot]
    visits = np.zeros((count, 9), np.int64)
    ops = np.zeros((2 * count + onward.shape[0], 6), np.int64)
    if root < 0:
        return visits[:0], ops[:0], 0
    todo = np.zeros((count, 4), np.int64)
    todo[0, 0], todo[0, 1], todo[0, 2], todo[0, 3] = root, -1, -1, 0
    known, made, visit, own_gap = 1, 0, 0, SHORTEST_TURN
    while visit < known:
        branch, offset = todo[visit, 0], todo[visit, 3]
        node, first, fan = branches[branch, 0], branches[branch, 1], branches[branch, 2]
        delivers, choose, source = branches[branch, 3], branches[branch, 4], branches[branch, 5]
        for other in range(visit):
            if visits[other, 0] == node:
                return visits[:0], ops[:0], 0
        links = min(fan, 1) if choose else fan
        legs = links + delivers
        slot = (start + offset) % slots
        pipeline, wait, least = 0, 0, NEVER
        for other in range(pipelines):
            if onset[branch, other, slot] < least:
                pipeline, wait, least = other, 0, onset[branch, other, slot]
        for other in range(pipelines):
            if waiting[branch, other, slot] < least:
                pipeline, wait, least = other, -1, waiting[branch, other, slot]
        if wait:
            best = NEVER
            for longer in range(SHORTEST_STAY, min(gap - legs, LONGEST_WAIT) + 1):
                cost = onset[branch, pipeline, (slot + longer) % slots] + WAIT_COST * words * longer
                if cost < best:
                    best, wait = cost, longer
        place = node * pipelines + pipeline
        visits[visit, 0], visits[visit, 1], visits[visit, 2] = node, todo[visit, 1], todo[visit, 2]
        visits[visit, 3], visits[visit, 4], visits[visit, 5] = pipeline, offset, wait
        visits[visit, 6] = delivers
        reads = source or (injects_anywhere and links > 0)
        own_gap = max(own_gap, wait + legs + (1 if delivers and reads and clashing else 0))
        if wait:
            ops[made, 0], ops[made, 1], ops[made, 2], ops[made, 3] = place, offset, -1, -1
            made += 1
        offset += wait
        visits[visit, 7], visits[visit, 8] = made, links
        order = choice[branch, (start + offset) % slots]
        for leg in range(links):
            row = first + (order if choose else (THREE[order, leg] if fan == 3 else (order + leg) % fan))
            link = onward[row, 0]
            ops[made, 0], ops[made, 1], ops[made, 2], ops[made, 3] = place, offset, wires[link], link
            ops[made, 4] = 1 if reads and leg == 0 else 0
            made += 1
            offset += 1
            todo[known, 0], todo[known, 1], todo[known, 2], todo[known, 3] = onward[row, 1], visit, link, offset
            known += 1
        if delivers:
            ops[made, 0], ops[made, 1], ops[made, 2], ops[made, 3] = place, offset, -1, -1
            ops[made, 4], ops[made, 5] = 1 if reads and links == 0 else 0, 1
            made += 1
        visit += 1
    return visits[:known], ops[:made], own_gap


@kernel
def _add_round(row: np.ndarray, more: np.ndarray, shift: int) -> None:
    """Add ``more`` from slot ``shift`` on, round the period."""
    slots = row.shape[0]
    first, later = row[: slots - shift], more[shift:]
    for slot in range(first.shape[0]):
        first[slot] += later[slot]
    last = row[slots - shift :]
    for slot in range(last.shape[0]):
        last[slot] += more[slot]


@kernel
def cheapest_starts(
    ops: np.ndarray,
    cell_cost: np.ndarray,
    wire_cost: np.ndarray,
    met_writers: np.ndarray,
    met_readers: np.ndarray,
    turn_history: np.ndarray,
    numbers: np.ndarray,
    blocked: np.ndarray,
    any_blocked: bool,
    shut: int,
    words: int,
    gap: int,
    room: int,
    price: int,
) -> tuple[int, np.ndarray]:
    """The ``words`` starts of least total cost that keep ``gap`` round the period: (cost, starts). A blocked slot costs ``shut``.

    No starts if there are none. O(slots × (operations + words × gap)).
    """
    slots = cell_cost.shape[1]
    cost = np.zeros(slots, np.int64)
    for op in range(ops.shape[0]):
        place, wire, link = ops[op, 0], ops[op, 2], ops[op, 3]
        shift = ops[op, 1] % slots
        _add_round(cost, cell_cost[place], shift)
        each = UNIT + price * max(numbers[place] + 1 - room, 0)
        for slot in range(slots):
            cost[slot] += each
        if wire >= 0:
            _add_round(cost, wire_cost[wire], shift)
            if any_blocked:
                for slot in range(slots):
                    if blocked[link, (slot + shift) % slots]:
                        cost[slot] += shut
        if ops[op, 4]:
            for slot in range(slots):
                before = (slot + shift - 1) % slots
                if met_writers[place, before]:
                    cost[slot] += turn_history[place, before] + price * met_writers[place, before]
        if ops[op, 5]:
            for slot in range(slots):
                now = (slot + shift) % slots
                after = (now + 1) % slots
                if met_readers[place, after]:
                    cost[slot] += turn_history[place, now] + price * met_readers[place, after]
    starts = np.zeros(words, np.int64)
    total = choose_starts(cost, words, gap, NEVER, starts)
    if total >= NEVER:
        return total, starts[:0]
    return total, starts


@kernel
def contested(
    ops: np.ndarray,
    starts: np.ndarray,
    use: np.ndarray,
    wire_use: np.ndarray,
    met_writers: np.ndarray,
    met_readers: np.ndarray,
    numbers: np.ndarray,
    room: int,
) -> bool:
    """Whether a chain shares a resource, or meets another at the interface."""
    slots = use.shape[1]
    for op in range(ops.shape[0]):
        place, wire = ops[op, 0], ops[op, 2]
        if numbers[place] > room:
            return True
        for word in range(starts.shape[0]):
            slot = (starts[word] + ops[op, 1]) % slots
            if use[place, slot] > 1 or (wire >= 0 and wire_use[wire, slot] > 1):
                return True
            if ops[op, 4] and met_writers[place, (slot - 1) % slots]:
                return True
            if ops[op, 5] and met_readers[place, (slot + 1) % slots]:
                return True
    return False
