"""Paths of which single calls matter: who waits for whose words, and where messages went that processors pass on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pointsman.network import mesh
from pointsman.plan.timeline import path_taken as module
from pointsman.plan.timeline.path_taken import path_taken
from pointsman.plan.timeline.timeline import timeline
from pointsman.program.program import Instance
from runs_to_predict import called, moved, plan_of, predicted_and_measured, run


def _ends(stream: Instance) -> tuple[int, int]:
    """Numbers of the nodes that write and read."""
    source, destination = stream.operand("source"), stream.operand("destination")
    assert isinstance(source, int)
    assert isinstance(destination, int)
    return stream.nodes[source], stream.nodes[destination]


RING = "(loop 'l 3 (doall ((i (all *nodes*))) (stream 'r i (mod (1+ i) *nodes*) :m 20)))"
BORDERS = "(loop 'l 3 (grid '(e w s n) 1 1 :m 20))"


@pytest.mark.parametrize("text", [RING, BORDERS], ids=["one operator", "several"])
def test_a_node_that_writes_and_reads_at_the_same_time_is_played_so(text: str):
    """Were all to write before they read, nobody would come to an end."""
    plan = plan_of(text, mesh(3, 2))
    ends = {one.label: [_ends(instance) for instance in one.instances] for one in plan.program.operators()}

    async def main(node: Any) -> None:
        for _ in range(3):
            for label in ends:
                await getattr(node.cop, f"{label}_load")()
            writes = [moved(node, label, 20, True) for label in ends if node.number in [a for a, _ in ends[label]]]
            reads = [moved(node, label, 20, False) for label in ends if node.number in [b for _, b in ends[label]]]
            await node.together(*writes, *reads)

    calls, _, total = run(plan, main)
    ways = path_taken(plan, calls)
    assert ways is not None
    assert any(visit.at_once for visit in ways[1])
    played = timeline(plan, ways)
    assert played is not None
    assert played.total == pytest.approx(total, rel=0.06)


WAVEFRONT = " ".join(
    f"(subset (make-1d '{axis}) (parallel (map (lambda (i) (stream '{label} i (+ i 1) :m 12)) (all (- *nodes* 1)))))"
    for axis, label in (("x", "e"), ("y", "s"))
)
"""Values come from the west and from the north, and their sum goes east and south."""


def test_who_writes_what_it_has_read_waits_for_it():
    plan = plan_of(f"(parallel {WAVEFRONT.replace(':m 12', ':m 2')})", mesh(4, 3))

    async def main(node: Any) -> None:
        x, y = node.coordinates
        await node.cop.e_load()
        await node.cop.s_load()
        for label, place in (("e", x), ("s", y)):
            if place > 0:
                await moved(node, label, 2, False)
        for label, place, last in (("e", x, 3), ("s", y, 2)):
            if place < last:
                await moved(node, label, 2, True)

    predicted, total = predicted_and_measured(plan, main)
    assert predicted == pytest.approx(total, rel=0.06)
    assert plan.cycles < 0.6 * total


def test_who_writes_at_the_same_time_what_it_has_read_at_the_same_time_waits_for_it():
    """Both reads are one call of ``together``, and both writes another. Played as one call of all four, a node waited for nobody,
    and operators one after the other took twice the cycles."""
    plan = plan_of(f"(parallel {WAVEFRONT})", mesh(4, 3))

    async def main(node: Any) -> None:
        x, y = node.coordinates
        await node.cop.e_load()
        await node.cop.s_load()
        for _ in range(4):
            await node.together(*(getattr(node.cop, f"{label}_read")() for label, at in (("e", x), ("s", y)) if at))
            words = np.zeros(12, np.int32)
            ends = ("e", x, 3), ("s", y, 2)
            await node.together(*(getattr(node.cop, f"{label}_write")(words) for label, at, end in ends if at < end))

    predicted, total = predicted_and_measured(plan, main)
    assert predicted == pytest.approx(total, rel=0.06)


def test_a_pipeline_is_played_call_by_call():
    plan = plan_of("(doall ((i (all (- *nodes* 1)))) (stream 'p i (+ i 1) :m 3 :c 10))", mesh(9, 1))

    async def main(node: Any) -> None:
        await node.cop.p_load()
        for _ in range(10):
            if node.number > 0:
                await moved(node, "p", 3, False)
            if node.number < 8:
                await moved(node, "p", 3, True)

    predicted, total = predicted_and_measured(plan, main)
    assert predicted == pytest.approx(total, rel=0.06)
    assert plan.cycles < 0.75 * total


def test_too_many_calls_are_played_visit_by_visit(monkeypatch: pytest.MonkeyPatch):
    plan = plan_of("(parallel (cshift 'a 1 :m 4) (cshift 'b 1 :m 4))", mesh(2, 1))

    async def main(node: Any) -> None:
        await node.cop.a_load()
        await node.cop.b_load()
        for label in "ab":
            await getattr(node.cop, f"{label}_func")(np.zeros(4, np.int32))

    calls, _, total = run(plan, main)
    (first, _), _ = path_taken(plan, calls) or ([], [])
    assert first.calls == (((0, "load"),), ((1, "load"),), ((0, "func"),), ((1, "func"),))
    monkeypatch.setattr(module, "MOST_CALLS", 7)
    ways = path_taken(plan, calls)
    assert ways is not None
    assert not any(visit.calls for way in ways for visit in way)
    played = timeline(plan, ways)
    assert played is not None
    assert played.total == pytest.approx(total, rel=0.2)


@pytest.mark.parametrize("pairs", [[(k % 6, (5 * k + 1) % 6) for k in range(8)], [(k % 3, 5) for k in range(8)]])
def test_messages_that_processors_pass_on_go_where_the_run_sent_them(pairs: list[tuple[int, int]]):
    plan = plan_of("(loop 'l 8 (stream 's (runtime) (runtime) :m 25 :impl 'dyn_stream))", mesh(3, 2))

    async def main(node: Any) -> None:
        for source, destination in pairs:
            await node.cop.s_load(source, destination)
            if node.number in (source, destination):
                await moved(node, "s", 25, node.number == source)

    predicted, total = predicted_and_measured(plan, main)
    assert predicted == pytest.approx(total, rel=0.05)


@pytest.mark.parametrize("jobs", [[1, 2, 3, 4, 5], [3, 3, 3, 1, 3, 3, 3, 3, 3, 3, 3, 3]])
def test_a_writer_that_loads_alone_is_played_with_its_own_calls(jobs: list[int]):
    """Only the source loads again; who reads has loaded once, so visits of the nodes do not agree in number."""
    plan = plan_of("(stream 'job 0 (runtime :dynamic t) :m 40) (collect 'done 0 :m 1)", mesh(2, 3))

    async def main(node: Any) -> None:
        for job in jobs if node.number == 0 else [None]:
            await node.cop.job_load(job)
            if job is not None:
                await moved(node, "job", 40, True)
        for _ in range(jobs.count(node.number)):
            await moved(node, "job", 40, False)
        await node.cop.done_load()
        if node.number == 0:
            for _ in jobs:
                await node.cop.done_read()
        for _ in range(jobs.count(node.number)):
            await moved(node, "done", 1, True)

    predicted, total = predicted_and_measured(plan, main)
    assert predicted == pytest.approx(total, rel=0.1)


def test_a_destination_that_it_alone_knows_is_known_from_its_own_load():
    plan = plan_of("(loop 'l 6 (collect 'c (runtime :distributed t) :m 30))", mesh(3, 1))

    async def main(node: Any) -> None:
        for k in range(6):
            source, destination = k % 3, (k + 1) % 3
            await node.cop.c_load(True if node.number == destination else None)
            if node.number in (source, destination):
                await moved(node, "c", 30, node.number == source)

    predicted, total = predicted_and_measured(plan, main)
    assert predicted == pytest.approx(total, rel=0.05)


def test_words_of_a_collect_to_its_own_node_are_not_waited_for():
    """The destination sends to itself in one message of two, which no other node knows."""
    plan = plan_of("(loop 'l 2 (collect 'c 0 :m 30))", mesh(3, 1))

    async def main(node: Any) -> None:
        for source in (0, 2):
            await node.cop.c_load()
            if node.number == source:
                await moved(node, "c", 30, True)
            if node.number == 0:
                await moved(node, "c", 30, False)

    predicted, total = predicted_and_measured(plan, main)
    assert predicted == pytest.approx(total, rel=0.05)


def test_a_collect_whose_calls_stand_among_others_is_read_where_it_was():
    """The destination, which may write, too, reads before it writes in another operator."""
    plan = plan_of("(parallel (collect 'c (runtime) :m 30 :impl 'str_collect_tree) (spread 's 1 :m 2))", mesh(2, 2))

    async def main(node: Any) -> None:
        await node.cop.c_load(1)
        await node.cop.s_load()
        if node.number in (1, 3):
            await moved(node, "c", 30, node.number == 3)
        for _ in range(3 if node.number == 1 else 1):
            await moved(node, "s", 2, node.number == 1)

    predicted, total = predicted_and_measured(plan, main)
    assert predicted == pytest.approx(total, rel=0.05)


def test_who_sends_a_message_of_its_own_is_not_kept_from_it_by_others_that_come_by():
    """In a shift by one of long messages along a line each node also passes on the one that goes back."""
    plan = plan_of("(loop 'l 2 (cshift 'c (runtime) :m 200 :impl 'dyn_shift))", mesh(5, 1))

    async def main(node: Any) -> None:
        for k in range(2):
            await called(node, "c", 200, -1 - k)

    predicted, total = predicted_and_measured(plan, main)
    assert predicted == pytest.approx(total, rel=0.05)
