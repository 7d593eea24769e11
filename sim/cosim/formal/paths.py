"""Combinational paths from inputs to outputs, found on the netlist that Yosys makes of the Verilog."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .tools import ToolError, prepare

# Outputs of these cells follow the clock.
CLOCKED = {"$dff", "$dffe", "$sdff", "$sdffe", "$sdffce", "$adff", "$aldff", "$dlatch"}
BITWISE = {"$and", "$or", "$xor", "$not", "$mux"}

Bit = int | str


def paths(verilog: str, top: str, folder: Path) -> list[str]:
    """Outputs of module ``top`` that depend in the same cycle on an input other than the clock, as "input -> output"."""
    commands = prepare(folder.parent)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "design.v").write_text(verilog)
    script = f"read_verilog design.v; hierarchy -check -top {top}; proc; flatten; opt_clean; write_json design.json"
    call = [str(commands.resolve() / "yosys"), "-q", "-p", script]
    result = subprocess.run(call, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    if result.returncode:
        raise ToolError(f"yosys failed with exit status {result.returncode}: {(result.stdout + result.stderr)[-500:]}")
    module = json.loads((folder / "design.json").read_text())["modules"][top]
    inputs = [name for name, port in module["ports"].items() if port["direction"] == "input" and name != "clk"]
    if not inputs:
        raise ToolError(f"module {top} has no inputs: there is nothing to search")
    return [f"{name} -> {output}" for name in inputs for output in sorted(outputs_reached(module, [name]))]


def edges(module: dict[str, Any]) -> dict[Bit, set[Bit]]:
    """From each bit to the bits that a cell makes of it in the same cycle."""
    onward: dict[Bit, set[Bit]] = defaultdict(set)
    for cell in module["cells"].values():
        kind, ports, directions = cell["type"], cell["connections"], cell["port_directions"]
        if kind in CLOCKED or "output" not in directions.values():  # as $memwr_v2 and $scopeinfo
            continue
        if kind == "$memrd_v2" and int(cell["parameters"]["CLK_ENABLE"], 2):
            continue
        if kind[0] != "$":
            raise ToolError(f"unknown cell {kind}")
        inputs = {name: bits for name, bits in ports.items() if directions[name] == "input"}
        (output,) = (bits for name, bits in ports.items() if directions[name] == "output")
        for name, bits in inputs.items():
            for i, bit in enumerate(bits):
                wide = kind not in BITWISE or name == "S" or len(bits) != len(output)
                onward[bit].update(output if wide else [output[i]])
    return onward


def outputs_reached(module: dict[str, Any], inputs: Iterable[str]) -> set[str]:
    """Output ports that depend in the same cycle on any of ``inputs``."""
    ports = module["ports"]
    found = _reached(edges(module), (bit for name in inputs for bit in ports[name]["bits"]))
    return {name for name, port in ports.items() if port["direction"] == "output" and found.intersection(port["bits"])}


def _reached(onward: dict[Bit, set[Bit]], start: Iterable[Bit]) -> set[Bit]:
    seen: set[Bit] = set()
    todo = [bit for bit in start if isinstance(bit, int)]
    while todo:
        bit = todo.pop()
        if bit not in seen:
            seen.add(bit)
            todo += [after for after in onward[bit] if isinstance(after, int)]
    return seen
