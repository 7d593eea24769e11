"""Which nodes of threads may wait for each other."""

from __future__ import annotations

import re

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.conflicts.link_slots import link_writes
from pointsman.plan.conflicts.thread_barriers import odd_one, unsolved
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import Structure, divided

THREADS = """
(broadcast 'x 0 :m 8)
(parallel
  (subset '(0 1) ({} (stream 'a1 0 1 :m 9) (stream 'a2 1 0 :m 9) (stream 'a3 0 1 :m 9)))
  (subset '(2 3) (sequential (stream 'b1 0 1 :m 9) (stream 'b2 1 0 :m 9) (stream 'b3 0 1 :m 9))))
{}
"""
LAST = "(broadcast 'y 3 :m 8)"


def structure(text: str, *merged: str) -> Structure:
    program = compile_text(text, topology=mesh(5, 1))
    root = disjoint_tree(program)
    return divided(program, root, fold(root, lambda part, i: part.children[i + 1].operators()[0].label not in merged))


def planned(text: str, *merged: str) -> Plan:
    program = compile_text(text, topology=mesh(4, 1))
    root = disjoint_tree(program)
    found = divided(program, root, fold(root, lambda p, i: p.children[i + 1].operators()[0].label not in merged))
    return make_plan(program, NodeShape(), name="test", period=16, structures=[found])


def number(found: Structure, label: str) -> int:
    return next(i for i, phase in enumerate(found.phases) if label in [o.label for o in phase.operators])


def test_threads_that_come_through_once_may_wait_for_each_other() -> None:
    found = structure(THREADS.format("sequential", LAST))
    assert odd_one(found, number(found, "a1"), range(4)) is None
    assert odd_one(found, number(found, "a3"), range(4)) is None


def test_nobody_waits_in_a_phase_of_another_thread() -> None:
    found = structure(THREADS.format("sequential", LAST))
    assert odd_one(found, number(found, "a2"), range(4)) == 2
    assert odd_one(found, number(found, "a3"), range(5)) == 4


def test_a_loop_in_one_thread_keeps_the_other_from_waiting() -> None:
    found = structure(THREADS.format("loop 'l 3", LAST))
    assert odd_one(found, number(found, "a1"), range(4)) == 0
    assert odd_one(found, number(found, "a1"), (0, 1)) is None
    assert odd_one(found, number(found, "y"), range(4)) is None


def test_what_may_be_passed_over_keeps_the_other_from_waiting() -> None:
    found = structure(THREADS.format("optional", LAST))
    assert odd_one(found, number(found, "a3"), range(4)) == 0


def test_a_node_beside_all_threads_may_wait_with_an_operator_of_its_own() -> None:
    found = structure(THREADS.format("sequential", LAST), "y")
    assert number(found, "y") == number(found, "a3")
    assert odd_one(found, number(found, "y"), range(5)) is None


def test_a_loop_that_shares_a_phase_with_a_common_operator_is_refused() -> None:
    # x is in the phase to which the loop of one thread comes back.
    with pytest.raises(PlanError, match=r"does not come to phase .* as often as others of its barrier"):
        planned(THREADS.format("loop 'l 3", LAST), "a1")


def test_a_phase_after_a_looping_thread_keeps_off_its_wires() -> None:
    made = planned(THREADS.format("loop 'l 3", LAST))
    last, after = (number(made.structure, label) for label in ("a3", "y"))
    assert not link_writes(made.phases[last].routed) & link_writes(made.phases[after].routed)
    barrier = made.phases[last].barrier
    assert barrier is None or all(set(i.nodes) <= {0, 1} or set(i.nodes) <= {2, 3} for i in barrier.operator.instances)


def test_without_loops_the_threads_wait_for_each_other_before_a_common_phase() -> None:
    made = planned(THREADS.format("sequential", LAST))
    last = made.phases[number(made.structure, "a3")]
    assert last.barrier is None or {0, 1, 2, 3} in [set(i.nodes) for i in last.barrier.operator.instances]
    for label in ("a2", "b2"):
        inner = made.phases[number(made.structure, label)]
        assert inner.nodes <= ({0, 1} if label == "a2" else {2, 3}), inner.nodes


def test_a_barrier_is_behind_all_before_the_phase_after_the_next() -> None:
    made = planned(THREADS.format("sequential", LAST))
    inner, last, after = (number(made.structure, label) for label in ("a2", "a3", "y"))
    phases = [*made.phases]
    link = (0, 0, 0)
    closed = phases[inner].technique == "barrier"
    left = unsolved(made.structure, phases, [(inner, after, link), (inner, last, link)], {})
    assert left == [(inner, last, link)] if closed else [(inner, after, link), (inner, last, link)]


def test_every_refusal_says_where() -> None:
    with pytest.raises(PlanError) as caught:
        planned(THREADS.format("loop 'l 3", LAST), "a1")
    assert re.match(r".*:\d+:\d+: ", caught.value.message)
