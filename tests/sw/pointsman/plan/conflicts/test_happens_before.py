"""The dependency graph of phases: who has left which phase for certain (Metcalf 1997, §5.3.4, Figure 5-1)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.conflicts.happens_before import HappensBefore
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.structure.structure import outline


def plan_of(text: str, *size: int, period: int = 16) -> Plan:
    program = compile_text(text, topology=mesh(*size))
    return make_plan(program, NodeShape(), name="test", period=period, structures=[outline(program)])


@pytest.fixture(scope="module")
def loop() -> Plan:
    """Phase 0 makes everybody wait for everybody, 1 and 2 are streams between neighbours."""
    return plan_of(
        """(loop 'l 10 (allreduce 'a 'f :m 1) (stream 'b 0 1 :m 2) (optional (stream 'c 1 0 :m 2)))""",
        2,
        1,
    )


def known(plan: Plan) -> HappensBefore:
    return HappensBefore(plan.structure, plan.phases, plan.topology)


def test_who_is_through_with_an_allreduce_knows_that_all_have_left_the_phase_before(loop: Plan) -> None:
    graph = known(loop)
    assert loop.phases[0].operators[0].message_bound
    for node, other in ((0, 1), (1, 0)):
        assert graph.has_left(2, 1, node, other)  # c -> (a) -> b
        assert not graph.has_left(2, 0, node, other)  # while it is in a, the other may be in c still


def test_an_optional_phase_in_between_proves_nothing(loop: Plan) -> None:
    only = replace(loop, phases=(*_deaf(loop)[:2], loop.phases[2]))
    bound = replace(only.phases[2], operators=tuple(replace(o, message_bound=True) for o in only.phases[2].operators))
    graph = HappensBefore(only.structure, (*only.phases[:2], bound), only.topology)
    assert not graph.has_left(1, 0, 0, 1)  # b, then c or not, then a


def test_without_dependencies_a_node_only_knows_of_itself(loop: Plan) -> None:
    graph = HappensBefore(loop.structure, _deaf(loop), loop.topology)
    for later in range(3):
        assert graph.has_left(0, later, 1, 1)
        assert not graph.has_left(0, later, 1, 0)


def _deaf(plan: Plan) -> tuple:
    """Phases that nobody needs others to get through."""
    return tuple(
        replace(phase, barrier=None, operators=tuple(replace(o, message_bound=False) for o in phase.operators))
        for phase in plan.phases
    )


def test_what_one_node_knows_another_learns_from_it() -> None:
    # Node 0 hears of 1, then 2 hears of 0: so 2 knows of 1.
    plan = plan_of(
        "(broadcast 'x 0 :m 1) (subset '((0 1)) (allreduce 'a 'f :m 1)) (subset '((0 2)) (allreduce 'b 'f :m 1)) "
        "(broadcast 'y 0 :m 1)",
        3,
        1,
    )
    phases = [replace(phase, barrier=None) for phase in plan.phases]
    phases[0] = _deaf(plan)[0]
    graph = HappensBefore(plan.structure, phases, plan.topology)
    assert graph.has_left(0, 3, 2, 1)
    assert not graph.has_left(0, 3, 1, 2)
    assert not graph.has_left(0, 2, 2, 1)  # not before it has heard of 0
