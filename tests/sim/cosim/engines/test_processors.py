"""The compiled loops of the engines against the plain processors, on random programs."""

import random
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

from cosim.engines import processors
from cosim.engines.processors import Programs, RunOptions
from cosim.engines.verilated.build import find_compiler
from cosim.numesh.engines.model import ModelEngine
from cosim.numesh.machine import Machine
from cosim.numesh.rings import ring_memories
from cosim.record import Record
from numesh.shape import NodeShape
from pointsman.network import Topology, mesh, torus
from pointsman.runtime.api.folds import FOLDED, TYPES, Fold, foldable
from pointsman.runtime.api.requests import Attend, Category, Lane, Transfer, Wait, WaitEmpty, WaitUntil

STREAMS = ((2, 3), (4, 5))
SHAPES = [
    (NodeShape(vfsms=8, schedule_depth=16), mesh(2, 2)),
    (NodeShape(vfsms=8, schedule_depth=16, width=64, pipelines=3, registers=6), torus(3, 4)),
]
ENGINES = [
    "model",
    "amaranth",
    pytest.param("verilated", marks=pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")),
]


def program(node: int, seed: int, total: int, kind: type, log: list[tuple[int, int]]) -> Iterator[Any]:
    """Send ``total`` words over two streams in turn, and receive as many, in pieces of any size and order."""
    rng = random.Random(1000 * seed + node)
    received: list[int] = []
    while len(received) < total:
        words = min(total - len(received), rng.choice((1, 1, 2, 3, 7, 20)))
        out = np.array([rng.getrandbits(32) for _ in range(words)], dtype=kind)
        into = np.zeros(words + rng.randrange(3), dtype=kind)
        (send, receive) = ((2, 4), (3, 5)) if len(received) % 2 == 0 else ((4, 2), (5, 3))
        lanes = rng.choice(
            (
                [Lane(True, send, words, out), Lane(False, receive, words, into)],
                [Lane(False, receive, words, into), Lane(True, send, words, out)],
                [Lane(True, send, words, out, window=2, pair=1), Lane(False, receive, words, into)],
                [Lane(True, send, words, out), Lane(False, receive, words, into, after=0)],
                [Lane(True, send, words), Lane(False, receive, words, into, after=0, after_all=True)],
                [Lane(False, receive, words), Lane(True, send, words, out), Lane(True, 0, 0)],
            )
        )
        transfer = Transfer(lanes, rng.choice((None, None, *Category)))
        if rng.random() < 0.5:
            yield transfer
        else:
            yield from in_pieces(transfer, rng, node, log)
        received += into[:words].tolist()
        log.append((node, len(received)))
        choice = rng.random()
        if choice < 0.2:
            yield Wait(rng.randrange(9), Category.CPU)
        elif choice < 0.3:
            yield WaitEmpty(rng.choice((2, 4)), Category.PSYNC)
        elif choice < 0.4:
            yield WaitUntil(rng.randrange(300), Category.ROUTER)
    return received


def in_pieces(transfer: Transfer, rng: random.Random, node: int, log: list[tuple[int, int]]) -> Iterator[Any]:
    """A transfer that is broken off when registers call, or when some time has come."""
    moved = [0] * len(transfer.lanes)
    while True:
        last = rng.random() < 0.3
        open_lanes = [k for k, lane in enumerate(transfer.lanes) if moved[k] < lane.words]
        request = Attend(
            transfer,
            until=None if last else rng.choice((None, rng.randrange(400))),
            full=() if last else rng.sample((3, 5), rng.randrange(3)),
            empty=() if last else rng.sample((2, 4), rng.randrange(3)),
            beside=() if last else rng.sample(open_lanes, rng.randrange(len(open_lanes) + 1)),
        )
        request.moved[:] = moved
        yield request
        moved = request.moved.tolist()
        log.append((node, -sum(request.state.tolist()) - 1))
        if all(n == lane.words for n, lane in zip(moved, transfer.lanes, strict=True)):
            return
        yield Wait(rng.randrange(1, 5), Category.ONLINE)
        if rng.random() < 0.3:
            yield Attend(None, until=rng.randrange(400), full=(2, 3), empty=(3, 5), category=Category.PSYNC)


def programs(topology: Topology, shape: NodeShape, seed: int, log: list[tuple[int, int]]) -> list[Iterator[Any]]:
    kinds = (np.uint32, np.uint64) if shape.width <= 32 else (np.uint64,)
    return [program(node, seed, 40, kinds[node % len(kinds)], log) for node in range(topology.nodes)]


def plain(shape: NodeShape, topology: Topology, seed: int, log: list[tuple[int, int]]) -> Record:
    """A run of the plain processors on the model's routers."""
    engine = ModelEngine(shape, topology)
    engine.preload(ring_memories(shape, topology, STREAMS))
    held = Programs(shape, programs(topology, shape, seed, log), 0, engine.is_full)
    outcome = processors.run(engine, held, RunOptions(None, 2000, True, None, lambda time, live: None))
    return Record(
        started=0,
        cycles=outcome.cycles,
        finished=outcome.finished,
        accesses=outcome.accesses,
        results=outcome.results,
        wall_seconds=1.0,
        events=outcome.events,
    )


@pytest.mark.long
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("shape", "topology"), SHAPES, ids=["32 bits", "64 bits"])
def test_random_programs_give_the_same_record(engine: str, shape: NodeShape, topology: Topology):
    for seed in range(1 if engine == "amaranth" else 5):
        if engine == "amaranth" and topology.nodes > 4:
            continue
        order: list[tuple[int, int]] = []
        expected = plain(shape, topology, seed, order)
        log: list[tuple[int, int]] = []
        with Machine(shape, topology, engine=engine) as machine:
            machine.preload(ring_memories(shape, topology, STREAMS))
            record = machine.run(programs(topology, shape, seed, log), events=True, quiet_cycles=2000)
        assert record.differences(expected) == []
        assert log == order
        assert (record.cycles.sum(axis=1) == record.finished).all()
        assert len(record.events) == record.accesses.sum()


def combining(node: int, seed: int) -> Iterator[Any]:
    """Pass on what comes, combined with an own message, item by item."""
    rng = random.Random(100 * seed + node)
    heard = []
    for kind, function in product(TYPES, [None, *FOLDED]):
        if function is not None and not foldable(function, kind):
            continue
        item = kind.itemsize // 4
        items = 1 + (FOLDED.get(function, 0) + seed) % 4
        words = item * items
        own = np.array([rng.choice((0, 3, -7, 2**31 - 1, 5)) for _ in range(items)], kind).view(np.uint32)
        if kind.kind == "f":
            own.view(kind)[0] = rng.choice((np.nan, np.inf, 2.5))
        came, sum_, last = (np.zeros(words, np.uint32) for _ in range(3))
        folds = [Fold(function, kind, came, own, sum_), Fold(None, kind, sum_, None, came)]
        yield Transfer(
            [
                Lane(True, 4, words, sum_, after=1).in_items(item),
                Lane(False, 3, words, came).in_items(item, folds),
                Lane(True, 2, words, own),
                Lane(False, 5, words, last),
            ]
        )
        heard.append((kind.name, str(function), sum_.tolist(), came.tolist(), last.tolist()))
        yield Wait(rng.randrange(20), Category.CPU)
    return heard


@pytest.mark.parametrize("engine", ENGINES)
def test_words_are_combined_as_they_come(engine: str):
    shape, topology = SHAPES[0]
    routers = ModelEngine(shape, topology)
    routers.preload(ring_memories(shape, topology, STREAMS))
    held = Programs(shape, [combining(node, 1) for node in range(4)], 0, routers.is_full)
    expected = processors.run(routers, held, RunOptions(None, 2000, True, None, lambda time, live: None))
    with Machine(shape, topology, engine=engine) as machine:
        machine.preload(ring_memories(shape, topology, STREAMS))
        record = machine.run([combining(node, 1) for node in range(4)], events=True, quiet_cycles=2000)
    assert record.results == expected.results
    assert (record.cycles == expected.cycles).all()
    assert (record.events == expected.events).all()


@pytest.mark.parametrize("engine", ["model", *ENGINES[2:]])
def test_a_program_runs_the_same_twice(engine: str):
    shape, topology = SHAPES[0]
    records = []
    for _ in range(2):
        with Machine(shape, topology, engine=engine) as machine:
            machine.preload(ring_memories(shape, topology, STREAMS))
            records.append(machine.run(programs(topology, shape, 9, []), events=True))
    assert records[0].differences(records[1]) == []
    assert records[0].events.tobytes() == records[1].events.tobytes()


def test_watching_every_cycle_changes_nothing():
    shape, topology = SHAPES[0]
    records = []
    for watch in (None, lambda: None):
        with Machine(shape, topology, engine="model") as machine:
            machine.preload(ring_memories(shape, topology, STREAMS))
            records.append(machine.run(programs(topology, shape, 3, []), events=True, each_cycle=watch))
    assert records[0].differences(records[1]) == []
