"""Why phases get barriers, and what a refused program is told."""

from __future__ import annotations

from math import inf

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.options import PlanOptions
from pointsman.plan.phases import phase_set
from pointsman.plan.plan import Plan
from pointsman.plan.structure.structure import outline


def plan(text: str, size: tuple[int, int], shape: NodeShape) -> Plan:
    """A phase for each operator."""
    program = compile_text(text, topology=mesh(*size))
    return make_plan(program, shape, name="p", period=8, structures=[outline(program)])


def test_a_barrier_for_lack_of_vfsms_keeps_its_reason_when_wires_collide_as_well() -> None:
    text = "(loop 'l 9 (broadcast 'a 0 :m 40) (broadcast 'b 0 :m 40) (broadcast 'c 0 :m 40))"
    roomy = plan(text, (3, 2), NodeShape(vfsms=64))
    assert not any("needs VFSMs" in phase.reason for phase in roomy.phases)
    reasons = [phase.reason for phase in plan(text, (3, 2), NodeShape(vfsms=8)).phases]
    assert all("needs VFSMs of node" in reason and "the link" not in reason for reason in reasons), reasons


@pytest.mark.parametrize("registers", [8, 16])
def test_a_refusal_names_the_lack_of_vfsms_that_made_a_barrier_necessary(registers: int) -> None:
    text = "(loop 'l 9 (broadcast 'a 2 :m 40) (cshift 'b 1 :m 40) (broadcast 'c 2 :m 40))"
    with pytest.raises(PlanError) as refusal:
        plan(text, (2, 2), NodeShape(vfsms=4, registers=registers))
    assert refusal.value.message.endswith(
        "has to have a barrier because phase 'a' needs VFSMs of node 0 that this one would keep without"
    )
    assert "phase 'b' cannot be routed" in refusal.value.message


def test_words_that_a_barrier_would_crowd_out_go_round_the_other_phase(monkeypatch: pytest.MonkeyPatch) -> None:
    # The barrier between the number of the sender and its words would take half of the slots of these.
    program = compile_text("(broadcast 'o (runtime :distributed t) :m 500)", topology=mesh(4, 4))
    options = PlanOptions(first=True)
    plan = make_plan(program, NodeShape(), name="one", period=24, options=options)
    monkeypatch.setattr(phase_set, "CROWDED_OUT", inf)
    before = make_plan(program, NodeShape(), name="one", period=24, options=options)
    assert any(phase.barrier is not None for phase in before.phases)
    assert all(phase.barrier is None for phase in plan.phases)
    assert 1.3 * plan.cycles < before.cycles
