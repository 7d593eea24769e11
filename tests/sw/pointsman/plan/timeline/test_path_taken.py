"""The path that a run took, played again: against the cycles of that run on the cycle model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cosim.numesh.activities import Call
from numesh.shape import NodeShape
from pointsman.cop import compile_program
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.timeline import path_taken as module
from pointsman.plan.timeline import timeline as timeline_module
from pointsman.plan.timeline.path_taken import path_taken
from pointsman.plan.timeline.timeline import operator_cycles, optional_range, timeline
from pointsman.runtime.collectives import AllGather
from runs_to_predict import called, moved, plan_of, predicted_and_measured, run

LOOP = """
(loop 'l 6
  (cshift 'a 1 :m 30)
  (optional (allreduce 'c 'add :m 40)))
(optional (prefix 'd 'add :m 80))
"""


async def some_rounds(node: Any) -> None:
    """Three rounds of six, in one of which the optional group is taken; the last one is not."""
    for k in range(3):
        await called(node, "a", 30)
        if k == 1:
            await called(node, "c", 40)


def test_optional_groups_and_rounds_are_those_of_the_run():
    plan = plan_of(LOOP, mesh(2, 2))
    calls, phases, total = run(plan, some_rounds)
    assert plan.cycles > 1.5 * total  # before the run all six rounds were expected
    ways = path_taken(plan, calls)
    assert ways is not None
    assert [visit.operator.label for visit in ways[2]] == ["a", "a", "c", "a"]
    played = timeline(plan, ways)
    assert played is not None
    assert played.total == pytest.approx(total, rel=0.05)
    for predicted, measured in zip(played.phases, phases, strict=False):
        assert predicted == pytest.approx(measured, rel=0.1, abs=10)
    by_operator = operator_cycles(plan, ways)
    assert by_operator is not None
    assert by_operator["d"] == 0 < by_operator["c"] < by_operator["a"]


def test_the_cycles_of_all_operators_are_counted_in_one_play(monkeypatch: pytest.MonkeyPatch) -> None:
    """A play for each operator of a phase took minutes with some hundred of them."""
    plan = plan_of("(phase " + " ".join(f"(stream 's{k} 0 {1 + k % 3} :m 4)" for k in range(6)) + ")", mesh(2, 2))
    once = iter([timeline_module.play])
    monkeypatch.setattr(timeline_module, "play", lambda *given: next(once)(*given))
    counted = operator_cycles(plan)
    assert len(plan.phases) == 1
    assert counted is not None
    assert len(counted) == 6
    assert all(0 < cycles < plan.cycles for cycles in counted.values())


def test_before_the_run_the_cycles_are_between_none_and_all_of_the_optional_groups():
    plan = plan_of(LOOP, mesh(2, 2))
    ends = optional_range(plan)
    assert ends is not None
    none, all_ = ends
    assert none.total < plan.cycles <= all_.total * 1.001
    [last] = [p for p, phase in enumerate(plan.phases) if phase.operators[-1].operator.label == "d"]
    assert none.phases[last] < 0.1 * all_.phases[last] or len(plan.phases) == 1
    assert optional_range(plan_of("(cshift 'a 1 :m 8)", mesh(2, 2))) is None


def test_a_phase_for_each_value_is_that_of_the_run():
    plan = plan_of("(loop 'l 4 (cshift 'a (runtime :values '(1 2 3)) :m 400 :impl 'sch_shift))", mesh(2, 2))

    async def main(node: Any) -> None:
        for distance in (1, 1, 3, 1):
            await called(node, "a", 400, distance)

    calls, phases, total = run(plan, main)
    ways = path_taken(plan, calls)
    assert ways is not None
    played = timeline(plan, ways)
    assert played is not None
    assert played.total == pytest.approx(total, rel=0.02)
    for predicted, measured in zip(played.phases, phases, strict=False):
        assert predicted == pytest.approx(measured, rel=0.05, abs=12)


def test_run_time_values_are_those_of_the_run():
    plan = plan_of("(loop 'l 6 (stream 's (runtime) (runtime) :m 60 :impl 'str_stream_runtime))", mesh(6, 1))

    def main_of(source: int, destination: int) -> Any:
        async def main(node: Any) -> None:
            for _ in range(6):
                await node.cop.s_load(source, destination)
                if node.number == source:
                    await node.cop.s_write(np.zeros(60, np.int32))
                if node.number == destination:
                    await node.cop.s_read()

        return main

    for ends in ((2, 3), (0, 5)):
        calls, _, total = run(plan, main_of(*ends))
        ways = path_taken(plan, calls)
        assert ways is not None
        assert all(visit.values == ends for visit in ways[1])
        played = timeline(plan, ways)
        assert played is not None
        assert played.total == pytest.approx(total, rel=0.02)


def test_waiting_for_neighbours_is_not_longer_where_few_calls_stand_for_many(monkeypatch: pytest.MonkeyPatch):
    """As in Gaussian elimination on 2×2: what may be entered some time after ``r`` at the earliest was 53 % too long, as of the
    calls of ``b`` before it only six are played."""
    text = """(loop 'l 6
      (subset '((0 2) (1 3)) (allreduce 'r 'max :m 6))
      (subset '((0 1) (2 3)) (broadcast 'b (runtime) :m 3 :c 15 :impl 'sch_bcast_dense))
      (subset '((0 2) (1 3)) (stream 's (runtime) (runtime) :m 34 :impl 'sch_stream) (broadcast 'z (runtime) :m 32)))"""
    monkeypatch.setattr("pointsman.plan.polish.CLOSINGS", 0)  # a quicker barrier would take its place
    plan = plan_of(text, mesh(2, 2))
    assert plan.phases[0].technique == "hijack"

    async def main(node: Any) -> None:
        x, y = node.coordinates
        for k in range(6):
            await called(node, "r", 6)
            await node.cop.b_load(k % 2)
            for _ in range(15):
                await moved(node, "b", 3, x == k % 2)
            await node.cop.s_load(k % 2, 1 - k % 2)
            await moved(node, "s", 34, y == k % 2)
            await node.cop.z_load(k % 2)
            await moved(node, "z", 32, y == k % 2)

    calls, phases, total = run(plan, main)
    ways = path_taken(plan, calls)
    assert ways is not None
    played = timeline(plan, ways)
    assert played is not None
    assert played.total == pytest.approx(total, rel=0.02)
    for predicted, measured in zip(played.phases, phases, strict=False):
        assert predicted == pytest.approx(measured, rel=0.05)


def test_several_calls_after_a_load_and_several_messages_of_an_end_are_told_apart():
    plan = plan_of("(broadcast 'b 0 :m 50) (gather 'g 1 :m 6)", mesh(3, 1))

    async def main(node: Any) -> None:
        await node.cop.b_load()
        for _ in range(3):
            await (node.cop.b_write(np.zeros(50, np.int32)) if node.number == 0 else node.cop.b_read())
        await node.cop.g_load()
        if node.number == 1:
            await node.cop.g_read()
            await node.cop.g_read()
        else:
            await node.cop.g_write(np.zeros(6, np.int32))

    calls, _, total = run(plan, main)
    ways = path_taken(plan, calls)
    assert ways is not None
    assert [(visit.operator.label, visit.count) for visit in ways[1]] == [("b", 3), ("g", 1)]
    played = timeline(plan, ways)
    assert played is not None
    assert played.total == pytest.approx(total, rel=0.05)


def test_a_replaced_operator_is_visited_as_its_parts_are():
    plan = plan_of("(allreduce 'a 'add :m 60 :impl 'repl_allreduce)", mesh(2, 2))

    async def main(node: Any) -> None:
        for _ in range(2):
            await called(node, "a", 60)

    calls, _, total = run(plan, main)
    ways = path_taken(plan, calls)
    assert ways is not None
    assert [visit.operator.label for visit in ways[0]] == ["a/reduce", "a/broadcast"] * 2
    played = timeline(plan, ways)
    assert played is not None
    assert played.total == pytest.approx(total, rel=0.05)


def test_a_run_that_leaves_everything_out_is_predicted_too() -> None:
    """What was predicted was the text, with its optional group taken."""
    plan = plan_of("(optional (broadcast 'a 1 :m 7) (barrier 'b))", mesh(4, 2))

    async def main(node: Any) -> None:
        pass

    predicted, total = predicted_and_measured(plan, main)
    assert 2 * total < plan.cycles
    assert predicted == pytest.approx(total, abs=8)


def test_a_long_run_is_played_from_its_beginning(monkeypatch: pytest.MonkeyPatch):
    """Its rounds stand for those that are left out."""
    text = "(loop 'l 2 (cshift 'a 1 :m 20) (optional (allreduce 'c 'add :m 40)))"
    plan = plan_of(text, mesh(3, 2))

    async def main(node: Any) -> None:
        for k in range(200):
            await called(node, "a", 20)
            if k % 3 == 0:
                await called(node, "c", 40)

    calls, _, total = run(plan, main)
    ways = path_taken(plan, calls)
    assert ways is not None
    assert {visit.weight for way in ways for visit in way} == {1.0}
    monkeypatch.setattr(module, "MOST_VISITS", 300)
    ways = path_taken(plan, calls)
    assert ways is not None
    assert 100 < sum(map(len, ways)) <= 300
    for way in ways:
        assert sum(visit.weight for visit in way) == pytest.approx(267)
    played = timeline(plan, ways)
    assert played is not None
    assert 10 * plan.cycles < total
    assert played.total == pytest.approx(total, rel=0.05)
    cycles = operator_cycles(plan, ways)
    assert cycles is not None
    assert sum(cycles.values()) == pytest.approx(total, rel=0.1)


def test_of_a_long_run_all_operators_are_played(monkeypatch: pytest.MonkeyPatch):
    """One loop after the other, and at the end an operator that is used once. In the first a node reads before it writes."""
    first = "(loop 'l 2 (parallel (stream 's 0 1 :m 9) (stream 't 1 0 :m 5)))"
    text = f"{first} (loop 'm 2 (allreduce 'c 'add :m 40)) (cshift 'd 1 :m 90)"
    plan = plan_of(text, mesh(3, 1))

    async def main(node: Any) -> None:
        for _ in range(150):
            await node.cop.s_load()
            await node.cop.t_load()
            for label, words, source in (("s", 9, 0), ("t", 5, 1)) if node.number < 2 else ():
                await moved(node, label, words, node.number == source)
        for _ in range(150):
            await called(node, "c", 40)
        await called(node, "d", 90)

    calls, _, total = run(plan, main)
    monkeypatch.setattr(module, "MOST_VISITS", 200)
    ways = path_taken(plan, calls)
    assert ways is not None
    assert sum(map(len, ways)) <= 200
    assert [visit.weight for visit in ways[1] if visit.operator.label == "d"] == [1.0]
    played = timeline(plan, ways)
    assert played is not None
    assert played.total == pytest.approx(total, rel=0.05)


def test_a_path_that_is_too_long_is_none(monkeypatch: pytest.MonkeyPatch):
    plan = plan_of("(cshift 'a 1 :m 4)", mesh(2, 1))
    call = Call(0, "a", "load", 3, 9, 0)
    assert path_taken(plan, [replace(call, label="elsewhere")]) == [[], []]
    assert path_taken(plan, [call, replace(call, node=1)]) is not None
    monkeypatch.setattr(module, "MOST_VISITS", 1)
    assert path_taken(plan, [call, replace(call, node=1)]) is None


@pytest.mark.parametrize("kind", ["cshift", "eoshift"])
def test_a_schedule_made_at_run_time_costs_what_the_distances_of_the_run_ask_for(kind: str) -> None:
    plan = plan_of(f"(loop 'l 8 ({kind} 's (runtime) :m 20 :impl 'sch_shift_runtime))", mesh(4, 4))

    async def main(node: Any) -> None:
        for k in range(8):
            await called(node, "s", 20, (3 * k // 2 * 5) % 16)  # each second distance is that before

    calls, _, total = run(plan, main)
    ways = path_taken(plan, calls)
    played = timeline(plan, ways)
    assert played is not None
    assert played.total == pytest.approx(total, rel=0.05)


def test_words_of_two_pipelines_that_share_a_register_keep_each_other_out_as_in_the_hardware() -> None:
    plan = plan_of("(collect 'c 0 :m 20 :impl 'str_collect_direct)", mesh(2, 2))

    async def main(node: Any) -> None:
        await node.cop.c_load()
        if node.number in (1, 3):
            await moved(node, "c", 20, writes=True)
        if node.number == 0:
            await moved(node, "c", 20, writes=False)
            await moved(node, "c", 20, writes=False)

    calls, _, total = run(plan, main)
    ways = path_taken(plan, calls)
    played = timeline(plan, ways)
    assert played is not None
    assert played.total == pytest.approx(total, abs=4)


@pytest.mark.parametrize(
    ("impl", "own_entries"), [("dyn_permute", False), ("dyn_permute", True), ("sch_permute_runtime", False)]
)
def test_permutations_are_those_of_the_run(impl: str, own_entries: bool) -> None:
    runtime = "(runtime :distributed t)" if own_entries else "(runtime)"
    plan = plan_of(f"(loop 'l 6 (permute 's {runtime} :m 20 :impl '{impl}))", mesh(3, 3))

    async def main(node: Any) -> None:
        order = [(k + 1) % 9 for k in range(9)]  # round all nodes: two thirds more than what random ones take
        for _ in range(6):
            await node.cop.s_load(order[node.number] if own_entries else order)
            await node.cop.s_func(np.zeros(20, np.int32))

    calls, _, total = run(plan, main)
    ways = path_taken(plan, calls)
    played = timeline(plan, ways)
    assert played is not None
    assert abs(plan.cycles / total - 1) > 0.2
    assert played.total == pytest.approx(total, rel=0.15)


@pytest.mark.parametrize("loads_again", [False, True])
def test_streams_whose_source_sends_commands_are_played_as_they_went(loads_again: bool) -> None:
    text = "(stream 's 0 (runtime :dynamic t :values '(1 2 3)) :m 20 :c 6 :impl 'str_stream_dyn)"
    plan = plan_of(text, mesh(2, 2))

    async def main(node: Any) -> None:
        for k, to in enumerate((1, 2, 2, 3, 1, 2)):
            if node.number == 0:
                await node.cop.s_load(to)
            elif k == 0 or loads_again:
                await node.cop.s_load(None)
            if node.number in (0, to):
                await moved(node, "s", 20, writes=node.number == 0)

    calls, _, total = run(plan, main)
    ways = path_taken(plan, calls)
    assert ways is not None
    played = timeline(plan, ways)
    assert played is not None
    assert played.total == pytest.approx(total, rel=0.02)


@pytest.mark.parametrize("operator", ["prefix 'p", "allreduce 'p"])
def test_items_of_two_words_are_combined_when_both_have_come(operator: str) -> None:
    plan = plan_of(f"({operator} :type 'int64* :m 64)", mesh(4, 4))

    async def main(node: Any) -> None:
        await node.cop.p_load()
        await node.cop.p_func(np.ones(32, np.int64))

    calls, _, total = run(plan, main)
    ways = path_taken(plan, calls)
    played = timeline(plan, ways)
    assert played is not None
    assert played.total == pytest.approx(total, rel=0.03)


def test_operators_at_the_same_time_of_which_one_is_called_less_often_are_played_together() -> None:
    """An all-gather round sixteen nodes: eight shifts one way and seven the other."""
    gather = AllGather("g", mesh(4, 4), 4)
    plan = make_plan(compile_program(lambda net: gather.parts(), topology=mesh(4, 4)), NodeShape(), name="test")
    assert len(plan.phases[0].operators) == 2

    async def main(node: Any) -> None:
        await gather.carried_out(node, np.zeros(4, np.int32))

    calls, _, total = run(plan, main)
    ways = path_taken(plan, calls)
    assert ways is not None
    assert sorted(visit.count for visit in ways[0]) == [7, 8]
    played = timeline(plan, ways)
    assert played is not None
    assert played.total == pytest.approx(total, rel=0.05)
