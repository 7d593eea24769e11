"""Prefix and broadcast on scheduled and on packet routers, side by side (Metcalf 1997, Figures 8-4 to 8-7).

Prefix of one word on meshes of 4 to 256 nodes, and of 1 to 64 words on 8x8; broadcast from node 0 of one word and of 1024
words on meshes, and of 1 to 1024 words on 8x8. Programs are ordinary ones, run by ordinary processors with one access a
cycle; only ``:impl`` differs. A call begins at the same cycle at every node, after all load functions, and ends when the last
node has what it reads, which is checked. Scheduled routers have a timetable: their figure is the mean over `STARTS` beginnings at
different slots, its length what the compiler chooses. Combining costs no cycles on either, as there.

Both run on RTL (``--engine verilated``); ``--engine model`` takes the cycle model for the scheduled ones. Clocks are those placed
and routed on an ECP5, as in ``scheduled_vs_packet.py``.

    python benchmarks/operators_vs_packet.py [--sizes 2x2,4x4] [--experiments prefix-nodes] [--into results.json]
    python benchmarks/operators_vs_packet.py --plots docs/pictures        # from results/operators_vs_packet.json
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cosim.machine import ProcessorMachine
from cosim.numesh.machine import Machine
from cosim.packet.session import packet_machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from packet_router.shape import RouterShape
from pointsman.artifacts.images.readmemh import memories_of
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import Topology, mesh, parse_size
from pointsman.plan.make_plan import make_plan
from pointsman.report.figures.comparison import read_clocks
from pointsman.report.figures.side_by_side import plot_side_by_side, put_side_by_side
from pointsman.runtime import Category, Node, WaitUntil, numesh_node
from pointsman.runtime.packet import packet_node
from pointsman.targets.numesh import make_images
from pointsman.targets.packet.program import make_packet_program
from pointsman.verify.images import check_images

RESULTS = Path(__file__).parent / "results"
PAGE = Path(__file__).parents[1] / "docs" / "comparison.md"
SIZES = ("2x2", "3x3", "4x4", "6x6", "8x8", "10x10", "12x12", "16x16")
LENGTHS = {"prefix": (1, 4, 16, 64), "broadcast": (1, 16, 128, 1024)}
LONG = 1024
FIXED = "8x8"
"""Mesh on which the length varies."""
START = 20_000
"""Cycle of the first call: all nodes have loaded by then."""
STARTS = 4
STEP = 2003
"""Cycles to the next call, beside those that calls take; prime, so that calls meet different slots."""
SLOWEST = {"prefix": 128, "broadcast": 40}
"""Cycles a word that no call exceeds; a run in which one does stops."""
Row = dict[str, Any]


@dataclass(frozen=True)
class Way:
    """An implementation, and the operands under which it is measured."""

    kind: str
    impl: str
    operands: str

    @property
    def router(self) -> str:
        return "packet" if self.impl.startswith("dyn_") else "scheduled"


WAYS = (
    Way("prefix", "str_prefix", "'add"),
    Way("prefix", "sch_prefix", "'add"),
    Way("prefix", "str_prefix_linear", "'add"),
    Way("prefix", "dyn_prefix", "'add"),
    Way("broadcast", "str_bcast", "0"),
    Way("broadcast", "str_bcast_linear", "(runtime)"),
    Way("broadcast", "str_bcast_dense", "(runtime)"),
    Way("broadcast", "dyn_bcast", "(runtime)"),
    Way("broadcast", "dyn_bcast_dense", "(runtime)"),
    Way("broadcast", "dyn_bcast_tree", "0"),
)


def measure(way: Way, topology: Topology, m: int, engine: Any) -> Row:
    """Cycles of a call.

    Raises
    ------
    PointsmanError
        If the compiler cannot make the program, or a node received the wrong words.
    """
    program = compile_text(f"({way.kind} 'o {way.operands} :m {m} :impl '{way.impl})", topology=topology)
    began = time.process_time()
    if way.router == "packet":
        made = make_packet_program(program, RouterShape(size=topology.size), name="measured")
        with packet_machine(made) as machine:
            cycles = _run([packet_node(made, n, machine) for n in range(topology.nodes)], machine, way, m, 1)
            return {"cycles": cycles, "engine": machine.engine, "cpu_seconds": _since(began)}
    shape = NodeShape(neighbours=max(4, topology.ports))
    images = make_images(make_plan(program, shape, name="measured"))
    report = check_images(images)
    if not report.ok:
        raise PointsmanError(report.render())
    with Machine(shape, topology, engine=engine, progress=False) as scheduled:
        scheduled.preload(memories_of(images))
        nodes = [numesh_node(images, n, scheduled, preloaded=True) for n in range(topology.nodes)]
        again = images.operators[0].stages > 1
        return {
            "cycles": _run(nodes, scheduled, way, m, STARTS, again),
            "engine": scheduled.engine,
            "period": images.period,
            "cpu_seconds": _since(began),
        }


def _since(began: float) -> float:
    return round(time.process_time() - began, 1)


def _run(nodes: list[Node], machine: ProcessorMachine, way: Way, m: int, calls: int, again: bool = False) -> float:
    """Mean cycles of so many calls; ``again``: the operator is loaded anew before each."""
    values = (0,) if "(runtime)" in way.operands else ()
    starts = [START + k * (STEP + way_cycles(way, m, machine.nodes)) for k in range(calls)]
    message = np.arange(3, m + 3, dtype=np.int32)

    async def main(node: Node) -> list[int]:
        await node.cop.o_load(*values)
        took = []
        for begin in starts:
            if again and begin != starts[0]:
                await node.cop.o_load(*values)
            if node.time >= begin:
                raise PointsmanError(f"{way.impl}: node {node.number} was not there in cycle {begin}")
            await WaitUntil(begin, Category.CPU)
            got: Any = None
            if way.kind == "prefix":
                got = await node.cop.o_func(message * (node.number + 1))
            elif node.number:
                got = await node.cop.o_read()
            else:
                await node.cop.o_write(message)
            took.append(node.time - begin)
            factor = (node.number + 1) * (node.number + 2) // 2 if way.kind == "prefix" else 1
            if got is not None and not np.array_equal(got, message * factor):
                raise PointsmanError(f"{way.impl}: node {node.number} received the wrong words")
        return took

    record = run_nodes(nodes, main, machine)
    return float(np.max(np.array(record.results), axis=0).mean())


def way_cycles(way: Way, m: int, nodes: int) -> int:
    """More cycles than a call takes."""
    return SLOWEST[way.kind] * m + 50 * nodes


def prefix_nodes(sizes: list[str]) -> Iterator[tuple[Way, str, int]]:
    """One word, meshes of several sizes (Figure 8-4)."""
    yield from _cases("prefix", sizes, (1,))


def prefix_words(sizes: list[str]) -> Iterator[tuple[Way, str, int]]:
    """8x8, messages of several lengths (Figure 8-5)."""
    yield from _cases("prefix", [FIXED], LENGTHS["prefix"])


def broadcast_nodes(sizes: list[str]) -> Iterator[tuple[Way, str, int]]:
    """One word, meshes of several sizes (Figure 8-6)."""
    yield from _cases("broadcast", sizes, (1,))


def broadcast_long(sizes: list[str]) -> Iterator[tuple[Way, str, int]]:
    """1024 words, meshes of several sizes (Figure 8-7)."""
    yield from _cases("broadcast", sizes, (LONG,))


def broadcast_words(sizes: list[str]) -> Iterator[tuple[Way, str, int]]:
    """8x8, messages of several lengths."""
    yield from _cases("broadcast", [FIXED], LENGTHS["broadcast"])


def _cases(kind: str, sizes: list[str], lengths: tuple[int, ...]) -> Iterator[tuple[Way, str, int]]:
    for size in sizes:
        for way in WAYS:
            if way.kind == kind:
                for m in lengths:
                    yield way, size, m


EXPERIMENTS: dict[str, Callable[[list[str]], Iterator[tuple[Way, str, int]]]] = {
    "prefix-nodes": prefix_nodes,
    "prefix-words": prefix_words,
    "broadcast-nodes": broadcast_nodes,
    "broadcast-long": broadcast_long,
    "broadcast-words": broadcast_words,
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--experiments", default=",".join(EXPERIMENTS), help=f"of {', '.join(EXPERIMENTS)}")
    parser.add_argument("--sizes", default=",".join(SIZES), help="meshes, where the size varies")
    parser.add_argument("--engine", default="auto", help="of the scheduled routers: auto, verilated or model")
    parser.add_argument("--into", type=Path, help="file: add to the results there, in place of printing them")
    parser.add_argument("--fresh", action="store_true", help="measure also what stands in that file")
    parser.add_argument(
        "--plots",
        type=Path,
        help="folder: redraw the plots, and the tables of docs/comparison.md, from the results that are there",
    )
    options = parser.parse_args()
    if options.plots is not None:
        results = json.loads((RESULTS / "operators_vs_packet.json").read_text())
        results["clocks"] = read_clocks(RESULTS)
        for path in plot_side_by_side(results, options.plots):
            print(f"wrote {path}", file=sys.stderr)
        PAGE.write_text(put_side_by_side(PAGE.read_text(), results))
        return 0
    chosen = options.experiments.split(",")
    if unknown := set(chosen) - set(EXPERIMENTS):
        parser.error(f"there are no experiments {', '.join(sorted(unknown))}")
    rows: dict[tuple[str, str, int], Row] = {}
    if options.into is not None and options.into.exists():
        for row in json.loads(options.into.read_text())["rows"]:
            rows[row["implementation"], row["mesh"], row["m"]] = row
    known = set() if options.fresh else set(rows)
    for name in chosen:
        for way, size, m in EXPERIMENTS[name](options.sizes.split(",")):
            if (way.impl, size, m) in known:
                continue
            known.add((way.impl, size, m))
            topology = mesh(*parse_size(size))
            row = {"implementation": way.impl, "router": way.router, "mesh": size, "nodes": topology.nodes, "m": m}
            try:
                row |= measure(way, topology, m, options.engine)
            except PointsmanError as error:
                row |= {"refused": error.message}
            print(json.dumps(row), file=sys.stderr, flush=True)
            rows[way.impl, size, m] = row
            if options.into is not None:
                options.into.write_text(_results(rows))
    if options.into is None:
        print(_results(rows), end="")
    return 0


def _results(rows: dict[tuple[str, str, int], Row]) -> str:
    order = [way.impl for way in WAYS]
    ordered = sorted(rows.values(), key=lambda row: (order.index(row["implementation"]), row["nodes"], row["m"]))
    plain = {"benchmark": "operators_vs_packet", "clocks": read_clocks(RESULTS), "rows": ordered}
    return json.dumps(plain, indent=1) + "\n"


if __name__ == "__main__":
    sys.exit(main())
