"""The switch as hardware for the verilated engine: a station as the block of each processor, the rest between them.

Stations are compiled once for all processors that way.
"""

from __future__ import annotations

from pathlib import Path

from amaranth.hdl import Shape
from amaranth.lib.wiring import Out

import tdm_switch
from cosim.engines.verilated.kept import kept_verilog
from cosim.hardware import Hardware, Wire, output
from emission import component_verilog
from tdm_switch.nic import network_members
from tdm_switch.shape import SwitchShape
from tdm_switch.station import patience

CORE_MODULE, STATION_MODULE = "tdm_core", "tdm_station"
QUIET_TURNS, QUIET_WINDOWS, QUIET_WINDOWS_OF_A_PORT = 64, 8, 4
"""Rounds of all slots, and windows of a station's patience, without a moved word after which a run is a deadlock. More windows
for each port: a request may stand behind those of all other ports, at both of its ends, and each of these keeps a slot for a
window before it is withdrawn if its receiver has no room."""


def quiet_cycles(shape: SwitchShape) -> int:
    """Cycles without any access of a processor after which none can follow."""
    windows = QUIET_WINDOWS + QUIET_WINDOWS_OF_A_PORT * shape.ports
    return QUIET_TURNS * (shape.slots * shape.slot_cycles + shape.ports) + windows * patience(shape)


def switch_hardware(shape: SwitchShape) -> Hardware:
    """A switch of this shape with its processor ports."""
    wires, extra, joints = [], [], []
    for name, member in network_members(shape).items():
        wires.append(Wire(name=name, width=Shape.cast(member.shape).width, output=member.flow == Out))
    pins = [".clk(clk)", ".rst(rst)"]
    for i in range(shape.ports):
        joined = {}
        for wire in wires:
            if wire.output:
                pins.append(f".{wire.name}_{i}({output(i, wire.name)})")
            else:
                extra.append(f"wire [{wire.width - 1}:0] c{i}_{wire.name};")
                pins.append(f".{wire.name}_{i}(c{i}_{wire.name})")
                joined[wire.name] = f"c{i}_{wire.name}"
        joints.append(joined)
    extra.append(f"{CORE_MODULE} core({', '.join(pins)});")
    return Hardware(
        name=f"a switch of {shape.ports} ports",
        blocks=shape.ports,
        module=STATION_MODULE,
        verilog=_verilog(shape),
        registers=shape.registers,
        width=shape.width,
        wires=wires,
        joints=joints,
        extra="\n".join(extra),
        quiet_cycles=quiet_cycles(shape),
    )


def _verilog(shape: SwitchShape) -> str:
    """Verilog of station and core."""

    def make() -> str:
        from tdm_switch.core import Core
        from tdm_switch.station import Station

        return component_verilog(Core(shape=shape), CORE_MODULE) + component_verilog(
            Station(shape=shape), STATION_MODULE
        )

    return kept_verilog(Path(tdm_switch.__file__ or "").parent, repr(shape), make)
