"""The slots of a run of reservations, compiled. ``protocol`` says in words what happens here; ``state`` has the tables.

In a slot, in this order: each router completes the packet that is due; held packets try again, the longest first; packets arrive
at routers, those of one slot by message, attempt and kind; routers that are idle take the next packet.
"""

from __future__ import annotations

import numpy as np

from pointsman.kernels import kernel

from .state import (
    ACK,
    BUCKETS,
    FAIL,
    FREE_ATTEMPT,
    FREE_PACKET,
    HELD,
    HOPS,
    LAST_DONE,
    LIVE,
    LOCKS,
    LOG_CHANNELS,
    LOG_DROPPED,
    LOG_FREED,
    LOG_KEPT,
    LOG_LOCKED,
    LOG_MESSAGE,
    LOG_PLACE,
    LOG_RESOURCE,
    LOG_TRY,
    NACK,
    NEXT_MESSAGE,
    NOBODY,
    PROB,
    REL,
    RES,
    RETRIES,
    SETTINGS,
    TO_DELIVER,
    Given,
    State,
)

LIMIT, FINISHED, FULL = range(3)
"""Why ``run_slots`` returns: the limit is reached, every message is delivered and released, or tables are full."""
NONE, ONE = np.uint64(0), np.uint64(1)
CHOICE, WAIT, WAY = np.uint64(1), np.uint64(2), np.uint64(3)
"""What a random number is for."""
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFT = (np.uint64(30), np.uint64(27), np.uint64(31))


@kernel
def scrambled(value: np.uint64) -> np.uint64:
    """Output function of SplitMix64 (Steele, Lea and Flood 2014)."""
    value = value + _MIX[0]
    value = (value ^ (value >> _SHIFT[0])) * _MIX[1]
    value = (value ^ (value >> _SHIFT[1])) * _MIX[2]
    return value ^ (value >> _SHIFT[2])


@kernel
def drawn(seed: np.uint64, message: int, attempt: int, purpose: np.uint64, below: int) -> int:
    """A random number 0 … below - 1 that depends on nothing but the arguments."""
    value = scrambled(scrambled(scrambled(seed ^ np.uint64(message)) ^ np.uint64(attempt)) ^ purpose)
    return int(value % np.uint64(below))


@kernel
def _count(channels: np.uint64) -> int:
    number = 0
    while channels != NONE:
        channels &= channels - ONE
        number += 1
    return number


@kernel
def _lowest(channels: np.uint64) -> int:
    number = 0
    while channels & ONE == NONE:
        channels >>= ONE
        number += 1
    return number


@kernel
def _some(available: np.uint64, size: int, begin: int) -> np.uint64:
    """``size`` of the available channels in a cycle, from the ``begin``-th on."""
    total = _count(available)
    found = NONE
    index = 0
    while available != NONE:
        one = available & (~available + ONE)
        if (index - begin) % total < size:
            found |= one
        available ^= one
        index += 1
    return found


@kernel
def _new_packet(given: Given, state: State, message: int, attempt: int, kind: int, place: int) -> int:
    packet = state.counters[FREE_PACKET]
    state.counters[FREE_PACKET] = state.packet_next[packet]
    state.counters[LIVE] += 1
    state.packet_message[packet] = message
    state.packet_attempt[packet] = attempt
    state.packet_try[packet] = state.tries[message]
    state.packet_kind[packet] = kind
    state.packet_place[packet] = place
    state.packet_set[packet] = NONE
    return packet


@kernel
def _end_packet(state: State, packet: int) -> None:
    state.packet_next[packet] = state.counters[FREE_PACKET]
    state.counters[FREE_PACKET] = packet
    state.counters[LIVE] -= 1


@kernel
def _end_attempt(state: State, attempt: int) -> None:
    state.attempt_users[attempt] -= 1
    if state.attempt_users[attempt] == 0:
        state.attempt_next[attempt] = state.counters[FREE_ATTEMPT]
        state.counters[FREE_ATTEMPT] = attempt


@kernel
def _post(state: State, packet: int, time: int) -> None:
    """The packet arrives at a router in slot ``time``."""
    state.packet_time[packet] = time
    state.packet_next[packet] = state.bucket[time % BUCKETS]
    state.bucket[time % BUCKETS] = packet


@kernel
def _node(given: Given, state: State, packet: int) -> int:
    """Where the packet is, or goes."""
    place = state.packet_place[packet]
    if place == 0:
        return given.source[state.packet_message[packet]]
    return given.link_end[state.path[state.packet_attempt[packet], place - 1]]


@kernel
def _resource(given: Given, state: State, attempt: int, message: int, place: int) -> int:
    """What the router there gives out: the next link of the way, at the end of it the receiver."""
    nodes = len(state.head)
    if place == state.attempt_hops[attempt]:
        return nodes + given.destination[message]
    return 2 * nodes + state.path[attempt, place]


@kernel
def _available(given: Given, state: State, attempt: int, message: int, place: int) -> np.uint64:
    """Channels that are available there; at the source with its sender."""
    channels = state.free[_resource(given, state, attempt, message, place)]
    if place == 0:
        channels &= state.free[given.source[message]]
    return channels


@kernel
def _lock(given: Given, state: State, attempt: int, message: int, place: int, channels: np.uint64, now: int) -> None:
    resource = _resource(given, state, attempt, message, place)
    state.free[resource] &= ~channels
    if place == 0:
        state.free[given.source[message]] &= ~channels
    state.locked[attempt, place] = channels
    if state.log_row[attempt, place] == NOBODY:
        return
    row = state.counters[LOCKS]
    state.log_row[attempt, place] = NOBODY
    if row < len(state.log):
        state.counters[LOCKS] += 1
        state.log_row[attempt, place] = row
        state.log[row, LOG_MESSAGE] = message
        state.log[row, LOG_TRY] = state.tries[message]
        state.log[row, LOG_RESOURCE] = resource
        state.log[row, LOG_PLACE] = place
        state.log[row, LOG_LOCKED] = now
        state.log[row, LOG_CHANNELS] = np.int64(channels)
        state.log[row, LOG_KEPT] = np.int64(channels)


@kernel
def _unlock(given: Given, state: State, attempt: int, message: int, place: int, but: np.uint64, now: int) -> None:
    """Give back what the attempt has there, but the channels ``but``."""
    channels = state.locked[attempt, place] & ~but
    row = state.log_row[attempt, place]
    if row != NOBODY and state.locked[attempt, place] != NONE:
        if state.locked[attempt, place] & but == NONE:
            state.log[row, LOG_FREED] = now
        elif channels != NONE:
            state.log[row, LOG_DROPPED] = now
            state.log[row, LOG_KEPT] = np.int64(but)
    state.free[_resource(given, state, attempt, message, place)] |= channels
    if place == 0:
        state.free[given.source[message]] |= channels
    state.locked[attempt, place] &= but


@kernel
def _begin(given: Given, state: State, packet: int) -> None:
    """A new attempt: its way, and in a forward protocol its set of channels."""
    message = state.packet_message[packet]
    attempt = state.counters[FREE_ATTEMPT]
    state.counters[FREE_ATTEMPT] = state.attempt_next[attempt]
    state.attempt_users[attempt] = 1
    state.packet_attempt[packet] = attempt
    every = ~NONE >> np.uint64(64 - given.degree)
    chosen = every
    if given.forward and given.cset < given.degree:
        begin = drawn(given.seed, message, state.tries[message], CHOICE, given.degree)
        chosen = _some(every, given.cset, begin)
    state.packet_set[packet] = chosen
    source, destination = given.source[message], given.destination[message]
    best, way = -1, 0
    ways = given.next_link.shape[0]
    if ways > 1:
        turn = drawn(given.seed, message, state.tries[message], WAY, ways)
        for index in range(ways):
            number = (index + turn) % ways
            link = given.next_link[number, source, destination]
            room = _count(chosen & state.free[2 * len(state.head) + link])
            if room > best:
                best, way = room, number
    hops = 0
    node = source
    while node != destination:
        link = given.next_link[way, node, destination]
        state.path[attempt, hops] = link
        state.locked[attempt, hops] = NONE
        hops += 1
        node = given.link_end[link]
    state.locked[attempt, hops] = NONE
    state.log_row[attempt, : hops + 1] = 0 if state.counters[LOCKS] < len(state.log) else NOBODY
    state.attempt_hops[attempt] = hops


@kernel
def _again(given: Given, state: State, packet: int, now: int) -> None:
    """The source knows that its attempt failed: the packet becomes the next attempt's, after a random time."""
    message = state.packet_message[packet]
    wait = drawn(given.seed, message, state.tries[message], WAIT, given.retry)
    state.tries[message] += 1
    state.counters[RETRIES] += 1
    state.packet_try[packet] = state.tries[message]
    state.packet_attempt[packet] = NOBODY
    state.packet_kind[packet] = RES if given.forward else PROB
    state.packet_place[packet] = 0
    _post(state, packet, now + wait)


@kernel
def _fail(given: Given, state: State, packet: int, now: int) -> None:
    """There is no channel for the packet where it is: tell the source, and whoever has locked channels for it."""
    message, attempt, place = state.packet_message[packet], state.packet_attempt[packet], state.packet_place[packet]
    if not given.forward and state.packet_kind[packet] == RES:
        unlocks = _new_packet(given, state, message, attempt, FAIL, place + 1)
        state.attempt_users[attempt] += 1
        _post(state, unlocks, now + given.propagation)
    if place == 0:
        _end_attempt(state, attempt)
        _again(given, state, packet, now)
    else:
        state.packet_kind[packet] = NACK
        state.packet_place[packet] = place - 1
        _post(state, packet, now + given.propagation)


@kernel
def _ask(given: Given, state: State, message: int, now: int) -> None:
    """A message asks for a connection, or waits until fewer of its node's messages do."""
    if given.requests:
        nodes, source = len(state.head), given.source[message]
        if state.asking[source] >= given.requests:
            first, last = nodes + source, 2 * nodes + source
            if state.asking[first] == NOBODY:
                state.asking[first] = message
            else:
                state.asking[3 * nodes + state.asking[last]] = message
            state.asking[last] = message
            return
        state.asking[source] += 1
    _post(state, _new_packet(given, state, message, NOBODY, RES if given.forward else PROB, 0), now)


@kernel
def _establish(given: Given, state: State, message: int, attempt: int, channel: int, now: int) -> None:
    """The source may send from this slot on: one packet whenever its channel comes round; then it releases the connection."""
    state.established[message] = now
    state.channel[message] = channel
    state.started[message] = now + (given.first + channel - now) % given.frame
    state.done[message] = state.started[message] + (given.slots[message] - 1) * given.frame + 1
    state.counters[TO_DELIVER] -= 1
    state.counters[LAST_DONE] = max(state.counters[LAST_DONE], state.done[message])
    _post(state, _new_packet(given, state, message, attempt, REL, 0), state.done[message])
    if given.requests:
        nodes, source = len(state.head), given.source[message]
        state.asking[source] -= 1
        follower = state.asking[nodes + source]
        if follower != NOBODY:
            state.asking[nodes + source] = state.asking[3 * nodes + follower]
            _ask(given, state, follower, now)


@kernel
def _lock_here(given: Given, state: State, packet: int, now: int) -> bool:
    """A reservation at its router: lock what is available of its channels and go on. False if nothing is."""
    message, attempt, place = state.packet_message[packet], state.packet_attempt[packet], state.packet_place[packet]
    channels = state.packet_set[packet] & _available(given, state, attempt, message, place)
    if channels == NONE:
        return False
    last = place == (state.attempt_hops[attempt] if given.forward else 0)
    if last:
        channels &= ~channels + ONE
    _lock(given, state, attempt, message, place, channels, now)
    if not given.set_at_ack:
        state.counters[SETTINGS] += _count(channels)
    elif last:
        state.counters[SETTINGS] += 1
    state.packet_set[packet] = channels
    if not last:
        state.packet_place[packet] = place + (1 if given.forward else -1)
    elif given.forward:
        state.packet_kind[packet] = ACK
        state.packet_place[packet] = place - 1
    else:
        _establish(given, state, message, attempt, _lowest(channels), now)
        if not given.acknowledged:
            _end_packet(state, packet)
            return True
        state.packet_kind[packet] = ACK
        state.packet_place[packet] = 1
    _post(state, packet, now + given.propagation)
    return True


@kernel
def _complete(given: Given, state: State, packet: int, now: int) -> bool:
    """What a router does with a packet. False if it is to be held."""
    kind, place = state.packet_kind[packet], state.packet_place[packet]
    if state.packet_attempt[packet] == NOBODY:
        _begin(given, state, packet)
    message, attempt = state.packet_message[packet], state.packet_attempt[packet]
    hops = state.attempt_hops[attempt]
    if kind == PROB:
        available = _available(given, state, attempt, message, place)
        if hops - place <= given.probe:
            state.packet_set[packet] &= available
        if state.packet_set[packet] == NONE:
            _fail(given, state, packet, now)
            return True
        if place < hops:
            state.packet_place[packet] = place + 1
            _post(state, packet, now + given.propagation)
            return True
        count = _count(state.packet_set[packet])
        if given.cset < count:
            begin = drawn(given.seed, message, state.tries[message], CHOICE, count)
            state.packet_set[packet] = _some(state.packet_set[packet], given.cset, begin)
        state.packet_kind[packet] = kind = RES
    if kind == RES:
        if _lock_here(given, state, packet, now):
            return True
        if given.hold:
            return False
        _fail(given, state, packet, now)
    elif kind == ACK:
        _unlock(given, state, attempt, message, place, state.packet_set[packet], now)
        if given.set_at_ack:
            state.counters[SETTINGS] += 1
        if given.forward and place == 0:
            _establish(given, state, message, attempt, _lowest(state.packet_set[packet]), now)
        if place == (0 if given.forward else hops):
            _end_packet(state, packet)
        else:
            state.packet_place[packet] = place + (-1 if given.forward else 1)
            _post(state, packet, now + given.propagation)
    elif kind == NACK:
        _unlock(given, state, attempt, message, place, NONE, now)
        if place == 0:
            _end_attempt(state, attempt)
            _again(given, state, packet, now)
        else:
            state.packet_place[packet] = place - 1
            _post(state, packet, now + given.propagation)
    else:  # FAIL and REL
        _unlock(given, state, attempt, message, place, NONE, now)
        if place == hops:
            _end_attempt(state, attempt)
            _end_packet(state, packet)
        else:
            state.packet_place[packet] = place + 1
            _post(state, packet, now + given.propagation)
    return True


@kernel
def _sorts_before(state: State, a: int, b: int) -> bool:
    """Whether packet a is served before packet b when both arrive at a router in the same slot."""
    if state.packet_message[a] != state.packet_message[b]:
        return state.packet_message[a] < state.packet_message[b]
    if state.packet_try[a] != state.packet_try[b]:
        return state.packet_try[a] < state.packet_try[b]
    return state.packet_kind[a] < state.packet_kind[b]


@kernel
def _arrive(given: Given, state: State, packet: int, now: int) -> None:
    """Behind all that came in earlier slots, among this slot's arrivals at its place."""
    node = _node(given, state, packet)
    if state.stamp[node] != now:
        state.stamp[node] = now
        state.before[node] = state.tail[node]
    at = state.before[node]
    follower = state.head[node] if at == NOBODY else state.packet_next[at]
    while follower != NOBODY and _sorts_before(state, follower, packet):
        at, follower = follower, state.packet_next[follower]
    state.packet_next[packet] = follower
    if at == NOBODY:
        state.head[node] = packet
    else:
        state.packet_next[at] = packet
    if follower == NOBODY:
        state.tail[node] = packet


@kernel
def run_slots(given: Given, state: State, now: int, limit: int) -> tuple[int, int]:
    """Simulate from slot ``now`` until ``limit``; returns the slot that was reached, and why."""
    counters = state.counters
    nodes = len(state.head)
    messages = len(given.order)
    while now < limit:
        if counters[LIVE] == 0:
            if counters[NEXT_MESSAGE] == messages:
                return now, FINISHED
            now = max(now, given.ready[given.order[counters[NEXT_MESSAGE]]])
            if now >= limit:
                return limit, LIMIT
        fresh = counters[NEXT_MESSAGE]
        while fresh < messages and given.ready[given.order[fresh]] == now:
            fresh += 1
        needed = 2 * (nodes + counters[HELD]) + fresh - counters[NEXT_MESSAGE]
        if len(state.packet_kind) - counters[LIVE] < needed:
            return now, FULL
        for node in range(nodes):
            packet = state.current[node]
            if packet != NOBODY and state.finish[node] == now:
                counters[HOPS] += 1
                state.current[node] = NOBODY
                if not _complete(given, state, packet, now):
                    state.held[counters[HELD]] = packet
                    state.since[counters[HELD]] = now
                    counters[HELD] += 1
        if counters[HELD]:
            kept = 0
            for index in range(counters[HELD]):
                packet, since = state.held[index], state.since[index]
                if since < now:
                    if _lock_here(given, state, packet, now):
                        continue
                    if now - since == given.hold:
                        _fail(given, state, packet, now)
                        continue
                state.held[kept], state.since[kept] = packet, since
                kept += 1
            counters[HELD] = kept
        while counters[NEXT_MESSAGE] < fresh:
            _ask(given, state, given.order[counters[NEXT_MESSAGE]], now)
            counters[NEXT_MESSAGE] += 1
        packet = state.bucket[now % BUCKETS]
        state.bucket[now % BUCKETS] = NOBODY
        while packet != NOBODY:
            follower = state.packet_next[packet]
            if state.packet_time[packet] == now:
                _arrive(given, state, packet, now)
            else:  # in a later round of the calendar
                state.packet_next[packet] = state.bucket[now % BUCKETS]
                state.bucket[now % BUCKETS] = packet
            packet = follower
        for node in range(nodes):
            if state.current[node] == NOBODY and state.head[node] != NOBODY:
                packet = state.head[node]
                state.head[node] = state.packet_next[packet]
                if state.head[node] == NOBODY:
                    state.tail[node] = NOBODY
                state.current[node] = packet
                state.finish[node] = now + given.processing
        now += 1
    return now, LIMIT
