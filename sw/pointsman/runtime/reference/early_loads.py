"""Operators that a node uses after it has loaded one that is used before or after them: hardware may refuse that.

A load function is called after the last use of the operators before it, as it may take the router to another phase
(Metcalf 1997, §2.7.2). The reference machine has no phases and goes on; what it says here, hardware says when it happens.
"""

from __future__ import annotations

from collections import defaultdict

from pointsman.program.order import in_order, places
from pointsman.program.program import Program

MOST = 8
"""Pairs of operators, at most, that are told of."""


class EarlyLoads:
    """The loads of all nodes of a run, and those that came too early."""

    def __init__(self, program: Program) -> None:
        where = places(program)
        operators = program.operators()
        self.positions = {one.label: str(one.position) if one.position else "" for one in operators}
        self.ordered = {
            label: frozenset(other for other in where if other != label and in_order(where[label], where[other]))
            for label in where
        }
        """By label, the operators that are used before it or after it, not at the same time."""
        self.loads: defaultdict[int, dict[str, None]] = defaultdict(dict)
        """By node, labels of its loads, those that came last at the end."""
        self.found: dict[tuple[str, str], int] = {}
        """Operator that was used, and operator that was loaded since its own load: the first node that did so."""

    def load(self, node: int, label: str) -> None:
        """Note that a node loads an operator."""
        loads = self.loads[node]
        loads.pop(label, None)
        loads[label] = None

    def use(self, node: int, label: str) -> None:
        """Note that a node uses an operator."""
        ordered = self.ordered[label]
        for other in reversed(self.loads[node]):
            if other == label:
                return
            if other in ordered:
                self.found.setdefault((label, other), node)

    def told(self) -> list[str]:
        """A line for each pair of operators."""
        lines = []
        for (used, loaded), node in list(self.found.items())[:MOST]:
            where = f"{self.positions[used]}: " if self.positions[used] else ""
            lines.append(
                f"{where}node {node} uses '{used}' after {loaded}_load, without another {used}_load: hardware may refuse that; "
                "load an operator after the last use of those before it"
            )
        return lines
