"""The cycle model with programs against the RTL: the same word at every node in the same cycle."""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cosim.engines import processors
from cosim.engines.processors import Access, Programs, RunOptions
from cosim.engines.verilated.build import find_compiler
from cosim.engines.verilated.engine import HardwareEngine
from cosim.packet.hardware import packet_hardware
from cosim.packet.model_engine import PacketModelEngine
from cosim.packet.session import PacketMachine
from cosim.record import Record
from packet_router.header import pack_header
from packet_router.node import LAST, WORD
from packet_router.shape import RouterShape
from pointsman.runtime.api.requests import Attend, Category, Lane, Transfer, Wait, WaitEmpty, WaitUntil

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
PETERSEN = (
    *((n, (n + 1) % 5) for n in range(5)),
    *((n, n + 5) for n in range(5)),
    *((n + 5, (n + 2) % 5 + 5) for n in range(5)),
)
SHAPES = {
    "one": RouterShape(size=(1,)),
    "row": RouterShape(size=(1, 5), queue=2, addresses=2, buffer=4),
    "3x5": RouterShape(size=(3, 5)),
    "torus": RouterShape(size=(3, 4), torus=True, buffer=2, width=48),
    "wide": RouterShape(size=(2, 1), width=64),
    "cube": RouterShape(size=(2, 3, 2)),
    "adaptive": RouterShape(size=(3, 3), routing="adaptive", channels=3, buffer=4),
    "adaptive torus": RouterShape(size=(4, 3), torus=True, routing="adaptive"),
    "graph": RouterShape(size=(10,), routing="up-down", graph=PETERSEN, addresses=8),
}
QUICK = ("3x5",)
"""Those whose RTL is built among the quick tests."""
NETWORKS = [
    pytest.param(name, marks=() if name == "2x2" else pytest.mark.slow)
    for name in ("1x1", "2x2", "1x4", "3x5", "torus:3x3", "diamond:2", "3x3-4")
]
shapes = pytest.mark.parametrize(
    "shape",
    [pytest.param(shape, id=name, marks=() if name in QUICK else pytest.mark.slow) for name, shape in SHAPES.items()],
)


class Sender:
    """Random messages of a node, word by word."""

    def __init__(self, shape: RouterShape, node: int, chance: random.Random) -> None:
        self.shape, self.node, self.chance = shape, node, chance
        self.left: list[int] = []

    def message(self) -> list[int]:
        shape, chance = self.shape, self.chance
        to = chance.randrange(shape.nodes)
        any_way = shape.routing == "adaptive" and chance.random() < 0.7
        address = chance.randrange(1, shape.addresses)
        head = pack_header(shape, to, address, source=self.node, any_way=any_way, tag=chance.randrange(8))
        if chance.random() < 0.1:
            head &= ~(15 << 12)  # for address 0: dropped
        return [head, *(chance.getrandbits(shape.width) for _ in range(chance.choice((0, 1, 2, 7, 20))))]


def lockstep(shape: RouterShape, cycles: int, seed: int) -> int:
    """Random accesses on both engines; gives the words that were read."""
    chance = random.Random(seed)
    model, rtl = PacketModelEngine(shape), HardwareEngine(packet_hardware(shape))
    senders = [Sender(shape, node, chance) for node in range(shape.nodes)]
    rates = [(1.0, 1.0)] * shape.nodes
    words = 0
    for time in range(cycles):
        accesses = {}
        for node, sender in enumerate(senders):
            closed, full = rtl.full(node), rtl.available(node)
            assert (model.full(node), model.available(node)) == (closed, full), (time, node)
            if chance.random() < 0.01:
                rates[node] = chance.choice(((1.0, 1.0), (0.3, 0.8), (1.0, 0.1), (0.1, 1.0)))
            sends, takes = rates[node]
            there = [a for a in range(shape.addresses) if full >> a & 1]
            if there and chance.random() < takes / 2:
                accesses[node] = Access(chance.choice(there), False)
            elif not closed & 1 and chance.random() < sends:
                sender.left = sender.left or sender.message()
                last = len(sender.left) == 1
                accesses[node] = Access(LAST if last else WORD, True, sender.left.pop(0))
        read = rtl.clock(accesses)
        assert model.clock(accesses) == read, time
        words += len(read)
    return words


@pytest.mark.long
@needs_compiler
@shapes
def test_random_messages_take_the_same_cycles_as_on_the_rtl(shape: RouterShape) -> None:
    assert lockstep(shape, 3000, 1) > 100


def program(shape: RouterShape, node: int, seed: int, log: list[Any]) -> Iterator[Any]:
    """Send random messages, and read whatever comes, in all sorts of requests."""
    chance = random.Random(1000 * seed + node)
    sender = Sender(shape, node, chance)
    kind = np.uint64 if shape.width > 32 else chance.choice((np.uint32, np.uint64))
    mask = (1 << shape.width) - 1
    addresses = range(1, shape.addresses)
    reads = [Lane(False, a, 4096, np.zeros(4096, kind)) for a in addresses]
    for _ in range(12):
        words = sender.message()
        body = np.array(words[:-1], kind)
        lanes = [Lane(True, WORD, len(body), body), Lane(True, LAST, 1, np.array(words[-1:], kind))]
        place = chance.randrange(3)
        beside = [*reads[:place], *lanes, *reads[place:]] if place <= len(reads) else [*lanes, *reads]
        place = beside.index(lanes[0])
        request = Attend(
            Transfer(beside, chance.choice((None, None, *Category))),
            beside=[k for k in range(len(beside)) if k not in (place, place + 1)],
        )
        yield request
        log.append((node, request.moved.tolist()))
        choice = chance.random()
        if choice < 0.2:
            yield Wait(chance.randrange(200), Category.CPU)
        elif choice < 0.3:
            yield WaitEmpty(WORD, Category.PSYNC)
        elif choice < 0.4:
            yield WaitUntil(chance.randrange(2000), Category.ROUTER)
        elif choice < 0.6:
            call = Attend(None, until=chance.randrange(3000), full=list(addresses)[:2], category=Category.ONLINE)
            yield call
            log.append((node, call.state.tolist()))
    request = Attend(Transfer(reads), until=6000, beside=range(len(reads)))
    yield request
    return [int(lane.data[:8].sum()) & mask for lane in reads if lane.data is not None], request.moved.tolist()


def record(shape: RouterShape, engine: str, seed: int) -> tuple[Record, list[Any]]:
    log: list[Any] = []
    programs = [program(shape, node, seed, log) for node in range(shape.nodes)]
    if engine == "plain":
        ports = PacketModelEngine(shape)
        held = Programs(ports.port, programs, 0, ports.is_full, ports.has_word)
        found = processors.run(ports, held, RunOptions(None, 20_000, True, None, lambda time, live: None))
        fields = (found.cycles, found.finished, found.accesses, found.results)
        return Record(0, *(fields[k] for k in (0, 1, 2, 3)), wall_seconds=1.0, events=found.events), log
    with PacketMachine(shape, engine=engine, progress=False) as machine:
        return machine.run(programs, events=True), log


def same(one: tuple[Record, list[Any]], two: tuple[Record, list[Any]]) -> None:
    """All that is counted is the same, and every word in its cycle."""
    (first, first_log), (second, second_log) = one, two
    assert first.events is not None
    assert second.events is not None
    assert np.array_equal(np.sort(first.events, order=["time", "node"]), np.sort(second.events, order=["time", "node"]))
    for name in ("cycles", "accesses", "finished"):
        assert np.array_equal(getattr(first, name), getattr(second, name)), name
    assert first.results == second.results
    assert first_log == second_log


@pytest.mark.parametrize("shape", [SHAPES[name] for name in ("row", "adaptive")], ids=("row", "adaptive"))
def test_the_compiled_loop_does_what_plain_processors_do(shape: RouterShape) -> None:
    same(record(shape, "plain", 1), record(shape, "model", 1))


@needs_compiler
@shapes
def test_random_programs_have_the_same_record_as_on_the_rtl(shape: RouterShape) -> None:
    for seed in range(3):
        same(record(shape, "verilated", seed), record(shape, "model", seed))


@pytest.mark.long
@needs_compiler
@pytest.mark.parametrize("network", NETWORKS)
def test_compiled_programs_have_the_same_record_as_on_the_rtl(network: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    soak = importlib.import_module("soak_everything")
    for seed in range(12):
        case = soak.case_of(seed, "packet", (network,), words=3_000)
        program = soak.compile_text(case.text, topology=soak.network_named(network))
        walker = soak.Walker(program, seed, slowest=case.slowest, calls=True, fewer=True, late=False)
        found = []
        for engine in ("verilated", "model"):
            machine, node_of = soak.MAKERS["packet"](program, case, engine)
            with machine:
                nodes = [node_of(number, machine) for number in range(program.topology.nodes)]
                found.append((soak.run_nodes(nodes, walker.main, machine, events=True), []))
        same(*found)
