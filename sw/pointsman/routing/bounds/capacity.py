"""Capacities per slot, of links and (in the numesh model) of the pipelines of a node, and the streams' demands for them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from numesh.shape import NodeShape
from pointsman.artifacts.routes.routes import RouteProblem


@dataclass(frozen=True)
class Capacity:
    """Capacity of a network per slot.

    A link carries a word. ``node``: VFSMs that a node runs, None for no limit (ideal model). A word takes a VFSM for each link
    to which it is written, and a VFSM for its delivery.
    """

    node: Fraction | None

    @property
    def model(self) -> str:
        return "ideal" if self.node is None else "numesh"


def capacity_of(shape: NodeShape | None, length: int | None, free_slots: int | None = None) -> Capacity:
    """Capacity of a NuMesh node of this ``shape``; without a shape, of the ideal model.

    Of ``length`` slots ``free_slots`` per node (by default as many as pipelines) stay free for reprogramming. A VFSM
    never runs in two consecutive slots (Metcalf 1997, §7.1.2), which matters when a pipeline has a single usable VFSM.
    """
    if shape is None:
        return Capacity(None)
    usable = max(0, shape.vfsms - 2)
    if length is None:
        return Capacity(Fraction(shape.pipelines) * min(Fraction(1), Fraction(usable, 2)))
    free = shape.pipelines if free_slots is None else free_slots
    slots = min(shape.pipelines * length - free, shape.pipelines * usable * (length // 2))
    return Capacity(Fraction(max(0, slots), length))


def demand_of(problem: RouteProblem, capacity: Capacity) -> list[Fraction]:
    """Demand of each stream: its words per period (ideal model) or its weight (numesh model)."""
    if capacity.node is None:
        return [Fraction(stream.words) for stream in problem.streams]
    return [Fraction(stream.weight) for stream in problem.streams]
