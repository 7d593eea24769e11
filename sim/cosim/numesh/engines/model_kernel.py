"""The compiled loop of the cycle model: routers and transfers, as long as no program has to be resumed.

A node's outputs to its neighbours depend on its own registers only. So they are worked out for the next cycle at the
end of a node's turn and kept twice, for even and for odd cycles, and one turn per node and cycle is enough.

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
    COMMAND_WORDS,
    DESTINATION,
    DESTINATION_KIND,
    ENTRIES,
    FLAGS,
    FORKED,
    FROM_BUFFER,
    KIND_MASK,
    LOOKED,
    MEMADR,
    NEIGHBOUR,
    NODE_FIELDS,
    NOTHING,
    NULL,
    NUMBER_MASK,
    POINTER,
    POINTER_KIND,
    READING,
    RECENT,
    REGISTER,
    REST,
    REST_KIND,
    RETRY,
    SECOND_LEG,
    SOURCE,
    SOURCE_KIND,
    SPARE_ROWS,
    STAGE_FIELDS,
    STAMP,
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
    schedule, annotation = routers.schedule.reshape(-1), routers.annotation.reshape(-1)
    stage, node = routers.stage.reshape(-1), routers.node.reshape(-1)
    buffer, buffer_full = routers.buffer.reshape(-1), routers.buffer_full.reshape(-1)
    register, full = routers.register.reshape(-1), routers.full.reshape(-1)
    offers, offered, accepts = routers.offers.reshape(-1), routers.offered.reshape(-1), routers.accepts.reshape(-1)
    peer = routers.peer
    taken, gone, filled, fill = routers.scratch[0], routers.scratch[1], routers.scratch[2], routers.scratch[3]
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
        fetched, entry = ENTRIES + time % RECENT, ENTRIES + (time - 2) % RECENT
        look, look_read = LOOKED + time % RECENT, LOOKED + (time - 2) % RECENT
        arrived = 0
        for i in range(nodes):
            # The processor: which register, if any.
            access = lane = -1
            access_write = False
            access_word = 0
            if given:
                access = requests.access[i, 0]
                access_write = requests.access[i, 1] != 0
                access_word = requests.access[i, 2]
                if access < 0 or (routers.full[i, access] != 0) == access_write:
                    if access >= 0 and not access_write:
                        routers.read_data[i] = routers.register[i, access]
                    access = -1
                    access_write = False
            elif kind[_u(i)] == TRANSFER:
                access, lane = choose(requests, routers.full, routers.full, i)
                if access >= 0:
                    access_write = lanes[i, lane, WRITE] != 0
                    if access_write:
                        access_word = word_of(requests, i, lane, word_mask)

            # The next address of the schedule.
            n = i * NODE_FIELDS
            e = node[_u(n + entry)]
            address = np.int64(schedule[_u(e + pipelines)])
            if node[_u(n + POINTER_KIND)] != 0:
                if node[_u(n + POINTER_KIND)] == _SET:
                    address = node[_u(n + POINTER)]
                else:
                    address = (address + node[_u(n + POINTER)]) & (depth - 1)
                node[_u(n + POINTER_KIND)] = node[_u(n + REST_KIND)]
                node[_u(n + POINTER)] = node[_u(n + REST)]
                node[_u(n + REST_KIND)] = 0

            takes = fills = 0
            commands = False
            first_annotation = i * vfsms
            first_link = i * ports
            first_register = i * registers
            for p in range(pipelines):
                at = i * pipelines + p
                s = at * STAGE_FIELDS
                buffers = at * vfsms
                # The annotation memory is read, then written by commands.
                stage[_u(s + look)] = annotation[_u((first_annotation + schedule[_u(e + p)]) * pipelines + p)]
                reading = stage[_u(s + look_read)]
                vfsm = (reading >> VFSM) & NUMBER_MASK
                flags = stage[_u(s + FLAGS)]
                got = False
                got_word = got_annotation = got_from = 0
                if flags != 0:
                    # Write and read stage, on the state at the start of the cycle.
                    valid = flags & VALID != 0
                    from_buffer = flags & FROM_BUFFER != 0
                    ok = False
                    blind = False
                    to_kind = NOTHING
                    to = own_buffer = 0
                    word = stage[_u(s + WORD)]
                    if valid:
                        writing = stage[_u(s + WRITING)]
                        own_buffer = buffers + ((writing >> VFSM) & NUMBER_MASK)
                        to_kind = (writing >> DESTINATION_KIND) & KIND_MASK
                        to = (writing >> DESTINATION) & NUMBER_MASK
                        blind = writing & TYPE_MASK == _BLIND
                        if to_kind == NEIGHBOUR:
                            link = first_link + to
                            ok = offers[_u(now + link)] == here + p and accepts[_u(now + peer[_u(link)])] >= here
                        elif to_kind == REGISTER:
                            ok = (blind or full[_u(first_register + to)] == 0) and not (access_write and access == to)
                            for k in range(fills):
                                if filled[_u(k)] == to:
                                    ok = False
                            if ok:
                                filled[_u(fills)] = to
                                fill[_u(fills)] = word
                                fills += 1
                        elif to_kind == BUFFER:
                            ok = blind or buffer_full[_u(buffers + to)] == 0
                        else:
                            ok = to_kind >= NULL

                    cleared_buffer = -1
                    got_annotation = stage[_u(s + READING)]
                    if flags & RETRY:
                        got = True
                        got_word = buffer[_u(buffers + ((got_annotation >> VFSM) & NUMBER_MASK))]
                        got_from = FROM_BUFFER
                    elif flags & CAN_ACCEPT:
                        from_kind = (got_annotation >> SOURCE_KIND) & KIND_MASK
                        source = (got_annotation >> SOURCE) & NUMBER_MASK
                        keep = got_annotation & TYPE_MASK == _COPY
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
                            got = full[_u(first_register + source)] != 0 and (access_write or access != source)
                            if to_kind == REGISTER:
                                got = False
                            for k in range(takes):
                                if taken[_u(k)] == source:
                                    got = False
                            if got:
                                got_word = register[_u(first_register + source)]
                                taken[_u(takes)] = source
                                gone[_u(takes)] = not keep
                                takes += 1
                        elif from_kind == BUFFER:
                            got = buffer_full[_u(buffers + source)] != 0
                            if valid and from_buffer and own_buffer == buffers + source:
                                got = False
                            if got:
                                got_word = buffer[_u(buffers + source)]
                                if not keep:
                                    cleared_buffer = source
                        elif from_kind == NULL:
                            got = True

                    # Buffers of this pipeline: clears, then sets.
                    if cleared_buffer >= 0:
                        buffer_full[_u(buffers + cleared_buffer)] = 0
                    if valid:
                        if from_buffer:
                            if ok or blind:
                                buffer_full[_u(own_buffer)] = 0
                        elif not ok and not blind:
                            buffer[_u(own_buffer)] = word
                            buffer_full[_u(own_buffer)] = 1
                        if ok and to_kind == BUFFER:
                            buffer[_u(buffers + to)] = word
                            buffer_full[_u(buffers + to)] = 1
                        if ok and to_kind == MEMADR:
                            collected = routers.collected[i, p]
                            routers.partial[i, p, collected] = word
                            routers.collected[i, p] = collected + 1
                            commands |= collected + 1 == command_words
                    stage[_u(s + FLAGS)] = 0
                    if got:
                        stage[_u(s + WORD)] = got_word
                        stage[_u(s + WRITING)] = got_annotation

                # What the next cycle's stages are going to do; lower pipelines take precedence at a port.
                from_kind = (reading >> SOURCE_KIND) & KIND_MASK
                held = buffer_full[_u(buffers + vfsm)] != 0
                if got or held or from_kind != NOTHING:
                    flags = VALID | got_from if got else 0
                    source = (reading >> SOURCE) & NUMBER_MASK
                    fork = reading & TYPE_MASK == _FORK
                    to_kind = NOTHING
                    to = 0
                    own = into = False
                    if got:
                        to_kind = (got_annotation >> DESTINATION_KIND) & KIND_MASK
                        to = (got_annotation >> DESTINATION) & NUMBER_MASK
                        # The same VFSM is in the write stage: its word may yet be refused, or is leaving its buffer.
                        own = (got_annotation >> VFSM) & NUMBER_MASK == vfsm
                        if to_kind >= NULL or got_annotation & TYPE_MASK == _BLIND:
                            own = own and got_from != 0
                        into = to_kind == BUFFER and to == vfsm
                    if time >= FIRST_READ - 1:
                        if held:
                            if not own:
                                flags |= RETRY
                        elif not own and not into and from_kind != NOTHING:
                            flags |= CAN_ACCEPT
                        if fork and from_kind == NEIGHBOUR and to_kind == NEIGHBOUR and to == source:
                            flags |= FORKED
                        if flags & CAN_ACCEPT and from_kind == NEIGHBOUR and not fork:
                            link = then + first_link + source
                            if accepts[_u(link)] < coming:
                                accepts[_u(link)] = coming + p
                    if to_kind == NEIGHBOUR:
                        link = then + first_link + to
                        if offers[_u(link)] < coming:
                            # A fork's first leg waits for the second, and keeps the link from other pipelines meanwhile.
                            if flags & FORKED:
                                blocked = flags & CAN_ACCEPT == 0
                            else:
                                blocked = (got_annotation >> SECOND_LEG) & 1 != 0
                            offers[_u(link)] = coming + p + (BLOCKED if blocked else 0)
                            offered[_u(link)] = got_word
                    stage[_u(s + FLAGS)] = flags
                    stage[_u(s + READING)] = reading
            if commands:
                for p in range(pipelines):
                    if routers.collected[i, p] == command_words:
                        routers.collected[i, p] = 0
                        execute(routers, i, p, time)

            # Interface registers: clears, then sets.
            if access >= 0 and not access_write:
                access_word = routers.register[i, access]
                routers.read_data[i] = access_word
                full[_u(first_register + access)] = 0
            for k in range(takes):
                if gone[_u(k)] != 0:
                    full[_u(first_register + taken[_u(k)])] = 0
            for k in range(fills):
                register[_u(first_register + filled[_u(k)])] = fill[_u(k)]
                full[_u(first_register + filled[_u(k)])] = 1
            if access_write:
                register[_u(first_register + access)] = access_word
                full[_u(first_register + access)] = 1

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
