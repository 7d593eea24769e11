"""Phases that are routed again off the wires of others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.conflicts.collisions import collisions
from pointsman.plan.conflicts.link_slots import link_writes
from pointsman.plan.conflicts.reroute import reroute
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan, PlannedPhase
from pointsman.plan.structure.structure import outline


@pytest.fixture(scope="module")
def plan() -> Plan:
    program = compile_text("(stream 'a 0 1 :m 40) (stream 'b 0 1 :m 40)", topology=mesh(2, 1))
    return make_plan(program, NodeShape(), name="x", period=16, structures=[outline(program)])


def colliding(plan: Plan) -> list[PlannedPhase]:
    """Both phases with the routes of the first, which each node leaves for itself."""
    return [
        replace(
            phase,
            barrier=None,
            technique=technique,
            routed=plan.phases[0].routed,
            operators=tuple(replace(one, message_bound=False) for one in phase.operators),
        )
        for phase, technique in zip(plan.phases, ("msg-sync", "none"), strict=True)
    ]


def test_the_later_phase_moves_off_all_that_the_earlier_writes(plan: Plan) -> None:
    phases, asked = colliding(plan), []
    elsewhere = replace(phases[1], routed=replace(phases[1].routed, chains=()))

    def again(planned, later, taken, instead, freed):  # type: ignore[no-untyped-def]
        asked.append((later, taken, set(instead), freed))
        return elsewhere

    found = reroute(plan.structure, phases, again, aliased_handshake=False)
    writes = frozenset(link_writes(plan.phases[0].routed))
    assert asked == [(1, {0: writes}, {0}, {})]
    assert found.keys() == {1}
    assert found[1].phase is elsewhere
    assert (found[1].taken, found[1].freed) == ({0: writes}, {})
    assert not collisions([phases[0], elsewhere], plan.structure, aliased_handshake=False)


def test_a_phase_that_cannot_move_stays_for_a_barrier(plan: Plan) -> None:
    assert reroute(plan.structure, colliding(plan), lambda *_: None, aliased_handshake=False) == {}


def test_a_move_that_does_not_help_is_not_made(plan: Plan) -> None:
    phases = colliding(plan)
    assert reroute(plan.structure, phases, lambda *_: phases[1], aliased_handshake=False) == {}
