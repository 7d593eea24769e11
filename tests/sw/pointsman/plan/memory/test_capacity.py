"""Plans that nodes have no room for."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context, Wiring
from pointsman.plan.cost.feasible import feasible_implementations
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.memory.capacity import refuse_many_streams, refuse_overfull_phase, refuse_overfull_plan
from pointsman.plan.options import PlanOptions
from pointsman.plan.plan import Plan
from pointsman.routing.errors import RoutingError
from pointsman.routing.streams import Stream


def plan(text: str, shape: NodeShape) -> Plan:
    return make_plan(compile_text(text, topology=mesh(2, 2)), shape, name="p", period=16)


def test_a_plan_for_a_node_that_is_large_enough_fits() -> None:
    found = plan("(stream 's 0 1 :m 4)", NodeShape())
    refuse_overfull_plan(found)
    refuse_overfull_phase(Wiring(found.phases[0].routed), NodeShape())


def test_a_phase_that_needs_more_vfsms_than_there_are_is_refused() -> None:
    found = plan("(stream 's 0 1 :m 4)", NodeShape())
    with pytest.raises(PlanError, match=r"needs \d+ VFSMs of a pipeline of node 0, which has 0 besides the first two"):
        refuse_overfull_plan(replace(found, shape=NodeShape(vfsms=2)))


def test_a_phase_that_needs_more_registers_than_there_are_is_refused() -> None:
    wiring = Wiring(plan("(allreduce 'a 'add :m 4)", NodeShape()).phases[0].routed)
    most = max(wiring.registers_used.values())
    with pytest.raises(RoutingError, match=f"would need {most} interface registers and has 2"):
        refuse_overfull_phase(wiring, NodeShape(registers=4))


def test_streams_of_which_more_end_at_a_node_than_it_has_registers_are_refused() -> None:
    streams = [Stream(f"s{i}", i, (3,)) for i in range(3)]
    shape = NodeShape(registers=2 + NodeShape().pipelines)
    refuse_many_streams(streams[:2], shape)
    with pytest.raises(RoutingError, match="node 3 has too few interface registers for one word of every stream"):
        refuse_many_streams(streams, shape)


def test_a_stream_that_ends_in_the_register_of_another_needs_none_there() -> None:
    shape = NodeShape(registers=1 + NodeShape().pipelines)
    refuse_many_streams([Stream(f"s{i}", i, (3,), into="t" if i else None) for i in range(3)], shape)
    with pytest.raises(RoutingError, match="node 3 has too few interface registers"):
        refuse_many_streams([Stream(f"s{i}", i, (3,)) for i in range(3)], shape)


def test_a_fan_of_more_streams_than_registers_gives_way_to_a_chain() -> None:
    program = compile_text("(gather 'g 0 :m 4)", topology=mesh(4, 4))
    (operator,) = program.operators()
    names = [
        one.name for _, one in feasible_implementations(operator, IMPLEMENTATIONS, Context(mesh(4, 4), NodeShape()))
    ]
    assert "str_gather" not in names
    assert "str_gather_chain" in names
    asked = compile_text("(gather 'g 0 :m 4 :impl 'str_gather)", topology=mesh(4, 4))
    with pytest.raises(PlanError, match="cannot do it"):
        make_plan(asked, NodeShape(), name="p", period=16)


def test_a_node_has_no_more_phases_than_it_may_have() -> None:
    text = "(loop 'l 9 (cshift 'a 1 :m 4) (broadcast 'b 0 :m 4) (cshift 'c 2 :m 4))"
    program = compile_text(text, topology=mesh(4))
    for most in (1, 2, 3):
        made = make_plan(program, NodeShape(), name="p", period=16, options=PlanOptions(most_phases=most))
        assert all(sum(node in phase.nodes for phase in made.phases) <= most for node in range(4))
    wide = compile_text("(broadcast 'b (runtime) :m 4 :impl 'sch_bcast_dense)", topology=mesh(4))
    with pytest.raises(PlanError, match="node 0 would have 4 phases, and may have 3"):
        make_plan(wide, NodeShape(), name="p", options=PlanOptions(most_phases=3))
