"""Verilog of a whole mesh around the Verilog of one node, written for Verilator.

Takes the text of the module ``numesh_node`` and a topology. Gives a wrapper ``numesh_seat`` with the node and its
processor port, and ``numesh_mesh`` with one instance of the wrapper per node. The wrapper is what keeps the
simulator small: its processor port is registers that C++ sets directly, and its link inputs are public, so that
Verilator may not replace them by what drives them. Then all instances have the same text, and Verilator compiles
one set of functions for all of them.
"""

from __future__ import annotations

from numesh.codes import bits_for
from numesh.shape import NodeShape
from pointsman.network import Topology

SEAT = "numesh_seat"
MESH = "numesh_mesh"


def mesh_verilog(shape: NodeShape, topology: Topology, node: str) -> str:
    """Everything: the node's text, its wrapper, the mesh. The top module is `MESH`."""
    return "\n".join([node, _seat(shape), _mesh(shape, topology)])


def instance(number: int) -> str:
    """Name of the wrapper of a node in the mesh."""
    return f"seat_{number}"


def _links(shape: NodeShape) -> list[tuple[str, str, int]]:
    """Direction, name and width of the link ports of a node."""
    ports = []
    for d in range(shape.neighbours):
        ports += [
            ("input", f"in_valid_{d}", 1),
            ("input", f"in_data_{d}", shape.width),
            ("output", f"in_accept_{d}", 1),
            ("output", f"out_valid_{d}", 1),
            ("output", f"out_data_{d}", shape.width),
            ("input", f"out_accept_{d}", 1),
        ]
    return ports


def _seat(shape: NodeShape) -> str:
    links = _links(shape)
    inputs = [
        ("p_address", bits_for(shape.registers)),
        ("p_write", 1),
        ("p_read", 1),
        ("p_write_data", shape.width),
    ]
    outputs = [("p_full", shape.registers), ("p_read_data", shape.width)]
    lines = [f"module {SEAT}(input wire clk, input wire rst"]
    for direction, name, width in links:
        public = " /*verilator public_flat_rd*/" if direction == "input" else ""
        lines.append(f"  , {direction} wire [{width - 1}:0] {name}{public}")
    lines.append(");")
    lines += [f"  reg [{width - 1}:0] {name} /*verilator public_flat_rw*/;" for name, width in inputs]
    lines += [f"  wire [{width - 1}:0] {name} /*verilator public_flat_rd*/;" for name, width in outputs]
    names = ["clk", "rst", *(name for _, name, _ in links), *(name for name, _ in inputs + outputs)]
    lines.append(f"  numesh_node node({', '.join(f'.{name}({name})' for name in names)});")
    lines.append("endmodule")
    return "\n".join(lines) + "\n"


def _mesh(shape: NodeShape, topology: Topology) -> str:
    lines = [f"module {MESH}(input wire clk, input wire rst);"]
    for i in range(topology.nodes):
        for direction, name, width in _links(shape):
            if direction == "output":
                lines.append(f"  wire [{width - 1}:0] n{i}_{name};")
    for i in range(topology.nodes):
        joints = [".clk(clk)", ".rst(rst)"]
        for direction, name, width in _links(shape):
            if direction == "output":
                joints.append(f".{name}(n{i}_{name})")
                continue
            side, signal, port = name.split("_")
            other = topology.at_port[i].get(int(port))
            if other is None:
                joints.append(f".{name}({width}'d0)")
            else:
                node, other_port = other
                joints.append(f".{name}(n{node}_{'out' if side == 'in' else 'in'}_{signal}_{other_port})")
        lines.append(f"  {SEAT} {instance(i)}({', '.join(joints)});")
    lines.append("endmodule")
    return "\n".join(lines) + "\n"
