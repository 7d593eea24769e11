"""Hardware with processor ports, described for the verilated engine.

The engine knows no router. It knows equal blocks of Verilog, a block for each processor, each with a *processor port* of
numbered registers; plain Verilog text connects the blocks. For example, `cosim.numesh.hardware.numesh_hardware` describes
the mesh of scheduled routers; ``docs/engines.md`` has a small complete example.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pointsman.errors import PointsmanError

SEAT = "pointsman_seat"
TOP = "pointsman_top"
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED = ("clk", "rst", "port_clk")


class PortShape(Protocol):
    """Sizes of a processor port as a program sees it. Implemented for example by `numesh.shape.NodeShape`."""

    @property
    def registers(self) -> int:
        """Registers, from 0 on."""
        ...

    @property
    def width(self) -> int:
        """Bits of a word, 1 to 64."""
        ...

    @property
    def word_mask(self) -> int:
        """A word with all bits set."""
        ...


@dataclass(frozen=True, kw_only=True)
class Wire:
    """A port of a block other than clock, reset and its processor port."""

    name: str
    width: int = 1
    output: bool = False


@dataclass(frozen=True)
class Register:
    """A register or memory in the hardware that Python may look at, and set if ``writable``.

    Parameters
    ----------
    module, variable : str
        Verilog module and the variable in it.
    path : str
        Instances from the block (or, in ``top_state``, from the top module) down to ``module``, joined by full stops;
        empty: the block itself.
    writable : bool
        Python may set it. Use it only where needed: every writable variable restricts the compiler's optimisations.
    """

    module: str
    variable: str
    path: str = ""
    writable: bool = False

    @property
    def member(self) -> str:
        """Name of its C++ variable, below the class of the wrapper or of the top module."""
        names = [*(self.path.split(".") if self.path else ()), self.variable]
        return "__DOT__".join(name.replace("__", "___05F") for name in names)


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """Blocks with a processor port each, the connections between them, and the registers that Python may see.

    The block is a Verilog module with these ports beside its ``wires``; it must be clocked by the rising edge of ``clk``:

    ``clk``, ``rst``
        Clock and synchronous reset.
    ``p_address`` : bits for ``registers``, in
        Register of this cycle's access.
    ``p_write``, ``p_read`` : 1 bit, in
        Write ``p_write_data`` to the register, or take the word out of it. Never both; never a write to a register that
        the write flags call full, nor a read of a register that the read flags call empty.
    ``p_write_data`` : width, in
        Word of a write.
    ``p_read_data`` : width, out
        The word that the last read took. Registered: it is looked at in the cycle after the read.
    flags : ``registers`` bits each, out
        ``write_full``: bit r says that register r takes no word in this cycle; ``read_full``: bit r says that a word
        waits in it. They may be the same port, where a register is full for both directions together. They must depend on
        registered state only: they are read before the clock's edge, to decide on this cycle's access.

    Parameters
    ----------
    name : str
        For messages, as in "a 4x4 mesh".
    blocks : int
        How many blocks, and so processors, there are.
    module : str
        Verilog module of a block.
    verilog : str
        Text of that module and of all modules below it and in ``extra``.
    registers, width : int
        Numbers and bits of the processor port.
    write_full, read_full : str
        Ports with the flags.
    wires : sequence of Wire
        All other ports of a block.
    joints : sequence of mappings
        Per block: name of an input to a Verilog expression, which may name `output` of any block, or a wire of
        ``extra``. An input that is not named is 0.
    extra : str
        Verilog for the top module: wires and instances that are no blocks, such as a switch in the middle. ``clk`` and
        ``rst`` are there, and `output` of every block.
    state : mapping of name to Register
        Registers of each block for `peek` and `poke`.
    top_state : mapping of name to Register
        The same for instances in ``extra``.
    quiet_cycles : int
        Cycles without an access, while all programs wait for an access, after which a run is given up as a deadlock.
    registered : bool
        Promise that no output of a block, its flags included, depends on an input in the same cycle. Then, and without
        ``extra``, a single block is compiled and evaluated for many blocks at once: much faster to build and run, and the
        same build serves all numbers of blocks and all joints. The first cycles of a run check the promise.
    """

    name: str
    blocks: int
    module: str
    verilog: str
    registers: int
    width: int
    write_full: str = "p_full"
    read_full: str = "p_full"
    wires: Sequence[Wire] = ()
    joints: Sequence[Mapping[str, str]] = ()
    extra: str = ""
    state: Mapping[str, Register] = field(default_factory=dict)
    top_state: Mapping[str, Register] = field(default_factory=dict)
    quiet_cycles: int = 10_000
    registered: bool = False

    def __post_init__(self) -> None:
        if self.blocks < 1:
            raise PointsmanError(f"blocks must be at least 1, not {self.blocks}")
        if not 1 <= self.registers <= 256:
            raise PointsmanError(f"registers must be 1 to 256, not {self.registers}")
        if not 1 <= self.width <= 64:
            raise PointsmanError(f"width must be 1 to 64 bits, not {self.width}")
        if self.joints and len(self.joints) != self.blocks:
            raise PointsmanError(f"joints must be given for {self.blocks} blocks, not {len(self.joints)}")
        for name in (self.module, self.write_full, self.read_full, *(wire.name for wire in self.wires)):
            if not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
                raise PointsmanError(f"a name in Verilog must be letters, digits and _, and not {name!r}")
        if not re.search(rf"^\s*module\s+{self.module}\b", self.verilog, re.M):
            raise PointsmanError(f"the Verilog must have the module {self.module}")
        inputs = {wire.name for wire in self.wires if not wire.output}
        for number, joined in enumerate(self.joints):
            for name in joined:
                if name not in inputs:
                    raise PointsmanError(f"joints of block {number} must name inputs, not {name!r}")
        for name in (*self.state, *self.top_state):
            if not re.fullmatch(r"[\w.]+", name):
                raise PointsmanError(f"a name of state must be letters, digits, _ and full stops, not {name!r}")

    @property
    def word_mask(self) -> int:
        return (1 << self.width) - 1


def output(block: int, wire: str) -> str:
    """Name, in the top module, of an output of a block."""
    return f"n{block}_{wire}"
