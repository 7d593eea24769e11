"""The cycle of the model of packet routers, in compiled code: routers, interfaces, and the accesses of processors.

In a cycle each station decides on the state at its beginning, which nobody else sees; what it sends (words, credits) goes into
the lists of the next cycle. Then `tick` brings what the lists of this cycle hold to where it goes. Follows the RTL
(`packet_router.router`, `input`, `output`, `interface`) stage by stage. Where nothing can happen, time is passed over at once.
"""

from __future__ import annotations

import numpy as np

from cosim.engines.model.accesses import choose, deliver, notice, settle, word_of
from cosim.engines.model.requests import EVENTS, TIME, TIMER, TRANSFER, WRITE, Requests
from packet_router.header import ADDRESS, ANY
from packet_router.node import LAST as LAST_REGISTER
from pointsman.kernels import kernel

from .model_tables import (
    ADAPTIVE,
    ADDRESSES,
    AHEAD,
    ARRIVING,
    CHANNEL,
    DEPTH,
    DIMENSIONS,
    ESCAPES,
    FAR_BIT,
    FAR_INPUT,
    FAR_NODE,
    FAR_ROOM,
    FIELD,
    HOPS,
    LANDING,
    LANES,
    NODES,
    NOW,
    PORTS,
    QUEUE,
    QUEUE_ADDRESS,
    QUEUE_NODE,
    QUEUE_WORD,
    RETURNED,
    ROOM_INSIDE,
    ROOM_NODE,
    ROOM_NUMBER,
    ROOMS,
    TO_BIT,
    TO_CHANNEL,
    TO_LAST,
    TO_NODE,
    TO_WORD,
    WIDTH,
    Stations,
)

_OUTPUT, _ROOM, _LANE, _BEST = range(4)
_WANTED, _WANT_LANE, _WANT_BEST = range(3)


@kernel(error_model="numpy", forceinline=True, _nrt=False)
def _give_back(s: Stations, node: int, room: int, inside: int) -> None:
    """A place behind ``room`` is free; whoever counts it knows at the end of the next cycle."""
    then = (s.tally[NOW] + 1) & 3
    k = s.tally[RETURNED + then]
    s.returned[then, k, ROOM_NODE] = node
    s.returned[then, k, ROOM_NUMBER] = room
    s.returned[then, k, ROOM_INSIDE] = inside
    s.tally[RETURNED + then] = k + 1


@kernel(error_model="numpy", forceinline=True, _nrt=False)
def _arrive(s: Stations, cycles: int, node: int, channel: int, bit: int, last: int, word: int) -> None:
    """A word will be in the buffer of a channel so many cycles later."""
    then = (s.tally[NOW] + cycles) & 3
    k = s.tally[ARRIVING + then]
    s.arriving[then, k, TO_NODE] = node
    s.arriving[then, k, TO_CHANNEL] = channel
    s.arriving[then, k, TO_BIT] = bit
    s.arriving[then, k, TO_LAST] = last
    s.arriving[then, k, TO_WORD] = word
    s.tally[ARRIVING + then] = k + 1


@kernel(error_model="numpy", forceinline=True, _nrt=False)
def _open(s: Stations, i: int) -> None:
    """See whether the processor of node ``i`` can send a word."""
    ports, lanes, depth = s.layout[PORTS], s.layout[LANES], s.layout[DEPTH]
    first = (i * (ports + 1) + ports) * s.layout[ROOMS]
    if s.inside[i]:
        ready = s.room[first + s.lane[i]] > 0
    else:
        ready = s.room[first] > 0
        if s.layout[ADAPTIVE] and ready:
            ready = False
            for c in range(1, lanes):
                ready |= s.room[first + c] == depth
    s.closed[i, 0] = s.closed[i, 1] = not ready


@kernel(error_model="numpy", forceinline=True, _nrt=False)
def send(s: Stations, i: int, word: int, last: bool) -> None:
    """The processor of node ``i`` sends a word; ``closed`` must allow it."""
    ports, lanes = s.layout[PORTS], s.layout[LANES]
    first = (i * (ports + 1) + ports) * s.layout[ROOMS]
    lane = s.lane[i]
    if not s.inside[i]:
        lane = 0
        if s.layout[ADAPTIVE] and (word >> ANY) & 1:
            lane = 1
            while s.room[first + lane] < s.layout[DEPTH] and lane < lanes - 1:
                lane += 1
    _arrive(s, 1, i, (i * ports + ports - 1) * lanes + lane, (ports - 1) * lanes + lane, 1 if last else 0, word)
    s.room[first + lane] -= 1
    s.lane[i] = lane
    s.inside[i] = not last
    s.stirred[i] = 1
    _open(s, i)


@kernel(error_model="numpy", forceinline=True, _nrt=False)
def take(s: Stations, i: int, address: int) -> int:
    """The processor of node ``i`` takes a word from the queue of an address; ``waiting`` must allow it."""
    ports, queue = s.layout[PORTS], s.layout[QUEUE]
    q = i * s.layout[ADDRESSES] + address
    word = s.queue[q * queue + s.queue_front[q]]
    s.queue_front[q] = (s.queue_front[q] + 1) & (queue - 1)
    s.queue_words[q] -= 1
    if s.queue_words[q] == 0:
        s.waiting[i, address] = 0
    s.read_data[i] = word
    s.stirred[i] = 1
    _give_back(s, i, (i * (ports + 1) + ports - 1) * s.layout[ROOMS] + address, 0)
    return word


@kernel(error_model="numpy", forceinline=True, _nrt=False)
def drop(s: Stations, i: int) -> None:
    """Give back the room of a word that came for address 0, in a cycle in which node ``i`` takes no word."""
    q = i * s.layout[ADDRESSES]
    if s.queue_words[q] > 0:
        s.queue_words[q] -= 1
        _give_back(s, i, (i * (s.layout[PORTS] + 1) + s.layout[PORTS] - 1) * s.layout[ROOMS], 0)


@kernel(error_model="numpy", _nrt=False)
def _ask(s: Stations, i: int, p: int, header: int) -> None:
    """Which channel of which output the message with this header asks for in this cycle, if any."""
    ports, lanes, rooms = s.layout[PORTS], s.layout[LANES], s.layout[ROOMS]
    outputs = i * (ports + 1)
    escape = np.int64(-1)
    left = header
    for d in range(s.layout[DIMENSIONS]):
        step = s.steps[d, s.places[i, d], left & ((1 << s.bits[d]) - 1)]
        left >>= s.bits[d]
        if step and escape < 0:
            escape = np.int64(step)
    if escape < 0:
        room = (outputs + ports - 1) * rooms + ((header >> ADDRESS) & (s.layout[ADDRESSES] - 1))
        if not s.held[room]:
            s.ask[_OUTPUT, p] = ports - 1
            s.ask[_ROOM, p] = room
        return
    if s.layout[ADAPTIVE] and (header >> ANY) & 1:
        # The dimension with most hops left among those with an empty channel.
        most = np.int64(0)
        left = header
        for d in range(s.layout[DIMENSIONS]):
            step = np.int64(s.steps[d, s.places[i, d], left & ((1 << s.bits[d]) - 1)])
            left >>= s.bits[d]
            if step >> HOPS > most:
                o = step & FIELD
                for c in range(s.layout[ESCAPES], lanes):
                    room = (outputs + o) * rooms + c
                    if not s.held[room] and s.room[room] == s.layout[DEPTH]:
                        most = step >> HOPS
                        s.ask[_OUTPUT, p] = o
                        s.ask[_ROOM, p] = room
                        break
        if most:
            return
    o = escape & FIELD
    room = (outputs + o) * rooms + ((escape >> CHANNEL) & FIELD)
    if not s.held[room]:
        s.ask[_OUTPUT, p] = o
        s.ask[_ROOM, p] = room


@kernel(error_model="numpy", forceinline=True, _nrt=False)
def _rank(turn: int, p: int, ports: int) -> int:
    """How many come before input ``p`` when ``turn`` is first."""
    return p - turn if p >= turn else p - turn + ports


@kernel(error_model="numpy", forceinline=True, _nrt=False)
def route(s: Stations, i: int) -> None:
    """A cycle of the router of node ``i``, which has words: messages get channels, words get outputs."""
    ports, lanes, rooms, depth = s.layout[PORTS], s.layout[LANES], s.layout[ROOMS], s.layout[DEPTH]
    outputs = i * (ports + 1)
    inputs = i * ports
    for p in range(ports):
        s.ask[_BEST, p] = ports
        s.want[_WANT_BEST, p] = ports
        s.ask[_OUTPUT, p] = -1
        s.want[_WANTED, p] = -1
    asked = wanted = waits = False
    some = s.some[i]
    p = 0
    while some != 0:
        here = some & ((1 << lanes) - 1)
        some >>= lanes
        if here != 0:
            first = (inputs + p) * lanes
            picked = -1
            for k in range(lanes):
                c = s.message_turn[inputs + p] + k
                c = c - lanes if c >= lanes else c
                if (here >> c) & 1 and s.way[first + c] < 0:
                    picked = c
                    break
            if picked >= 0:
                waits = True
                s.message_turn[inputs + p] = picked + 1 if picked + 1 < lanes else 0
                s.ask[_LANE, p] = picked
                _ask(s, i, p, s.words[(first + picked) * depth + s.front[first + picked]])
                o = s.ask[_OUTPUT, p]
                if o >= 0:
                    asked = True
                    s.ask[_BEST, o] = min(s.ask[_BEST, o], _rank(s.channel_turn[inputs + o], p, ports))
            for k in range(lanes):
                c = s.lane_turn[inputs + p] + k
                c = c - lanes if c >= lanes else c
                o = s.way[first + c]
                if (here >> c) & 1 and o >= 0 and s.room[(outputs + o) * rooms + s.channel[first + c]] > 0:
                    wanted = True
                    s.want[_WANTED, p] = o
                    s.want[_WANT_LANE, p] = c
                    s.want[_WANT_BEST, o] = min(s.want[_WANT_BEST, o], _rank(s.word_turn[inputs + o], p, ports))
                    break
        p += 1
    if not asked and not wanted:
        s.asleep[i] = lanes == 1 or not waits
        return
    if wanted:
        _pass_words(s, i)
    if asked:
        _give_channels(s, i)


@kernel(error_model="numpy", forceinline=True, _nrt=False)
def _pass_words(s: Stations, i: int) -> None:
    """Each output lets a word pass of those who want it."""
    ports, lanes, rooms, depth = s.layout[PORTS], s.layout[LANES], s.layout[ROOMS], s.layout[DEPTH]
    outputs = i * (ports + 1)
    inputs = i * ports
    for o in range(ports):
        if s.want[_WANT_BEST, o] == ports:
            continue
        p = s.word_turn[inputs + o] + s.want[_WANT_BEST, o]
        p = p - ports if p >= ports else p
        s.word_turn[inputs + o] = p + 1 if p + 1 < ports else 0
        lane = s.want[_WANT_LANE, p]
        c = (inputs + p) * lanes + lane
        at = s.front[c]
        last = (s.ends[c] >> at) & 1
        channel = s.channel[c]
        room = (outputs + o) * rooms + channel
        word = s.words[c * depth + at]
        if o == ports - 1:
            then = (s.tally[NOW] + 1) & 3
            k = s.tally[LANDING + then]
            s.landing[then, k, QUEUE_NODE] = i
            s.landing[then, k, QUEUE_ADDRESS] = channel
            s.landing[then, k, QUEUE_WORD] = word
            s.tally[LANDING + then] = k + 1
        else:
            far = s.ends_of[inputs + o, FAR_NODE]
            if far >= 0:
                bit = s.ends_of[inputs + o, FAR_BIT] + channel
                _arrive(s, 2, far, s.ends_of[inputs + o, FAR_INPUT] + channel, bit, last, word)
            else:
                _give_back(s, i, room, 0)
        s.lane_turn[inputs + p] = lane + 1 if lane + 1 < lanes else 0
        s.front[c] = (at + 1) & (depth - 1)
        s.filled[c] -= 1
        if s.filled[c] == 0:
            s.some[i] &= ~(np.int64(1) << (p * lanes + lane))
        s.room[room] -= 1
        if last:
            s.held[room] = 0
            s.way[c] = -1
        if p == ports - 1:
            _give_back(s, i, (outputs + ports) * rooms + lane, 1)
        else:
            _give_back(s, s.ends_of[inputs + p, FAR_NODE], s.ends_of[inputs + p, FAR_ROOM] + lane, 0)


@kernel(error_model="numpy", forceinline=True, _nrt=False)
def _give_channels(s: Stations, i: int) -> None:
    """Each output gives a channel to a message of those who ask for it."""
    ports, lanes, rooms = s.layout[PORTS], s.layout[LANES], s.layout[ROOMS]
    for o in range(ports):
        if s.ask[_BEST, o] == ports:
            continue
        p = s.channel_turn[i * ports + o] + s.ask[_BEST, o]
        p = p - ports if p >= ports else p
        s.channel_turn[i * ports + o] = p + 1 if p + 1 < ports else 0
        c = (i * ports + p) * lanes + s.ask[_LANE, p]
        s.way[c] = o
        s.channel[c] = s.ask[_ROOM, p] - (i * (ports + 1) + o) * rooms
        s.held[s.ask[_ROOM, p]] = 1


@kernel(error_model="numpy", forceinline=True, _nrt=False)
def tick(s: Stations) -> bool:
    """The end of a cycle: bring words and credits to where they go. Was there anything, or is there still?"""
    depth, queue, addresses = s.layout[DEPTH], s.layout[QUEUE], s.layout[ADDRESSES]
    now = s.tally[NOW] & 3
    some = False
    for k in range(s.tally[ARRIVING + now]):
        i = s.arriving[now, k, TO_NODE]
        c = s.arriving[now, k, TO_CHANNEL]
        at = (s.front[c] + s.filled[c]) & (depth - 1)
        s.words[c * depth + at] = s.arriving[now, k, TO_WORD]
        bit = np.int64(1) << at
        s.ends[c] = s.ends[c] | bit if s.arriving[now, k, TO_LAST] else s.ends[c] & ~bit
        s.filled[c] += 1
        s.some[i] |= np.int64(1) << s.arriving[now, k, TO_BIT]
        s.asleep[i] = 0
        some = True
    s.tally[ARRIVING + now] = 0
    for k in range(s.tally[LANDING + now]):
        i = s.landing[now, k, QUEUE_NODE]
        address = s.landing[now, k, QUEUE_ADDRESS]
        q = i * addresses + address
        if address > 0:
            s.queue[q * queue + ((s.queue_front[q] + s.queue_words[q]) & (queue - 1))] = s.landing[now, k, QUEUE_WORD]
            s.waiting[i, address] = 1
            s.stirred[i] = 1
        s.queue_words[q] += 1
        some = True
    s.tally[LANDING + now] = 0
    for k in range(s.tally[RETURNED + now]):
        i = s.returned[now, k, ROOM_NODE]
        s.room[s.returned[now, k, ROOM_NUMBER]] += 1
        if s.returned[now, k, ROOM_INSIDE]:
            s.stirred[i] = 1
            _open(s, i)
        else:
            s.asleep[i] = 0
        some = True
    s.tally[RETURNED + now] = 0
    s.tally[NOW] += 1
    for ahead in range(AHEAD):
        some |= s.tally[ARRIVING + ahead] + s.tally[LANDING + ahead] + s.tally[RETURNED + ahead] > 0
    return some


@kernel(error_model="numpy", _nrt=False)
def advance(s: Stations, requests: Requests, stop: int, given: bool) -> None:
    """Let cycles pass until ``stop``, or until a request is complete.

    With ``given`` the accesses of the processors are those of ``requests.access`` and the requests do not count.
    """
    nodes, addresses = s.layout[NODES], s.layout[ADDRESSES]
    kind, clock = requests.kind, requests.clock
    mask = (1 << s.layout[WIDTH]) - 1 if s.layout[WIDTH] < 64 else -1
    room = requests.events.shape[0]
    any_ready = False
    s.blocked[:] = 0
    s.stirred[:] = 0
    while clock[TIME] < stop and not any_ready:
        arrived = 0
        still = not given
        for i in range(nodes):
            access = lane = -1
            write = False
            word = 0
            if given:
                access = requests.access[i, 0]
                write = requests.access[i, 1] != 0
                word = requests.access[i, 2] & mask
                if access >= 0 and (s.closed[i, access] != 0 if write else s.waiting[i, access] == 0):
                    access = -1
            elif kind[i] == TRANSFER:
                if s.blocked[i]:
                    requests.cycles[i, requests.still[i]] += 1
                else:
                    still = False
                    access, lane = choose(requests, s.closed, s.waiting, i)
                    if access < 0:
                        s.blocked[i] = 1
                    else:
                        write = requests.lanes[i, lane, WRITE] != 0
                        if write:
                            word = word_of(requests, i, lane, mask)
            if s.queue_words[i * addresses] > 0:
                still = False
                if access < 0 or write:
                    drop(s, i)
            if access >= 0:
                if write:
                    send(s, i, word, access == LAST_REGISTER)
                else:
                    word = take(s, i, access)
                if not given:
                    arrived = settle(requests, i, access, lane, word, arrived)
            if s.some[i] != 0 and not s.asleep[i]:
                still = False
                route(s, i)
        if tick(s):
            still = False
        if not given:
            deliver(requests, arrived)
            for i in range(nodes):
                if s.stirred[i]:
                    still = False
                    s.stirred[i] = 0
                    s.blocked[i] = 0
                    if kind[i] > TIMER:
                        notice(requests, s.closed, s.waiting, i)
                any_ready |= requests.ready[i] != 0
        clock[TIME] += 1
        if still and not any_ready and clock[TIME] < stop:
            # Nothing moves, nor will before the programs do something.
            for i in range(nodes):
                if kind[i] == TRANSFER:
                    requests.cycles[i, requests.still[i]] += stop - clock[TIME]
            clock[TIME] = stop
        if room > 0 and clock[EVENTS] + nodes > room:
            break
