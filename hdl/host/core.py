"""What all bridges share: an access of a bus becomes an access of a processor port, or of a register of the bridge itself.

A write and a read may wait side by side, so that a host that fills a full register can still take the words which hold it up.
"""

from __future__ import annotations

from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .shape import CONTROL, VERSION, HostShape


def port_members(shape: HostShape) -> dict[str, wiring.Member]:
    """Members that join a bridge with the processor ports of its nodes; inputs of the nodes are outputs here."""
    members: dict[str, wiring.Member] = {}
    for node in range(shape.nodes):
        members |= {
            f"p_address_{node}": Out(shape.register_bits),
            f"p_write_{node}": Out(1),
            f"p_read_{node}": Out(1),
            f"p_write_data_{node}": Out(shape.width),
            f"p_full_{node}": In(shape.registers),
            f"p_read_data_{node}": In(shape.width),
        }
    return members


def side_members() -> dict[str, wiring.Member]:
    """Members of a bridge beside bus and nodes."""
    return {"irq": Out(1), "done": Out(1)}


class HostCore(wiring.Component):
    """Accesses of a bus, one write and one read at a time, to the ports of nodes and to the bridge's own registers.

    An access of a bus is offered until it ends. At most one access of a processor port is made in a cycle; where a write and a
    read could both be made they take turns.

    Latency: a write ends in the cycle in which the register takes it, a read one cycle later.

    Parameters
    ----------
    shape : HostShape
        Sizes of the bridge.

    Ports
    -----
    write, write_address, write_data : in
        A write is offered; address of the word.
    write_ended, write_failed : out
        It ends in this cycle, or ends with an error.
    read, read_address : in
        A read is offered.
    read_ended, read_failed, read_data : out
        It ends in this cycle, with this word or with an error.
    p_<name>_<i> : see port_members
        Processor port of node i.
    irq, done : out
        Interrupt; bit 0 of the word ``DONE``.
    """

    def __init__(self, *, shape: HostShape) -> None:
        self.shape = shape
        words = shape.address_bits - (shape.bytes - 1).bit_length()
        super().__init__(
            {
                "write": In(1),
                "write_address": In(words),
                "write_data": In(shape.width),
                "write_ended": Out(1),
                "write_failed": Out(1),
                "read": In(1),
                "read_address": In(words),
                "read_ended": Out(1),
                "read_failed": Out(1),
                "read_data": Out(shape.width),
                **port_members(shape),
                **side_members(),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = self.shape
        room = shape.room
        offset_bits = room.bit_length() - 1
        full = Array(getattr(self, f"p_full_{i}") for i in range(shape.nodes))
        arriving = Array(getattr(self, f"p_read_data_{i}") for i in range(shape.nodes))

        def parts(address: Signal) -> tuple[Signal, Signal, Signal]:
            """Place within half a page, which half, page."""
            return address[:offset_bits], address[offset_bits], address[offset_bits + 1 :]

        # Which register of which node, if any.
        w_place, w_half, w_page = parts(self.write_address)
        r_place, r_half, r_page = parts(self.read_address)
        w_register, r_register = Signal(), Signal()
        m.d.comb += [
            w_register.eq(~w_half & (w_page < shape.nodes) & (w_place < shape.registers)),
            r_register.eq(~r_half & (r_page < shape.nodes) & (r_place < shape.registers)),
        ]
        w_free, r_there = Signal(), Signal()
        m.d.comb += [
            w_free.eq(~full[w_page].bit_select(w_place, 1)),
            r_there.eq(full[r_page].bit_select(r_place, 1)),
        ]

        # One access of a port a cycle; who was last waits. A read that has been made waits for its word.
        reading, wrote_last = Signal(), Signal()
        w_goes, r_goes = Signal(), Signal()
        w_can, r_can = Signal(), Signal()
        m.d.comb += [
            w_can.eq(self.write & w_register & w_free),
            r_can.eq(self.read & r_register & r_there & ~reading),
            w_goes.eq(w_can & ~(r_can & wrote_last)),
            r_goes.eq(r_can & ~w_goes),
        ]
        with m.If(w_goes | r_goes):
            m.d.sync += wrote_last.eq(w_goes)
        for node in range(shape.nodes):
            mine, yours = Signal(name=f"write_{node}"), Signal(name=f"read_{node}")
            m.d.comb += [
                mine.eq(w_goes & (w_page == node)),
                yours.eq(r_goes & (r_page == node)),
                getattr(self, f"p_write_{node}").eq(mine),
                getattr(self, f"p_read_{node}").eq(yours),
                getattr(self, f"p_address_{node}").eq(Mux(mine, w_place, r_place)),
                getattr(self, f"p_write_data_{node}").eq(self.write_data),
            ]
        reads_of = Signal.like(r_page)
        m.d.sync += reading.eq(r_goes)
        with m.If(r_goes):
            m.d.sync += reads_of.eq(r_page)

        # The bridge's own words.
        cycles, high = Signal(64), Signal(32)
        errors, enable, done = Signal(3), Signal(3), Signal(shape.width)
        m.d.sync += cycles.eq(cycles + 1)
        masks = [Signal(shape.registers, name=f"mask_{node}") for node in range(shape.nodes)]
        waiting = Signal()
        m.d.comb += waiting.eq(Cat((flags & mask).any() for flags, mask in zip(full, masks, strict=True)).any())
        pending = Signal(3)
        m.d.comb += [
            pending.eq(Cat(waiting, errors.any(), done[0])),
            self.irq.eq((pending & enable).any()),
            self.done.eq(done[0]),
        ]
        low = shape.width == 32
        control = {
            "CYCLES_LOW": cycles[:32] if low else cycles,
            "CYCLES_HIGH": high if low else cycles[32:],
            "ERRORS": errors,
            "DONE": done,
            "ENABLE": enable,
            "PENDING": pending,
            "VERSION": Const(VERSION, 32),
            "SHAPE": Const(shape.nodes << 16 | shape.registers << 4 | (shape.blocked == "error"), 32),
        }
        found, known = Signal(shape.width), Signal()
        is_control = r_page == shape.nodes
        with m.If(is_control):
            with m.Switch(Cat(r_place, r_half)):
                for number, name in enumerate(CONTROL):
                    with m.Case(number):
                        m.d.comb += [found.eq(control[name]), known.eq(1)]
        for node in range(shape.nodes):
            for word in range(shape.flag_words):
                some = slice(word * shape.width, (word + 1) * shape.width)
                for place, bits in ((word, full[node]), (room // 2 + word, masks[node])):
                    with m.If(r_half & (r_page == node) & (r_place == place)):
                        m.d.comb += [found.eq(bits[some]), known.eq(1)]
        w_known = Signal()
        w_own = Signal()
        m.d.comb += w_own.eq(self.write & ~w_register)
        with m.If(w_page == shape.nodes):
            with m.Switch(Cat(w_place, w_half)):
                for name, signal in (("DONE", done), ("ENABLE", enable)):
                    with m.Case(CONTROL.index(name)):
                        m.d.comb += w_known.eq(1)
                        with m.If(w_own):
                            m.d.sync += signal.eq(self.write_data)
                with m.Case(CONTROL.index("ERRORS")):
                    m.d.comb += w_known.eq(1)
        for node in range(shape.nodes):
            for word in range(shape.flag_words):
                some = slice(word * shape.width, (word + 1) * shape.width)
                with m.If(w_half & (w_page == node) & (w_place == room // 2 + word)):
                    m.d.comb += w_known.eq(1)
                    with m.If(w_own):
                        m.d.sync += masks[node][some].eq(self.write_data)

        # Ends.
        gives_up = shape.blocked == "error"
        w_refused, r_refused = Signal(), Signal()
        w_strange, r_strange = Signal(), Signal()
        m.d.comb += [
            w_strange.eq(w_own & ~w_known),
            r_strange.eq(self.read & ~r_register & ~known),
            w_refused.eq(self.write & w_register & ~w_free if gives_up else 0),
            r_refused.eq(self.read & r_register & ~r_there & ~reading if gives_up else 0),
            self.write_failed.eq(w_strange | w_refused),
            self.write_ended.eq(w_goes | w_own | w_refused),
            self.read_failed.eq(~reading & (r_strange | r_refused)),
            self.read_ended.eq(reading | (self.read & ~r_register) | r_refused),
            self.read_data.eq(Mux(reading, arriving[reads_of], found)),
        ]
        clear = Signal(3)
        with m.If(w_own & (w_page == shape.nodes) & (Cat(w_place, w_half) == CONTROL.index("ERRORS"))):
            m.d.comb += clear.eq(self.write_data)
        m.d.sync += errors.eq((errors & ~clear) | Cat(w_refused, r_refused, w_strange | r_strange))
        if low:
            with m.If(self.read & is_control & (Cat(r_place, r_half) == CONTROL.index("CYCLES_LOW"))):
                m.d.sync += high.eq(cycles[32:])
        return m
