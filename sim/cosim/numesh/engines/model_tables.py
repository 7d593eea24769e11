"""What the cycle model keeps: state of routers, and the commands that change memories.

All numbers are int64 unless said otherwise. Words of data are moved as bit patterns, so that words of 64 bits fit as well.
The fields of the arrays' last axes are the constants below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from numesh.codes import CommandKind, MoveType
from pointsman.kernels import kernel

# Kinds of places, in decoded annotations.
NOTHING, NEIGHBOUR, REGISTER, BUFFER, NULL, MEMADR = range(6)

# A decoded annotation: type, kind and number of source and destination, whether a second leg of a fork follows, the VFSM that
# has it, then the packed word it comes from. In the largest shape that is 64 bits.
TYPE_MASK = 3
STAMP, BLOCKED = 32, 16
SOURCE_KIND, SOURCE, DESTINATION_KIND, DESTINATION, SECOND_LEG, VFSM, PACKED = 2, 5, 15, 18, 28, 29, 39
KIND_MASK, NUMBER_MASK, PACKED_MASK = 7, 1023, (1 << 25) - 1

# Fields of `Routers.stage`, per pipeline, two lines of the cache in all: what read and write stage are to do, 0 if nothing;
# annotation in the read stage; word and annotation in the write stage; which turns are idle, the next one, that in the read stage
# and that in the write stage, and which of the last four use buffers; places of the register of the turn after the next one that
# have a word; place of that in the read stage, and what its destination is like; word of this place; annotations looked up at the
# ends of the last cycles, that of cycle t in `LOOKED` + t % 8, in the read stage four cycles later.
FLAGS, READING, WORD, WRITING, HISTORY, LOOKUP, PLACE, CAUGHT, LOOKED = range(9)
RECENT_LOOKS = 8
STAGE_FIELDS = 16
RETRY, CAN_ACCEPT, FORKED, VALID, FROM_BUFFER, ROOM, FOUND, TAKES = (1 << bit for bit in range(8))
IDLE_MASK, NEAR = 7, 3
PLACE_MASK, FILLED, LOWER_FILLED = 31, 32, 64

# Fields of `Routers.node`, the same size: the pointer command that acts on the next address, what it says of the one after (its
# kind is 0 when it has been used up); schedule entries fetched at the ends of the last cycles, as where they begin in the
# memory. Addresses look two cycles back, and annotations are looked up after three.
POINTER_KIND, POINTER, REST_KIND, REST, ENTRIES = range(5)
NODE_FIELDS = 8
RECENT = 4
SPARE_ROWS = 2
"""Schedule entries that were overwritten within two cycles after they had been fetched, of odd and even cycles."""

# Fields of `Routers.layout`: widths in bits, and words of a command.
WIDTH, POINTER_BITS, VFSM_BITS, PLACE_BITS, COMMAND_WORDS = range(5)
LAYOUT_FIELDS = 5

MOVE, BLIND = int(MoveType.MOVE), int(MoveType.BLIND)
_SCHEDULE, _SET, _ADD = int(CommandKind.SCHEDULE), int(CommandKind.SET_POINTER), int(CommandKind.ADD_POINTER)
_ANNOTATION = int(CommandKind.ANNOTATION)


class Routers(NamedTuple):
    """State of all routers: n nodes, P pipelines, V VFSMs, D schedule entries, R registers, N ports."""

    schedule: np.ndarray
    """n × (D + SPARE_ROWS) × (P + 1), of uint16: VFSM of each pipeline, then the address two slots on."""
    annotation: np.ndarray
    """n × V × P, decoded."""
    stage: np.ndarray
    """n × P × STAGE_FIELDS."""
    node: np.ndarray
    """n × NODE_FIELDS."""
    read_data: np.ndarray
    """n words that processors read last."""
    buffer: np.ndarray
    """n × P × V words."""
    buffer_full: np.ndarray
    """n × P × V, of int8."""
    register: np.ndarray
    """n × (1 + P) × R words: the processor's, then those of each pipeline."""
    held: np.ndarray
    """n × (1 + P) × R, of int8: which of them are there."""
    full: np.ndarray
    """n × R, of int8: which registers have one."""
    partial: np.ndarray
    """n × P × words of a command, collected so far."""
    collected: np.ndarray
    """n × P: how many these are."""
    command: np.ndarray
    """n × P × words of the command that is carried out in this cycle."""
    complete: np.ndarray
    """n × P: there is one."""
    offers: np.ndarray
    """2 × (n·N + 1): the pipeline that offers a word at a port and, times `STAMP`, the cycle in which it does so; by
    parity of the cycle. With `BLOCKED`: it has the link, but may not send yet. The last column belongs to ports that are not
    connected and stays -1, here and in ``accepts``."""
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
    """9 × P: in this cycle registers that pipelines take words from, and from which places; registers that they fill, and words,
    and which pipelines; registers in which they found words. By pipeline: flags of the word it has got, buffer that was empty and
    is filled."""


@kernel(forceinline=True)
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


@kernel
def execute(routers: Routers, i: int, p: int, time: int) -> None:
    """Carry out the command that pipeline ``p`` of node ``i`` has collected at the end of cycle ``time``."""
    words = routers.command[i, p]
    layout, node = routers.layout, routers.node
    width, pointer_bits, vfsm_bits = layout[WIDTH], layout[POINTER_BITS], layout[VFSM_BITS]
    kind = _field(words, width, 0, 3)
    if kind == _ANNOTATION:
        place_bits = layout[PLACE_BITS]
        vfsm = _field(words, width, 3, vfsm_bits)
        packed = _field(words, width, 3 + vfsm_bits, 3 + 2 * place_bits)
        routers.annotation[i, vfsm, p] = decode(packed, vfsm, place_bits, routers.places)
    elif p == 0 and kind == _SCHEDULE:
        rows, row = routers.schedule.shape[1:]
        address = _field(words, width, 3, pointer_bits)
        # An entry that is on its way to its use stays what it was.
        for age in range(1, 3):
            before = ENTRIES + (time - age) % RECENT
            if node[i, before] == (i * rows + address) * row:
                spare = rows - SPARE_ROWS + time % SPARE_ROWS
                for q in range(row):  # not as a slice, whose copy would need memory that is counted
                    routers.schedule[i, spare, q] = routers.schedule[i, address, q]
                node[i, before] = (i * rows + spare) * row
        offset = 3 + pointer_bits
        for q in range(row - 1):
            routers.schedule[i, address, q] = _field(words, width, offset, vfsm_bits)
            offset += vfsm_bits
        routers.schedule[i, address, row - 1] = _field(words, width, offset, pointer_bits)
    elif p == 0 and kind in (_SET, _ADD):
        node[i, POINTER_KIND] = node[i, REST_KIND] = kind
        node[i, POINTER] = node[i, REST] = _field(words, width, 3, pointer_bits)
        if kind == _SET:
            node[i, REST] = _field(words, width, 3 + pointer_bits, pointer_bits)


@kernel
def decode(packed: int, vfsm: int, place_bits: int, places: np.ndarray) -> int:
    """The packed annotation of a VFSM with its codes told apart.

    The own buffer as a source is nothing: a VFSM finds its word by itself. As a destination it is nothing either: the word has
    but to stay, which it does however it is moved.
    """
    kind = packed & TYPE_MASK
    source = places[(packed >> 2) & ((1 << place_bits) - 1)]
    destination = places[(packed >> (2 + place_bits)) & ((1 << place_bits) - 1)]
    own = BUFFER | (vfsm << 3)
    if source in (MEMADR, own):
        source = NOTHING
    if destination == own:
        destination = NOTHING
        kind = MOVE if kind == BLIND else kind
    return (
        kind
        | ((source & KIND_MASK) << SOURCE_KIND)
        | ((source >> 3) << SOURCE)
        | ((destination & KIND_MASK) << DESTINATION_KIND)
        | ((destination >> 3) << DESTINATION)
        | ((packed >> (2 + 2 * place_bits)) << SECOND_LEG)
        | (vfsm << VFSM)
        | (packed << PACKED)
    )
