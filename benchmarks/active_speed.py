"""How quickly active messages are simulated: messages a second on the abstract machine, and what applications leave of the
raw speed of the engines that are compiled from the RTL.

    python benchmarks/active_speed.py [--mesh 4x4] [--targets numesh,tdm,packet] [--turns 5] [--cycles 200000]

"logp": millions of messages a second of one core, of bulk transfers, of a store for each word (a kernel), and of requests with a
Python handler each. "rtl": the same network is run with processors that only wait ("raw"), and with Split-C programs that
compute so many cycles, then read a word of another processor, again and again. The two take turns; "over raw" is the
median over neighbouring runs. Times are processor time of all that happens between two barriers."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from time import process_time
from typing import Any

import numpy as np

import pointsman
from pointsman.network import mesh, parse_size
from pointsman.runtime.splitc import SplitC, SplitCApplication

MARKS = {"bulk": 1.0, "kernel": 1.0, "handler": 0.05, "over raw": 0.5}
"""Millions of messages a second, and the share of the raw speed that applications keep while they compute."""
BETWEEN = (100, 1_000, 10_000, 100_000)
"""Cycles that a processor computes before each read."""


class Timed(SplitCApplication):
    """Does its work between two barriers, of which processor 0 notes the processor time and the cycles."""

    memory_bytes = 1 << 22
    work = ""
    amount = 0
    """Cycles for each processor, or messages of each processor."""
    between = 0

    async def splitc_main(self, s: SplitC) -> tuple[float, int]:
        words = await s.all_spread_allocate(s.PROCS * 4096, np.int32)
        near = s.allocate(4096, np.int32)
        other = (s.MYPROC + 1) % s.PROCS
        await s.barrier()
        began, cycle = process_time(), s.time
        if self.work == "wait":
            await s.compute(self.amount)
        elif self.work == "compute":
            for k in range(max(1, self.amount // self.between)):
                await s.compute(self.between)
                await s.read(words + (other + s.PROCS * (k % 4096)))
        elif self.work == "bulk":
            there = s.pointer(other, words.addr, np.int32)
            for _ in range(self.amount // 256):
                await s.bulk_store(there, near, 4096)  # 256 messages of 64 bytes
        elif self.work == "kernel":
            place = np.random.default_rng(s.MYPROC).permutation(4096 * s.PROCS)[:4096]
            for _ in range(self.amount // 4096):
                await s.store_many(words, place, place.astype(np.int32))
        else:
            for k in range(self.amount):
                await s.store(words + (other + s.PROCS * (k % 4096)), k)
        await s.all_store_sync()
        return process_time() - began, s.time - cycle


def _timed(size: tuple[int, ...], work: str, amount: int, between: int = 0, **options: Any) -> tuple[float, int]:
    """Processor seconds and cycles of a run."""
    application = Timed(argparse.Namespace(), mesh(*size))
    application.work, application.amount, application.between = work, amount, between
    found: tuple[float, int] = pointsman.run(application, mesh(*size), **options).finished.record.results[0]
    return found


def on_logp(nodes: int = 16, amount: int = 1 << 16) -> dict[str, float]:
    """Millions of messages a second of processor time; a store is counted as one message."""
    found = {}
    for work, each in (("bulk", amount), ("kernel", amount), ("handler", amount >> 4)):
        seconds, _ = _timed((nodes,), work, each, target="logp", logp="cm5")
        found[work] = round(nodes * each / seconds / 1e6, 3)
    return found


def on_rtl(target: str, size: tuple[int, ...], cycles: int, turns: int) -> dict[str, Any]:
    """Millions of node-cycles a second of processor time of the raw engine, and the shares of it that programs leave."""
    options: dict[str, Any] = {"target": target, "engine": "verilated"}
    nodes = mesh(*size).nodes

    def speed(work: str, between: int = 0) -> float:
        seconds, passed = _timed(size, work, cycles, between, **options)
        return nodes * passed / seconds / 1e6

    speed("wait")  # builds the engine
    raw = []
    over: dict[int, list[float]] = {between: [] for between in BETWEEN}
    for _ in range(turns):
        for between, ratios in over.items():
            raw.append(speed("wait"))
            ratios.append(speed("compute", between) / raw[-1])
    return {
        "raw": round(max(raw), 2),
        "over raw": {str(between): round(statistics.median(ratios), 3) for between, ratios in over.items()},
        "least and most": {
            str(between): [round(min(ratios), 3), round(max(ratios), 3)] for between, ratios in over.items()
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--mesh", default="4x4")
    parser.add_argument("--targets", default="numesh,tdm,packet")
    parser.add_argument("--turns", type=int, default=5, help="runs of each program")
    parser.add_argument("--cycles", type=int, default=300_000, help="cycles of each run, about")
    given = parser.parse_args()
    targets = [target for target in given.targets.split(",") if target]
    found: dict[str, Any] = {"mesh": given.mesh, "marks": MARKS, "logp": on_logp()}
    found["rtl"] = {target: on_rtl(target, parse_size(given.mesh), given.cycles, given.turns) for target in targets}
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    sys.exit(main())
