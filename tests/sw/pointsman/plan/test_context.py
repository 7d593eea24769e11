"""What planning a candidate goes by: implementations with room for them, streams with no more words than asked for."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.operators.api.loading import Loading
from pointsman.plan import context as module
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.context import PlanContext, RouteKey
from pointsman.plan.plan import ReplacedOperator
from pointsman.plan.structure.structure import outline
from pointsman.routing.streams import Stream


def context(text: str, *, period: int = 16, shape: NodeShape | None = None, effort: float = 1.0) -> PlanContext:
    """A phase for each operator, on a mesh of 4x1."""
    program = compile_text(text, topology=mesh(4))
    analysis = ProgramAnalysis(program, Context(program.topology, shape or NodeShape()), IMPLEMENTATIONS)
    return PlanContext(analysis=analysis, structure=outline(program), period=period, effort=effort)


@pytest.mark.parametrize(("period", "room"), [(16, True), (32, False)])
def test_a_second_schedule_needs_room_for_two_of_each_phase_beside_the_loader(period: int, room: bool) -> None:
    text = "(prefix 'p 'sum :m 40)"
    (operator,) = compile_text(text, topology=mesh(4)).operators()
    asked = context(text, period=period, shape=NodeShape(schedule_depth=64))
    (own,) = asked.program.operators()
    assert own == operator
    assert any(i.loading is Loading.SUBPHASES for _, i in asked.analysis.feasible(own))
    assert any(i.loading is Loading.SUBPHASES for _, i in asked.able(own)) == room


def test_with_fallbacks_an_operator_is_done_by_messages_if_it_can_be() -> None:
    asked = context("(permute 'p (runtime) :m 2)")
    (operator,) = asked.program.operators()
    found = asked.able(operator, fallbacks=True)
    assert found
    assert all(i.loading is Loading.ONLINE for _, i in found)


def test_streams_have_no_more_words_a_period_than_the_operator_may_use() -> None:
    asked = context("(broadcast 'b 0 :m 400 :b 0.25)", period=16)
    (operator,) = asked.program.operators()
    for _, implementation in asked.able(operator):
        for stream in asked.streams(operator, implementation):
            assert stream.max_words is not None
            assert stream.max_words <= 4, implementation.name


def test_the_router_works_in_proportion_to_the_effort(monkeypatch: pytest.MonkeyPatch) -> None:
    usual, half = context("(barrier 'b)"), context("(barrier 'b)", effort=0.5)
    assert half.routing_effort == usual.routing_effort / 2
    monkeypatch.setattr(module, "ROUTING", 0.0)
    assert usual.routing_effort == 0


def test_parts_of_replaced_operators_are_bound_where_the_replacement_says_so() -> None:
    asked = context("(barrier 'a)")
    (operator,) = asked.program.operators()
    replaced = (ReplacedOperator(operator, "x", ("a/1", "a/2"), bound=True), ReplacedOperator(operator, "y", ("a/3",)))
    made = PlanContext(analysis=asked.analysis, structure=asked.structure, period=16, replaced=replaced)
    assert made.bound == {"a/1", "a/2"}
    assert not asked.bound


def test_routes_are_found_again_by_what_they_depend_on() -> None:
    streams = (Stream("a", 0, (1,)),)
    key = RouteKey(0, 16, streams, taken=frozenset([(0, 1, 2)]))
    assert RouteKey(0, 16, (Stream("a", 0, (1,)),), frozenset([(0, 1, 2)])) == key
    assert key._replace(taken=frozenset()) == RouteKey(0, 16, streams)
    assert len({key, key._replace(seed=1), key._replace(period=8), key._replace(taken=frozenset())}) == 4
