"""Two phases of which each node has an operator in one only (Metcalf 1997, §5.5.2): who loads what, and when."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from cosim.numesh.machine import EngineName, Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.structure import outline
from pointsman.runtime import Node
from pointsman.runtime.numesh.router import Router
from pointsman.runtime.numesh.substrate import numesh_node
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

NODES = 9
TEXT = """(sequential (subset '(0 2 4 6 8) (broadcast 'red 0 :m 2)) (subset '(1 3 5 7) (broadcast 'black 0 :m 2)))"""


@pytest.mark.parametrize("engine", ["model", pytest.param("verilated", marks=pytest.mark.slow)])
def test_red_black(engine: EngineName, monkeypatch: pytest.MonkeyPatch) -> None:
    program = compile_text(TEXT, topology=mesh(3, 3))
    plan = make_plan(program, NodeShape(), name="redblack", period=16, structures=[outline(program)])
    images = make_images(plan)
    report = check_images(images)
    assert report.ok, report.render()
    assert [phase.technique for phase in images.phases] == ["barrier", "none"]
    changes: dict[int, list[tuple[str, int]]] = defaultdict(list)
    where: dict[int, str] = {}
    jump = Router.jump

    async def noted(router: Router, phase: int, category: object) -> None:
        changes[router.number].append((where[router.number], phase))
        await jump(router, phase, category)  # type: ignore[arg-type]

    monkeypatch.setattr(Router, "jump", noted)

    async def main(node: Node) -> list[int]:
        here = node.number
        label = "black" if here % 2 else "red"
        where[here] = f"{label}_load"
        await node.compute(50 * here)
        await getattr(node.cop, f"{label}_load")()
        where[here] = "io"
        message = np.array([7 + here % 2, 9])
        if here in (0, 1):
            await getattr(node.cop, f"{label}_write")(message)
            got = message
        else:
            got = await getattr(node.cop, f"{label}_read")()
        where[here] = "fini"
        return [int(word) for word in got]

    with Machine(images.shape, images.topology, engine=engine) as machine:
        record = run_nodes([numesh_node(images, n, machine) for n in range(NODES)], main, machine)
        assert not machine.state()["full"].any()
    assert record.results == [[7 + n % 2, 9] for n in range(NODES)]
    # Words between nodes of one colour pass nodes of the other.
    parts = [{part.phase for part in node.phases} for node in images.nodes]
    passing_black = [n for n in range(1, NODES, 2) if 0 in parts[n]]
    passing_red = [n for n in range(0, NODES, 2) if 1 in parts[n]]
    assert passing_black
    assert passing_red
    for n in passing_black:
        # The load function of its own operator takes it through the other phase, barrier and all.
        assert [p for w, p in changes[n] if w == "black_load" and p >= 0] == [0, 1]
    for n in passing_red:
        # There is no load function left: cop_fini does it.
        assert [p for w, p in changes[n] if w == "red_load" and p >= 0] == [0]
        assert [p for w, p in changes[n] if w == "fini" and p >= 0] == [1]
