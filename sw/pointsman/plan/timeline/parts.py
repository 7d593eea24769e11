"""The operators of a plan by number, and what single nodes do in them for single values."""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.operators import RoleDraft
from pointsman.operators.implementation import rounds_between_values
from pointsman.plan.plan import PlannedOperator, PlannedPhase


class Parts:
    """All operators of a plan but the barriers that close phases, by number."""

    def __init__(self, phases: Sequence[PlannedPhase]) -> None:
        self.operators: list[tuple[int, PlannedOperator]] = [
            (p, one) for p, phase in enumerate(phases) for one in phase.operators
        ]

    def role(self, number: int, node: int, value: int, stage: int) -> RoleDraft:
        """What a node does in an operator for a value (by its number), in a stage."""
        one = self.operators[number][1]
        return one.role(node, value * one.stages + stage)

    def block(self, number: int) -> int:
        """Rounds after which an operator's values change."""
        return rounds_between_values(self.operators[number][1].operator)
