"""Verilog of the switch. The output depends on the shape alone: no paths, no dates.

The network interface is emitted once, as module ``tdm_nic``; the switch instantiates it.
"""

from __future__ import annotations

from emission import component_verilog

from .shape import SwitchShape
from .station import Station
from .switch import Switch

SWITCH_MODULE = "tdm_switch"
NIC_MODULE = "tdm_nic"

_WAIVERS = {
    "DECLFILENAME": "modules stand together in one file",
    "UNUSEDSIGNAL": "fields of a command get a wire each, used or not",
    "PROCASSINIT": "registers have a value at power-up and a reset",
    "WIDTHEXPAND": "constants are written as short as they are",
    "WIDTHTRUNC": "a shift that picks one bit, a logical test of a vector",
    "CASEINCOMPLETE": "the value for the rest is assigned before the case",
    "ASCRANGE": "a counter that has nothing to count has no bits",
    "UNOPTFLAT": "availability goes from cell to cell within vectors, without a loop",
}
"""Warnings of ``verilator -Wall`` that the style of the Verilog writer provokes, each with its reason."""


def switch_verilog(shape: SwitchShape) -> str:
    """Verilog of a switch: module ``tdm_switch`` with the ports of ``switch.Switch``, and every module below it."""
    described = ", ".join(f"{name} {value}" for name, value in shape.as_dict().items())
    waivers = "".join(f"/* verilator lint_off {name} */ // {why}\n" for name, why in _WAIVERS.items())
    top = component_verilog(Switch(shape=shape, module=NIC_MODULE), SWITCH_MODULE)
    return (
        f"// Time-multiplexed switch. {described}\n{waivers}{top}{component_verilog(Station(shape=shape), NIC_MODULE)}"
    )
