"""The surroundings of a block while it is measured: flip-flops at every port, so that pins do not limit the clock."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from amaranth.back import rtlil
from amaranth.hdl import Cat, ClockDomain, Const, Instance, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from pointsman.errors import PointsmanError

from .outreg import relax

DUT = "dut"
"""Name of the module that is measured, and of its instance."""
TOP = "top"
"""Name of the module around it."""


class ShiftChain(wiring.Component):
    """A block between two shift registers.

    Every input is a flip-flop of a chain that starts at ``si``; every output is caught by a flip-flop, and the caught bits
    are shifted out at ``so``, combined by exclusive or. Inputs that are joined to an output of the block have neither.
    The block is an instance of the module `DUT`, so what is counted and placed is the block as it stands.

    Parameters
    ----------
    component : wiring.Component
        The block.
    joined : mapping of str to str
        For an input of the block the output that drives it.
    clocked : bool
        The module has the ports ``clk`` and ``rst``.

    Ports
    -----
    clk : Signal(1), in
    rst : Signal(1), in
        Reset of the block, one cycle later.
    si : Signal(1), in
        Start of the chain.
    so : Signal(1), out
        End of the chain.
    """

    def __init__(self, component: wiring.Component, joined: Mapping[str, str], *, clocked: bool = True) -> None:
        super().__init__({"clk": In(1), "rst": In(1), "si": In(1), "so": Out(1)})
        self.clocked = clocked
        self.joined = dict(joined)
        self.ports: dict[str, tuple[bool, int]] = {}
        for path, member, value in component.signature.flatten(component):
            self.ports["__".join(map(str, path))] = (member.flow == Out, len(Value.cast(value)))
        for into, out in self.joined.items():
            if into not in self.ports or self.ports[into][0] or out not in self.ports or not self.ports[out][0]:
                raise PointsmanError(f"an input must be joined to an output of the block, not {into} to {out}")
            if self.ports[into][1] != self.ports[out][1]:
                raise PointsmanError(f"{into} and {out} must have the same width to be joined")

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.domains.chain = chain = ClockDomain("chain", reset_less=True, local=True)
        m.d.comb += chain.clk.eq(self.clk)
        joints: list[tuple[str, str, object]] = []
        if self.clocked:
            reset = Signal()
            m.d.chain += reset.eq(self.rst)
            joints += [("i", "clk", self.clk), ("i", "rst", reset)]
        wires = {
            name: Signal(bits, name=f"o_{name}" if out else f"i_{name}") for name, (out, bits) in self.ports.items()
        }
        shifted_in: Value = self.si
        shifted_out: Value = Const(0, 1)
        outputs = set(self.joined.values())
        for name, (out, bits) in self.ports.items():
            wire = wires[name]
            joints.append(("o" if out else "i", name, wire))
            if name in self.joined:
                m.d.comb += wire.eq(wires[self.joined[name]])
            elif not out:
                m.d.chain += wire.eq(Cat(shifted_in, wire))
                shifted_in = wire[-1]
            elif name not in outputs:
                caught, combined = Signal(bits, name=f"caught_{name}"), Signal(bits, name=f"combined_{name}")
                m.d.chain += [caught.eq(wire), combined.eq(Cat(shifted_out, combined) ^ caught)]
                shifted_out = combined[-1]
        m.d.comb += self.so.eq(shifted_out ^ shifted_in)
        m.submodules.dut = Instance(DUT, *joints)
        return m


def block_rtlil(component: wiring.Component) -> str:
    """The block alone, without places in the source: the same text for the same hardware."""
    return str(rtlil.convert(component, name=DUT, emit_src=False))


def measured_rtlil(component: wiring.Component, joined: Mapping[str, str]) -> str:
    """The block and its surroundings. Registers of the block carry their names, see `named`."""
    dut = str(rtlil.convert(component, name=DUT, emit_src=True))
    clocked = re.search(r"^  wire .*input \d+ +\\clk$", dut, re.M) is not None
    top = str(rtlil.convert(ShiftChain(component, joined, clocked=clocked), name=TOP, emit_src=True))
    return named(top, TOP) + named(relax(dut), DUT)


def named(text: str, top: str) -> str:
    """RTLIL in which the place of each flip-flop in the source is preceded by its name, ``path.name@file:line``.

    Synthesis keeps places and loses most names. Files are relative to the folder above the source root.
    """
    lines = text.splitlines()
    path = ""
    place = -1
    for i, line in enumerate(lines):
        if line.startswith("module \\"):
            path = line[len("module \\") :].removeprefix(top).removeprefix(".")
        elif match := re.fullmatch(r'( *attribute \\src )"(.*)"', line):
            lines[i] = f'{match[1]}"{_relative(match[2])}"'
            place = i
        elif line.startswith("  cell "):
            if re.match(r"  cell \$(adff|dff|sdff|aldff|dffe|sdffe|adffe) ", line) and place >= 0:
                name = _driven(lines, i)
                if name:
                    source = lines[place].split('"')[1]
                    lines[place] = f'  attribute \\src "{".".join(filter(None, (path, name)))}@{source}"'
            place = -1
        elif not line.startswith("  attribute "):
            place = -1
    return "\n".join(lines) + "\n"


def _driven(lines: list[str], cell: int) -> str:
    """Name of the wire that a flip-flop drives."""
    for line in lines[cell + 1 :]:
        if line.startswith("  end"):
            break
        if match := re.match(r"    connect \\Q \\(\S+)", line):
            return match[1]
    return ""


def _relative(source: str) -> str:
    """A place ``file:line`` with the file from the source root on: ``hdl/numesh/node.py:12``."""
    file, _, line = source.rpartition(":")
    parts = Path(file).parts
    for root in ("site-packages", "hdl", "sw", "sim"):
        if root in parts:
            start = len(parts) - 1 - parts[::-1].index(root)
            return f"{'/'.join(parts[start + (root == 'site-packages') :])}:{line}"
    return f"{Path(file).name}:{line}"
