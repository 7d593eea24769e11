"""Schedules made at run time in a phase that has other operators too."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.runtime import Category, Node, numesh_node
from pointsman.runtime.numesh import port
from pointsman.runtime.numesh.scheduling import made
from pointsman.runtime.numesh.scheduling.made import Schedule
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


@pytest.mark.parametrize("kind", ["permute", "cshift", "eoshift"])
@pytest.mark.parametrize("size", [(2, 2), (1, 1), (5, 1), (3, 2, 2)])
def test_messages_are_passed_on_where_slots_are_lacking(
    kind: str, size: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    impl = "sch_permute_runtime" if kind == "permute" else "sch_shift_runtime"
    program = compile_text(f"(loop 'l 3 ({kind} 'o (runtime) :m 5 :impl '{impl}))", topology=mesh(*size))
    nodes = program.topology.nodes
    shape = NodeShape(neighbours=max(4, program.topology.ports))
    images = make_images(make_plan(program, shape, name="ring", period=8, effort=0.2))
    orders = iter([1, 0, 1])
    monkeypatch.setattr(port, "scheduled_moves", lambda *given: _made(orders, nodes, *given))

    async def main(node: Node) -> list[str]:
        got: list[str] = []
        choose, pause = random.Random(5), random.Random(node.number)
        for turn in range(3):
            value: object = choose.randrange(nodes) if kind != "permute" else choose.sample(range(nodes), nodes)
            await node.cop.o_load(value)
            for call in range(2):
                await node.compute(pause.randrange(60))
                got.append(str(await node.cop.o_func(np.arange(5) + 10 * node.number + 1000 * turn + 100 * call)))
        return got

    expected = ReferenceMachine(program).run(main)
    with Machine(shape, mesh(*size), engine="model", progress=False) as machine:
        run = [numesh_node(images, number, machine) for number in range(nodes)]
        record = run_nodes(run, main, machine, max_cycles=500_000)
    assert record.results == expected.results
    said = {remark for node in run for remark in node.substrate.remarks}
    assert len(said) == (nodes > 1)
    assert all("found no slots among 8; its messages were passed on from node to node" in remark for remark in said)


def _made(orders: Iterator[int], nodes: int, *given: Any) -> Schedule:
    """A schedule as if slots were lacking for every second value, alike at all nodes."""
    moves = given[-1]
    key = moves
    if key not in _KNOWN or _KNOWN[key][0] is not orders:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(made, "ORDERS", 8 if next(orders) == 0 else 0)
            _KNOWN[key] = orders, made.schedule_moves(*given)
    return _KNOWN[key][1]


_KNOWN: dict[Any, tuple[Iterator[int], Schedule]] = {}


def test_the_default_schedule_holds_every_permutation() -> None:
    """Seen with 8 slots: no slots found for 15 streams in 8 slots, at run time."""
    program = compile_text("(loop 'round 3 (permute 'p (runtime) :m 20))", topology=mesh(4, 4))
    images = make_images(make_plan(program, NodeShape(), name="default"))
    assert check_images(images).ok

    async def main(node: Node) -> list[str]:
        choose = random.Random(1)
        got = []
        for turn in range(3):
            await node.cop.p_load(choose.sample(range(16), 16))
            got.append(str(await node.cop.p_func(np.arange(20) + 100 * node.number + turn)))
        return got

    expected = ReferenceMachine(program).run(main)
    with Machine(NodeShape(), mesh(4, 4), engine="model", progress=False) as machine:
        run = [numesh_node(images, number, machine) for number in range(16)]
        record = run_nodes(run, main, machine, max_cycles=500_000)
    assert record.results == expected.results
    assert not any(node.substrate.remarks for node in run)


def test_making_a_schedule_is_no_computing_of_the_application() -> None:
    program = compile_text("(loop 'l 2 (cshift 'c (runtime) :m 3 :impl 'sch_shift_runtime))", topology=mesh(3))
    images = make_images(make_plan(program, NodeShape(), name="shift"))

    async def main(node: Node) -> None:
        for distance in (1, 2):
            await node.cop.c_load(distance)
            await node.cop.c_func(np.arange(3))

    with Machine(NodeShape(), mesh(3), engine="model", progress=False) as machine:
        record = run_nodes([numesh_node(images, number, machine) for number in range(3)], main, machine)
    assert not record.cycles[:, Category.CPU].any()
    assert (record.cycles[:, Category.REPROG] > 100).all()
