"""Nodes joined by links. Which node is joined to which is the caller's business: a mesh takes a list of links."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import ClockSignal, Instance, Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .interface import processor_members
from .memories import NodeMemories
from .node import Node, node_members
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
    modules : sequence of str, optional
        Verilog module of each node. With these the nodes are instances of modules defined elsewhere, so that a
        node is emitted once; without, they are submodules and the mesh can be simulated.

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
        modules: Sequence[str] | None = None,
    ) -> None:
        check_links(shape, nodes, links)
        if memories is not None and len(memories) != nodes:
            raise LinkError(f"memories must be given for {nodes} nodes, not {len(memories)}")
        if modules is not None and len(modules) != nodes:
            raise LinkError(f"modules must be given for {nodes} nodes, not {len(modules)}")
        if modules is not None and memories is not None:
            raise LinkError("memories belong to the modules, when modules are given")
        self.shape = shape
        self.links = tuple(links)
        self.modules = modules
        members = processor_members(shape)
        super().__init__({f"{name}_{i}": member for i in range(nodes) for name, member in members.items()})
        self.nodes: list[Node] = []
        if modules is None:
            self.nodes = [Node(shape=shape, memories=None if memories is None else memories[i]) for i in range(nodes)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self.modules is None:
            wires = []
            for i, node in enumerate(self.nodes):
                m.submodules[f"node_{i}"] = node
                wires.append({name: getattr(node, name) for name in node_members(self.shape)})
        else:
            wires = [self._instance(m, i, module) for i, module in enumerate(self.modules)]
        for u, port_u, v, port_v in self.links:
            for (writer, out), (reader, into) in (((u, port_u), (v, port_v)), ((v, port_v), (u, port_u))):
                m.d.comb += [
                    wires[reader][f"in_valid_{into}"].eq(wires[writer][f"out_valid_{out}"]),
                    wires[reader][f"in_data_{into}"].eq(wires[writer][f"out_data_{out}"]),
                    wires[writer][f"out_accept_{out}"].eq(wires[reader][f"in_accept_{into}"]),
                ]
        for i, ports in enumerate(wires):
            for name, member in processor_members(self.shape).items():
                inner, outer = ports[name], getattr(self, f"{name}_{i}")
                m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)
        return m

    def _instance(self, m: Module, i: int, module: str) -> dict[str, Signal]:
        ports: dict[str, Signal] = {}
        joints: list[tuple[str, str, object]] = [("i", "clk", ClockSignal()), ("i", "rst", ResetSignal())]
        for name, member in node_members(self.shape).items():
            ports[name] = Signal(member.shape, name=f"{name}_of_{i}")
            joints.append(("o" if member.flow == Out else "i", name, ports[name]))
        m.submodules[f"node_{i}"] = Instance(module, *joints)
        return ports
