"""Verilog of the switch. The output depends on the shape alone: no paths, no dates.

The network interface is emitted once, as module ``tdm_nic``; the switch instantiates it.
"""

from __future__ import annotations

import re

from amaranth.back import verilog
from amaranth.lib import wiring

from .nic import NetworkInterface
from .shape import SwitchShape
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
    "UNOPTFLAT": "availability goes from cell to cell within vectors, without a loop",
}
"""Warnings of ``verilator -Wall`` that the style of the Verilog writer provokes, each with its reason."""


def switch_verilog(shape: SwitchShape) -> str:
    """Verilog of a switch: module ``tdm_switch`` with the ports of ``switch.Switch``, and every module below it."""
    described = ", ".join(f"{name} {value}" for name, value in shape.as_dict().items())
    waivers = "".join(f"/* verilator lint_off {name} */ // {why}\n" for name, why in _WAIVERS.items())
    top = convert(Switch(shape=shape, module=NIC_MODULE), SWITCH_MODULE)
    return (
        f"// Time-multiplexed switch. {described}\n{waivers}{top}{convert(NetworkInterface(shape=shape), NIC_MODULE)}"
    )


def convert(component: wiring.Component, name: str) -> str:
    """Verilog of a component with plain identifiers as names of its modules."""
    text = verilog.convert(component, name=name, strip_internal_attrs=True, emit_src=False)
    text = re.sub(r"^/\*.*?\*/\n", "", text, count=1)  # the line that names the tool
    return re.sub(rf"\\({re.escape(name)}(?:\.\w+)+) +", lambda match: match[1].replace(".", "_") + " ", text)
