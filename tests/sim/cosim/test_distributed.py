"""Broadcasts, reductions and collects in the routers, of which each node knows only whether it is the one (Metcalf 1997, A.4)."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from loading import module_at
from numesh.shape import NodeShape
from pointsman.artifacts.images import images_from_bytes, images_to_bytes
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import Topology, mesh, torus
from pointsman.plan.make_plan import make_plan
from pointsman.plan.polish import Polish
from pointsman.runtime import Node, numesh_node
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

cases = module_at(Path(__file__).with_name("online_cases.py"))


@pytest.mark.parametrize("topology", [mesh(1, 1), mesh(1, 5), mesh(3, 5), mesh(2, 2, 2), torus(3, 4)])
@pytest.mark.parametrize(("m", "way"), [(1, "str_bcast_tree"), (20, "str_bcast_tree_tracks")])
def test_the_source_changes_from_round_to_round(topology: Topology, m: int, way: str) -> None:
    rng = random.Random(m)
    values = tuple(((rng.randrange(topology.nodes),),) for _ in range(6))
    text = f"(loop 'l 6 (broadcast 'b (runtime :distributed t) :m {m} :impl '{way}))"
    case = cases.Case(text, topology, values, several=True, pauses=m, only=False)
    images = case.images(period=None)
    assert images.operators[0].implementation.startswith("str_bcast_tree")
    cases.run_case(case, images)


def test_instances_may_have_different_sources() -> None:
    """Rows of a mesh, with a barrier of all nodes between the rounds; every row has a source of its own."""
    text = "(loop 'l 5 (subset (make-1d 'x) (broadcast 'b (runtime :distributed t) :m 6)) (barrier 'e))"
    program = compile_text(text, topology=mesh(4, 3))
    images = make_images(make_plan(program, NodeShape(), name="rows"))
    assert check_images(images).ok
    images = images_from_bytes(images_to_bytes(images))
    assert images.operators[0].partial
    sources = [[(round_ * 3 + row * row) % 4 for row in range(3)] for round_ in range(5)]

    async def main(node: Node) -> list[list[int]]:
        row, column = divmod(node.number, 4)
        got = []
        for round_ in range(5):
            source = sources[round_][row]
            await node.compute(node.number * 17 * round_ % 70)
            await node.cop.b_load(column == source)
            sent = np.arange(6) + 100 * node.number + 10 * round_
            if column == source:
                await node.cop.b_write(sent)
            else:
                got.append([*map(int, await node.cop.b_read())])
            await node.cop.e_load()
            await node.cop.e_func()
        return got

    with Machine(images.shape, images.topology, engine="model") as machine:
        record = run_nodes([numesh_node(images, n, machine) for n in range(12)], main, machine)
    for node, found in enumerate(record.results):
        row, column = divmod(node, 4)
        others = [(4 * row + sources[r][row], r) for r in range(5) if sources[r][row] != column]
        assert found == [[100 * source + 10 * r + k for k in range(6)] for source, r in others]


def test_a_node_that_may_not_be_the_source_is_told() -> None:
    program = compile_text("(broadcast 'b (runtime :values '(1 2) :distributed t) :m 6)", topology=mesh(2, 2))
    images = make_images(make_plan(program, NodeShape(), name="told"))

    async def main(node: Node) -> None:
        await node.cop.b_load(True)

    with (
        Machine(images.shape, images.topology, engine="model") as machine,
        pytest.raises(PointsmanError, match="b_load: node 0 is none of the nodes that the value may name"),
    ):
        run_nodes([numesh_node(images, n, machine) for n in range(4)], main, machine)


def test_a_reduction_is_the_destination_s_and_a_node_that_may_not_be_it_is_told() -> None:
    """By messages it takes 3.7 to 5.3 times the cycles."""
    text = "(loop 'l 3 (reduce 'r 'add (runtime :values '(1 2) :distributed t) :m 3) (barrier 'e))"
    images = make_images(make_plan(compile_text(text, topology=mesh(2, 2)), NodeShape(), name="partial"))
    assert check_images(images).ok
    images = images_from_bytes(images_to_bytes(images))
    assert [one.implementation for one in images.replaced] == ["repl_partial_reduce"]

    async def main(node: Node, destinations: tuple[int, ...] = (1, 2, 1)) -> list[list[int] | None]:
        got = []
        for round_, destination in enumerate(destinations):
            await node.compute(node.number * 31 * round_ % 70)
            await node.cop.r_load(node.number == destination)
            result = await node.cop.r_func(np.arange(3) + 10 * node.number + round_)
            got.append(None if result is None else [*map(int, result)])
            await node.cop.e_load()
            await node.cop.e_func()
        return got

    with Machine(images.shape, images.topology, engine="model") as machine:
        record = run_nodes([numesh_node(images, n, machine) for n in range(4)], main, machine)
    sums = [[60 + 4 * round_ + 4 * k for k in range(3)] for round_ in range(3)]
    assert record.results == [[None] * 3, [sums[0], None, sums[2]], [None, sums[1], None], [None] * 3]
    with (
        Machine(images.shape, images.topology, engine="model") as machine,
        pytest.raises(PointsmanError, match="r_load: node 3 is none of the nodes that the value may name"),
    ):
        run_nodes([numesh_node(images, n, machine) for n in range(4)], lambda node: main(node, (3,)), machine)


def test_a_source_that_others_do_not_know_takes_less_than_three_times_the_cycles_of_an_agreed_source(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With an agreed source 580 cycles are predicted; passed on by processors it was 20,837. The first plans suffice."""
    monkeypatch.setattr(Polish, "run", lambda _: None)
    program = compile_text("(broadcast 'b (runtime :distributed t) :m 200)", topology=mesh(6, 6))
    assert make_plan(program, NodeShape(), name="b").cycles < 3 * 580


def test_the_nodes_agree_on_the_source_of_a_long_message() -> None:
    """Up a tree and down again 200 words took 1,643 cycles, from a source that all nodes know they take 580."""
    text = "(loop 'l 3 (broadcast 'b (runtime :distributed t) :m 200))"
    images = make_images(make_plan(compile_text(text, topology=mesh(4, 4)), NodeShape(), name="agreed"))
    assert check_images(images).ok
    images = images_from_bytes(images_to_bytes(images))
    assert [one.implementation for one in images.replaced] == ["repl_partial_bcast"]

    async def main(node: Node, sources: tuple[int | None, ...] = (9, 0, 9)) -> list[int]:
        got = []
        for round_, source in enumerate(sources):
            await node.compute(node.number * 31 * round_ % 70)
            await node.cop.b_load(node.number == source)
            if node.number == source:
                await node.cop.b_write(np.arange(200) + 1000 * round_ + node.number)
            else:
                got.append(int((await node.cop.b_read()).sum()))
        return got

    with Machine(images.shape, images.topology, engine="model") as machine:
        record = run_nodes([numesh_node(images, n, machine) for n in range(16)], main, machine)
    sums = [sum(range(200)) + 200 * (1000 * round_ + source) for round_, source in enumerate((9, 0, 9))]
    own = {9: [sums[1]], 0: [sums[0], sums[2]]}
    assert record.results == [own.get(node, sums) for node in range(16)]
    assert record.total_cycles < 3 * 800
    with (
        Machine(images.shape, images.topology, engine="model") as machine,
        pytest.raises(PointsmanError, match="b_load: no node of the subset said which node is the source"),
    ):
        run_nodes([numesh_node(images, n, machine) for n in range(16)], lambda node: main(node, (None,)), machine)


COLLECTS = ("str_collect_runtime", "str_collect_tree", "str_collect_dim", "sch_collect_dense")


@pytest.mark.parametrize(
    ("topology", "ways"),
    [
        (mesh(1, 1), COLLECTS[:2]),
        (mesh(1, 5), COLLECTS),
        (mesh(3, 4), COLLECTS),
        (mesh(2, 2, 2), COLLECTS[1:3]),
        (torus(3, 4), COLLECTS[:2]),
    ],
)
def test_nodes_of_a_collect_tell_each_other_the_destination(topology: Topology, ways: tuple[str, ...]) -> None:
    rng = random.Random(topology.nodes)
    drawn = [rng.randrange(topology.nodes) for _ in range(4)]
    values = tuple(((one,),) for one in (*drawn, drawn[-1]))  # the last two rounds have the same
    for way in ways:
        text = f"(loop 'l 5 (collect 'c (runtime :distributed t) :m 6 :impl '{way}))"
        case = cases.Case(text, topology, values, several=True, pauses=len(way), only=False)
        images = case.images(period=None)
        assert images.operators[0].implementation == way
        cases.run_case(case, images)


def test_a_collect_with_a_single_value_has_slots_for_its_load_function() -> None:
    """The judge found none (:values of one node beside other operators)."""
    for given in ("(runtime :values '(0))", "(runtime :distributed t :values '(0))"):
        beside = "(cshift 'a 2 :m 1) (optional (seqwrite 'b (runtime :values '(1)) '(0) :m 2))"
        text = f"(sequential (parallel {beside}) (collect 'c {given} :m 2 :type 'float64*))"
        images = make_images(make_plan(compile_text(text, topology=mesh(2, 1)), NodeShape(), name="single"))
        assert check_images(images).ok, str(check_images(images))


@pytest.mark.parametrize("parallel", [True, False])
def test_collects_that_share_a_phase_with_others_or_come_back_to_theirs(parallel: bool) -> None:
    told = "(collect '{} (runtime :distributed t) :m 3 :impl 'str_collect_runtime)"
    between = "(broadcast 'b (runtime) :m 4)"
    if parallel:
        text = f"(loop 'l 4 (phase (parallel {told.format('c')} (broadcast 'b 2 :m 4))))"
    else:
        text = f"(loop 'l 4 {told.format('c')} {between} {told.format('d')} (barrier 'e))"
    values = tuple(((k % 3,), ((one + k) % 3,), (k * k % 3,)) for one, k in enumerate((1, 3, 3, 2)))
    values = tuple((one[0], ()) if parallel else (*one, ()) for one in values)
    case = cases.Case(text, mesh(3, 1), values, several=True, parallel=parallel, pauses=3, only=False)
    images = case.images(period=None)
    assert len(images.phases) == 1 if parallel else len(images.phases) > 1
    cases.run_case(case, images)


def test_rows_may_collect_at_different_nodes() -> None:
    text = "(loop 'l 5 (subset (make-1d 'x) (collect 'c (runtime :distributed t) :m 2 :impl 'str_collect_runtime)))"
    images = make_images(make_plan(compile_text(text, topology=mesh(3, 3)), NodeShape(), name="rows"))
    assert check_images(images).ok, str(check_images(images))
    images = images_from_bytes(images_to_bytes(images))

    def destination(round_: int, row: int) -> int:
        return (round_ * (row + 1) + row) % 3

    async def main(node: Node) -> list[int]:
        row, column = divmod(node.number, 3)
        got = []
        for round_ in range(5):
            await node.compute(node.number * 29 * (round_ + 1) % 90)
            await node.cop.c_load(column == destination(round_, row))
            if column != destination(round_, row):
                await node.cop.c_write(np.array([10 * round_ + node.number, 100 + node.number], np.int32))
            else:
                # Both of the others write at the same time, so their words come mixed.
                words = [*map(int, await node.cop.c_read()), *map(int, await node.cop.c_read())]
                got += [word - 10 * round_ for word in words if word < 100]
                assert sorted(got[-2:]) == sorted(word - 100 for word in words if word >= 100)
        return got

    with Machine(images.shape, images.topology, engine="model") as machine:
        record = run_nodes([numesh_node(images, n, machine) for n in range(9)], main, machine)
    for node, found in enumerate(record.results):
        row, column = divmod(node, 3)
        mine = [round_ for round_ in range(5) if destination(round_, row) == column]
        others = sorted({3 * row + k for k in range(3)} - {node})
        assert [sorted(found[2 * k : 2 * k + 2]) for k in range(len(mine))] == [others] * len(mine)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((None, False, None, None), "c_load: no node of the subset said which node is the destination"),
        ((True, None, 2, None), "c_load: node 0 of the subset gives 0 as destination, another one 2"),
        ((None, None, None, True), "c_load: node 3 of the subset is none of the nodes that the value may name"),
    ],
)
def test_what_the_nodes_of_a_collect_say_must_be_one_node(given: tuple[object, ...], message: str) -> None:
    text = "(collect 'c (runtime :distributed t :values '(0 1 2)) :m 2 :impl 'str_collect_tree)"
    images = make_images(make_plan(compile_text(text, topology=mesh(2, 2)), NodeShape(), name="told"))

    async def main(node: Node) -> None:
        await node.cop.c_load(given[node.number])

    with (
        Machine(images.shape, images.topology, engine="model") as machine,
        pytest.raises(PointsmanError, match=message),
    ):
        run_nodes([numesh_node(images, n, machine) for n in range(4)], main, machine)


def test_a_collect_at_a_node_that_others_do_not_know_is_quicker_than_by_messages() -> None:
    """Four words on 4×4 took 340 cycles and more, passed on by processors."""
    program = compile_text("(collect 'c (runtime :distributed t) :m 4)", topology=mesh(4, 4))
    plan = make_plan(program, NodeShape(), name="c")
    assert plan.phases[0].operators[0].implementation.name in COLLECTS
    assert plan.cycles < 340


@pytest.mark.parametrize("told", ["", " :distributed t"])
def test_a_destination_waits_in_another_operator_for_a_node_that_has_given_its_message(told: str) -> None:
    text = f"(parallel (reduce 'r 'add (runtime{told})) (stream 's 1 0))"
    images = make_images(make_plan(compile_text(text, topology=mesh(2, 1)), NodeShape(), name="any_order"))
    assert check_images(images).ok

    async def main(node: Node) -> int | None:
        await node.cop.s_load()
        await node.cop.r_load(node.number == 0 if told else 0)
        if node.number == 0:
            (early,) = await node.cop.s_read()
            (total,) = await node.cop.r_func([5])
            return int(10 * early + total)
        assert await node.cop.r_func([2]) is None
        await node.cop.s_write([7])
        return None

    with Machine(images.shape, images.topology, engine="model") as machine:
        record = run_nodes([numesh_node(images, n, machine) for n in range(2)], main, machine)
    assert record.results == [77, None]
