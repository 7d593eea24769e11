"""What the rules of wires cost: programs planned with them and without.

Without them is the most that hardware could save which keeps the words of different phases apart, as colours of phases on
the links would (Metcalf 1997, §5.3.3). Such plans cannot run on this node; only their predicted cycles count. Prints one
JSON object.

    nice -n 15 python benchmarks/wire_rules.py [--random 60]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

from prediction import random_program

from numesh.shape import NodeShape
from pointsman.cop import compile_file
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.program.program import Program

ROOT = Path(__file__).parent.parent
SHAPE = NodeShape(vfsms=64, registers=32)
EXAMPLES = [
    *(("gauss/gauss", (size, size)) for size in (2, 3, 5, 6)),
    ("matmul/matmul", (4, 4)),
    ("fft/fft", (4, 2)),
    ("halves/halves", (4, 2)),
]


def planned(program: Program, shape: NodeShape) -> float | None:
    """Predicted cycles; None if the program is refused."""
    try:
        return make_plan(program, shape, name="wires").cycles
    except PointsmanError:
        return None


def without(program: Program, shape: NodeShape) -> float | None:
    """Predicted cycles if phases never had a wire in common."""
    with (
        patch("pointsman.plan.phases.phase_set.collisions", lambda *_, **__: []),
        patch("pointsman.plan.phases.phase_set.reroute", lambda *_, **__: {}),
    ):
        return planned(program, shape)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--random", type=int, default=60, help="random programs")
    options = parser.parse_args()
    programs: list[tuple[str, Program, NodeShape]] = []
    for name, size in EXAMPLES:
        program = compile_file(ROOT / f"examples/{name}.cop", topology=mesh(*size))
        programs.append((f"{name.split('/')[0]} {size[0]}x{size[1]}", program, NodeShape()))
    programs += [(f"random {seed}", random_program(seed)[1].program, SHAPE) for seed in range(options.random)]
    rows: list[dict[str, Any]] = []
    for name, program, shape in programs:
        print(f"{name} …", file=sys.stderr)
        with_rules, free = planned(program, shape), without(program, shape)
        if with_rules and free:
            rows.append({"program": name, "cycles": with_rules, "without": free, "share": round(free / with_rules, 4)})
    shares = [row["share"] for row in rows]
    summary = {
        "geometric mean": round(statistics.geometric_mean(shares), 4),
        "least": min(shares),
        "gain of over 1 %": sum(share < 0.99 for share in shares),
        "programs": len(shares),
    }
    print(json.dumps({"benchmark": "wire_rules", "rows": rows, "summary": summary}, indent=1))


if __name__ == "__main__":
    main()
