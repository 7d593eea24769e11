"""Matrix multiplication on all mesh sizes of Metcalf's Tables 8.2 and 8.3, on the RTL.

Prints one JSON object: for each size the mean cycles by category, the bandwidths, the table's figures beside them, and the
times. Every run's product is compared with numpy's.

    python benchmarks/matmul.py [--engine verilated|model] [--sizes 2 3 4 5 6 10]
"""

from __future__ import annotations

import argparse
import csv
import json
import platform
import sys
from pathlib import Path
from typing import Any

from pointsman.sweep.cases import Case, digest_beside
from pointsman.sweep.drive import run_values

ROOT = Path(__file__).resolve().parent.parent
APPLICATION = ROOT / "examples/matmul/matmul.py"


def published() -> dict[str, dict[str, float]]:
    with open(ROOT / "examples/matmul/metcalf1997.csv", newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {row["mesh"]: {k: float(v) for k, v in row.items() if k != "mesh"} for row in rows}


def runs(sizes: list[int], engine: str) -> list[dict[str, Any]]:
    """Values of a run on each mesh, one after the other. Runs that this version has done before are in build/sweeps."""
    sources = digest_beside(APPLICATION)
    cases = [Case(str(APPLICATION), sources, f"{size}x{size}", "numesh", options={"engine": engine}) for size in sizes]
    return run_values(cases, ROOT / "build/sweeps/matmul", tell=lambda text: print(text, file=sys.stderr, flush=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--sizes", type=int, nargs="+", default=[2, 3, 4, 5, 6, 10])
    options = parser.parse_args()
    tables = published()
    rows = []
    for size, result in zip(options.sizes, runs(options.sizes, options.engine), strict=True):
        table = tables.get(f"{size}x{size}", {})
        categories = result["categories"]
        rows.append(
            {
                "mesh": f"{size}x{size}",
                "correct": result["correct"],
                "engine": result["engine"],
                "period": result["period"],
                "categories": categories,
                "io_cycles": sum(categories[name] for name in ("write", "read", "psync")),
                "reference_io_cycles": sum(table.get(name, 0) for name in ("write", "read", "psync")) or None,
                "bandwidth": {label: o["bandwidth"] for label, o in result["operators"].items()},
                "implementation": {label: o["implementation"] for label, o in result["operators"].items()},
                "reference_bandwidth": {"b": table.get("broadcast"), "c": table.get("shift")},
                "total_cycles": result["total_cycles"],
                "node_cycles_per_second": result["node_cycles_per_second"],
                "seconds": result["seconds"],
            }
        )
    print(
        json.dumps(
            {
                "benchmark": "matmul",
                "reference": "Metcalf 1997, Tables 8.2 and 8.3",
                "python": platform.python_version(),
                "runs": rows,
            },
            indent=1,
        )
    )


if __name__ == "__main__":
    main()
