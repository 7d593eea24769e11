"""Phases whose words would meet on a wire."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.conflicts.collisions import collisions, settling, turned_round
from pointsman.plan.conflicts.happens_before import HappensBefore
from pointsman.plan.conflicts.link_slots import forked_writes, link_writes
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan, PlannedPhase
from pointsman.plan.structure.structure import outline


@pytest.fixture(scope="module")
def plan() -> Plan:
    text = "(loop 'l 9 (stream 'a 0 1 :m 40) (stream 'b 0 1 :m 40))"
    program = compile_text(text, topology=mesh(2, 1))
    return make_plan(program, NodeShape(), name="x", period=16, structures=[outline(program)])


def same_wires(plan: Plan) -> list[PlannedPhase]:
    """Both phases with the routes of the first, left by each node for itself, and no word that tells of another node."""
    deaf = [replace(phase, barrier=None, technique="msg-sync") for phase in plan.phases]
    deaf = [replace(p, operators=tuple(replace(o, message_bound=False) for o in p.operators)) for p in deaf]
    return [replace(phase, routed=plan.phases[0].routed) for phase in deaf]


def test_a_plan_has_none(plan: Plan) -> None:
    for earlier, later, _ in collisions(list(plan.phases), plan.structure, aliased_handshake=False):
        assert plan.phases[earlier].barrier is not None, (earlier, later)


def test_the_same_wires_in_two_phases_collide_either_way_round_a_loop(plan: Plan) -> None:
    phases = same_wires(plan)
    found = collisions(phases, plan.structure, aliased_handshake=False)
    assert [(earlier, later) for earlier, later, _ in found] == [(0, 1), (1, 0)]
    assert all(link in link_writes(phases[0].routed) for _, _, link in found)


def test_a_phase_that_nobody_leaves_collides_with_none(plan: Plan) -> None:
    phases = [replace(phase, technique="none") for phase in same_wires(plan)]
    assert collisions(phases, plan.structure, aliased_handshake=False) == []


def test_nodes_wait_before_phases_with_the_same_wires_and_before_the_phase_itself(plan: Plan) -> None:
    assert settling(same_wires(plan), plan.structure, aliased_handshake=False) == [{0, 1}, {0, 1}]
    empty = [replace(phase, routed=replace(phase.routed, chains=())) for phase in same_wires(plan)]
    assert settling(empty, plan.structure, aliased_handshake=False) == [{0}, {1}]


def test_words_in_one_direction_turn_no_wire_round(plan: Plan) -> None:
    assert turned_round(same_wires(plan), plan.structure) == {}


class Proven(HappensBefore):
    """As if every node had always left the earlier phase."""

    def all_left(self, *_: object) -> list[int]:
        return [(1 << self.nodes) - 1] * self.nodes


@pytest.mark.parametrize("again", [True, False])
def test_forks_collide_where_a_node_goes_straight_to_the_other_phase_and_comes_back(again: bool) -> None:
    # A word for the next round of the first broadcast may wait at node 1 when it goes on.
    body = "(broadcast 'a 0 :m 40 :impl 'str_bcast_linear) (broadcast 'b 0 :m 40 :impl 'str_bcast_linear)"
    text = f"(loop 'l 9 {body})" if again else f"(sequential {body})"
    program = compile_text(text, topology=mesh(3))
    plan = make_plan(program, NodeShape(), name="x", period=16, structures=[outline(program)])
    phases = same_wires(plan)
    known = Proven(plan.structure, phases, program.topology)
    found = collisions(phases, plan.structure, aliased_handshake=False, known=known)
    assert [(earlier, later) for earlier, later, _ in found] == ([(0, 1), (1, 0)] if again else [])
    assert all(link in {forked for forked, _ in forked_writes(phases[0].routed)} for _, _, link in found)
    barrier = plan.phases[0].barrier
    if barrier is not None:
        closed = [replace(phase, barrier=barrier) for phase in phases]
        assert collisions(closed, plan.structure, aliased_handshake=False, known=known) == []
