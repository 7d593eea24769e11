"""Split-C by its definition: what a program ends with is among what the definition permits, whatever the network does."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import pointsman
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime.splitc import AccessError, SplitC, SplitCApplication
from pointsman.runtime.splitc.accessors import Counter

from .programs import ended, random_main, results, run
from .semantics import outcomes, random_programs

MACHINES = ("example", "cm5", "example,delay=80,in_order=false", "example,delay=80,capacity=1,in_order=false,latency=1")


def _tried(seeds: range) -> int:
    """Runs random programs on each machine; gives how many had several permitted ends."""
    open_ends = 0
    for seed in seeds:
        rng = random.Random(seed)
        procs, cells, registers = rng.choice((2, 2, 3)), rng.randint(1, 3), 2
        programs = random_programs(rng, procs, cells, registers)
        if sum(map(len, programs)) > 9:
            continue  # too many orders to try
        permitted = outcomes(programs, cells, registers)
        open_ends += len(permitted) > 1
        machine = f"{rng.choice(MACHINES)},seed={seed}"
        found = ended(results(random_main(programs, cells, registers), procs, machine))
        assert found in permitted, (seed, machine, programs, found, permitted)
    return open_ends


def test_random_programs_end_as_the_definition_permits() -> None:
    assert _tried(range(200)) > 60


@pytest.mark.slow
def test_many_random_programs_end_as_the_definition_permits() -> None:
    _tried(range(1000, 10_000))


WAITING = [
    [("put", 1, 5), ("sync",), ("read", 1, 0), ("store", 1, 7), ("all_store_sync",), ("read", 1, 1)],
    [("all_store_sync",)],
]
"""Programs that have one end."""


def _ends_of_waiting() -> set[Any]:
    machines = [f"example,delay=2000,in_order=false,seed={seed}" for seed in range(8)]
    return {ended(results(random_main(WAITING, 2, 2), 2, machine)) for machine in machines}


def test_whoever_waits_sees_what_was_waited_for() -> None:
    assert _ends_of_waiting() == outcomes(WAITING, 2, 2) == {((0, 7), (5, 7, 0, 0))}


def test_a_sync_that_does_not_wait_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def sync(self: SplitC, counter: Counter | None = None) -> None:
        if counter is not None:
            await self.endpoint.until(lambda: not counter.outstanding)

    monkeypatch.setattr(SplitC, "sync", sync)
    assert not _ends_of_waiting() <= outcomes(WAITING, 2, 2)


def test_an_all_store_sync_that_is_a_barrier_only_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async def done(self: SplitC, counters: Any) -> None:
        await self.collectives.barrier()

    monkeypatch.setattr(SplitC, "_all_done", done)
    assert not _ends_of_waiting() <= outcomes(WAITING, 2, 2)


def test_stores_that_are_held_back_are_waited_for() -> None:
    async def main(s: SplitC) -> Any:
        base = await s.all_spread_allocate(40 * s.PROCS, np.int64)
        for k in range(40 * s.PROCS):
            if k % 3 == s.MYPROC % 3:
                await s.store(base + k, k + 1)
        await s.all_store_sync()
        return s.memory.view(base.addr, 40, np.int64).tolist()

    for seed in range(3):
        found = results(main, 4, f"example,delay=5000,in_order=false,seed={seed}")
        expected = [
            [k + 1 if any(k % 3 == p % 3 for p in range(4)) else 0 for k in range(one, 160, 4)] for one in range(4)
        ]
        assert found == expected


def test_store_sync_and_all_store_sync_of_the_same_counter_add_up() -> None:
    async def main(s: SplitC) -> Any:
        cell = await s.all_spread_allocate(2 * s.PROCS, np.int32)
        mine = cell + s.MYPROC
        await s.store(cell + (s.MYPROC + 1) % s.PROCS, s.MYPROC)
        await s.store_sync(4)
        first = int(s.local(mine.here)[0])
        await s.barrier()
        await s.store(cell + s.PROCS + (s.MYPROC + 2) % s.PROCS, 10 + s.MYPROC)
        await s.all_store_sync()
        return first, int(await s.read(mine + s.PROCS))

    assert results(main, 5) == [((p - 1) % 5, 10 + (p - 2) % 5) for p in range(5)]


def test_counters_are_waited_for_one_by_one() -> None:
    async def main(s: SplitC) -> Any:
        cell = await s.all_spread_allocate(s.PROCS, np.float64)
        near, far = s.counter(), s.counter()
        await s.put(cell + 1, 1.5, near)
        for _ in range(5):
            await s.put(cell + 2, 2.5, far)
        await s.sync(near)
        left = far.outstanding
        await s.sync(far)
        return left, far.outstanding

    found = results(main, 3)
    assert found[0][0] > 0
    assert all(after == 0 for _, after in found)


@pytest.mark.parametrize("kind", ["i1", "u1", "i2", "u2", "i4", "u4", "f4", "i8", "u8", "f8", "i4,f8", "S64"])
def test_values_of_every_type_are_read_as_they_were_written(kind: str) -> None:
    dtype = np.dtype(kind)
    given = np.frombuffer(bytes(range(1, dtype.itemsize + 1)), dtype)[0]

    async def main(s: SplitC) -> Any:
        cell = await s.all_spread_allocate(s.PROCS, dtype)
        other = cell + (s.MYPROC + 1) % s.PROCS
        await s.write(other, given)
        await s.barrier()
        return np.asarray(await s.read(cell + (s.MYPROC + 2) % s.PROCS)).tobytes()

    assert results(main, 3) == [np.asarray(given).tobytes()] * 3


def test_a_wrong_access_names_processor_address_and_owner() -> None:
    def attempt(body: Any, kind: type[Exception], text: str, **attributes: Any) -> None:
        async def main(s: SplitC) -> None:
            if s.MYPROC == 1:
                await body(s)

        with pytest.raises(kind, match=text):
            run(main, 2, **attributes)

    attempt(lambda s: s.read(s.pointer(0, 0, "i4")), AccessError, "processor 1 reads processor 0, the null pointer")
    attempt(
        lambda s: s.read(s.pointer(0, 16, "i4")),
        AccessError,
        r"processor 1 reads processor 0, address 0x10 \(4 bytes\)",
    )
    attempt(
        lambda s: s.put(s.pointer(0, 5002, "i4"), 1),
        AccessError,
        "puts to processor 0, address 0x138a, which is not aligned",
    )
    attempt(lambda s: s.store(s.pointer(7, 8192, "i4"), 1), PointsmanError, "processor 1 stores to processor 7, of 2")
    attempt(lambda s: s.write(s.pointer(0, 8192, "i4"), 1 << 40), PointsmanError, f"{1 << 40} is no int32")
    attempt(
        lambda s: s.get(s.pointer(0, 8192, "i4"), s.pointer(0, 8192, "i4")),
        PointsmanError,
        "gets a value into the memory of processor 0",
    )
    attempt(
        lambda s: s.get(s.pointer(0, 8192, "f8"), s.allocate(1, "i1")),
        PointsmanError,
        "processor 1 gets an object of 8 bytes into one of 1",
    )
    attempt(
        lambda s: s.write(s.pointer(0, s.memory.stack_start, "i4"), 1),
        AccessError,
        "puts to processor 0, address 0xfc000 .* outside 0x1000 to 0xfc000",
    )
    attempt(lambda s: s.read(8192), PointsmanError, "processor 1 reads 8192, which is no pointer")
    attempt(lambda s: s.read(s.pointer(0, 8192.5, "i4")), PointsmanError, r"not 0 and 8192\.5")
    attempt(lambda s: s.read(s.pointer(0, 8192, "S0")), PointsmanError, "a fixed number of bytes")
    attempt(lambda s: s.read(s.pointer(0, 8192, object)), PointsmanError, "a fixed number of bytes, not object")
    attempt(lambda s: s.read(s.pointer(0, 8192, "S65")), PointsmanError, "an object of 65 bytes is none for a message")


def test_many_stores_are_checked_as_one_is() -> None:
    def attempt(base: Any, places: Any, values: Any, text: str) -> None:
        async def main(s: SplitC) -> None:
            if s.MYPROC == 1:
                await s.store_many(base(s), places, np.array(values))

        with pytest.raises(PointsmanError, match=text):
            run(main, 2)

    def ints(s: SplitC) -> Any:
        return s.pointer(0, 8192, "i4")

    attempt(ints, [0, 1], [1.5, 2], r"^1\.5 is no int32")
    attempt(ints, [0, 1], [1, 1 << 40], f"^{1 << 40} is no int32")
    attempt(ints, [0, 1], [np.nan, 1], "^nan is no int32")
    attempt(ints, [0, 1], [[1], [2]], "2 places to store to and 2 values")
    attempt(ints, [0.5], [1], "places are whole numbers, not float64")
    attempt(ints, [0, 1 << 62], [1, 2], "processor 1 stores to processor 0, address 0x10000000000002000 .* outside")
    attempt(ints, [-2000], [1], "processor 1 stores to processor 0, address 0xc0 .* outside")
    attempt(lambda s: s.pointer(9, 8192, "i4"), [0], [1], "processor 1 stores to processor 9, of 2")


def test_a_counter_is_one_of_its_kind_and_waits_are_of_sizes() -> None:
    def attempt(body: Any, text: str) -> None:
        with pytest.raises(PointsmanError, match=text):
            run(body, 2)

    attempt(lambda s: s.put(s.pointer(0, 8192, "i4"), 1, s.store_counter()), "for gets and puts, not a StoreCounter")
    attempt(lambda s: s.store(s.pointer(0, 8192, "i4"), 1, s.counter()), "for stores, not a Counter")
    attempt(lambda s: s.store_sync(-1), "store_sync waits for 0 bytes or more, not -1")


def test_stores_at_a_counter_that_their_receiver_has_not_named_come_to_an_end() -> None:
    async def main(s: SplitC) -> int:
        cell = s.allocate(1, np.int32)
        if s.MYPROC == 0:
            await s.store(s.pointer(1, cell.addr, np.int32), 7, s.store_counter())
        await s.all_store_sync()  # of another counter
        return cell.addr

    assert len(results(main, 3, "example,delay=300")) == 3


@pytest.mark.parametrize(
    ("call", "told"),
    [(lambda s: s.reduce(np.zeros(3, np.int16)), "in reduce: of 3 int16"), (lambda s: s.barrier(), "in barrier")],
)
def test_a_deadlock_tells_what_each_processor_waits_for(call: Any, told: str) -> None:
    async def main(s: SplitC) -> None:
        await s.compute(5)
        if s.MYPROC == 0:
            await s.store_sync(12)
        else:
            await call(s)

    with pytest.raises(PointsmanError) as caught:
        run(main, 3)
    said = ("in store_sync: 0 of 12 bytes have come", told, told)
    assert [f"node {node}: {one}" in caught.value.message for node, one in enumerate(said)] == [True] * 3


def test_all_processors_must_allocate_the_same_in_the_spread_segment() -> None:
    async def main(s: SplitC) -> None:
        await s.all_spread_allocate(100 * (s.MYPROC + 1), np.int32)

    with pytest.raises(PointsmanError, match="do not agree on bytes to allocate in the spread segment: 200 to 400"):
        run(main, 2)


def test_arguments_reach_every_processor() -> None:
    import argparse

    from cosim.logp.parameters import LogpParameters
    from cosim.logp.session import run_logp_application
    from pointsman.network import mesh

    from .programs import application

    async def main(s: SplitC) -> list[str]:
        return s.argv

    made = application(main, 5)
    made.options_given = argparse.Namespace(size=7, name="ä" * 30)
    done = run_logp_application(made, mesh(5), LogpParameters())
    assert done.record.results == [["--size=7", "--name=" + "ä" * 30]] * 5


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (lambda s: s.reduce(np.arange(4)), "reduce of 4 int64, and processor 0 calls reduce of 3 int64"),
        (lambda s: s.reduce(np.arange(3.0)), "reduce of 3 float64, and processor 0 calls reduce of 3 int64"),
        (lambda s: s.scan(np.arange(3)), "scan of 3 int64, and processor 0 calls reduce of 3 int64"),
        (lambda s: s.barrier(), "barrier, and processor 0 calls reduce of 3 int64"),
        (lambda s: s.broadcast(np.arange(3), 1), "broadcast from 1 of 3 int64, and processor 0"),
    ],
)
def test_all_processors_make_the_same_collective_calls(other: Any, said: str) -> None:
    class Differ(SplitCApplication):
        async def splitc_main(self, s: SplitC) -> None:
            await (other(s) if s.MYPROC else s.reduce(np.arange(3)))

    for target in ("logp", "packet"):
        options: dict[str, Any] = {} if target == "logp" else {"engine": "model"}
        with pytest.raises(PointsmanError, match=f"processor 1 calls {said}") as caught:
            pointsman.run(Differ, mesh(2, 1), target=target, **options)
        assert "arrays of the same type and length" in str(caught.value)
