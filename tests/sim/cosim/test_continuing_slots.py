"""An operator that continues with other slots and another bandwidth, while its nodes are in different phases.

The shift s has one word a period beside three other shifts, and more beside f. Nodes with even numbers call it in the phase of
f, the others when they have gone on already, and each lingers as long as it likes. Faults planted in the images are found
by the judge and show in the run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from zlib import crc32

import numpy as np
import pytest

from cosim.numesh.machine import EngineName, Machine
from cosim.session import run_nodes
from numesh.codes import Codes, MoveType
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images, NodePhase
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided
from pointsman.runtime import Node
from pointsman.runtime.numesh.substrate import numesh_node
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

ROUNDS = 8
WORDS = 40
TEXT = f"""
(parallel
  (cshift 's 1 :m {WORDS})
  (loop 'l {ROUNDS}
    (phase (cshift 'a 1 :m 12 :b 0.13) (cshift 'b 3 :m 12 :b 0.13) (cshift 'c 2 :m 12 :b 0.13))
    (cshift 'f 1 :m 9 :b 0.07)))
"""
CROWDED, QUIET = 0, 1


@pytest.fixture(scope="module")
def images() -> Images:
    program = compile_text(TEXT, topology=mesh(2, 2))
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: True))
    shape = NodeShape(vfsms=64, registers=32)
    found = make_images(make_plan(program, shape, name="test", period=16, structures=[structure]))
    report = check_images(found)
    assert report.ok, report.render()
    assert report.counts["VFSMs that continue in other slots"] == 10
    assert found.phases[QUIET].technique == "msg-sync"
    return found


def words(*what: object) -> np.ndarray:
    return np.array([crc32(repr((*what, k)).encode()) & 0x7FFFFFFF for k in range(WORDS)], np.int32)


async def main(node: Node) -> list[list[int]]:
    cop, here = node.cop, node.number
    got: list[list[int]] = []

    async def shift(name: str, k: int, count: int) -> None:
        await cop.__getattr__(f"{name}_load")()
        got.append((await cop.__getattr__(f"{name}_func")(words(name, k, here)[:count])).tolist())

    async def linger(*what: object) -> None:
        await node.compute(crc32(repr((here, *what)).encode()) % 700)

    await cop.l_load()
    for k in range(ROUNDS):
        for name in "abc":
            await shift(name, k, 12)
        await linger("f", k)
        await shift("f", k, 9)
        if here % 2 and k + 1 < ROUNDS:
            await cop.a_load()  # on to the next phase
        await shift("s", k, WORDS)
        await linger("on", k)
    return got


def expected(here: int) -> list[list[int]]:
    return [
        words(name, k, (here - by) % 4)[:count].tolist()
        for k in range(ROUNDS)
        for name, by, count in (("a", 1, 12), ("b", 3, 12), ("c", 2, 12), ("f", 1, 9), ("s", 1, WORDS))
    ]


def run(images: Images, engine: EngineName) -> list[list[list[int]]]:
    with Machine(images.shape, images.topology, engine=engine, progress=False) as machine:
        nodes = [numesh_node(images, number, machine) for number in range(4)]
        record = run_nodes(nodes, main, machine)
        state = machine.state()
    assert not state["full"].any()
    assert not state["held"].any()
    return record.results


@pytest.mark.parametrize("engine", ["model", pytest.param("verilated", marks=pytest.mark.slow)])
def test_words_go_on_between_phases_with_other_slots(images: Images, engine: EngineName) -> None:
    assert run(images, engine) == [expected(node) for node in range(4)]


# -- faults --------------------------------------------------------------------------------------------------------


def changed(images: Images, phase: int, change: Callable[[int, list[list[int]]], None]) -> Images:
    """The images with another schedule of a phase, which ``change`` writes by node as rows of slots."""
    nodes = []
    for number, image in enumerate(images.nodes):

        def again(part: NodePhase, number: int = number) -> NodePhase:
            rows = [list(row) for row in part.schedule]
            if part.phase == phase:
                change(number, rows)
            return replace(part, schedule=tuple(map(tuple, rows)))

        nodes.append(replace(image, phases=tuple(map(again, image.phases))))
    return replace(images, nodes=tuple(nodes))


def own(images: Images, node: int) -> dict[tuple[int, int], list[set[int]]]:
    """VFSMs that a node has in both phases, with their slots in each."""
    found: dict[tuple[int, int], list[set[int]]] = {}
    for phase in (CROWDED, QUIET):
        part = next(one for one in images.nodes[node].phases if one.phase == phase)
        for r in part.annotations:
            slots = {t for t, row in enumerate(part.schedule) if row[r.pipeline] == r.vfsm}
            found.setdefault((r.pipeline, r.vfsm), []).append(slots)
    return {vfsm: slots for vfsm, slots in found.items() if len(slots) == 2}


def judged(images: Images, message: str) -> None:
    report = check_images(images)
    found = [one.message for one in report.findings if one.rule == "continuing"]
    assert any(message in one for one in found), report.render()


def wrong(images: Images) -> bool:
    """Does it show in the run?"""
    try:
        return run(images, "model") != [expected(node) for node in range(4)]
    except (PointsmanError, AssertionError):
        return True  # words are waited for in vain, or left over


def test_fault_no_slot_in_common(images: Images) -> None:
    """Where the slots of one phase are all others than those of the other, neighbours that wait for each other wait for ever."""

    def apart(node: int, rows: list[list[int]]) -> None:
        for (pipeline, vfsm), (crowded, quiet) in own(images, node).items():
            for slot in crowded & quiet:
                assert rows[slot][pipeline] == vfsm
                rows[slot][pipeline] = 0

    faulty = changed(images, QUIET, apart)
    judged(faulty, "its words wait while node")
    assert wrong(faulty)


def test_fault_a_wire_of_another_in_the_phase_before(images: Images) -> None:
    """In the phase of f the shift gets a slot in which the wire is another's in the crowded phase: whoever is there already sends
    a word of that, and whoever is in the phase of f still takes it for the shift's."""
    codes = Codes(images.shape)
    parts = {(node, part.phase): part for node, image in enumerate(images.nodes) for part in image.phases}

    def links(node: int, phase: int, *, sends: bool) -> dict[tuple[int, int, int], list[int]]:
        """By pipeline, VFSM and port of those that send to, or read from, a neighbour: their slots."""
        part = parts[node, phase]
        found = {}
        for r in part.annotations:
            place = r.annotation.destination if sends else r.annotation.source
            if codes.is_neighbour(place) and (sends or r.annotation.type != MoveType.FORK):
                slots = [t for t, row in enumerate(part.schedule) if row[r.pipeline] == r.vfsm]
                found[r.pipeline, r.vfsm, place] = slots
        return found

    planted = 0
    faulty = images
    for reader in range(4):
        mine = own(images, reader)
        for (pipeline, vfsm, port), _ in links(reader, QUIET, sends=False).items():
            if (pipeline, vfsm) not in mine:
                continue
            sender, far = images.topology.at_port[reader][port]
            taken = {
                slot
                for (p, v, to), slots in links(sender, CROWDED, sends=True).items()
                if to == far and (p, v) not in own(images, sender)
                for slot in slots
            }
            for slot in sorted(taken):
                after = (slot + 1) % images.period
                if parts[reader, QUIET].schedule[after][pipeline] > 1:
                    continue

                def plant(
                    node: int,
                    rows: list[list[int]],
                    at: tuple[int, int, int, int] = (reader, after, pipeline, vfsm),
                ) -> None:
                    if node == at[0]:
                        rows[at[1]][at[2]] = at[3]

                faulty = changed(faulty, QUIET, plant)
                planted += 1
    assert planted
    judged(faulty, "takes words of another for it in slot")
    assert wrong(faulty)


def test_fault_a_wire_of_another_in_the_phase_after(images: Images) -> None:
    """The other way: a word of the shift from a node that lingers beside f comes to another VFSM in the crowded phase."""
    codes = Codes(images.shape)
    found = []
    for node, image in enumerate(images.nodes):
        parts = {part.phase: part for part in image.phases}
        for r in parts[QUIET].annotations:
            if (r.pipeline, r.vfsm) not in own(images, node) or not codes.is_neighbour(r.annotation.destination):
                continue
            reader, port = images.topology.at_port[node][r.annotation.destination]
            there = next(part for part in images.nodes[reader].phases if part.phase == CROWDED)
            only = own(images, node)[r.pipeline, r.vfsm][1] - own(images, node)[r.pipeline, r.vfsm][0]
            others = [
                a
                for a in there.annotations
                if a.annotation.source == port
                and a.annotation.type == MoveType.MOVE
                and (a.pipeline, a.vfsm) not in own(images, reader)
            ]
            found += [
                (reader, (slot + 1) % images.period, a.pipeline, a.vfsm)
                for slot in sorted(only)
                for a in others
                if there.schedule[(slot + 1) % images.period][a.pipeline] <= 1
            ]
    assert found

    def plant(node: int, rows: list[list[int]]) -> None:
        for reader, slot, pipeline, vfsm in found:
            if reader == node:
                rows[slot][pipeline] = vfsm

    faulty = changed(images, CROWDED, plant)
    judged(faulty, "takes its words")
    assert wrong(faulty)
