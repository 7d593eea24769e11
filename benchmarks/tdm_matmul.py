"""Matrix multiplication on the time-multiplexed switch: the three modes beside each other and beside the scheduled routers.

Prints one JSON object: for each size, message length and mode the makespan and the mean cycles by category on the RTL, with
what the computation alone takes as the bound. Every run's product is compared with numpy's. With ``--page`` the tables between
the marks of that page are written anew.

    python benchmarks/tdm_matmul.py [--sizes 2 4] [--rows 60 20] [--engine verilated|model] [--page docs/tdm_target.md]
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from pointsman.files import write_whole
from pointsman.report.figures.page import put_between

ROOT = Path(__file__).parent.parent
APPLICATION = ROOT / "examples/matmul/matmul.py"
MODES = ("preload", "hybrid", "dynamic")
BEGIN, END = "<!-- begin tdm_matmul -->", "<!-- end tdm_matmul -->"


def run(size: int, rows: int, *arguments: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run.json"
        command = [sys.executable, "-m", "pointsman.cli", "run", str(APPLICATION), "--mesh", f"{size}x{size}"]
        command += ["--size", str(rows), "--json", str(out), *arguments]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        result: dict[str, Any] = json.loads(out.read_text())
        return result


def row(size: int, rows: int, what: str, result: dict[str, Any]) -> dict[str, Any]:
    categories = result["categories"]
    return {
        "mesh": f"{size}x{size}",
        "matrix_rows": rows,
        "message_words": (rows // size) ** 2,
        "on": what,
        "correct": result["correct"],
        "engine": result["engine"],
        "implementation": {label: one["implementation"] for label, one in result["operators"].items()},
        "bandwidth": {label: one["bandwidth"] for label, one in result["operators"].items()},
        "categories": categories,
        "communication_cycles": sum(value for name, value in categories.items() if name != "cpu"),
        "total_cycles": result["total_cycles"],
        "total_over_computation": result["total_cycles"] / categories["cpu"],
        "refused_loads": result.get("refused_loads", 0),
        "seconds": result["seconds"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--sizes", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--rows", type=int, nargs="+", default=[60, 20])
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--slow", type=int, default=8, help="cycles of a decision of a slow scheduler")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    found = []
    for size in options.sizes:
        for rows in options.rows:
            for mode in MODES:
                print(f"matmul {size}x{size}, {rows} rows, {mode} …", file=sys.stderr)
                switch = ("--target", "tdm", "--mode", mode, "--slots", str(options.slots), "--engine", options.engine)
                found.append(row(size, rows, mode, run(size, rows, *switch)))
            # The model of the mesh agrees with its RTL to the cycle and needs no build.
            found.append(row(size, rows, "mesh", run(size, rows, "--engine", "model")))
    for mode in MODES:  # the cycle model, which agrees with the RTL to the cycle, saves another build
        print(f"matmul, {mode}, slow scheduler …", file=sys.stderr)
        size, rows = options.sizes[-1], options.rows[-1]
        switch = ("--target", "tdm", "--mode", mode, "--slots", str(options.slots), "--engine", "model")
        slow = run(size, rows, *switch, "--sl-cycles", str(options.slow))
        found.append(row(size, rows, f"{mode}, {options.slow} cycles a decision", slow))
    print(
        json.dumps(
            {
                "benchmark": "tdm_matmul",
                "reference": "the computation alone: 5 cycles for each multiplication with its addition",
                "slots": options.slots,
                "python": platform.python_version(),
                "runs": found,
            },
            indent=1,
        )
    )
    if options.page is not None:
        write_page(options.page, found)


def write_page(page: Path, found: list[dict[str, Any]]) -> None:
    """Put the table between the marks of a page."""
    names = ("write", "read", "psync", "router", "reprog")
    lines = [
        "| mesh | words | on | makespan | over computation | " + " | ".join(names) + " | refused |",
        "|" + "---|" * (6 + len(names)),
    ]
    for one in found:
        cells = [one["mesh"], one["message_words"], one["on"], f"{one['total_cycles']:,}"]
        cells += [f"{one['total_over_computation']:.4f}", *(f"{one['categories'][name]:,.0f}" for name in names)]
        lines.append("| " + " | ".join(map(str, [*cells, one["refused_loads"]])) + " |")
    table = "\n".join(["", *lines, "", ""])
    write_whole(page, put_between(page.read_text(), BEGIN, END, table))


if __name__ == "__main__":
    main()
