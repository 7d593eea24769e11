"""The core: every access of a bus is made once, at the port it is for, and nothing is lost on the way back."""

from __future__ import annotations

from amaranth.hdl import Assert, Assume, Cat, Cover, Module, Signal, Value

from cosim.formal.proof import Harness
from host.core import HostCore
from host.shape import HostShape

_OFFERS = ("write", "write_address", "write_data", "read", "read_address")


def before(m: Module, value: Value, name: str) -> Signal:
    """The value in the cycle before; 0 in the first."""
    found = Signal(len(value), name=f"before_{name}")
    m.d.sync += found.eq(value)
    return found


def _core(m: Module, shape: HostShape) -> tuple[HostCore, list[Value]]:
    """The core, offered accesses that stay until they have ended."""
    m.submodules.core = core = HostCore(shape=shape)
    for name in ("write", "read"):
        offered, ended = getattr(core, name), getattr(core, f"{name}_ended")
        kept = [getattr(core, other) for other in _OFFERS if other.startswith(name)]
        stays = before(m, offered & ~ended, f"{name}_stays")
        same = Cat(one == before(m, one, f"{one.name}") for one in kept).all()
        m.d.comb += Assume(~stays | same)
    inputs = [getattr(core, name) for name in _OFFERS]
    for node in range(shape.nodes):
        inputs += [getattr(core, f"p_full_{node}"), getattr(core, f"p_read_data_{node}")]
    return core, inputs


def _accesses(core: HostCore, shape: HostShape, kind: str) -> Value:
    return Cat(getattr(core, f"p_{kind}_{node}") for node in range(shape.nodes))


def one_access(shape: HostShape) -> Harness:
    """At most one port is accessed in a cycle: an empty register is written, or a full one read."""
    m = Module()
    core, inputs = _core(m, shape)
    writes, reads = _accesses(core, shape, "write"), _accesses(core, shape, "read")
    made = Cat(writes, reads)
    m.d.comb += Assert((made & (made - 1)) == 0, "one at most")
    for node in range(shape.nodes):
        at = getattr(core, f"p_address_{node}")
        full = getattr(core, f"p_full_{node}").bit_select(at, 1)
        with m.If(writes[node]):
            m.d.comb += [Assert(~full, "it has room"), Assert(at < shape.registers, "there is such a register")]
        with m.If(reads[node]):
            m.d.comb += [Assert(full, "it has a word"), Assert(at < shape.registers, "there is such a register")]
    m.d.comb += [Cover(writes.any() & core.read), Cover(reads.any() & core.write)]
    return Harness(m, inputs)


def writes_once(shape: HostShape) -> Harness:
    """A write to a register ends without error exactly when the word is written there."""
    m = Module()
    core, inputs = _core(m, shape)
    writes = _accesses(core, shape, "write")
    page, within = core.write_address // shape.page, core.write_address % shape.page
    register = (page < shape.nodes) & (within < shape.registers)
    ends = core.write & core.write_ended & ~core.write_failed
    m.d.comb += Assert(writes.any() == (ends & register), "as often as it ends")
    for node in range(shape.nodes):
        with m.If(writes[node]):
            m.d.comb += [
                Assert(page == node, "the node that is meant"),
                Assert(getattr(core, f"p_address_{node}") == within, "the register that is meant"),
                Assert(getattr(core, f"p_write_data_{node}") == core.write_data, "the word that is offered"),
            ]
    if shape.blocked == "stall":
        m.d.comb += Assert(~(core.write & register & core.write_failed), "no write to a register fails")
    else:
        m.d.comb += Assert(~(core.write & register) | core.write_ended | core.p_read_0 | _accesses(core, shape, "read").any(),
                           "a write to a register waits for a read only")  # fmt: skip
    m.d.comb += [Cover(ends & register), Cover(ends & ~register), Cover(core.write & core.write_failed)]
    return Harness(m, inputs)


def reads_once(shape: HostShape) -> Harness:
    """A read of a register ends without error exactly one cycle after it has been made, with the word that comes then."""
    m = Module()
    core, inputs = _core(m, shape)
    reads = _accesses(core, shape, "read")
    page, within = core.read_address // shape.page, core.read_address % shape.page
    register = (page < shape.nodes) & (within < shape.registers)
    made = before(m, reads, "reads")
    ends = core.read & core.read_ended & ~core.read_failed
    m.d.comb += Assert((ends & register) == made.any(), "one cycle after")
    m.d.comb += Assert(~(made.any() & reads.any()), "not twice")
    for node in range(shape.nodes):
        with m.If(reads[node]):
            m.d.comb += [
                Assert(page == node, "the node that is meant"),
                Assert(getattr(core, f"p_address_{node}") == within, "the register that is meant"),
            ]
        with m.If(made[node]):
            m.d.comb += Assert(core.read_data == getattr(core, f"p_read_data_{node}"), "the word that came")
    if shape.blocked == "stall":
        m.d.comb += Assert(~(core.read & register & core.read_failed), "no read of a register fails")
    m.d.comb += [Cover(ends & register), Cover(ends & ~register), Cover(core.read & core.read_failed)]
    return Harness(m, inputs)


def in_turn(shape: HostShape) -> Harness:
    """A write and a read that can both be made do not wait for each other twice in a row."""
    m = Module()
    core, inputs = _core(m, shape)
    for name, other in (("write", "read"), ("read", "write")):
        address = getattr(core, f"{name}_address")
        page, within = address // shape.page, address % shape.page
        register = (page < shape.nodes) & (within < shape.registers)
        can = Signal(name=f"{name}_can")
        for node in range(shape.nodes):
            full = getattr(core, f"p_full_{node}").bit_select(within, 1)
            with m.If(page == node):
                m.d.comb += can.eq(getattr(core, name) & register & (full if name == "read" else ~full))
        made = _accesses(core, shape, name).any()
        waits = can & ~made & _accesses(core, shape, other).any()
        waited = before(m, waits, f"{name}_waits")
        m.d.comb += [Assert(~(waits & waited), "not twice in a row"), Cover(waits)]
    return Harness(m, inputs)
