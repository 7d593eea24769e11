"""Registers behind block memories, into the memories.

A block memory of the ECP5 answers 4 ns after the clock, or, through a register of its own, within 1 ns. Synthesis does not
use that register: a flip-flop that follows each bit of a synchronous read stays a flip-flop. This pass over the netlist
takes such flip-flops away and switches the memory's register on (REGMODE). What the netlist does stays the same to the
cycle.
Non-goals: registers with enable or reset, reads with enable, memories of 36 bits, which answer through both ports at once.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

MEMORY = "DP16KD"
REGISTER = "TRELLIS_FF"


def relax(text: str) -> str:
    """RTLIL in which the read ports of memories with the attribute ``no_rw_check`` take any answer while a word is written.

    yosys heeds the attribute itself only where it makes a synchronous port from an asynchronous one.
    """
    parts = re.split(r"^(?=module )", text, flags=re.M)
    return "".join(_relax_module(part) for part in parts)


def _relax_module(text: str) -> str:
    for name in re.findall(r"^  attribute \\no_rw_check \S+\n(?:  attribute .*\n)*  memory .* \\(\S+)$", text, re.M):
        port = rf'(^  cell \$memrd_v2 .*\n    parameter \\MEMID "\\\\{re.escape(name)}"\n(?:    parameter .*\n)*?'
        text = re.sub(
            port + r"    parameter \\COLLISION_X_MASK )(\d+)'[01]+$",
            lambda match: f"{match[1]}{match[2]}'{'1' * int(match[2])}",
            text,
            flags=re.M,
        )
    return text


def absorb(module: Mapping[str, Any]) -> int:
    """Switch on output registers in a module of a netlist as yosys' ``write_json`` gives it, in place.

    A port of a memory gets its register if each of its outputs that is used feeds one flip-flop and nothing else, and
    these are clocked with the memory, without enable and reset, and 0 at power-up, as the memory's register is.

    Returns
    -------
    int
        Flip-flops that were taken away.
    """
    cells = module["cells"]
    users: dict[Any, list[tuple[str, str]]] = defaultdict(list)
    for name, cell in cells.items():
        for port, bits in cell["connections"].items():
            if cell.get("port_directions", {}).get(port) != "output":
                for bit in bits:
                    users[bit].append((name, port))
    for name, port in module["ports"].items():
        for bit in port["bits"]:
            users[bit].append(("", name))
    taken = 0
    for cell in [cell for cell in cells.values() if cell["type"] == MEMORY]:
        for port in "AB":
            registers = _registers(cells, cell, port, users)
            for output, register in registers.items():
                cell["connections"][output] = cells.pop(register)["connections"]["Q"]
            if registers:
                cell["parameters"][f"REGMODE_{port}"] = "OUTREG"
            taken += len(registers)
    return taken


def _registers(
    cells: Mapping[str, Any], memory: Mapping[str, Any], port: str, users: Mapping[Any, list[tuple[str, str]]]
) -> dict[str, str]:
    """For each used output of a port of a memory the flip-flop behind it; empty if one of them does not fit."""
    wires = memory["connections"]
    if memory["parameters"].get(f"REGMODE_{port}") != "NOREG" or int(memory["parameters"]["DATA_WIDTH_B"], 2) == 36:
        return {}
    if any(
        wires.get(name) != [value] for name, value in ((f"CE{port}", "1"), (f"OCE{port}", "1"), (f"RST{port}", "0"))
    ):
        return {}
    found = {}
    for output, bits in wires.items():
        if not output.startswith(f"DO{port}") or not users.get(bits[0]):
            continue
        if len(users[bits[0]]) != 1:
            return {}
        ((name, input_port),) = users[bits[0]]
        if input_port != "DI" or not _plain(cells.get(name), wires[f"CLK{port}"]):
            return {}
        found[output] = name
    return found


def _plain(cell: Mapping[str, Any] | None, clock: list[Any]) -> bool:
    """Is it a flip-flop on the rising edge of this clock that always takes its input, and starts with 0?"""
    if cell is None or cell["type"] != REGISTER:
        return False
    parameters = {name: value.strip() for name, value in cell["parameters"].items()}
    wires = cell["connections"]
    return (
        wires["CLK"] == clock
        and parameters.get("CLKMUX") == "CLK"
        and (parameters.get("CEMUX") == "1" or (parameters.get("CEMUX") == "CE" and wires.get("CE") == ["1"]))
        and wires.get("LSR", ["0"]) == ["0"]
        and parameters.get("REGSET") == "RESET"
    )
