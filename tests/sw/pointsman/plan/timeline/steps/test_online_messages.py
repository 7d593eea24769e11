"""Operators by online messages in a timeline: which values they take at a visit, and lists by row."""

from __future__ import annotations

from itertools import pairwise

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators.messages.online import legal_values
from pointsman.plan.plan import Plan
from pointsman.plan.timeline.board import BoardNumbers
from pointsman.plan.timeline.steps.online_messages import OnlineSteps, _listed, _values
from pointsman.program.program import Operator


def operator(text: str) -> Operator:
    (found,) = compile_text(text, topology=mesh(5)).operators()
    return found


def test_a_permutation_is_one_of_all_nodes_and_the_same_at_each_time_of_asking() -> None:
    one = operator("(permute 'p (runtime) :m 2)")
    found = [_values(one, visit) for visit in range(12)]
    assert all(sorted(order) == list(range(5)) for (order,) in found)
    assert len(set(found)) > 6
    assert found == [_values(one, visit) for visit in range(12)]


def test_nodes_are_legal_and_all_of_them_come() -> None:
    one = operator("(broadcast 'b (runtime) :m 2)")
    found = {_values(one, visit)[0] for visit in range(100)}
    assert found == set(legal_values(one, 0, "source"))


def test_without_run_time_operands_there_are_no_values() -> None:
    assert _values(operator("(cshift 'c 1 :m 2)"), 3) == ()


def test_rows_of_a_list_are_found_by_their_first_places() -> None:
    lists = {1: [7, 8], 3: [9]}
    flat, first = _listed(lists, 5)
    assert [flat[a:b].tolist() for a, b in pairwise(first.tolist())] == [[], [7, 8], [], [9], []]
    flat, first = _listed({}, 2)
    assert (len(flat), first.tolist()) == (0, [0, 0, 0])


def test_a_plan_without_online_messages_has_an_empty_post(small_plan: Plan) -> None:
    post = OnlineSteps(small_plan, BoardNumbers(small_plan)).post()
    assert len(post.ends) == len(post.channels) == len(post.mails) == len(post.sendings) == 0
    assert (post.onward == -1).all()
