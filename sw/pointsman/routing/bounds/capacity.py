"""What words use, and how much of it there is, per slot: links, and in the numesh model the pipelines of a node."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from numesh.shape import NodeShape
from pointsman.artifacts.routes.routes import RouteProblem


@dataclass(frozen=True)
class Capacity:
    """Words per slot.

    A link carries one. ``node`` is how many VFSMs a node runs per slot, None where nodes set no limit (ideal model): a
    word costs one for each link that it is written to and one for its delivery.
    """

    node: Fraction | None

    @property
    def model(self) -> str:
        return "ideal" if self.node is None else "numesh"


def capacity_of(shape: NodeShape | None, length: int | None, free_slots: int | None = None) -> Capacity:
    """Capacity of a NuMesh node of this ``shape``; without a shape, of the ideal model.

    Of ``length`` slots ``free_slots`` per node (by default one for each pipeline) stay free for reprogramming. A VFSM
    never runs in two slots on end (Metcalf 1997, §7.1.2), which tells when a pipeline has a single usable VFSM.
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
    """What each stream asks for, in units that all share: words (ideal model) or weight (numesh model)."""
    if capacity.node is None:
        return [Fraction(stream.words) for stream in problem.streams]
    return [Fraction(stream.weight) for stream in problem.streams]
