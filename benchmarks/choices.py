"""The compiler's choice of implementation against every other that ``:impl`` can ask for, measured on the cycle model.

A cell of the table is a program of a single operator: its kind, its operands (known, given at run time, distributed), the words
of its messages and a mesh. It is compiled as it stands and once more for each implementation that can do it, and each of
these is run for the same run-time values, and of ``collect`` for several writers; what every node reads is compared with the
reference machine. Cycles are those of the whole program, loading included, the mean over the values. The *ratio* of a cell is
the cycles of the default over the cycles of the quickest.

What can hardly be the quickest costs no time: implementations of which a metric says, before anything is routed, that they
take more than ``HOPELESS`` times the cycles that were measured are not compiled, those that are predicted to take more than
``FAR`` times the quickest not run. A cell says so (``estimated``, ``predicted`` without ``cycles``), and where compiling took
too long (``late``). Where images are those of another way of the cell, they are not run again.

Cells are kept in a file as they are measured, so that the benchmark can be stopped and taken up again: what is there already is
measured again only with ``--again``: the defaults (after a change of the choice), or everything (of implementations); with
``--above`` only cells with a greater ratio.

    nice -n 15 python benchmarks/choices.py [--sizes 2x2 4x4] [--kinds cshift permute] [--words 1 20 500]
        [--again default | all] [--above 1.15] [--page docs/implementations.md]
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import json
import random
import signal
import statistics
import sys
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.artifacts.images import Images, images_to_bytes
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import Topology, mesh, parse_size
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.candidates.alternatives import estimates
from pointsman.plan.cost.schedule_lengths import PERIODS
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan
from pointsman.program.program import Program
from pointsman.report.figures.page import put_between
from pointsman.runtime import Node, numesh_node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.numesh import make_images

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "benchmarks/results/choices.json"
SIZES = ("2x2", "3x3", "4x4", "6x6", "8x8")
WORDS = (1, 20, 500)
VALUES = 10
"""Sets of run-time values for which a program is run on meshes of up to 16 nodes."""
FEWER_VALUES = 5
"""And on larger ones, where a run costs more and each set tries more nodes."""
FAR = 1.6
"""Factor on the predicted cycles of the quickest, beyond which a program is not run."""
HOPELESS = 4.0
"""Factor on the fewest measured cycles: an implementation whose metric says more is not compiled."""
PATIENCE = 90
"""CPU seconds after which compiling for an implementation is given up; for the default three times as many."""
MOST_CYCLES = 400_000
Row = dict[str, Any]


@dataclass(frozen=True)
class Drawn:
    """Run-time values in the order of a load function's arguments; of ``collect``, the place of the node that writes."""

    values: tuple[Any, ...]
    writer: int | None = None


class _LateError(Exception):
    """Compiling takes too long."""


@dataclass(frozen=True)
class Form:
    """A kind of operator with its operands as COP text. ``choices``: sorts of its run-time values, in their order."""

    kind: str
    operands: str
    choices: tuple[str, ...] = ()

    def text(self, nodes: int, m: int, impl: str | None = None) -> str:
        """The program."""
        lists = {
            "REVERSE": " ".join(str(nodes - 1 - k) for k in range(nodes)),
            "OTHERS": " ".join(str(k) for k in range(1, nodes)),
            "LAST": str(nodes - 1),
        }
        operands = self.operands
        for name, text in lists.items():
            operands = operands.replace(name, text)
        words = "" if self.kind == "barrier" else f" :m {m}"
        asked = f" :impl '{impl}" if impl else ""
        return f"({self.kind} 'o {operands}{words}{asked})"

    def values(self, nodes: int) -> list[Drawn]:
        """Sets of run-time values, each another; one if there is nothing to draw."""
        rng = random.Random(f"{self.kind} {self.operands} {nodes}")
        make = {
            "node": lambda: rng.randrange(nodes),
            "other": lambda: rng.randrange(1, nodes),
            "distance": lambda: rng.choice([d for d in range(1 - nodes, nodes) if d]),
            "order": lambda: tuple(rng.sample(range(nodes), nodes)),
        }
        found: dict[Drawn, None] = {}
        for _ in range(20 * VALUES):
            values = tuple(make[sort]() for sort in self.choices)
            writer = make["node"]() if self.kind == "collect" else None
            ends = (*values, writer) if values else (0, writer)
            if len(ends) < 2 or ends[0] != ends[1]:
                found[Drawn(values, writer)] = None
        return list(found)[: VALUES if nodes <= 16 else FEWER_VALUES]


FORMS = (
    Form("broadcast", "0"),
    Form("broadcast", "(runtime)", ("node",)),
    Form("broadcast", "(runtime :distributed t)", ("node",)),
    Form("collect", "0"),
    Form("collect", "(runtime)", ("node",)),
    Form("collect", "(runtime :distributed t)", ("node",)),
    Form("reduce", "'add 0"),
    Form("reduce", "'add (runtime)", ("node",)),
    Form("reduce", "'add (runtime :distributed t)", ("node",)),
    Form("allreduce", "'add"),
    Form("prefix", "'add"),
    Form("barrier", ""),
    Form("cshift", "1"),
    Form("cshift", "(runtime)", ("distance",)),
    Form("eoshift", "1"),
    Form("eoshift", "(runtime)", ("distance",)),
    Form("permute", "'(REVERSE)"),
    Form("permute", "(runtime)", ("order",)),
    Form("permute", "(runtime :distributed t)", ("order",)),
    Form("stream", "0 LAST"),
    Form("stream", "(runtime) 0", ("other",)),
    Form("stream", "0 (runtime)", ("other",)),
    Form("stream", "(runtime) (runtime)", ("node", "node")),
    Form("stream", "0 (runtime :dynamic t)", ("other",)),
    Form("spread", "0"),
    Form("gather", "0"),
    Form("seqread", "'(OTHERS) 0"),
    Form("seqwrite", "0 '(OTHERS)"),
)


def names_of(kind: str) -> list[str]:
    """Implementations of a kind of operator, by name."""
    return list(dict.fromkeys(one.name for one in IMPLEMENTATIONS if kind in one.kinds))


def planned(text: str, topology: Topology, patience: float = inf) -> tuple[Plan, float]:
    """The plan, and the CPU seconds that it took; raises _LateError after ``patience`` seconds."""
    began = time.process_time()
    program = compile_text(text, topology=topology)

    def give_up(*_: object) -> None:
        raise _LateError

    before = signal.signal(signal.SIGVTALRM, give_up)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0 if patience == inf else patience)
    try:
        plan = make_plan(program, NodeShape(neighbours=max(4, topology.ports)), name="choices")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
    return plan, time.process_time() - began


def measured(images: Images, text: str, topology: Topology, drawn: Iterable[Drawn]) -> float:
    """Mean cycles of the program; AssertionError if a node reads what it should not."""
    program = compile_text(text, topology=topology)
    cycles = []
    for one in drawn:
        with Machine(images.shape, topology, engine="model", progress=False) as machine:
            nodes = [numesh_node(images, number, machine) for number in range(topology.nodes)]
            record = run_nodes(nodes, _main(program, one, known=False), machine, max_cycles=MOST_CYCLES)
        right = ReferenceMachine(program).run(_main(program, one, known=True))
        assert not right.unread, text
        for found, wanted in zip(record.results, right.results, strict=True):
            assert len(found) == len(wanted), text
            for a, b in zip(found, wanted, strict=True):
                assert (a is None) == (b is None), text
                assert a is None or (a == b).all(), text
        cycles.append(record.total_cycles)
    return statistics.mean(cycles)


def _main(program: Program, drawn: Drawn, *, known: bool) -> Callable[[Node], Coroutine[Any, Any, list[Any]]]:
    """What every node does: load, call, and give what it has read. ``known``: nodes give the values themselves, as the
    reference machine wants them, not what each node knows of them."""
    cases = _cases()
    (operator,) = program.operators()
    (instance,) = operator.instances

    async def main(node: Node) -> list[Any]:
        place = instance.nodes.index(node.number)
        await getattr(node.cop, f"{operator.label}_load")(*cases.given(operator, drawn.values, place, known))
        got: list[Any] = []
        if drawn.writer is None:
            await cases.calls(node, operator, 0, place, drawn.values, 0, got)
            return got
        destination = drawn.values[0] if drawn.values else instance.operand("destination")
        if place == drawn.writer:
            await getattr(node.cop, f"{operator.label}_write")(cases.message(operator, node.number, 0, 0))
        if place == destination:
            got.append(await getattr(node.cop, f"{operator.label}_read")())
        return got

    return main


def _cases() -> Any:
    name = "online_cases"
    if name not in sys.modules:
        specification = importlib.util.spec_from_file_location(name, ROOT / "tests/sim/cosim/online_cases.py")
        assert specification is not None
        assert specification.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def entry(form: Form, topology: Topology, m: int, impl: str | None, known: Sequence[Row]) -> Row:
    """An implementation, or the default, in a cell; ``known``: what is in the cell already."""
    text = form.text(topology.nodes, m, impl)
    try:
        plan, seconds = planned(text, topology, PATIENCE * (3 if impl is None else 1))
    except PointsmanError as error:
        return {"refused": error.message}
    except _LateError:
        return {"late": PATIENCE}
    chosen = sorted({one.implementation.name for phase in plan.phases for one in phase.operators})
    row: Row = {"predicted": round(plan.cycles), "seconds": round(seconds, 2)}
    if impl is None:
        row |= {"chosen": "+".join(chosen), "period": plan.period}
    # Predictions are compared with each other, as an error of theirs may be common to all; or with cycles, if these are more.
    quickest = min((one["predicted"] for one in known if "predicted" in one), default=inf)
    if impl is None or plan.cycles <= FAR * max(quickest, _fewest(known)):
        images = make_images(plan)
        row["images"] = hashlib.sha256(images_to_bytes(images)).hexdigest()[:16]
        row |= next(({"cycles": o["cycles"]} for o in known if o.get("images") == row["images"] and "cycles" in o), {})
        if "cycles" not in row:
            try:
                row["cycles"] = measured(images, text, topology, form.values(topology.nodes))
            except PointsmanError as error:
                row["failed"] = error.message
    return row


def _fewest(known: Iterable[Row]) -> float:
    return min((one["cycles"] for one in known if "cycles" in one), default=inf)


def estimated(form: Form, topology: Topology, m: int) -> dict[str, float]:
    """By implementation, the cycles that the operator takes by its metric."""
    program = compile_text(form.text(topology.nodes, m), topology=topology)
    context = Context(topology, NodeShape(neighbours=max(4, topology.ports)))
    analysis = ProgramAnalysis(program, context, IMPLEMENTATIONS)
    return estimates(next(iter(program.operators())), analysis, PERIODS[1])


def cell(form: Form, size: str, m: int, known: Row | None, again: str | None) -> Row:
    """Measure what is not ``known`` of a cell."""
    topology = mesh(*parse_size(size))
    row: Row = {"kind": form.kind, "operands": form.operands, "mesh": size, "m": m, "default": None, "ways": {}}
    if known is not None and again != "all":
        row |= {"default": None if again else known["default"], "ways": dict(known["ways"])}
    if row["default"] is None:
        row["default"] = entry(form, topology, m, None, ())
    if all(name in row["ways"] for name in names_of(form.kind)):
        return row
    about = estimated(form, topology, m)
    for name in sorted(names_of(form.kind), key=lambda name: about.get(name, inf)):
        if name not in row["ways"]:
            known_ways = list(_entries(row))
            # Infinite: what it needs has no room in a schedule of the length assumed; in a longer one it may.
            if HOPELESS * _fewest(known_ways) < about.get(name, 0.0) < inf:
                row["ways"][name] = {"estimated": round(about[name])}
            else:
                row["ways"][name] = entry(form, topology, m, name, known_ways)
    return row


def _entries(row: Row) -> Iterator[Row]:
    yield row["default"]
    yield from row["ways"].values()


def ratio(row: Row) -> float | None:
    """Cycles of the default over those of the quickest; infinite if only ``:impl`` gives a plan, None if nothing does."""
    quickest = min((one["cycles"] for one in _entries(row) if "cycles" in one), default=None)
    if quickest is None:
        return None
    return float(row["default"]["cycles"] / quickest) if "cycles" in row["default"] else float("inf")


def best_way(row: Row) -> str:
    """Name of the quickest implementation."""
    timed = {name: one["cycles"] for name, one in row["ways"].items() if "cycles" in one}
    return min(timed, key=lambda name: timed[name]) if timed else ""


def summary(rows: Sequence[Row]) -> Row:
    """Median, 95 % and worst ratio."""
    ratios = sorted(one for one in map(ratio, rows) if one is not None)
    if not ratios:
        return {"cells": 0}
    return {
        "cells": len(ratios),
        "median": statistics.median(ratios),
        "within_95": ratios[max(0, -(-95 * len(ratios) // 100) - 1)],
        "worst": ratios[-1],
    }


def page_table(rows: Sequence[Row]) -> str:
    """The cells as Markdown, a line for each kind, operands and words."""
    sizes = list(dict.fromkeys(row["mesh"] for row in rows))
    found = summary(rows)
    lines = [
        f"{found['cells']} cells: median ratio {found['median']:.2f}, 95 % within {found['within_95']:.2f}, worst "
        f"{found['worst']:.2f}.",
        "",
        f"| operator | words | {' | '.join(sizes)} |",
        f"|---|---:|{'---|' * len(sizes)}",
    ]
    by = {(row["kind"], row["operands"], row["m"], row["mesh"]): row for row in rows}
    for kind, operands, m in dict.fromkeys(key[:3] for key in by):
        cells = [_cell(by.get((kind, operands, m, size))) for size in sizes]
        shown = operands.replace("REVERSE", "…").replace("OTHERS", "1 2 …").replace("LAST", "last")
        lines.append(f"| `{f'{kind} {shown}'.strip()}` | {m} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cell(row: Row | None) -> str:
    """``cycles implementation``, and behind that the ratio and the quickest implementation if the default is slower by 2 %."""
    found = None if row is None else ratio(row)
    if row is None or found is None:
        return ""
    default = row["default"]
    if "cycles" not in default:
        return f"– ({best_way(row)})"
    text = f"{default['cycles']:,.0f} {default['chosen']}"
    return text if found < 1.02 else f"{text} ({found:.2f} {best_way(row)})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", nargs="+", default=SIZES)
    parser.add_argument("--kinds", nargs="+", help="kinds of operators; all by default")
    parser.add_argument("--words", nargs="+", type=int, default=WORDS)
    parser.add_argument("--again", choices=("default", "all"), help="measure this again where it is known")
    parser.add_argument("--above", type=float, help="only cells with a ratio above this one")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--page", type=Path, help="put the table into this page")
    options = parser.parse_args()
    rows: dict[str, Row] = {}
    if options.results.exists():
        rows = {_key(row): row for row in json.loads(options.results.read_text())["rows"]}
    for size in options.sizes:
        for form in FORMS:
            for m in options.words if form.kind != "barrier" else WORDS[:1]:
                if options.kinds is not None and form.kind not in options.kinds:
                    continue
                key = f"{form.kind} {form.operands} {size} {m}"
                before = ratio(rows[key]) if key in rows else None
                if options.above is not None and (before is None or before <= options.above):
                    continue
                row = rows[key] = cell(form, size, m, rows.get(key), options.again)
                shown = ratio(row)
                print(f"{key}: {row['default']} ratio {shown and round(shown, 2)} {best_way(row)}", file=sys.stderr)
                _keep(options.results, rows)
    order = [f"{form.kind} {form.operands} {size} {m}" for form in FORMS for m in WORDS for size in SIZES]
    rows = {key: rows[key] for key in [*(k for k in order if k in rows), *(k for k in rows if k not in order)]}
    _keep(options.results, rows)
    if options.page is not None:
        marks = "<!-- begin choices -->", "<!-- end choices -->"
        options.page.write_text(put_between(options.page.read_text(), *marks, page_table(list(rows.values()))))


def _key(row: Row) -> str:
    return f"{row['kind']} {row['operands']} {row['mesh']} {row['m']}"


def _keep(path: Path, rows: dict[str, Row]) -> None:
    answer = {"benchmark": "choices", **summary(list(rows.values())), "rows": list(rows.values())}
    path.write_text(json.dumps(answer, indent=1) + "\n")


if __name__ == "__main__":
    main()
