"""Verilog of a whole mesh around the Verilog of one node, written for Verilator.

Takes the text of the module ``numesh_node`` and a topology. Gives a wrapper ``numesh_seat`` with the node and its
processor port, and ``numesh_mesh`` with one instance of the wrapper per node.

The wrapper is what makes the simulator small and fast. Its ports are public, so that Verilator may not replace an input
by what drives it, nor drop an output that nobody reads: then all wrappers have the same text, and are compiled once
for all nodes. What C++ sets directly goes into registers with a clock of their own. Verilator would follow it through
the logic in every evaluation otherwise, twice a cycle, whether it has changed or not.
"""

from __future__ import annotations

import re

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


def state_signals(shape: NodeShape, node: str) -> dict[str, tuple[str, str]]:
    """Registers and memories of a node that are worth showing: name to Verilog module and variable.

    Those that the node's text does not have are left out; a tool may have renamed one that only tests look at.
    """
    wanted = {"schedule": ["ram", "running", "setting", "value"]}
    wanted["interface"] = [f"bank_{k}" for k in range(shape.pipelines + 1)]
    for p in range(shape.pipelines):
        wanted[f"annotation_{p}"] = ["ram", "active", "decode_vfsm"]
        wanted[f"command_{p}"] = ["count"]
        wanted[f"transfer_{p}"] = ["held", "buffers", "out_data", "read_active", "read_vfsm"]
        write_stage = ("valid", "vfsm", "type", "destination", "forked", "from_buffer")
        wanted[f"transfer_{p}"] += [f"write_{name}" for name in write_stage]
    found = {}
    for block, names in wanted.items():
        module = f"numesh_node_{block}"
        body = re.search(rf"^module {module} ?\(.*?^endmodule", node, re.M | re.S)
        for name in names:
            if body and re.search(rf"^  (?:output )?reg (?:\[\d+:0\] )?{name}\b", body[0], re.M):
                found[f"{block}.{name}"] = (module, name)
    return found


def verilator_settings(signals: dict[str, tuple[str, str]]) -> str:
    """Verilator's configuration file: what is inlined, what is public."""
    lines = ["`verilator_config", f'no_inline -module "{SEAT}"', 'inline -module "numesh_node"']
    for module, name in signals.values():
        access = "public_flat_rw" if name == "ram" else "public_flat_rd"
        lines.append(f'{access} -module "{module}" -var "{name}"')
    return "\n".join(lines) + "\n"


def member(signal: str) -> str:
    """C++ member of the wrapper's class for a signal ``block.name`` of the node in it."""
    block, name = signal.split(".")
    return f"node__DOT__{block}__DOT__{name}"


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
    lines = [f"module {SEAT}(input wire clk, input wire rst, input wire port_clk"]
    for direction, name, width in links:
        lines.append(f"  , {direction} wire [{width - 1}:0] {name} /*verilator public_flat_rd*/")
    lines.append(");")
    for name, width in inputs:
        lines.append(f"  reg [{width - 1}:0] next_{name} /*verilator public_flat_rw*/;")
        lines.append(f"  reg [{width - 1}:0] {name};")
    lines += [f"  wire [{width - 1}:0] {name} /*verilator public_flat_rd*/;" for name, width in outputs]
    lines.append("  always @(edge port_clk) begin")
    lines += [f"    {name} <= next_{name};" for name, _ in inputs]
    lines.append("  end")
    names = ["clk", "rst", *(name for _, name, _ in links), *(name for name, _ in inputs + outputs)]
    lines.append(f"  numesh_node node({', '.join(f'.{name}({name})' for name in names)});")
    lines.append("endmodule")
    return "\n".join(lines) + "\n"


def _mesh(shape: NodeShape, topology: Topology) -> str:
    lines = [
        f"module {MESH}(input wire clk, input wire port_clk, input wire reset);",
        "  reg rst;",
        "  always @(edge port_clk) rst <= reset;",
    ]
    for i in range(topology.nodes):
        for direction, name, width in _links(shape):
            if direction == "output":
                lines.append(f"  wire [{width - 1}:0] n{i}_{name};")
    for i in range(topology.nodes):
        joints = [".clk(clk)", ".rst(rst)", ".port_clk(port_clk)"]
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
