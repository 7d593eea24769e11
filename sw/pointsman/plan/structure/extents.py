"""Program -> tree of extents with ``disjoint`` groups (Metcalf 1997, §6.1.2, §6.1.3).

Takes a Program. Gives a `ProgramPart` for its root: each node has the same operators in the same order, but children of
parallel groups, and neighbours in sequences, whose extents do not meet are now children of a disjoint group: each of
them may run, and change its phases, independently. Leaves alone: implementations, phases.

The *extent* of an instance is the smallest box around its nodes; of an operator or a group, the union of the extents in
it. On a network that is neither mesh nor torus, or where faults cut the box in two, it is the whole network, because nothing
there tells which nodes lie between others. Extents are integers: bit n stands for node n.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pointsman.network import Topology
from pointsman.network.topology import connected
from pointsman.operators.api.operands import box
from pointsman.program.program import Group, Operator, Program

PartKind = Literal["operator", "sequential", "loop", "parallel", "optional", "phase", "disjoint"]


@dataclass(frozen=True, eq=False)
class ProgramPart:
    """An operator or a group of the rewritten tree.

    ``group``: the program's group that it comes from; several parts may come from one group, and a disjoint part from none.
    """

    kind: PartKind
    children: tuple[ProgramPart, ...]
    extent: int
    operator: Operator | None = None
    group: Group | None = None
    sealed: bool = False
    """Must a phase end behind it? Then it is a ``phase`` of the program."""

    @property
    def may_be_passed(self) -> bool:
        """May a program pass over it?"""
        return self.group is not None and self.group.may_be_passed

    def walk(self) -> Iterator[ProgramPart]:
        """This part and all in it, in the order of the text."""
        stack = [self]
        while stack:
            part = stack.pop()
            yield part
            stack.extend(reversed(part.children))

    def operators(self) -> list[Operator]:
        """Its operators in the order of the text."""
        return [part.operator for part in self.walk() if part.operator is not None]

    def __repr__(self) -> str:
        return f"<ProgramPart {self.kind}: {len(self.children)} children>"


class Extents:
    """Extents of subsets, with a cache, since operators mostly share their subsets."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology
        self.all = (1 << topology.nodes) - 1
        self._known: dict[tuple[int, ...], int] = {}

    def of_nodes(self, nodes: tuple[int, ...]) -> int:
        """The smallest box around ``nodes``."""
        if nodes not in self._known:
            self._known[nodes] = self._box(nodes)
        return self._known[nodes]

    def of_operator(self, operator: Operator) -> int:
        """The union of the boxes of an operator's instances (§6.1.3)."""
        extent, before = 0, None
        for instance in operator.instances:
            # Neighbouring instances mostly share a tuple of nodes, which may be long to hash.
            if instance.nodes is not before:
                extent |= self.of_nodes(instance.nodes)
                before = instance.nodes
        return extent

    def _box(self, nodes: Sequence[int]) -> int:
        if not self.topology.has_coordinates:
            return self.all
        around = box(nodes, self.topology)
        if not self.topology.regular and not connected(set(around), self.topology):
            return self.all
        return sum(1 << node for node in around)


def members(extent: int) -> tuple[int, ...]:
    """Node numbers of a set of nodes."""
    return tuple(node for node in range(extent.bit_length()) if extent >> node & 1)


def disjoint_tree(program: Program, *, sealed: bool = True) -> ProgramPart:
    """The program's tree with disjoint groups where extents allow them. ``sealed``: a phase has to end behind each of its
    ``phase`` groups."""
    extents = Extents(program.topology)
    # Programs may be deep: groups are opened and closed on a stack of our own.
    done: list[list[ProgramPart]] = [[]]
    stack: list[tuple[Group | Operator, bool]] = [(program.root, False)]
    while stack:
        part, closing = stack.pop()
        if isinstance(part, Operator):
            done[-1].append(ProgramPart("operator", (), extents.of_operator(part), part))
        elif not closing:
            stack.append((part, True))
            stack.extend((child, False) for child in reversed(part.children))
            done.append([])
        else:
            children = done.pop()
            done[-1].append(_rewritten(part, children, sealed))
    return done[0][0]


def _rewritten(group: Group, children: list[ProgramPart], sealed: bool) -> ProgramPart:
    if group.kind == "phase":
        # The program asks for a single phase here, so nothing in it may be a thread.
        return ProgramPart("phase", tuple(children), _union(children), None, group, sealed)
    if group.kind == "parallel":
        sets = _meeting(children)
        parts = [one[0] if len(one) == 1 else _parallel(one, group) for one in sets]
        return parts[0] if len(parts) == 1 and sets[0] == children else _disjoint(parts, group)
    children = _runs(children)
    if group.kind == "sequential" and len(children) == 1:
        return children[0]
    return ProgramPart(group.kind, tuple(children), _union(children), None, group)


def _parallel(children: list[ProgramPart], group: Group) -> ProgramPart:
    """A parallel group of children that overlap. Neighbours that do not meet become a disjoint group in it: rows and
    columns, for example, make two disjoint groups side by side (§6.2.2)."""
    children = _runs(children)
    if len(children) == 1:
        return children[0]
    return ProgramPart("parallel", tuple(children), _union(children), None, group)


def meeting(extents: Sequence[int]) -> list[list[int]]:
    """Indices of extents, grouped so that extents of different groups do not overlap (§6.1.3)."""
    sets: list[tuple[int, list[int]]] = []
    for number, extent in enumerate(extents):
        united = [number]
        rest = []
        for other, one in sets:
            if other & extents[number]:
                extent |= other
                united = one + united
            else:
                rest.append((other, one))
        sets = [*rest, (extent, sorted(united))]
    return [one for _, one in sorted(sets, key=lambda pair: pair[1][0])]


def apart(extents: Sequence[int]) -> list[list[int]]:
    """Indices of a sequence of extents, divided into runs of neighbours that do not overlap each other (§6.1.3)."""
    runs: list[tuple[int, list[int]]] = []
    for number, extent in enumerate(extents):
        if runs and not runs[-1][0] & extent:
            covered, run = runs.pop()
            runs.append((covered | extent, [*run, number]))
        else:
            runs.append((extent, [number]))
    return [run for _, run in runs]


def _meeting(children: Sequence[ProgramPart]) -> list[list[ProgramPart]]:
    """Children, grouped by `meeting` of their extents."""
    return [[children[i] for i in one] for one in meeting([child.extent for child in children])]


def _runs(children: Sequence[ProgramPart]) -> list[ProgramPart]:
    """A sequence in which each run of neighbours that do not overlap has become a disjoint group."""
    runs = [[children[i] for i in run] for run in apart([child.extent for child in children])]
    return [run[0] if len(run) == 1 else _disjoint(run, None) for run in runs]


def _disjoint(children: Sequence[ProgramPart], group: Group | None) -> ProgramPart:
    """A disjoint group; disjoint groups among its children are dissolved."""
    flat: list[ProgramPart] = []
    for child in children:
        flat += child.children if child.kind == "disjoint" else (child,)
    return ProgramPart("disjoint", tuple(flat), _union(flat), None, group)


def _union(parts: Sequence[ProgramPart]) -> int:
    extent = 0
    for part in parts:
        extent |= part.extent
    return extent
