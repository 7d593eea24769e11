"""Predicted loads against those of a run."""

from __future__ import annotations

from functools import lru_cache

import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.memory.misses import predicted_misses
from pointsman.plan.memory.residency_plan import again
from pointsman.plan.plan import Plan
from pointsman.plan.structure.phase_graph import END, START, PhaseGraph
from pointsman.plan.structure.structure import outline
from pointsman.runtime import Node
from pointsman.runtime.numesh.substrate import NumeshSubstrate, numesh_node
from pointsman.targets.numesh import make_images

ROUNDS = 8
TEXT = f"""(loop 'l {ROUNDS} (allreduce 'a 'max :m 1) (cshift 'b 1 :m 1) (prefix 'c 'add :m 1) (cshift 'f 2 :m 1))
  (loop 'k {ROUNDS} (allreduce 'd 'max :m 2) (cshift 'e -1 :m 1))"""


@lru_cache
def plan(vfsms: int, depth: int) -> Plan:
    program = compile_text(TEXT, topology=mesh(4))
    shape = NodeShape(vfsms=vfsms, schedule_depth=depth)
    return make_plan(program, shape, name="p", period=16, structures=[outline(program)])


async def main(node: Node) -> None:
    for labels in ("abcf", "de"):
        for _ in range(ROUNDS):
            for label in labels:
                await getattr(node.cop, f"{label}_load")()
                await getattr(node.cop, f"{label}_func")([node.number] * (2 if label == "d" else 1))


@pytest.mark.parametrize(("vfsms", "depth"), [(32, 128), (32, 64), (16, 128), (16, 64)])
def test_misses_are_predicted(vfsms: int, depth: int) -> None:
    made = plan(vfsms, depth)
    images = make_images(made)
    with Machine(images.shape, images.topology, engine="model") as machine:
        nodes = [numesh_node(images, n, machine) for n in range(4)]
        record = run_nodes(nodes, main, machine)
    loads = max(node.substrate.router.loads for node in nodes if isinstance(node.substrate, NumeshSubstrate))
    found = predicted_misses(made.phases, made.structure, made.period, made.shape)
    expected = len(made.phases) + sum(one.loads for one in found.values())
    assert expected == pytest.approx(loads, rel=0.1, abs=1)
    if (vfsms, depth) == (32, 128):
        assert not found
        assert loads == len(made.phases)
    if depth == 64:
        # Of the first loop two phases have one block; loads of the second loop are done once.
        assert sum(one.loads for one in found.values()) >= 2 * (ROUNDS - 1)
        router = record.cycles[:, 4].max()
        assert sum(one.router for one in found.values()) == pytest.approx(router - 60 * len(made.phases), rel=0.35)


def test_a_phase_outside_the_loop_costs_a_load_once() -> None:
    flow = {START: frozenset([0]), 0: frozenset([1]), 1: frozenset([0, 2]), 2: frozenset([3]), 3: frozenset([2, END])}
    between = PhaseGraph(flow).distances
    exits = {0: 30.0, 1: 30.0, 2: 10.0, 3: 10.0}
    assert again(0, [2, 3], exits, between) == 0
    assert again(0, [1], exits, between) == 29
    assert again(2, [3, 0], exits, between) == 9
    assert again(2, [], exits, between) == 0
