"""Phases whose wires and registers are used again because phases in between depend on each other: they run, and the judge
finds faults in each rule."""

from __future__ import annotations

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.plan.conflicts import collisions as conflicts
from pointsman.plan.conflicts import happens_before as dependencies
from pointsman.plan.make_plan import make_plan
from pointsman.plan.memory import capacity as fit
from pointsman.plan.memory.kept_registers import keeps_registers
from pointsman.plan.phases import phase_set as planner
from pointsman.plan.plan import Plan
from pointsman.plan.structure.structure import outline
from pointsman.runtime import Node
from pointsman.runtime.numesh.substrate import numesh_node
from pointsman.targets.numesh import allocation, make_images
from pointsman.verify.images import check_images

NODES, ROUNDS, WORDS = 4, 5, 40
TEXT = f"""(loop 'l {ROUNDS}
  (allreduce 'a 'add :m 1)
  (stream 's (runtime) (runtime) :m 6)
  (broadcast 'b (runtime) :m {WORDS}))"""


def planned(text: str = TEXT, *size: int) -> Plan:
    program = compile_text(text, topology=mesh(*(size or (NODES,))))
    return make_plan(program, NodeShape(), name="test", period=16, structures=[outline(program)])


def run(made: Images, slow: int) -> list[list[int]]:
    """What every node gets, one of them slow after each use of a phase."""

    async def main(node: Node) -> list[int]:
        cop, got = node.cop, []
        await cop.l_load()
        for k in range(ROUNDS):
            await cop.a_load()
            got.append(int((await cop.a_func(np.array([node.number + k])))[0]))
            source, end = k % NODES, (2 * k + 1) % NODES
            await cop.s_load(source, end)
            if node.number == source:
                await cop.s_write(np.arange(6) + k)
            if node.number == end:
                got += [int(word) for word in await cop.s_read()]
            await cop.b_load(end)
            if node.number == end:
                await cop.b_write(np.arange(WORDS) + 100 * k)
            else:
                got += [int(word) for word in await cop.b_read()]
            if node.number == slow:
                await node.compute(700)
        return got

    def add(one: np.ndarray, other: np.ndarray, out: np.ndarray) -> None:
        out[:] = one + other

    with Machine(made.shape, made.topology, engine="model") as machine:
        nodes = [numesh_node(made, number, machine, functions={"add": add}) for number in range(NODES)]
        return run_nodes(nodes, main, machine, max_cycles=200_000).results


def wanted(node: int) -> list[int]:
    found: list[int] = []
    for k in range(ROUNDS):
        found.append(sum(range(NODES)) + NODES * k)
        end = (2 * k + 1) % NODES
        if node == end:
            found += [i + k for i in range(6)]
        else:
            found += [i + 100 * k for i in range(WORDS)]
    return found


@pytest.fixture(scope="module")
def images() -> Images:
    return make_images(planned())


def test_phases_end_by_messages_though_their_wires_are_used_again(images: Images) -> None:
    assert [phase.technique for phase in images.phases] == ["msg-sync", "barrier", "msg-sync"]
    report = check_images(images)
    assert report.ok, report.findings
    assert report.counts["links written again by dependency"] > 0


@pytest.mark.parametrize("slow", range(NODES))
def test_everything_arrives_whoever_is_slow(images: Images, slow: int) -> None:
    results = run(images, slow)
    assert results == [wanted(node) for node in range(NODES)]


def rules(made: Images) -> set[str]:
    return {finding.rule for finding in check_images(made).findings}


def test_judge_finds_wires_used_again_without_a_dependency(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        dependencies.HappensBefore, "all_left", lambda known, *_: [(1 << known.nodes) - 1] * known.nodes
    )
    assert "wires" in rules(make_images(planned()))


def test_judge_finds_registers_shared_without_a_dependency(monkeypatch: pytest.MonkeyPatch) -> None:
    # A row may be through with its stream and broadcast again while the other row has not left the broadcast before.
    text = "(define rows (make-1d 'x)) (loop 'l 5 (broadcast 'b 0 :m 60) (subset rows (stream 's 0 1 :m 3)))"
    plan = planned(text, 2, 2)
    assert plan.phases[0].barrier is None
    assert keeps_registers(plan.structure, plan.phases)[0]
    assert not rules(make_images(plan))
    for module in (fit, allocation):
        monkeypatch.setattr(module, "keeps_registers", lambda structure, phases: [False] * len(phases))
    assert "registers" in rules(make_images(planned(text, 2, 2)))


def test_judge_finds_a_node_that_does_not_wait_for_its_neighbours(monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(phases: list[object], *_: object, **__: object) -> list[frozenset[int]]:
        return [frozenset()] * len(phases)

    text = f"(loop 'l {ROUNDS} (stream 's (runtime) (runtime) :m 6) (stream 't (runtime) (runtime) :m 6))"
    assert check_images(make_images(planned(text))).ok
    monkeypatch.setattr(planner, "settling", nothing)
    assert "wires" in rules(make_images(planned(text)))


def test_node_need_not_wait_before_phases_on_other_wires() -> None:
    program = compile_text(
        "(define rows (make-1d 'x)) (define cols (make-1d 'y))"
        "(loop 'l 5 (subset rows (stream 's (runtime) (runtime) :m 6)) (subset cols (stream 't (runtime) (runtime) :m 6)))",
        topology=mesh(2, 2),
    )
    plan = make_plan(program, NodeShape(), name="test", period=16, structures=[outline(program)])
    found = conflicts.settling(plan.phases, plan.structure, aliased_handshake=False)
    assert found == [frozenset({0}), frozenset({1})]
    assert check_images(make_images(plan)).ok


def test_operator_that_needs_its_phase_left_is_refused_when_it_is_not(images: Images) -> None:
    async def main(node: Node) -> None:
        cop = node.cop
        await cop.l_load()
        await cop.a_load()
        await cop.a_func(np.array([1]))
        await cop.s_load(0, 1)
        if node.number == 0:
            await cop.s_write(np.arange(6))
        if node.number == 1:
            await cop.s_read()
        await cop.s_load(2, 3)

    assert not any(lane.turn < 0 for _, view in images.nodes[0].operators for role in view.roles for lane in role.lanes)
    with Machine(images.shape, images.topology, engine="model") as machine:
        nodes = [
            numesh_node(images, number, machine, functions={"add": lambda one, other, out: None})
            for number in range(NODES)
        ]
        with pytest.raises(PointsmanError, match="has not been left since the last ones"):
            run_nodes(nodes, main, machine, max_cycles=50_000)


def test_node_that_loads_an_operator_and_does_not_use_it_is_told(images: Images) -> None:
    async def main(node: Node) -> None:
        await node.cop.l_load()
        await node.cop.a_load()
        await node.cop.s_load(0, 1)

    with Machine(images.shape, images.topology, engine="model") as machine:
        nodes = [
            numesh_node(images, number, machine, functions={"add": lambda one, other, out: None})
            for number in range(NODES)
        ]
        with pytest.raises(PointsmanError, match=r"leaves phase 'a' and has called a_load, but not used 'a'"):
            run_nodes(nodes, main, machine, max_cycles=50_000)
