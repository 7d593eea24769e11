"""Roles of single nodes for single values, worked out only where a timeline comes by (`pointsman.plan.plan.Roles` has all)."""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.operators import RoleDraft
from pointsman.operators.implementation import rounds_between_values
from pointsman.plan.instances import Instances
from pointsman.plan.plan import PlannedOperator, PlannedPhase
from pointsman.plan.roles import at_stage, merged


class Parts:
    """All operators of a plan but the barriers that close phases, by number."""

    def __init__(self, phases: Sequence[PlannedPhase]) -> None:
        self.operators: list[tuple[int, PlannedOperator]] = [
            (p, one) for p, phase in enumerate(phases) for one in phase.operators
        ]
        self._instances = [
            Instances(one.implementation, one.operator, range(min(one.streams), max(one.streams) + 1), phases[p].wiring)
            if one.streams
            else Instances(one.implementation, one.operator, range(0), phases[p].wiring)
            for p, one in self.operators
        ]
        self._roles: dict[tuple[int, int, int, int], RoleDraft] = {}
        self._of: list[dict[int, list[int]]] = []
        for _, one in self.operators:
            found: dict[int, list[int]] = {}
            for i, instance in enumerate(one.operator.instances):
                for node in instance.nodes:
                    found.setdefault(node, []).append(i)
            self._of.append(found)

    def role(self, number: int, node: int, value: int, stage: int) -> RoleDraft:
        """What a node does in an operator for a value (by its number), in a stage."""
        key = number, node, value, stage
        if key not in self._roles:
            _, one = self.operators[number]
            drafts = [
                at_stage(self._instances[number].role(i, node, one.values[value]), stage)
                for i in self._of[number][node]
            ]
            self._roles[key] = merged(one.operator, node, drafts)
        return self._roles[key]

    def block(self, number: int) -> int:
        """Rounds after which an operator's values change."""
        return rounds_between_values(self.operators[number][1].operator)
