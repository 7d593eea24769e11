"""Split-C on the hardware, on cycle models: the same answers as on the abstract machine, with buffers of the smallest size."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pytest

import pointsman
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.network.faults import with_faults
from pointsman.runtime.active.links import AloneLink, link_of
from pointsman.runtime.splitc import SplitC, SplitCApplication


class Mixed(SplitCApplication):
    """Some of everything, all nodes at once; each round with its own values."""

    window = 1

    async def splitc_main(self, s: SplitC) -> Any:
        me, procs = s.MYPROC, s.PROCS
        base = await s.all_spread_allocate(4 * procs, np.int32)
        for k in range(3):
            for other in range(procs):
                await s.store(base + k * procs + other, 100 * k + other) if other % procs == (me + k) % procs else None
        await s.all_store_sync()
        total = int(await s.fetch_add(base + 3 * procs, me + 1))
        await s.barrier()
        sum_here = int(await s.read(base + 3 * procs))
        own, there = s.allocate(40, np.int64), s.allocate(40, np.int64)
        s.local(own, 40)[:] = np.arange(40) * (me + 1)
        await s.barrier()
        await s.bulk_read(there, s.pointer((me + 1) % procs, own.addr, np.int64), 40)
        await s.barrier()
        await s.bulk_write(s.pointer((me + 1) % procs, own.addr, np.int64), there, 40)
        await s.barrier()
        scanned = int((await s.scan(np.array([me + 1])))[0])
        values = [int(await s.read(base + k * procs + (me + 1) % procs)) for k in range(3)]
        return total >= 0, sum_here, scanned, values, s.local(own, 40).tolist(), s.local(there, 40).tolist()


EXPECTED = [
    (
        True,
        10,
        (me + 1) * (me + 2) // 2,
        [100 * k + (me + 1) % 4 for k in range(3)],
        [v * (me + 1) for v in range(40)],
        [v * ((me + 1) % 4 + 1) for v in range(40)],
    )
    for me in range(4)
]


@pytest.mark.parametrize("target", ["logp", "packet", "tdm", pytest.param("numesh", marks=pytest.mark.slow)])
def test_the_same_program_has_the_same_answer_on_every_target(target: str) -> None:
    options: dict[str, Any] = {} if target == "logp" else {"engine": "model"}
    done = pointsman.run(Mixed, mesh(2, 2), target=target, **options)
    record = done.finished.record
    assert record.results == EXPECTED


class Flood(SplitCApplication):
    """Every node asks every other one, again and again, and waits at the end only."""

    window = 1
    rounds = 20

    async def splitc_main(self, s: SplitC) -> tuple[list[int], int, int]:
        count, last = s.allocate(s.PROCS, np.int64), s.allocate(1, np.int64)
        await s.barrier()
        for k in range(self.rounds):
            for step in range(1, s.PROCS):
                other = (s.MYPROC + step) % s.PROCS
                there = s.pointer(other, count.addr + 8 * s.MYPROC, np.int64)
                await s.put(there, k + 1)
                await s.get(there, last)
        await s.sync()
        await s.barrier()
        return s.local(count, s.PROCS).tolist(), s.endpoint.handled[0], s.endpoint.handled[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "size"), [("packet", (4, 4)), ("tdm", (4, 4)), ("numesh", (3, 3)), ("logp", (8, 8))]
)
def test_a_network_full_of_requests_with_the_smallest_buffers_comes_to_its_end(
    target: str, size: tuple[int, ...]
) -> None:
    options: dict[str, Any] = {"logp": "example,capacity=1"} if target == "logp" else {"engine": "model"}
    results = pointsman.run(Flood, mesh(*size), target=target, **options).finished.record.results
    nodes = len(results)
    for me, (counts, requests, replies) in enumerate(results):
        assert counts == [0 if other == me else Flood.rounds for other in range(nodes)]
        assert replies == 2 * Flood.rounds * (nodes - 1)
        assert requests >= replies


@pytest.mark.slow
@pytest.mark.parametrize("target", ["packet", "tdm", "numesh"])
def test_the_compiled_rtl_gives_the_cycles_of_the_model(target: str) -> None:
    model = pointsman.run(Mixed, mesh(2, 2), target=target, engine="model").finished.record
    rtl = pointsman.run(Mixed, mesh(2, 2), target=target, engine="verilated").finished.record
    assert rtl.results == EXPECTED
    assert not rtl.differences(model)


@pytest.mark.parametrize("target", ["packet", "tdm", "logp"])
def test_a_network_of_one_node_needs_no_messages(target: str) -> None:
    class Alone(SplitCApplication):
        async def splitc_main(self, s: SplitC) -> Any:
            cell = await s.all_spread_allocate(3, np.int32)
            await s.write(cell + 1, 7)
            await s.all_store_sync()
            return int(await s.read(cell + 1)), int((await s.reduce(5))[0])

    options: dict[str, Any] = {} if target == "logp" else {"engine": "model"}
    assert pointsman.run(Alone, mesh(1, 1), target=target, **options).finished.record.results == [(7, 5)]


def test_the_only_node_is_nobody_to_send_to_and_other_substrates_carry_nothing() -> None:
    link = link_of(None, 1)
    assert isinstance(link, AloneLink)
    with pytest.raises(PointsmanError, match="there is no node 1"):
        link.send(1, np.zeros(1, np.uint32)).send(None)
    with pytest.raises(PointsmanError, match="Namespace carries no active messages"):
        link_of(argparse.Namespace(), 2)


class Busy(SplitCApplication):
    """Processor 3 computes; processor 0 reads there, adds there, and stores more than there is room for."""

    window = 2

    async def splitc_main(self, s: SplitC) -> Any:
        cell = await s.all_spread_allocate(4 * s.PROCS, np.int32)
        mine = s.local((cell + s.MYPROC).here, 4)
        mine[0] = 10 * s.MYPROC
        await s.barrier()
        began, found = s.time, ()
        if s.MYPROC == 3:
            await s.compute(5000)
            await s.store_sync(4 * 9)  # which the handler has counted, or counts while this waits
        elif s.MYPROC == 0:
            found = int(await s.read(cell + 3)), int(await s.fetch_add(cell + 3, 1)), s.time - began
            for k in range(9):
                await s.store(cell + (3 + s.PROCS * (1 + k % 3)), k)
        await s.barrier()
        return found, mine.tolist()


class BusyInterrupted(Busy):
    interrupts = True


def test_an_interrupt_handler_reads_and_adds_for_others_while_its_processor_computes() -> None:
    found = {}
    for kind in (Busy, BusyInterrupted):
        results = pointsman.run(kind, mesh(2, 2), target="numesh", engine="model").finished.record.results
        (read, added, found[kind]), _ = results[0]
        assert (read, added) == (30, 30)
        assert results[3][1] == [31, 6, 7, 8]
    assert found[BusyInterrupted] < 300 < 5000 < found[Busy]


class MixedInterrupted(Mixed):
    interrupts = True


@pytest.mark.slow
def test_the_same_program_has_the_same_answer_with_interrupts() -> None:
    assert pointsman.run(MixedInterrupted, mesh(2, 2), engine="model").finished.record.results == EXPECTED


@pytest.mark.parametrize("target", ["packet", "tdm", "logp"])
def test_nothing_interrupts_a_processor_on_other_targets(target: str) -> None:
    options: dict[str, Any] = {} if target == "logp" else {"engine": "model"}
    with pytest.raises(PointsmanError, match="that interrupt need a processor with an interrupt handler"):
        pointsman.run(BusyInterrupted, mesh(2, 2), target=target, **options)


@pytest.mark.parametrize("target", ["packet", "tdm", "numesh"])
def test_nodes_that_do_not_work_are_no_processors(target: str) -> None:
    network = with_faults(mesh(3, 3), nodes=[4], links=[] if target == "tdm" else [(0, 1)])

    class Sums(SplitCApplication):
        interrupts = target == "numesh"

        async def splitc_main(self, s: SplitC) -> Any:
            base = await s.all_spread_allocate(s.PROCS, np.int32)
            for other in range(s.PROCS):
                await s.fetch_add(base + other, 10**s.MYPROC)
            await s.barrier()
            return s.MYPROC, s.PROCS, int(await s.read(base + s.MYPROC)), (await s.scan(s.MYPROC)).tolist()

    results = pointsman.run(Sums, network, target=target, engine="model").finished.record.results
    found = [one for node, one in enumerate(results) if node != 4]
    assert found == [(me, 8, 11111111, [me * (me + 1) // 2]) for me in range(8)]


def test_a_logp_machine_has_no_faults() -> None:
    with pytest.raises(PointsmanError, match="no network whose nodes and links could be faulty"):
        pointsman.run(Mixed, with_faults(mesh(2, 2), nodes=[1]), target="logp")
