"""Schedules made at run time in a phase that has other operators too."""

from __future__ import annotations

import random

import numpy as np

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.runtime import Node, numesh_node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

TEXT = """
(loop 'l 5
  (parallel
    (permute 'p (runtime) :m 5 :impl 'sch_permute_runtime)
    (stream 's (runtime) 3 :m 2 :b 0.1)))
"""


def test_words_of_the_other_operator_survive_new_schedules() -> None:
    program = compile_text(TEXT, topology=mesh(2, 2))
    images = make_images(make_plan(program, NodeShape(), name="beside", period=24))
    assert check_images(images).ok
    assert len(images.phases) == 1

    async def main(node: Node) -> list[str]:
        got: list[str] = []
        choose = random.Random(5)
        pause = random.Random(node.number)
        for turn in range(5):
            source, order = choose.randrange(4), choose.sample(range(4), 4)
            await node.cop.s_load(source)
            if node.number == source:
                # Its words wait in routers while these get the new schedule.
                await node.cop.s_write(np.arange(2) + 100 * turn)
            await node.compute(pause.randrange(60))
            await node.cop.p_load(order)
            got.append(str(await node.cop.p_func(np.arange(5) + 10 * node.number + turn)))
            if node.number == 3:
                got.append(str(await node.cop.s_read()))
        return got

    expected = ReferenceMachine(program).run(main)
    with Machine(NodeShape(), mesh(2, 2), engine="model", progress=False) as machine:
        nodes = [numesh_node(images, number, machine) for number in range(4)]
        record = run_nodes(nodes, main, machine, max_cycles=200_000)
    assert record.results == expected.results
