"""``pointsman collective``, and collectives given to ``pointsman route``, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.cli import main


def call(*words):
    return CliRunner().invoke(main, [*map(str, words)])


def test_period_latency_bound_and_share_are_told(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done = call("collective", "all-gather", "--topology", "mesh:5x7", "--json", out)
    assert done.exit_code == 0, done.output
    assert "all-gather of 1 word on the 5x7 mesh: period 35" in done.output
    assert "bound: 35 (parity)" in done.output
    assert "share: 1.0000" in done.output
    answer = json.loads(out.read_text())
    assert (answer["period"], answer["bound"]["value"], answer["share"]) == (35, 35, 1.0)
    assert [stream["of"] for stream in answer["streams"]] == [[node] for node in range(35)]
    assert {kind["kind"] for kind in answer["bounds"]} == {"ejection", "injection", "cut", "hop capacity", "parity"}


def test_moves_of_a_reduction_have_an_injection_at_every_node_and_one_delivery(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    assert call("collective", "reduce", "--mesh", "3x3", "--root", 4, "--ordered", "--json", out).exit_code == 0
    (stream,) = json.loads(out.read_text())["streams"]
    (word,) = stream["words"]
    assert sorted(to for before, _, to, _, _ in word if before is None) == list(range(9))
    assert [(before, slot) for before, slot, to, _, _ in word if to is None] == [(4, 2)]
    assert len(word) == 9 + 8 + 1


@pytest.mark.parametrize("kind", ["broadcast", "all-reduce"])
def test_route_takes_a_collective_in_place_of_streams(kind: str, tmp_path: Path) -> None:
    path, out = tmp_path / "streams.json", tmp_path / "out.json"
    path.write_text(json.dumps({"topology": {"kind": "torus", "size": [3, 3]}, "collective": kind, "words": 5}))
    done = call("route", path, "--router", "ideal", "--json", out)
    assert done.exit_code == 0, done.output
    answer = json.loads(out.read_text())
    assert answer["period"] == answer["bound"]["value"] == 5
    assert answer["latency"] >= answer["latency_bound"]["value"]
    node = call("route", path, "--json", out)
    if kind == "broadcast":
        assert node.exit_code == 0, node.output
        assert json.loads(out.read_text())["router"] == "numesh"
    else:
        assert node.exit_code == 2
        assert "the router numesh carries words, and all-reduce combines them" in node.output


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ({"collective": "all-gather", "streams": []}, "must have streams or a collective, not both"),
        ({}, 'a file must have "streams", or a "collective" in their place'),
        ({"collective": "gossip"}, "Invalid enum value 'gossip' - at `$.collective`"),
        ({"collective": "reduce", "root": 9}, "root: a node must be one of 0..8, not 9"),
        ({"collective": "reduce", "words": 0}, "words: words must be 1 to 1000000, not 0"),
        ({"collective": "reduce", "faults": {"nodes": [0]}}, "root: the root must be a working node; node 0 is faulty"),
        ({"collective": "all-gather", "faults": {"nodes": [1, 3]}}, "faults cut some of them off"),
        ({"streams": [], "words": 3}, "words: words at this place is that of a collective, and the file has streams"),
    ],
)
def test_a_wrong_file_is_refused_in_a_line(content: dict, line: str, tmp_path: Path) -> None:
    path, out = tmp_path / "streams.json", tmp_path / "out.json"
    path.write_text(json.dumps({"topology": {"kind": "mesh", "size": [3, 3]}} | content))
    done = call("route", path, "--router", "ideal", "--json", out)
    assert done.exit_code == 2
    assert line in done.output
    assert not out.exists()


def test_streams_from_every_node_to_all_others_are_an_all_gather(tmp_path: Path) -> None:
    path, out = tmp_path / "streams.json", tmp_path / "out.json"
    streams = [{"source": a, "destinations": [b for b in range(32) if b != a]} for a in range(32)]
    path.write_text(json.dumps({"topology": {"kind": "mesh", "size": [8, 4]}, "streams": streams}))
    assert call("route", path, "--router", "ideal", "--json", out).exit_code == 0
    answer = json.loads(out.read_text())
    assert answer["period"] == answer["bound"]["value"] == 31


def test_words_of_large_collectives_are_left_out_of_the_file_and_this_is_told(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr("pointsman.artifacts.routes.collectives.MAX_WRITTEN", 10)
    out = tmp_path / "out.json"
    assert call("collective", "all-gather", "--mesh", "2x3", "--json", out).exit_code == 0
    answer = json.loads(out.read_text())
    assert "streams" not in answer
    assert answer["notes"] == ["streams: left out, 30 moves are more than 10"]


def test_a_network_without_sides_is_told_by_its_nodes() -> None:
    done = call("collective", "reversal", "--topology", "diamond:2")
    assert "reversal of 1 word on the diamond of 10 nodes: period " in done.output
    assert "within 1 link of" in done.output
