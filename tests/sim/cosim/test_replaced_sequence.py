"""A seqread and a seqwrite with an end at run time that other operators do: several rounds, other phases between them."""

from __future__ import annotations

import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.runtime import Node, numesh_node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images


def run(text: str, main: object) -> list[object]:
    """Results of all nodes of 3x2, which are those of the reference machine."""
    program = compile_text(text, topology=mesh(3, 2))
    images = make_images(make_plan(program, NodeShape(), name="sequence", period=16))
    assert check_images(images).ok, check_images(images).render()
    with Machine(images.shape, images.topology, engine="model", progress=False) as machine:
        nodes = [numesh_node(images, n, machine) for n in range(6)]
        found = run_nodes(nodes, main, machine).results  # type: ignore[arg-type]
    assert found == ReferenceMachine(program).run(main).results  # type: ignore[arg-type]
    return found


def test_rounds_of_both_with_another_operator_between_them() -> None:
    text = (
        "(loop 'l 3 (sequential (seqread 'r '(4 1 2) (runtime) :m 3 :type 'int32* :impl 'repl_seq_runtime)"
        " (allreduce 'a 'max :type 'int32)"
        " (seqwrite 'w (runtime) '(2 5) :m 2 :type 'int32* :impl 'repl_seq_runtime)))"
    )

    async def main(node: Node) -> list[object]:
        got: list[object] = []
        me = node.number
        for turn, (destination, source) in enumerate([(0, 4), (5, 0), (3, 1)]):
            await node.cop.r_load(destination)
            if me in (4, 1, 2):
                await node.compute(40 * me)
                await node.cop.r_write([turn, me, 7])
            if me == destination:
                got += [list(map(int, await node.cop.r_read())) for _ in range(3)]
            await node.cop.a_load()
            got.append(int(await node.cop.a_func(me + turn)))
            await node.cop.w_load(source)
            if me == source:
                for k in range(2):
                    await node.cop.w_write([turn, k])
            if me in (2, 5):
                got.append(list(map(int, await node.cop.w_read())))
        return got

    results = run(text, main)
    assert results[0][:3] == [[0, 4, 7], [0, 1, 7], [0, 2, 7]]  # type: ignore[index]


def test_an_end_that_is_one_of_the_chain_is_refused() -> None:
    async def main(node: Node) -> None:
        await node.cop.r_load(1)

    program = compile_text("(seqread 'r '(4 1) (runtime) :impl 'repl_seq_runtime)", topology=mesh(3, 2))
    images = make_images(make_plan(program, NodeShape(), name="sequence", period=16))
    with Machine(images.shape, images.topology, engine="model", progress=False) as machine:
        nodes = [numesh_node(images, n, machine) for n in range(6)]
        with pytest.raises(PointsmanError, match="r_load: node 0 gives destination 1; legal are 0, 2, 3, 5"):
            run_nodes(nodes, main, machine)
