"""Numbers that the solver chooses once for a whole run."""

from __future__ import annotations

from amaranth.hdl import Assume, Module, Signal
from amaranth.hdl._ast import AnyConst

from numesh.codes import bits_for


def choice(m: Module, count: int, name: str) -> Signal:
    """A number below ``count`` that stays what it is. What is proven for it is proven for all."""
    chosen = Signal(bits_for(count), name=name)
    m.d.comb += chosen.eq(AnyConst(len(chosen)))
    m.d.comb += Assume(chosen < count)
    return chosen
