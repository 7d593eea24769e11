"""Tree of parts and phases -> the way of each node through the phases, where threads make them differ (Metcalf 1997, §6.1.2).

Children of a disjoint group run independently on their own parts of the mesh. Where they have phases of their own, a
node only goes through those of the child in whose extent it lies; nodes outside all extents skip the group. Nodes in
the same children go the same ways. Takes a `ProgramPart` and phases folded out of it; leaves alone: routes, barriers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .control_flow import control
from .extents import ProgramPart
from .phase_graph import PhaseGraph
from .phase_tree import Phases, leaves


@dataclass(frozen=True, eq=False)
class Threads:
    """Disjoint groups of a program whose children have phases of their own."""

    root: ProgramPart
    phases: Phases
    passed: frozenset[ProgramPart] = frozenset()
    """Loops and optional groups that nobody passes over."""
    once: bool = False
    """The loops of ``passed`` go round once."""

    @cached_property
    def of(self) -> dict[str, frozenset[int]]:
        """By label of an operator, its phases."""
        found: dict[str, set[int]] = {}
        for number, leaf in enumerate(leaves(self.phases)):
            for operator in leaf.operators:
                found.setdefault(operator.label, set()).add(number)
        return {label: frozenset(numbers) for label, numbers in found.items()}

    def phases_of(self, part: ProgramPart) -> frozenset[int]:
        """Phases that hold operators of ``part``."""
        return frozenset().union(*(self.of[operator.label] for operator in part.operators()))

    @cached_property
    def groups(self) -> tuple[ProgramPart, ...]:
        """The disjoint groups whose operators are in more than one phase."""
        return tuple(part for part in self.root.walk() if part.kind == "disjoint" and len(self.phases_of(part)) > 1)

    @cached_property
    def _known(self) -> dict[tuple[tuple[int, ...], ...], PhaseGraph]:
        return {}

    @cached_property
    def _apart(self) -> tuple[ProgramPart, ...]:
        return tuple(part for part in self.root.walk() if part.kind == "disjoint")

    def signature(self, node: int) -> tuple[tuple[int, ...], ...]:
        """Key that is equal for nodes that go the same ways: by disjoint group, the child that the node is in."""
        return tuple(
            tuple(i for i, child in enumerate(part.children) if child.extent >> node & 1) for part in self._apart
        )

    @cached_property
    def _labels(self) -> dict[tuple[tuple[int, ...], ...], frozenset[str]]:
        return {}

    def labels_of(self, node: int) -> frozenset[str]:
        """Labels of the operators that ``node`` comes to: all but those of other threads."""
        signature = self.signature(node)
        if signature not in self._labels:
            found: set[str] = set()
            stack = [self.root]
            while stack:
                part = stack.pop()
                if part.operator is not None:
                    found.add(part.operator.label)
                apart = part.kind == "disjoint"
                stack += [child for child in part.children if not apart or child.extent >> node & 1]
            self._labels[signature] = frozenset(found)
        return self._labels[signature]

    def graph_of(self, node: int) -> PhaseGraph:
        """Which phase may follow which at ``node``; nodes that go the same ways share a graph."""
        signature = self.signature(node)
        if signature not in self._known:
            ways = control(self.root, self.phases, node, self.passed, once=self.once)
            self._known[signature] = PhaseGraph(ways.successors)
        return self._known[signature]


def child_of(group: ProgramPart, node: int) -> ProgramPart | None:
    """The child of a disjoint group in whose extent a node lies."""
    return next((child for child in group.children if child.extent >> node & 1), None)
