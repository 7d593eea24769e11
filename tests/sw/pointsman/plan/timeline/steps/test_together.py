"""Visits and steps of calls at the same time."""

from __future__ import annotations

from cosim.numesh.activities import Call
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.timeline import kernel as k
from pointsman.plan.timeline.path_taken import path_taken
from pointsman.plan.timeline.sampling import SampledVisit, visits
from pointsman.plan.timeline.steps.together import joined, runs

TEXT = "(parallel (broadcast 'a 0 :m 9 :impl 'str_bcast_round) (broadcast 'b 1 :m 9 :impl 'str_bcast_round))"


def test_broadcasts_round_a_cycle_in_a_parallel_group_are_one_run() -> None:
    program = compile_text(f"{TEXT} (barrier 'c)", topology=mesh(2, 2))
    assert [[one.operator.label for one in run] for run in runs(visits(program))] == [["a", "b"], ["c"]]
    apart = compile_text(TEXT.replace("parallel", "sequential"), topology=mesh(2, 2))
    assert [len(run) for run in runs(visits(apart))] == [1, 1]


def test_broadcasts_from_all_nodes_of_the_same_instances_are_one_run() -> None:
    def lengths(text: str) -> list[int]:
        return [len(run) for run in runs(visits(compile_text(text, topology=mesh(2, 2))))]

    rows = "(subset '((0 1) (2 3)) (parallel (broadcast 'a 0 :m 9) (broadcast 'b 1 :m 9)))"
    assert lengths(rows) == [2]
    assert lengths("(parallel (broadcast 'a 0 :m 9) (broadcast 'b 1 :m 9))") == [1, 1], "two of four nodes"
    assert lengths("(subset '((0 1) (2 3)) (parallel (broadcast 'a 0 :m 9) (broadcast 'b (runtime) :m 9)))") == [1, 1]
    others = "(parallel (subset '((0 1) (2 3)) (broadcast 'a 0 :m 9)) (subset '((0 1)) (broadcast 'b 1 :m 9)))"
    assert lengths(others) == [1, 1], "of other instances"


def test_calls_in_the_same_cycles_are_one_run() -> None:
    plan = make_plan(compile_text(TEXT, topology=mesh(2, 2)), NodeShape(), name="test")
    loads = [Call(node, label, "load", 0, 4, 0) for node in range(4) for label in "ab"]
    together = [Call(node, label, "read", 5, 30, 0) for node in range(4) for label in "ba"]
    ways = path_taken(plan, [*loads, *together])
    assert ways is not None
    assert [[(one.operator.label, one.together) for one in way] for way in ways] == [[("a", (1, 0)), ("b", ())]] * 4
    in_turn = [Call(node, label, "read", 5 + at, 6 + at, 0) for node in range(4) for at, label in enumerate("ab")]
    apart = path_taken(plan, [*loads, *in_turn])
    assert apart is not None
    assert all(one.together == () for way in apart for one in way)


def test_lanes_of_joined_calls_are_one_move() -> None:
    lanes: list[tuple[int, ...]] = [(1, 3, -1, 0, -1, 0, 0, 1), (0, 3, -1, 0, -1, 0, 1, 1), (1, 3, 0, 0, -1, 0, 2, 1)]
    steps = joined([[(k.MOVE, 0, 1), (k.DUE, 7, 0)], [(k.MOVE, 1, 3)]], lanes)
    assert steps == [(k.MOVE, 3, 6), (k.DUE, 7, 0)]
    assert lanes[3:] == [lanes[0], lanes[1], (1, 3, 1, 0, -1, 0, 2, 1)]


def test_a_visit_stands_for_itself() -> None:
    operator = next(iter(compile_text("(barrier 'c)", topology=mesh(2)).operators()))
    one = SampledVisit(operator, 0, 1.0)
    assert list(runs([one, one])) == [[one], [one]]
