"""Why phases get barriers, and what a refused program is told."""

from __future__ import annotations

from math import inf

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.candidates.candidates import find_candidates
from pointsman.plan.context import PlanContext
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.phases.candidate import draft_candidate, plan_candidate
from pointsman.plan.plan import Plan
from pointsman.plan.structure.structure import outline


def plan(text: str, size: tuple[int, int], shape: NodeShape) -> Plan:
    """A phase for each operator."""
    program = compile_text(text, topology=mesh(*size))
    return make_plan(program, shape, name="p", period=8, structures=[outline(program)])


def test_a_barrier_for_lack_of_vfsms_keeps_its_reason_when_wires_collide_as_well() -> None:
    text = "(loop 'l 9 (broadcast 'a 1 :m 40) (broadcast 'b 1 :m 40) (broadcast 'c 1 :m 40))"
    roomy = plan(text, (3, 2), NodeShape(vfsms=64))
    assert not any("needs VFSMs" in phase.reason for phase in roomy.phases)
    reasons = [phase.reason for phase in plan(text, (3, 2), NodeShape(vfsms=8)).phases]
    assert all("needs VFSMs of node" in reason and "the link" not in reason for reason in reasons), reasons


@pytest.mark.parametrize("registers", [8, 16])
def test_a_refusal_names_the_lack_of_vfsms_that_made_a_barrier_necessary(registers: int) -> None:
    text = "(loop 'l 9 (broadcast 'a 1 :m 40) (cshift 'b 1 :m 40) (broadcast 'c 1 :m 40))"
    with pytest.raises(PlanError) as refusal:
        plan(text, (2, 2), NodeShape(vfsms=4, registers=registers))
    assert refusal.value.message.endswith(
        "has to have a barrier because phase 'a' needs VFSMs of node 0 that this one would keep without"
    )
    assert "phase 'b' cannot be routed" in refusal.value.message


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
