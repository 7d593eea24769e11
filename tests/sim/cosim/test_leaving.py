"""Nodes that leave a phase with the others of its barrier, though they stay in it or come to their end."""

from __future__ import annotations

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.record import Record
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS
from pointsman.plan import polish
from pointsman.plan.candidates import candidates
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.phases import closing as phase_ends
from pointsman.plan.structure.structure import outline
from pointsman.runtime import Node
from pointsman.runtime.numesh.substrate import numesh_node
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

COLUMNS = "(subset '((0 4) (1 5) (2 6) (3 7)) (stream 'z 0 1 :m 1))"
ROW = "(subset '(0 1 2 3) (broadcast 'b 0 :m 64))"


@pytest.fixture(autouse=True)
def _a_phase_for_each_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "divisions", lambda analysis, *_, **__: [outline(analysis.program)])
    monkeypatch.setattr(polish.Polish, "run", lambda _: None)


def images(text: str, *size: int) -> Images:
    made = make_images(make_plan(compile_text(text, topology=mesh(*size)), NodeShape(), name="test", period=16))
    report = check_images(made)
    assert report.ok, report.render()
    return made


def run(made: Images, main: object) -> Record:
    with Machine(made.shape, made.topology, engine="model") as machine:
        nodes = [numesh_node(made, number, machine) for number in range(made.topology.nodes)]
        return run_nodes(nodes, main, machine)  # type: ignore[arg-type]


async def column(node: Node, value: int, out: list[int]) -> None:
    await node.cop.z_load()
    if node.number < 4:
        await node.cop.z_write([value])
    else:
        out += [int(word) for word in await node.cop.z_read()]


async def row(node: Node, value: int, out: list[int]) -> None:
    if node.number >= 4:
        return
    await node.cop.b_load()
    if node.number == 0:
        await node.cop.b_write(np.arange(64) + value)
    else:
        out.append(int((await node.cop.b_read())[63]))


def test_a_node_at_its_end_lets_the_others_go_on() -> None:
    async def main(node: Node) -> list[int]:
        out: list[int] = []
        await column(node, 7, out)
        await row(node, 100, out)
        return out

    assert run(images(f"{COLUMNS} {ROW}", 4, 2), main).results == [[], *[[163]] * 3, *[[7]] * 4]


@pytest.mark.parametrize("slow", [(), (0, 2), (5,), (4, 5, 6, 7)])
def test_a_node_that_sees_one_phase_only_meets_those_that_see_two(slow: tuple[int, ...]) -> None:
    async def main(node: Node) -> list[int]:
        out: list[int] = []
        await node.cop.l_load()
        for k in range(4):
            if node.number in slow:
                await node.compute(700)
            await column(node, k, out)
            await row(node, 100 * k, out)
        return out

    record = run(images(f"(loop 'l 4 {COLUMNS} {ROW})", 4, 2), main)
    assert record.results == [[], *[[63, 163, 263, 363]] * 3, *[[0, 1, 2, 3]] * 4]


def test_loops_in_the_phase_are_left_each_time_round() -> None:
    async def main(node: Node) -> list[int]:
        out: list[int] = []
        await node.cop.l_load()
        for k in range(2):
            await node.cop.i_load()
            for j in range(3):
                await column(node, 10 * k + j, out)
            await row(node, 100 * k, out)
        return out

    record = run(images(f"(loop 'l 2 (loop 'i 3 {COLUMNS}) {ROW})", 4, 2), main)
    assert record.results[4:] == [[0, 1, 2, 10, 11, 12]] * 4


def test_a_node_that_could_not_tell_is_named() -> None:
    # Nodes 2 and 3 are in one of the two operators of the first phase, and see nothing of the second.
    text = "(loop 'l 3 (parallel (barrier 'p) (subset '(0 1) (stream 'q 0 1))) (subset '(0 1) (stream 'r 0 1)))"
    with pytest.raises(PlanError, match=r"node 2 cannot tell when"):
        images(text, 2, 2)


def test_words_through_other_instances_need_a_barrier() -> None:
    text = (
        "(loop 'l 3 (subset '((0 2) (1 3)) (broadcast 'b 0 :m 64)) (subset '((0 4) (1 5) (2 6) (3 7)) (stream 'z 0 1)))"
    )
    made = images(text, 4, 2)
    assert made.phases[0].technique == "barrier"
    assert made.phases[0].reason.startswith("words of one instance of the operator pass through node")


def test_the_judge_finds_words_through_nodes_that_may_have_left(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (
        "(loop 'l 3 (subset '((0 2) (1 3)) (broadcast 'b 0 :m 64)) (subset '((0 4) (1 5) (2 6) (3 7)) (stream 'z 0 1)))"
    )
    monkeypatch.setattr(phase_ends, "why_not_loose", lambda *_: None)
    only = [one for one in IMPLEMENTATIONS if one.name in ("str_bcast", "str_stream", "str_barrier_tree")]
    program = compile_text(text, topology=mesh(4, 2))
    made = make_images(make_plan(program, NodeShape(), name="test", period=16, implementations=only))
    assert made.phases[0].technique == "msg-sync"
    assert {finding.rule for finding in check_images(made).findings} == {"message-ends"}


def test_node_that_lends_its_router_passes_a_loop_once() -> None:
    made = images("(sequential (loop 'l 3 (subset '((0 1 4 5 8 13)) (broadcast 'o 5 :m 9))) (cshift 'c 1 :m 4))", 3, 5)
    assert len(made.phases) == 2
    lending = [node for node, image in enumerate(made.nodes) if {part.phase for part in image.phases} == {0, 1}]
    lending = [node for node in lending if node not in (0, 1, 4, 5, 8, 13)]
    assert lending

    async def main(node: Node) -> list[list[int]]:
        got = []
        if node.number in (0, 1, 4, 5, 8, 13):
            for k in range(4):
                await node.compute(node.number * (k + 1))
                await node.cop.o_load()
                if node.number == 13:
                    await node.cop.o_write(np.arange(9, dtype=np.int32) + k)
                else:
                    got.append((await node.cop.o_read()).tolist())
        await node.cop.c_load()
        got.append((await node.cop.c_func(np.full(4, node.number, np.int32))).tolist())
        return got

    record = run(made, main)
    for number, got in enumerate(record.results):
        assert got[-1] == [(number - 1) % 15] * 4
        if number in (0, 1, 4, 5, 8):
            assert got[:-1] == [[k + i for i in range(9)] for k in range(4)]
