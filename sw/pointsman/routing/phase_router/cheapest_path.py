"""One chain at a time: its cheapest route, its cheapest starts, what it occupies; on arrays of whole numbers, compiled.

Places are (node, pipeline) pairs, numbered node × pipelines + pipeline. The tables of use are indexed by
(place, slot) or (wire, slot). An *operation* is one VFSM of a chain, a row (place, slot after the start, wire, link,
reads the interface, writes the interface); wire and link are -1 where it writes none. A *branch* is a row (node, first
onward row, onward rows, delivers, choose, source), an *onward* row is (link, branch), as in ``branches``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy import uintp

from numesh.codes import SHORTEST_RETURN, SHORTEST_STAY, SHORTEST_TURN
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


@kernel(forceinline=True)
def following(state: int) -> int:
    """The next state of the noise: times 48271 modulo 2^31 - 1, without a division."""
    product = state * 48271
    folded = (product & 2147483647) + (product >> 31)
    return folded - 2147483647 if folded >= 2147483647 else folded


class Scratch(NamedTuple):
    """Arrays that `cheapest` writes and nobody else reads: to make them anew for each route would take as long as the route.

    ``powers[k]`` times a state of the noise, modulo 2^31 - 1, is the state k + 1 steps later.
    """

    powers: np.ndarray
    down: np.ndarray
    onset: np.ndarray
    waiting: np.ndarray
    choice: np.ndarray
    beyond: np.ndarray
    ahead: np.ndarray
    total: np.ndarray
    here: np.ndarray
    vfsm: np.ndarray
    doubled: np.ndarray
    other_half: np.ndarray
    visits: np.ndarray
    ops: np.ndarray
    todo: np.ndarray


@kernel
def scratch_for(branches: int, onward: int, fan: int, pipelines: int, slots: int) -> Scratch:
    """Scratch for routes with at most so many branches and onward rows, and onward rows of a branch."""
    powers = np.zeros(slots, np.int64)
    state = 1
    for slot in range(slots):
        state = following(state)
        powers[slot] = state
    return Scratch(
        powers,
        np.zeros((branches, slots), np.int64),
        np.zeros((branches * pipelines, slots), np.int64),
        np.zeros((branches * pipelines, slots), np.int64),
        np.zeros((branches, slots), np.int64),
        np.zeros((max(1, fan), 2 * slots), np.int64),
        np.zeros(slots, np.int64),
        np.zeros(slots, np.int64),
        np.zeros(slots, np.int64),
        np.zeros(slots, np.int64),
        np.zeros(2 * slots, np.int64),
        np.zeros(2 * slots, np.int64),
        np.zeros((branches, 9), np.int64),
        np.zeros((2 * branches + onward, 6), np.int64),
        np.zeros((branches, 4), np.int64),
    )


@kernel(error_model="numpy")
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
        shift = ops[op, 1] % slots
        numbers[place] += sign
        place_cost[place] += sign * price * starts.shape[0]
        if wire >= 0:
            whole_cost[wire] += sign * price * starts.shape[0]
        for word in range(starts.shape[0]):
            slot = starts[word] + shift
            slot -= slots if slot >= slots else 0
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


# These work on rows by their number and slot, without views of them: to count who refers to a view takes longer than the sums.


@kernel(forceinline=True)
def _twice(rows: np.ndarray, number: int, doubled: np.ndarray) -> None:
    """Write a row two times, one after the other: what stands from a slot on is the row from that slot on."""
    slots = rows.shape[1]
    for slot in range(slots):
        doubled[slot] = rows[number, slot]
    for slot in range(slots):
        doubled[uintp(slots + slot)] = rows[number, slot]


@kernel(forceinline=True)
def _repeat(row: np.ndarray, doubled: np.ndarray) -> None:
    """As `_twice`, of a single row."""
    slots = row.shape[0]
    for slot in range(slots):
        doubled[slot] = row[slot]
    for slot in range(slots):
        doubled[uintp(slots + slot)] = row[slot]


@kernel(forceinline=True)
def _add(row: np.ndarray, doubled: np.ndarray, first: int) -> None:
    """Add what stands from ``first`` on."""
    for slot in range(row.shape[0]):
        row[slot] += doubled[uintp(first + slot)]


@kernel(forceinline=True)
def _soonest(onset: np.ndarray, longest: int, late: int, other: np.ndarray, best: np.ndarray) -> None:
    """By slot the least of ``onset`` (two times the period) after waits up to ``longest``, each slot of which costs ``late``.

    Windows double, and two of them cover the waits: O(slots × log(longest)). ``onset`` and ``other`` are overwritten.
    """
    slots = best.shape[0]
    window, count = 1, longest - SHORTEST_STAY + 1
    one, two = onset, other
    while 2 * window <= count:
        for slot in range(2 * slots - 2 * window):
            two[slot] = min(one[slot], one[uintp(window + slot)] + late * window)
        one, two = two, one
        window *= 2
    second, beyond = SHORTEST_STAY + count - window, late * (count - window)
    for slot in range(slots):
        best[slot] = min(one[SHORTEST_STAY + slot], one[uintp(second + slot)] + beyond) + SHORTEST_STAY * late


@kernel(error_model="numpy")
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
    scratch: Scratch,
) -> tuple[int, int, int]:
    """The cheapest route of a chain with words at ``pattern`` that keeps ``gap``: (visits, operations, own gap), the first two as
    numbers of rows of ``scratch.visits`` and ``scratch.ops``. A blocked slot costs ``shut``.

    Dynamic programming from the ends of the branching back to its source: exact for trees and for shortest paths.
    ``met_writers`` and ``met_readers`` count the accesses that may meet those of this chain. A visit is a row (node,
    parent, link, pipeline, slot after the start, wait, delivers, first link row, link rows); the operations hold the
    links in order. The own gap is the least that two of its words must keep. There are no rows if no route is
    possible. O(branches × pipelines × slots × (words + legs + log(waits))).
    """
    slots = cell_cost.shape[1]
    count = branches.shape[0]
    words = pattern.shape[0]
    powers, down, onset, waiting, choice = scratch.powers, scratch.down, scratch.onset, scratch.waiting, scratch.choice
    beyond, ahead, total, here, vfsm = scratch.beyond, scratch.ahead, scratch.total, scratch.here, scratch.vfsm
    doubled, other_half = scratch.doubled, scratch.other_half
    state = seed % 2147483646 + 1
    for branch in range(count - 1, -1, -1):
        node, first, fan = branches[branch, 0], branches[branch, 1], branches[branch, 2]
        delivers, choose, source = branches[branch, 3], branches[branch, 4], branches[branch, 5]
        links = min(fan, 1) if choose else fan
        legs = links + delivers
        reads = source or (injects_anywhere and links > 0)
        need = legs + (1 if delivers and reads and clashing else 0)
        for slot in range(slots):
            down[branch, slot] = NEVER
            choice[branch, slot] = 0
        for number in range(branch * pipelines, (branch + 1) * pipelines):
            for slot in range(slots):
                onset[number, slot] = NEVER
                waiting[number, slot] = NEVER
        if legs == 0 or need > gap:
            continue
        # Cost of each onward row by the slot of the leg: the wire for all words, and what lies behind it.
        for row in range(fan):
            link, to = onward[first + row, 0], onward[first + row, 1]
            for slot in range(slots - 1):
                total[slot] = down[to, slot + 1]
            total[slots - 1] = down[to, 0]
            _twice(wire_cost, wires[link], doubled)
            for word in range(words):
                _add(total, doubled, pattern[word])
            if any_blocked:
                for word in range(words):
                    for slot in range(slots):
                        at = slot + pattern[word]
                        if blocked[link, at - slots if at >= slots else at]:
                            total[slot] += shut
            for slot in range(slots):
                beyond[row, slot] = total[slot]
            for slot in range(slots):
                beyond[row, uintp(slots + slot)] = total[slot]
        # The best of them, or the best order of them, by the slot of the first leg.
        for slot in range(slots):
            ahead[slot] = NEVER if fan else 0
        for order in range(fan if choose or fan != 3 else 6):
            for slot in range(slots):
                total[slot] = 0
            for leg in range(links):
                row = order if choose else (THREE[order, leg] if fan == 3 else (order + leg) % fan)
                for slot in range(slots):
                    total[slot] += beyond[row, uintp(leg + slot)]
            for slot in range(slots):
                if total[slot] < ahead[slot]:
                    ahead[slot] = total[slot]
                    choice[branch, slot] = order
        for pipeline in range(pipelines):
            place, number = node * pipelines + pipeline, branch * pipelines + pipeline
            base = words * (UNIT + price * max(numbers[place] + legs - room, 0))
            for slot in range(slots):
                # Each from the same state, not each from the one before: so several are reckoned at once.
                product = state * powers[slot]
                folded = (product & 2147483647) + (product >> 31)
                noise = folded - 2147483647 if folded >= 2147483647 else folded
                vfsm[slot] = base + ((noise >> 8) & (NOISE - 1))
            product = state * powers[slots - 1]
            folded = (product & 2147483647) + (product >> 31)
            state = folded - 2147483647 if folded >= 2147483647 else folded
            _twice(cell_cost, place, doubled)
            for word in range(words):
                _add(vfsm, doubled, pattern[word])
            _repeat(vfsm, doubled)
            for slot in range(slots):
                here[slot] = ahead[slot]
            for leg in range(legs):
                _add(here, doubled, leg)
            if reads or delivers:
                met = False
                for slot in range(slots):
                    total[slot] = 0
                    before = slot - 1 if slot else slots - 1
                    if reads and met_writers[place, before]:
                        total[slot] += turn_history[place, before] + price * met_writers[place, before]
                        met = True
                    last = slot + links
                    last -= slots if last >= slots else 0
                    after = last + 1 if last + 1 < slots else 0
                    if delivers and met_readers[place, after]:
                        total[slot] += turn_history[place, last] + price * met_readers[place, after]
                        met = True
                if met:
                    _repeat(total, doubled)
                    for word in range(words):
                        _add(here, doubled, pattern[word])
            for slot in range(slots):
                onset[number, slot] = here[slot]
                down[branch, slot] = min(down[branch, slot], here[slot])
            longest = min(gap - max(legs, SHORTEST_RETURN), LONGEST_WAIT)
            if source or injects_anywhere or longest < SHORTEST_STAY:
                continue
            _repeat(here, doubled)
            _soonest(doubled, longest, WAIT_COST * words, other_half, total)
            for slot in range(slots):
                waiting[number, slot] = min(NEVER, total[slot] + vfsm[slot])
                down[branch, slot] = min(down[branch, slot], waiting[number, slot])
    # Walk from the best start.
    root, start, least = -1, 0, NEVER
    for branch in range(count):
        if branches[branch, 5]:
            for slot in range(slots):
                if down[branch, slot] < least:
                    root, start, least = branch, slot, down[branch, slot]
    if root < 0:
        return 0, 0, 0
    visits, ops, todo = scratch.visits, scratch.ops, scratch.todo
    todo[0, 0], todo[0, 1], todo[0, 2], todo[0, 3] = root, -1, -1, 0
    known, made, visit, own_gap = 1, 0, 0, SHORTEST_TURN
    while visit < known:
        branch, offset = todo[visit, 0], todo[visit, 3]
        node, first, fan = branches[branch, 0], branches[branch, 1], branches[branch, 2]
        delivers, choose, source = branches[branch, 3], branches[branch, 4], branches[branch, 5]
        for other in range(visit):
            if visits[other, 0] == node:
                return 0, 0, 0
        links = min(fan, 1) if choose else fan
        legs = links + delivers
        slot = (start + offset) % slots
        pipeline, wait, least = 0, 0, NEVER
        for other in range(pipelines):
            cost = onset[branch * pipelines + other, slot]
            if cost < least:
                pipeline, wait, least = other, 0, cost
        for other in range(pipelines):
            cost = waiting[branch * pipelines + other, slot]
            if cost < least:
                pipeline, wait, least = other, -1, cost
        if wait:
            best = NEVER
            for longer in range(SHORTEST_STAY, min(gap - max(legs, SHORTEST_RETURN), LONGEST_WAIT) + 1):
                cost = onset[branch * pipelines + pipeline, (slot + longer) % slots] + WAIT_COST * words * longer
                if cost < best:
                    best, wait = cost, longer
        place = node * pipelines + pipeline
        ops[made : made + 2 + links] = 0
        visits[visit, 0], visits[visit, 1], visits[visit, 2] = node, todo[visit, 1], todo[visit, 2]
        visits[visit, 3], visits[visit, 4], visits[visit, 5] = pipeline, offset, wait
        visits[visit, 6] = delivers
        reads = source or (injects_anywhere and links > 0)
        own_gap = max(own_gap, wait + legs + (1 if delivers and reads and clashing else 0))
        if wait:
            own_gap = max(own_gap, wait + SHORTEST_RETURN)
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
    return known, made, own_gap


@kernel(forceinline=True)
def _add_round(row: np.ndarray, rows: np.ndarray, number: int, shift: int) -> None:
    """Add a row from slot ``shift`` on, round the period."""
    slots = row.shape[0]
    for slot in range(slots - shift):
        row[slot] += rows[number, uintp(shift + slot)]
    for slot in range(shift):
        row[uintp(slots - shift + slot)] += rows[number, slot]


@kernel(error_model="numpy")
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
        _add_round(cost, cell_cost, place, shift)
        each = UNIT + price * max(numbers[place] + 1 - room, 0)
        for slot in range(slots):
            cost[slot] += each
        if wire >= 0:
            _add_round(cost, wire_cost, wire, shift)
            if any_blocked:
                for slot in range(slots):
                    at = slot + shift
                    if blocked[link, at - slots if at >= slots else at]:
                        cost[slot] += shut
        if ops[op, 4]:
            for slot in range(slots):
                before = slot + shift - 1
                before += slots if before < 0 else (-slots if before >= slots else 0)
                if met_writers[place, before]:
                    cost[slot] += turn_history[place, before] + price * met_writers[place, before]
        if ops[op, 5]:
            for slot in range(slots):
                now = slot + shift
                now -= slots if now >= slots else 0
                after = now + 1 if now + 1 < slots else 0
                if met_readers[place, after]:
                    cost[slot] += turn_history[place, now] + price * met_readers[place, after]
    starts = np.zeros(words, np.int64)
    total = choose_starts(cost, words, gap, NEVER, starts)
    if total >= NEVER:
        return total, starts[:0]
    return total, starts


@kernel(error_model="numpy")
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
        shift = ops[op, 1] % slots
        for word in range(starts.shape[0]):
            slot = starts[word] + shift
            slot -= slots if slot >= slots else 0
            if use[place, slot] > 1 or (wire >= 0 and wire_use[wire, slot] > 1):
                return True
            if ops[op, 4] and met_writers[place, slot - 1 if slot else slots - 1]:
                return True
            if ops[op, 5] and met_readers[place, slot + 1 if slot + 1 < slots else 0]:
                return True
    return False
