"""Runs the simulator of a bench and reads its report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cocotb_tools import config
from find_libpython import find_libpython

from .bench import Bench
from .task import TASK_VARIABLE, Task

TIME_LIMIT = 600
"""Seconds after which a run is given up."""


@dataclass(frozen=True)
class GroupCoverage:
    """Coverage of a group of bins."""

    name: str
    hits: Mapping[str, int]
    unreachable: Mapping[str, str]

    @property
    def covered(self) -> int:
        """Bins that were hit."""
        return sum(count > 0 for count in self.hits.values())


@dataclass(frozen=True)
class BenchOutcome:
    """A finished run.

    Attributes
    ----------
    failure : str
        The error; empty if the bench passed.
    cycles : int
        Simulated cycles.
    compared : int
        Output values that were compared.
    groups : tuple of GroupCoverage
        Coverage.
    facts : tuple of str
        Further results of the bench, in words.
    log : Path
        File with the simulator's output.
    seconds : float
        How long the run took.
    """

    failure: str
    cycles: int
    compared: int
    groups: tuple[GroupCoverage, ...]
    facts: tuple[str, ...]
    log: Path
    seconds: float

    @property
    def passed(self) -> bool:
        return not self.failure


def simulate(bench: Bench, simulator: Sequence[str], *, seed: int, folder: Path) -> BenchOutcome:
    """Run ``bench`` once, by the command that `build` gives. Log and report go to ``folder``."""
    folder = folder.absolute()
    log, results, report = (folder / f"{bench.name}-seed{seed}.{suffix}" for suffix in ("log", "xml", "json"))
    for old in (log, results, report):
        old.unlink(missing_ok=True)
    began = time.perf_counter()
    task = Task(bench.name, seed, str(folder), str(report))
    with open(log, "w") as output:
        try:
            status = subprocess.run(
                [*simulator, "+verilator+rand+reset+2", f"+verilator+seed+{seed % 2**31 or 1}"],
                cwd=folder,
                env=_environment(bench, simulator, seed, results, task),
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=TIME_LIMIT,
            ).returncode
        except subprocess.TimeoutExpired:
            status = None
    seconds = time.perf_counter() - began
    told = _read(report)
    failure = _failure(results, status, told is not None)
    told = told or {}
    groups = tuple(GroupCoverage(name, **group) for name, group in told.get("coverage", {}).items())
    return BenchOutcome(
        failure,
        told.get("cycles", 0),
        told.get("compared", 0),
        groups,
        tuple(told.get("facts", ())),
        log,
        seconds,
    )


def _environment(bench: Bench, simulator: Sequence[str], seed: int, results: Path, task: Task) -> dict[str, str]:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(("COCOTB_", "GPI_"))},
        "GPI_USERS": f"{find_libpython()};{config.pygpi_entry_point()}",
        "PYGPI_PYTHON_BIN": sys.executable,
        "TOPLEVEL_LANG": "verilog",
        "COCOTB_TOPLEVEL": bench.design.top,
        "COCOTB_TEST_MODULES": f"{__package__}.{bench.module}",
        "COCOTB_RESULTS_FILE": str(results),
        "COCOTB_RANDOM_SEED": str(seed),
        # Icarus would let what a bench writes at an edge of the clock through before registers take their inputs.
        "COCOTB_TRUST_INERTIAL_WRITES": str(int(simulator[0] != "vvp")),
        "COCOTB_ANSI_OUTPUT": "0",
        "COCOTB_REWRITE_ASSERTION_FILES": "",
        TASK_VARIABLE: json.dumps(asdict(task)),
    }


def _read(report: Path) -> dict[str, Any] | None:
    try:
        told: dict[str, Any] = json.loads(report.read_text())
    except (OSError, ValueError):
        return None
    return told


def _failure(results: Path, status: int | None, reported: bool) -> str:
    """The error of a run, from its results file and exit status; empty if it passed."""
    if status is None:
        return f"it had not ended after {TIME_LIMIT} seconds"
    try:
        cases = list(ElementTree.parse(results).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return f"the simulator ended with status {status} and left no results"
    for case in cases:
        for kind in ("failure", "error", "skipped"):
            found = case.find(kind)
            if found is not None:
                text = found.get("error_msg") or found.get("message") or found.text or kind
                return text.strip()
    if not cases:
        return "no test was run"
    if status:
        return f"the simulator ended with status {status}"
    return "" if reported else "it left no report"
