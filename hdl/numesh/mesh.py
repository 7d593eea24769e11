"""Nodes joined by links. Which node is joined to which is the caller's business: a mesh takes a list of links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from .interface import processor_members
from .memories import NodeMemories
from .node import Node
from .shape import NodeShape

Link = tuple[int, int, int, int]
"""Node u, its port, node v, its port. Joins both directions."""


class LinkError(ValueError):
    """Links that cannot be built."""


def check_links(shape: NodeShape, nodes: int, links: Sequence[Link]) -> None:
    """Raise ``LinkError`` if a link names a node or port that does not exist, or a port is joined twice."""
    if nodes < 1:
        raise LinkError(f"nodes must be at least 1, not {nodes}")
    joined: dict[tuple[int, int], Link] = {}
    for link in links:
        u, port_u, v, port_v = link
        for node, port in ((u, port_u), (v, port_v)):
            if not 0 <= node < nodes:
                raise LinkError(f"link {link}: node must be 0 to {nodes - 1}, not {node}")
            if not 0 <= port < shape.neighbours:
                raise LinkError(f"link {link}: port must be 0 to {shape.neighbours - 1}, not {port}")
            if (node, port) in joined:
                raise LinkError(f"link {link}: port {port} of node {node} is joined already by {joined[node, port]}")
            joined[node, port] = link


def joints(links: Sequence[Link]) -> Iterator[tuple[int, str, int, str]]:
    """Wires of the links: a node and its input, and the node and output that drive it."""
    for u, port_u, v, port_v in links:
        for (writer, out), (reader, into) in (((u, port_u), (v, port_v)), ((v, port_v), (u, port_u))):
            yield reader, f"in_valid_{into}", writer, f"out_valid_{out}"
            yield reader, f"in_data_{into}", writer, f"out_data_{out}"
            yield writer, f"out_accept_{out}", reader, f"in_accept_{into}"


class Mesh(wiring.Component):
    """``nodes`` nodes of one shape, joined by ``links``. A port that no link joins offers and accepts nothing.

    Latency: that of the nodes; a link adds none.

    Parameters
    ----------
    shape : NodeShape
        Sizes of every node.
    nodes : int
        Number of nodes.
    links : sequence of (u, port of u, v, port of v)
        Joins; each port at most once.
    memories : sequence of NodeMemories, optional
        What the memories of each node hold at power-up; by default the loader phase.

    Ports
    -----
    p_address_<i>, p_write_<i>, p_read_<i>, p_write_data_<i>, p_full_<i>, p_read_data_<i>
        Processor port of node i, as in ``interface.InterfaceRegisters``.
    """

    def __init__(
        self,
        *,
        shape: NodeShape,
        nodes: int,
        links: Sequence[Link],
        memories: Sequence[NodeMemories] | None = None,
    ) -> None:
        check_links(shape, nodes, links)
        if memories is not None and len(memories) != nodes:
            raise LinkError(f"memories must be given for {nodes} nodes, not {len(memories)}")
        self.shape = shape
        self.links = tuple(links)
        members = processor_members(shape)
        super().__init__({f"{name}_{i}": member for i in range(nodes) for name, member in members.items()})
        self.nodes = [Node(shape=shape, memories=None if memories is None else memories[i]) for i in range(nodes)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for i, node in enumerate(self.nodes):
            m.submodules[f"node_{i}"] = node
        for reader, name, writer, output in joints(self.links):
            m.d.comb += getattr(self.nodes[reader], name).eq(getattr(self.nodes[writer], output))
        for i, node in enumerate(self.nodes):
            for name, member in processor_members(self.shape).items():
                inner, outer = getattr(node, name), getattr(self, f"{name}_{i}")
                m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)
        return m
