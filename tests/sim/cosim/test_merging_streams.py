"""Streams that join in a register of a node, which has a place for the word of each pipeline and one for the processor's."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.codes import Codes
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.structure import outline
from pointsman.runtime import numesh_node
from pointsman.runtime.api.requests import Category, Wait
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

M = 3
"""Words of a message."""
ROUNDS = 3
SHAPE = NodeShape(registers=32)


def compiled(impl: str, destination: str, size: tuple[int, ...]) -> Images:
    """A collect, a phase whose nodes wait for each other, and another one."""
    text = f"(loop 'l {ROUNDS} (collect 'c {destination} :m {M} :impl '{impl}) (barrier 'b) (cshift 'd 1 :m 2))"
    program = compile_text(text, topology=mesh(*size), file="x.cop")
    return make_images(make_plan(program, SHAPE, name="x", structures=[outline(program)]))


def registers_of_several(images: Images) -> int:
    """Registers into which several pipelines put words, or a pipeline and the processor, of all nodes."""
    codes = Codes(images.shape)
    found = 0
    for node in images.nodes:
        for part in node.phases:
            writers: dict[int, set[int]] = {}
            for one in part.annotations:
                if codes.is_register(one.annotation.destination):
                    register = one.annotation.destination - codes.first_register
                    writers.setdefault(register, set()).add(one.pipeline)
            for _, here in node.operators:
                for register in {r for role in here.roles for lane in role.lanes if lane.write for r in lane.registers}:
                    if register in writers:
                        writers[register].add(-1)
            found += sum(len(several) > 1 for several in writers.values())
    return found


def application(seed: int, nodes: int, got: list[int]) -> Callable[[Any], Coroutine[Any, Any, None]]:
    """All nodes but the destination write at the same time; it reads so many messages as they write. ``got``: words in the order
    in which they come."""

    async def main(node: Any) -> None:
        rng = random.Random(f"{seed} {node.number}")
        for k in range(ROUNDS):
            await Wait(rng.choice([0, 0, 5, 60, 200]), Category.CPU)
            await node.cop.c_load(0)
            if node.number:
                await node.cop.c_write(np.arange(M, dtype=np.int32) + 1000 * node.number + 10 * k)
            else:
                for _ in range(nodes - 1):
                    await Wait(rng.choice([0, 0, 30, 90]), Category.CPU)
                    got.extend((await node.cop.c_read()).tolist())
            await node.cop.b_load()
            await node.cop.b_func()
            await node.cop.d_load()
            back = await node.cop.d_func(np.array([node.number, k], np.int32))
            assert back.tolist() == [(node.number - 1) % nodes, k]

    return main


@pytest.mark.parametrize(
    ("impl", "destination"),
    [
        ("str_collect_runtime", "(runtime)"),
        ("str_collect_tree", "(runtime)"),
        ("str_collect_dim", "(runtime)"),
        ("sch_collect_dense", "(runtime)"),
        ("sch_collect_dim", "(runtime :values '(0 3))"),
    ],
)
@pytest.mark.parametrize("size", [(2, 2), (3, 2)])
def test_no_word_is_lost_or_doubled_where_several_write_at_once(
    impl: str, destination: str, size: tuple[int, ...]
) -> None:
    """More than a collect promises, whose writers take turns: words of two nodes may come in any order, those of one may not."""
    images = compiled(impl, destination, size)
    assert check_images(images).ok
    assert registers_of_several(images)
    nodes = images.topology.nodes
    for seed in range(4):
        got: list[int] = []
        with Machine(images.shape, images.topology, engine="model", progress=False) as machine:
            ports = [numesh_node(images, n, machine) for n in range(nodes)]
            run_nodes(ports, application(seed, nodes, got), machine, max_cycles=100_000)
            assert not machine.state()["full"].any()
        sent = [1000 * n + 10 * k + i for k in range(ROUNDS) for n in range(1, nodes) for i in range(M)]
        assert Counter(got) == Counter(sent)
        for n in range(1, nodes):
            assert [word for word in got if word // 1000 == n] == [word for word in sent if word // 1000 == n]
