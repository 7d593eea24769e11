"""One phase by itself: the quickest way is taken, limits hold, refusals say why."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.context import PlanContext
from pointsman.plan.errors import PlanError
from pointsman.plan.phases import drafts
from pointsman.plan.phases.constraints import Constraints
from pointsman.plan.phases.drafts import first_streams, least_cycles, plan_phase
from pointsman.plan.structure.structure import outline
from pointsman.routing.errors import RoutingError


def context(text: str, *, period: int = 16, shape: NodeShape | None = None, fallbacks: bool = True) -> PlanContext:
    """A phase for each operator, on a row of four nodes."""
    program = compile_text(text, topology=mesh(4))
    analysis = ProgramAnalysis(program, Context(program.topology, shape or NodeShape()), IMPLEMENTATIONS)
    return PlanContext(analysis=analysis, structure=outline(program), period=period, fallbacks=fallbacks)


TEXT = "(loop 'l 5 (broadcast 'a 0 :m 40) (reduce 'r 'sum 0 :m 2))"


@pytest.mark.parametrize("index", [0, 1])
def test_a_phase_takes_no_less_than_its_draft_and_is_given_up_from_the_limit_on(index: int) -> None:
    own = context(TEXT)
    least = least_cycles(own, index)
    phase = plan_phase(own, Constraints(), index)
    assert phase is not None
    assert 0 < least <= phase.cycles
    assert plan_phase(own, Constraints(), index, least) is None
    again = plan_phase(own, Constraints(), index, phase.cycles + 1)
    assert again is not None
    assert again.cycles == phase.cycles


def test_more_to_choose_from_is_never_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = plan_phase(context(TEXT), Constraints(), 0)
    monkeypatch.setattr(drafts, "PROMISING", inf)
    all_tried = plan_phase(context(TEXT), Constraints(), 0)
    assert usual is not None
    assert all_tried is not None
    assert all_tried.cycles <= usual.cycles


def test_wires_of_others_are_kept_off_and_what_is_off_the_phase_changes_nothing() -> None:
    own = context(TEXT)
    free = plan_phase(own, Constraints(), 0)
    assert free is not None
    links = frozenset(
        (vfsm.node, vfsm.destination.number, slot)
        for chain in free.routed.chains
        for vfsm in chain.vfsms
        if vfsm.destination.kind == "link"
        for slot in vfsm.slots[:1]
    )
    moved = plan_phase(own, Constraints().taking(0, {1: links}), 0)
    assert moved is not None
    used = {
        (vfsm.node, vfsm.destination.number, slot)
        for chain in moved.routed.chains
        for vfsm in chain.vfsms
        if vfsm.destination.kind == "link"
        for slot in vfsm.slots
    }
    assert not used & links
    other = plan_phase(own, Constraints().taking(1, {0: links}), 0)
    assert other is not None
    assert other.routed is free.routed


def test_a_refusal_names_the_phase_the_schedule_length_and_the_reason_for_a_barrier() -> None:
    own = context("(sequential (broadcast 'a 0 :m 4) (barrier 'b))", shape=NodeShape(registers=2))
    with pytest.raises(
        PlanError, match=r"phase 'a' cannot be routed with 16 slots: .*; it has to have a barrier because x"
    ):
        plan_phase(own, Constraints().closing(0, "x"), 0)
    with pytest.raises(PlanError) as refused:
        least_cycles(own, 0)
    assert "has to have a barrier" not in refused.value.message


def test_first_streams_are_those_of_the_most_promising_implementations() -> None:
    own = context(TEXT)
    for index, phase in enumerate(own.structure.phases):
        (operator,) = phase.operators
        best = min(own.able(operator, fallbacks=True), key=lambda pair: pair[0])[1]
        assert first_streams(own, index) == own.streams(operator, best)


TIGHT = "(sequential (phase (stream 's 0 1 :m 2) (stream 't 3 2 :m 2)) (cshift 'c 1 :m 4))"


def test_a_phase_whose_barrier_lacks_registers_is_refused_at_its_draft(monkeypatch: pytest.MonkeyPatch) -> None:
    own = context(TIGHT, period=8, fallbacks=False)
    assert least_cycles(own, 0) < inf

    def refuse(*_: object) -> None:
        raise RoutingError("too few interface registers")

    monkeypatch.setattr(drafts, "refuse_barrier", refuse)
    with pytest.raises(PlanError, match="cannot be routed with 8 slots: too few interface registers"):
        least_cycles(own, 0)
    # With longer schedules it is not routed again; with shorter ones it may have other implementations.
    monkeypatch.undo()
    routes = len(own.memo.routes)
    with pytest.raises(PlanError, match="cannot be routed with 16 slots: too few interface registers"):
        least_cycles(replace(own, period=16), 0)
    with pytest.raises(PlanError, match="cannot be routed with 16 slots: too few interface registers"):
        plan_phase(replace(own, period=16), Constraints(), 0)
    assert len(own.memo.routes) == routes
    assert least_cycles(replace(own, period=6), 0) < inf


def test_messages_whose_barrier_lacks_registers_are_tried_beside_another_way_of_the_other_operator() -> None:
    """The channels of the collect leave no registers for the barrier beside an all-reduce by halves, but beside one on a tree."""
    program = compile_text(
        "(parallel (allreduce 'a 'add :m 20) (collect 'c (runtime) :m 20 :impl 'dyn_collect))", topology=mesh(4, 4)
    )
    analysis = ProgramAnalysis(program, Context(program.topology, NodeShape()), IMPLEMENTATIONS)
    structure = analysis.folded(lambda part, i: False)
    own = PlanContext(analysis=analysis, structure=structure, period=8, fallbacks=False)
    phase = plan_phase(own, Constraints(), 0)
    assert phase is not None
    assert [one.implementation.name for one in phase.operators] == ["str_allreduce", "dyn_collect"]


def test_a_draft_whose_barrier_has_room_is_planned_with_it() -> None:
    own = context(TIGHT, fallbacks=False)
    phase = plan_phase(own, Constraints(), 0)
    assert phase is not None
    assert phase.technique == "barrier"
    assert least_cycles(own, 0) < inf
