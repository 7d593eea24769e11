"""How one phase ends: by what, who meets in its barrier, what that takes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.context import PlanContext
from pointsman.plan.phases.closing import (
    Draft,
    RoutedOperators,
    barrier_of,
    cycles_of_barrier,
    draft_end,
    last_operators,
    with_barrier,
)
from pointsman.plan.phases.constraints import Constraints
from pointsman.plan.phases.routes import plan_operators, route
from pointsman.plan.plan import PlannedPhase
from pointsman.plan.structure.structure import outline
from pointsman.plan.termination.closing_barrier import CLOSING, phase_nodes
from pointsman.routing.streams import Stream


def context(text: str, size: int = 4, registers: int = 16) -> PlanContext:
    """A phase for each operator, on a row of nodes."""
    program = compile_text(text, topology=mesh(size))
    analysis = ProgramAnalysis(program, Context(program.topology, NodeShape(registers=registers)), IMPLEMENTATIONS)
    return PlanContext(analysis=analysis, structure=outline(program), period=16)


def routed(own: PlanContext, index: int, name: str) -> RoutedOperators:
    """A phase of one operator on its routes, done as is asked for."""
    phase = own.structure.phases[index]
    (operator,) = phase.operators
    way = next(one for _, one in own.able(operator) if one.name == name)
    streams = own.streams(operator, way)
    made = route(own, Constraints(), index, streams)
    spans = [range(len(streams))]
    planned = plan_operators(own, phase, (way,), spans, made)
    assert planned is not None
    return RoutedOperators(planned, made, spans)


def ended(own: PlanContext, index: int, name: str, constraints: Constraints | None = None) -> Draft:
    return draft_end(own, constraints or Constraints(), index, routed(own, index, name))


def test_the_last_phase_of_a_program_is_never_left() -> None:
    draft = ended(context("(broadcast 'a 0 :m 40)"), 0, "str_bcast")
    assert (draft.phase.technique, draft.phase.reason, draft.reason) == ("none", "no phase follows", None)
    assert draft.least_cycles == draft.phase.cycles


def test_long_messages_end_by_themselves_and_short_ones_do_not() -> None:
    long, short = (
        ended(context(f"(sequential (broadcast 'a 0 :m {m}) (barrier 'b))"), 0, "str_bcast") for m in (400, 1)
    )
    assert (long.phase.technique, long.reason) == ("msg-sync", None)
    assert short.reason is not None or short.phase.technique == "hijack"


def test_a_reason_from_outside_forces_all_nodes_to_meet() -> None:
    own = context("(sequential (broadcast 'a 0 :m 400) (barrier 'b))")
    forced = Constraints().closing(0, "of a test")
    draft = ended(own, 0, "str_bcast", forced)
    assert draft.reason == "of a test" or draft.phase.technique == "hijack"
    if draft.reason is None:
        draft = Draft(draft.phase, "of a test", draft.least_cycles, draft.spans)
    phase = with_barrier(own, forced, 0, draft)
    assert phase is not None
    assert (phase.technique, phase.reason) == ("barrier", "of a test")
    assert phase.barrier is not None
    assert phase.barrier.operator.nodes == {0, 1, 2, 3}
    assert phase.settle > 0
    assert phase.cycles > ended(own, 0, "str_bcast").phase.cycles


def test_a_barrier_joins_whom_later_phases_need_and_leaves_out_whom_nobody_does() -> None:
    own = context("(sequential (subset '(0 1) (broadcast 'a 0 :m 1)) (broadcast 'b 0 :m 1))")
    routes = routed(own, 0, "str_bcast").route.routed
    alone = barrier_of(own, Constraints(), 0, routes)
    assert alone.nodes == phase_nodes(own.structure.phases[0], routes) == {0, 1}
    joined = barrier_of(own, Constraints().joining(0, 1, [{1, 2}]), 0, routes)
    assert joined.nodes == {0, 1, 2}
    assert barrier_of(own, Constraints().joining(0, 1, None), 0, routes) == alone
    assert barrier_of(own, Constraints().joining(0, 1, [{2, 3}]), 0, routes) == alone, "they have no part in the phase"
    assert not barrier_of(own, Constraints(), 0, routes, loose=[{0, 1}]).instances


def test_a_barrier_takes_longer_the_farther_its_nodes_are_apart() -> None:
    cycles = []
    for size in (2, 4, 8):
        own = context("(sequential (broadcast 'a 0 :m 1) (barrier 'b))", size)
        cycles.append(
            cycles_of_barrier(own, barrier_of(own, Constraints(), 0, routed(own, 0, "str_bcast").route.routed))
        )
    assert all(near < far for near, far in pairwise(cycles))


def closed(own: PlanContext, closing: int) -> PlannedPhase:
    phase = with_barrier(
        replace(own, closing=closing), Constraints(), 0, replace(ended(own, 0, "str_bcast"), reason="of a test")
    )
    assert phase is not None
    return phase


def streams_of_barrier(phase: PlannedPhase) -> list[Stream]:
    assert phase.barrier is not None
    return [phase.routed.streams[number] for number in phase.barrier.streams]


def test_a_barrier_may_take_slots_in_which_its_words_need_not_wait() -> None:
    own = context("(sequential (broadcast 'a 0 :m 4) (barrier 'b))", 8)
    usual, in_turn, shallow = (closed(own, closing) for closing in range(len(CLOSING)))
    assert not any(stream.turn for stream in streams_of_barrier(usual))
    assert all(stream.turn for phase in (in_turn, shallow) for stream in streams_of_barrier(phase))
    assert in_turn.routed.words(0) >= usual.routed.words(0), "the operator has as many words as before"
    assert in_turn.changing < usual.changing
    depth = [max(s.turn.level for s in streams_of_barrier(phase) if s.turn) for phase in (in_turn, shallow)]
    assert depth[1] < depth[0]


def test_without_room_for_a_quicker_barrier_the_one_that_needs_least_is_taken() -> None:
    """The root of the shallow tree reads more words than it has interface registers left."""
    own = context("(sequential (broadcast 'a 0 :m 4) (barrier 'b))", 8, registers=8)
    neighbours, shallow = closed(own, 1), closed(own, 2)
    assert streams_of_barrier(shallow) == streams_of_barrier(neighbours)


def test_nodes_may_leave_after_any_operator_where_the_last_ones_are_not_known() -> None:
    own = context("(sequential (barrier 'a) (barrier 'b))")
    assert last_operators(own.structure, 0) is None
    folded = own.analysis.folded(lambda part, i: False)
    assert last_operators(folded, 0) == {"b"}


def test_a_barrier_has_the_same_streams_in_every_schedule() -> None:
    own = context("(sequential (broadcast 'a 0 :m 4) (barrier 'b))")
    (short, long) = (
        with_barrier(one, Constraints(), 0, replace(ended(one, 0, "str_bcast"), reason="x"))
        for one in (own, replace(own, period=32))
    )
    assert short is not None
    assert long is not None
    mine, other = short.routed.streams[1:], long.routed.streams[1:]
    assert len(mine) > 1
    assert [id(one) for one in mine] == [id(one) for one in other]
