"""The mesh as the compiled engine is told of it."""

from __future__ import annotations

from cosim.numesh.hardware import node_state, numesh_hardware
from numesh.emit import NODE_MODULE
from numesh.shape import NodeShape
from pointsman.network import mesh

SHAPE = NodeShape(pipelines=1, vfsms=2, schedule_depth=2, neighbours=2, registers=1, width=8)
NODE = f"""module {NODE_MODULE}(clk);
endmodule
module {NODE_MODULE}_schedule(clk);
  reg [7:0] ram;
  reg running;
endmodule
"""


def test_links_are_joined_at_both_ends() -> None:
    topology = mesh(2)
    hardware = numesh_hardware(SHAPE, topology, NODE)
    (link,) = topology.links
    joined = hardware.joints[link.node]
    assert joined[f"in_valid_{link.port}"] == f"n{link.other}_out_valid_{link.other_port}"
    assert joined[f"out_accept_{link.port}"] == f"n{link.other}_in_accept_{link.other_port}"
    assert len(joined) == 3, "a port without a link stays open"
    assert hardware.registered


def test_registers_that_the_text_lacks_are_left_out() -> None:
    found = node_state(SHAPE, NODE)
    assert set(found) == {"schedule.ram", "schedule.running"}
    assert found["schedule.ram"].writable
    assert not found["schedule.running"].writable
