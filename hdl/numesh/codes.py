"""Codes, fields and commands of a NuMesh node: the one place where a bit position is written.

RTL, image writer, checker, cycle model and documentation read this module; nothing else knows a code. It needs
no HDL library: a layout is a mapping from field name to width, lowest bits first, which is also what Amaranth's
``StructLayout`` takes.

Source and destination codes of the standard shape are those of Metcalf 1997, Table 7.1::

    0-5    neighbours (-x, +x, -y, +y, -z, +z)
    6      MEMADR (destination)
    7      special buffer handling; kept free here, behaves as NOP
    8      NOP: never valid as a source, never successful as a destination
    13     NULL: a source that always holds 0, a destination that takes everything
    16-31  interface registers
    32-63  VFSM buffers of the own pipeline

A shape with more neighbours, registers or VFSMs gets wider fields by the same plan (``Codes``).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property

from .shape import NodeShape

NOP_VFSM = 0
"""VFSM that moves nothing, in every pipeline (§7.1.5)."""
REPROGRAM_VFSM = 1
"""VFSM from the pipeline's command register to MEMADR, in every pipeline (§7.1.5)."""
FIRST_FREE_VFSM = 2

LOOKAHEAD = 2
"""A schedule entry holds the address this many slots on: the schedule memory has so many registers on its way out."""
SHORTEST_LOOP = LOOKAHEAD
"""A loop of the schedule has at least so many slots: as many lists take turns, and the loader phase is a slot of each."""
FIRST_READ = 7
"""Cycle of the first read stage, counted from the first cycle after reset, in which address 0 is used."""
POINTER_LATENCY = 9
"""Cycles from that in which a pointer command is at MEMADR (write stage) to the first read stage of its slots."""
ENTRY_LATENCY = 8
"""Cycles from that in which the command of a schedule entry is at MEMADR to the first read stage that it can choose."""
ANNOTATION_LATENCY = 6
"""Cycles from that in which the command of an annotation is at MEMADR to the first read stage that follows it."""
SHORTEST_TURN = 2
"""Slots from one turn of a VFSM to its next, at least: sooner, its word may still be refused, and it idles (docs/hardware.md)."""
SHORTEST_STAY = 4
"""Slots from a turn of a VFSM that has a buffer (its own) or puts its word into it to the first turn of another that finds it
there, at least. Sooner, the other one's turn is idle."""
SHORTEST_RETURN = 3
"""Slots from the turn of a VFSM that has a buffer or puts a word there to a turn of another that puts a word there, at
least; and from the turn of one that takes a word out of a buffer to that of the VFSM whose it is, or of another that takes words
from it. Sooner, the later turn is idle. (Another may put a word there two slots after one was taken out; nobody uses that.)"""
SHORTEST_RELAY = 4
"""Slots from the read stage of a VFSM that puts its word into an interface register to the first VFSM that finds it there, at
least."""
SHORTEST_REFILL = 2
"""Slots from the read stage of a VFSM that takes the word of an interface register to that of the first that may put its word
there, at least."""
ACCESS_TO_ACCESS = 3
"""Cycles from the access that writes a word to the one that reads it, end to end, at least, besides one for each link."""

Layout = dict[str, int]
"""Field name to width in bits, lowest bits first."""


class MoveType(IntEnum):
    """How a VFSM moves a word (§7.1.1; what the thesis leaves open is settled in docs/hardware.md)."""

    MOVE = 0
    """Flow-controlled: waits for source and destination."""
    BLIND = 1
    """Never waits for its destination: a full register or buffer is overwritten, a refused word is dropped."""
    COPY = 2
    """Flow-controlled, but leaves an interface register or a buffer that it reads as it was."""
    FORK = 3
    """Second leg of a fork: takes the word that the VFSM scheduled just before writes to the neighbour named
    as source, in the cycle in which that neighbour accepts it."""


class CommandKind(IntEnum):
    """What a word written to MEMADR does."""

    NONE = 0
    SCHEDULE = 1
    """Write one entry of the schedule memory. Pipeline 0 only."""
    ANNOTATION = 2
    """Write one VFSM annotation of the pipeline that carries the command."""
    SET_POINTER = 3
    """Continue at these two schedule addresses, the second in the slot after the first. Pipeline 0 only."""
    ADD_POINTER = 4
    """Add a delta, modulo the schedule depth, to the addresses of the next two slots, and so to all that follow. Pipeline 0
    only."""


@dataclass(frozen=True)
class Annotation:
    """What a VFSM is to do: kind of move, source code, destination code.

    ``forked`` marks a leg that another leg follows: its word goes to the neighbour only in a cycle in which the second leg
    takes it as well. Without the mark a phase change between the two slots would let a word pass its second leg.
    """

    type: MoveType
    source: int
    destination: int
    forked: bool = False


@dataclass(frozen=True)
class ScheduleEntry:
    """One slot: the VFSM of each pipeline, and the address of the entry `LOOKAHEAD` slots on."""

    vfsms: tuple[int, ...]
    ahead: int


def bits_for(count: int) -> int:
    """Bits that number ``count`` things, at least one."""
    return max(1, (count - 1).bit_length())


def pack(layout: Layout, **values: int) -> int:
    """Put ``values`` into the fields of ``layout``. Absent fields are 0.

    Raises
    ------
    ValueError
        If a value does not fit its field.
    KeyError
        If a name is no field.
    """
    word = 0
    for name in values:
        if name not in layout:
            raise KeyError(name)
    offset = 0
    for name, width in layout.items():
        value = values.get(name, 0)
        if not 0 <= value < 1 << width:
            raise ValueError(f"{name} must be 0 to {(1 << width) - 1}, not {value}")
        word |= value << offset
        offset += width
    return word


def unpack(layout: Layout, word: int) -> dict[str, int]:
    """The fields of ``word``."""
    values = {}
    for name, width in layout.items():
        values[name] = word & ((1 << width) - 1)
        word >>= width
    return values


class Codes:
    """All codes, layouts and commands of one shape."""

    def __init__(self, shape: NodeShape) -> None:
        self.shape = shape
        if shape.neighbours <= 6:
            self.memadr, self.special, self.nop, self.null = 6, 7, 8, 13
            low = 16
        else:
            first = shape.neighbours
            self.memadr, self.special, self.nop, self.null = first, first + 1, first + 2, first + 3
            low = 1 << bits_for(first + 4)
        # Each region is aligned to its size, so that a region is told by its leading bits alone.
        self.first_register = max(low, 16, 1 << bits_for(shape.registers))
        self.first_buffer = max(2 * self.first_register, 32, shape.vfsms)
        self.neighbours = range(shape.neighbours)
        """Codes of links."""
        self.registers = range(self.first_register, self.first_register + shape.registers)
        """Codes of interface registers."""
        self.buffers = range(self.first_buffer, self.first_buffer + shape.vfsms)
        """Codes of buffers."""
        self.sources = frozenset((*self.neighbours, *self.registers, *self.buffers, self.null))
        """Codes from which a VFSM can get words."""
        self.place_bits = bits_for(2 * self.first_buffer)
        """Width of a source or destination code."""
        self.vfsm_bits = bits_for(shape.vfsms)
        self.pointer_bits = bits_for(shape.schedule_depth)

    def neighbour(self, port: int) -> int:
        """Code of the link at ``port``."""
        if not 0 <= port < self.shape.neighbours:
            raise ValueError(f"neighbour must be 0 to {self.shape.neighbours - 1}, not {port}")
        return port

    def register(self, number: int) -> int:
        """Code of an interface register."""
        if not 0 <= number < self.shape.registers:
            raise ValueError(f"interface register must be 0 to {self.shape.registers - 1}, not {number}")
        return self.first_register + number

    def buffer(self, vfsm: int) -> int:
        """Code of the buffer of a VFSM of the own pipeline."""
        if not 0 <= vfsm < self.shape.vfsms:
            raise ValueError(f"VFSM must be 0 to {self.shape.vfsms - 1}, not {vfsm}")
        return self.first_buffer + vfsm

    def is_neighbour(self, code: int) -> bool:
        return code in self.neighbours

    def is_register(self, code: int) -> bool:
        return code in self.registers

    def is_buffer(self, code: int) -> bool:
        return code in self.buffers

    def name(self, code: int) -> str:
        """Readable name of a source or destination code."""
        if self.is_neighbour(code):
            names = ("-x", "+x", "-y", "+y", "-z", "+z")
            return names[code] if self.shape.neighbours <= 6 else f"link {code}"
        if self.is_register(code):
            return f"register {code - self.first_register}"
        if self.is_buffer(code):
            return f"buffer {code - self.first_buffer}"
        fixed = {self.memadr: "MEMADR", self.special: "special", self.nop: "NOP", self.null: "NULL"}
        return fixed.get(code, f"invalid code {code}")

    @cached_property
    def annotation_layout(self) -> Layout:
        """Fields of an annotation."""
        return {"type": 2, "source": self.place_bits, "destination": self.place_bits, "forked": 1}

    @cached_property
    def entry_layout(self) -> Layout:
        """Fields of a schedule entry: the VFSM of each pipeline, then the address two slots on."""
        return {
            **{f"vfsm{p}": self.vfsm_bits for p in range(self.shape.pipelines)},
            "ahead": self.pointer_bits,
        }

    @cached_property
    def command_layouts(self) -> dict[CommandKind, Layout]:
        """Fields of each MEMADR command; ``kind`` is always first."""
        return {
            CommandKind.SCHEDULE: {"kind": 3, "address": self.pointer_bits, **self.entry_layout},
            CommandKind.ANNOTATION: {"kind": 3, "vfsm": self.vfsm_bits, **self.annotation_layout},
            CommandKind.SET_POINTER: {"kind": 3, "value": self.pointer_bits, "second": self.pointer_bits},
            CommandKind.ADD_POINTER: {"kind": 3, "value": self.pointer_bits},
        }

    @cached_property
    def command_bits(self) -> int:
        """Bits of the longest command."""
        return max(sum(layout.values()) for layout in self.command_layouts.values())

    @cached_property
    def command_words(self) -> int:
        """Words that every command takes, lowest bits first. One in the standard shape."""
        return -(-self.command_bits // self.shape.width)

    # -- numbers from meaning, and back ------------------------------------------------------------------

    def encode_annotation(self, annotation: Annotation) -> int:
        return pack(
            self.annotation_layout,
            type=int(annotation.type),
            source=annotation.source,
            destination=annotation.destination,
            forked=int(annotation.forked),
        )

    def decode_annotation(self, word: int) -> Annotation:
        values = unpack(self.annotation_layout, word)
        return Annotation(MoveType(values["type"]), values["source"], values["destination"], bool(values["forked"]))

    def encode_entry(self, entry: ScheduleEntry) -> int:
        return pack(self.entry_layout, ahead=entry.ahead, **{f"vfsm{p}": v for p, v in enumerate(entry.vfsms)})

    def decode_entry(self, word: int) -> ScheduleEntry:
        values = unpack(self.entry_layout, word)
        return ScheduleEntry(tuple(values[f"vfsm{p}"] for p in range(self.shape.pipelines)), values["ahead"])

    def _words(self, command: int) -> tuple[int, ...]:
        width, mask = self.shape.width, self.shape.word_mask
        return tuple((command >> (width * i)) & mask for i in range(self.command_words))

    def write_entry(self, address: int, entry: ScheduleEntry) -> tuple[int, ...]:
        """Words of the command that writes a schedule entry (pipeline 0)."""
        fields = {f"vfsm{p}": v for p, v in enumerate(entry.vfsms)}
        layout = self.command_layouts[CommandKind.SCHEDULE]
        return self._words(pack(layout, kind=CommandKind.SCHEDULE, address=address, ahead=entry.ahead, **fields))

    def write_annotation(self, vfsm: int, annotation: Annotation) -> tuple[int, ...]:
        """Words of the command that writes an annotation of the pipeline that carries it."""
        layout = self.command_layouts[CommandKind.ANNOTATION]
        return self._words(
            pack(
                layout,
                kind=CommandKind.ANNOTATION,
                vfsm=vfsm,
                type=int(annotation.type),
                source=annotation.source,
                destination=annotation.destination,
                forked=int(annotation.forked),
            )
        )

    def set_pointer(self, address: int, second: int) -> tuple[int, ...]:
        """Words of the command that makes ``address`` the next schedule address and ``second`` the one after it (pipeline 0)."""
        layout = self.command_layouts[CommandKind.SET_POINTER]
        return self._words(pack(layout, kind=CommandKind.SET_POINTER, value=address, second=second))

    def add_pointer(self, delta: int) -> tuple[int, ...]:
        """Words of the command that adds ``delta``, of either sign, to all addresses from the next one on (pipeline 0)."""
        layout = self.command_layouts[CommandKind.ADD_POINTER]
        return self._words(pack(layout, kind=CommandKind.ADD_POINTER, value=delta % self.shape.schedule_depth))

    # -- contents of the memories out of reset (NUM-14, NUM-15) --------------------------------------------

    def reset_annotations(self, pipeline: int) -> tuple[Annotation, ...]:
        """NOP to NOP everywhere, but VFSM 1: command register of the pipeline to MEMADR."""
        annotations = [Annotation(MoveType.MOVE, self.nop, self.nop)] * self.shape.vfsms
        annotations[REPROGRAM_VFSM] = Annotation(MoveType.MOVE, self.register(pipeline), self.memadr)
        return tuple(annotations)

    def reset_schedule(self) -> tuple[ScheduleEntry, ...]:
        """The loader phase at addresses 0 and 1, which lead to themselves: VFSM 1 in every pipeline, every cycle."""
        loader = tuple(ScheduleEntry((REPROGRAM_VFSM,) * self.shape.pipelines, head) for head in range(LOOKAHEAD))
        empty = ScheduleEntry((NOP_VFSM,) * self.shape.pipelines, 0)
        return loader + (empty,) * (self.shape.schedule_depth - LOOKAHEAD)
