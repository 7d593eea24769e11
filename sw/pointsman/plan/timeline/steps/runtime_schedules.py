"""What operators cost whose nodes make a schedule for the values that they are given, as the timeline plays them."""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.operators.api.operands import operand, runtime_values
from pointsman.plan.plan import Plan
from pointsman.protocol.scheduling import Moves, ScheduleCost, moves_of, schedule_cost, typical_permutation

from ..board import NumberedOperators
from ..sampling import SampledVisit, choice


class RuntimeSchedules:
    """Schedules that the operators of a plan make at run time."""

    def __init__(self, plan: Plan, parts: NumberedOperators) -> None:
        self.plan, self.parts = plan, parts
        self._costs: dict[tuple[int, Moves], ScheduleCost] = {}
        self._permuted: dict[tuple[str, int, Sequence[int]], Moves] = {}

    def moves(self, number: int, nodes: Sequence[int], visit: SampledVisit) -> Moves:
        """Who sends to whom in a visit to an operator that is scheduled at run time, in an instance."""
        operator = self.parts.operators[number][1].operator
        asked = visit.number // max(1, self.parts.block(number))
        if visit.permutation is not None:
            return moves_of(operator.kind, nodes, 0, visit.permutation)
        if operator.kind == "permute":
            key = operator.label, asked, nodes
            if key not in self._permuted:
                self._permuted[key] = moves_of(operator.kind, nodes, 0, typical_permutation(len(nodes), asked))
            return self._permuted[key]
        legal = runtime_values(operator)
        values = visit.values if visit.values in legal else legal[choice(operator.label, asked, len(legal))]
        return moves_of(operator.kind, nodes, operand(operator, 0, "distance", values))

    def cost(self, m: int, moves: Moves) -> ScheduleCost:
        """What making a schedule for these moves of ``m`` words takes."""
        if (m, moves) not in self._costs:
            self._costs[m, moves] = schedule_cost(self.plan.topology, self.plan.shape, moves, self.plan.period, m)
        return self._costs[m, moves]
