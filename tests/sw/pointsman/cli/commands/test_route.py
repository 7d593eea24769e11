"""``pointsman route`` as a user calls it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner

from pointsman.cli import main
from pointsman.routing.routers import ROUTERS

STREAMS = {
    "topology": {"kind": "torus", "size": [3, 3]},
    "streams": [{"source": 0, "destinations": [4, 8]}, {"source": 4, "destinations": [0], "words": 2}],
}


@pytest.fixture
def call(tmp_path):
    path = tmp_path / "streams.json"
    path.write_text(json.dumps(STREAMS))

    def run(*options, streams=path):
        return CliRunner().invoke(main, ["route", str(streams), "--router", "ideal", *map(str, options)])

    return run


def test_routes_are_written_with_the_promised_keys(call, tmp_path):
    out = tmp_path / "out.json"
    done = call("--json", out)
    assert done.exit_code == 0, done.output
    assert "2 streams, 3 words in 2 slots (ideal model)" in done.output
    assert "bound: 2 (" in done.output
    answer = json.loads(out.read_text())
    assert answer["period"] == 2
    assert answer["bound"]["value"] == 2
    assert answer["seconds"] >= 0
    assert answer["bound_seconds"] >= 0
    assert [stream["bandwidth"] for stream in answer["streams"]] == [0.5, 1.0]
    first = answer["streams"][0]["words"][0]
    assert [first[0][0], first[0][2]] == [None, 0]
    assert sorted(move[0] for move in first if move[2] is None) == [4, 8]


def test_the_same_seed_gives_the_same_bytes_but_for_the_times(call, tmp_path):
    answers = []
    for name in ("a.json", "b.json"):
        assert call("--json", tmp_path / name, "--seed", 7).exit_code == 0
        answer = json.loads((tmp_path / name).read_text())
        del answer["seconds"], answer["bound_seconds"]
        answers.append(json.dumps(answer))
    assert answers[0] == answers[1]


def test_a_length_that_is_too_small_is_explained_on_the_screen_and_in_the_file(call, tmp_path):
    out = tmp_path / "out.json"
    done = call("--json", out, "--length", 1)
    assert done.exit_code == 2
    assert "1 slots are too few, 2 are needed" in done.output
    assert json.loads(out.read_text())["infeasible"]


def test_a_plot_is_drawn(call, tmp_path):
    done = call("--plot", tmp_path / "plot.svg")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "plot.svg").read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--plot", "/tmp/a.txt"), "a plot must end in"),
        (("--json", "/no/such/folder/a.json"), "there is no folder /no/such/folder"),
        (("--time", -1), "a time limit must be positive, not -1 seconds"),
        (("--effort", -1), "effort must be"),
        (("--router", "best"), "Invalid value"),
        (("--length", 0), "a length must be"),
    ],
)
def test_wrong_options_end_with_status_two_and_no_traceback(call, options, message):
    done = call(*options)
    assert done.exit_code == 2
    assert message in done.output
    assert "Traceback" not in done.output


def test_a_wrong_file_ends_with_status_two(call, tmp_path):
    (tmp_path / "bad.json").write_text('{"topology": 3}')
    done = call(streams=tmp_path / "bad.json")
    assert done.exit_code == 2
    assert "bad.json" in done.output


@pytest.mark.parametrize(
    ("router", "rule"), [("numesh", "the routes break rules of the node"), ("ideal", "breaks rules of the ideal model")]
)
def test_a_wrong_schedule_of_a_router_is_refused_and_not_written(call, tmp_path, monkeypatch, router, rule):
    """A router that gives a VFSM's slot twice, or loses a word's last move, is found out before anybody has its answer."""
    right = ROUTERS[router]

    def wrong(problem, options):
        result = right(problem, options)
        if router == "ideal":
            *words, last = result.streams[0].words
            streams = [replace(result.streams[0], words=(*words, last[:-1])), *result.streams[1:]]
            return replace(result, streams=tuple(streams))
        (first, *parts) = result.images.nodes[0].phases
        row, *rows = first.schedule
        node = replace(result.images.nodes[0], phases=(replace(first, schedule=(row, row, *rows[1:])), *parts))
        return replace(result, images=replace(result.images, nodes=(node, *result.images.nodes[1:])))

    monkeypatch.setitem(ROUTERS, router, wrong)
    out = tmp_path / "out.json"
    done = call("--json", out, "--router", router, "--effort", 0.01)
    assert done.exit_code == 2
    assert rule in done.output
    assert "this is a fault of the router" in done.output
    assert not out.exists()
