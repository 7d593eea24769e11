"""Phases chosen at run time by several operators together (Metcalf 1997, §4.1.3), and streams for each value."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from cosim.numesh.machine import EngineName, Machine
from cosim.record import Record
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.artifacts.images import images_from_bytes, images_to_bytes
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.structure import outline
from pointsman.runtime import Node
from pointsman.runtime.numesh.substrate import numesh_node
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

SUBPHASES = """(loop 'l 6 (parallel (broadcast 'b (runtime :values '(0 3)) :m 4 :impl 'sch_bcast_dense)
  (cshift 's (runtime :values '(1 2)) :m 4 :impl 'sch_shift) (eoshift 'e 1 :m 4)) (cshift 'o 1 :m 4))"""
PARALLEL = SUBPHASES.replace("sch_bcast_dense", "par_bcast").replace("sch_shift", "par_shift")
ROUNDS = [(0, 1), (0, 1), (3, 2), (0, 2), (3, 1), (0, 1)]
"""Source and distance."""


@lru_cache
def images(text: str, depth: int = 256, vfsms: int = 64, *, divided: bool = False) -> Images:
    """``divided``: as the program is written, a phase for each group of operators, though it may do with fewer."""
    shape = NodeShape(schedule_depth=depth, vfsms=vfsms, registers=32)
    program = compile_text(text, topology=mesh(4))
    structures = [outline(program)] if divided else None
    made = make_images(make_plan(program, shape, name="chosen", period=16, structures=structures))
    report = check_images(made)
    assert report.ok, report.render()
    return images_from_bytes(images_to_bytes(made))


async def main(node: Node) -> list[list[int]]:
    cop, here, got = node.cop, node.number, []
    await cop.l_load()
    for turn, (source, distance) in enumerate(ROUNDS):
        await node.compute((37 * here + 11 * turn) % 90)
        await cop.b_load(source)
        await cop.s_load(distance)
        await cop.e_load()
        sent = np.arange(4) + 100 * here + 10 * turn
        if here == source:
            await cop.b_write(sent)
            got.append(sent)
        else:
            got.append(await cop.b_read())
        got.append(await cop.s_func(sent))
        got.append(await cop.e_func(sent))
        await cop.o_load()
        got.append(await cop.o_func(sent))
    return [list(map(int, one)) for one in got]


def expected(here: int) -> list[list[int]]:
    found = []
    for turn, (source, distance) in enumerate(ROUNDS):
        sent = [[100 * n + 10 * turn + k for k in range(4)] for n in range(4)]
        before = sent[here - 1] if here else [0] * 4
        found += [sent[source], sent[(here - distance) % 4], before, sent[(here - 1) % 4]]
    return found


def run(made: Images, engine: EngineName = "model") -> Record:
    with Machine(made.shape, made.topology, engine=engine) as machine:
        record = run_nodes([numesh_node(made, n, machine) for n in range(4)], main, machine)
        assert not machine.state()["full"].any()
    return record


@pytest.mark.parametrize(("depth", "vfsms"), [(256, 64), (64, 16)])
def test_a_subphase_for_each_combination_is_chosen_by_the_last_load_function(depth: int, vfsms: int) -> None:
    made = images(SUBPHASES, depth, vfsms)
    names = [phase.name for phase in made.phases]
    assert names[:4] == ["b+s+e=0,1", "b+s+e=0,2", "b+s+e=3,1", "b+s+e=3,2"]
    assert run(made).results == [expected(n) for n in range(4)]


@pytest.mark.parametrize(("divided", "names"), [(True, ["b+s+e", "o"]), (False, ["b+s+e+o"])])
def test_streams_for_each_value_share_a_phase_and_nothing_is_rewritten(divided: bool, names: list[str]) -> None:
    made = images(PARALLEL, divided=divided)
    assert [phase.name for phase in made.phases] == names
    record = run(made)
    assert record.results == [expected(n) for n in range(4)]
    assert record.mean_cycles["reprog"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("text", [SUBPHASES, PARALLEL])
def test_both_on_the_rtl(text: str) -> None:
    made = images(text, 64, 16) if text == SUBPHASES else images(text, divided=True)
    assert run(made, "verilated").results == [expected(n) for n in range(4)]


def test_io_before_the_last_load_function_is_refused() -> None:
    async def early(node: Node) -> None:
        await node.cop.b_load(0)
        await (node.cop.b_write(np.arange(4)) if node.number == 0 else node.cop.b_read())

    made = images(SUBPHASES)
    with (
        pytest.raises(PointsmanError, match="must call e_load first, which chooses the phase"),
        Machine(made.shape, made.topology, engine="model") as machine,
    ):
        run_nodes([numesh_node(made, n, machine) for n in range(4)], early, machine)


def test_a_load_function_that_is_left_out_is_named() -> None:
    async def short(node: Node) -> None:
        await node.cop.b_load(0)
        await node.cop.e_load()

    made = images(SUBPHASES)
    with (
        pytest.raises(PointsmanError, match="e_load: s_load has not been called"),
        Machine(made.shape, made.topology, engine="model") as machine,
    ):
        run_nodes([numesh_node(made, n, machine) for n in range(4)], short, machine)


def test_the_judge_misses_a_combination_without_a_schedule() -> None:
    made = images(SUBPHASES)
    operators = list(made.operators)
    index = next(i for i, one in enumerate(operators) if one.label == "s" and one.values == ((2,),))
    operators[index] = replace(operators[index], values=((3,),))
    messages = [one.message for one in check_images(replace(made, operators=tuple(operators))).findings]
    assert "some values of it and of those beside it have no schedule" in messages
