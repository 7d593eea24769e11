"""Predicted against measured cycles of phases: the applications of examples/ at several sizes, and random programs.

Measured are the mean cycles of a node in the phase, without those in which it computes: write + read + psync + router + reprog;
of the program all its cycles. Computing cannot be predicted from the program, so it is taken to cost nothing in both
(``--computing`` leaves it in what is measured). A program does not say either which optional groups are taken and how often
loops go round; so there are two predictions: *before* the run, which expects every optional group (random programs,
``tests/sim/cosim/random_trees.py``, do take every one), and of the way that the run *took*, with which its report compares
(`pointsman.plan.timeline.path_taken`). Errors of a row are those of the second.

Rows are kept in a file as they are measured, and what is there is measured again only with ``--again``.

    nice -n 15 python benchmarks/prediction.py [--engine model|verilated] [--computing] [--programs fft console] [--again]
        [--page docs/measurements/compiler.md]
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from cosim.numesh.activities import ActivityWatch, cycles_by
from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_file, compile_text
from pointsman.errors import PointsmanError
from pointsman.network import Topology, mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.plan.timeline.path_taken import path_taken
from pointsman.plan.timeline.timeline import Timeline, timeline
from pointsman.program.program import Program
from pointsman.report.figures.page import put_between
from pointsman.runtime import Node
from pointsman.runtime.api.application import load_application, parse_options
from pointsman.targets.numesh import make_images

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks/results/prediction.json"
CASES = [
    *(("matmul", (n, n), ["--size", "60"]) for n in (2, 3, 4, 5, 6)),
    *(("gauss", (n, n), ["--size", "30"]) for n in (2, 3, 5, 6)),
    *(("fft", size, ["--by", by]) for by in ("transposition", "exchange") for size in ((2, 2), (4, 2), (4, 4))),
    *(("halves", size, []) for size in ((4, 2), (4, 4), (6, 4))),
    *(("console", size, []) for size in ((2, 2), (4, 2), (4, 4))),
]
MESSAGES = (
    "(loop 'l 8 (broadcast 'b (runtime) :m 20 :impl 'dyn_bcast_dense))",
    "(loop 'l 8 (broadcast 'b 0 :m 20 :impl 'dyn_bcast))",
    "(loop 'l 8 (cshift 'c 1 :m 20 :impl 'dyn_shift))",
    "(loop 'l 8 (barrier 'b :impl 'dyn_barrier) (cshift 'c 1 :m 20))",
    "(loop 'l 8 (stream 's 0 3 :m 40 :impl 'dyn_stream))",
    "(phase (loop 'l 8 (cshift 'c 1 :m 30) (broadcast 'b 0 :m 20 :impl 'dyn_bcast_dense)))",
)
"""Programs whose messages processors pass on."""
RANDOM = 30
"""Random programs; those that the compiler refuses do not count."""
SIZES = ((2, 2), (3, 2), (4, 1), (3, 3), (4, 2), (4, 4))
SHAPES = dict.fromkeys(("fft", "console"), NodeShape(vfsms=64, registers=32))
"""What the phases of a program need, where the thesis's node has not enough."""
PROGRAMS = ["matmul", "gauss", "fft", "halves", "console", "messages", "random"]
COUNTED = ("write", "read", "psync", "router", "reprog", "online")
Row = dict[str, Any]


@dataclass(frozen=True)
class Ran:
    """Cycles of each phase (mean of a node) and of the whole, what the nodes returned, and the cycles that are predicted for the
    way that the run took; None if that is too long."""

    phases: list[float]
    total: int
    results: list[Any]
    taken: Timeline | None


def run_plan(plan: Plan, main: Callable[[Node], Any], engine: Any, functions: Any = None) -> Ran:
    """Run a plan."""
    images, nodes = make_images(plan), plan.topology.nodes
    with Machine(plan.shape, plan.topology, engine=engine, progress=False) as machine:
        watched = [ActivityWatch(images, number, machine, functions=functions) for number in range(nodes)]
        record = run_nodes([watch.node for watch in watched], main, machine)
    by_phase = cycles_by([span for watch in watched for span in watch.spans], "phase", nodes)
    phases = [sum(by_phase.get(number, {}).get(one, 0.0) for one in COUNTED) for number in range(len(plan.phases))]
    path = path_taken(plan, [call for watch in watched for call in watch.calls])
    taken = None if path is None else timeline(plan, path)
    return Ran(phases, record.total_cycles, list(record.results), taken)


def rows_of(
    name: str, plan: Plan, main: Callable[[Node], Any], engine: Any, functions: Any = None
) -> tuple[list[Row], list[Any]]:
    """A row for each phase that took any time, and one for the program."""
    ran = run_plan(plan, main, engine, functions)
    about = {"program": name, "mesh": "x".join(map(str, plan.topology.size))}
    taken = [phase.cycles for phase in plan.phases] if ran.taken is None else ran.taken.phases
    rows = [
        {**about, "phase": phase.name, "technique": phase.technique, "before": phase.cycles, "predicted": cycles}
        | {"measured": found}
        for phase, cycles, found in zip(plan.phases, taken, ran.phases, strict=False)
        if found
    ]
    whole = plan.cycles if ran.taken is None else ran.taken.total
    rows.append(
        {
            **about,
            "phase": "the program",
            "technique": "",
            "before": plan.cycles,
            "predicted": whole,
            "measured": ran.total,
        }
    )
    for row in rows:
        row["error"] = row["predicted"] / row["measured"] - 1
        row["error_before"] = row["before"] / row["measured"] - 1
    return rows, ran.results


def example(name: str, topology: Topology, arguments: list[str]) -> tuple[Program, Any]:
    """A program of examples/ and its application."""
    path = ROOT / f"examples/{name}/{name}.py"
    kind = load_application(path)
    options = parse_options(kind, path, arguments)
    assert isinstance(options, argparse.Namespace)
    application = kind(options, topology)
    parameters = dict(application.parameters())
    return compile_file(path.parent / kind.program, topology=topology, parameters=parameters), application


def measure(
    name: str, size: tuple[int, ...], arguments: list[str], engine: Any, period: int | None = None
) -> list[Row]:
    """Rows of a program of examples/."""
    program, application = example(name, mesh(*size), arguments)
    plan = make_plan(program, SHAPES.get(name, NodeShape()), name=name, period=period)
    label = f"{name} by {arguments[1]}" if "--by" in arguments else name
    rows, results = rows_of(label, plan, application.main, engine, application.functions)
    application.check(results)
    return rows


def measure_messages(text: str, size: tuple[int, ...], engine: Any) -> list[Row]:
    """Rows of one of ``MESSAGES``."""
    walker = _trees().walker_of(text, mesh(*size), 0)
    return rows_of("messages", make_plan(walker.program, NodeShape(), name="messages"), walker.main, engine)[0]


def random_program(seed: int) -> tuple[Topology, Any]:
    """A random program's network, and what walks through it."""
    trees = _trees()
    topology = mesh(*SIZES[seed % len(SIZES)])
    text = trees.random_text(seed, topology, operators=6, rounds=8)

    class Thorough(trees.Walker):  # type: ignore[misc, name-defined]
        """Takes every optional group."""

        def number(self, *what: object) -> int:
            number: int = super().number(*what)
            return number & ~1 if len(what) == 2 and isinstance(what[1], str) and ":" in what[1] else number

    return topology, Thorough(compile_text(text, topology=topology), seed)


def measure_random(seed: int, engine: Any) -> list[Row] | None:
    """Rows of a random program; None if the compiler refuses it."""
    _, walker = random_program(seed)
    try:
        plan = make_plan(walker.program, NodeShape(), name="random")
        return rows_of(f"random {seed}", plan, walker.main, engine)[0]
    except PointsmanError:
        return None


def _trees() -> Any:
    name = "random_trees"
    if name not in sys.modules:
        path = ROOT / "tests/sim/cosim/random_trees.py"
        specification = importlib.util.spec_from_file_location(name, path)
        assert specification is not None
        assert specification.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def summary(rows: Sequence[Row], error: str = "error") -> dict[str, float]:
    """Median and worst errors of phases and of programs; ``error``: which of a row's."""
    found: dict[str, float] = {}
    for what, own in (
        ("phases", [row for row in rows if row["technique"]]),
        ("programs", [row for row in rows if not row["technique"]]),
    ):
        errors = sorted(abs(row[error]) for row in own)
        if errors:
            found[what] = len(errors)
            found[f"median_error_of_{what}"] = statistics.median(errors)
            found[f"nine_of_ten_{what}_within"] = errors[max(0, -(-9 * len(errors) // 10) - 1)]
            found[f"worst_error_of_{what}"] = errors[-1]
    return found


def page_table(rows: Sequence[Row]) -> str:
    """The rows as Markdown: examples phase by phase, of random programs the whole and the worst phase."""
    lines = [
        "| programs | phases | median error | 9 of 10 within | worst | programs | median error | 9 of 10 within | worst |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(map(_kind, rows)):
        lines.append(_summary_line(name, [row for row in rows if _kind(row) == name]))
    lines.append(_summary_line("all", rows))
    lines.append(_summary_line("all, before the run", rows, "error_before"))
    lines += [
        "",
        "| program | mesh | phase | ends by | before | predicted | measured | error |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        if not row["program"].startswith("random"):
            lines.append(_line(row))
    lines += [
        "",
        "| program | mesh | worst phase | ends by | before | predicted | measured | error |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in dict.fromkeys(row["program"] for row in rows if row["program"].startswith("random")):
        own = [row for row in rows if row["program"] == name]
        inner = [row for row in own if row["technique"]]
        if inner:
            lines.append(_line(max(inner, key=lambda row: abs(row["error"]))))
        lines.append(_line(own[-1]))
    return "\n".join(lines) + "\n"


def _kind(row: Row) -> str:
    """All random programs are one kind."""
    return "random" if row["program"].startswith("random") else str(row["program"])


def _summary_line(name: str, rows: Sequence[Row], error: str = "error") -> str:
    found = summary(rows, error)
    cells = [name]
    for what in ("phases", "programs"):
        cells += [
            str(found.get(what, 0)),
            f"{found[f'median_error_of_{what}']:.1%}",
            f"{found[f'nine_of_ten_{what}_within']:.1%}",
            f"{found[f'worst_error_of_{what}']:.1%}",
        ]
    return "| " + " | ".join(cells) + " |"


def _line(row: Row) -> str:
    cycles = " | ".join(f"{row[name]:,.0f}" for name in ("before", "predicted", "measured"))
    cells = [row["program"], row["mesh"], row["phase"], row["technique"], cycles, f"{row['error']:+.0%}"]
    return f"| {' | '.join(cells)} |"


def free_computing() -> None:
    """From now on computing takes no time."""

    async def nothing(self: Node, cycles: int) -> None:
        """Computing that takes no time."""

    Node.compute = nothing  # type: ignore[method-assign]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="model")
    parser.add_argument("--computing", action="store_true")
    parser.add_argument("--programs", nargs="+", default=PROGRAMS)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--again", action="store_true", help="measure also what is known")
    parser.add_argument("--page", type=Path, help="put the tables into this page")
    options = parser.parse_args()
    if not options.computing:
        free_computing()
    rows: dict[str, list[Row]] = {}
    if options.results.exists() and not options.again:
        rows = json.loads(options.results.read_text())["runs"]

    def measured(key: str, measure_it: Callable[[], list[Row] | None]) -> None:
        if key not in rows:
            rows[key] = measure_it() or []
            print(f"{key}: {len(rows[key]) or 'refused'}", file=sys.stderr)
            _keep(options.results, rows, options.engine)

    for name, size, arguments in CASES:
        if name in options.programs:
            key = " ".join([name, *arguments, "x".join(map(str, size))])
            measured(key, partial(measure, name, size, arguments, options.engine))
    for text, size in product(MESSAGES if "messages" in options.programs else (), ((2, 2), (4, 3))):
        measured(f"messages {'x'.join(map(str, size))} {text}", partial(measure_messages, text, size, options.engine))
    seed = done = 0
    while "random" in options.programs and done < RANDOM:
        measured(f"random {seed}", partial(measure_random, seed, options.engine))
        done += bool(rows[f"random {seed}"])
        seed += 1
    if options.page is not None:
        page = options.page.read_text()
        marks = "<!-- begin prediction -->", "<!-- end prediction -->"
        options.page.write_text(put_between(page, *marks, page_table(_flat(rows))))


def _flat(rows: dict[str, list[Row]]) -> list[Row]:
    """All rows, examples first, in the order of the tables."""
    order = {name: place for place, name in enumerate(PROGRAMS)}
    keys = sorted(rows, key=lambda key: order[key.partition(" ")[0]])
    return [row for key in keys for row in rows[key]]


def _keep(path: Path, rows: dict[str, list[Row]], engine: str) -> None:
    found = summary(_flat(rows))
    before = {
        f"{name}_before": value for name, value in summary(_flat(rows), "error_before").items() if "error" in name
    }
    answer = {"benchmark": "prediction", "engine": engine, **found, **before, "runs": rows}
    path.write_text(json.dumps(answer, indent=1) + "\n")


if __name__ == "__main__":
    main()
