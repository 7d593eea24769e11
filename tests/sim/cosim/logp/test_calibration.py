"""The machine with the figures of the CM-5 beside Table 6-1 of von Eicken 1993: an access costs the sum of its messages."""

from __future__ import annotations

import argparse
import csv
from collections.abc import Awaitable
from pathlib import Path

import numpy as np
import pytest

from cosim.logp.parameters import CALIBRATIONS
from cosim.logp.session import run_logp_application
from pointsman.network import mesh
from pointsman.runtime.splitc import SplitC, SplitCApplication

TABLE = Path(__file__).parents[4] / "benchmarks/claims/von_eicken1993_table_6_1.csv"
BULK = 80
"""Bytes of a bulk transfer, which the table does not say; five packets fit its figures best."""
LARGE = 400
"""Bytes of a bulk put that has a counter allocated where it goes."""
MACHINE = CALIBRATIONS["cm5"]


class Accesses(SplitCApplication):
    """Times of single accesses of processor 0 to processor 1, in tenths of a microsecond: of the call, and until sync."""

    async def splitc_main(self, s: SplitC) -> dict[str, tuple[int, int]]:
        found: dict[str, tuple[int, int]] = {}
        cell = await s.all_spread_allocate(2, np.float64)
        near, far = s.allocate(BULK, np.uint8), s.allocate(BULK, np.uint8)
        there = s.pointer(1, far.addr, np.uint8)
        stored = s.store_counter()
        await s.barrier()
        if s.MYPROC == 1:
            await s.store_sync(8, stored)
            return {"arrived": (s.time, s.time)}

        async def timed(name: str, access: Awaitable[object]) -> None:
            began = s.time
            await access
            called = s.time - began
            await s.sync()
            found[name] = called, s.time - began
            await s.compute(1000)

        await timed("read 64-bit", s.read(cell + 1))
        await timed("write 64-bit", s.write(cell + 1, 1.0))
        await timed("get 64-bit", s.get(cell + 1, s.pointer(0, near.addr, np.float64)))
        await timed("put 64-bit", s.put(cell + 1, 2.0))
        await timed("read bulk", s.bulk_read(near, there, BULK))
        await timed("get bulk", s.bulk_get(near, there, BULK))
        large_near, large_far = s.allocate(LARGE, np.uint8), s.allocate(LARGE, np.uint8)
        await timed("put bulk", s.bulk_put(s.pointer(1, large_far.addr, np.uint8), large_near, LARGE))
        await timed("write bulk", s.bulk_write(s.pointer(1, large_far.addr, np.uint8), large_near, LARGE))
        began = s.time
        await s.store(cell + 1, 3.0, stored)
        found["store 64-bit"] = s.time - began, began
        return found


@pytest.fixture(scope="module")
def measured() -> dict[str, tuple[int, int]]:
    done = run_logp_application(Accesses(argparse.Namespace(), mesh(2)), mesh(2), MACHINE)
    found, arrived = done.record.results
    called, began = found["store 64-bit"]
    return {**found, "store 64-bit": (called, arrived["arrived"][0] - began)}


def _printed() -> dict[str, dict[str, str]]:
    lines = [line for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    return {f"{row['operation']} {row['transfer_size']}": row for row in csv.DictReader(lines)}


@pytest.mark.parametrize("access", ["read 64-bit", "write 64-bit", "get 64-bit", "put 64-bit", "store 64-bit"])
def test_latencies_and_overheads_of_single_accesses_are_those_of_the_table(
    measured: dict[str, tuple[int, int]], access: str
) -> None:
    row = _printed()[access]
    called, complete = measured[access]
    assert complete == 10 * float(row["latency_us_am"])
    # What a split-phase access costs its processor: the request, and later its reply.
    own = {"get 64-bit": MACHINE.send + MACHINE.receive, "put 64-bit": MACHINE.send + MACHINE.receive}.get(
        access, called
    )
    assert own == 10 * float(row["overhead_us_am"])
    assert called in (own, MACHINE.send)


@pytest.mark.parametrize("access", ["read bulk", "get bulk"])
def test_bulk_gets_are_within_a_twentieth_of_the_table(measured: dict[str, tuple[int, int]], access: str) -> None:
    printed = 10 * float(_printed()[access]["latency_us_am"])
    assert abs(measured[access][1] - printed) < printed / 20


@pytest.mark.parametrize("access", ["put bulk", "write bulk"])
def test_bulk_puts_are_within_a_twentieth_of_the_table(measured: dict[str, tuple[int, int]], access: str) -> None:
    """A round trip for a counter, the packets, an acknowledgement; a longer transfer has more packets, one each step."""
    more = (LARGE - BULK) // MACHINE.packet * max(MACHINE.send, MACHINE.gap)
    called, complete = (cycles - more for cycles in measured[access])
    row = _printed()[access]
    assert complete == pytest.approx(10 * float(row["latency_us_am"]), rel=0.05)
    own = called + (MACHINE.receive if access == "put bulk" else 0)  # of the acknowledgement
    assert own == pytest.approx(10 * float(row["overhead_us_am"]), rel=0.05)


def test_bandwidths_are_those_of_the_table() -> None:
    """Bytes a microsecond: one message after the other, as fast as the processor that sends, or asks, can."""
    rows = _printed()
    for access, cycles in (("store 64-bit", MACHINE.send), ("get 64-bit", MACHINE.send + MACHINE.receive)):
        assert abs(80 / max(cycles, MACHINE.gap) - float(rows[access]["bandwidth_am"])) < 0.05
    assert 10 * MACHINE.packet / MACHINE.gap == float(rows["store bulk"]["bandwidth_am"])
