"""No combinational path crosses a node, found on the netlist that Yosys makes of the Verilog."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cosim.formal.paths import outputs_reached
from numesh.emit import node_verilog
from numesh.shape import NodeShape

SCRIPT = "hierarchy -check -top {top}; proc; flatten; opt_clean; write_json design.json"


def netlist(folder: Path, top: str) -> dict[str, Any]:
    module = json.loads((folder / "design.json").read_text())["modules"][top]
    assert isinstance(module, dict)
    return module


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
