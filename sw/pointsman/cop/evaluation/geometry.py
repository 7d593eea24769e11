"""The subset in which an operator is evaluated, its coordinates, and the functions of Metcalf 1997, Table A.2.

Coordinates are relative, as node numbers are: a member's coordinate is the rank of its mesh coordinate among the mesh
coordinates in the subset. In a block of a mesh that is the distance from the block's corner; in a subset of every second
column, the columns count 0, 1, 2 …; a size is the number of ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from pointsman.network import Topology

from .values import Complaint

AXES = "xyz"
NETWORK_VARIABLES = (
    "*nodes*",
    *(f"*{axis}size*" for axis in AXES),
    *(f"*{axis}phys*" for axis in AXES),
    "*subset*",
)


class SubsetContext:
    """The subset that is current while some part of a program is evaluated.

    Parameters
    ----------
    topology : Topology
    nodes : tuple of int or None
        Members of the subset in order, as node numbers of the network; None: all nodes that work.
    """

    variables = NETWORK_VARIABLES

    def __init__(self, topology: Topology, nodes: tuple[int, ...] | None = None) -> None:
        self.topology = topology
        self.whole = nodes is None
        self.nodes = topology.working if nodes is None else nodes

    def __len__(self) -> int:
        return len(self.nodes)

    def refuse_without_coordinates(self, what: str) -> None:
        """Raise `Complaint` if the nodes of the network have no coordinates, which ``what`` needs."""
        if not self.topology.has_coordinates:
            raise Complaint(
                f"{what} needs a mesh or torus; the nodes of a {self.topology.kind} have no coordinates",
                hint="*nodes*, (all N) and lists of node numbers work on any network",
            )

    @cached_property
    def physical(self) -> tuple[int, int, int]:
        """Network size in three dimensions."""
        x, y, z = (*self.topology.size, 1, 1)[:3]
        return x, y, z

    @cached_property
    def coordinates(self) -> tuple[tuple[int, int, int], ...]:
        """Relative x, y, z of each member."""
        of = self.topology.coordinates
        full = [(*of(node), 0, 0)[:3] for node in self.nodes]
        ranks = [{place: rank for rank, place in enumerate(sorted(set(axis)))} for axis in zip(*full, strict=True)]
        return tuple((ranks[0][x], ranks[1][y], ranks[2][z]) for x, y, z in full)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """How many different x, y and z there are."""
        if self.whole:
            return self.physical
        return tuple(1 + max(axis) for axis in zip(*self.coordinates, strict=True))

    @cached_property
    def members(self) -> dict[tuple[int, ...], int]:
        """Member at each relative coordinate."""
        return {place: member for member, place in enumerate(self.coordinates)}

    def lines(self, dimension: int) -> list[tuple[int, ...]]:
        """Lines of members that differ only in ``dimension``, each in its order; among the lines x runs fastest, z slowest."""
        found: dict[tuple[int, ...], list[int]] = {}
        order = sorted(range(len(self)), key=lambda member: self.coordinates[member][::-1])
        for member in order:
            place = self.coordinates[member]
            found.setdefault(place[:dimension] + place[dimension + 1 :], []).append(member)
        return [tuple(found[key]) for key in sorted(found, key=lambda key: key[::-1])]

    def inner(self, members: Sequence[int]) -> SubsetContext:
        """The context of a subset of this subset."""
        return SubsetContext(self.topology, tuple(self.nodes[member] for member in members))

    def variable(self, name: str) -> object | None:
        """Value of a predefined variable of the network, or None."""
        if name not in NETWORK_VARIABLES:
            return None
        if name == "*nodes*":
            return len(self)
        if name == "*subset*":
            return self.nodes
        self.refuse_without_coordinates(name)
        axis = AXES.index(name[1])
        return self.sizes[axis] if name.endswith("size*") else self.physical[axis]

    @property
    def numbering(self) -> str | None:
        """What to know of node numbers here, as a hint, if they are not those of the network."""
        if not self.whole:
            return "node numbers are relative to the enclosing subset"
        dead = len(self.topology.dead)
        if not dead:
            return None
        return f"{dead} of the network's nodes {'do' if dead > 1 else 'does'} not work; node numbers count the others alone"

    @property
    def noun(self) -> str:
        """Word for the set to which node numbers are relative, for messages."""
        return "network" if self.whole else "subset"
