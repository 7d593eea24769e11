"""Does the compiler choose well? Small programs in every division into phases and schedule length, each routed and measured.

*Regret* is the measured time of what was chosen over that of the best: of what the estimates before routing put first, and of
what the compiler took in the end. Computing is taken to cost nothing. Prints one JSON object.

    nice -n 15 python benchmarks/ranking.py [--programs gauss matmul …] [--page docs/measurements/compiler.md]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from prediction import example, free_computing, random_program, run_plan

from numesh.shape import NodeShape
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import breaks, fold
from pointsman.plan.structure.structure import Structure, divided, outline
from pointsman.program.program import Program
from pointsman.report.figures.page import put_between
from pointsman.targets.numesh import make_images

SHAPE = NodeShape(vfsms=64, registers=32)
CASES = [
    ("matmul", (2, 2), ["--size", "20"]),
    ("matmul", (3, 3), ["--size", "30"]),
    ("gauss", (2, 2), ["--size", "30"]),
    ("gauss", (2, 2), ["--size", "10"]),
    ("fft", (2, 2), ["--by", "exchange"]),
    ("halves", (4, 2), []),
]
RANDOM = range(10)
PERIODS = (8, 16, 24)
MOST = 10
"""Most divisions of a program that are tried: of more, evenly spread ones."""


def structures(program: Program) -> Iterator[Structure]:
    """All divisions of a program, each once."""
    root = disjoint_tree(program)
    places = breaks(root)
    found: dict[object, Structure] = {}
    for chosen in range(2 ** len(places)):
        ended = {place for i, place in enumerate(places) if chosen >> i & 1}
        one = divided(program, root, fold(root, lambda part, i, ended=ended: (part, i) in ended))
        found.setdefault(tuple(tuple(o.label for o in phase.operators) for phase in one.phases), one)
    ways = list(found.values())
    yield from ways[:: max(1, len(ways) // MOST)]
    yield outline(program)


def measured(plan: Plan, main: Any, functions: Any) -> int:
    """Cycles of the whole program."""
    return run_plan(plan, main, "model", functions).total


def rank(name: str, program: Program, main: Any, functions: Any) -> dict[str, Any] | None:
    """All plans of a program by their measured cycles, and where the compiler's choices stand among them."""
    ways: dict[object, dict[str, Any]] = {}
    for structure, period in product(structures(program), PERIODS):
        try:
            plan = make_plan(program, SHAPE, name=name, period=period, structures=[structure], effort=0.5)
            make_images(plan)
        except PointsmanError:
            continue
        key = tuple(phase.name for phase in plan.phases), plan.period
        if key not in ways:
            try:
                cycles = measured(plan, main, functions)
            except PointsmanError as error:
                print(f"{name} {key}: {error.message.splitlines()[0]}", file=sys.stderr)
                continue
            ways[key] = {
                "phases": list(key[0]),
                "period": period,
                "predicted": plan.cycles,
                "estimate": plan.considered[0].estimate,
                "measured": cycles,
            }
    try:
        chosen = make_plan(program, SHAPE, name=name)
    except PointsmanError:
        return None
    if not ways:
        return None
    cycles = measured(chosen, main, functions)
    taken = {"phases": [p.name for p in chosen.phases], "period": chosen.period, "measured": cycles}
    best = min((*ways.values(), taken), key=lambda way: way["measured"])
    first = min(ways.values(), key=lambda way: (way["estimate"], way["period"]))
    after = min(ways.values(), key=lambda way: (way["predicted"], way["period"]))
    return {
        "program": name,
        "mesh": "x".join(map(str, program.topology.size)),
        "ways": len(ways),
        "best": best,
        "chosen": taken,
        "first_by_estimate": first,
        "regret": taken["measured"] / best["measured"],
        "regret_of_estimate": first["measured"] / best["measured"],
        "regret_of_prediction": after["measured"] / best["measured"],
        "all": sorted(ways.values(), key=lambda way: way["measured"]),
    }


def page_table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = [
        "| program | mesh | ways | best | chosen | regret | first by estimate | first by prediction |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        best, chosen = row["best"], row["chosen"]
        lines.append(
            f"| {row['program']} | {row['mesh']} | {row['ways']} | {best['measured']:,} | {chosen['measured']:,} | "
            f"{row['regret']:.2f} | {row['regret_of_estimate']:.2f} | {row['regret_of_prediction']:.2f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", nargs="+", default=["matmul", "gauss", "fft", "halves", "random"])
    parser.add_argument("--page", type=Path, help="put the table into this page")
    options = parser.parse_args()
    free_computing()
    rows = []
    for name, size, arguments in CASES:
        if name in options.programs:
            program, application = example(name, mesh(*size), arguments)
            label = " ".join([name, *arguments[1:]])
            rows.append(rank(label, program, application.main, application.functions))
            _tell(rows[-1])
    for seed in RANDOM if "random" in options.programs else ():
        _, walker = random_program(seed)
        rows.append(rank(f"random {seed}", walker.program, walker.main, None))
        _tell(rows[-1])
    kept = [row for row in rows if row is not None]
    regrets = {
        f"{what}_{key}": function(row[key] for row in kept)
        for key in ("regret", "regret_of_estimate", "regret_of_prediction")
        for what, function in (("median", statistics.median), ("worst", max))
    }
    print(json.dumps({"benchmark": "ranking", **regrets, "runs": kept}, indent=1))
    if options.page is not None:
        marks = "<!-- begin ranking -->", "<!-- end ranking -->"
        options.page.write_text(put_between(options.page.read_text(), *marks, page_table(kept)))


def _tell(row: dict[str, Any] | None) -> None:
    if row is not None:
        print(
            *(f"{key} {row[key]}" for key in ("program", "mesh", "ways", "regret", "regret_of_estimate")),
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
