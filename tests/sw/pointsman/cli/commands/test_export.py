"""``pointsman export``, and every example of ``pointsman import``, as a user calls them."""

from __future__ import annotations

from pathlib import Path

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
    json, goal = tmp_path / "ring.json", tmp_path / "ring.goal"
    assert call("import", "msccl", EXAMPLES / "ring_allreduce.xml", "-o", json).exit_code == 0
    done = call("export", "goal", json, "-o", goal, "--words", 3)
    assert done.exit_code == 0, done.output
    assert "s0: send 12b to 1 tag 0" in goal.read_text()


def test_an_algorithm_becomes_traces_that_are_read_again(tmp_path: Path) -> None:
    json, flows = tmp_path / "ring.json", tmp_path / "flows.json"
    assert call("import", "msccl", EXAMPLES / "ring_allreduce.xml", "-o", json).exit_code == 0
    done = call("export", "chakra", json, "-o", tmp_path / "ring.et", "--words", 16)
    assert done.exit_code == 0, done.output
    assert f"wrote {tmp_path / 'ring.0.et'} and 3 more" in done.output
    assert call("import", "chakra", tmp_path / "ring.3.et", "-o", flows).exit_code == 0
    assert [flow.bandwidth for flow in read_flows(flows).flows] == [1.0] * 4
    done = call("export", "chakra", json, "-o", tmp_path / "ring.trace")
    assert done.exit_code == 2
    assert "an output of chakra must be called NAME.et" in done.output


def test_flows_become_a_connection_matrix(tmp_path: Path) -> None:
    out = tmp_path / "a.cm"
    done = call("export", "htsim", ROOT / "examples/flows/decoder.toml", "-o", out)
    assert done.exit_code == 0, done.output
    assert out.read_text().startswith("Nodes ")


def test_a_wrong_file_leaves_nothing_behind(tmp_path: Path) -> None:
    path, out = tmp_path / "a.json", tmp_path / "a.goal"
    path.write_text("{}")
    done = call("export", "goal", path, "-o", out)
    assert done.exit_code == 2
    assert "a.json: " in done.output
    assert not out.exists()
