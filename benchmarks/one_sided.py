"""One-sided accesses on every target, in cycles, beside operators that were compiled; and LogP predictions of four sorts
beside runs.

    python benchmarks/one_sided.py [--mesh 4x4] [--sorts | --functional | --tables]

Accesses: what a read, a put and its sync, a store, a bulk read of 256 bytes take from node 0 to its neighbour and to the
furthest node while nothing else happens; and the cycles a store when every node stores to every other one. Compiled: a shift
of as many words. Tables: the accesses of Table 6-1 of von Eicken 1993 on the machine with the figures of the CM-5, and the scan
of Table 6-2 on as many processors as there."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import numpy as np

import pointsman
from cosim.logp.parameters import CALIBRATIONS
from pointsman import cop
from pointsman.api.machines.threads import run_tam
from pointsman.network import mesh, parse_size
from pointsman.runtime import Application, Node
from pointsman.runtime.api.application import load_application, parse_options
from pointsman.runtime.splitc import SplitC, SplitCApplication
from pointsman.runtime.tam.functional.partition import THREADS

ROOT = Path(__file__).resolve().parents[1]
STORES = 4
"""Stores of each node to each other one."""


class Accesses(SplitCApplication):
    async def splitc_main(self, s: SplitC) -> dict[str, int]:
        found: dict[str, int] = {}
        cell = await s.all_spread_allocate(s.PROCS * STORES * s.PROCS, np.int32)
        near, far = s.allocate(256, np.uint8), s.allocate(256, np.uint8)

        async def timed(name: str, access: Awaitable[object]) -> None:
            began = s.time
            await access
            await s.sync()
            found[name] = s.time - began

        for name, other in (("near", 1), ("far", s.PROCS - 1)):
            await s.barrier()
            if s.MYPROC == 0:
                there = s.pointer(other, far.addr, np.uint8)
                await timed(f"read {name}", s.read(cell + other))
                await timed(f"put {name}", s.put(cell + other, 1))
                await timed(f"store {name}", s.store(cell + other, 1))
                await timed(f"bulk read {name}", s.bulk_read(near, there, 256))
        await s.barrier()
        began = s.time
        for k in range(STORES):
            for step in range(1, s.PROCS):
                other = (s.MYPROC + step) % s.PROCS
                await s.store(cell + (other + s.PROCS * (k * s.PROCS + s.MYPROC)), k)
        await s.all_store_sync()
        found["all to all"] = s.time - began
        return found


class Compiled(Application):
    """A shift of ``words`` words, known to the compiler."""

    words = 1

    def program(self, net: cop.Network) -> cop.Parts:
        return cop.cshift("s", 1, m=self.words)

    async def main(self, node: Node) -> int:
        await node.cop.s_load()
        await node.cop.s_func(np.zeros(self.words, np.int32))
        began = node.time
        await node.cop.s_func(np.zeros(self.words, np.int32))
        return node.time - began


class CompiledLong(Compiled):
    words = 64


TARGETS: dict[str, dict[str, Any]] = {
    "numesh": {"engine": "model"},
    "tdm": {"engine": "model"},
    "packet": {"engine": "model"},
}


def accesses(size: tuple[int, ...]) -> dict[str, dict[str, Any]]:
    """By target: cycles of each access, of a store when all store to all, and of shifts of 1 and 64 words."""
    found: dict[str, dict[str, Any]] = {}
    for target, options in TARGETS.items():
        results = pointsman.run(Accesses, mesh(*size), target=target, **options).finished.record.results
        single = {name: cycles for name, cycles in results[0].items() if name != "all to all"}
        stores = max(one["all to all"] for one in results) / (STORES * (len(results) - 1))
        shifts = [
            max(pointsman.run(kind, mesh(*size), target=target, **options).finished.record.results)
            for kind in (Compiled, CompiledLong)
        ]
        found[target] = {**single, "store all to all": round(stores, 1), "shift": shifts[0], "shift of 64": shifts[1]}
    return found


def _subtrees(procs: int) -> list[int]:
    """Sizes of the subtrees of the root of the tree of the collectives (`pointsman.runtime.splitc.collectives`)."""
    return [size for size in (procs // 2, procs - 1 - procs // 2) if size]


def predicted(algorithm: str, n: int, procs: int, bits: int = 8) -> float:
    """LogP's prediction of a sort of n keys a processor with the figures of the CM-5, communication and computing.

    A key that is stored costs its sender and its receiver the larger of o and g each, a packet of a block that is stored the
    same; barriers, scans and all_store_sync go up and down the tree."""
    machine = CALIBRATIONS["cm5"]
    send, receive, latency = max(machine.send, machine.gap), max(machine.receive, machine.gap), machine.latency
    depth = (procs - 1).bit_length()

    def packets(nbytes: int) -> int:
        return -(-nbytes // machine.packet)

    def rise(nbytes: int, procs: int = procs) -> float:
        """Up the tree: a processor receives from its children, one after the other as they have theirs."""
        done = 0.0
        for come in sorted(rise(nbytes, part) + send + latency for part in _subtrees(procs)):
            done = max(done, come) + packets(nbytes) * receive
        return done

    def fall(nbytes: int, procs: int = procs) -> float:
        """Down the tree: a processor sends to one child, then to the other."""
        found = [0.0]
        for place, part in enumerate(_subtrees(procs), 1):
            found.append(place * packets(nbytes) * send + latency + receive + fall(nbytes, part))
        return max(found)

    def sorting(keys: float) -> float:
        return keys * (int(keys) - 1).bit_length()

    others = procs - 1
    agreed = rise(16) + fall(16)
    sync = 2 * (rise(8) + fall(8))
    if algorithm == "column":
        rows = -(-max(n, 2 * others**2, procs) // procs) * procs
        permute = rows * others / procs * (send + receive) + sync
        half = packets(2 * rows) * (send + receive) + latency
        return agreed + 4 * sorting(rows) + 2 * permute + 2 * half
    if algorithm == "sample":
        pieces = packets(-(-4 * n // procs)) * others * (send + receive)
        splitters = 2 * agreed + 32 * others * (send + receive) + sync + sorting(32 * procs)
        places = n * procs.bit_length() + rise(4 * procs) + fall(4 * procs)
        told = packets(4 * procs) * send + latency + receive + rise(4) + fall(4 * procs)
        return 2 * sorting(n) + splitters + places + told + pieces
    if algorithm == "bitonic":
        stages = depth * (depth + 1) / 2
        block = packets(4 * n)
        return n * max(1, n - 1).bit_length() + stages * (block * send + latency + block * receive + n)
    if algorithm == "radix":
        table = 4 * 2**bits
        scan = rise(table) + fall(table)
        broadcast = packets(table) * send + latency + receive + rise(4) + fall(table)
        permute = n * (procs - 1) / procs * (send + receive)
        return -(-31 // bits) * (2 * (n + 2**bits) + scan + broadcast + permute + sync)
    raise ValueError(algorithm)


SORTED = ((8, 500), (16, 1000), (32, 1000), (64, 1000))
"""Processors, and keys of each."""


def sorts() -> list[dict[str, Any]]:
    """Runs of the sorts on the machine with the CM-5's figures, and predictions of them."""
    found = []
    for algorithm in ("bitonic", "column", "radix", "sample"):
        for procs, keys in SORTED:
            arguments = {"algorithm": algorithm, "keys": keys * procs, "bits": 8}
            done = pointsman.run(
                ROOT / "examples/splitc/sort.py", mesh(procs), arguments=arguments, target="logp", logp="cm5"
            )
            run = done.finished.record.total_cycles
            ratio = round(predicted(algorithm, keys, procs) / run, 2)
            found.append(
                {"sort": algorithm, "processors": procs, "keys": keys, "run": run, "predicted_over_run": ratio}
            )
    return found


def radix_phases(keys: int = 1 << 15, procs: int = 8) -> dict[str, Any]:
    """Phases of radix sort with 16-bit digits on the machine with the CM-5's figures, microseconds for each key of a processor.

    And what its stores cost as active messages, each key sent and received once a pass."""
    path = ROOT / "examples/splitc/sort.py"
    kind: Any = load_application(path)
    words = ["--algorithm", "radix", "--keys", str(keys * procs), "--bits", "16"]
    sort = kind(parse_options(kind, path, words), mesh(procs))
    assert pointsman.run(sort, target="logp", logp="cm5").correct
    cycles = sort.phase_cycles()
    machine = CALIBRATIONS["cm5"]
    return {
        "keys": keys,
        "processors": procs,
        "microseconds": {phase: round(one / 10, 3) for phase, one in cycles.items()},
        "messages": round(2 * (procs - 1) / procs * (machine.send + machine.receive) / 10, 3),
    }


BULK, LARGE = 80, 400
"""Bytes of bulk transfers, which Table 6-1 does not say: five packets fit its figures best. A put has its counter allocated where
it goes if it is larger than a few messages; the packets beyond five are taken off its times."""


class MicroBenchmarks(SplitCApplication):
    """Single accesses of processor 0 to processor 1, in tenths of a microsecond: of the call, and until they are complete."""

    async def splitc_main(self, s: SplitC) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        cells = {
            "32-bit": await s.all_spread_allocate(2, np.int32),
            "64-bit": await s.all_spread_allocate(2, np.float64),
        }
        near, far = s.allocate(LARGE, np.uint8), s.allocate(LARGE, np.uint8)
        there = s.pointer(1, far.addr, np.uint8)
        counters = {name: s.store_counter() for name in ("32-bit", "64-bit", "bulk")}
        await s.barrier()
        if s.MYPROC == 1:
            for name, size in (("32-bit", 4), ("64-bit", 8), ("bulk", BULK)):
                await s.store_sync(size, counters[name])
                found[name] = s.time, s.time
            return found

        async def timed(name: str, access: Awaitable[object]) -> None:
            began = s.time
            await access
            called = s.time - began
            await s.sync()
            found[name] = called, s.time - began
            await s.compute(1000)

        for size, cell in cells.items():
            await timed(f"read {size}", s.read(cell + 1))
            await timed(f"write {size}", s.write(cell + 1, 1))
            await timed(f"get {size}", s.get(cell + 1, s.pointer(0, near.addr, cell.dtype)))
            await timed(f"put {size}", s.put(cell + 1, 2))
        await timed("read bulk", s.bulk_read(near, there, BULK))
        await timed("get bulk", s.bulk_get(near, there, BULK))
        await timed("put bulk", s.bulk_put(there, near, LARGE))
        await timed("write bulk", s.bulk_write(there, near, LARGE))
        for size, cell in cells.items():
            began = s.time
            await s.store(cell + 1, 3, counters[size])
            found[f"store {size}"] = s.time - began, began
            await s.compute(1000)
        began = s.time
        await s.bulk_store(there, near, BULK, counters["bulk"])
        found["store bulk"] = s.time - began, began
        return found


def micro_benchmarks() -> dict[str, dict[str, float]]:
    """Overhead and latency of each access of Table 6-1, in microseconds.

    What a split-phase access costs its processor is the call, and to receive the reply. "store bulk, counter": a bulk store that
    has a counter allocated where it goes first, as a put: a put without its acknowledgement."""
    machine = CALIBRATIONS["cm5"]
    made = MicroBenchmarks(argparse.Namespace(), mesh(2))
    found, arrived = pointsman.run(made, target="logp", logp="cm5").finished.record.results
    more = (LARGE - BULK) // machine.packet * max(machine.send, machine.gap)
    times: dict[str, tuple[float, float]] = {}
    for name, (called, complete) in found.items():
        what, size = name.split()
        if what == "store":
            times[name] = called, arrived[size][0] - complete
        elif name in ("put bulk", "write bulk"):
            times[name] = called - more + machine.receive * (what == "put"), complete - more
        else:
            replies = -(-BULK // machine.packet) if size == "bulk" else 1
            times[name] = called + machine.receive * replies * (what in ("get", "put")), complete
    acknowledged = machine.send + machine.latency + machine.receive
    call, complete = times["put bulk"]
    times["store bulk, counter"] = call - machine.receive, complete - acknowledged
    return {
        name: {"overhead": round(call / 10, 2), "latency": round(complete / 10, 2)}
        for name, (call, complete) in times.items()
    }


class Scanning(SplitCApplication):
    """The scan of a pass of radix sort with digits of 16 bits: the keys before each digit's, and the totals, everywhere."""

    memory_bytes = 1 << 22

    async def splitc_main(self, s: SplitC) -> int:
        count = np.ones(1 << 16, np.int32)
        await s.barrier()
        began = s.time
        upto = await s.scan(count)
        total = await s.broadcast(upto, s.PROCS - 1)
        await s.barrier()
        assert (upto == s.MYPROC + 1).all()
        assert (total == s.PROCS).all()
        return s.time - began


def scanning(procs: int = 512, keys: int = 1 << 20, passes: int = 2) -> float:
    """Microseconds of scanning for each of ``keys`` keys of a processor, all passes."""
    made = Scanning(argparse.Namespace(), mesh(procs))
    cycles = max(pointsman.run(made, target="logp", logp="cm5").finished.record.results)
    return round(passes * cycles / 10 / keys, 3)


def threads() -> dict[str, dict[str, Any]]:
    """Events of the TAM programs on 8 processors, with cycles of the CM-5."""
    programs = {"fib": [12], "matmul": [6], "quicksort": [40, 1], "radicals": [12]}
    return {
        name: run_tam(ROOT / f"examples/tam/{name}.tam", arguments, 8).values for name, arguments in programs.items()
    }


FUNCTIONAL: dict[str, list[int]] = {
    "quicksort": [20, 1],
    "gamteb": [20, 1],
    "paraffins": [12],
    "simple": [4, 2],
    "speech": [5, 6],
    "matmul": [2],
}


def functional() -> dict[str, dict[str, Any]]:
    """Functional programs on 8 processors, compiled with a thread for each operation and with large ones."""
    return {
        name: {
            threads: run_tam(ROOT / f"examples/tam/{name}.fun", arguments, 8, threads=threads).values
            for threads in THREADS
        }
        for name, arguments in FUNCTIONAL.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mesh", default="4x4")
    parser.add_argument("--sorts", action="store_true", help="only the sorts")
    parser.add_argument("--functional", action="store_true", help="only the functional programs")
    parser.add_argument("--tables", action="store_true", help="only Tables 6-1 and 6-2")
    given = parser.parse_args()
    found: dict[str, Any] = {}
    every = not (given.sorts or given.functional or given.tables)
    if every:
        found = {"mesh": given.mesh, "accesses": accesses(parse_size(given.mesh)), "tam": threads()}
    if every or given.tables:
        found |= {"radix": radix_phases(), "micro": micro_benchmarks(), "scanning": scanning()}
    if every or given.sorts:
        found["sorts"] = sorts()
    if every or given.functional:
        found["functional"] = functional()
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    sys.exit(main())
