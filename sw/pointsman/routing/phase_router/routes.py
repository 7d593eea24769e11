"""The route of a chain: a tree of visits to nodes, each with its pipeline and its slots relative to the start.

All words of a chain take the same route with the same waiting, so a chain is a ``Route`` and a set of start slots.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from .problem import Demand


class NodeVisit(NamedTuple):
    """A chain's VFSMs at a node.

    The word is read in slot ``slot`` (relative to the chain's start) in ``pipeline``; with a ``delay`` k > 0 it goes into a
    buffer and is read again in slot + k. From then on a leg in each slot: the ``links`` in this order, then the
    delivery, if ``delivers``.
    """

    node: int
    parent: int
    """Index of the previous visit, -1 at the source."""
    link: int
    """Link by which words enter the node, -1 at the source."""
    pipeline: int
    slot: int
    delay: int
    links: tuple[int, ...]
    delivers: bool

    @property
    def legs(self) -> int:
        return len(self.links) + self.delivers


@dataclass(frozen=True)
class Route:
    """Visits, parents before children."""

    demand: Demand
    visits: tuple[NodeVisit, ...]

    @cached_property
    def cells(self) -> tuple[tuple[int, int, int], ...]:
        """(node, pipeline, slot) of every VFSM."""
        cells = []
        for visit in self.visits:
            if visit.delay:
                cells.append((visit.node, visit.pipeline, visit.slot))
            begin = visit.slot + visit.delay
            cells.extend((visit.node, visit.pipeline, begin + leg) for leg in range(visit.legs))
        return tuple(cells)

    @cached_property
    def writes(self) -> tuple[tuple[int, int], ...]:
        """(link, slot of the writing VFSM) of every link write."""
        return tuple(
            (link, visit.slot + visit.delay + leg) for visit in self.visits for leg, link in enumerate(visit.links)
        )

    @cached_property
    def reads_interface(self) -> tuple[tuple[int, int, int], ...]:
        """(node, pipeline, slot) of the VFSMs that may read the interface."""
        return tuple((visit.node, visit.pipeline, visit.slot) for visit in self.visits if self._may_inject(visit))

    @cached_property
    def delivers(self) -> tuple[tuple[int, int, int], ...]:
        """(node, pipeline, slot) of the VFSMs that write the interface."""
        return tuple(
            (visit.node, visit.pipeline, visit.slot + visit.delay + len(visit.links))
            for visit in self.visits
            if visit.delivers
        )

    def _may_inject(self, visit: NodeVisit) -> bool:
        return visit.parent < 0 or (self.demand.injects_anywhere and bool(visit.links))


@dataclass(frozen=True, slots=True)
class Chain:
    """A routed chain: the number of its demand, its route, and the slots in which its words start, ascending."""

    demand: int
    route: Route
    starts: tuple[int, ...]


class Footprint:
    """Flat indices of what a route occupies, ready for lists of (nodes × pipelines × slots). Plain lists: a route has few of
    them, so that arrays would take longer to make than all that is done with them.

    Each table has a row for each start slot.
    """

    def __init__(self, route: Route, pipelines: int, slots: int) -> None:
        def table(places: Iterable[tuple[int, int, int]]) -> list[list[int]]:
            rows = [((node * pipelines + pipeline) * slots, slot) for node, pipeline, slot in places]
            return [[row + (slot + start) % slots for row, slot in rows] for start in range(slots)]

        self.cells = table(route.cells)
        self.delivers = table(route.delivers)
        self.counts = [node * pipelines + pipeline for node, pipeline, _ in route.cells]
        """(node, pipeline) of each VFSM."""
