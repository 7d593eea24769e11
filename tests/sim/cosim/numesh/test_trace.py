"""Activities, traces, stream monitors of a run of a program."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest

from cosim.numesh.activities import cycles_by
from cosim.numesh.machine import Machine
from cosim.numesh.monitors import check_streams, raise_violations
from cosim.numesh.session import Run, run_application
from cosim.numesh.trace import trace_text
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.runtime import Category, Node
from pointsman.targets.numesh import make_images


class Pair:
    """Two nodes: a message of five words there, and one word back to all."""

    functions: ClassVar[dict[str, Any]] = {}

    async def main(self, node: Node) -> Any:
        await node.cop.there_load()
        if node.number == 0:
            await node.cop.there_write(np.arange(10, 15, dtype=np.int32))
        else:
            got = await node.cop.there_read()
            await node.compute(100)
        await node.cop.back_load()
        if node.number == 1:
            await node.cop.back_write(int(got.sum()))
            return None
        return await node.cop.back_read()

    def check(self, results: list[Any]) -> str:
        assert results[0] == 60
        return "right"


@pytest.fixture(scope="module")
def run() -> Run:
    topology = mesh(2, 1)
    text = "(stream 'there 0 1 :m 5 :type 'int32*) (broadcast 'back 1 :type 'int32)"
    images = make_images(make_plan(compile_text(text, topology=topology), NodeShape(), name="pair"))
    with Machine(images.shape, topology, engine="model") as machine:
        return run_application(images, Pair(), machine, events=True)  # type: ignore[arg-type]


def test_the_spans_of_a_node_follow_each_other_and_hold_all_its_cycles(run: Run):
    for node in range(2):
        spans = [span for span in run.spans if span.node == node]
        assert all(one.end == two.start for one, two in itertools.pairwise(spans))
        assert (spans[0].start, spans[-1].end) == (0, run.record.finished[node])
        assert np.array_equal(np.sum([span.cycles for span in spans], axis=0), run.record.cycles[node])


def test_cycles_are_told_by_operator_and_by_phase(run: Run):
    by_operator = cycles_by(run.spans, "operator", 2)
    assert set(by_operator) == {"there", "back", None}
    assert by_operator["there"]["write"] >= 2.5  # five words of one node, mean of two
    assert by_operator["there"]["cpu"] == 0
    assert by_operator[None]["cpu"] == 50
    by_phase = cycles_by(run.spans, "phase", 2)
    total = sum(sum(cycles.values()) for cycles in by_phase.values())
    assert total == pytest.approx(run.record.cycles.sum() / 2)


def test_json_lines_tell_of_every_word_where_it_came_from(run: Run):
    rows = [json.loads(line) for line in trace_text(run.images, run.record, run.spans, lines=True).splitlines()]
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
    reads = [row for row in rows if row["event"] == "read"]
    words = [row["word"] for row in reads if row["node"] == 1 and row["word"]]
    assert words[:5] == [10, 11, 12, 13, 14]
    assert words[5:] in ([], [60])  # some broadcasts read their own words back
    for row in reads:
        source = row["from"]
        made = [w for w in rows if w["event"] == "write" and (w["node"], w["time"]) == (source["node"], source["time"])]
        assert [w["word"] for w in made] == [row["word"]]
        assert source["time"] < row["time"]
    activities = {row["activity"] for row in rows if row["event"] == "activity"}
    assert {"loading", "there_load", "there_write", "there_read", "computing", "back_read"} <= activities


class Twice:
    """The same word from node 0 to node 1, and then to node 2."""

    functions: ClassVar[dict[str, Any]] = {}

    async def main(self, node: Node) -> Any:
        for end in (1, 2):
            await node.cop.s_load(end)
            if node.number == 0:
                await node.cop.s_write(7)
                await node.compute(300)
            elif node.number == end:
                await node.cop.s_read()
            else:
                await node.compute(300)

    def check(self, results: list[Any]) -> str:
        return "right"


def test_a_word_that_another_node_has_read_is_not_the_origin_of_the_next_one_like_it() -> None:
    topology = mesh(3)
    text = "(loop 'l 2 (stream 's 0 (runtime :values '(1 2)) :impl 'str_stream_rtdest))"
    images = make_images(make_plan(compile_text(text, topology=topology), NodeShape(), name="twice"))
    with Machine(images.shape, topology, engine="model") as machine:
        run = run_application(images, Twice(), machine, events=True)  # type: ignore[arg-type]
    rows = [json.loads(line) for line in trace_text(run.images, run.record, run.spans, lines=True).splitlines()]
    writes = [row["time"] for row in rows if row["event"] == "write" and row["word"] == 7 and row["node"] == 0]
    reads = {row["node"]: row["from"]["time"] for row in rows if row["event"] == "read" and row["word"] == 7}
    assert reads == {1: writes[0], 2: writes[1]}


def test_the_trace_for_chrome_has_a_track_a_node_and_a_flow_a_word(run: Run):
    events = json.loads(trace_text(run.images, run.record, run.spans, lines=False))["traceEvents"]
    names = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert names == {"node 0 (0, 0)", "node 1 (1, 0)"}
    slices = [e for e in events if e["ph"] == "X"]
    assert {e["cat"] for e in slices} == {"phase", "activity", "write", "read"}
    assert sum(e["cat"] == "read" for e in slices) == int(run.record.accesses[:, 1].sum())
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    assert starts.keys() == ends.keys()
    assert len(starts) == sum(e["cat"] == "read" for e in slices)
    assert all(starts[key]["ts"] < ends[key]["ts"] for key in starts)
    for node in range(2):
        phases = [e for e in slices if e["cat"] == "phase" and e["pid"] == node]
        assert all(a["ts"] + a["dur"] == pytest.approx(b["ts"]) for a, b in itertools.pairwise(phases))


def test_the_stream_monitor_passes_a_good_run_and_finds_what_is_lost_doubled_or_changed(run: Run):
    assert check_streams(run.images, run.record) == []
    events = run.record.events
    assert events is not None
    reads = np.flatnonzero((events["node"] == 1) & ~events["write"])
    changed = events.copy()
    changed["word"][reads[2]] ^= 1
    lost = np.delete(events, reads[1])
    doubled = np.insert(events, reads[1], events[reads[1]])
    swapped = events.copy()
    swapped["word"][reads[[0, 1]]] = swapped["word"][reads[[1, 0]]]
    for faulty in (changed, lost, doubled, swapped):
        violations = check_streams(run.images, replace(run.record, events=faulty))
        assert violations
        assert violations[0].where.startswith("node 1, register")
    with pytest.raises(
        PointsmanError, match=r"^monitors found \d+ violations\n  cycle \d+, node 1, register \d+: read"
    ):
        raise_violations(violations)


def test_total_cycles_by_category_are_in_the_record(run: Run):
    assert sum(run.record.mean_cycles.values()) * 2 == run.record.cycles.sum()
    assert len(Category) == run.record.cycles.shape[1]
