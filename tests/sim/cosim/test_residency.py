"""Programs with more phases than the schedule memory holds: who is loaded when, and that nothing goes wrong meanwhile."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from cosim.machine import Machine
from cosim.record import Record
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.images import images_from_bytes, images_to_bytes
from pointsman.images.image import Images
from pointsman.images.readmemh import memories_of
from pointsman.network import mesh
from pointsman.plan import candidates
from pointsman.plan.build import make_plan
from pointsman.plan.roles import PlanError
from pointsman.plan.structure import Structure, outline
from pointsman.runtime import Node
from pointsman.runtime.numesh import NumeshSubstrate, numesh_node
from pointsman.runtime.router import Router
from pointsman.streams.check import check_images
from pointsman.targets.numesh import make_images

ROUNDS = 3
PHASES = 12
PERIOD = 16


@pytest.fixture(autouse=True)
def _a_phase_for_each_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    def only(program: object, *_: object, **__: object) -> list[Structure]:
        return [outline(program)]  # type: ignore[arg-type]

    monkeypatch.setattr(candidates, "divisions", only)


def text(words: int) -> str:
    """Shifts in a loop, a phase each."""
    shifts = " ".join(f"(cshift 's{k} 1 :m {words})" for k in range(PHASES))
    return f"(loop 'l {ROUNDS} {shifts})"


@lru_cache
def images(words: int, blocks: int) -> Images:
    shape = NodeShape(schedule_depth=blocks * PERIOD, vfsms=128, registers=64)
    made = make_images(make_plan(compile_text(text(words), topology=mesh(2)), shape, name="many", period=PERIOD))
    report = check_images(made)
    assert report.ok, report.render()
    return images_from_bytes(images_to_bytes(made))


async def main(node: Node, words: int) -> list[int]:
    out = []
    await node.cop.l_load()
    for j in range(ROUNDS):
        for k in range(PHASES):
            cop = node.cop
            await getattr(cop, f"s{k}_load")()
            if (node.number + j + k) % 3 == 0:
                await node.compute(300)
            got = await getattr(cop, f"s{k}_func")(np.arange(words) + 100 * node.number + k)
            out.append(int(got[-1]))
    return out


def run(made: Images, words: int, *, preload: bool = False) -> tuple[Record, list[int]]:
    async def program(node: Node) -> list[int]:
        return await main(node, words)

    with Machine(made.shape, made.topology, engine="model") as machine:
        if preload:
            machine.preload(memories_of(made))
        nodes = [numesh_node(made, n, machine, preloaded=preload) for n in range(made.topology.nodes)]
        record = run_nodes(nodes, program, machine)
        assert not machine.state()["full"].any()
    loads = [node.substrate.router.loads for node in nodes if isinstance(node.substrate, NumeshSubstrate)]
    return record, loads


def expected(words: int) -> list[list[int]]:
    return [[100 * (1 - n) + k + words - 1 for _ in range(ROUNDS) for k in range(PHASES)] for n in range(2)]


@pytest.mark.parametrize(("words", "blocks"), [(1, 4), (20, 4)])
def test_twelve_phases_take_turns_in_a_small_memory(words: int, blocks: int) -> None:
    made = images(words, blocks)
    assert max(phase.block for phase in made.phases) < blocks
    record, loads = run(made, words)
    assert record.results == expected(words)
    # All have their turn in a round, so each is loaded in each round; where there is room, one stays.
    assert all(PHASES < load <= ROUNDS * PHASES for load in loads)


def test_with_room_for_all_each_is_loaded_once() -> None:
    made = images(1, 16)
    record, loads = run(made, 1)
    assert record.results == expected(1)
    assert loads == [PHASES] * 2


def test_fault_what_was_overwritten_counts_as_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    made = images(1, 4)
    load = Router.load

    async def forgetful(router: Router, phase: int) -> None:
        before = set(router.resident)
        await load(router, phase)
        router.resident |= before

    monkeypatch.setattr(Router, "load", forgetful)
    with pytest.raises(PointsmanError):
        run(made, 1)


def test_preloaded_the_first_of_each_block_is_there() -> None:
    record, loads = run(images(1, 4), 1, preload=True)
    assert record.results == expected(1)
    assert all(load <= ROUNDS * PHASES - 3 for load in loads)


def test_a_memory_without_room_for_two_is_refused() -> None:
    with pytest.raises(PlanError, match="2 phases and the loader phase of 16 slots each do not fit"):
        images(1, 2)


def test_the_judge_wants_time_for_loading_after_a_barrier() -> None:
    made = images(1, 4)
    nodes = tuple(
        replace(
            node,
            phases=tuple(replace(part, settle=tuple((later, 40) for later, _ in part.settle)) for part in node.phases),
        )
        for node in made.nodes
    )
    assert any(part.settle for node in nodes for part in node.phases)
    findings = check_images(replace(made, nodes=nodes)).findings
    assert {finding.rule for finding in findings} == {"wires"}
