"""Moves of the game with tokens (``board``), compiled, until nothing moves any more.

Where every register and every VFSM has one that fills it and one that empties it, no move takes anything from another, so
that moves in any order come to the same end, and a game in which somebody may do more is the same game gone on with. So there
only those are looked at around whom something has moved, and games that differ by one limit are played as one. On other
boards, those of streams that join, all take their turn over and over.

For the judge: shares nothing with planner or router.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pointsman.kernels import kernel


class BoardLists(NamedTuple):
    """A board. Lanes of node n are ``first_lane[n] : first_lane[n + 1]``, registers and onward places likewise; -1: none."""

    first_lane: np.ndarray
    write: np.ndarray
    rank: np.ndarray
    after: np.ndarray
    after_all: np.ndarray
    pair: np.ndarray
    window: np.ndarray
    first_register: np.ndarray
    registers: np.ndarray
    source: np.ndarray
    into: np.ndarray
    first_onward: np.ndarray
    onward: np.ndarray
    node: np.ndarray
    """By place, the number of its node among those with lanes."""
    room: np.ndarray
    """By place, the room that it fills in the register ``into``. On a ``single`` board the number of the register."""
    first_room: np.ndarray
    """Rooms of register r are ``first_room[r] : first_room[r + 1]``; the last is the one that lanes fill."""
    owner: np.ndarray
    """By register, the node with lanes for it."""
    reader: np.ndarray
    """By register, the place that takes words from it."""
    filler: np.ndarray
    """By register, the place that puts words into it."""
    upstream: np.ndarray
    """By place, the one whose words it takes."""
    single: bool
    """Whether each register and place has one that fills it and one that empties it."""


class GameState(NamedTuple):
    """How far a game is."""

    moved: np.ndarray
    """By lane, words."""
    passed: np.ndarray
    """By place, words."""
    full: np.ndarray
    """Whether there is a word in a room of a register."""
    held: np.ndarray
    """Whether there is a word at a place."""
    waiting: np.ndarray
    """Stack of those to be looked at: nodes, then places."""
    queued: np.ndarray
    """Who is in it."""


@kernel
def _begin(lists: BoardLists) -> GameState:
    lanes, places, rooms = lists.write.shape[0], lists.source.shape[0], lists.first_room[-1]
    everybody = lists.first_lane.shape[0] - 1 + places
    return GameState(
        np.zeros(lanes, np.int64),
        np.zeros(places, np.int64),
        np.zeros(rooms, np.bool_),
        np.zeros(places, np.bool_),
        np.zeros(everybody, np.int64),
        np.zeros(everybody, np.bool_),
    )


@kernel
def _word(lists: BoardLists, register: int, full: np.ndarray) -> int:
    """The room of a register whose word is taken first, -1 if there is no word."""
    for room in range(lists.first_room[register], lists.first_room[register + 1]):
        if full[room]:
            return room
    return -1


@kernel
def _may(
    lists: BoardLists, node: int, lane: int, total: np.ndarray, limit: np.ndarray, moved: np.ndarray, full: np.ndarray
) -> int:
    """The register with which a lane may move its next word, -1 if it may not."""
    k = moved[lane]
    if k >= limit[lane]:
        return -1
    for other in range(lists.first_lane[node], lists.first_lane[node + 1]):
        if moved[other] < total[other] and lists.rank[other] < lists.rank[lane]:
            return -1
    after = lists.after[lane]
    if after >= 0:
        if lists.after_all[lane]:
            if moved[after] < total[after]:
                return -1
        elif moved[after] <= k:
            return -1
    pair = lists.pair[lane]
    if pair >= 0 and k - moved[pair] >= lists.window[lane]:
        return -1
    first = lists.first_register[lane]
    register = lists.registers[first + k % (lists.first_register[lane + 1] - first)]
    # A processor writes when the whole register is empty.
    return register if (_word(lists, register, full) < 0) == lists.write[lane] else -1


@kernel
def _settle(
    lists: BoardLists, total: np.ndarray, limit: np.ndarray, most: np.ndarray, state: GameState, count: int
) -> None:
    """Go on from the first ``count`` of those that wait until nothing moves. One function: calls with so many arrays would
    take most of the time."""
    first_lane, write, rank, after_all = lists.first_lane, lists.write, lists.rank, lists.after_all
    after, pair, window = lists.after, lists.pair, lists.window
    first_register, registers = lists.first_register, lists.registers
    source, into, first_onward, onward = lists.source, lists.into, lists.first_onward, lists.onward
    owner, reader, filler, upstream = lists.owner, lists.reader, lists.filler, lists.upstream
    moved, passed, full, held = state.moved, state.passed, state.full, state.held
    waiting, queued = state.waiting, state.queued
    nodes = first_lane.shape[0] - 1
    woken = np.empty(4, np.int64)
    while count:
        count -= 1
        who = waiting[count]
        queued[who] = False
        going = True
        while going:
            going = False
            if who < nodes:
                for lane in range(first_lane[who], first_lane[who + 1]):
                    while moved[lane] < limit[lane]:
                        k = moved[lane]
                        before, twin = after[lane], pair[lane]
                        if before >= 0 and moved[before] < (total[before] if after_all[lane] else k + 1):
                            break
                        if twin >= 0 and k - moved[twin] >= window[lane]:
                            break
                        first = first_register[lane]
                        register = registers[first + k % (first_register[lane + 1] - first)]
                        if full[register] == write[lane]:
                            break
                        early = False
                        for other in range(first_lane[who], first_lane[who + 1]):
                            early |= moved[other] < total[other] and rank[other] < rank[lane]
                        if early:
                            break
                        full[register] = write[lane]
                        moved[lane] += 1
                        going = True
                        place = reader[register] if write[lane] else filler[register]
                        if place >= 0 and not queued[nodes + place]:
                            queued[nodes + place] = True
                            waiting[count] = nodes + place
                            count += 1
                continue
            place = who - nodes
            origin, to = source[place], into[place]
            woken[:] = -1
            if not held[place]:
                if origin < 0 or not full[origin]:
                    break
                full[origin] = False
                held[place] = True
                woken[0] = owner[origin]
                woken[1] = nodes + filler[origin] if filler[origin] >= 0 else -1
            free = passed[place] < most[place] and (to < 0 or not full[to])
            for row in range(first_onward[place], first_onward[place + 1]):
                free &= not held[onward[row]]
            if free:
                going = True
                held[place] = False
                passed[place] += 1
                if to >= 0:
                    full[to] = True
                    woken[2] = owner[to]
                    woken[3] = nodes + reader[to] if reader[to] >= 0 else -1
                for row in range(first_onward[place], first_onward[place + 1]):
                    other = nodes + onward[row]
                    held[onward[row]] = True
                    if not queued[other]:
                        queued[other] = True
                        waiting[count] = other
                        count += 1
                other = nodes + upstream[place]
                if other >= nodes and not queued[other]:
                    queued[other] = True
                    waiting[count] = other
                    count += 1
            for i in range(4):
                other = woken[i]
                if other >= 0 and not queued[other]:
                    queued[other] = True
                    waiting[count] = other
                    count += 1


@kernel
def _by_turns(lists: BoardLists, total: np.ndarray, limit: np.ndarray, most: np.ndarray, state: GameState) -> None:
    """Go on in the order of nodes and places until nothing moves, or words go round in a circle."""
    places = lists.source.shape[0]
    enough = (places + 1) * (total.sum() + 1)
    going = True
    while going:
        going = False
        for node in range(lists.first_lane.shape[0] - 1):
            for lane in range(lists.first_lane[node], lists.first_lane[node + 1]):
                register = _may(lists, node, lane, total, limit, state.moved, state.full)
                while register >= 0:
                    if lists.write[lane]:
                        state.full[lists.first_room[register + 1] - 1] = True
                    else:
                        state.full[_word(lists, register, state.full)] = False
                    state.moved[lane] += 1
                    going = True
                    register = _may(lists, node, lane, total, limit, state.moved, state.full)
        for place in range(places):
            if not state.held[place]:
                origin = lists.source[place]
                taken = _word(lists, origin, state.full) if origin >= 0 else -1
                if taken < 0:
                    continue
                state.full[taken] = False
                state.held[place] = True
                going = True
            if state.passed[place] >= min(most[place], enough):
                continue
            to = lists.room[place]
            free = to < 0 or not state.full[to]
            for row in range(lists.first_onward[place], lists.first_onward[place + 1]):
                if state.held[lists.onward[row]]:
                    free = False
            if not free:
                continue
            state.held[place] = False
            state.passed[place] += 1
            going = True
            if to >= 0:
                state.full[to] = True
            for row in range(lists.first_onward[place], lists.first_onward[place + 1]):
                state.held[lists.onward[row]] = True


@kernel
def _play(lists: BoardLists, total: np.ndarray, limit: np.ndarray, most: np.ndarray) -> GameState:
    """A game from the beginning."""
    state = _begin(lists)
    if lists.single:
        nodes = lists.first_lane.shape[0] - 1
        state.waiting[:nodes] = np.arange(nodes)
        state.queued[:nodes] = True
        _settle(lists, total, limit, most, state, nodes)
    else:
        _by_turns(lists, total, limit, most, state)
    return state


@kernel
def _is_done(lists: BoardLists, node: int, total: np.ndarray, moved: np.ndarray) -> bool:
    lane, end = lists.first_lane[node], lists.first_lane[node + 1]
    while lane < end and moved[lane] == total[lane]:
        lane += 1
    return bool(lane == end)


@kernel
def _unlimited(lists: BoardLists) -> np.ndarray:
    return np.full(lists.source.shape[0], np.iinfo(np.int64).max, np.int64)


@kernel
def play_out(
    lists: BoardLists, total: np.ndarray, limit: np.ndarray, held_up: int, held_after: int
) -> tuple[np.ndarray, np.ndarray]:
    """Words that each lane has moved and each place has passed on when nothing moves. ``limit``: most words of each lane;
    place ``held_up`` (-1: none) passes on ``held_after``."""
    most = _unlimited(lists)
    if held_up >= 0:
        most[held_up] = held_after
    state = _play(lists, total, limit, most)
    return state.moved, state.passed


@kernel
def play_held_up(lists: BoardLists, total: np.ndarray, passed: np.ndarray) -> np.ndarray:
    """By place and node, the fewest words after which the place may stand still and the node has moved everything; as many as it
    passes in all (``passed``) if there are none fewer. Only for a board that is ``single``."""
    nodes, places = lists.first_lane.shape[0] - 1, lists.source.shape[0]
    first = np.empty((places, nodes), np.int64)
    most = _unlimited(lists)
    for place in range(places):
        first[place] = passed[place]
        if not passed[place]:
            continue
        most[place] = 0
        state = _play(lists, total, total, most)
        for after in range(passed[place]):
            if after:
                most[place] = after
                state.waiting[0] = nodes + place
                _settle(lists, total, total, most, state, 1)
            for node in range(nodes):
                if first[place, node] > after and _is_done(lists, node, total, state.moved):
                    first[place, node] = after
        most[place] = np.iinfo(np.int64).max
    return first


@kernel
def _note_left(lists: BoardLists, passed: np.ndarray, state: GameState, left: np.ndarray) -> None:
    """By node, the most words that a place of it has still to pass."""
    left[:] = 0
    for place in range(passed.shape[0]):
        node = lists.node[place]
        if node >= 0:
            left[node] = max(left[node], passed[place] - state.passed[place])


@kernel
def play_not_begun(lists: BoardLists, total: np.ndarray, passed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each node that stands still (rows): whether each node has moved everything, and the most words that a place of it still
    waits for (``passed``: in all)."""
    nodes = lists.first_lane.shape[0] - 1
    done = np.empty((nodes, nodes), np.bool_)
    left = np.empty((nodes, nodes), np.int64)
    most = _unlimited(lists)
    for other in range(nodes):
        limit = total.copy()
        limit[lists.first_lane[other] : lists.first_lane[other + 1]] = 0
        state = _play(lists, total, limit, most)
        for node in range(nodes):
            done[other, node] = _is_done(lists, node, total, state.moved)
        _note_left(lists, passed, state, left[other])
    return done, left


@kernel
def play_stopped(lists: BoardLists, total: np.ndarray, passed: np.ndarray, words: int) -> tuple[np.ndarray, np.ndarray]:
    """For each lane that stands still (rows): the fewest words of it, from 1 on, after which each node has moved everything,
    ``words`` if there are none fewer; and the most words that a place of the node waits for then. Only for a board that is
    ``single``."""
    nodes, lanes = lists.first_lane.shape[0] - 1, total.shape[0]
    first = np.full((lanes, nodes), words, np.int64)
    left = np.zeros((lanes, nodes), np.int64)
    now = np.zeros(nodes, np.int64)
    most = _unlimited(lists)
    for other in range(nodes):
        for lane in range(lists.first_lane[other], lists.first_lane[other + 1]):
            limit = total.copy()
            limit[lane] = 0
            state = _play(lists, total, limit, most)
            for after in range(1, words):
                if after <= total[lane]:
                    limit[lane] = after
                    state.waiting[0] = other
                    _settle(lists, total, limit, most, state, 1)
                noted = False
                for node in range(nodes):
                    if first[lane, node] > after and _is_done(lists, node, total, state.moved):
                        if not noted:
                            _note_left(lists, passed, state, now)
                            noted = True
                        first[lane, node] = after
                        left[lane, node] = now[node]
    return first, left
