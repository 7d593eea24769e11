"""Parts that a switch has once for each port, or for each row of its matrices.

For a switch of 128 ports they would be described 128 times. So its Verilog has each kind of part once, as a module of
its own, and instances of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from amaranth.hdl import ClockSignal, Instance, Module, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out


class Parts:
    """How the parts of a component become its submodules.

    Parameters
    ----------
    apart : bool
        As instances of modules that are emitted on their own; ``makers`` has them. Otherwise they are described in place.
    """

    def __init__(self, *, apart: bool = False) -> None:
        self.apart = apart
        self.makers: dict[str, Callable[[], wiring.Component]] = {}
        """What makes the component of a module, by the module's name."""

    def place(
        self,
        m: Module,
        name: str,
        module: str,
        make: Callable[[], wiring.Component],
        members: Mapping[str, wiring.Member],
        inputs: Mapping[str, Value],
        *,
        clocked: bool = False,
    ) -> Mapping[str, Signal]:
        """Put a part into ``m``, and give its outputs by name.

        Parameters
        ----------
        m : Module
            Where the part becomes submodule ``name``.
        name : str
            Of the submodule; signals at the outputs of an instance are called ``<port>_of_<name>``.
        module : str
            Its module, if it is apart.
        make : callable
            Makes the part.
        members : mapping
            Its ports.
        inputs : mapping
            A value for each input.
        clocked : bool
            It has a clock and a reset.
        """
        outputs = [port for port, member in members.items() if member.flow == Out]
        if not self.apart:
            part = make()
            m.submodules[name] = part
            m.d.comb += [getattr(part, port).eq(value) for port, value in inputs.items()]
            return {port: getattr(part, port) for port in outputs}
        self.makers[module] = make
        ports = {port: Signal(members[port].shape, name=f"{port}_of_{name}") for port in outputs}
        joints: list[tuple[str, str, object]] = []
        if clocked:
            joints += [("i", "clk", ClockSignal()), ("i", "rst", ResetSignal())]
        joints += [("i", port, value) for port, value in inputs.items()]
        joints += [("o", port, signal) for port, signal in ports.items()]
        m.submodules[name] = Instance(module, *joints)
        return ports
