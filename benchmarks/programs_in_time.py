"""Whole programs on packet and on scheduled routers, in cycles and in microseconds by the clocks of one device.

Matrix multiplication, Gauss, all-to-all and bit reversal, compiled for both and run to the end on the cycle models (which equal
the RTL), every answer checked. ``total`` is the cycle in which the last node is done; ``communicating`` what a node spends
otherwise than with computing, the mean over the nodes: accesses to its port, waiting there or for phases, and loading.

    python benchmarks/programs_in_time.py [--only matmul,gauss] [--into results.json]
    python benchmarks/programs_in_time.py --page docs/comparison.md     # the table, from results/programs_in_time.json

The page is drawn with the clocks of today: ``results/fpga.json`` and ``results/packet_fpga.json``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.files import write_whole
from pointsman.report.figures.comparison import OPEN_ROUTER_MHZ, read_clocks
from pointsman.report.figures.page import put_between
from pointsman.sweep.cases import Case, digest_beside
from pointsman.sweep.drive import run_values

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
BEGIN, END = "<!-- programs in time -->", "<!-- /programs in time -->"
TARGETS = {"packet": "packet", "scheduled": "numesh"}
"""Kinds of routers, and the targets that have them."""
SCHEDULED, PACKET = "scheduled, 2 pipelines", "packets, e-cube"
"""Their clocks, as `read_clocks` names them. That of the packet router is without its interface."""


@dataclass(frozen=True)
class Measured:
    """A program, its meshes, and its options."""

    name: str
    application: str
    meshes: tuple[str, ...]
    arguments: Mapping[str, Any] = field(default_factory=dict)


EXCHANGES = "benchmarks/evaluation/exchanges.py"
PROGRAMS = {
    "matmul": Measured("matrix multiplication, 60×60", "examples/matmul/matmul.py", ("2x2", "3x3", "4x4")),
    "gauss": Measured("Gauss, 60 equations", "examples/gauss/gauss.py", ("2x2", "3x3", "4x4"), {"size": 60}),
    "all-to-all": Measured(
        "all-to-all, 64 words to each node", EXCHANGES, ("2x2", "4x4"), {"kind": "all-to-all", "words": 64}
    ),
    "bit-reversal": Measured(
        "bit reversal, 512 words", EXCHANGES, ("2x2", "4x4", "8x8"), {"kind": "bit-reversal", "words": 512}
    ),
}


def measure(names: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each program and mesh. Runs that this version has done before are in build/sweeps."""
    rows: list[dict[str, Any]] = []
    for name in names:
        program = PROGRAMS[name]
        path = ROOT / program.application
        sources = digest_beside(path)
        cases = [
            Case(str(path), sources, mesh, target, options={"engine": "model"}, arguments=program.arguments)
            for mesh in program.meshes
            for target in TARGETS.values()
        ]
        values = iter(run_values(cases, ROOT / "build/sweeps/programs_in_time", tell=_tell))
        for mesh in program.meshes:
            rows.append({"program": name, "mesh": mesh, **{kind: _figures(next(values)) for kind in TARGETS}})
    return rows


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _figures(values: dict[str, Any]) -> dict[str, Any]:
    if not values["correct"]:
        raise PointsmanError(f"wrong answer: {values['answer']}")
    spent = values["categories"]
    return {
        "total": values["total_cycles"],
        "communicating": round(sum(cycles for category, cycles in spent.items() if category != "cpu"), 1),
        "engine": values["engine"],
    }


def table(rows: Sequence[dict[str, Any]], clocks: Mapping[str, float]) -> str:
    """Cycles and microseconds side by side, as Markdown.

    Raises
    ------
    PointsmanError
        If a clock is missing.
    """
    if missing := [name for name in (SCHEDULED, PACKET) if name not in clocks]:
        raise PointsmanError(f"no clock is known of {', '.join(missing)}", hint="see docs/fpga.md")
    scheduled, packet, best = clocks[SCHEDULED], clocks[PACKET], OPEN_ROUTER_MHZ
    lines = [
        f"| program | mesh | cycles in all, packets / scheduled | communicating | in µs: packets | packets at {best:.0f} MHz "
        "| scheduled | packets / scheduled | and in all |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        ours, theirs = row["scheduled"], row["packet"]
        times = [theirs["communicating"] / packet, theirs["communicating"] / best, ours["communicating"] / scheduled]
        whole = [theirs["total"] / mhz / (ours["total"] / scheduled) for mhz in (packet, best)]
        lines.append(
            f"| {PROGRAMS[row['program']].name} | {row['mesh'].replace('x', '×')} "
            f"| {theirs['total']:,} / {ours['total']:,} | {theirs['communicating']:,.0f} / {ours['communicating']:,.0f} "
            f"| {' | '.join(map(_us, times))} | {times[0] / times[2]:.2f}; {times[1] / times[2]:.2f} "
            f"| {whole[0]:.2f}; {whole[1]:.2f} |"
        )
    clocks_of = f"scheduled node {scheduled:.0f}, packet router {packet:.0f}, open packet router {best:.0f}"
    lines += ["", f"Clocks in MHz: {clocks_of}."]
    return "\n".join(lines) + "\n"


def _us(time: float) -> str:
    return f"{time:,.0f}" if time >= 100 else f"{time:.1f}" if time >= 10 else f"{time:.2f}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", default=",".join(PROGRAMS), help=f"of {', '.join(PROGRAMS)}")
    parser.add_argument("--into", type=Path, help="file: replace the rows of these programs there, print nothing")
    parser.add_argument(
        "--page", type=Path, help="put the table of the results that are there into this page; run nothing"
    )
    options = parser.parse_args(arguments)
    names = options.only.split(",")
    if unknown := [name for name in names if name not in PROGRAMS]:
        parser.error(f"there are no programs {', '.join(unknown)}; there are {', '.join(PROGRAMS)}")
    try:
        if options.page is not None:
            rows = json.loads((RESULTS / "programs_in_time.json").read_text())["rows"]
            text = table(rows, read_clocks(RESULTS))
            write_whole(options.page, put_between(options.page.read_text(), BEGIN, END, text))
            return 0
        rows = measure(names)
        if options.into is not None and options.into.exists():
            rows += [row for row in json.loads(options.into.read_text())["rows"] if row["program"] not in names]
    except PointsmanError as error:
        print(f"programs_in_time: {error}", file=sys.stderr)
        return 2
    order = list(PROGRAMS)
    rows.sort(key=lambda row: (order.index(row["program"]), row["mesh"]))
    text = json.dumps({"benchmark": "programs_in_time", "rows": rows}, indent=1) + "\n"
    if options.into is None:
        print(text, end="")
    else:
        write_whole(options.into, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
