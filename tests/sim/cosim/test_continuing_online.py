"""An operator done by messages that continues over changes of phase (Metcalf 1997, §5.1.3): processors go on passing messages on
while they compute, wait in barriers and use the operators around it.

A stream between ends that change from round to round is written before the operators of a round and read a round later, so
its messages are on their way, or in buffers, when phases change.
"""

from __future__ import annotations

from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest

from cosim.numesh.machine import EngineName, Machine
from cosim.session import run_nodes
from numesh.codes import Codes
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images, NodePhase
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import Topology, mesh
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided
from pointsman.runtime import Node
from pointsman.runtime.numesh.substrate import NumeshSubstrate, numesh_node
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

ROUNDS = 6
AROUND = f"(loop 'l {ROUNDS} (cshift 'a 1 :m 12) (broadcast 'b 1 :m 9) (barrier 'c))"
STREAM = "(stream 's (runtime) (runtime) :m {words} :impl 'dyn_stream)"
SHAPE = NodeShape(vfsms=64, registers=32, schedule_depth=256)


def compiled(text: str, topology: Topology, *, blocks: int = 16) -> Images:
    program = compile_text(text, topology=topology)
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: True))
    shape = replace(SHAPE, schedule_depth=16 * blocks)
    return make_images(make_plan(program, shape, name="test", period=16, structures=[structure]))


def words(*what: object) -> np.ndarray:
    return np.array([crc32(repr((*what, k)).encode()) & 0x7FFFFFFF for k in range(80)], np.int32)


def ends(k: int, nodes: int) -> tuple[int, int]:
    source = crc32(f"{k} from".encode()) % nodes
    return source, (source + 1 + crc32(f"{k} to".encode()) % (nodes - 1)) % nodes


class Rounds:
    """The application: messages of ``length`` words, read ``late`` rounds after they have been written."""

    def __init__(self, length: int, *, late: int, around: bool) -> None:
        self.length, self.late, self.around = length, late, around

    async def main(self, node: Node) -> list[list[int]]:
        cop, here = node.cop, node.number
        got: list[list[int]] = []

        async def read(k: int) -> None:
            source, destination = ends(k, node.nodes)
            if here == destination:
                await cop.s_load(source, destination)
                got.append((await cop.s_read()).tolist())

        async def broadcast(name: str, source: int, k: int) -> None:
            await cop.__getattr__(f"{name}_load")()
            if here == source:
                await cop.__getattr__(f"{name}_write")(words(name, k)[:9])
            else:
                got.append((await cop.__getattr__(f"{name}_read")()).tolist())

        if self.around:
            await broadcast("x", 0, -1)
        await cop.l_load()
        for k in range(ROUNDS):
            source, destination = ends(k, node.nodes)
            if here == source:
                await cop.s_load(source, destination)
                await cop.s_write(words("s", k)[: self.length])
            await node.compute(crc32(repr((here, k)).encode()) % 300)
            await cop.a_load()
            got.append((await cop.a_func(words("a", k, here)[:12])).tolist())
            await broadcast("b", 1, k)
            await node.compute(crc32(repr((here, k, "c")).encode()) % 300)
            await cop.c_load()
            await cop.c_func()
            if k >= self.late:
                await read(k - self.late)
        for k in range(max(0, ROUNDS - self.late), ROUNDS):
            await read(k)
        if self.around:
            await broadcast("y", 2, -1)
        return got

    def expected(self, here: int, nodes: int) -> list[list[int]]:
        found = []

        def read(k: int) -> None:
            if here == ends(k, nodes)[1]:
                found.append(words("s", k)[: self.length].tolist())

        def broadcast(name: str, source: int, k: int) -> None:
            if here != source:
                found.append(words(name, k)[:9].tolist())

        if self.around:
            broadcast("x", 0, -1)
        for k in range(ROUNDS):
            found.append(words("a", k, (here - 1) % nodes)[:12].tolist())
            broadcast("b", 1, k)
            if k >= self.late:
                read(k - self.late)
        for k in range(max(0, ROUNDS - self.late), ROUNDS):
            read(k)
        if self.around:
            broadcast("y", 2, -1)
        return found


def run(images: Images, rounds: Rounds, engine: EngineName) -> tuple[list[list[list[int]]], int]:
    """What nodes have got, and the words that processors have passed on."""
    topology = images.topology
    with Machine(images.shape, topology, engine=engine, progress=False) as machine:
        nodes = [numesh_node(images, number, machine) for number in range(topology.nodes)]
        record = run_nodes(nodes, rounds.main, machine)
        state = machine.state()
    assert not state["full"].any()
    assert not state["held"].any()
    passed = 0
    for node in nodes:
        assert isinstance(node.substrate, NumeshSubstrate)
        passed += sum(agent.passed for agent in set(node.substrate.agents.values()))
    return record.results, passed


def text(length: int, *, around: bool) -> str:
    inner = f"(parallel {STREAM.format(words=length)} {AROUND})"
    return f"(broadcast 'x 0 :m 9) {inner} (broadcast 'y 2 :m 9)" if around else inner


@pytest.mark.parametrize(
    ("size", "length", "late", "around", "blocks", "engine"),
    [
        ((2, 2), 5, 0, False, 16, "model"),
        ((3, 2), 40, 1, True, 16, "model"),
        ((3, 3), 80, 3, False, 4, "model"),
        ((3, 3), 80, 2, True, 16, "model"),
        pytest.param((3, 2), 40, 1, True, 16, "verilated", marks=pytest.mark.slow),
        pytest.param((3, 3), 80, 3, False, 4, "verilated", marks=pytest.mark.slow),
    ],
)
def test_messages_go_on_while_phases_change(
    size: tuple[int, int], length: int, late: int, around: bool, blocks: int, engine: EngineName
) -> None:
    images = compiled(text(length, around=around), mesh(*size), blocks=blocks)
    report = check_images(images)
    assert report.ok, report.render()
    carriers = {phase.online for phase in images.phases if phase.online is not None}
    (carrier,) = carriers
    first = 1 if around else 0
    assert images.operators[carrier].continues == (first, first + 1, first + 2)
    rounds = Rounds(length, late=late, around=around)
    results, passed = run(images, rounds, engine)
    nodes = images.topology.nodes
    assert results == [rounds.expected(node, nodes) for node in range(nodes)]
    assert passed > 0


def test_not_every_phase_needs_a_barrier() -> None:
    images = compiled(text(9, around=False), mesh(3, 2))
    assert "no-op" in {phase.technique for phase in images.phases}
    assert images.phases[-1].technique == "barrier"


def test_a_message_that_nobody_reads_is_told() -> None:
    class Deaf(Rounds):
        async def main(self, node: Node) -> list[list[int]]:
            cop = node.cop
            if node.number == 0:
                await cop.s_load(0, 1)
                await cop.s_write(words("s")[:9])
            for name in "ab":
                await cop.__getattr__(f"{name}_load")()
                await cop.__getattr__(f"{name}_func")(words("a")[:12])
            return []

    around = "(sequential (cshift 'a 1 :m 12) (cshift 'b 1 :m 12))"
    images = compiled(f"(parallel {STREAM.format(words=9)} {around})", mesh(2, 1))
    assert len(images.phases) == 2
    with pytest.raises(PointsmanError, match="a message to node 1 has not been read"):
        run(images, Deaf(9, late=0, around=False), "model")


# -- faults --------------------------------------------------------------------------------------------------------


def test_fault_a_channel_that_is_not_in_every_phase() -> None:
    """Messages wait for a phase in which it is; whoever goes on only when they have come waits for ever."""
    images = compiled(text(40, around=False), mesh(3, 2))
    carrier = next(phase.online for phase in images.phases if phase.online is not None)
    codes = Codes(images.shape)
    sources = {(p.source, codes.register(p.register)) for p in images.promises if p.operator == carrier}
    nodes = []
    for number, image in enumerate(images.nodes):
        first = next(part for part in image.phases if part.phase == 0)
        own = {(r.pipeline, r.vfsm) for r in first.annotations if (number, r.annotation.source) in sources}
        assert own

        def silent(part: NodePhase, own: set[tuple[int, int]] = own) -> NodePhase:
            rows = tuple(tuple(0 if (p, v) in own else v for p, v in enumerate(row)) for row in part.schedule)
            return replace(part, schedule=rows)

        nodes.append(replace(image, phases=tuple(silent(p) if p.phase == 2 else p for p in image.phases)))
    faulty = replace(images, nodes=tuple(nodes))
    assert "continuing" in check_images(faulty).rules
    rounds = Rounds(40, late=0, around=False)
    with pytest.raises(PointsmanError, match=r"deadlock|has not been read"):
        run(faulty, rounds, "model")


def test_fault_it_ends_without_a_barrier() -> None:
    """A node that is through with its program would not pass on what others still wait for."""
    images = compiled(text(40, around=True), mesh(3, 2))
    last = max(p for p, phase in enumerate(images.phases) if phase.online is not None)
    phases = list(images.phases)
    assert phases[last].technique == "barrier"
    phases[last] = replace(phases[last], technique="no-op", barrier=None)
    rules = check_images(replace(images, phases=tuple(phases))).rules
    assert {"online", "continuing"} & set(rules)


@pytest.mark.parametrize(
    ("program", "size", "message"),
    [
        (
            f"(parallel {STREAM.format(words=4)} (stream 't 0 1 :impl 'dyn_stream) {AROUND})",
            (2, 2),
            "cannot both continue",
        ),
        (
            f"(parallel {STREAM.format(words=4)} (loop 'l 2 (cshift 'a 1 :m 3) (broadcast 'b (runtime) :m 3)))",
            (2, 1),
            "interrupt",
        ),
        (
            "(parallel (subset '(0 3) (stream 's 0 1 :impl 'dyn_stream)) (loop 'l 2 (cshift 'a 1 :m 3) (cshift 'b 1 :m 3)))",
            (2, 2),
            "which has no part in it",
        ),
    ],
)
def test_what_is_refused(program: str, size: tuple[int, int], message: str) -> None:
    with pytest.raises(PlanError, match=message):
        compiled(program, mesh(*size))
