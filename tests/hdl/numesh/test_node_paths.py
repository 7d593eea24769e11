"""No combinational path crosses a node, found on the netlist that Yosys makes of the Verilog."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from numesh.emit import node_verilog
from numesh.shape import NodeShape

SCRIPT = "hierarchy -check -top {top}; proc; flatten; opt_clean; write_json design.json"
# Outputs of these cells follow the clock.
CLOCKED = {"$dff", "$dffe", "$sdff", "$sdffe", "$sdffce", "$adff", "$aldff", "$dlatch"}
BITWISE = {"$and", "$or", "$xor", "$not", "$mux"}

Bit = int | str


def edges(module: dict[str, Any]) -> dict[Bit, set[Bit]]:
    """From each bit to the bits that a cell makes of it in the same cycle."""
    onward: dict[Bit, set[Bit]] = defaultdict(set)
    for cell in module["cells"].values():
        kind, ports, directions = cell["type"], cell["connections"], cell["port_directions"]
        if kind in CLOCKED or "output" not in directions.values():  # as $memwr_v2 and $scopeinfo
            continue
        if kind == "$memrd_v2" and int(cell["parameters"]["CLK_ENABLE"], 2):
            continue
        assert kind[0] == "$", f"unknown cell {kind}"
        inputs = {name: bits for name, bits in ports.items() if directions[name] == "input"}
        outputs = [bits for name, bits in ports.items() if directions[name] == "output"]
        (output,) = outputs
        for name, bits in inputs.items():
            for i, bit in enumerate(bits):
                wide = kind not in BITWISE or name == "S" or len(bits) != len(output)
                onward[bit].update(output if wide else [output[i]])
    return onward


def reached(onward: dict[Bit, set[Bit]], start: Iterable[Bit]) -> set[Bit]:
    seen: set[Bit] = set()
    todo = [bit for bit in start if isinstance(bit, int)]
    while todo:
        bit = todo.pop()
        if bit not in seen:
            seen.add(bit)
            todo += [after for after in onward[bit] if isinstance(after, int)]
    return seen


def netlist(folder: Path, top: str) -> dict[str, Any]:
    module = json.loads((folder / "design.json").read_text())["modules"][top]
    assert isinstance(module, dict)
    return module


def outputs_reached(module: dict[str, Any], inputs: Iterable[str]) -> set[str]:
    """Output ports that depend in the same cycle on any of ``inputs``."""
    ports = module["ports"]
    found = reached(edges(module), (bit for name in inputs for bit in ports[name]["bits"]))
    return {name for name, port in ports.items() if port["direction"] == "output" and found.intersection(port["bits"])}


@pytest.mark.parametrize(
    "shape",
    [
        NodeShape(),
        NodeShape(pipelines=1, vfsms=2, schedule_depth=2, neighbours=1, registers=1, width=1),
        NodeShape(pipelines=3, vfsms=4, schedule_depth=8, neighbours=7, registers=5, width=8),
    ],
    ids=["standard", "smallest", "odd"],
)
def test_no_combinational_path_leads_from_a_link_or_the_processor_to_a_link(
    shape: NodeShape, yosys: Callable[[str, str], Path]
) -> None:
    module = netlist(yosys(node_verilog(shape), SCRIPT.format(top="numesh_node")), "numesh_node")
    inputs = [n for n, port in module["ports"].items() if port["direction"] == "input" and n != "clk"]
    links = {n for n in inputs if n.startswith(("in_", "out_"))}
    assert len(links) == 3 * shape.neighbours
    assert {"rst", "p_address", "p_write", "p_read", "p_write_data"} == set(inputs) - links
    # Not even the processor port: an accept or a valid is decided before the cycle begins.
    assert outputs_reached(module, inputs) == set()


def test_search_finds_the_paths_that_are_there(yosys: Callable[[str, str], Path]) -> None:
    leaky = """
    module leaky(input clk, input [1:0] a, input b, input [1:0] c, output [1:0] x, output y, output reg z);
      wire [1:0] t = a & {2{b}};
      assign x = {t[1], c[0]};
      assign y = |(c ^ 2'd1);
      always @(posedge clk) z <= a[0];
    endmodule
    """
    module = netlist(yosys(leaky, SCRIPT.format(top="leaky")), "leaky")
    assert outputs_reached(module, ["a"]) == {"x"}
    assert outputs_reached(module, ["b"]) == {"x"}
    assert outputs_reached(module, ["c"]) == {"x", "y"}
    assert outputs_reached(module, []) == set()
