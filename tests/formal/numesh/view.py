"""What the proofs know of the inside of a node. When the hardware changes, this file follows, and the properties stay.

A property speaks of ports, of which VFSM is in the read and in the write stage of a pipeline and what its annotation says, of the
word that a VFSM's buffer or an interface register holds, and of what the memories hold.
"""

from __future__ import annotations

from dataclasses import dataclass

from amaranth.hdl import Array, Assert, Assume, Cat, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import data
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In

from numesh.codes import ANNOTATION_LATENCY, LOOKAHEAD, Codes, MoveType
from numesh.full_bits import FullBits
from numesh.interface import InterfaceRegisters
from numesh.node import Node, node_members
from numesh.shape import NodeShape

SCHEDULE_LATENCY = LOOKAHEAD
"""Cycles from an address of the schedule to its entry; an entry leads to the address so many slots on."""
SLOT_LATENCY = ANNOTATION_LATENCY - 1
"""Cycles from a schedule entry, and from the read of the annotation memory, to the read stage of its VFSMs."""

WINDOW = SCHEDULE_LATENCY + SLOT_LATENCY + 2
"""Cycles after which every register of the stages follows from what is seen in them: the way from an address of the
schedule to the write stage, and one more. An induction step of so many cycles needs to know of no register in between."""
NUMBER_LEAD = 3
"""Cycles by which a pipeline names an interface register before its access."""


@dataclass(frozen=True)
class Annotation:
    """What a VFSM in the read stage is to do."""

    type: Value
    source: Value
    destination: Value
    forked: Value


class PipelineView:
    """One pipeline.

    Attributes
    ----------
    active, vfsm, annotation
        Read stage: it has a VFSM, which one, what it is to do.
    acts : Value
        Its turn is not idle.
    writing, write_vfsm, write_word, write_destination, write_blind, write_forked
        Write stage: it has a word, of which VFSM, which, and where to and how.
    from_buffer : Value
        The word in the write stage is still in its VFSM's buffer.
    """

    def __init__(self, m: Module, node: Node, p: int) -> None:
        self._m = m
        self._stages = stages = node.transfers[p]
        self.number = p
        self.active: Value = stages.read_active
        self.acts: Value = self.active & ~stages.read_idle
        self.vfsm: Value = stages.read_vfsm
        said = stages.read_annotation
        self.annotation = Annotation(said.type, said.source, said.destination, said.forked)
        self.writing: Value = stages.write_valid
        self.write_vfsm: Value = stages.write_vfsm
        self.write_word: Value = stages.write_word
        self.write_destination: Value = stages.write_destination
        self.write_blind: Value = stages.write_type == MoveType.BLIND
        self.write_forked: Value = stages.write_forked
        self.from_buffer: Value = stages.write_from_buffer
        self._annotations = node.annotations[p].ram
        # At power-up, in a reset, and in the first cycle after it.
        self._fresh = Signal(init=1, name=f"fresh_{p}")
        m.d.sync += self._fresh.eq(0)

    def runs(self, vfsm: Value) -> Value:
        """``vfsm`` is in the read stage, and not idle."""
        return self.acts & (self.vfsm == vfsm)

    def has(self, vfsm: Value) -> Value:
        """``vfsm`` is in the read stage, idle or not."""
        return self.active & (self.vfsm == vfsm)

    def writes(self, vfsm: Value) -> Value:
        """A word of ``vfsm`` is in the write stage."""
        return self.writing & (self.write_vfsm == vfsm)

    def holds(self, vfsm: Value) -> Value:
        """The buffer of ``vfsm`` has a word. While that is tried again, the full bit is cleared.

        A buffer is taken to be empty at power-up and when a reset ends: ``full_bits.reset`` proves it of resets that are long
        enough.
        """
        bit = full_bit(self._m, self._stages.full_bits, vfsm)
        self._m.d.comb += [
            Assume(~(self._fresh & ~ResetSignal() & bit)),
            Assert(
                ~(self.writes(vfsm) & ~self.from_buffer & bit), "a VFSM takes a word only while its buffer is empty"
            ),
        ]
        return ~self._fresh & (bit | (self.writes(vfsm) & self.from_buffer))

    def buffered(self, vfsm: Value) -> Value:
        """The word in the buffer of ``vfsm``."""
        return _row(self._m, self._stages.buffers, vfsm)

    @property
    def packed(self) -> Value:
        """The annotation in the read stage, packed as in the memory."""
        return Cat(*(getattr(self.annotation, name) for name in ("type", "source", "destination", "forked")))

    def kept_annotation(self, vfsm: Value) -> Value:
        """The annotation of ``vfsm`` in the memory, packed."""
        return _row(self._m, self._annotations, vfsm)


class NodeView:
    """A node in a harness, with free inputs.

    Attributes
    ----------
    inputs : list of Signal
        All inputs of the node. The harness lists them as its ports, which makes them free.
    """

    def __init__(self, m: Module, shape: NodeShape) -> None:
        self._m = m
        self.shape = shape
        self.codes = Codes(shape)
        self.node = node = Node(shape=shape)
        m.submodules.node = node
        self.inputs: list[Signal] = [
            getattr(node, name) for name, member in node_members(shape).items() if member.flow == In
        ]
        self.pipelines = [PipelineView(m, node, p) for p in range(shape.pipelines)]

    # -- ports, by a number that the solver chooses ------------------------------------------------------------

    def link(self, name: str, d: Value) -> Value:
        """Port ``name`` of link ``d``."""
        return Array(getattr(self.node, f"{name}_{i}") for i in range(self.shape.neighbours))[d]

    def full(self, register: Value) -> Value:
        """``p_full`` of an interface register."""
        return self.node.p_full.bit_select(register, 1)

    # -- codes -------------------------------------------------------------------------------------------------

    def is_register(self, code: Value) -> Value:
        """``code`` is that of an interface register. Said here once more, number by number."""
        return Cat(*(code == self.codes.register(r) for r in range(self.shape.registers))).any()

    def is_buffer(self, code: Value) -> Value:
        """``code`` is that of a buffer."""
        return Cat(*(code == self.codes.buffer(v) for v in range(self.shape.vfsms))).any()

    # -- registers and memories ------------------------------------------------------------------------------

    def registered(self, register: Value) -> Value:
        """The word in an interface register: of several the one that pipelines take first."""
        word, *others = reversed(self.places(register))
        held = word[1]
        for full, other in others:
            held = Mux(full, other, held)
        return held

    def places(self, register: Value) -> list[tuple[Value, Value]]:
        """The places of an interface register, in the order in which pipelines take words from them: full, and the word."""
        return _places(self._m, self.node.interface, register)

    def commanding(self, p: int) -> Value:
        """Pipeline ``p`` writes a word to MEMADR."""
        pipe = self.pipelines[p]
        return pipe.writing & (pipe.write_destination == self.codes.memadr)

    def kept_entry(self, address: Value) -> Value:
        """The schedule entry at ``address``, packed."""
        return _row(self._m, self.node.schedule.ram, address)

    def collected(self, p: int) -> tuple[Value, Value]:
        """How many words of a command pipeline ``p`` has collected, and what its register holds, the last word highest."""
        return self.node.commands[p].count, self.node.commands[p].collected

    @property
    def ahead(self) -> Value:
        """Where the entry that has been read leads to."""
        return self.entry.ahead

    def set_addresses(self, command: data.View) -> list[Value]:
        """The addresses that a SET_POINTER command names, in the order in which they are used."""
        return [command.value, command.second]

    @property
    def entry(self) -> data.View:
        """The schedule entry that has been read."""
        return self.node.schedule.entry

    @property
    def jumps(self) -> Value:
        """A pointer command decides the address of this cycle."""
        return self.node.schedule.setting | (self.node.schedule.value != 0)

    @property
    def running(self) -> Value:
        """``entry`` holds a slot."""
        return self.node.schedule.running


@dataclass(frozen=True)
class Read:
    """What a read stage asks of the interface registers, and what it gets."""

    asked: Value
    """It asked, in the cycle before."""
    number: Value
    keep: Value
    found: Value
    take: Value
    data: Value


@dataclass(frozen=True)
class Write:
    """What a write stage asks of the interface registers, and whether its place has room."""

    number: Value
    put: Value
    data: Value
    room: Value
    """As it was told in the cycle before."""


class FullBitsView:
    """The full bits of the buffers of a pipeline alone, with free inputs."""

    def __init__(self, m: Module, shape: NodeShape, lookups: int) -> None:
        self._m = m
        self.block = block = FullBits(shape=shape, lookups=lookups)
        m.submodules.block = block
        self.inputs: list[Signal] = [block.fill, block.keep, block.put, block.clear, block.got]
        self.inputs += [getattr(block, f"index_{k}") for k in range(lookups)]

    def full(self, vfsm: Value) -> Value:
        """The full bit of a buffer."""
        return full_bit(self._m, self.block, vfsm)


class InterfaceView:
    """The interface registers alone, with free inputs: any pipeline may ask for anything."""

    def __init__(self, m: Module, shape: NodeShape) -> None:
        self.block = block = InterfaceRegisters(shape=shape)
        m.submodules.block = block
        self.processor = block
        self.reads: list[Read] = []
        self.writes: list[Write] = []
        self.inputs: list[Signal] = [block.p_address, block.p_write, block.p_read, block.p_write_data]
        for p in range(shape.pipelines):
            read, write = getattr(block, f"read_{p}"), getattr(block, f"write_{p}")
            reads, writes = (_later(m, number, NUMBER_LEAD) for number in (read.number, write.number))
            asked, keep = (_later(m, value, 1) for value in (read.asks, read.keep))
            room = _later(m, (~write.full | write.emptied) & ~(write.same & write.put), 1)
            self.reads.append(Read(asked, reads, keep, read.found, read.take, read.data))
            self.writes.append(Write(writes, write.put, write.data, room))
            self.inputs += [read.asks, read.names, read.number, read.keep, read.take]
            self.inputs += [write.number, write.put, write.data]
            m.d.comb += [Assume(~read.asks | read.names), Assume(~read.take | read.found)]

        # Nobody can have named a register before the node has power.
        up = Signal(range(NUMBER_LEAD + 3), reset_less=True)
        self.up: Value = up == NUMBER_LEAD + 2
        with m.If(~self.up):
            m.d.sync += up.eq(up + 1)
            for p in range(shape.pipelines):
                m.d.comb += [Assume(~getattr(block, f"read_{p}").asks), Assume(~getattr(block, f"write_{p}").put)]

    def places(self, m: Module, register: Value) -> list[tuple[Value, Value]]:
        """The places of an interface register, in the order in which pipelines take words from them: full, and the word."""
        return _places(m, self.block, register)


def _later(m: Module, value: Value, cycles: int) -> Value:
    for _ in range(cycles):
        later = Signal(len(value), reset_less=True)
        m.d.sync += later.eq(value)
        value = later
    return value


def full_bit(m: Module, bits: FullBits, vfsm: Value) -> Value:
    """A full bit: what the memories say, and the events that are on their way to them."""
    known = _row(m, bits.puts, vfsm) ^ _row(m, bits.gets, vfsm)
    entering = (bits.filled | bits.kept) & (bits.last_put == vfsm)
    leaving = bits.cleared & (bits.last_got == vfsm)
    return (known & ~leaving) | entering


def _places(m: Module, interface: InterfaceRegisters, register: Value) -> list[tuple[Value, Value]]:
    processor, *pipelines = zip(interface.full, interface.banks, strict=True)
    return [(full.bit_select(register, 1), _row(m, bank, register)) for full, bank in (*pipelines, processor)]


def _row(m: Module, memory: Memory, address: Value) -> Value:
    port = memory.read_port(domain="comb")
    m.d.comb += port.addr.eq(address)
    return port.data
