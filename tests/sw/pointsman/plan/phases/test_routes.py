"""Routes of one phase: kept by what they depend on, off what is taken."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.conflicts.link_slots import link_writes
from pointsman.plan.context import PlanContext, PlanMemo
from pointsman.plan.phases import routes
from pointsman.plan.phases.constraints import Constraints
from pointsman.plan.phases.routes import plan_operators, route
from pointsman.plan.structure.structure import outline
from pointsman.routing.errors import RoutingError
from pointsman.routing.streams import Stream

STREAMS = [Stream("s", 0, (3,))]


def context(memo: PlanMemo | None = None, *, seed: int = 0, registers: int = 16) -> PlanContext:
    program = compile_text("(sequential (broadcast 'a 0 :m 8) (cshift 'b 1 :m 8))", topology=mesh(2, 2))
    shape = NodeShape(registers=registers)
    analysis = ProgramAnalysis(program, Context(program.topology, shape), IMPLEMENTATIONS)
    return PlanContext(
        analysis=analysis, structure=outline(program), period=8, seed=seed, memo=PlanMemo() if memo is None else memo
    )


def test_the_same_streams_are_routed_once_for_all_candidates_with_the_same_seed() -> None:
    memo = PlanMemo()
    first = route(context(memo), Constraints(), 0, STREAMS)
    assert route(context(memo), Constraints(), 1, list(STREAMS)) is first
    assert route(context(memo, seed=1), Constraints(), 0, STREAMS) is not first
    assert first.wiring is first.wiring


def test_links_and_slots_that_are_taken_are_left_alone() -> None:
    own = context()
    free = link_writes(route(own, Constraints(), 0, STREAMS).routed)
    taken = Constraints().taking(0, {1: frozenset(free)})
    moved = route(own, taken, 0, STREAMS)
    assert not link_writes(moved.routed) & free
    # Another phase does not have to.
    assert link_writes(route(own, taken, 1, STREAMS).routed) == free


def test_a_refusal_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    own = context()
    topology = own.program.topology
    all_links = frozenset(
        (n, port, slot) for n, ports in enumerate(topology.at_port) for port in ports for slot in range(8)
    )
    closed = Constraints().taking(0, {1: all_links})
    with pytest.raises(RoutingError) as first:
        route(own, closed, 0, STREAMS)
    monkeypatch.setattr(routes, "route_phase", None)  # it is not asked again
    with pytest.raises(RoutingError) as second:
        route(own, closed, 0, STREAMS)
    assert str(second.value) == str(first.value)
    (kept,) = (one for one in own.memo.routes.values() if isinstance(one, RoutingError))
    assert kept.__traceback__ is None


def test_operators_are_planned_once_for_a_route() -> None:
    own = context()
    phase = own.structure.phases[0]
    (operator,) = phase.operators
    way = own.able(operator)[0][1]
    streams = own.streams(operator, way)
    made = route(own, Constraints(), 0, streams)
    planned = plan_operators(own, phase, (way,), [range(len(streams))], made)
    assert planned is not None
    assert [one.operator.label for one in planned] == ["a"]
    assert plan_operators(own, phase, (way,), [range(len(streams))], made) is planned


def test_a_phase_that_needs_more_registers_than_a_node_has_is_refused() -> None:
    many = [Stream(f"s{i}", 0, (1 + i % 3,)) for i in range(4)]
    made = route(context(), Constraints(), 0, many)
    small = context(registers=5)
    with pytest.raises(RoutingError, match="node 0 would need 4 interface registers and has 3 besides"):
        plan_operators(small, small.structure.phases[0], (), [], made)
