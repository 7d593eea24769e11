"""Operators with run-time values that continue over changes of phase, with a set of streams for each value (Metcalf 1997, §5.1.1
and §4.1.3).

Values change from round to round. Messages are exchanged in one phase or the other; single words of a broadcast are written in
one and read in the next one by every second node. Each node lingers as long as it likes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from zlib import crc32

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.codes import Annotation, Codes, MoveType
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images, NodeOperator, Rewrite
from pointsman.cop import compile_text
from pointsman.network import Topology, mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided
from pointsman.runtime import Node
from pointsman.runtime.numesh.substrate import numesh_node
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

ROUNDS = 8
AROUND = f"(loop 'l {ROUNDS} (cshift 'a 1 :m 7) (broadcast 'b 0 :m 5))"
OPERATORS = {
    "broadcast": "(broadcast 'k (runtime :values '(0 2)) :m {m} :impl 'par_bcast)",
    "shift": "(cshift 'k (runtime :values '(1 2)) :m {m} :impl 'par_shift)",
}


@cache
def compiled(kind: str, words: int, topology: Topology) -> Images:
    program = compile_text(f"(parallel {OPERATORS[kind].format(m=words)} {AROUND})", topology=topology)
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: True))
    shape = NodeShape(vfsms=64, registers=32, schedule_depth=256)
    return make_images(make_plan(program, shape, name="test", period=16, structures=[structure]))


def words(*what: object) -> np.ndarray:
    return np.array([crc32(repr((*what, k)).encode()) & 0x7FFFFFFF for k in range(40)], np.int32)


class Rounds:
    """The application, with messages of ``length`` words. ``seed``: of the delays."""

    def __init__(self, kind: str, length: int, seed: int) -> None:
        self.kind, self.length, self.seed = kind, length, seed

    async def call(self, node: Node, k: int) -> list[int]:
        here, value = node.number, (k * 2) % 4 if self.kind == "broadcast" else 1 + k % 2
        await node.cop.k_load(value)
        if self.kind == "shift":
            return (await node.cop.k_func(words("k", k, here)[: self.length])).tolist()
        if here == value:
            await node.cop.k_write(words("k", k)[: self.length])
            return []
        return (await node.cop.k_read()).tolist()

    def early(self, here: int, k: int) -> bool:
        """Does the node use the operator before the broadcast b of round k?"""
        return here % 2 == 0 if (self.kind, self.length) == ("broadcast", 1) else k % 3 > 0

    async def main(self, node: Node) -> list[list[int]]:
        here = node.number
        got = []
        await node.cop.l_load()
        for k in range(ROUNDS):
            await node.compute(crc32(repr((self.seed, here, k)).encode()) % 400)
            await node.cop.a_load()
            got.append((await node.cop.a_func(words("a", k, here)[:7])).tolist())
            if self.early(here, k):
                got.append(await self.call(node, k))
            await node.compute(crc32(repr((self.seed, k, here)).encode()) % 400)
            await node.cop.b_load()
            if here == 0:
                await node.cop.b_write(words("b", k)[:5])
            else:
                got.append((await node.cop.b_read()).tolist())
            if not self.early(here, k):
                got.append(await self.call(node, k))
        return got

    def expected(self, here: int, nodes: int) -> list[list[int]]:
        found = []
        for k in range(ROUNDS):
            value = (k * 2) % 4 if self.kind == "broadcast" else 1 + k % 2
            if self.kind == "shift":
                message = words("k", k, (here - value) % nodes)[: self.length].tolist()
            else:
                message = [] if here == value else words("k", k)[: self.length].tolist()
            found.append(words("a", k, (here - 1) % nodes)[:7].tolist())
            found += [message] if self.early(here, k) else []
            found += [words("b", k)[:5].tolist()] if here else []
            found += [] if self.early(here, k) else [message]
        return found


@pytest.mark.parametrize("length", [1, 12])
@pytest.mark.parametrize("kind", OPERATORS)
def test_an_operator_with_run_time_values_continues(kind: str, length: int) -> None:
    topology = mesh(2, 2)
    images = compiled(kind, length, topology)
    (one,) = (operator for operator in images.operators if operator.label == "k")
    assert len(one.continues) == 2
    assert one.implementation.startswith("par_")
    report = check_images(images)
    assert report.ok, report.render()
    for seed in range(3):
        rounds = Rounds(kind, length, seed)
        with Machine(images.shape, topology, engine="model") as machine:
            nodes = [numesh_node(images, number, machine) for number in range(topology.nodes)]
            record = run_nodes(nodes, rounds.main, machine)
        assert record.results == [rounds.expected(node, topology.nodes) for node in range(topology.nodes)]


def test_values_that_rewrite_the_router_are_found() -> None:
    images = compiled("shift", 12, mesh(2, 2))
    index = next(i for i, operator in enumerate(images.operators) if operator.label == "k")
    node = images.nodes[0]
    own = dict(node.operators)[index]
    nop = Codes(images.shape).nop
    still = Annotation(MoveType.MOVE, nop, nop)
    roles = (replace(own.roles[0], rewrites=(Rewrite(0, 2, still),)), *own.roles[1:])
    operators = tuple((i, replace(one, roles=roles) if i == index else one) for i, one in node.operators)
    spoilt = replace(images, nodes=(replace(node, operators=operators), *images.nodes[1:]))
    found = [one.message for one in check_images(spoilt).findings]
    assert "it continues, and its router changes" in found


def test_a_node_that_uses_the_streams_of_another_value_is_found() -> None:
    """Nothing is rewritten, so what differs from value to value is where processors write and read."""
    images = compiled("shift", 12, mesh(2, 2))
    index = next(i for i, operator in enumerate(images.operators) if operator.label == "k")

    def found(number: int, one: NodeOperator) -> set[str]:
        node = images.nodes[number]
        operators = tuple((i, one if i == index else other) for i, other in node.operators)
        nodes = (*images.nodes[:number], replace(node, operators=operators), *images.nodes[number + 1 :])
        report = check_images(replace(images, nodes=nodes))
        return {finding.rule for finding in report.findings}

    for number, view in images.members[index].items():
        assert found(number, view) == set()
        assert found(number, replace(view, role_of=(0, 0)))
        assert found(number, replace(view, role_of=(1, 0)))
        one, two = view.roles
        read = replace(two, lanes=(two.lanes[0], replace(two.lanes[1], registers=one.lanes[1].registers)))
        assert found(number, replace(view, roles=(one, read)))


def test_a_stream_of_the_second_value_is_the_same_in_all_phases() -> None:
    images = compiled("shift", 12, mesh(2, 2))
    index = next(i for i, operator in enumerate(images.operators) if operator.label == "k")
    second = next(p for p in images.promises if p.operator == index and p.values == (1,))
    codes = Codes(images.shape)
    node = images.nodes[second.source]
    later = node.phases[-1]
    assert later.phase == images.operators[index].continues[-1]
    (at,) = (n for n, a in enumerate(later.annotations) if codes.register(second.register) == a.annotation.source)
    taken = {a.annotation.source for a in later.annotations} | {a.annotation.destination for a in later.annotations}
    free = next(r for r in range(images.shape.pipelines, images.shape.registers) if codes.register(r) not in taken)
    moved = replace(
        later.annotations[at], annotation=replace(later.annotations[at].annotation, source=codes.register(free))
    )
    annotations = (*later.annotations[:at], moved, *later.annotations[at + 1 :])
    spoilt = replace(node, phases=(*node.phases[:-1], replace(later, annotations=annotations)))
    nodes = (*images.nodes[: second.source], spoilt, *images.nodes[second.source + 1 :])
    rules = {finding.rule for finding in check_images(replace(images, nodes=nodes)).findings}
    assert "continuing" in rules
