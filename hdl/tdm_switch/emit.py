"""Verilog of the switch. The output depends on the shape alone: no paths, no dates.

What there is for each port, or for each row of a matrix, is emitted once, as a module of its own; see `parts`.
"""

from __future__ import annotations

from collections.abc import Iterator

from amaranth.lib import wiring

from emission import components_verilog, verilog_head

from .parts import Parts
from .shape import SwitchShape
from .switch import Switch

SWITCH_MODULE = "tdm_switch"


def switch_verilog(shape: SwitchShape) -> str:
    """Verilog of a switch: module ``tdm_switch`` with the ports of ``switch.Switch``, and every module below it."""
    described = ", ".join(f"{name} {value}" for name, value in shape.as_dict().items())
    head = verilog_head(
        f"Time-multiplexed switch. {described}",
        UNOPTFLAT="availability goes from cell to cell within vectors, without a loop",
    )
    return f"{head}{components_verilog(_modules(shape))}"


def _modules(shape: SwitchShape) -> Iterator[tuple[wiring.Component, str]]:
    """The switch and its parts, which are known when it has been described."""
    parts = Parts(apart=True)
    yield Switch(shape=shape, parts=parts), SWITCH_MODULE
    for name, make in parts.makers.items():
        yield make(), name
