"""Which phases keep their interface registers to themselves."""

from __future__ import annotations

from dataclasses import replace

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.conflicts.happens_before import HappensBefore
from pointsman.plan.make_plan import make_plan
from pointsman.plan.memory.kept_registers import keeps_registers, link_senders
from pointsman.plan.plan import Plan
from pointsman.plan.structure.structure import outline


def plan_of(text: str, *size: int) -> Plan:
    program = compile_text(text, topology=mesh(*size))
    return make_plan(program, NodeShape(), name="test", period=16, structures=[outline(program)])


def test_a_phase_behind_which_all_depend_on_each_other_shares_its_registers() -> None:
    text = "(loop 'l 10 (allreduce 'a 'f :m 1) (broadcast 'b 0 :m 60))"
    plan = plan_of(text, 3, 1)
    assert [phase.technique for phase in plan.phases] == ["msg-sync", "msg-sync"]
    assert keeps_registers(plan.structure, plan.phases) == [False, False]
    deaf = [
        replace(phase, operators=tuple(replace(one, message_bound=False) for one in phase.operators))
        for phase in plan.phases
    ]
    assert keeps_registers(plan.structure, deaf) == [True, True]


def test_only_neighbours_whose_links_are_read_can_send_words_of_the_next_use() -> None:
    # Rows know nothing of each other's columns, but no word of 'c' comes from a column beside.
    plan = plan_of(
        """(define rows (make-1d 'x)) (define cols (make-1d 'y))
        (loop 'l 10
          (subset cols (allreduce 'a 'f :m 1))
          (subset rows (broadcast 'b 0 :m 1 :impl 'str_bcast_bind))
          (subset cols (broadcast 'c 0 :m 60)))""",
        2,
        3,
    )
    last = plan.phases[2]
    assert last.technique == "msg-sync"
    assert link_senders(last.routed) == {(0, 2), (2, 4), (1, 3), (3, 5)}
    assert not HappensBefore(plan.structure, plan.phases, plan.topology).has_left(2, 2, 0, 1)
    assert not keeps_registers(plan.structure, plan.phases)[2]


def test_a_node_alone_in_its_instance_keeps_no_registers() -> None:
    text = "(cshift 'c 1) (parallel (subset '((0)) (permute 'p (runtime))) (subset '((2 3)) (permute 'q (runtime))))"
    plan = plan_of(text, 4, 1)
    last = plan.phases[-1]
    assert last.technique == "barrier"
    assert last.loose == {0}
    assert not last.wiring.registers_used.get(0)
    assert keeps_registers(plan.structure, plan.phases) == [False, False]
