"""``pointsman import`` as a user calls it."""

from __future__ import annotations

from click.testing import CliRunner

from pointsman.artifacts.flows.file import read_flows
from pointsman.artifacts.flows.readers.by_name import import_flows
from pointsman.cli import main


def call(*words):
    return CliRunner().invoke(main, ["import", *map(str, words)])


def test_what_is_imported_is_a_file_of_flows(tmp_path):
    path, out = tmp_path / "demand.csv", tmp_path / "flows.json"
    path.write_text("0,5,1\n2,0,0\n0,1.5,0\n")
    done = call("csv", path, "-o", out)
    assert done.exit_code == 0, done.output
    assert "3 tasks, 4 flows" in done.output
    assert read_flows(out) == import_flows("csv", path)


def test_a_wrong_file_leaves_nothing_behind(tmp_path):
    path, out = tmp_path / "a.flows", tmp_path / "flows.json"
    path.write_text("<x/>")
    done = call("vtr", path, "-o", out)
    assert done.exit_code == 2
    assert "a.flows: line 1: a file of flows must begin with <traffic_flows>" in done.output
    assert not out.exists()
