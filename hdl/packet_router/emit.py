"""Verilog of a node of the packet network and of a mesh of them.

The node is emitted once, as module ``packet_node``; a mesh instantiates it. The mesh itself is nothing but instances and wires,
so it is written as text: for thousands of nodes the Verilog writer takes minutes. The output depends on the arguments alone.
"""

from __future__ import annotations

import re
from functools import lru_cache

from amaranth.hdl import Shape
from amaranth.lib.wiring import In

from emission import component_verilog, verilog_head

from .mesh import joints
from .node import Node, processor_members
from .router import link_members
from .shape import RouterShape

NODE_MODULE = "packet_node"
MESH_MODULE = "packet_mesh"


def node_verilog(shape: RouterShape) -> str:
    """Verilog of a node: module ``packet_node`` with the ports of ``node.Node``, and the modules below it."""
    return verilog_head(f"Packet node. {_describe(shape)}") + _node(shape)


def mesh_verilog(shape: RouterShape, *, name: str = MESH_MODULE) -> str:
    """Verilog of a mesh: module ``name`` with the processor ports of all nodes, and every module below it.

    Raises
    ------
    ValueError
        If the name is no Verilog identifier, or that of a module of the node.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"name of a module must be letters, digits and _, not {name!r}")
    if name == NODE_MODULE or name.startswith(f"{NODE_MODULE}_"):
        raise ValueError(f"name of a mesh must not be {NODE_MODULE} nor start with {NODE_MODULE}_, as {name!r}")
    head = verilog_head(f"Packet network, {shape.nodes} nodes. {_describe(shape)}")
    return f"{head}{_mesh(shape, name)}{_node(shape)}"


def _mesh(shape: RouterShape, name: str) -> str:
    """Module ``name``: an instance of the node for each place, joined as `mesh.joints` says, with the processor ports of all."""
    outer = processor_members(shape)
    members = {
        inner: (member.flow, Shape.cast(member.shape).width) for inner, member in (link_members(shape) | outer).items()
    }
    ports, wires, instances = ["clk", "rst"], ["  input clk;\n", "  input rst;\n"], []
    for i in range(shape.nodes):
        joined = [".clk(clk)", ".rst(rst)", f".here({shape.here_bits}'d{shape.pack(shape.place(i))})"]
        driven = joints(shape, i)
        for inner, (flow, width) in members.items():
            bits = f" [{width - 1}:0]" if width > 1 else ""
            if inner in outer:
                value = f"{inner}_{i}"
                ports.append(value)
                wires.append(f"  {'input' if flow == In else 'output'}{bits} {value};\n")
            elif flow == In:
                driver = driven[inner]
                value = f"{width}'d0" if driver is None else f"{driver[1]}_of_{driver[0]}"
            else:
                value = f"{inner}_of_{i}"
                wires.append(f"  wire{bits} {value};\n")
            joined.append(f".{inner}({value})")
        instances.append(f"  {NODE_MODULE} node_{i} (\n    " + ",\n    ".join(joined) + "\n  );\n")
    head = f"module {name}({', '.join(ports)});\n"
    return "".join([head, *wires, *instances, "endmodule\n\n"])


def _describe(shape: RouterShape) -> str:
    plain = shape.as_dict() | {"size": "x".join(map(str, shape.size))}
    return ", ".join(f"{name} {value}" for name, value in plain.items())


@lru_cache(maxsize=8)
def _node(shape: RouterShape) -> str:
    return component_verilog(Node(shape=shape), NODE_MODULE)
