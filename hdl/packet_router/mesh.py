"""Stations or nodes joined by the links of a mesh, torus or graph."""

from __future__ import annotations

from collections.abc import Mapping

from amaranth.hdl import Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from .interface import port_members
from .node import Node, Station, processor_members
from .routing import graph_ends
from .shape import RouterShape

FORWARD = ("valid", "channel", "data", "last")
"""What goes along a link."""
BACK = ("credit_valid", "credit_channel")
"""What comes back."""


def neighbour(shape: RouterShape, node: int, port: int) -> tuple[int, int] | None:
    """Node and port at the other end of a link; None where there is none."""
    if shape.graph is not None:
        ends = graph_ends(shape)[node]
        return ends[port] if port < len(ends) else None
    dimension, up = divmod(port, 2)
    extent = shape.size[dimension]
    place = list(shape.place(node))
    there = place[dimension] + (1 if up else -1)
    if not 0 <= there < extent:
        if not shape.torus or extent == 1:
            return None
        there %= extent
    place[dimension] = there
    number = 0
    for at, size in zip(reversed(place), reversed(shape.size), strict=True):
        number = number * size + at
    return number, port ^ 1


def joints(shape: RouterShape, node: int) -> dict[str, tuple[int, str] | None]:
    """For each link input of a node the node and output that drives it. A port without a neighbour gets its own credits
    back, so that a message for a place that does not exist is lost and blocks nobody; None stands for zero."""
    found: dict[str, tuple[int, str] | None] = {}
    for port in range(shape.links):
        end = neighbour(shape, node, port)
        for name in FORWARD:
            found[f"in_{name}_{port}"] = None if end is None else (end[0], f"out_{name}_{end[1]}")
        for name in BACK:
            own = (node, f"out_{name.removeprefix('credit_')}_{port}")
            found[f"out_{name}_{port}"] = own if end is None else (end[0], f"in_{name}_{end[1]}")
    return found


class Mesh(wiring.Component):
    """All nodes of a shape.

    Latency: that of the nodes; a link adds none.

    Parameters
    ----------
    shape : RouterShape
    open_sides : bool
        Stations, with both sides of their interfaces open, in place of nodes with a processor port.

    Ports
    -----
    p_…_<i> : processor port of node i, see `packet_router.node.processor_members`
    send_…_<i>, take_…_<i>, full_<i> : with ``open_sides``, see `packet_router.interface.port_members`
    """

    def __init__(self, *, shape: RouterShape, open_sides: bool = False) -> None:
        self.shape = shape
        self.members: Mapping[str, wiring.Member] = port_members(shape) if open_sides else processor_members(shape)
        self.open_sides = open_sides
        super().__init__({f"{n}_{i}": member for i in range(shape.nodes) for n, member in self.members.items()})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = self.shape
        parts: list[Station | Node] = []
        for i in range(shape.nodes):
            parts.append(Station(shape=shape) if self.open_sides else Node(shape=shape))
            m.submodules[f"node_{i}"] = parts[i]
        for i, part in enumerate(parts):
            m.d.comb += part.here.eq(shape.pack(shape.place(i)))
            for name, driver in joints(shape, i).items():
                value = Const(0, 1) if driver is None else getattr(parts[driver[0]], driver[1])
                m.d.comb += getattr(part, name).eq(value)
            for name, member in self.members.items():
                near, far = getattr(part, name), getattr(self, f"{name}_{i}")
                m.d.comb += near.eq(far) if member.flow == In else far.eq(near)
        return m
