"""Marks of residency against a model that writes every place."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import lru_cache

import pytest

from numesh.codes import Codes
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.artifacts.images.readmemh import memories_of
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.structure import outline
from pointsman.runtime.numesh.residency import Memories, Place
from pointsman.runtime.numesh.scheduling.made import schedule_moves
from pointsman.targets.numesh import make_images

TEXT = "(loop 'l 9 (broadcast 'b (runtime) :m 1) (cshift 'c 1 :m 1) (optional (allreduce 'r 'add :m 1)) (cshift 'd 1 :m 2))"


@lru_cache
def images(vfsms: int, depth: int) -> Images:
    program = compile_text(TEXT, topology=mesh(3))
    shape = NodeShape(vfsms=vfsms, schedule_depth=depth)
    return make_images(make_plan(program, shape, name="p", period=16, structures=[outline(program)]))


@pytest.mark.parametrize(("vfsms", "depth"), [(32, 128), (8, 128), (8, 64), (32, 64)])
@pytest.mark.parametrize("node", [0, 1])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_held_stands_in_the_router(vfsms: int, depth: int, node: int, seed: int) -> None:
    made, chance = images(vfsms, depth), random.Random(seed)
    memories = Memories(made, node, preloaded=False)
    holds: dict[Place, object] = {}
    blocks: dict[int, int] = {}
    wanted = {phase: dict(given) for phase, given in memories.given.items()}
    loads = 0
    for step in range(200):
        phase = chance.choice(sorted(wanted))
        # A load function may want annotations otherwise first.
        for place in sorted(memories.changing[phase]):
            if chance.random() < 0.3 and not memories.marks.holds(phase):
                wanted[phase][place] = ("changed", step, place)
                memories.marks.wanted(phase, [place])
        if not memories.marks.holds(phase):
            loads += 1
            for one in (*memories.loaded_with(phase), phase):
                for place in memories.missing(one):
                    holds[place] = wanted[one][place]
                if one not in memories.marks.resident:
                    blocks[memories.block[one]] = one
                memories.marks.loaded(one)
        for one in wanted:
            if memories.marks.holds(one):
                assert blocks[memories.block[one]] == one
                assert all(holds[place] == stands for place, stands in wanted[one].items()), (one, step)
        assert memories.marks.holds(phase)
    if (vfsms, depth) == (32, 128):
        assert loads <= len(wanted)
        assert len(memories.marks.shared.staying) == len(wanted)
    else:
        assert loads > len(wanted) or not memories.marks.shared.rivals


@pytest.mark.parametrize("node", range(6))
def test_what_is_held_stands_in_the_router_with_schedules_made_at_run_time(node: int) -> None:
    shifts = (
        "(loop 'l 5 (cshift 'a (runtime) :m 3 :impl 'sch_shift_runtime) (cshift 'b (runtime) :impl 'sch_shift_runtime))"
    )
    program = compile_text(shifts, topology=mesh(3, 2))
    made = make_images(make_plan(program, NodeShape(), name="p", structures=[outline(program)]))
    memories, chance = Memories(made, node, preloaded=False), random.Random(node)
    assert len(memories.given) == 2
    makers = [i for i, one in enumerate(made.operators) if one.instances]
    holds: dict[Place, object] = {}
    for step in range(60):
        index = chance.choice(makers)
        phase = made.operators[index].phase
        if chance.random() < 0.7:
            distance = chance.randrange(1, 6)
            moves = tuple((k, (k + distance) % 6) for k in range(6))
            memories.replaced(schedule_moves(made, index, 0, moves).parts[node])
        for one in (*memories.loaded_with(phase), phase) if not memories.marks.holds(phase) else ():
            holds |= {place: memories.given[one][place] for place in memories.missing(one)}
            memories.marks.loaded(one)
        assert memories.marks.holds(phase)
        for one, given in memories.given.items():
            if memories.marks.holds(one):
                assert all(holds[place] == stands for place, stands in given.items()), (one, step)


def test_phases_that_surely_come_are_loaded_together() -> None:
    memories = Memories(images(32, 128), 0, preloaded=False)
    # Each is entered through a barrier, and loaded while neighbours settle.
    assert memories.loaded_with(0) == []
    memories = Memories(_unsettled(images(32, 128)), 0, preloaded=False)
    # The loop goes from 0 to 1 and 3, and perhaps to 2.
    assert memories.loaded_with(0) == [1, 3]
    memories.marks.loaded(1)
    assert memories.loaded_with(0) == [3]
    assert Memories(_unsettled(images(8, 64)), 0, preloaded=False).loaded_with(0) == []


def _unsettled(made: Images) -> Images:
    nodes = (replace(n, phases=tuple(replace(part, settle=()) for part in n.phases)) for n in made.nodes)
    return replace(made, nodes=tuple(nodes))


@pytest.mark.parametrize(("vfsms", "depth"), [(32, 128), (8, 64)])
def test_preloaded_memories_hold_what_is_marked(vfsms: int, depth: int) -> None:
    made = images(vfsms, depth)
    for node, contents in enumerate(memories_of(made)):
        memories = Memories(made, node, preloaded=True)
        assert any(memories.marks.holds(phase) for phase in memories.given)
        codes = Codes(made.shape)
        for phase, p in memories.marks.whole:
            for (pipeline, vfsm), annotation in memories.given[phase].items():
                if pipeline == p:
                    assert contents.annotations[p][vfsm] == codes.encode_annotation(annotation)
