"""Wires that synthesis keeps."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value


def kept(m: Module, name: str, value: Value) -> Signal:
    """``value`` on a wire of its own, on which the mapper of an FPGA builds what follows.

    Left alone, a mapper makes each path as long as the longest that it cannot shorten, to spend fewer look-up tables. What
    arrives late, from a neighbour or out of a memory, then has further to go than it needs. Simulation knows no difference.
    """
    wire = Signal(len(value), name=name, attrs={"keep": True})
    m.d.comb += wire.eq(value)
    return wire


def kept_pairs(m: Module, name: str, one: Value, other: Value) -> list[Signal]:
    """Whether there are bits that are set in both: as kept wires, of two bits each."""
    return [kept(m, f"{name}_{d}", (one[d : d + 2] & other[d : d + 2]).any()) for d in range(0, len(one), 2)]
