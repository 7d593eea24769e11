"""Verilog of a node and of a mesh.

The node is emitted once, as module ``numesh_node``; a mesh instantiates it. With contents for the memories each
node is a module of its own (``numesh_node_<i>``), which shares everything but the memories with the others.
The mesh itself is nothing but instances and wires, so it is written as text: for thousands of nodes the Verilog writer takes
minutes. The output depends on the arguments alone: no paths, no dates.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from amaranth.hdl import Shape
from amaranth.lib.wiring import In

from emission import component_verilog, verilog_head

from .full_bits import Kept
from .interface import processor_members
from .memories import NodeMemories
from .mesh import Link, LinkError, check_links, joints
from .node import Node, node_members
from .shape import NodeShape

NODE_MODULE = "numesh_node"


def node_verilog(shape: NodeShape, full_bits: Kept = "memory") -> str:
    """Verilog of a node: module ``numesh_node`` with the ports of ``node.Node``, and the modules below it."""
    return verilog_head(f"NuMesh node. {_describe(shape)}") + _node_modules(shape, full_bits)


def mesh_verilog(
    shape: NodeShape,
    nodes: int,
    links: Sequence[Link],
    *,
    name: str = "numesh_mesh",
    contents: Sequence[NodeMemories] | None = None,
    full_bits: Kept = "memory",
) -> str:
    """Verilog of a mesh: module ``name`` with the ports of ``mesh.Mesh``, and every module below it.

    Parameters
    ----------
    shape : NodeShape
        Sizes of every node.
    nodes : int
        Number of nodes.
    links : sequence of (u, port of u, v, port of v)
        Joins; each port at most once.
    name : str
        Name of the top module.
    contents : sequence of NodeMemories, optional
        What the memories of each node hold at power-up; by default the loader phase.
    full_bits : {"memory", "flip-flops"}
        Where the full bits of buffers are kept, as in `node.Node`.

    Raises
    ------
    LinkError
        If a link names a node or port that does not exist, or a port is joined twice, or the number of contents
        is not that of the nodes.
    ShapeError
        If the contents do not fit the shape.
    ValueError
        If the name is no Verilog identifier, or that of a module of the node.
    """
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name):
        raise ValueError(f"name of a module must be letters, digits and _, not {name!r}")
    if name == NODE_MODULE or name.startswith(f"{NODE_MODULE}_"):
        raise ValueError(f"name of a mesh must not be {NODE_MODULE} nor start with {NODE_MODULE}_, as {name!r}")
    check_links(shape, nodes, links)
    if contents is None:
        modules = [NODE_MODULE] * nodes
    else:
        if len(contents) != nodes:
            raise LinkError(f"memories must be given for {nodes} nodes, not {len(contents)}")
        for memories in contents:
            memories.check(shape)
        modules = [f"{NODE_MODULE}_{i}" for i in range(nodes)]
    parts = [verilog_head(f"NuMesh, {nodes} nodes. {_describe(shape)}"), _mesh(shape, name, modules, links)]
    if contents is None:
        parts.append(_node_modules(shape, full_bits))
    else:
        parts.append(_preloaded_modules(shape, contents, full_bits))
    return "".join(parts)


def _describe(shape: NodeShape) -> str:
    return ", ".join(f"{name} {value}" for name, value in shape.as_dict().items())


def _mesh(shape: NodeShape, name: str, modules: Sequence[str], links: Sequence[Link]) -> str:
    """Module ``name``: an instance for each of ``modules``, joined by ``links``, with the processor ports of all."""
    outer = processor_members(shape)
    members = {inner: (member.flow, Shape.cast(member.shape).width) for inner, member in node_members(shape).items()}
    driven = {(node, inner): f"{output}_of_{other}" for node, inner, other, output in joints(links)}
    ports, wires, instances = ["clk", "rst"], ["  input clk;\n", "  input rst;\n"], []
    for i, module in enumerate(modules):
        joined = [".clk(clk)", ".rst(rst)"]
        for inner, (flow, width) in members.items():
            bits = f" [{width - 1}:0]" if width > 1 else ""
            if inner in outer:
                value = f"{inner}_{i}"
                ports.append(value)
                wires.append(f"  {'input' if flow == In else 'output'}{bits} {value};\n")
            elif flow == In:
                value = driven.get((i, inner), f"{width}'d0")
            else:
                value = f"{inner}_of_{i}"
                wires.append(f"  wire{bits} {value};\n")
            joined.append(f".{inner}({value})")
        instances.append(f"  {module} node_{i} (\n    " + ",\n    ".join(joined) + "\n  );\n")
    head = f"module {name}({', '.join(ports)});\n"
    return "".join([head, *wires, *instances, "endmodule\n\n"])


@lru_cache(maxsize=8)
def _node_modules(shape: NodeShape, full_bits: Kept) -> str:
    return component_verilog(Node(shape=shape, full_bits=full_bits), NODE_MODULE)


def _preloaded_modules(shape: NodeShape, contents: Sequence[NodeMemories], full_bits: Kept) -> str:
    """Modules of nodes with different memories: what has no memory is shared, the rest is copied."""
    modules = {}
    for match in re.finditer(r"^module (\w+) ?\(.*?^endmodule\n\n?", _node_modules(shape, full_bits), re.M | re.S):
        modules[match[1]] = match[0]
    memories = ["schedule"] + [f"annotation_{p}" for p in range(shape.pipelines)]
    copied = {name: modules.pop(f"{NODE_MODULE}_{name}") for name in memories}
    node = modules.pop(NODE_MODULE)
    parts = list(modules.values())
    for i, memory in enumerate(contents):
        prefix = f"{NODE_MODULE}_{i}"
        text = _renamed(node, NODE_MODULE, prefix)
        for name in memories:
            text = _renamed(text, f"{NODE_MODULE}_{name}", f"{prefix}_{name}")
        parts.append(text)
        for name, words in zip(memories, (memory.schedule, *memory.annotations), strict=True):
            text = _renamed(copied[name], f"{NODE_MODULE}_{name}", f"{prefix}_{name}")
            parts.append(_with_contents(text, words))
    return "".join(parts)


def _renamed(text: str, old: str, new: str) -> str:
    return re.sub(rf"^( *(?:module )?){old}(?=[ (])", rf"\g<1>{new}", text, flags=re.M)


def _with_contents(module: str, words: Sequence[int]) -> str:
    """``module`` with other words in the ``initial`` block of its memory."""

    def word(match: re.Match[str]) -> str:
        address, width = int(match[1]), int(match[2])
        value = f"{words[address]:d}" if match[3] == "d" else f"{words[address]:0{-(-width // 4)}x}"
        return f"    ram[{address}] = {width}'{match[3]}{value};\n"

    text, count = re.subn(r"^    ram\[(\d+)\] = (\d+)'([hd])[0-9a-f]+;\n", word, module, flags=re.M)
    if count != len(words):
        raise AssertionError(f"initial block holds {count} words, not {len(words)}")
    return text
