"""What options of the planner change."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.options import PlanOptions

TEXT = "(loop 'l 5 (broadcast 'a 0 :m 2) (cshift 'b 1 :m 2))"


def test_the_first_plan_is_kept_and_each_attempt_is_told() -> None:
    program = compile_text(TEXT, topology=mesh(2, 2))
    few: list[str] = []
    many: list[str] = []
    first = make_plan(program, NodeShape(), name="x", options=PlanOptions(first=True, progress=few.append))
    best = make_plan(program, NodeShape(), name="x", options=PlanOptions(progress=many.append))
    assert first.cycles >= best.cycles
    assert 0 < len(few) < len(many)
    assert all(line.startswith("planning x with ") for line in many)


def test_no_plan_has_more_phases_than_are_allowed_and_refusals_are_told() -> None:
    program = compile_text("(phase (broadcast 'a 0 :m 9)) (phase (cshift 'b 1 :m 9))", topology=mesh(2, 2))
    assert len(make_plan(program, NodeShape(), name="x").phases) == 2
    refused: list[str] = []
    with pytest.raises(PlanError):
        make_plan(program, NodeShape(), name="x", options=PlanOptions(most_phases=1, refused=refused.append))
