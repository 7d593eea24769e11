"""How long planning takes, how it grows with nodes and operators, and what it finds.

Processor time in this process, kernels warm: one small program is planned first. The judge is asked as ``compile`` asks it, with
the program, the messages that processors pass on and schedules made at run time. Prints one JSON object.

    nice -n 15 python benchmarks/compile_time.py [--meshes 2 4 8 10 16] [--operators 1 10 50 100 200]
        [--only gauss] [--page docs/measurements/compiler.md]
"""

from __future__ import annotations

import argparse
import gc
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

from numesh.shape import NodeShape
from pointsman.api.judged import prove
from pointsman.cop import compile_file, compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.program.program import Program
from pointsman.report.figures.page import put_between
from pointsman.targets.numesh import make_images

ROOT = Path(__file__).parent.parent
PHASE = """(phase
  (subset (make-1d 'x) (broadcast 'b (runtime) :m 32) (allreduce 'r 'sum :m 4))
  (subset (make-1d 'y) (cshift 'c -1 :m 32)))"""


def chain(count: int) -> str:
    """So many operators after each other, each between two neighbours of an 8x8 mesh."""
    pairs = [(8 * y + x, 8 * y + x + 1) for y in range(8) for x in range(7)]
    parts = [
        f"(stream 's{i} {a} {b} :m {1 + i * 7 % 40})" for i, (a, b) in enumerate(pairs[k % 56] for k in range(count))
    ]
    return f"(sequential {' '.join(parts)})"


def measure(what: str, size: int, program: Program, effort: float) -> dict[str, Any]:
    """Processor seconds of planning, of the images, and of the judge."""
    print(f"{what} on {size}x{size} …", file=sys.stderr)
    row: dict[str, Any] = {"program": what, "mesh": f"{size}x{size}", "operators": len(list(program.operators()))}
    gc.collect()  # what the program before has left does not count for this one
    times = [time.process_time()]
    try:
        plan = make_plan(program, NodeShape(), name=what, effort=effort)
        times.append(time.process_time())
        images = make_images(plan)
        times.append(time.process_time())
        prove(images, program)
        times.append(time.process_time())
        row |= {"phases": len(plan.phases), "period": plan.period, "predicted": plan.cycles, "gap": plan.gap}
    except PointsmanError as error:
        times.append(time.process_time())
        row["refused"] = error.message
    steps = ("plan", "images", "judge")
    row["seconds"] = {step: round(b - a, 3) for step, a, b in zip(steps, times, times[1:], strict=False)}
    return row


def page_table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = [
        "| program | mesh | operators | phases | slots | gap | plan, s | images, s | judge, s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        seconds = row["seconds"]
        found = f"{row['phases']} | {row['period']} | {row['gap']:.1%}" if "phases" in row else "refused | |"
        each = " | ".join(f"{seconds[step]:.2f}" if step in seconds else "" for step in ("plan", "images", "judge"))
        lines.append(f"| {row['program']} | {row['mesh']} | {row['operators']} | {found} | {each} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--meshes", type=int, nargs="*", default=[2, 4, 8, 10, 16])
    parser.add_argument("--operators", type=int, nargs="*", default=[1, 10, 50, 100, 200])
    parser.add_argument("--effort", type=float, default=1.0)
    parser.add_argument(
        "--only", choices=("gauss", "matmul", "one phase"), help="of the programs on meshes only this one"
    )
    parser.add_argument("--page", type=Path, help="put the table into this page")
    options = parser.parse_args()
    measure("warm", 2, compile_text("(cshift 'c 1 :m 4)", topology=mesh(2, 2)), 1.0)
    rows = []
    for size in options.meshes:
        network = mesh(size, size)
        # 210 equations divide among 2, 3, 5, 6, 7, 10 rows; others get the next multiple.
        n = -(-210 // size) * size
        for what, path, parameters in (("gauss", "gauss/gauss", {"n": n}), ("matmul", "matmul/matmul", {"block": 225})):
            if options.only in (None, what):
                program = compile_file(ROOT / f"examples/{path}.cop", topology=network, parameters=parameters)
                rows.append(measure(what, size, program, options.effort))
        if options.only in (None, "one phase"):
            rows.append(measure("one phase", size, compile_text(PHASE, topology=network), options.effort))
    for count in options.operators:
        rows.append(measure("chain", 8, compile_text(chain(count), topology=mesh(8, 8)), options.effort))
    answer = {"benchmark": "compile_time", "python": platform.python_version(), "effort": options.effort, "runs": rows}
    print(json.dumps(answer, indent=1))
    if options.page is not None:
        page = options.page.read_text()
        marks = "<!-- begin compile_time -->", "<!-- end compile_time -->"
        options.page.write_text(put_between(page, *marks, page_table(rows)))


if __name__ == "__main__":
    main()
