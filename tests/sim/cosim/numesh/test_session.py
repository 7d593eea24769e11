"""Whole programs on the cycle model: random operators, subsets, messages and pauses; nothing lost, nothing left."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from loading import module_at
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.plan import polish
from pointsman.plan.candidates import candidates
from pointsman.plan.structure.structure import outline
from pointsman.runtime import Node, numesh_node
from pointsman.targets.numesh.images import most_load_cycles
from pointsman.verify.images import check_images

SIZES = ((1, 1), (1, 4), (4, 1), (2, 2), (3, 3), (3, 5), (2, 3), (4, 4))
FOUND_FAULTS = (5, 30, 41, 107, 479)
"""Programs that showed faults while phases were being built: early words, loads of different length, idle heads."""
SLOW_FAULTS = (219, 243, 424, 664)
"""Such programs that take long to plan."""


@pytest.fixture(scope="module")
def programs() -> ModuleType:
    return module_at(Path(__file__).parents[1] / "random_programs.py")


def run_case(programs: ModuleType, seed: int) -> None:
    case = programs.random_case(seed, SIZES)
    report = check_images(case.images)
    assert report.ok, report.render()
    with Machine(case.images.shape, case.images.topology, engine="model") as machine:
        nodes = [numesh_node(case.images, number, machine) for number in range(case.images.topology.nodes)]
        record = run_nodes(nodes, case.main, machine)
        state = machine.state()
    assert [wrong for result in record.results for wrong in result] == []
    assert not np.any(state["full"]), "words are left in interface registers"
    assert not np.any(state["held"]), "words are left in VFSM buffers"


@pytest.mark.parametrize("seed", [*FOUND_FAULTS, *range(2000, 2003)])
def test_random_programs_deliver_every_word_once(programs: ModuleType, seed: int) -> None:
    run_case(programs, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [*SLOW_FAULTS, *range(3000, 3400)])
def test_many_random_programs_deliver_every_word_once(programs: ModuleType, seed: int) -> None:
    run_case(programs, seed)


def compiled(programs: ModuleType, text: str, *size: int):
    program = programs.compile_text(text, topology=mesh(*size))
    return programs.make_images(programs.make_plan(program, programs.NodeShape(), name="test"))


def run_text(programs: ModuleType, text: str, main, *size: int):
    images = compiled(programs, text, *size)
    with Machine(images.shape, images.topology, engine="model") as machine:
        nodes = [numesh_node(images, number, machine) for number in range(images.topology.nodes)]
        return run_nodes(nodes, main, machine)


def test_a_deadlock_says_who_waits_in_which_phase_for_what(programs: ModuleType) -> None:
    async def main(node: Node) -> None:
        await node.cop.b_load()
        if node.number == 1:
            await node.cop.b_read()

    with pytest.raises(PointsmanError) as caught:
        run_text(programs, "(broadcast 'b 0)", main, 2, 1)
    message = str(caught.value)
    assert "node 1 has waited since cycle" in message
    assert "in phase 'b', b_read" in message
    assert "finished already: 0" in message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("b_read", "b_read: node 0 may only write"),
        ("b_write_unloaded", "b_write: node 0 has not called b_load"),
        ("b_func", "b_func: node 0 may only write"),
        ("b_write_long", "b_write: node 0 sends 3 words; the message has 2 (:m)"),
        ("b_write_text", "b_write: node 0 sends what is no int32*"),
        ("b_load_value", "b_load: node 0 must give no values, not 1 value"),
        ("x_write", "the COP program test has no function x_write"),
    ],
)
def test_misuse_of_an_operator_is_named(programs: ModuleType, call: str, message: str) -> None:
    async def main(node: Node) -> None:
        if node.number:
            return
        if call == "b_load_value":
            await node.cop.b_load(1)
        if call == "b_write_unloaded":
            await node.cop.b_write([1, 2])
        if call == "x_write":
            await node.cop.x_write([1])
        await node.cop.b_load()
        if call == "b_read":
            await node.cop.b_read()
        if call == "b_func":
            await node.cop.b_func([1, 2])
        await node.cop.b_write({"b_write_long": [1, 2, 3], "b_write_text": ["a", "b"]}[call])

    with pytest.raises(PointsmanError) as caught:
        run_text(programs, "(broadcast 'b 0 :m 2)", main, 2, 1)
    assert message in str(caught.value)


def test_a_run_time_value_outside_the_legal_ones_is_named(programs: ModuleType) -> None:
    async def main(node: Node) -> None:
        await node.cop.b_load(2)

    with pytest.raises(PointsmanError, match=r"b_load: node 0 gives source 2; legal are 0, 1"):
        run_text(programs, "(broadcast 'b (runtime) :m 8)", main, 2, 1)


def test_an_operator_of_a_past_phase_must_be_loaded_again(
    programs: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Short messages would share a phase.
    monkeypatch.setattr(candidates, "divisions", lambda analysis, *_, **__: [outline(analysis.program)])
    monkeypatch.setattr(polish.Polish, "run", lambda _: None)

    async def main(node: Node) -> None:
        await node.cop.a_load()
        await node.cop.a_func([1])
        await node.cop.b_load()
        await node.cop.a_func([1])

    with pytest.raises(PointsmanError, match="has gone on to phase 'b' and must call a_load again"):
        run_text(programs, "(sequential (cshift 'a 1) (cshift 'b 1))", main, 2, 1)


def test_preloaded_memories_equal_those_that_the_processors_load(programs: ModuleType) -> None:
    from pointsman.artifacts.images.readmemh import memories_of

    images = compiled(programs, "(loop 'l 2 (broadcast 'b 0 :m 30) (cshift 'c 1 :m 30))", 3, 2)

    async def main(node: Node) -> int:
        for _ in range(2):
            await node.cop.b_load()
            if node.number == 0:
                await node.cop.b_write(np.arange(30))
            else:
                await node.cop.b_read()
            await node.cop.c_load()
            await node.cop.c_func(np.arange(30))
        return node.time

    memories = []
    for preload in (False, True):
        with Machine(images.shape, images.topology, engine="model") as machine:
            nodes = [numesh_node(images, n, machine, preloaded=preload) for n in range(images.topology.nodes)]
            if preload:
                machine.preload(memories_of(images))
            record = run_nodes(nodes, main, machine)
            memories.append(machine.memories())
            assert len(record.results) == images.topology.nodes
    assert memories[0] == memories[1] == memories_of(images)


def test_loading_takes_no_longer_than_the_images_say(programs: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    from pointsman.runtime.numesh.residency import Memories
    from pointsman.runtime.numesh.router import Router

    took: dict[int, list[int]] = {}
    load = Router.load

    async def timed(router: Router, *phases: int) -> None:
        (phase,) = phases
        # Nothing of it is there, so all of it is loaded.
        assert phase not in router.memories.marks.resident
        assert len(router.memories.missing(phase)) == len(router.phases[phase].annotations)
        begun = router.clock.time
        await load(router, phase)
        took.setdefault(phase, []).append(router.clock.time - begun)

    monkeypatch.setattr(Router, "load", timed)
    # One phase at a time.
    monkeypatch.setattr(Memories, "loaded_with", lambda *_: [])
    images = compiled(programs, "(loop 'l 2 (broadcast 'b (runtime) :m 90) (barrier 'c))", 3, 3)

    async def main(node: Node) -> None:
        await node.cop.b_load(4)
        if node.number == 4:
            await node.cop.b_write(np.arange(90))
        else:
            await node.cop.b_read()
        await node.cop.c_load()
        await node.cop.c_func()

    with Machine(images.shape, images.topology, engine="model") as machine:
        nodes = [numesh_node(images, n, machine) for n in range(9)]
        run_nodes(nodes, main, machine)
    # The images' bound holds for every node and phase, and is not far from what the slowest node takes.
    assert {phase: len(cycles) for phase, cycles in took.items()} == dict.fromkeys(range(len(images.phases)), 9)
    for phase, cycles in took.items():
        bound = most_load_cycles(images, phase)
        assert bound - 8 <= max(cycles) <= bound
