"""``pointsman optical`` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.cli import main

EXAMPLE = Path(__file__).parents[5] / "examples/optical/torus.json"
SPEC = {
    "network": {"kind": "torus", "size": [4, 4]},
    "degree": 4,
    "traffic": {"kind": "uniform", "rate": 0.02, "slots": 2},
    "slots": 300,
    "seed": 3,
}
KEYS = {"delivered", "slots", "latency", "throughput", "set_up", "retries", "messages", "model"}


@pytest.fixture
def call(tmp_path):
    path = tmp_path / "spec.json"

    def run(content, *options):
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return CliRunner().invoke(main, ["optical", str(path), *map(str, options)])

    return run


def test_one_traffic_in_three_ways_and_the_same_bytes_again(call, tmp_path):
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    done = call(SPEC, "--json", one)
    assert done.exit_code == 0, done.output
    assert [line.split()[0] for line in done.output.splitlines()[-3:]] == ["reserve", "multihop", "compiled"]
    assert call(SPEC, "--json", two).exit_code == 0
    assert one.read_bytes() == two.read_bytes()
    for figures in json.loads(one.read_text()).values():
        assert set(figures) >= KEYS
        assert set(figures["latency"]) == {"mean", "p50", "p99"}
        assert all(len(row) == 6 for row in figures["messages"])


def test_one_mode_alone(call, tmp_path):
    out = tmp_path / "out.json"
    assert call({**SPEC, "degree": 300}, "--json", out, "--mode", "multihop").exit_code == 0
    assert list(json.loads(out.read_text())) == ["multihop"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({**SPEC, "degree": 65}, "degree: there must be 1 to 64 channels, not 65"),
        ({**SPEC, "degree": 0}, "degree: there must be at least 1 channel, not 0"),
        ({**SPEC, "logical": {"links": [[0, 1], [1, 0]]}}, "logical.links: there is no way from node 2 to node 0"),
        ({**SPEC, "traffic": {**SPEC["traffic"], "rate": 1.1}}, "must be above 0 and at most 1, not 1.1"),
        (
            {**SPEC, "traffic": {"messages": [[0, 5, 5, 1]]}},
            "traffic.messages[0]: a message must join two nodes, not 5 and itself",
        ),
        (
            {**SPEC, "logical": {"links": [[u, v] for u in range(16) for v in range(16) if u != v]}},
            "logical.links: they need ",
        ),
        (
            {**SPEC, "network": {"kind": "graph", "size": 4, "links": [[0, 1], [2, 3]]}},
            "network: it must be connected, and there is no way from node 0 to node 2",
        ),
        (json.dumps(SPEC).replace("0.02", "NaN"), "JSON is malformed"),
        ("nonsense", "JSON is malformed"),
        ("[sweep]\n", "Expected `object`, got `array`"),
        ({"streams": []}, "Object contains unknown field `streams`"),
    ],
)
def test_bad_input_is_a_line_and_status_2(call, tmp_path, content, message):
    out = tmp_path / "out.json"
    done = call(content, "--json", out)
    assert done.exit_code == 2
    assert message in done.output
    lines = done.output.splitlines()
    assert lines[0].startswith("pointsman: ")
    assert all(line.startswith("  hint: ") for line in lines[1:])
    assert not out.exists()


def test_the_example_runs():
    done = CliRunner().invoke(main, ["optical", str(EXAMPLE), "--mode", "reserve"])
    assert done.exit_code == 0, done.output


def test_a_demand_is_answered_in_the_first_lines(tmp_path):
    out = tmp_path / "out.json"
    done = CliRunner().invoke(main, ["optical", str(EXAMPLE.with_name("demand.json")), "--json", str(out)])
    assert done.exit_code == 0, done.output
    figures = json.loads(out.read_text())
    lines = done.output.splitlines()
    order = sorted(figures, key=lambda name: figures[name]["slots"])
    assert lines[1] == "soonest done: " + ", ".join(f"{name} {figures[name]['slots']}" for name in order)
    order = sorted(figures, key=lambda name: figures[name]["delay"]["mean"])
    assert [part.split()[0] for part in lines[0].removeprefix("least mean delay: ").split(", ")] == order


def test_what_delivers_less_is_said(call):
    saturated = {**SPEC, "traffic": {"kind": "uniform", "rate": 0.3, "slots": 4}}
    done = call(saturated)
    assert "fewer are delivered by" in done.output
    assert "nothing was delivered" in call({**SPEC, "traffic": {"messages": []}, "slots": 5}).output
