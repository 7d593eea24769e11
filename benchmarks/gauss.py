"""Gaussian elimination on all mesh sizes of Metcalf's Table 8.4 and on those for which it has no figures, on the RTL.

Prints one JSON object: for each size the mean cycles by category with the table's beside them, the phases with their
techniques, and the times. Every run's solution is compared with numpy's.

    python benchmarks/gauss.py [--engine verilated|model] [--sizes 2 3 5 6 7 10] [--page docs/gauss.md]
    python benchmarks/gauss.py --results benchmarks/results/gauss.json --page docs/gauss.md
"""

from __future__ import annotations

import argparse
import csv
import json
import platform
import sys
from pathlib import Path
from typing import Any

from kept import kept

from pointsman.report.figures.page import put_between
from pointsman.sweep.cases import Case, digest_beside
from pointsman.sweep.drive import run_values

ROOT = Path(__file__).resolve().parent.parent
APPLICATION = ROOT / "examples/gauss/gauss.py"
IO = ("write", "read", "psync")


def published() -> dict[str, dict[str, float]]:
    with open(APPLICATION.with_name("metcalf1997.csv"), newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {row["mesh"]: {k: float(v) for k, v in row.items() if k != "mesh"} for row in rows}


def runs(sizes: list[int], engine: str) -> list[dict[str, Any]]:
    """Values of a run on each mesh, one after the other. Runs that this version has done before are in build/sweeps."""
    sources = digest_beside(APPLICATION)
    cases = [Case(str(APPLICATION), sources, f"{size}x{size}", "numesh", options={"engine": engine}) for size in sizes]
    return run_values(cases, ROOT / "build/sweeps/gauss", tell=lambda text: print(text, file=sys.stderr, flush=True))


def row_of(size: int, result: dict[str, Any]) -> dict[str, Any]:
    table = published().get(f"{size}x{size}", {})
    return {
        "mesh": f"{size}x{size}",
        "correct": result["correct"],
        "engine": result["engine"],
        "period": result["period"],
        "categories": result["categories"],
        "io_cycles": sum(result["categories"][name] for name in IO),
        "reference": table or None,
        "reference_io_cycles": sum(table[name] for name in IO) if table else None,
        "phases": [{name: phase[name] for name in ("name", "technique", "cycles")} for phase in result["phases"]],
        "implementation": {label: o["implementation"] for label, o in result["operators"].items()},
        "bandwidth": {label: o["bandwidth"] for label, o in result["operators"].items()},
        "total_cycles": result["total_cycles"],
        "node_cycles_per_second": result["node_cycles_per_second"],
        "seconds": result["seconds"],
    }


def page_table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = [
        "| mesh | cpu | write | read | psync | write + read + psync | Table 8.4 | slots | phases |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        c = row["categories"]
        old = row["reference_io_cycles"]
        phases = ", ".join(f"{phase['name']} ({phase['technique']})" for phase in row["phases"])
        lines.append(
            f"| {row['mesh']} | {c['cpu']:,.0f} | {c['write']:,.0f} | {c['read']:,.0f} | {c['psync']:,.0f} | "
            f"{row['io_cycles']:,.0f} | {f'{old:,.0f}' if old else 'none'} | {row['period']} | {phases} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--sizes", type=int, nargs="+", default=[2, 3, 5, 6, 7, 10])
    parser.add_argument("--results", type=kept("gauss", "runs"), help="take the runs of this file instead of running")
    parser.add_argument("--page", type=Path, help="put the table into this page")
    options = parser.parse_args()
    if options.results is not None:
        rows = options.results["runs"]
    else:
        done = runs(options.sizes, options.engine)
        rows = [row_of(size, result) for size, result in zip(options.sizes, done, strict=True)]
        answer = {
            "benchmark": "gauss",
            "reference": "Metcalf 1997, Table 8.4",
            "python": platform.python_version(),
            "runs": rows,
        }
        print(json.dumps(answer, indent=1))
    if options.page is not None:
        page = options.page.read_text()
        options.page.write_text(put_between(page, "<!-- begin gauss -->", "<!-- end gauss -->", page_table(rows)))


if __name__ == "__main__":
    main()
