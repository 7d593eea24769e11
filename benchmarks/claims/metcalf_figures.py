"""Figures of Metcalf 1997 and ours beside them, as several answers take them from the results of the benchmarks."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from answers import Measured

ROOT = Path(__file__).resolve().parents[2]


def reference(name: str) -> dict[str, dict[str, float]]:
    """A table of Metcalf 1997 that an example has beside it: by mesh and column."""
    lines = (ROOT / "examples" / name / "metcalf1997.csv").read_text().splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return {row["mesh"]: {key: float(value) for key, value in row.items() if key != "mesh"} for row in rows}


def io(row: dict[str, float]) -> float:
    """Cycles of input and output: write, read and psync."""
    return row["write"] + row["read"] + row["psync"]


def runs_of(measured: Measured, name: str) -> dict[str, Any]:
    return {run["mesh"]: run for run in measured[name]["runs"]}


def quickest(measured: Measured, pattern: str, *, pipelines: int | None = None) -> dict[str, dict[str, float]]:
    """By mesh, the fewest cycles of each router; of the scheduled one with so many pipelines only, if that is given."""
    found: dict[str, dict[str, float]] = {}
    for case in measured["scheduled_vs_packet"]["cases"]:
        if case["pattern"] == pattern:
            best = found.setdefault(case["size"], {})
            for row in case["rows"]:
                if row["router"] != "scheduled" or pipelines in (None, row["pipelines"]):
                    best[row["router"]] = min(best.get(row["router"], 1e12), row["cycles"])
    return found


def quickest_by_nodes(measured: Measured, m: int, *names: str) -> dict[int, float]:
    """By number of nodes, the fewest cycles of implementations of an operator with messages of ``m`` words, on squares."""
    found: dict[int, float] = {}
    for row in measured["operators_vs_packet"]["rows"]:
        if row["implementation"] in names and row["m"] == m:
            found[row["nodes"]] = min(found.get(row["nodes"], 1e12), row["cycles"])
    return found


def latencies(measured: Measured, name: str) -> dict[int, float]:
    return {row["nodes"]: row["latency"] for row in measured["broadcasts"]["rows"] if row["implementation"] == name}


def cycles_per_word(measured: Measured, name: str) -> float:
    """Cycles a word on the largest mesh."""
    rows = [row for row in measured["broadcasts"]["rows"] if row["implementation"] == name]
    return float(max(rows, key=lambda row: row["nodes"])["cycles_per_word"])


def worked_example(measured: Measured, name: str) -> dict[str, Any]:
    found: dict[str, Any] = measured["worked_examples"]["examples"][name]
    return {key: value for key, value in found.items() if key != "seconds"}
