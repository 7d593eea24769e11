"""Operators by implementation: what the planner expects against what the cycle model measures, and the thesis's experiments.

Every figure is cycles on the cycle model (which agrees with the RTL to the cycle), from a moment at which all nodes begin
together to the end of the last node's call. Schedules have 16 slots unless said otherwise.

    python benchmarks/operators.py [--sections metrics,broadcast,prefix] [--quick] [--table docs/implementations_table.md]
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.codes import FIRST_FREE_VFSM
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import Topology, mesh
from pointsman.operators import IMPLEMENTATIONS
from pointsman.operators.api.operands import operand, runtime_values
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.structure import outline
from pointsman.plan.timeline.one_call import call_cycles
from pointsman.program.program import Operator
from pointsman.runtime import Node, WaitUntil, numesh_node
from pointsman.runtime.api.requests import Category
from pointsman.runtime.numesh.scheduling.made import schedule_moves
from pointsman.targets.numesh import make_images
from pointsman.targets.numesh.images import most_load_cycles
from pointsman.verify.images import check_images

PERIOD = 16
START = 40_000
STARTS = (START, START + 6005, START + 12010, START + 18015)
"""Cycles at which measured calls begin, at different slots; loads are through by then."""
ENDS = 4
"""Cycles from a processor's write to the first VFSM, and from the last VFSM to the processor that reads."""
Row = dict[str, Any]
ONLY: list[str] | None = None
"""Implementations to measure; None: all."""
LARGEST = 64
"""Nodes of the largest mesh."""


@dataclass(frozen=True)
class Way:
    """An implementation with the operands under which it is measured."""

    kind: str
    impl: str
    operands: str


WAYS = [
    Way("broadcast", "str_bcast", "0"),
    Way("broadcast", "str_bcast_bind", "0"),
    Way("broadcast", "str_bcast_round", "0"),
    Way("broadcast", "str_bcast_linear", "(runtime)"),
    Way("broadcast", "str_bcast_dense", "(runtime)"),
    Way("broadcast", "str_bcast_tree", "(runtime)"),
    Way("broadcast", "str_bcast_tree_tracks", "(runtime)"),
    Way("broadcast", "par_bcast", "(runtime :values '(0 1 2))"),
    Way("broadcast", "sch_bcast_dense", "(runtime)"),
    Way("collect", "str_collect", "0"),
    Way("collect", "str_collect_direct", "0"),
    Way("collect", "str_collect_tracks", "0"),
    Way("collect", "str_collect_runtime", "(runtime)"),
    Way("collect", "str_collect_tree", "(runtime)"),
    Way("collect", "str_collect_dim", "(runtime)"),
    Way("collect", "sch_collect_dense", "(runtime)"),
    Way("collect", "sch_collect_dim", "(runtime)"),
    Way("reduce", "str_reduce", "'add 0"),
    Way("reduce", "str_reduce_halves", "'add 0"),
    Way("reduce", "sch_reduce", "'add (runtime)"),
    Way("reduce", "par_reduce", "'add (runtime :values '(0 1 2))"),
    Way("allreduce", "str_allreduce", "'add"),
    Way("allreduce", "str_allreduce_halves", "'add"),
    Way("prefix", "str_prefix", "'add"),
    Way("prefix", "sch_prefix", "'add"),
    Way("prefix", "str_prefix_linear", "'add"),
    Way("barrier", "str_barrier_tree", ""),
    Way("barrier", "str_barrier", ""),
    Way("cshift", "str_shift", "1"),
    Way("eoshift", "str_shift", "1"),
    Way("cshift", "str_shift_round", "1"),
    Way("eoshift", "str_shift_round", "1"),
    Way("permute", "str_permute", "'reverse"),
    Way("permute", "sch_permute_runtime", "(runtime)"),
    Way("cshift", "sch_shift_runtime", "(runtime)"),
    Way("cshift", "sch_shift", "(runtime :values '(-1 1))"),
    Way("cshift", "par_shift", "(runtime :values '(-1 1))"),
    Way("stream", "str_stream", "0 'last"),
    Way("stream", "sch_stream", "(runtime) 0"),
    Way("stream", "par_stream", "(runtime :values '(0 1 2)) 0"),
    Way("stream", "str_stream_rtsrc", "(runtime) 0"),
    Way("stream", "str_stream_rtdest", "0 (runtime)"),
    Way("stream", "str_stream_dyn", "0 (runtime :values '(1 2 3))"),
    Way("stream", "str_stream_runtime", "(runtime) (runtime)"),
    Way("stream", "str_stream_tree", "(runtime) (runtime)"),
    Way("spread", "str_spread", "0"),
    Way("spread", "str_spread_chain", "0"),
    Way("spread", "str_spread_tree", "0"),
    Way("gather", "str_gather", "0"),
    Way("gather", "str_gather_chain", "0"),
    Way("gather", "str_gather_tree", "0"),
    Way("seqread", "str_seqread", "'others 0"),
    Way("seqread", "str_seqread_fan", "'others 0"),
    Way("seqread", "str_seqread_tree", "'others 0"),
    Way("seqwrite", "str_seqwrite", "0 'others"),
    Way("seqwrite", "str_seqwrite_fan", "0 'others"),
    Way("seqwrite", "str_seqwrite_tree", "0 'others"),
]


def program_text(way: Way, nodes: int, m: int) -> str:
    lists = {
        "'reverse": f"'({' '.join(str(nodes - 1 - k) for k in range(nodes))})",
        "'others": f"'({' '.join(str(k) for k in range(1, nodes))})",
        "'last": str(nodes - 1),
    }
    operands = way.operands
    for name, text in lists.items():
        operands = operands.replace(name, text)
    words = "" if way.kind == "barrier" else f":m {m}"
    return f"({way.kind} 'o {operands} {words} :impl '{way.impl})"


@dataclass
class Measured:
    """Cycles of one call or round; of a load with other values than before; and what the images hold."""

    cycles: float
    expected: float
    reload: int
    images: Images


def measure(way: Way, topology: Topology, m: int, period: int | None = PERIOD) -> Measured:
    """``period`` None: what the compiler chooses."""
    shape = NodeShape(neighbours=max(4, topology.ports))
    program = compile_text(program_text(way, topology.nodes, m), topology=topology)
    (operator,) = program.operators()
    # One division, so that routes are those of the first attempt: what is measured are implementations.
    plan = make_plan(program, shape, name="measured", period=period, structures=[outline(program)])
    images = make_images(plan)
    report = check_images(images)
    if not report.ok:
        raise PointsmanError(report.render())
    values = runtime_values(operator)
    first = values[0]
    second = next((value for value in reversed(values) if len(set(value)) == len(value)), values[-1])
    given: list[tuple[Any, ...]] = [first, second]
    if way.impl == "sch_permute_runtime":
        given = [([*range(1, topology.nodes), 0],), (list(range(topology.nodes))[::-1],)]
    ends: dict[int, int] = {}
    loads: list[int] = []

    async def main(node: Node) -> None:
        await node.cop.o_load(*given[0])
        if len(values) > 1 or given[0] != given[1]:
            await WaitUntil(START // 2, Category.CPU)
            await node.cop.o_load(*given[1])
            loads.append(node.time - START // 2)
        for begin in STARTS:
            if images.operators[0].stages > 1 and begin != STARTS[0]:
                await WaitUntil(begin - 3000, Category.CPU)
                await node.cop.o_load(*given[1])
            await WaitUntil(begin, Category.CPU)
            await _take_part(node, operator, second, m)
            ends[begin] = max(ends.get(begin, 0), node.time - begin)

    with Machine(shape, topology, engine="model", progress=False) as machine:
        nodes = [numesh_node(images, number, machine) for number in range(topology.nodes)]
        run_nodes(nodes, main, machine)
    if images.operators[0].instances:
        # The schedule is made at run time, and so is what can be expected of it.
        order = (
            given[1][0] if way.kind == "permute" else [(k + second[0]) % topology.nodes for k in range(topology.nodes)]
        )
        moves = tuple((node, to) for node, to in enumerate(order) if node != to)
        words = min(promise.words for promise in schedule_moves(images, 0, 0, moves).promises)
        expected = ENDS + sum(topology.size) / 2 + (m - 0.5) * period / words
    else:
        writers = None
        if operator.kind == "collect":
            writers = {0 if operand(operator, 0, "destination", second) else topology.nodes - 1}
        expected = statistics.mean(call_cycles(plan, "o", second, start, writers=writers) for start in STARTS)
    return Measured(statistics.mean(ends.values()), expected, max(loads, default=0), images)


async def _take_part(node: Node, operator: Operator, value: tuple[int, ...], m: int) -> None:
    """One call, or one round of calls, of the operator."""
    message = np.arange(m, dtype=np.int32)
    size = len(operator.instances[0].nodes)
    here = node.number

    def end(name: str) -> int:
        return operand(operator, 0, name, value)

    async def write(times: int = 1) -> None:
        for _ in range(times):
            await node.cop.o_write(message)

    async def read(times: int = 1) -> None:
        for _ in range(times):
            await node.cop.o_read()

    match operator.kind:
        case "broadcast":
            await (write() if here == end("source") else read())
        case "collect":
            far = 0 if end("destination") else size - 1
            if here == far:
                await write()
            if here == end("destination"):
                await read()
        case "stream":
            source, destination = end("source"), end("destination")
            if source == destination:
                source = destination
            if here == source:
                await write()
            if here == destination:
                await read()
        case "spread" | "seqwrite":
            await (write(size - 1) if here == end("source") else read())
        case "gather" | "seqread":
            await (read(size - 1) if here == end("destination") else write())
        case _:
            await node.cop.o_func(message)


def resources(images: Images) -> tuple[int, int]:
    """VFSMs of the fullest pipeline and interface registers of the fullest node."""
    vfsms = registers = 0
    for node in images.nodes:
        count: dict[int, set[int]] = {}
        used: set[int] = set()
        for part in node.phases:
            for rewrite in part.annotations:
                if rewrite.vfsm >= FIRST_FREE_VFSM:
                    count.setdefault(rewrite.pipeline, set()).add(rewrite.vfsm)
        for _, operator in node.operators:
            used |= {r for role in operator.roles for lane in role.lanes for r in lane.registers}
        vfsms = max([vfsms, *map(len, count.values())])
        registers = max(registers, len(used))
    return vfsms, registers


def metrics(quick: bool) -> Iterator[Row]:
    """Each implementation on some meshes with short and long messages: expected against measured."""
    for way in [way for way in WAYS if ONLY is None or way.impl in ONLY]:
        for size in ((2, 2),) if quick else ((2, 2), (4, 4)):
            topology = mesh(*size)
            lengths = (1,) if way.kind == "barrier" else (4, 36)
            found = []
            try:
                found = [measure(way, topology, m) for m in lengths]
            except PointsmanError as error:
                yield {"implementation": way.impl, "kind": way.kind, "mesh": str(topology), "refused": error.message}
                continue
            short, long = found[0], found[-1]
            word = (long.cycles - short.cycles) / 32 if len(found) > 1 else 0.0
            vfsms, registers = resources(long.images)
            expected_word = (long.expected - short.expected) / 32 if len(found) > 1 else 0.0
            errors = [abs(one.expected - one.cycles) / one.cycles for one in found]
            yield {
                "implementation": way.impl,
                "kind": way.kind,
                "mesh": str(topology),
                "latency": short.cycles - 4 * word if len(found) > 1 else short.cycles,
                "expected_latency": short.expected - 4 * expected_word if len(found) > 1 else short.expected,
                "cycles_per_word": word,
                "expected_cycles_per_word": expected_word,
                "cycles": [one.cycles for one in found],
                "expected": [one.expected for one in found],
                "error": max(errors),
                "load": sum(most_load_cycles(long.images, phase) for phase in range(len(long.images.phases))),
                "reload": long.reload,
                "vfsms": vfsms,
                "registers": registers,
            }


def broadcast(quick: bool) -> Iterator[Row]:
    """Figures 8-6 and 8-7: latency and cycles per word of broadcasts by implementation, rows and squares."""
    ways = [way for way in WAYS if way.kind == "broadcast" and way.impl != "par_bcast"]
    ways = [way for way in ways if ONLY is None or way.impl in ONLY]
    for size in ((2, 2), (4, 4)) if quick else ((4, 1), (2, 2), (4, 4), (8, 8)):
        topology = mesh(*size)
        for way in ways if topology.nodes <= LARGEST else ():
            try:
                one, many = (measure(way, topology, m) for m in (1, 65))
            except PointsmanError as error:
                yield {"implementation": way.impl, "mesh": str(topology), "refused": error.message}
                continue
            yield {
                "implementation": way.impl,
                "mesh": str(topology),
                "latency": one.cycles,
                "cycles_per_word": (many.cycles - one.cycles) / 64,
                "metcalf_cycles_per_word": {"str_bcast": 2.0, "str_bcast_linear": 4.0}.get(way.impl),
            }


def prefix(quick: bool) -> Iterator[Row]:
    """str_prefix: one word on 4 to 256 nodes, and 8x8 with 1 to 64 words."""
    way = Way("prefix", "str_prefix", "'add")
    for size in ((2, 2), (4, 4)) if quick else ((2, 2), (4, 4), (8, 8), (16, 16)):
        topology = mesh(*size)
        if topology.nodes > LARGEST:
            continue
        yield {"mesh": str(topology), "nodes": topology.nodes, "m": 1, "cycles": measure(way, topology, 1, 40).cycles}
    for m in (1, 4) if quick else (1, 4, 16, 64):
        topology = mesh(*((4, 4) if quick else (8, 8)))
        yield {"mesh": str(topology), "nodes": topology.nodes, "m": m, "cycles": measure(way, topology, m, 40).cycles}


SECTIONS: dict[str, Callable[[bool], Iterator[Row]]] = {"metrics": metrics, "broadcast": broadcast, "prefix": prefix}


def table(rows: list[Row]) -> str:
    """The metrics as a table in Markdown."""
    lines = [
        "| operator | implementation | mesh | latency | expected | cycles per word | expected | load | reload | VFSMs | "
        "registers |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for row in rows:
        if "refused" in row:
            continue
        lines.append(
            f"| {row['kind']} | `{row['implementation']}` | {row['mesh']} | {row['latency']:.0f} | "
            f"{row['expected_latency']:.0f} | {row['cycles_per_word']:.2f} | {row['expected_cycles_per_word']:.2f} | "
            f"{row['load']} | {row['reload']} | {row['vfsms']} | {row['registers']} |"
        )
    errors = [row["error"] for row in rows if "error" in row]
    worst = max((row for row in rows if "error" in row), key=lambda row: row["error"])
    lines.append("")
    lines.append(
        f"Time of a call, expected against measured: median error {100 * statistics.median(errors):.0f} %, worst "
        f"{100 * worst['error']:.0f} % (`{worst['implementation']}` on {worst['mesh']})."
    )
    return "\n".join(lines) + "\n"


def main() -> int:
    global ONLY, LARGEST
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--quick", action="store_true", help="small cases only")
    parser.add_argument("--only", help="implementations to measure, but for prefixes")
    parser.add_argument("--largest", type=int, default=LARGEST, help="nodes of the largest mesh")
    parser.add_argument("--table", type=Path, help="write the metrics as a table of the documentation")
    given = parser.parse_args()
    ONLY, LARGEST = given.only.split(",") if given.only else None, given.largest
    result: dict[str, Any] = {"benchmark": "operators", "period": PERIOD, "implementations": len(IMPLEMENTATIONS)}
    for name in given.sections.split(","):
        rows = []
        for row in SECTIONS[name](given.quick):
            rows.append(row)
            print(json.dumps(row), file=sys.stderr)
        result[name] = rows
    if given.table is not None and "metrics" in result:
        given.table.write_text(table(result["metrics"]))
    print(json.dumps(result, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
