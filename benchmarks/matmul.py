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
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
APPLICATION = ROOT / "examples/matmul/matmul.py"


def published() -> dict[str, dict[str, float]]:
    with open(ROOT / "examples/matmul/metcalf1997.csv", newline="") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return {row["mesh"]: {k: float(v) for k, v in row.items() if k != "mesh"} for row in rows}


def run(size: int, engine: str) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run.json"
        command = [sys.executable, "-m", "pointsman.cli", "run", str(APPLICATION), "--mesh", f"{size}x{size}"]
        subprocess.run([*command, "--engine", engine, "--json", str(out)], check=True, stdout=subprocess.DEVNULL)
        return json.loads(out.read_text())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--sizes", type=int, nargs="+", default=[2, 3, 4, 5, 6, 10])
    options = parser.parse_args()
    tables = published()
    rows = []
    for size in options.sizes:
        print(f"matmul {size}x{size} …", file=sys.stderr)
        result = run(size, options.engine)
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
