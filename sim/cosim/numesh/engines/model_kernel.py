"""The compiled loop of the cycle model: routers and transfers, as long as no program has to be resumed.

A node's outputs to its neighbours depend on its own registers only. So they are worked out for the next cycle at the
end of a node's turn and kept twice, for even and for odd cycles, and one turn per node and cycle is enough. In its turn all
pipelines first read and write, on the state at the start of the cycle; then each finds out what it does in the next one.

Most pipelines have nothing to do in most cycles. One with flags of 0, nothing to read next and no word in the buffer
of its next VFSM is passed over after a few loads. Arrays are looked at as flat ones with indices without a sign, for which
Numba has nothing to check.
"""

from __future__ import annotations

import numpy as np

from cosim.engines.model.accesses import choose, deliver, notice, settle, word_of
from cosim.engines.model.requests import EVENTS, TIME, TIMER, TRANSFER, WRITE, Requests
from numesh.codes import FIRST_READ, CommandKind, MoveType
from pointsman.kernels import kernel

from .model_tables import (
    BLOCKED,
    BUFFER,
    CAN_ACCEPT,
    CAUGHT,
    COMMAND_WORDS,
    DESTINATION,
    DESTINATION_KIND,
    ENTRIES,
    FILLED,
    FLAGS,
    FORKED,
    FOUND,
    FROM_BUFFER,
    HISTORY,
    IDLE_MASK,
    KIND_MASK,
    LOOKED,
    LOOKUP,
    LOWER_FILLED,
    MEMADR,
    NEAR,
    NEIGHBOUR,
    NODE_FIELDS,
    NOTHING,
    NULL,
    NUMBER_MASK,
    PLACE,
    PLACE_MASK,
    POINTER,
    POINTER_KIND,
    READING,
    RECENT,
    RECENT_LOOKS,
    REGISTER,
    REST,
    REST_KIND,
    RETRY,
    ROOM,
    SECOND_LEG,
    SOURCE,
    SOURCE_KIND,
    SPARE_ROWS,
    STAGE_FIELDS,
    STAMP,
    TAKES,
    TYPE_MASK,
    VALID,
    VFSM,
    WIDTH,
    WORD,
    WRITING,
    Routers,
    execute,
)

_, _BLIND, _COPY, _FORK = (int(kind) for kind in MoveType)
_SET = int(CommandKind.SET_POINTER)
_u = np.uint64


@kernel(forceinline=True)
def _refusable(annotation: int) -> bool:
    """A word may have to stay."""
    return annotation & TYPE_MASK != _BLIND and (annotation >> DESTINATION_KIND) & KIND_MASK < NULL


@kernel(forceinline=True)
def _uses_buffers(annotation: int) -> bool:
    """It takes words from another VFSM's buffer, or puts them there."""
    return (annotation >> SOURCE_KIND) & KIND_MASK == BUFFER or (annotation >> DESTINATION_KIND) & KIND_MASK == BUFFER


@kernel
def _too_soon(annotation: int, before: int, slots: int) -> bool:
    """A turn comes too soon after one of so many slots before that was not idle (`numesh.transfer`)."""
    has, had = (annotation >> VFSM) & NUMBER_MASK, (before >> VFSM) & NUMBER_MASK
    takes = puts = has
    took = put = had
    if (annotation >> SOURCE_KIND) & KIND_MASK == BUFFER:
        takes = (annotation >> SOURCE) & NUMBER_MASK
    if (annotation >> DESTINATION_KIND) & KIND_MASK == BUFFER:
        puts = (annotation >> DESTINATION) & NUMBER_MASK
    if (before >> SOURCE_KIND) & KIND_MASK == BUFFER:
        took = (before >> SOURCE) & NUMBER_MASK
    if (before >> DESTINATION_KIND) & KIND_MASK == BUFFER:
        put = (before >> DESTINATION) & NUMBER_MASK
    if has == had:
        if slots == 1:
            return _refusable(before) or takes != took or puts != put
        return slots == 3 and takes != has and takes == put
    if put in (has, takes) or takes == had:
        return True
    if slots == 3:
        return False
    if took in (has, takes) or puts in (had, put):
        return True
    return slots == 1 and puts == took


@kernel(error_model="numpy", _nrt=False)
def advance(routers: Routers, requests: Requests, stop: int, given: bool) -> None:
    """Let cycles pass until ``stop``, or until a transfer is complete or a register that is waited for is empty.

    With ``given`` the accesses of the processors are those of ``requests.access`` and the requests do not count.
    """
    nodes, vfsms, pipelines = routers.annotation.shape
    rows, row = routers.schedule.shape[1:]
    depth = rows - SPARE_ROWS
    links = routers.peer.shape[0]
    ports = links // nodes
    registers = routers.full.shape[1]
    places = 1 + pipelines
    schedule, annotation = routers.schedule.reshape(-1), routers.annotation.reshape(-1)
    stage, node = routers.stage.reshape(-1), routers.node.reshape(-1)
    buffer, buffer_full = routers.buffer.reshape(-1), routers.buffer_full.reshape(-1)
    register, full, held = routers.register.reshape(-1), routers.full.reshape(-1), routers.held.reshape(-1)
    offers, offered, accepts = routers.offers.reshape(-1), routers.offered.reshape(-1), routers.accepts.reshape(-1)
    peer = routers.peer
    emptied, gone, filled, fill = routers.scratch[0], routers.scratch[1], routers.scratch[2], routers.scratch[3]
    filler, found = routers.scratch[4], routers.scratch[5]
    news, froms, _stalled = routers.scratch[6], routers.scratch[7], routers.scratch[8]
    kind, lanes, clock = requests.kind, requests.lanes, requests.clock
    command_words = routers.layout[COMMAND_WORDS]
    word_mask = (1 << routers.layout[WIDTH]) - 1 if routers.layout[WIDTH] < 64 else -1
    room = requests.events.shape[0]
    time = clock[TIME]
    any_ready = False

    while time < stop and not any_ready:
        now = (links + 1) * (time & 1)
        then = links + 1 - now
        here = time * STAMP
        coming = here + STAMP
        fetched, entry, late_entry = (
            ENTRIES + time % RECENT,
            ENTRIES + (time - 2) % RECENT,
            ENTRIES + (time - 3) % RECENT,
        )
        look, look_far = LOOKED + time % RECENT_LOOKS, LOOKED + (time - 2) % RECENT_LOOKS
        look_next, look_last = LOOKED + (time - 3) % RECENT_LOOKS, LOOKED + (time - 5) % RECENT_LOOKS
        arrived = 0
        for i in range(nodes):
            # The processor: which register, if any, and whether it gets or leaves a word there.
            access = lane = -1
            access_write = False
            access_word = 0
            if given:
                access = requests.access[i, 0]
                access_write = requests.access[i, 1] != 0
                access_word = requests.access[i, 2]
            elif kind[_u(i)] == TRANSFER:
                access, lane = choose(requests, routers.full, routers.full, i)
                if access >= 0:
                    access_write = lanes[i, lane, WRITE] != 0
                    if access_write:
                        access_word = word_of(requests, i, lane, word_mask)
            writes_to = access if access_write else -1
            reads_from = -1 if access_write else access
            first_register = i * registers
            first_place = first_register * places
            read_place, reads_word = pipelines, False
            if reads_from >= 0:
                for k in range(pipelines, 0, -1):
                    if held[_u(first_place + k * registers + reads_from)] != 0:
                        read_place, reads_word = k, True
                access_word = register[_u(first_place + read_place * registers + reads_from)]
                routers.read_data[i] = access_word
            writes_word = writes_to >= 0

            # The next address of the schedule.
            n = i * NODE_FIELDS
            e, late = node[_u(n + entry)], node[_u(n + late_entry)]
            address = np.int64(schedule[_u(e + pipelines)])
            if node[_u(n + POINTER_KIND)] != 0:
                if node[_u(n + POINTER_KIND)] == _SET:
                    address = node[_u(n + POINTER)]
                else:
                    address = (address + node[_u(n + POINTER)]) & (depth - 1)
                node[_u(n + POINTER_KIND)] = node[_u(n + REST_KIND)]
                node[_u(n + POINTER)] = node[_u(n + REST)]
                node[_u(n + REST_KIND)] = 0

            takes = fills = finds = 0
            commands = False
            first_annotation = i * vfsms
            first_link = i * ports
            for p in range(pipelines):
                # Write and read stage, on the state at the start of the cycle.
                at = i * pipelines + p
                s = at * STAGE_FIELDS
                buffers = at * vfsms
                # The annotation memory is read, then written by commands.
                stage[_u(s + look)] = annotation[_u((first_annotation + schedule[_u(late + p)]) * pipelines + p)]
                commands |= routers.complete[i, p] != 0
                flags = stage[_u(s + FLAGS)]
                got = got_room = False
                got_word = got_annotation = got_from = 0
                was_full = -1
                if flags != 0:
                    valid = flags & VALID != 0
                    from_buffer = flags & FROM_BUFFER != 0
                    ok = False
                    to_kind = NOTHING
                    to = own_buffer = 0
                    word = stage[_u(s + WORD)]
                    writing = stage[_u(s + WRITING)]
                    if valid:
                        own_buffer = buffers + ((writing >> VFSM) & NUMBER_MASK)
                        to_kind = (writing >> DESTINATION_KIND) & KIND_MASK
                        to = (writing >> DESTINATION) & NUMBER_MASK
                        if to_kind == NEIGHBOUR:
                            link = first_link + to
                            ok = offers[_u(now + link)] == here + p and accepts[_u(now + peer[_u(link)])] >= here
                        elif to_kind >= NULL:
                            ok = True
                        else:
                            ok = flags & ROOM != 0
                        if ok and to_kind == REGISTER:
                            filler[_u(fills)] = p
                            filled[_u(fills)] = to
                            fill[_u(fills)] = word
                            fills += 1

                    cleared_buffer = -1
                    got_annotation = stage[_u(s + READING)]
                    from_kind = (got_annotation >> SOURCE_KIND) & KIND_MASK
                    source = (got_annotation >> SOURCE) & NUMBER_MASK
                    keep = got_annotation & TYPE_MASK == _COPY
                    if flags & RETRY:
                        got = True
                        got_word = buffer[_u(buffers + ((got_annotation >> VFSM) & NUMBER_MASK))]
                        got_from = FROM_BUFFER
                    elif flags & CAN_ACCEPT:
                        if from_kind == NEIGHBOUR:
                            link = first_link + source
                            if got_annotation & TYPE_MASK == _FORK:
                                if flags & FORKED and ok:
                                    got = True
                                    got_word = word
                            elif accepts[_u(now + link)] == here + p:
                                other = now + peer[_u(link)]
                                offer = offers[_u(other)] - here
                                if offer >= 0 and offer < BLOCKED:
                                    got = True
                                    got_word = offered[_u(other)]
                        elif from_kind == REGISTER:
                            if flags & FOUND:
                                found[_u(finds)] = source
                                finds += 1
                                if to_kind != REGISTER:
                                    got = True
                                    place = stage[_u(s + PLACE)] & PLACE_MASK
                                    got_word = stage[_u(s + CAUGHT)]
                                    if place == 0:
                                        got_word = register[_u(first_place + source)]
                                    if not keep:
                                        emptied[_u(takes)] = source
                                        gone[_u(takes)] = place
                                        takes += 1
                        elif from_kind == BUFFER:
                            if flags & TAKES:
                                got = True
                                got_word = buffer[_u(buffers + source)]
                                if not keep:
                                    cleared_buffer = source
                        elif from_kind == NULL:
                            got = True

                    if got:
                        # Is there room for it in the next cycle?
                        goes_to = (got_annotation >> DESTINATION) & NUMBER_MASK
                        goes_kind = (got_annotation >> DESTINATION_KIND) & KIND_MASK
                        if goes_kind == BUFFER:
                            got_room = buffer_full[_u(buffers + goes_to)] == 0
                        elif goes_kind == REGISTER:
                            looked = stage[_u(s + PLACE)]
                            told = reads_from == goes_to and looked & LOWER_FILLED == 0
                            got_room = not (
                                (looked & FILLED != 0 and not told) or (ok and to_kind == REGISTER and to == goes_to)
                            )
                        if (goes_kind in (BUFFER, REGISTER)) and got_annotation & TYPE_MASK == _BLIND:
                            got_room = True

                    # Buffers of this pipeline: clears, then sets.
                    if cleared_buffer >= 0:
                        buffer_full[_u(buffers + cleared_buffer)] = 0
                    if valid:
                        if from_buffer:
                            buffer_full[_u(own_buffer)] = 0
                        if not ok and _refusable(writing):
                            buffer[_u(own_buffer)] = word
                            buffer_full[_u(own_buffer)] = 1
                        if ok and to_kind == BUFFER:
                            if buffer_full[_u(buffers + to)] == 0:
                                was_full = to  # empty until the end of this cycle
                            buffer[_u(buffers + to)] = word
                            buffer_full[_u(buffers + to)] = 1
                        if ok and to_kind == MEMADR:
                            collected = routers.collected[i, p]
                            routers.partial[i, p, collected] = word
                            routers.collected[i, p] = collected + 1
                            commands |= collected + 1 == command_words
                    if got:
                        stage[_u(s + WORD)] = got_word
                        stage[_u(s + WRITING)] = got_annotation
                news[_u(p)] = (VALID | got_from | (ROOM if got_room else 0)) if got else 0
                froms[_u(p)] = was_full

            for p in range(pipelines):
                # What the next cycle's stages are going to do.
                at = i * pipelines + p
                s = at * STAGE_FIELDS
                buffers = at * vfsms
                reading = stage[_u(s + look_next)]
                far = stage[_u(s + look_far)]
                history = stage[_u(s + HISTORY)]
                retried = stage[_u(s + FLAGS)] & RETRY != 0
                just = stage[_u(s + READING)]
                flags = news[_u(p)]
                got = flags != 0
                vfsm = (reading >> VFSM) & NUMBER_MASK
                from_kind = (reading >> SOURCE_KIND) & KIND_MASK
                source = (reading >> SOURCE) & NUMBER_MASK
                fork = reading & TYPE_MASK == _FORK and from_kind == NEIGHBOUR
                goes_kind = (reading >> DESTINATION_KIND) & KIND_MASK
                to_kind = NOTHING
                to = 0
                if got:
                    to_kind = (just >> DESTINATION_KIND) & KIND_MASK
                    to = (just >> DESTINATION) & NUMBER_MASK
                looked = 0
                if goes_kind == REGISTER:
                    goes_to = (reading >> DESTINATION) & NUMBER_MASK
                    lower = False
                    for q in range(p):
                        lower |= held[_u(first_place + (1 + q) * registers + goes_to)] != 0
                    own = held[_u(first_place + (1 + p) * registers + goes_to)] != 0 and (
                        lower or reads_from != goes_to
                    )
                    for k in range(fills):
                        if filled[_u(k)] == goes_to:
                            own |= filler[_u(k)] == p
                            lower |= filler[_u(k)] < p
                    looked = (FILLED if own else 0) | (LOWER_FILLED if lower else 0)
                if fork and to_kind == NEIGHBOUR and to == source and time >= FIRST_READ - 1:
                    flags |= FORKED
                if history & 1 == 0:
                    if buffer_full[_u(buffers + vfsm)] != 0:
                        if not retried or (just >> VFSM) & NUMBER_MASK != vfsm:
                            flags |= RETRY
                    elif from_kind != NOTHING:
                        flags |= CAN_ACCEPT
                        if from_kind == NEIGHBOUR:
                            if not fork:
                                accepts[_u(then + first_link + source)] = coming + p
                        elif from_kind == BUFFER:
                            if buffer_full[_u(buffers + source)] != 0 and froms[_u(p)] != source:
                                flags |= TAKES
                        elif from_kind == REGISTER:
                            word_there = stage[_u(s + LOOKUP)]
                            if word_there != 0 or writes_to == source:
                                flags |= FOUND
                                for k in range(finds):
                                    if found[_u(k)] == source:
                                        flags &= ~FOUND
                                place = 0
                                for k in range(pipelines, 0, -1):
                                    if (word_there >> k) & 1:
                                        place = k
                                looked |= place
                                stage[_u(s + CAUGHT)] = register[_u(first_place + place * registers + source)]
                if to_kind == NEIGHBOUR:
                    # A fork's first leg waits for the second.
                    if flags & FORKED:
                        blocked = flags & CAN_ACCEPT == 0
                    else:
                        blocked = (just >> SECOND_LEG) & 1 != 0
                    link = then + first_link + to
                    offers[_u(link)] = coming + p + (BLOCKED if blocked else 0)
                    offered[_u(link)] = stage[_u(s + WORD)]
                stage[_u(s + FLAGS)] = flags
                stage[_u(s + READING)] = reading
                stage[_u(s + PLACE)] = looked

                # The turn after that: does it come too soon, and what is in its register?
                idle = time < FIRST_READ - 2
                near = ((history >> NEAR) << 1 | _uses_buffers(far)) & 15
                if near != 0:
                    last = stage[_u(s + look_last)]
                    idle |= history & 1 == 0 and _too_soon(far, reading, 1)
                    idle |= history & 2 == 0 and _too_soon(far, just, 2)
                    idle |= history & 4 == 0 and _too_soon(far, last, 3)
                else:
                    idle |= history & 1 == 0 and (far >> VFSM) & NUMBER_MASK == vfsm and _refusable(reading)
                from_kind = (far >> SOURCE_KIND) & KIND_MASK
                source = (far >> SOURCE) & NUMBER_MASK
                to_kind = (far >> DESTINATION_KIND) & KIND_MASK
                for q in range(p):
                    # A lower pipeline names its link or register.
                    lower_far = stage[_u((at - p + q) * STAGE_FIELDS + look_far)]
                    if (lower_far >> SOURCE_KIND) & KIND_MASK == from_kind and (
                        lower_far >> SOURCE
                    ) & NUMBER_MASK == source:
                        if from_kind == NEIGHBOUR:
                            idle |= far & TYPE_MASK != _FORK and lower_far & TYPE_MASK != _FORK
                        else:
                            idle |= from_kind == REGISTER
                    if to_kind == NEIGHBOUR and (lower_far >> DESTINATION_KIND) & KIND_MASK == NEIGHBOUR:
                        idle |= (lower_far >> DESTINATION) & NUMBER_MASK == (far >> DESTINATION) & NUMBER_MASK
                stage[_u(s + HISTORY)] = ((history << 1) | idle) & IDLE_MASK | near << NEAR
                if from_kind == REGISTER:
                    there = 0
                    for k in range(places):
                        if held[_u(first_place + k * registers + source)] != 0:
                            there |= 1 << k
                    for k in range(takes):
                        if emptied[_u(k)] == source:
                            there = 0
                    if writes_to == source:
                        there |= 1
                    stage[_u(s + LOOKUP)] = there
            if commands:
                for p in range(pipelines):
                    if routers.complete[i, p] != 0:
                        routers.complete[i, p] = 0
                        execute(routers, i, p, time)
                    if routers.collected[i, p] == command_words:
                        # Carried out in the next cycle.
                        routers.collected[i, p] = 0
                        routers.complete[i, p] = 1
                        for k in range(command_words):
                            routers.command[i, p, k] = routers.partial[i, p, k]

            # Interface registers: clears, then sets.
            if takes != 0 or fills != 0 or access >= 0:
                for k in range(takes):
                    held[_u(first_place + gone[_u(k)] * registers + emptied[_u(k)])] = 0
                if reads_word:
                    held[_u(first_place + read_place * registers + reads_from)] = 0
                for k in range(fills):
                    at = first_place + (1 + filler[_u(k)]) * registers + filled[_u(k)]
                    register[_u(at)] = fill[_u(k)]
                    held[_u(at)] = 1
                if writes_word:
                    register[_u(first_place + writes_to)] = access_word
                    held[_u(first_place + writes_to)] = 1
                for k in range(takes + fills + 1):
                    if k < takes:
                        touched = emptied[_u(k)]
                    elif k < takes + fills:
                        touched = filled[_u(k - takes)]
                    else:
                        touched = access
                    if touched >= 0:
                        some = np.int8(0)
                        for place in range(places):
                            some |= held[_u(first_place + place * registers + touched)]
                        full[_u(first_register + touched)] = some

            # The entry is looked at later, when commands of this cycle have been carried out.
            node[_u(n + fetched)] = (i * rows + address) * row

            if kind[_u(i)] > TIMER and not given:
                if access >= 0:
                    arrived = settle(requests, i, access, lane, access_word, arrived)
                notice(requests, routers.full, routers.full, i)
                any_ready |= requests.ready[i] != 0
        deliver(requests, arrived)
        time += 1
        clock[TIME] = time
        if room > 0 and clock[EVENTS] + nodes > room:
            break
