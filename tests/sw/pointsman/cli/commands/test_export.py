"""``pointsman export``, and every example of ``pointsman import``, as a user calls them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pointsman.artifacts.flows.file import read_flows
from pointsman.cli import main

ROOT = Path(__file__).parents[5]
EXAMPLES = ROOT / "examples/formats"


def call(*words: object):
    return CliRunner().invoke(main, list(map(str, words)))


@pytest.mark.parametrize(
    ("format_", "name", "tasks"),
    [
        ("csv", "demand.csv", 3),
        ("matrix-market", "demand.mtx", 3),
        ("vtr", "noc.flows", 2),
        ("npe", "workload_npe.json", 5),
        ("npe-trace", "trace_npe.json", 3),
        ("mlir-aie", "flows.mlir", 3),
        ("poseidon", "poseidon.xml", 4),
        ("chakra", "ring_allreduce.0.et", 4),
    ],
)
def test_the_examples_of_flows_are_read(tmp_path: Path, format_: str, name: str, tasks: int) -> None:
    out = tmp_path / "flows.json"
    done = call("import", format_, EXAMPLES / name, "-o", out)
    assert done.exit_code == 0, done.output
    assert len(read_flows(out).tasks) == tasks


def test_an_algorithm_becomes_goal_text(tmp_path: Path) -> None:
    made, goal = tmp_path / "ring.json", tmp_path / "ring.goal"
    assert call("import", "msccl", EXAMPLES / "ring_allreduce.xml", "-o", made).exit_code == 0
    done = call("export", "goal", made, "-o", goal, "--words", 3)
    assert done.exit_code == 0, done.output
    assert "s0: send 12b to 1 tag 0" in goal.read_text()


def test_an_algorithm_becomes_traces_that_are_read_again(tmp_path: Path) -> None:
    made, flows = tmp_path / "ring.json", tmp_path / "flows.json"
    assert call("import", "msccl", EXAMPLES / "ring_allreduce.xml", "-o", made).exit_code == 0
    done = call("export", "chakra", made, "-o", tmp_path / "ring.et", "--words", 16)
    assert done.exit_code == 0, done.output
    assert f"wrote {tmp_path / 'ring.0.et'} and 3 more" in done.output
    assert call("import", "chakra", tmp_path / "ring.3.et", "-o", flows).exit_code == 0
    assert [flow.bandwidth for flow in read_flows(flows).flows] == [1.0] * 4
    done = call("export", "chakra", made, "-o", tmp_path / "ring.trace")
    assert done.exit_code == 2
    assert "an output of chakra must be called NAME.et" in done.output


def test_flows_become_a_connection_matrix(tmp_path: Path) -> None:
    out = tmp_path / "a.cm"
    done = call("export", "htsim", ROOT / "examples/flows/decoder.toml", "-o", out)
    assert done.exit_code == 0, done.output
    assert out.read_text().startswith("Nodes 6\n")
    assert call("export", "htsim", ROOT / "examples/flows/decoder.toml", "-o", out, "--nodes", 16).exit_code == 0
    assert out.read_text().startswith("Nodes 16\n")
    done = call("export", "htsim", ROOT / "examples/flows/decoder.toml", "-o", out, "--nodes", 5)
    assert done.exit_code == 2
    assert "decoder.toml: a connection matrix of 5 hosts has nodes 0 to 4, and task " in done.output
    assert "hint: --nodes 6, or more" in done.output
    assert out.read_text().startswith("Nodes 16\n")


@pytest.fixture(name="ring")
def ring_(tmp_path: Path) -> dict[str, Any]:
    """An algorithm that is right, as JSON."""
    path = tmp_path / "made.json"
    assert call("import", "msccl", EXAMPLES / "ring_allreduce.xml", "-o", path).exit_code == 0
    found = json.loads(path.read_text())
    path.unlink()
    return found


def test_the_examples_are_what_is_written(tmp_path: Path) -> None:
    made = tmp_path / "ring.json"
    assert call("import", "msccl", EXAMPLES / "ring_allreduce.xml", "-o", made).exit_code == 0
    assert call("export", "goal", made, "-o", tmp_path / "ring.goal", "--words", 16).exit_code == 0
    assert (tmp_path / "ring.goal").read_text() == (EXAMPLES / "ring_allreduce.goal").read_text()
    assert call("export", "chakra", made, "-o", tmp_path / "ring.et", "--words", 16).exit_code == 0
    for rank in range(4):
        assert (tmp_path / f"ring.{rank}.et").read_bytes() == (EXAMPLES / f"ring_allreduce.{rank}.et").read_bytes()
    flows = ROOT / "examples/flows/decoder.toml"
    assert call("export", "htsim", flows, "-o", tmp_path / "decoder.cm").exit_code == 0
    assert (tmp_path / "decoder.cm").read_text() == (EXAMPLES / "decoder.cm").read_text()


ALONE = {"ranks": 1, "inputs": 1, "outputs": 1, "messages": [], "in_place": True}
LONG = {
    "ranks": 2,
    "collective": "broadcast",
    "inputs": 3000,
    "outputs": 3000,
    "in_place": True,
    "messages": [[0, 1, 3000]],
    "actions": [[0, [["i", 0]], ["m", 0], 3000, "send"], [1, [["m", 0]], ["o", 0], 3000, "receive"]],
}


@pytest.mark.parametrize("format_", ["goal", "chakra"])
@pytest.mark.parametrize(
    ("change", "options", "told"),
    [
        ({"more": 1}, [], "Object contains unknown field `more`"),
        ({"messages": "x"}, [], "Expected `array`, got `str` - at `$.messages`"),
        ({"ranks": 3}, [], "messages must go from one rank to another"),
        (ALONE | {"actions": []}, [], "the algorithm has no messages, so there is nothing to write"),
        (LONG, ["--words", 1 << 30, "--word-bytes", 4096], "messages[0] has 3000 chunks of 4398046511104 bytes"),
    ],
)
def test_an_algorithm_that_cannot_be_written_is_refused_and_nothing_is_there(
    tmp_path: Path, ring: dict[str, Any], format_: str, change: dict[str, Any], options: list[object], told: str
) -> None:
    path, out = tmp_path / "a.json", tmp_path / "out.et"
    path.write_text(json.dumps(ring | change))
    done = call("export", format_, path, "-o", out, *options)
    assert done.exit_code == 2, done.output
    assert f"{path}: {told}" in done.output
    assert "hint: " in done.output
    assert list(tmp_path.iterdir()) == [path]


def test_an_algorithm_may_be_a_broadcast_of_many_chunks(tmp_path: Path, ring: dict[str, Any]) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(ring | LONG))
    assert call("export", "goal", path, "-o", tmp_path / "out.goal").exit_code == 0


@pytest.mark.parametrize(
    ("text", "options", "told"),
    [
        ('{"flow": []}', [], "there are no flows, and a connection matrix must have a connection"),
        ('{"flow": [{"from": "a", "to": "b", "bandwidth": 0}]}', [], "flow 'a to b' is of best effort"),
        ('{"flow": [{"from": "a", "to": "b", "bandwidth": 1}]}', ["--cycles", 1e12], "flow 'a to b' sends 4e+12 bytes"),
        ('{"flow": [{"from": "a", "to": "b", "bandwidth": 1e-9}]}', [], "flow 'a to b' sends 4e-06 bytes"),
        ('{"flow": [{"from": "a", "to": "b", "bandwidth": 2}]}', [], "flow[0].bandwidth: words a cycle must be"),
        ('{"flow": [{"from": "a", "to": "b", "bandwidth": 1}', [], "Input data was truncated"),
        (
            '{"task": [{"name": "a", "at": 5000000000}], "flow": [{"from": "a", "to": "b", "bandwidth": 1}]}',
            [],
            "task 'a' is at node 5000000000, and htsim's nodes are 0 to 2147483646",
        ),
    ],
)
def test_flows_that_cannot_be_written_are_refused_and_nothing_is_there(
    tmp_path: Path, text: str, options: list[object], told: str
) -> None:
    path = tmp_path / "a.json"
    path.write_text(text)
    done = call("export", "htsim", path, "-o", tmp_path / "out.cm", *options)
    assert done.exit_code == 2, done.output
    assert f"{path}: {told}" in done.output
    assert "hint: " in done.output
    assert list(tmp_path.iterdir()) == [path]


def test_a_trace_of_a_rank_that_there_is_not_is_told_before_anything_is_written(
    tmp_path: Path, ring: dict[str, Any]
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(ring))
    (tmp_path / "run.4.et").write_bytes(b"older")
    done = call("export", "chakra", path, "-o", tmp_path / "run.et")
    assert done.exit_code == 2
    assert "run.4.et, which would be read as the trace of rank 4, and there are 4 ranks" in done.output
    assert {one.name for one in tmp_path.iterdir()} == {"a.json", "run.4.et"}


def test_if_one_trace_cannot_be_written_none_is(tmp_path: Path, ring: dict[str, Any]) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(ring))
    (tmp_path / "run.2.et").mkdir()
    done = call("export", "chakra", path, "-o", tmp_path / "run.et")
    assert done.exit_code == 2
    assert "run.2.et: it is a folder" in done.output
    assert {one.name for one in tmp_path.iterdir()} == {"a.json", "run.2.et"}


def test_a_wrong_file_leaves_nothing_behind(tmp_path: Path) -> None:
    path, out = tmp_path / "a.json", tmp_path / "a.goal"
    path.write_text("{}")
    done = call("export", "goal", path, "-o", out)
    assert done.exit_code == 2
    assert "a.json: " in done.output
    assert not out.exists()
