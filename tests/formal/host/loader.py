"""The loader: every row of an image is written once, in its place, and then what is behind has the ports for good."""

from __future__ import annotations

from amaranth.hdl import Array, Assert, Cat, Cover, Module, Signal, Value

from cosim.formal.proof import Harness
from host.core import port_members
from host.loader import ImageLoader, LoaderRow
from host.shape import HostShape

from .core import before

_PERIOD, _PHASE = 3, 1


def _loader(m: Module, shape: HostShape) -> tuple[ImageLoader, list[Value]]:
    """Three rows, some of them aligned, for the first node, and fewer for the next ones."""
    last = shape.registers - 1
    rows = [LoaderRow(0, 0x105), LoaderRow(last, 0x211, aligned=True), LoaderRow(0, 0x33)]
    per_node = [rows[node:] for node in range(shape.nodes)]
    m.submodules.loader = loader = ImageLoader(shape=shape, rows=per_node, period=_PERIOD, phase=_PHASE)
    inputs: list[Value] = []
    for node in range(shape.nodes):
        inputs += [getattr(loader, f"p_{name}_{node}") for name in ("full", "read_data")]
        inputs += [getattr(loader, f"h_{name}_{node}") for name in ("address", "write", "read", "write_data")]
    return loader, inputs


def each_row_once(shape: HostShape) -> Harness:
    """Until all is loaded, rows are written in order, each once, to an empty register, and aligned ones in their slot."""
    m = Module()
    loader, inputs = _loader(m, shape)
    slot = Signal(range(_PERIOD))
    with m.If(slot == _PERIOD - 1):
        m.d.sync += slot.eq(0)
    with m.Else():
        m.d.sync += slot.eq(slot + 1)
    for node, rows in enumerate(loader.rows):
        write, address, word, full = (
            getattr(loader, f"p_{name}_{node}") for name in ("write", "address", "write_data", "full")
        )
        count = Signal(range(len(rows) + 1), name=f"count_{node}")
        with m.If(write & ~loader.loaded):
            m.d.sync += count.eq(count + 1)
        row = [Array([*(getattr(one, name) for one in rows), 0])[count] for name in ("register", "word", "aligned")]
        wrote = write & ~loader.loaded
        m.d.comb += [
            Assert(count == loader.written[node], "what is written is counted"),
            Assert(loader.loaded | ~getattr(loader, f"p_read_{node}"), "nothing is read"),
            Assert(~wrote | (count < len(rows)), "no row more"),
            Assert(~wrote | ((address == row[0]) & (word == row[1])), "the next row"),
            Assert(~wrote | ~full.bit_select(row[0], 1), "its register is empty"),
            Assert(~wrote | ~row[2] | (slot == _PHASE), "in its slot"),
            Assert(~loader.loaded | (count == len(rows)), "loaded when all are written"),
            Cover(wrote & (count == len(rows) - 1)),
        ]
    m.d.comb += Assert(slot == loader.slot, "slots are counted from reset on")
    return Harness(m, inputs)


def loaded_for_good(shape: HostShape) -> Harness:
    """All is loaded once the command registers are empty, and stays so; then ports and reset are those of what is behind."""
    m = Module()
    loader, inputs = _loader(m, shape)
    loaded = loader.loaded
    taken = Cat(
        ~getattr(loader, f"p_full_{node}")[row.register] for node, rows in enumerate(loader.rows) for row in rows
    )
    was = before(m, loaded, "loaded")
    m.d.comb += [
        Assert(loader.h_rst == ~loaded, "it is reset until all is loaded"),
        Assert(~was | loaded, "it stays loaded"),
        Assert(was | ~loaded | before(m, taken.all(), "taken"), "every command has been taken"),
        Cover(loaded & was & ~taken.all()),
    ]
    for name in port_members(shape):
        inside, behind = getattr(loader, name), getattr(loader, f"h_{name.removeprefix('p_')}")
        answers = name.startswith(("p_full", "p_read_data"))
        m.d.comb += Assert((inside == behind) | (not answers and ~loaded), f"{name} goes through")
    return Harness(m, inputs)
