"""Operators that are replaced by several in phases of their own, on the mesh."""

from __future__ import annotations

import numpy as np

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.runtime import Node
from pointsman.runtime.numesh.substrate import numesh_node
from pointsman.targets.numesh import make_images

CALLS, ROUNDS, WORDS = 3, 2, 600
TEXT = f"""(loop 'l {ROUNDS} (subset '((0) (1 2 3)) (allreduce 'x 'max :m {WORDS} :c {CALLS} :impl 'repl_allreduce))
                           (cshift 'y 1 :m 40))"""


async def application(node: Node) -> list[int]:
    found = []
    await node.cop.l_load()
    for _ in range(ROUNDS):
        await node.cop.x_load()
        for call in range(CALLS):
            found.append(int((await node.cop.x_func(np.full(WORDS, 10 * call + node.number, np.int32)))[-1]))
        await node.cop.y_load()
        found.append(int((await node.cop.y_func(np.full(40, node.number, np.int32)))[-1]))
    return found


def test_a_node_alone_in_its_instance_goes_through_the_phases_with_each_call() -> None:
    topology = mesh(2, 2)
    plan = make_plan(compile_text(TEXT, topology=topology), NodeShape(), name="x")
    assert [[one.operator.label for one in phase.operators] for phase in plan.phases] == [
        ["x/reduce"],
        ["x/broadcast"],
        ["y"],
    ]
    images = make_images(plan)
    with Machine(images.shape, topology, engine="model") as machine:
        nodes = [numesh_node(images, number, machine) for number in range(topology.nodes)]
        record = run_nodes(nodes, application, machine)
    for number, got in enumerate(record.results):
        greatest = 3 if number else 0
        assert got == [greatest, 10 + greatest, 20 + greatest, (number - 1) % 4] * ROUNDS
