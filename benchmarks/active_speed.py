"""How quickly active messages are simulated: messages a second on the abstract machine, and what applications leave of the
raw speed of the engines that are compiled from the RTL.

    python benchmarks/active_speed.py [--mesh 4x4] [--targets numesh,tdm,packet] [--turns 5] [--cycles 300000]

"logp": millions of messages a second of one core, of bulk transfers, of a store for each word (a kernel), and of requests with a
Python handler each. "rtl": the same network is run with processors that only wait ("raw"), and with Split-C programs that
compute so many cycles, then read a word of another processor, again and again. The two take turns in one run; "over raw" is
the median over neighbours. Times are processor time of all that happens between two barriers, the reads and the stores'
end included."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from time import process_time
from typing import Any

import numpy as np

import pointsman
from pointsman.network import mesh, parse_size
from pointsman.runtime.splitc import GlobalPointer, SplitC, SplitCApplication, SpreadPointer

MARKS = {"bulk": 1.0, "kernel": 1.0, "handler": 0.05, "over raw": 0.5}
"""Millions of messages a second, and the share of the raw speed that applications keep while they compute."""
BETWEEN = (100, 1_000, 10_000, 100_000)
"""Cycles that a processor computes before each read."""


class Timed(SplitCApplication):
    """Does its work between two barriers, of which processor 0 notes the processor time and the cycles; ``steps``: one piece of
    work after the other, each with the cycles between its reads."""

    memory_bytes = 1 << 22
    steps: Sequence[tuple[str, int]] = ()
    amount = 0
    """Of each step: cycles for each processor, or messages of each processor."""

    async def splitc_main(self, s: SplitC) -> list[tuple[float, int]]:
        words = await s.all_spread_allocate(s.PROCS * 4096, np.int32)
        near = s.allocate(4096, np.int32)
        found = []
        for work, between in self.steps:
            await s.barrier()
            began, cycle = process_time(), s.time
            await self.do(s, work, between, words, near)
            await s.all_store_sync()
            found.append((process_time() - began, s.time - cycle))
        return found

    async def do(self, s: SplitC, work: str, between: int, words: SpreadPointer, near: GlobalPointer) -> None:
        other = (s.MYPROC + 1) % s.PROCS
        if work == "wait":
            await s.compute(self.amount)
        elif work == "compute":
            for k in range(max(1, self.amount // between)):
                await s.compute(between)
                await s.read(words + (other + s.PROCS * (k % 4096)))
        elif work == "bulk":
            there = s.pointer(other, words.addr, np.int32)
            for _ in range(self.amount // 256):
                await s.bulk_store(there, near, 4096)  # 256 messages of 64 bytes
        elif work == "kernel":
            place = np.random.default_rng(s.MYPROC).permutation(4096 * s.PROCS)[:4096]
            for _ in range(self.amount // 4096):
                await s.store_many(words, place, place.astype(np.int32))
        else:
            for k in range(self.amount):
                await s.store(words + (other + s.PROCS * (k % 4096)), k)


def _timed(
    size: tuple[int, ...], steps: Sequence[tuple[str, int]], amount: int, **options: Any
) -> list[tuple[float, int]]:
    """Processor seconds and cycles of each step of a run."""
    application = Timed(argparse.Namespace(), mesh(*size))
    application.steps, application.amount = steps, amount
    found: list[tuple[float, int]] = pointsman.run(application, mesh(*size), **options).finished.record.results[0]
    return found


def on_logp(nodes: int = 16, amount: int = 1 << 16) -> dict[str, float]:
    """Millions of messages a second of processor time; a store is counted as one message."""
    found = {}
    for work, each in (("bulk", amount), ("kernel", amount), ("handler", amount >> 4)):
        [(seconds, _)] = _timed((nodes,), [(work, 0)], each, target="logp", logp="cm5")
        found[work] = round(nodes * each / seconds / 1e6, 3)
    return found


def on_rtl(target: str, size: tuple[int, ...], cycles: int, turns: int, engine: str = "verilated") -> dict[str, Any]:
    """Millions of node-cycles a second of processor time of the raw engine, and the shares of it that programs leave."""
    steps = [step for _ in range(turns) for between in BETWEEN for step in (("wait", 0), ("compute", between))]
    nodes = mesh(*size).nodes
    speeds = [
        nodes * passed / seconds / 1e6 for seconds, passed in _timed(size, steps, cycles, target=target, engine=engine)
    ]
    raw = speeds[::2]
    over: dict[int, list[float]] = {between: [] for between in BETWEEN}
    for (_, between), speed, before in zip(steps[1::2], speeds[1::2], raw, strict=True):
        over[between].append(speed / before)
    return {
        "raw": round(statistics.median(raw), 2),
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
