"""Collectives on the node equal NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.network import Topology, mesh, torus
from pointsman.plan.timeline.path_taken import path_taken
from pointsman.plan.timeline.timeline import operator_cycles, timeline
from pointsman.runtime import WrongAnswer

KINDS = ("all-reduce", "reduce-scatter", "all-gather", "all-to-all")
NETWORKS = (
    *(mesh(*size) for size in ((1, 2), (2, 2), (3, 3), (5, 3), (4, 4), (8, 2), (6, 3), (4, 3, 2), (5, 5))),
    *(torus(*size) for size in ((3, 5), (5,))),
)


@pytest.mark.parametrize("words", [2, 9])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("network", NETWORKS, ids=lambda one: f"{one} {one.kind}")
def test_they_are_right_by_their_meaning(example, network: Topology, kind: str, words: int) -> None:
    application, results = example.meant(network, "--kind", kind, "--words", str(words))
    assert application.check(results) == f"{kind} of {words} words: all {network.nodes} nodes are right"


def test_an_all_gather_runs_on_the_model_in_the_time_that_was_predicted(example) -> None:
    plan, run = example.planned(mesh(2, 2), "model", "--words", "64")
    assert run.correct
    took = run.record.finished.max()
    path = path_taken(plan, run.calls)
    assert path is not None
    again = timeline(plan, path)
    assert again is not None
    assert 0.95 * took < plan.cycles < 1.05 * took
    assert 0.95 * took < again.total < 1.05 * took
    shares = operator_cycles(plan, path)
    assert shares is not None
    assert max(shares.values()) < took / 2, "operators at the same time share their cycles"


def test_an_all_to_all_in_one_phase_takes_hardly_more_than_its_accesses(example) -> None:
    plan, run = example.planned(mesh(2, 2), "model", "--kind", "all-to-all", "--words", "64")
    assert run.correct
    assert [phase.technique for phase in plan.phases] == ["none"]
    assert plan.period == 6, "three shifts: a processor writes three words and reads three in a period"
    moving = [call for call in run.calls if call.what != "load"]
    assert max(call.end for call in moving) - min(call.start for call in moving) < 1.05 * 2 * 3 * 64
    assert 0.95 * plan.cycles < run.record.finished.max() < 1.05 * plan.cycles


def test_words_over_its_own_streams_close_a_phase_of_an_all_to_all(example) -> None:
    plan, run = example.planned(mesh(3, 3), "model", "--kind", "all-to-all", "--words", "5")
    assert run.correct
    assert [phase.technique for phase in plan.phases] == ["hijack", "none"]
    assert 0.9 * plan.cycles < run.record.finished.max() < 1.1 * plan.cycles


def test_every_second_node_hands_its_message_on(example) -> None:
    application, program = example.made(mesh(4, 4), "--words", "64")
    assert [operator.kind for operator in program.operators()] == ["broadcast"] * 8 + ["eoshift"]
    run = example.run(mesh(4, 4), "model", "--words", "64")
    assert application.check(run.record.results) == "all-gather of 64 words: all 16 nodes are right"
    moving = [call for call in run.calls if call.what != "load"]
    assert max(call.end for call in moving) - min(call.start for call in moving) < 1.25 * 16 * 64
    assert 17 * 64 <= run.record.accesses.sum(axis=1).max() < 18 * 64, "a message more than all, and commands"


@pytest.mark.parametrize("kind", ["reduce-scatter", "all-gather"])
@pytest.mark.parametrize("size", [(4, 4), (5, 3)], ids=str)
def test_short_messages_go_both_ways_round(example, size: tuple[int, int], kind: str) -> None:
    plan, run = example.planned(mesh(*size), "model", "--kind", kind, "--words", "2")
    assert run.correct
    nodes, half = plan.topology.nodes, plan.topology.nodes // 2
    assert [(one.kind, one.instances[0].operand("distance")) for one in plan.program.operators()] == [
        ("cshift", 1),
        ("cshift", -1),
    ]
    steps = [sum(call.label.endswith("back") for call in run.calls if call.node == 0 and call.what == "func")]
    assert steps == [(nodes - 1) // 2], "and one more to the node opposite, if there is one"
    moving = [call for call in run.calls if call.what != "load"]
    if nodes % 2 == 0:  # otherwise the way from the last node to the first is long
        assert max(call.end for call in moving) - min(call.start for call in moving) < 13 * half
    assert 0.95 * plan.cycles < run.record.finished.max() < 1.05 * plan.cycles


def test_an_all_reduce_takes_schedules_shorter_than_usual(example) -> None:
    """A word of each stream of two trees in six slots, as many as accesses of a processor: in eight slots they had no more."""
    for words, most_slots, most in ((1, 5, 42), (64, 6, 1.25 * 184)):
        plan, run = example.planned(mesh(4, 4), "model", "--kind", "all-reduce", "--words", str(words))
        assert run.correct
        moving = [call for call in run.calls if call.what != "load"]
        assert plan.period <= most_slots
        assert max(call.end for call in moving) - min(call.start for call in moving) <= most


def test_boxes_exchange_by_broadcasts_in_the_time_that_was_predicted(example) -> None:
    plan, run = example.planned(mesh(6, 3), "model", "--words", "9", period=10)
    assert run.correct
    assert [operator.kind for operator in plan.program.operators()] == ["broadcast"] * 9
    assert 0.95 * plan.cycles < run.record.finished.max() < 1.05 * plan.cycles


@pytest.mark.parametrize("kind", KINDS)
def test_one_node_has_everything(example, kind: str) -> None:
    application, results = example.meant(mesh(1), "--kind", kind, "--words", "3")
    assert application.check(results) == f"{kind} of 3 words: all 1 nodes are right"
    assert example.run(mesh(1), "model", "--kind", kind, "--words", "3").correct


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_all_run_on_the_rtl(example, kind: str) -> None:
    assert example.run(mesh(4, 4), "verilated", "--kind", kind, "--words", "64").correct


def test_a_wrong_answer_is_told(example) -> None:
    application, results = example.meant(mesh(2, 2), "--words", "2")
    with pytest.raises(WrongAnswer, match="node 3 ends with"):
        application.check([*results[:3], np.array(results[3]) + 1])


def test_wrong_words(example) -> None:
    with pytest.raises(PointsmanError, match="--words must be 1 to 65536, not 0"):
        example.made(mesh(2, 2), "--words", "0")
