"""The processors of the image bench do what those of the engines do."""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from random import Random
from typing import Any

import numpy as np
import pytest

from cosim.benches.numesh.drivers.processors import Clock, Processor
from cosim.engines import processors as engine
from numesh.shape import NodeShape
from pointsman.runtime.api.requests import Category, Lane, Request, Transfer, Wait, WaitEmpty, WaitUntil

SHAPE = NodeShape()
REGISTERS = 5


class Registers:
    """Interface registers with a router behind them that fills and empties them at random."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.time = 0
        self.words = [0] * REGISTERS
        self.bits = [False] * REGISTERS
        self.read_data = 0
        self.trace: list[tuple[int, int, bool, int]] = []

    def full(self, node: int) -> int:
        return sum(1 << r for r, bit in enumerate(self.bits) if bit)

    available = full

    def step(self, register: int | None, write: bool, word: int) -> None:
        bits = list(self.bits)
        if register is not None:
            assert self.bits[register] != write, "an access was made that cannot succeed"
            if write:
                self.words[register] = word
            else:
                self.read_data = word = self.words[register]
            bits[register] = write
            self.trace.append((self.time, register, write, word))
        for r in range(REGISTERS):
            touched = r == register
            if self.random.random() < 0.4 and not touched:
                if not self.bits[r]:
                    self.words[r] = self.random.getrandbits(32)
                bits[r] = not self.bits[r]
        self.bits = bits
        self.time += 1

    def clock(self, accesses: Mapping[int, engine.Access]) -> Mapping[int, int]:
        access = accesses.get(0)
        if access is None:
            self.step(None, False, 0)
        else:
            self.step(access.register, access.write, access.word)
        return {0: self.read_data}


def requests(random: Random) -> list[Request]:
    """Requests of all kinds, with conditions between lanes."""
    made: list[Request] = []
    for _ in range(12):
        match random.randrange(5):
            case 0:
                made.append(Wait(random.randrange(4), Category.CPU))
            case 1:
                made.append(WaitUntil(random.randrange(200), Category.PSYNC))
            case 2:
                made.append(WaitEmpty(random.randrange(REGISTERS), Category.ROUTER))
            case _:
                words = random.randrange(6)
                shared = np.array([random.getrandbits(32) for _ in range(6)], np.uint32)
                out = np.array([random.getrandbits(32) for _ in range(6)], np.uint32)
                lanes = [
                    Lane(False, random.sample(range(REGISTERS), 2), words, shared),
                    Lane(True, random.randrange(REGISTERS), words, shared, after=0),
                    Lane(True, random.sample(range(REGISTERS), 3), words, out, window=2, pair=0),
                    Lane(False, random.randrange(REGISTERS), 1, None, after=2, after_all=True),
                ]
                made.append(Transfer(lanes[: random.randint(1, 4)]))
    return made


async def program(ports: Registers, made: list[Request]) -> list[Any]:
    told: list[Any] = []
    for request in made:
        await request
        told.append(ports.time)
        if isinstance(request, Transfer):
            told.append([int(word) for lane in request.lanes if lane.data is not None for word in lane.data])
    return told


def by_engine(seed: int) -> tuple[Registers, Any, int]:
    ports = Registers(seed)
    main: Coroutine[Any, None, Any] = program(ports, requests(Random(seed)))
    programs = engine.Programs(SHAPE, [main], 0, lambda node, register: bool(ports.full(node) >> register & 1))
    options = engine.RunOptions(
        max_cycles=None, quiet_cycles=10000, events=False, observer=None, progress=lambda time, live: None
    )
    outcome = engine.run(ports, programs, options)
    return ports, outcome.results[0], int(outcome.finished[0])


def by_bench(seed: int) -> tuple[Registers, Any, int]:
    ports = Registers(seed)
    clock = Clock()
    processor = Processor(program(ports, requests(Random(seed))), clock)
    while True:
        values = processor.cycle(ports.full(0), ports.read_data)
        if processor.done:
            return ports, processor.result, clock.time
        accessed = bool(values["p_read"] or values["p_write"])
        assert not (values["p_read"] and values["p_write"])
        ports.step(values["p_address"] if accessed else None, bool(values["p_write"]), values["p_write_data"])
        clock.time += 1


@pytest.mark.parametrize("seed", range(40))
def test_bench_and_engine_make_the_same_accesses_in_the_same_cycles(seed: int) -> None:
    expected, expected_result, expected_end = by_engine(seed)
    ports, result, end = by_bench(seed)
    assert ports.trace == expected.trace
    assert result == expected_result
    assert end == expected_end


def test_processors_of_the_comparison_do_access_registers() -> None:
    kinds = {(write, register) for seed in range(40) for _, register, write, _ in by_bench(seed)[0].trace}
    assert kinds == {(write, register) for write in (False, True) for register in range(REGISTERS)}


def test_words_without_an_array_are_not_wanted() -> None:
    ports = Registers(1)
    ports.random = Random("quiet")
    ports.bits = [True] * REGISTERS
    ports.words = [11, 12, 13, 14, 15]

    async def two() -> None:
        await Transfer([Lane(False, 0, 1, None)])
        await Transfer([Lane(False, 1, 1, np.zeros(1, np.uint32))])

    processor = Processor(two(), Clock())
    first = processor.cycle(31, 0)
    assert (first["p_address"], first["p_read"]) == (0, 1)
    second = processor.cycle(30, 11)
    assert (second["p_address"], second["p_read"]) == (1, 1)
    processor.cycle(28, 12)
    assert processor.done
    assert [(d.word, d.wanted) for d in processor.deliveries] == [(11, False), (12, True)]
