"""Online routing on scheduled routers against packet routers, the same messages on both (Metcalf 1997, §8.3.3, Figure 8-8).

Jobs: a broadcast of one word and of 64 words by flood fill (dyn_bcast_dense) from node 0, one message from corner to corner, one
between two nodes (the mean over eight random pairs), and a permutation with everybody sending at once (the mean over five random
ones). A job begins at the same cycle at every node, after all load functions, and ends
when the last node has what it reads. Scheduled routers run on the engine of ``--engine``; packet routers on RTL (they have
no other processor port), so a C++ compiler is needed for them; without one, or with ``--no-packet``, their columns are empty.

    python benchmarks/online.py [--sizes 2x2,4x4] [--engine model] [--no-packet | --known-packets] > results.json
    python benchmarks/online.py --table        # from results/online.json, as in docs/online_routing.md
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cosim.engines.verilated.build import find_compiler
from cosim.numesh.machine import Machine
from cosim.packet.session import packet_machine
from cosim.record import Record
from cosim.session import run_nodes
from numesh.shape import NodeShape
from packet_router.shape import RouterShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import Program, compile_text
from pointsman.network import mesh, parse_size
from pointsman.plan.make_plan import make_plan
from pointsman.plan.options import PlanOptions
from pointsman.plan.plan import Plan
from pointsman.runtime import Category, Node, WaitUntil, numesh_node
from pointsman.runtime.packet import packet_node
from pointsman.targets.numesh import make_images
from pointsman.targets.packet.program import make_packet_program
from pointsman.verify.images import check_images

RESULTS = Path(__file__).parent / "results"
SIZES = ("2x2", "4x4", "6x6", "8x8")
PERIOD = 64
"""Schedule length."""
START = 4000
"""Cycle in which a job begins: all nodes have loaded by then."""
SEED = 7
PAIRS, ORDERS = 8, 5
"""Random pairs of nodes, and random permutations."""
TABLE_HEAD = "| job | mesh | packet | online | ratio | channels | over neighbours |\n|---|---|---:|---:|---:|---|---:|"


def jobs(nodes: int) -> dict[str, tuple[str, list[tuple[Any, ...]]]]:
    """COP text, and sets of run-time values each of which is run, by name."""
    orders = [(np.random.default_rng(SEED + i).permutation(nodes).tolist(),) for i in range(ORDERS)]
    rng = np.random.default_rng(SEED)
    pairs: list[tuple[Any, ...]] = [tuple(rng.choice(nodes, 2, replace=False).tolist()) for _ in range(PAIRS)]
    broadcast = "(broadcast 'o (runtime) :m {} :impl 'dyn_bcast_dense)"
    stream = "(stream 'o (runtime) (runtime) :m {} :impl 'dyn_stream)"
    return {
        "broadcast, 1 word": (broadcast.format(1), [(0,)]),
        "broadcast, 64 words": (broadcast.format(64), [(0,)]),
        "corner to corner, 1 word": (stream.format(1), [(0, nodes - 1)]),
        "corner to corner, 256 words": (stream.format(256), [(0, nodes - 1)]),
        "random nodes, 1 word": (stream.format(1), pairs),
        "random nodes, 256 words": (stream.format(256), pairs),
        "permutation, 16 words": ("(permute 'o (runtime) :m 16 :impl 'dyn_permute)", orders),
    }


def main_of(kind: str, m: int, values: tuple[Any, ...]) -> Any:
    """What every node does. Gives the cycle in which it has what it reads, and whether that is right."""

    async def main(node: Node) -> tuple[int, bool]:
        await node.cop.o_load(*values)
        assert node.time < START
        await WaitUntil(START, Category.CPU)
        right = True
        if kind == "permute":
            got = await node.cop.o_func(np.full(m, node.number, np.int32))
            right = bool((got == values[0].index(node.number)).all())
        elif node.number == values[0]:
            await node.cop.o_write(np.arange(m, dtype=np.int32))
        elif kind == "broadcast" or node.number == values[1]:
            right = bool((await node.cop.o_read() == np.arange(m)).all())
        return node.time, right

    return main


def outcome(record: Record) -> int:
    """Cycles of a job."""
    assert all(right for _, right in record.results)
    return int(max(done for done, _ in record.results) - START)


@lru_cache(maxsize=8)
def planned(cop: str, size: tuple[int, ...], express: int) -> tuple[Plan, Images, float]:
    """A job's plan and images, proven, and the CPU seconds they took."""
    began = time.process_time()
    shape = NodeShape(neighbours=max(4, 2 * len(size)))
    program = compile_text(cop, topology=mesh(*size))
    plan = make_plan(program, shape, name="online", period=PERIOD, options=PlanOptions(express=express))
    images = make_images(plan)
    report = check_images(images)
    assert report.ok, str(report)
    return plan, images, time.process_time() - began


def online(
    cop: str, size: tuple[int, ...], engine: Any, several: list[tuple[Any, ...]], express: int
) -> dict[str, Any]:
    """A job on scheduled routers; ``express`` as in ``make_plan``."""
    plan, images, compiled = planned(cop, size, express)
    (operator,) = plan.program.operators()
    part = plan.phases[0].part
    assert part is not None
    cycles, passed, held, spent = [], [], [], []
    for values in several:
        with Machine(images.shape, images.topology, engine=engine, progress=False) as machine:
            nodes = [numesh_node(images, number, machine, preloaded=True) for number in range(machine.nodes)]
            machine.preload(_memories(images))
            record = run_nodes(nodes, main_of(operator.kind, operator.m, values), machine)
        agents = [agent for node in nodes for agent in node.substrate.agents.values()]  # type: ignore[attr-defined]
        cycles.append(outcome(record))
        passed.append(sum(agent.passed for agent in agents))
        held.append(max((agent.peak for agent in agents), default=0))
        spent.append(float(record.cycles[:, Category.ONLINE].mean()))
    return {
        "cycles": float(np.mean(cycles)),
        "each": cycles,
        "period": images.period,
        "channels": part.network.name,
        "bandwidth": images.operators[0].bandwidth,
        "words_passed_on": float(np.mean(passed)),
        "most_words_held": max(held),
        "online_cycles_mean": float(np.mean(spent)),
        "compile_cpu_seconds": round(compiled, 3),
    }


def _memories(images: Any) -> Any:
    from pointsman.artifacts.images.readmemh import memories_of

    return memories_of(images)


def packet(program: Program, size: tuple[int, ...], several: list[tuple[Any, ...]]) -> dict[str, Any]:
    """The same job on packet routers."""
    (operator,) = program.operators()
    made = make_packet_program(program, RouterShape(size=size), name="online")
    cycles = []
    for values in several:
        machine = packet_machine(made)
        try:
            nodes = [packet_node(made, number, machine) for number in range(program.topology.nodes)]
            record = run_nodes(nodes, main_of(operator.kind, operator.m, values), machine)
        finally:
            machine.close()
        cycles.append(outcome(record))
    return {"cycles": float(np.mean(cycles)), "each": cycles}


def known_packets() -> dict[tuple[str, str], dict[str, Any]]:
    """Cycles on packet routers of the last run, by mesh and job; they do not change unless the packet router does."""
    rows = json.loads((RESULTS / "online.json").read_text())["rows"]
    return {(row["mesh"], row["job"]): row["packet"] for row in rows if row["packet"]}


def measure(sizes: list[str], engine: Any, packets: bool, known: Any) -> list[dict[str, Any]]:
    rows = []
    for text in sizes:
        size = parse_size(text)
        topology = mesh(*size)
        for name, (cop, several) in jobs(topology.nodes).items():
            program = compile_text(cop, topology=topology)
            row: dict[str, Any] = {"job": name, "mesh": text, "nodes": topology.nodes}
            row["online"] = online(cop, size, engine, several, 0)
            # Where it was chosen otherwise: what channels to all neighbours would give.
            near = row["online"]["channels"] == "neighbours"
            row["neighbours"] = None if near else online(cop, size, engine, several, 1)
            there = known.get((text, name))
            row["packet"] = there or (packet(program, size, several) if packets else None)
            if row["packet"]:
                row["ratio"] = row["online"]["cycles"] / row["packet"]["cycles"]
            (operator,) = program.operators()
            row["words_per_cycle"] = operator.m / row["online"]["cycles"]
            rows.append(row)
            print(f"{text} {name}: {json.dumps(row)}", file=sys.stderr)
    return rows


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as Markdown."""
    lines = [TABLE_HEAD]
    for row in sorted(rows, key=lambda row: (row["job"], row["nodes"])):
        native = f"{row['packet']['cycles']:,.0f}" if row["packet"] else "–"
        ratio = f"{row['ratio']:.1f}" if row["packet"] else "–"
        near = f"{row['neighbours']['cycles']:,.0f}" if row["neighbours"] else "–"
        taken = row["online"]
        lines.append(
            f"| {row['job']} | {row['mesh']} | {native} | {taken['cycles']:,.0f} | {ratio} | {taken['channels']} | {near} |"
        )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(SIZES))
    parser.add_argument("--engine", default="model", choices=("model", "verilated"))
    parser.add_argument("--no-packet", action="store_true")
    parser.add_argument(
        "--known-packets", action="store_true", help="take packet routers' cycles from the last results"
    )
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    if options.table:
        print(table(json.loads((RESULTS / "online.json").read_text())["rows"]))
        return
    packets = not options.no_packet and find_compiler() is not None
    rows = measure(options.sizes.split(","), options.engine, packets, known_packets() if options.known_packets else {})
    ratios = [row["ratio"] for row in rows if "ratio" in row and row["job"] == "broadcast, 1 word"]
    summary = {"benchmark": "online", "engine": options.engine, "rows": rows}
    if ratios:
        summary["broadcast_ratio_largest_mesh"] = ratios[-1]
    print(json.dumps(summary, indent=1))


if __name__ == "__main__":
    main()
