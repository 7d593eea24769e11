"""Traces of connections as traffic."""

from __future__ import annotations

import json

import pytest

from pointsman.errors import PointsmanError
from pointsman.optical.spec import read_spec
from pointsman.optical.traces import read_trace

BURSTS = {
    "format": "pointsman-show",
    "run": {"bursts": [[0, 1, 10, 12, 19, 8, 1, 1], [2, 2, 5, 6, 7, 1, 0, 0], [3, 0, 7, 9, 9, 1, 0, 1]]},
}


def test_lines_with_and_without_names_and_comments(tmp_path):
    path = tmp_path / "trace.csv"
    path.write_text("# of Tuesday\nready,source,destination,packets\n0,3,1,8\n\n12 0 2 1  # late\n")
    assert read_trace(path) == [(0, 3, 1, 8), (12, 0, 2, 1)]
    assert read_trace(path, slot_words=5) == [(0, 3, 1, 2), (2, 0, 2, 1)]


def test_bursts_of_the_switch(tmp_path):
    path = tmp_path / "shown.json"
    path.write_text(json.dumps(BURSTS))
    assert read_trace(path) == [(10, 0, 1, 8), (7, 3, 0, 1)]
    assert read_trace(path, slot_words=4) == [(2, 0, 1, 2), (1, 3, 0, 1)]


def test_a_trace_is_found_beside_the_specification(tmp_path):
    (tmp_path / "trace.csv").write_text("0,1,2,3\n")
    path = tmp_path / "spec.json"
    content = {"network": {"kind": "torus", "size": 4}, "traffic": {"trace": "trace.csv", "slot_words": 2}}
    path.write_text(json.dumps(content))
    assert read_spec(path).phases[0].slots.tolist() == [2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0,1,2\n", r"trace.csv:1: a line of a trace must have four numbers"),
        ("0,1,2,3\nready,source,destination,packets\n", r"trace.csv:2: a line"),
        ("a,b\nc,d\n", r"trace.csv:2: a line"),
        ("0,1,NaN,3\n", r"trace.csv:1: a line"),
        ("0,1,2,1e3\n", r"trace.csv:1: a line"),
        (f"0,1,2,{10**30}\n", r"trace.csv:1: a line"),
        ("{}", "this is no document of a run on the switch"),
        ("[1]", "this is no document of a run on the switch"),
        (
            json.dumps({"format": "pointsman-show", "run": {"bursts": [[1, 2]]}}),
            "a burst must be a list of eight numbers",
        ),
        ("0,1,1,3\n", r"messages\[0\]: a message must join two nodes, not 1 and itself"),
        ("0,1,9,3\n", r"messages\[0\]: a node must be one of 0..3, not 9"),
    ],
)
def test_wrong_traces_are_refused_with_their_place(tmp_path, text, message):
    (tmp_path / "trace.csv").write_text(text)
    path = tmp_path / "spec.json"
    path.write_text(json.dumps({"network": {"kind": "torus", "size": 4}, "traffic": {"trace": "trace.csv"}}))
    with pytest.raises(PointsmanError, match=message):
        read_spec(path)


@pytest.mark.parametrize("words", [0, -1, 10**9])
def test_words_of_a_slot_must_be_some(tmp_path, words):
    with pytest.raises(PointsmanError, match="a slot must carry 1 to"):
        read_trace(tmp_path / "none", slot_words=words)
