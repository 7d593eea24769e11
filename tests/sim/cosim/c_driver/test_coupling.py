"""The coupling of C programs with a simulated machine: it says what went wrong, and mutants of tables and driver die by it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from cosim.errors import TooLongError
from cosim.numesh.machine import Machine
from loading import module_at
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc, which has the sanitizers")


coupling = module_at(Path(__file__).with_name("coupling.py"))
TEXT = "(loop 'l 2 (broadcast 'b (runtime) :m 3 :impl 'str_bcast_dense) (cshift 'c 1 :m 2) (barrier 'e))"
"""The broadcast is asked for by streams: with other implementations these mutants die as well, but in a deadlock."""
SHIFTS = "(sequential (cshift 'c 1 :m 40 :c 2) (eoshift 'e 1 :m 40 :c 2))"


async def application(node: Any) -> None:
    for k in range(2):
        await node.cop.b_load(k)
        if node.number == k:
            await node.cop.b_write([7 * k + 1, -5, 2**31 - 1])
        else:
            await node.cop.b_read()
        await node.compute(30 * node.number)
        await node.cop.c_load()
        await node.cop.c_func([node.number, k])
        await node.cop.e_load()
        await node.cop.e_func()


async def shifts(node: Any) -> None:
    """Shifts of two messages each, of which coupled programs receive the second in place; what node 0 gets comes from nowhere."""
    for label in ("c", "e"):
        for k in range(2):
            await getattr(node.cop, f"{label}_load")()
            await node.compute(200 * (node.number == 1))
            await getattr(node.cop, f"{label}_func")([100 * node.number + k + i for i in range(40)])


def run(
    folder: Path, before: str = "", after: str = "", file: str = "", text: str = TEXT, main: Any = application
) -> list[int]:
    """Changes of phase of each node; in ``file`` the text ``before`` is replaced first, in the generated C."""
    program = compile_text(text, topology=mesh(3))
    images = make_images(make_plan(program, NodeShape(), name="loop"))
    calls = coupling.recorded(program, main)
    written = coupling.c_files

    def changed(images: Any) -> dict[str, str]:
        texts = written(images)
        if file:
            assert texts[file].count(before) >= 1
            texts[file] = texts[file].replace(before, after, 1)
        return texts

    coupling.c_files = changed
    try:
        executable = coupling.build(program, images, calls, folder)
    finally:
        coupling.c_files = written
    with Machine(images.shape, program.topology, engine="model", progress=False) as machine:
        changes: list[int] = coupling.run_coupled(
            lambda node: coupling.process_link(executable, node), program, calls, machine, max_cycles=4000
        )
        return changes


def test_c_does_what_the_application_did(tmp_path: Path):
    changes = run(tmp_path)
    assert len(set(changes)) == 1
    assert changes[0] > 0


def test_messages_are_received_in_place_and_zeros_where_nothing_comes_in(tmp_path: Path):
    run(tmp_path, text=SHIFTS, main=shifts)


@pytest.mark.parametrize("impl", ["par_shift", "sch_shift"])
def test_distances_that_move_the_same_words_may_take_turns_in_c(tmp_path: Path, impl: str):
    """Both of two shifts beside each other have run-time distances, -2 … 2 on three nodes."""

    async def main(node: Any) -> None:
        for one, other in ((1, -2), (-2, -1), (2, 0), (0, 1), (-1, 2)):
            await node.cop.a_load(one)
            await node.cop.b_load(other)
            for label in ("a", "b"):
                await getattr(node.cop, f"{label}_func")([10 * node.number + one, other])

    shift = f"(cshift '{{}} (runtime) :m 2 :impl '{impl})"
    run(tmp_path, text=f"(loop 'l 5 (parallel {shift.format('a')} {shift.format('b')}))", main=main)


INIT = "cop_init(cop, &wrong_node_{}, 0); "
BROADCAST = "(broadcast 'b (runtime) :m 4)"
BESIDE = "(parallel (subset '(1 2) (cshift 'c 1)) (broadcast 'b 0))"
PARTIAL = "(broadcast 'b (runtime :distributed t) :m 4)"
CHOSEN = "(parallel (broadcast 'a (runtime) :m 4 :impl 'sch_bcast_dense) (cshift 'b (runtime) :m 4 :impl 'sch_shift))"
NO_LOAD, PART, VALUE, SUBSET, NO_INIT, ORDER = 2, 3, 4, 1, 8, 5


@pytest.mark.parametrize(
    ("text", "first", "second", "said"),
    [
        pytest.param(BROADCAST, "b_write(cop, w);", "", f"error {NO_LOAD}, 'b' at node 0", id="write before load"),
        pytest.param(BROADCAST, "b_load(cop, 7);", "", f"error {VALUE}, 'b' at node 0", id="no such source"),
        pytest.param(
            BROADCAST, "b_load(cop, 1); b_write(cop, w);", "", f"error {PART}, 'b' at node 0", id="not the source"
        ),
        pytest.param(
            BROADCAST,
            "b_load(cop, 0); b_write(cop, w); cop_fini(cop); b_write(cop, w);",
            "b_load(cop, 0); b_read(cop, w); cop_fini(cop);",
            f"error {NO_LOAD}, 'b' at node 0",
            id="after the end",
        ),
        pytest.param(
            CHOSEN, "a_load(cop, 3); b_load(cop, 1);", "", f"error {VALUE}, 'a' at node 0", id="of two the first"
        ),
        pytest.param(
            CHOSEN, "a_load(cop, 2); b_load(cop, 9);", "", f"error {VALUE}, 'b' at node 0", id="of two the second"
        ),
        pytest.param(
            CHOSEN, "a_load(cop, 0); a_write(cop, w);", "", f"error {NO_LOAD}, 'a' at node 0", id="one of two"
        ),
        pytest.param(CHOSEN, "b_load(cop, 0);", "", f"error {ORDER}, 'a' at node 0", id="the last of two alone"),
        pytest.param(BESIDE, "c_load(cop);", "", f"error {SUBSET}, 'c' at node 0", id="load outside"),
        pytest.param(BESIDE, "c_func(cop, w, w);", "", f"error {SUBSET}, 'c' at node 0", id="func outside"),
        pytest.param(
            "(allreduce 'r (runtime) :m 4)", "r_load(cop, 0);", "", f"error {VALUE}, 'r' at node 0", id="no function"
        ),
        *(
            pytest.param(
                PARTIAL, f"b_load(cop, {given});", "", f"error {VALUE}, 'b' at node 0", id=f"source {given} of 3"
            )
            for given in (3, -7)
        ),
    ],
)
def test_a_wrong_call_is_told_with_operator_and_node(tmp_path: Path, text: str, first: str, second: str, said: str):
    assert_panics(tmp_path, text, [INIT.format(0) + first, INIT.format(1) + second, INIT.format(2) + second], said)


@pytest.mark.parametrize("call", ["b_load(cop, 0);", "b_write(cop, w);", "cop_fini(cop);"])
def test_a_call_before_init_is_told(tmp_path: Path, call: str):
    assert_panics(tmp_path, BROADCAST, [call, INIT.format(1), INIT.format(2)], f"error {NO_INIT}, '' at node -1")


def assert_panics(folder: Path, cop: str, bodies: list[str], said: str) -> None:
    program = compile_text(cop, topology=mesh(3))
    images = make_images(make_plan(program, NodeShape(), name="wrong"))
    nodes = [
        f"static void node_{i}(struct pm *cop) {{ static int32_t w[4]; (void)w; {body} }}"
        for i, body in enumerate(bodies)
    ]
    written = coupling.c_program
    table = "static void (*const all[])(struct pm *) = {node_0, node_1, node_2};"
    run = "void run_node(struct pm *cop, int node) { all[node](cop); }\n"
    text = "\n".join(['#include "wrong.h"', '#include "pipe_port.h"', *nodes, table, run])
    coupling.c_program = lambda *_, **__: text
    none: list[list[Any]] = [[], [], []]
    try:
        executable = coupling.build(program, images, none, folder)
    finally:
        coupling.c_program = written
    with (
        Machine(images.shape, program.topology, engine="model", progress=False) as machine,
        pytest.raises(coupling.CouplingError, match=said),
    ):
        coupling.run_coupled(
            lambda node: coupling.process_link(executable, node), program, none, machine, max_cycles=4000
        )


async def sums(node: Any) -> None:
    await node.cop.a_load()
    for k in range(2):
        await node.cop.a_func([10 * node.number + k + i for i in range(7)])


def test_messages_whose_halves_go_their_ways_are_whole_in_c(tmp_path: Path):
    run(tmp_path, text="(allreduce 'a 'add :m 7 :c 2 :impl 'str_allreduce_halves)", main=sums)


@pytest.mark.parametrize(
    ("before", "after", "node"), [("(out && out == in)", "(0)", 1), ("&& !role->receives", "&& role->receives > 1", 0)]
)
def test_without_the_copy_or_the_zeros_they_are_wrong(tmp_path: Path, before: str, after: str, node: int):
    with pytest.raises(coupling.CouplingError, match=f"node {node}"):
        run(tmp_path, before, after, "pm.c", SHIFTS, shifts)


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        pytest.param("pm.c", "next1 == last1 ? first1 : next1 + 1", "first1", id="words", marks=pytest.mark.slow),
        pytest.param("pm.c", "blocks * (int32_t)PM_PERIOD", "(blocks + 1) * (int32_t)PM_PERIOD", id="blocks"),
        pytest.param(
            "pm.c",
            "(2 * PM_PERIOD - PM_ALIGN % PM_PERIOD",
            "(2 * PM_PERIOD + 1 + 2 * cop->node->number - PM_ALIGN % PM_PERIOD",
            id="alignment",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_mutants_die(tmp_path: Path, file: str, before: str, after: str):
    with pytest.raises((coupling.CouplingError, TooLongError)):
        run(tmp_path, before, after, file)
