"""``pointsman import`` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from pointsman.artifacts.flows.file import read_flows
from pointsman.artifacts.flows.readers.by_name import import_flows
from pointsman.cli import main
from pointsman.cli.commands import import_ as command

EXAMPLES = Path(__file__).parents[5] / "examples/formats"


def call(*words):
    return CliRunner().invoke(main, ["import", *map(str, words)])


def test_what_is_imported_is_a_file_of_flows(tmp_path):
    path, out = tmp_path / "demand.csv", tmp_path / "flows.json"
    path.write_text("0,5,1\n2,0,0\n0,1.5,0\n")
    done = call("csv", path, "-o", out)
    assert done.exit_code == 0, done.output
    assert "3 tasks, 4 flows" in done.output
    assert read_flows(out) == import_flows("csv", path)


def test_a_matrix_with_a_diagonal_is_imported_and_the_diagonal_told(tmp_path):
    path, out = tmp_path / "demand.csv", tmp_path / "flows.json"
    path.write_text("1,5\n2,0\n")
    done = call("csv", path, "-o", out)
    assert done.exit_code == 0, done.output
    assert "note: left out, as it needs no network: the demand of node 0 to itself (line 1)" in done.stderr
    assert "2 tasks, 2 flows" in done.stdout


def test_a_wrong_file_leaves_nothing_behind(tmp_path):
    path, out = tmp_path / "a.flows", tmp_path / "flows.json"
    path.write_text("<x/>")
    done = call("vtr", path, "-o", out)
    assert done.exit_code == 2
    assert "a.flows: line 1: a file of flows must begin with <traffic_flows>" in done.output
    assert not out.exists()


BROKEN = [
    ("csv", "demand.csv", "\n0,x,0\n", "line 6: a matrix of 3 columns must have 3 rows, and this is one more"),
    ("matrix-market", "demand.mtx", "1 2 x\n", ": a demand must be a number"),
    ("vtr", "noc.flows", "<oops/>", ": this is no XML: junk after document element"),
    ("npe", "workload_npe.json", "]", "line 32: nothing may follow the end"),
    ("npe-trace", "trace_npe.json", "{}", ": nothing may follow the end"),
    ("mlir-aie", "flows.mlir", "aie.objectfifo @x\n", ": aie.objectfifo is not known here"),
    ("poseidon", "poseidon.xml", "<oops/>", ": <oops> is not known outermost"),
    ("msccl", "ring_allreduce.xml", "<oops/>", ": this is no XML: junk after document element"),
    ("mscclpp", "pair_allreduce_plan.json", "oops", ": nothing may follow the end"),
    ("te-ccl", "ring_allgather_teccl.json", ",", ": nothing may follow the end"),
    ("te-ccl", "switch_alltoall_teccl.json", ",", ": nothing may follow the end"),
]


@pytest.mark.parametrize(("format_", "name", "more", "told"), BROKEN)
@pytest.mark.parametrize("before", [None, "older"])
def test_a_fault_at_the_end_is_told_with_its_line_and_nothing_is_written(tmp_path, format_, name, more, told, before):
    text = (EXAMPLES / name).read_text()
    path, out = tmp_path / name, tmp_path / "out.json"
    path.write_text(text + more)
    if before:
        out.write_text(before)
    done = call(format_, path, "-o", out)
    assert done.exit_code == 2, done.output
    assert f"{path}: line " in done.output
    assert told in done.output
    assert "hint: " in done.output
    assert (out.read_text() if out.exists() else None) == before
    assert len(list(tmp_path.iterdir())) == 1 + out.exists()


@pytest.mark.parametrize(
    ("format_", "name"), [(f, n) for f, n, _, _ in BROKEN if f not in ("csv", "matrix-market", "mlir-aie")]
)
def test_a_file_that_ends_too_early_is_refused(tmp_path, format_, name):
    text = (EXAMPLES / name).read_text().rstrip()
    path, out = tmp_path / name, tmp_path / "out.json"
    for cut in range(0, len(text), 1 + len(text) // 25):
        path.write_text(text[:cut])
        done = call(format_, path, "-o", out)
        assert done.exit_code == 2, done.output
        assert f"{path}: line " in done.output
        assert not out.exists()


@pytest.mark.parametrize("format_", [format_ for format_, *_ in BROKEN])
def test_a_file_that_is_no_text_is_refused(tmp_path, format_):
    path, out = tmp_path / "a", tmp_path / "out.json"
    path.write_bytes(b"\xff\xfe\x00\x01" * 100)
    done = call(format_, path, "-o", out)
    assert done.exit_code == 2, done.output
    assert str(path) in done.output
    assert not out.exists()


def test_what_could_not_be_read_again_is_not_written(tmp_path, monkeypatch):
    out = tmp_path / "flows.json"
    monkeypatch.setattr(command, "MOST_BYTES", 100)
    done = call("csv", EXAMPLES / "demand.csv", "-o", out)
    assert done.exit_code == 2
    assert "demand.csv: 3 tasks, 4 flows are " in done.output
    assert "as flows.json, and a file that is read again has at most 100" in done.output
    assert not out.exists()


def test_a_trace_of_an_event_on_many_lines_is_read(tmp_path):
    # As the profiler of TT-Metal writes it.
    events = json.loads((EXAMPLES / "trace_npe.json").read_text())
    path, out = tmp_path / "trace.json", tmp_path / "flows.json"
    path.write_text(json.dumps(events, indent=4))
    assert call("npe-trace", path, "-o", out).exit_code == 0
    assert read_flows(out) == import_flows("npe-trace", EXAMPLES / "trace_npe.json")


def test_how_many_chunks_a_link_carries_is_said_with_an_option(tmp_path):
    path, out = tmp_path / "s.json", tmp_path / "streams.json"
    flows = [f"Chunk {c} from 0 traveled over 0->1 in epoch 0" for c in (0, 1)]
    demands = [f"Demand at 1 for chunk {c} from 0 met by epoch 0" for c in (0, 1)]
    path.write_text(json.dumps({"7-Flows": flows, "8-Chunk paths": demands}))
    done = call("te-ccl", path, "-o", out)
    assert done.exit_code == 2
    assert "hint: --link-chunks 2, if" in done.output
    assert call("te-ccl", path, "-o", out, "--link-chunks", 2).exit_code == 0


def test_one_chip_of_a_trace_of_several_is_read(tmp_path):
    events = json.loads((EXAMPLES / "trace_npe.json").read_text())
    path, out = tmp_path / "trace.json", tmp_path / "flows.json"
    others = [{"type": "WRITE_", "src_device_id": 7, "sx": 1, "sy": 1, "dx": 2, "dy": 2, "num_bytes": 64}]
    path.write_text(json.dumps([*[one | {"src_device_id": 2} for one in events], *others]))
    assert call("npe-trace", path, "-o", out).exit_code == 2
    assert call("npe-trace", path, "-o", out, "--chip", 2).exit_code == 0
    assert read_flows(out) == import_flows("npe-trace", EXAMPLES / "trace_npe.json")
