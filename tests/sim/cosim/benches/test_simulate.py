"""Runs of simulators: what they leave, and why they failed."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from cosim.benches.bench import Design
from cosim.benches.build import build
from cosim.benches.catalogue import find
from cosim.benches.simulate import GroupCoverage, simulate

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "build" / "sim"
"""Where `make sim` keeps its simulators, which so need not be built twice."""

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")


@needs_compiler
def test_one_wrong_bit_in_a_memory_fails_the_bench(tmp_path: Path) -> None:
    bench = find("annotation")
    verilog = bench.design.verilog()
    found = re.search(r"(ram\[5\] = \d+'h)([0-9a-f]+);", verilog)
    assert found is not None
    wrong = f"{found[1]}{int(found[2], 16) ^ 2:x};"
    broken = replace(bench, design=Design("annotation", bench.design.top, lambda: verilog.replace(found[0], wrong)))
    outcome = simulate(broken, build(broken.design, FOLDER), seed=1, folder=tmp_path)
    assert not outcome.passed
    assert re.match(r"cycle \d+: annotation is 0x[0-9a-f]+ and must be 0x[0-9a-f]+\n", outcome.failure)
    assert 0 < outcome.cycles < 2000


@needs_compiler
def test_simulator_that_leaves_nothing_fails(tmp_path: Path) -> None:
    outcome = simulate(find("annotation"), (shutil.which("true") or "/bin/true",), seed=1, folder=tmp_path)
    assert outcome.failure == "the simulator ended with status 0 and left no results"


def simulator(folder: Path, results: str, report: str | None, status: int = 0) -> tuple[str, ...]:
    """A simulator that leaves these files and does nothing else."""
    path = folder / "simulator"
    lines = ["#!/bin/sh", "echo it was here", f"printf '%s' '{results}' > $COCOTB_RESULTS_FILE"]
    if report is not None:
        lines.append(f"printf '%s' '{report}' > annotation-seed7.json")
    path.write_text("\n".join([*lines, f"exit {status}", ""]))
    path.chmod(0o755)
    return (str(path),)


REPORT = json.dumps(
    {
        "cycles": 12,
        "compared": 30,
        "coverage": {"g": {"hits": {"a": 2, "b": 0}, "unreachable": {"c": "never"}}},
        "facts": ["one"],
    }
)
PASSED = '<testsuites><testsuite><testcase name="t"/></testsuite></testsuites>'


def case(inside: str) -> str:
    return PASSED.replace("/></testsuite>", f">{inside}</testcase></testsuite>")


def test_a_run_that_passes_has_what_it_reported(tmp_path: Path) -> None:
    outcome = simulate(find("annotation"), simulator(tmp_path, PASSED, REPORT), seed=7, folder=tmp_path)
    assert outcome.passed
    assert (outcome.cycles, outcome.compared, outcome.facts) == (12, 30, ("one",))
    assert outcome.groups == (GroupCoverage("g", {"a": 2, "b": 0}, {"c": "never"}),)
    assert outcome.groups[0].covered == 1
    assert outcome.log.read_text() == "it was here\n"


@pytest.mark.parametrize(
    ("results", "report", "status", "told"),
    [
        (PASSED, REPORT, 3, "the simulator ended with status 3"),
        (PASSED, None, 0, "it left no report"),
        (PASSED, "{", 0, "it left no report"),
        ("<testsuites></testsuites>", REPORT, 0, "no test was run"),
        ("<testsuites>", REPORT, 0, "the simulator ended with status 0 and left no results"),
        (case('<failure error_msg=" cycle 3: x "/>'), REPORT, 0, "cycle 3: x"),
        (case('<error message="broken"/>'), REPORT, 0, "broken"),
        (case("<failure>in words</failure>"), REPORT, 0, "in words"),
        (case("<skipped/>"), REPORT, 0, "skipped"),
    ],
)
def test_a_run_fails_with_the_first_thing_that_is_wrong(
    results: str, report: str | None, status: int, told: str, tmp_path: Path
) -> None:
    outcome = simulate(find("annotation"), simulator(tmp_path, results, report, status), seed=7, folder=tmp_path)
    assert outcome.failure == told
    assert not outcome.passed


def test_what_an_earlier_run_left_is_not_taken_for_this_one(tmp_path: Path) -> None:
    simulate(find("annotation"), simulator(tmp_path, PASSED, REPORT), seed=7, folder=tmp_path)
    outcome = simulate(find("annotation"), simulator(tmp_path, PASSED, None), seed=7, folder=tmp_path)
    assert (outcome.failure, outcome.cycles) == ("it left no report", 0)
