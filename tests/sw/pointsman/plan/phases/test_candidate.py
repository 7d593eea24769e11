"""One candidate: what its draft promises, when it is given up."""

from __future__ import annotations

from math import inf

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.operators.scheduled.passed_on import PASSED_ON
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.candidates.candidates import find_candidates
from pointsman.plan.context import PlanContext, PlanMemo
from pointsman.plan.errors import PlanError
from pointsman.plan.phases.candidate import draft_candidate, plan_candidate
from pointsman.plan.plan import Plan
from pointsman.plan.structure.structure import outline


def test_a_plan_that_reaches_the_limit_when_its_phases_are_kept_apart_is_given_up() -> None:
    program = compile_text(
        "(loop 'l 9 (broadcast 'a (runtime) :m 40) (cshift 'b 1 :m 40) (broadcast 'c (runtime) :m 40))",
        topology=mesh(3, 3),
    )
    shape = NodeShape()
    candidates = find_candidates(
        ProgramAnalysis(program, Context(program.topology, shape), IMPLEMENTATIONS),
        period=8,
        effort=1.0,
        structures=[outline(program)],
    )

    def planned(limit: float) -> tuple[Plan | None, float]:
        one = candidates.ways[0]
        context = PlanContext(analysis=one.variant.analysis, structure=one.structure, period=one.period)
        least = draft_candidate(context)
        assert least is not None
        assert draft_candidate(context, sum(least)) is None, "nothing is planned that has lost already"
        return plan_candidate(context, "p", limit, least), sum(least)

    found, least = planned(inf)
    assert found is not None
    assert least < found.cycles
    # Between what its phases take before they are closed and what they come to in the end.
    for part in (0.0, 0.25, 0.5, 0.75, 0.99):
        limit = least + part * (found.cycles - least)
        assert planned(limit)[0] is None, part
    again, _ = planned(1.5 * found.cycles)
    assert again is not None
    assert again.cycles == found.cycles


def test_what_was_refused_before_is_refused_before_anything_is_routed() -> None:
    """The gather has no room in eight slots, so no plan with it has, whichever way the shift is done."""
    program = compile_text("(loop 'l 2 (cshift 'c (runtime) :m 9) (gather 'g 1 :m 2))", topology=mesh(3, 5))
    ways = tuple(one for one in IMPLEMENTATIONS if one not in PASSED_ON)
    analysis = ProgramAnalysis(program, Context(program.topology, NodeShape()), ways)
    memo = PlanMemo()

    def refused(chosen: dict[str, str]) -> tuple[str, int]:
        before = len(memo.routes)
        way = analysis.choosing(chosen)
        context = PlanContext(
            analysis=way, structure=way.folded(lambda part, i: True), period=8, fallbacks=False, memo=memo
        )
        with pytest.raises(PlanError, match="phase 'g' cannot be routed with 8 slots") as found:
            plan_candidate(context, "p", inf, draft_candidate(context) or ())
        return str(found.value), len(memo.routes) - before

    first, routed = refused({"c": "dyn_shift"})
    assert routed > 0
    assert refused({"c": "par_shift"}) == (first, 0)


def test_no_draft_is_made_where_operators_continue() -> None:
    program = compile_text(
        "(parallel (broadcast 's 0 :m 4) (sequential (barrier 'a) (barrier 'b)))", topology=mesh(2, 2)
    )
    analysis = ProgramAnalysis(program, Context(program.topology, NodeShape(registers=32)), IMPLEMENTATIONS)
    context = PlanContext(analysis=analysis, structure=analysis.folded(lambda part, i: True), period=16)
    assert draft_candidate(context) == ()
    plan = plan_candidate(context, "p", inf)
    assert plan is not None
    assert [one.operator.operator.label for one in plan.continuing] == ["s"]
    assert plan_candidate(context, "p", plan.cycles / 2) is None
