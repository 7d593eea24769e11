"""The compiled loop of the cycle model: routers and transfers, as long as no program has to be resumed.

All numbers are int64. Words of data are moved as bit patterns, so that words of 64 bits fit as well. What the state
arrays hold is said in `Routers` and `Requests`; the fields of their last axes are the constants below.

A node's outputs to its neighbours depend on its own registers only. So they are worked out for the next cycle at
the end of a node's turn and kept twice, for even and for odd cycles, and one turn per node and cycle is enough.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from numesh.codes import FIRST_READ, CommandKind, MoveType

from .model_words import load_word, store_word

# Kinds of places, in decoded annotations.
NOTHING, NEIGHBOUR, REGISTER, BUFFER, NULL, MEMADR = range(6)

# A decoded annotation: type, kind and number of source and destination, whether a second leg of a fork follows, then the
# packed word it comes from.
TYPE_MASK = 3
STAMP = 16
SOURCE_KIND, SOURCE, DESTINATION_KIND, DESTINATION, SECOND_LEG, PACKED = 2, 5, 15, 18, 28, 29
KIND_MASK, NUMBER_MASK = 7, 1023

# Fields of `Routers.stage`, per pipeline: entry on its way, entry, decode, look-up, read and write stage, command assembler.
FETCHED_VFSM, ENTRY_VFSM, DECODE_VFSM, DECODE_ANNOTATION, NEXT_VFSM, NEXT_ANNOTATION = range(6)
READ_VFSM, READ_ANNOTATION, READ_FLAGS, VALID, WORD, VFSM, ANNOTATION, FROM_BUFFER, COLLECTED = range(6, 15)
STAGE_FIELDS = 15
RETRY, CAN_ACCEPT, FORKED = 1, 2, 4

# Fields of `Routers.node`.
# Address two slots on in the entry on its way and in the entry that is out, the pointer command that acts on the next
# address, what it says of the one after (its kind is 0 when it has been used up), word that the processor read.
FETCHED_AHEAD, AHEAD, POINTER_KIND, POINTER, REST_KIND, REST, READ_DATA = range(7)
NODE_FIELDS = 7

# Fields of `Routers.layout`: widths in bits, and words of a command.
WIDTH, POINTER_BITS, VFSM_BITS, PLACE_BITS, COMMAND_WORDS = range(5)
LAYOUT_FIELDS = 5

# Fields of `Requests.lanes`.
WRITE, WORDS, MOVED, TURN, FIRST, REGISTERS, ADDRESS, BYTES, AFTER, AFTER_ALL, PAIR, WINDOW = range(12)
LANE_FIELDS = 12

# Kinds of requests.
IDLE, TIMER, EMPTY, TRANSFER, ATTEND = range(5)

# Fields of `Requests.clock`.
TIME, LAST_ACCESS, EVENTS = range(3)

_MOVE, _BLIND, _COPY, _FORK = (int(kind) for kind in MoveType)
_SCHEDULE, _SET, _ADD = int(CommandKind.SCHEDULE), int(CommandKind.SET_POINTER), int(CommandKind.ADD_POINTER)
_ANNOTATION = int(CommandKind.ANNOTATION)
_CATEGORY_WRITE, _CATEGORY_READ = 1, 2


class Routers(NamedTuple):
    """State of all routers: n nodes, P pipelines, V VFSMs, D schedule entries, R registers, N ports."""

    schedule: np.ndarray
    """n × D × (P + 1): VFSM of each pipeline, then the address two slots on."""
    annotation: np.ndarray
    """n × P × V, decoded."""
    stage: np.ndarray
    """n × P × STAGE_FIELDS."""
    node: np.ndarray
    """n × NODE_FIELDS."""
    buffer: np.ndarray
    """n × P × V words."""
    buffer_full: np.ndarray
    """n × P × V, of int8."""
    register: np.ndarray
    """n × R words."""
    full: np.ndarray
    """n × R, of int8."""
    partial: np.ndarray
    """n × P × words of a command, collected so far."""
    offers: np.ndarray
    """2 × (n·N + 1): the pipeline that offers a word at a port and, times `STAMP`, the cycle in which it does so; by
    parity of the cycle. The last column belongs to ports that are not connected and stays -1, here and in
    ``accepts``."""
    offered: np.ndarray
    """2 × (n·N + 1) words."""
    accepts: np.ndarray
    """2 × (n·N + 1): as ``offers``, of the pipeline that accepts a word at a port."""
    peer: np.ndarray
    """n·N: the port at the other end of the link."""
    places: np.ndarray
    """Kind + 8 × number of each source or destination code."""
    layout: np.ndarray
    """LAYOUT_FIELDS."""
    scratch: np.ndarray
    """4 × P: register taken, register to clear, register filled, word filled. All -1 between nodes but the words."""
    arrivals: np.ndarray
    """n × 3: address, bytes and word of what processors read in this cycle."""


class Requests(NamedTuple):
    """What the processors wait for."""

    kind: np.ndarray
    """n: IDLE, TIMER, EMPTY, TRANSFER or ATTEND (only watches registers)."""
    register: np.ndarray
    """n: register of an EMPTY."""
    category: np.ndarray
    """n: category of a TRANSFER, -1 if it goes by direction."""
    open_words: np.ndarray
    """n: words that a TRANSFER has yet to move."""
    one_lane: np.ndarray
    """n: whether a TRANSFER is complete when one of its lanes is."""
    stalled: np.ndarray
    """n: cycle since which a TRANSFER has not moved."""
    lane_count: np.ndarray
    """n."""
    lanes: np.ndarray
    """n × lanes × LANE_FIELDS."""
    turns: np.ndarray
    """n × registers of all lanes of the node."""
    watch_count: np.ndarray
    """n: registers that are watched."""
    watch: np.ndarray
    """n × registers: 2 × register, plus 1 if it calls when it is full."""
    ready: np.ndarray
    """n, of int8: the request is complete."""
    access: np.ndarray
    """n × 3: for a single cycle, register that is accessed or -1, whether written, word."""
    cycles: np.ndarray
    """n × categories."""
    accesses: np.ndarray
    """n × 2: written, read."""
    clock: np.ndarray
    """TIME, LAST_ACCESS, number of EVENTS."""
    events: np.ndarray
    """room × 5: time, node, register, written, word. Without room nothing is recorded."""


@njit(cache=True, forceinline=True)
def _field(words: np.ndarray, width: int, offset: int, bits: int) -> int:
    """A field of a command that may reach over several words."""
    value = 0
    done = 0
    while done < bits:
        at = (offset + done) // width
        shift = (offset + done) % width
        part = min(width - shift, bits - done)
        value |= ((words[at] >> shift) & ((1 << part) - 1)) << done
        done += part
    return value


@njit(cache=True)
def _execute(routers: Routers, i: int, p: int) -> None:
    """Carry out the command that pipeline ``p`` of node ``i`` has collected."""
    words = routers.partial[i, p]
    layout = routers.layout
    width = layout[WIDTH]
    kind = _field(words, width, 0, 3)
    if kind == _ANNOTATION:
        place_bits = layout[PLACE_BITS]
        vfsm = _field(words, width, 3, layout[VFSM_BITS])
        packed = _field(words, width, 3 + layout[VFSM_BITS], 3 + 2 * place_bits)
        routers.annotation[i, p, vfsm] = decode(packed, place_bits, routers.places)
    elif p == 0 and kind == _SCHEDULE:
        offset = 3 + layout[POINTER_BITS]
        address = _field(words, width, 3, layout[POINTER_BITS])
        for q in range(routers.stage.shape[1]):
            routers.schedule[i, address, q] = _field(words, width, offset, layout[VFSM_BITS])
            offset += layout[VFSM_BITS]
        routers.schedule[i, address, routers.stage.shape[1]] = _field(words, width, offset, layout[POINTER_BITS])
    elif p == 0 and kind in (_SET, _ADD):
        routers.node[i, POINTER_KIND] = routers.node[i, REST_KIND] = kind
        routers.node[i, POINTER] = routers.node[i, REST] = _field(words, width, 3, layout[POINTER_BITS])
        if kind == _SET:
            routers.node[i, REST] = _field(words, width, 3 + layout[POINTER_BITS], layout[POINTER_BITS])


@njit(cache=True)
def decode(packed: int, place_bits: int, places: np.ndarray) -> int:
    """A packed annotation with its codes told apart."""
    source = places[(packed >> 2) & ((1 << place_bits) - 1)]
    if source == MEMADR:
        source = NOTHING
    destination = places[(packed >> (2 + place_bits)) & ((1 << place_bits) - 1)]
    return (
        (packed & TYPE_MASK)
        | ((source & KIND_MASK) << SOURCE_KIND)
        | ((source >> 3) << SOURCE)
        | ((destination & KIND_MASK) << DESTINATION_KIND)
        | ((destination >> 3) << DESTINATION)
        | ((packed >> (2 + 2 * place_bits)) << SECOND_LEG)
        | (packed << PACKED)
    )


@njit(cache=True, error_model="numpy")
def advance(routers: Routers, requests: Requests, stop: int, given: bool) -> None:
    """Let cycles pass until ``stop``, or until a transfer is complete or a register that is waited for is empty.

    With ``given`` the accesses of the processors are those of ``requests.access`` and the requests do not count.
    """
    schedule, annotation, stage, node = routers.schedule, routers.annotation, routers.stage, routers.node
    buffer, buffer_full, register, full = routers.buffer, routers.buffer_full, routers.register, routers.full
    offers, offered, accepts, peer = routers.offers, routers.offered, routers.accepts, routers.peer
    scratch, arrivals = routers.scratch, routers.arrivals
    taken, cleared, filled, fill = scratch[0], scratch[1], scratch[2], scratch[3]
    kind, ready, lanes, turns, clock = (
        requests.kind,
        requests.ready,
        requests.lanes,
        requests.turns,
        requests.clock,
    )
    nodes, pipelines, _ = stage.shape
    depth = schedule.shape[1]
    ports = peer.shape[0] // nodes
    command_words = routers.layout[COMMAND_WORDS]
    word_mask = (1 << routers.layout[WIDTH]) - 1 if routers.layout[WIDTH] < 64 else -1
    room = requests.events.shape[0]
    time = clock[TIME]
    any_ready = False

    while time < stop and not any_ready:
        now = time & 1
        then = 1 - now
        here = time * STAMP
        arrived = 0
        for i in range(nodes):
            # The processor: which register, if any.
            access = -1
            access_write = False
            access_word = 0
            lane = 0
            if given:
                access = requests.access[i, 0]
                access_write = requests.access[i, 1] != 0
                access_word = requests.access[i, 2]
                if access < 0 or (full[i, access] != 0) == access_write:
                    if access >= 0 and not access_write:
                        node[i, READ_DATA] = register[i, access]
                    access = -1
                    access_write = False
            elif kind[i] == TRANSFER:
                first = -1
                for k in range(requests.lane_count[i]):
                    moved = lanes[i, k, MOVED]
                    if moved == lanes[i, k, WORDS]:
                        continue
                    if first < 0:
                        first = k
                    after = lanes[i, k, AFTER]
                    if after >= 0:
                        need = lanes[i, after, WORDS] if lanes[i, k, AFTER_ALL] else moved + 1
                        if lanes[i, after, MOVED] < need:
                            continue
                    pair = lanes[i, k, PAIR]
                    if pair >= 0 and moved - lanes[i, pair, MOVED] >= lanes[i, k, WINDOW]:
                        continue
                    r = turns[i, lanes[i, k, FIRST] + lanes[i, k, TURN]]
                    if (full[i, r] != 0) != (lanes[i, k, WRITE] != 0):
                        access = r
                        lane = k
                        break
                counted = first if access < 0 else lane
                category = requests.category[i]
                if category < 0:
                    category = _CATEGORY_WRITE if lanes[i, counted, WRITE] else _CATEGORY_READ
                requests.cycles[i, category] += 1
                if access >= 0:
                    access_write = lanes[i, lane, WRITE] != 0
                    if access_write and lanes[i, lane, ADDRESS] != 0:
                        access_word = word_mask & load_word(
                            lanes[i, lane, ADDRESS] + lanes[i, lane, MOVED] * lanes[i, lane, BYTES],
                            lanes[i, lane, BYTES] == 4,
                        )

            # Write and read stages of each pipeline, on the state at the start of the cycle.
            touched = False
            for p in range(pipelines):
                valid = stage[i, p, VALID] != 0
                flags = stage[i, p, READ_FLAGS]
                if not valid and flags == 0:
                    continue
                ok = False
                writing = stage[i, p, ANNOTATION]
                to_kind = (writing >> DESTINATION_KIND) & KIND_MASK
                word = stage[i, p, WORD]
                if valid:
                    to = (writing >> DESTINATION) & NUMBER_MASK
                    blind = writing & TYPE_MASK == _BLIND
                    if to_kind == NEIGHBOUR:
                        link = i * ports + to
                        ok = offers[now, link] == here + p and accepts[now, peer[link]] >= here
                    elif to_kind == REGISTER:
                        ok = (blind or full[i, to] == 0) and not (access_write and access == to)
                        for q in range(p):
                            if filled[q] == to:
                                ok = False
                        if ok:
                            filled[p] = to
                            fill[p] = word
                            touched = True
                    elif to_kind == BUFFER:
                        ok = blind or buffer_full[i, p, to] == 0
                    else:
                        ok = to_kind >= NULL

                got = False
                got_word = 0
                cleared_buffer = -1
                if flags & RETRY:
                    got = True
                    got_word = buffer[i, p, stage[i, p, READ_VFSM]]
                elif flags & CAN_ACCEPT:
                    reading = stage[i, p, READ_ANNOTATION]
                    from_kind = (reading >> SOURCE_KIND) & KIND_MASK
                    source = (reading >> SOURCE) & NUMBER_MASK
                    keep = reading & TYPE_MASK == _COPY
                    if from_kind == NEIGHBOUR:
                        if reading & TYPE_MASK == _FORK:
                            if flags & FORKED and ok:
                                got = True
                                got_word = word
                        elif accepts[now, i * ports + source] == here + p:
                            other = peer[i * ports + source]
                            if offers[now, other] >= here:
                                got = True
                                got_word = offered[now, other]
                    elif from_kind == REGISTER:
                        got = full[i, source] != 0 and (access_write or access != source)
                        if valid and to_kind == REGISTER:
                            got = False
                        for q in range(p):
                            if taken[q] == source:
                                got = False
                        if got:
                            got_word = register[i, source]
                            taken[p] = source
                            touched = True
                            if not keep:
                                cleared[p] = source
                    elif from_kind == BUFFER:
                        got = buffer_full[i, p, source] != 0
                        if valid and stage[i, p, FROM_BUFFER] != 0 and stage[i, p, VFSM] == source:
                            got = False
                        if got:
                            got_word = buffer[i, p, source]
                            if not keep:
                                cleared_buffer = source
                    elif from_kind == NULL:
                        got = True

                # Buffers of this pipeline: clears, then sets.
                if cleared_buffer >= 0:
                    buffer_full[i, p, cleared_buffer] = 0
                if valid:
                    vfsm = stage[i, p, VFSM]
                    if stage[i, p, FROM_BUFFER] != 0:
                        if ok or blind:
                            buffer_full[i, p, vfsm] = 0
                    elif not ok and not blind:
                        buffer[i, p, vfsm] = word
                        buffer_full[i, p, vfsm] = 1
                    if ok and to_kind == BUFFER:
                        buffer[i, p, to] = word
                        buffer_full[i, p, to] = 1
                    if ok and to_kind == MEMADR:
                        routers.partial[i, p, stage[i, p, COLLECTED]] = word
                        # Carried out below, when the memories have been read.
                        stage[i, p, COLLECTED] += 1

                stage[i, p, VALID] = got
                if got:
                    stage[i, p, WORD] = got_word
                    stage[i, p, VFSM] = stage[i, p, READ_VFSM]
                    stage[i, p, ANNOTATION] = stage[i, p, READ_ANNOTATION]
                    stage[i, p, FROM_BUFFER] = flags & RETRY

            # Interface registers: clears, then sets.
            if access >= 0 and not access_write:
                access_word = register[i, access]
                node[i, READ_DATA] = access_word
                full[i, access] = 0
            if touched:
                for p in range(pipelines):
                    if cleared[p] >= 0:
                        full[i, cleared[p]] = 0
                for p in range(pipelines):
                    if filled[p] >= 0:
                        register[i, filled[p]] = fill[p]
                        full[i, filled[p]] = 1
                    taken[p] = -1
                    cleared[p] = -1
                    filled[p] = -1
            if access_write:
                register[i, access] = access_word
                full[i, access] = 1

            # The annotation memory is read, then written by commands; the schedule memory the other way round.
            if node[i, POINTER_KIND] == 0:
                address = node[i, AHEAD]
            elif node[i, POINTER_KIND] == _SET:
                address = node[i, POINTER]
            else:
                address = (node[i, AHEAD] + node[i, POINTER]) & (depth - 1)
            node[i, POINTER_KIND] = node[i, REST_KIND]
            node[i, POINTER] = node[i, REST]
            node[i, REST_KIND] = 0
            # What the next cycle's stages are going to do; lower pipelines last, they take precedence at a port.
            for p in range(pipelines - 1, -1, -1):
                vfsm = stage[i, p, NEXT_VFSM]
                reading = stage[i, p, NEXT_ANNOTATION]
                stage[i, p, READ_VFSM] = vfsm
                stage[i, p, READ_ANNOTATION] = reading
                stage[i, p, NEXT_VFSM] = stage[i, p, DECODE_VFSM]
                stage[i, p, NEXT_ANNOTATION] = stage[i, p, DECODE_ANNOTATION]
                stage[i, p, DECODE_VFSM] = stage[i, p, ENTRY_VFSM]
                stage[i, p, DECODE_ANNOTATION] = annotation[i, p, stage[i, p, ENTRY_VFSM]]

                valid = stage[i, p, VALID] != 0
                writing = stage[i, p, ANNOTATION]
                to_kind = (writing >> DESTINATION_KIND) & KIND_MASK
                to = (writing >> DESTINATION) & NUMBER_MASK
                from_kind = (reading >> SOURCE_KIND) & KIND_MASK
                source = (reading >> SOURCE) & NUMBER_MASK
                fork = reading & TYPE_MASK == _FORK
                flags = 0
                if time >= FIRST_READ - 1:
                    # The same VFSM is in the write stage: its word may yet be refused, or is leaving its buffer.
                    own = valid and stage[i, p, VFSM] == vfsm
                    if to_kind >= NULL or writing & TYPE_MASK == _BLIND:
                        own = own and stage[i, p, FROM_BUFFER] != 0
                    if buffer_full[i, p, vfsm] != 0:
                        if not own:
                            flags = RETRY
                    elif not own and not (valid and to_kind == BUFFER and to == vfsm) and from_kind != NOTHING:
                        flags = CAN_ACCEPT
                    if fork and valid and from_kind == NEIGHBOUR and to_kind == NEIGHBOUR and to == source:
                        flags |= FORKED
                    if flags & CAN_ACCEPT and from_kind == NEIGHBOUR and not fork:
                        accepts[then, i * ports + source] = here + STAMP + p
                if valid and to_kind == NEIGHBOUR:
                    # A fork's first leg waits for the second, and keeps the link from other pipelines meanwhile.
                    if flags & FORKED:
                        blocked = flags & CAN_ACCEPT == 0
                    else:
                        blocked = (writing >> SECOND_LEG) & 1 != 0
                    offers[then, i * ports + to] = -1 if blocked else here + STAMP + p
                    offered[then, i * ports + to] = stage[i, p, WORD]
                stage[i, p, READ_FLAGS] = flags
                if stage[i, p, COLLECTED] == command_words:
                    stage[i, p, COLLECTED] = 0
                    _execute(routers, i, p)
            node[i, AHEAD] = node[i, FETCHED_AHEAD]
            node[i, FETCHED_AHEAD] = schedule[i, address, pipelines]
            for p in range(pipelines):
                stage[i, p, ENTRY_VFSM] = stage[i, p, FETCHED_VFSM]
                stage[i, p, FETCHED_VFSM] = schedule[i, address, p]

            # The processor: count the access, and see whether its request is complete.
            if given:
                continue
            if access >= 0:
                moved = lanes[i, lane, MOVED]
                if not access_write and lanes[i, lane, ADDRESS] != 0:
                    # Stored when all nodes have had their turn: programs may share arrays.
                    arrivals[arrived, 0] = lanes[i, lane, ADDRESS] + moved * lanes[i, lane, BYTES]
                    arrivals[arrived, 1] = lanes[i, lane, BYTES]
                    arrivals[arrived, 2] = access_word
                    arrived += 1
                lanes[i, lane, MOVED] = moved + 1
                turn = lanes[i, lane, TURN] + 1
                lanes[i, lane, TURN] = turn if turn < lanes[i, lane, REGISTERS] else 0
                requests.accesses[i, 0 if access_write else 1] += 1
                requests.stalled[i] = time + 1
                clock[LAST_ACCESS] = time + 1
                if room > 0:
                    event = requests.events[clock[EVENTS]]
                    event[0], event[1], event[2], event[3] = time, i, access, access_write
                    event[4] = access_word
                    clock[EVENTS] += 1
                requests.open_words[i] -= 1
                if requests.open_words[i] == 0 or (requests.one_lane[i] != 0 and moved + 1 == lanes[i, lane, WORDS]):
                    ready[i] = 1
                    any_ready = True
            elif kind[i] == EMPTY and full[i, requests.register[i]] == 0:
                ready[i] = 1
                any_ready = True
            for k in range(requests.watch_count[i]):
                watched = requests.watch[i, k]
                if (full[i, watched >> 1] != 0) == (watched & 1 != 0):
                    ready[i] = 1
                    any_ready = True
        for k in range(arrived):
            store_word(arrivals[k, 0], arrivals[k, 1] == 4, arrivals[k, 2])
        time += 1
        if room > 0 and clock[EVENTS] + nodes > room:
            break
    clock[TIME] = time
