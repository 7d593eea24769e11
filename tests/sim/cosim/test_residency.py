"""Programs with more phases than the schedule memory holds: who is loaded when, and that nothing goes wrong meanwhile."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from math import inf

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.record import Record
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.artifacts.images import images_from_bytes, images_to_bytes
from pointsman.artifacts.images.images import Images
from pointsman.artifacts.images.readmemh import memories_of
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.operators.scheduled.reduce import StrAllreduce
from pointsman.plan import polish
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.candidates import candidates
from pointsman.plan.errors import PlanError
from pointsman.plan.make_plan import make_plan
from pointsman.plan.phases import closing as phase_ends
from pointsman.plan.phases import phase_set
from pointsman.plan.structure.structure import Structure, outline
from pointsman.protocol.residency import Residency
from pointsman.routing.phase_router import router
from pointsman.runtime import Node
from pointsman.runtime.numesh.residency import Memories, Place
from pointsman.runtime.numesh.substrate import NumeshSubstrate, numesh_node
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

ROUNDS = 3
PHASES = 12
PERIOD = 16


@pytest.fixture(autouse=True)
def _a_phase_for_each_operator(monkeypatch: pytest.MonkeyPatch) -> None:
    def only(analysis: ProgramAnalysis, *_: object, **__: object) -> list[Structure]:
        return [outline(analysis.program)]

    monkeypatch.setattr(candidates, "divisions", only)
    # With trees and slots of their own, single words would have the same VFSMs in all phases.
    monkeypatch.setattr(router, "is_in_turn", lambda _: False)
    monkeypatch.setattr(StrAllreduce, "shallow_metric", lambda *_: None)
    monkeypatch.setattr(polish.Polish, "run", lambda _: None)
    # Phases that go round each other have no end.
    monkeypatch.setattr(phase_set, "CROWDED_OUT", inf)


def text(words: int, *, mixed: bool) -> str:
    """Shifts in a loop, a phase each, the same one or done in two ways."""
    ways = (
        "(cshift 's{k} 1 :m {words})",
        "(allreduce 's{k} 'max :m {words})" if mixed else "(cshift 's{k} 1 :m {words})",
    )
    shifts = " ".join(ways[k % 2].format(k=k, words=words) for k in range(PHASES))
    return f"(loop 'l {ROUNDS} {shifts})"


@lru_cache
def images(words: int, blocks: int, vfsms: int = 128, *, mixed: bool = False) -> Images:
    shape = NodeShape(schedule_depth=blocks * PERIOD, vfsms=vfsms, registers=64)
    made = make_images(
        make_plan(compile_text(text(words, mixed=mixed), topology=mesh(2)), shape, name="many", period=PERIOD)
    )
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


def run(made: Images, words: int, *, preload: bool = False, together: bool = True) -> tuple[Record, list[int]]:
    async def program(node: Node) -> list[int]:
        return await main(node, words)

    with Machine(made.shape, made.topology, engine="model") as machine:
        if preload:
            machine.preload(memories_of(made))
        nodes = [numesh_node(made, n, machine, preloaded=preload) for n in range(made.topology.nodes)]
        for node in nodes if not together else ():
            assert isinstance(node.substrate, NumeshSubstrate)
            node.substrate.router.memories.loaded_with = lambda *_: []  # type: ignore[method-assign]
        record = run_nodes(nodes, program, machine)
        assert not machine.state()["full"].any()
    loads = [node.substrate.router.loads for node in nodes if isinstance(node.substrate, NumeshSubstrate)]
    return record, loads


def expected(words: int, *, mixed: bool = False) -> list[list[int]]:
    """A shift gives the other node's words, an allreduce the larger ones."""
    sent = [[100 if mixed and k % 2 else 100 * (1 - n) for k in range(PHASES)] for n in range(2)]
    return [[first + k + words - 1 for _ in range(ROUNDS) for k, first in enumerate(own)] for own in sent]


@pytest.mark.parametrize(("words", "blocks"), [(1, 4), (20, 4)])
def test_twelve_phases_take_turns_in_a_small_memory(words: int, blocks: int) -> None:
    made = images(words, blocks)
    assert max(phase.block for phase in made.phases) < blocks
    record, loads = run(made, words)
    assert record.results == expected(words)
    # All have their turn in a round, so each is loaded in each round; where there is room, one stays.
    assert all(PHASES < load <= ROUNDS * PHASES for load in loads)


@pytest.mark.parametrize(("words", "technique"), [(1, "msg-sync"), (20, "hijack")])
def test_with_room_for_all_each_is_loaded_once(words: int, technique: str) -> None:
    made = images(words, 16)
    record, loads = run(made, words)
    assert record.results == expected(words)
    assert loads == [PHASES] * 2
    assert {phase.technique for phase in made.phases} == {technique}
    # What messages close is loaded together, which saves time; the rest one by one, while neighbours settle.
    together = Memories(made, 0, preloaded=False).loaded_with(0)
    apart, loads = run(made, words, together=False)
    assert apart.results == expected(words)
    assert loads == [PHASES] * 2
    if technique == "msg-sync":
        assert together == list(range(1, PHASES))
        assert record.total_cycles < apart.total_cycles
    else:
        assert together == []
        assert record.total_cycles == apart.total_cycles


@pytest.mark.parametrize(("words", "closed", "again"), [(1, 8, 4), (20, 12, 12)])
def test_phases_take_turns_in_few_vfsms(words: int, closed: int, again: int) -> None:
    made = images(words, 16, 8, mixed=True)
    assert len({phase.block for phase in made.phases}) == PHASES
    # A phase that nodes leave each for itself keeps its VFSMs and stays; there is no room for more than four such.
    assert sum(phase.barrier is not None for phase in made.phases) == closed
    record, loads = run(made, words)
    assert record.results == expected(words, mixed=True)
    # Of the others some find VFSMs that nobody else has.
    assert loads == [PHASES + (ROUNDS - 1) * again] * 2
    with_room, loads = run(images(words, 16, 32, mixed=True), words)
    assert with_room.results == expected(words, mixed=True)
    assert loads == [PHASES] * 2


@pytest.mark.parametrize(("words", "again"), [(1, [34, 32]), (20, [36, 36])])
def test_vfsms_are_loaded_again_while_neighbours_settle(
    words: int, again: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    # All phases are left together, so that those with room and those without end in the same way.
    monkeypatch.setattr(phase_ends, "why_not_loose", lambda *_: "a barrier is wanted")
    few, many = (images.__wrapped__(words, 16, vfsms, mixed=True) for vfsms in (8, 32))
    assert [phase.technique for phase in few.phases] == [phase.technique for phase in many.phases]
    assert all(cycles for node in few.nodes for part in node.phases for _, cycles in part.settle)
    assert all(len(part.settle) >= PHASES - 1 for node in few.nodes for part in node.phases)
    record, loads = run(few, words)
    assert record.results == expected(words, mixed=True)
    assert loads == again  # of at most ROUNDS * PHASES
    with_room, loads = run(many, words)
    assert loads == [PHASES] * 2
    # Schedules stay, so that a few VFSMs are all that is loaded again; nobody waits for that.
    assert record.total_cycles < 1.02 * with_room.total_cycles


def test_fault_vfsms_that_were_overwritten_count_as_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        Memories, "missing", lambda memories, phase: sorted(memories.marks.shared.contested.get(phase, ()))[1:]
    )
    with pytest.raises(PointsmanError):
        run(images(1, 16, 8, mixed=True), 1)


def test_fault_what_was_overwritten_counts_as_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    # Where all phases are alike, one that stands in another's place does as well; these differ.
    made = images(1, 4, mixed=True)
    record, _ = run(made, 1)
    assert record.results == expected(1, mixed=True)
    loaded = Residency.loaded

    def forgetful(marks: Residency[Place], phase: int) -> None:
        before = set(marks.resident)
        loaded(marks, phase)
        marks.resident |= before

    monkeypatch.setattr(Residency, "loaded", forgetful)
    with pytest.raises(PointsmanError):
        run(made, 1)


def test_preloaded_the_first_of_each_block_is_there() -> None:
    record, loads = run(images(1, 4), 1, preload=True)
    assert record.results == expected(1)
    assert all(load <= ROUNDS * PHASES - 3 for load in loads)


def test_a_memory_without_room_for_two_is_refused() -> None:
    with pytest.raises(PlanError, match="2 phases and the loader phase of 16 slots each do not fit"):
        images(1, 2)


def test_the_judge_wants_time_to_settle_after_a_barrier_also_where_phases_are_loaded() -> None:
    # Phases that hijacked messages close and that write the same wires.
    made = images(20, 4)
    assert len({phase.block for phase in made.phases}) < PHASES
    nodes = tuple(
        replace(
            node,
            phases=tuple(replace(part, settle=tuple((later, 0) for later, _ in part.settle)) for part in node.phases),
        )
        for node in made.nodes
    )
    assert any(part.settle for node in nodes for part in node.phases)
    findings = check_images(replace(made, nodes=nodes)).findings
    assert {finding.rule for finding in findings} == {"wires"}
