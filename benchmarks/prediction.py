"""Predicted against measured cycles of phases: the applications of examples/ at several sizes.

Measured are the mean cycles of a node in the phase, without those in which it computes: write + read + psync + router + reprog.
Waiting for a neighbour that still computes is among them and cannot be predicted from the program, so computing is
taken to cost nothing here (`--computing` leaves it in). Prints one JSON object.

    nice -n 15 python benchmarks/prediction.py [--engine model|verilated] [--computing] [--page docs/compiler.md]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any

from cosim.activities import cycles_by
from cosim.machine import Machine
from cosim.session import run_application
from numesh.shape import NodeShape
from pointsman.cop import compile_file
from pointsman.network import mesh
from pointsman.plan.build import make_plan
from pointsman.report.page import put_between
from pointsman.runtime import Node
from pointsman.runtime.application import load_application, parse_options
from pointsman.targets.numesh import make_images

ROOT = Path(__file__).parent.parent
CASES = [
    *(("matmul", size, ["--size", "60"]) for size in (2, 3, 4, 5, 6)),
    *(("gauss", size, ["--size", str(30)]) for size in (2, 3, 5, 6)),
]
COUNTED = ("write", "read", "psync", "router", "reprog")


def measure(name: str, size: int, arguments: list[str], engine: Any, period: int | None = None) -> list[dict[str, Any]]:
    """A row for each phase."""
    path = ROOT / f"examples/{name}/{name}.py"
    kind = load_application(path)
    options = parse_options(kind, path, arguments)
    assert isinstance(options, argparse.Namespace)
    topology = mesh(size, size)
    application = kind(options, topology)
    program = compile_file(path.parent / kind.program, topology=topology, parameters=dict(application.parameters()))
    plan = make_plan(program, NodeShape(), name=name, period=period)
    images = make_images(plan)
    with Machine(NodeShape(), topology, engine=engine) as machine:
        result = run_application(images, application, machine)
    assert result.correct, result.answer
    by_phase = cycles_by(result.spans, "phase", topology.nodes)
    rows = []
    for number, phase in enumerate(plan.phases):
        measured = sum(by_phase.get(number, {}).get(category, 0.0) for category in COUNTED)
        rows.append(
            {
                "program": name,
                "mesh": f"{size}x{size}",
                "phase": phase.name,
                "technique": phase.technique,
                "predicted": phase.cycles,
                "measured": measured,
                "error": phase.cycles / measured - 1 if measured else None,
            }
        )
    total = result.record.total_cycles
    whole = {"program": name, "mesh": f"{size}x{size}", "phase": "the program", "technique": ""}
    return [*rows, {**whole, "predicted": plan.cycles, "measured": total, "error": plan.cycles / total - 1}]


def page_table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = ["| program | mesh | phase | ends by | predicted | measured | error |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        error = "" if row["error"] is None else f"{row['error']:+.0%}"
        lines.append(
            f"| {row['program']} | {row['mesh']} | {row['phase']} | {row['technique']} | {row['predicted']:,.0f} | "
            f"{row['measured']:,.0f} | {error} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="model")
    parser.add_argument("--computing", action="store_true")
    parser.add_argument("--programs", nargs="+", default=["matmul", "gauss"])
    parser.add_argument("--page", type=Path, help="put the table into this page")
    options = parser.parse_args()
    if not options.computing:

        async def nothing(self: Node, cycles: int) -> None:
            """Computing that takes no time."""

        Node.compute = nothing  # type: ignore[method-assign]
    rows = []
    for name, size, arguments in CASES:
        if name in options.programs:
            print(f"{name} {size}x{size} …", file=sys.stderr)
            rows += measure(name, size, arguments, options.engine)
    errors = [abs(row["error"]) for row in rows if row["error"] is not None and row["technique"]]
    programs = [abs(row["error"]) for row in rows if not row["technique"]]
    answer = {
        "benchmark": "prediction",
        "engine": options.engine,
        "median_error": statistics.median(errors),
        "median_error_of_programs": statistics.median(programs),
        "runs": rows,
    }
    print(json.dumps(answer, indent=1))
    if options.page is not None:
        page = options.page.read_text()
        marks = "<!-- begin prediction -->", "<!-- end prediction -->"
        options.page.write_text(put_between(page, *marks, page_table(rows)))


if __name__ == "__main__":
    main()
