"""All-reduces and reductions on two trees, a half of the message on each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.artifacts.images import Images
from pointsman.cop import compile_text
from pointsman.network import Topology, mesh, torus
from pointsman.network.faults import with_faults
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.operators.api.operands import operand
from pointsman.operators.scheduled.in_halves import IN_HALVES
from pointsman.plan.make_plan import make_plan
from pointsman.routing.streams import accesses
from pointsman.runtime import numesh_node
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

HALVES = ":impl 'str_allreduce_halves"


def images_of(text: str, topology: Topology) -> Images:
    images = make_images(make_plan(compile_text(text, topology=topology), NodeShape(), name="halves"))
    report = check_images(images)
    assert report.ok, report.render()
    return images


def second_results(images: Images, topology: Topology, sent: np.ndarray, **functions: Any) -> list[list[float] | None]:
    """What each node gets of two calls, in the second of which it sends its row of ``sent``."""

    async def main(node: Any) -> list[float] | None:
        if node.number in topology.dead:
            return None
        await node.cop.o_load()
        got = [await node.cop.o_func(sent[node.number] - k) for k in (1, 0)][-1]
        return None if got is None else got.tolist()

    with Machine(NodeShape(), topology, engine="model", progress=False) as machine:
        nodes = [numesh_node(images, n, machine, functions=functions) for n in range(topology.nodes)]
        return run_nodes(nodes, main, machine).results


@pytest.mark.parametrize(
    "topology",
    [mesh(1, 2), mesh(3, 3), mesh(1, 8), torus(4, 3), with_faults(mesh(3, 3), nodes=[4])],
    ids=["1x2", "3x3", "1x8", "torus", "dead"],
)
@pytest.mark.parametrize(
    "text",
    [
        f"(allreduce 'o 'add :m 37 {HALVES})",
        f"(allreduce 'o 'add :m 3 {HALVES})",
        f"(allreduce 'o 'add :m 10 :type 'int64* {HALVES})",
        f"(allreduce 'o 'max :m 9 :valid '(1) {HALVES})",
        f"(allreduce 'o 'max :m 6 :valid '(0 1) {HALVES})",
        "(reduce 'o 'add 1 :m 37 :impl 'str_reduce_halves)",
        "(reduce 'o 'add 0 :m 10 :type 'int64* :valid '(0 1) :impl 'str_reduce_halves)",
    ],
)
def test_halves_give_what_numpy_gives(text: str, topology: Topology) -> None:
    images = images_of(text, topology)
    (operator,) = compile_text(text, topology=topology).operators()
    items = operator.m // operator.type.words
    sent = np.random.default_rng(7).integers(-99, 99, (topology.nodes, items)).astype(operator.type.name)
    results = second_results(images, topology, sent)
    nodes = operator.instances[0].nodes
    taking_part = [nodes[k] for k in range(len(nodes)) if operator.valid is None or k in operator.valid]
    total = sent[taking_part].max(axis=0) if "'max" in text else sent[taking_part].sum(axis=0)
    readers = taking_part if operator.kind == "allreduce" else [nodes[operand(operator, 0, "destination", ())]]
    assert [results[n] for n in readers] == [total.tolist()] * len(readers)
    assert all(results[n] is None for n in range(topology.nodes) if n not in readers)


def test_the_order_of_the_nodes_is_kept() -> None:
    # copysign is associative, and its operands are not to be exchanged: the first node's value with the last one's sign.
    topology = mesh(3, 3)
    images = images_of(f"(allreduce 'o 'max :m 11 :type 'float32* {HALVES})", topology)
    sent = np.random.default_rng(3).integers(-99, 99, (9, 11)).astype(np.float32) + np.float32(0.5)
    results = second_results(images, topology, sent, max=np.copysign)
    assert results == [np.copysign(sent[0], sent[8]).tolist()] * 9


def test_a_function_of_whole_messages_has_them_whole() -> None:
    """A product of 2 x 3 by 3 x 3 matrices would be wrong for halves: here of 3 x 3 permutations, which do not commute."""
    topology = mesh(3, 2)
    images = images_of(f"(allreduce 'o 'add :m 9 {HALVES})", topology)

    def product(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        out[:] = (a.reshape(3, 3) @ b.reshape(3, 3)).ravel()

    rng = np.random.default_rng(5)
    sent = np.array([np.eye(3, dtype=np.int32)[rng.permutation(3)].ravel() for _ in range(6)])
    wanted = sent[0].reshape(3, 3)
    for one in sent[1:]:
        wanted = wanted @ one.reshape(3, 3)

    async def main(node: Any) -> list[int]:
        await node.cop.o_load()
        return [(await node.cop.o_func(sent[node.number])).tolist() for _ in range(2)][-1]

    with Machine(NodeShape(), topology, engine="model", progress=False) as machine:
        nodes = [numesh_node(images, n, machine, functions={"add": product}) for n in range(6)]
        assert run_nodes(nodes, main, machine).results == [wanted.ravel().tolist()] * 6


@pytest.mark.parametrize(
    ("name", "text"),
    [("str_allreduce_halves", "(allreduce 'o 'add :m 7)"), ("str_reduce_halves", "(reduce 'o 'add 2 :m 7)")],
)
def test_every_stream_is_written_by_one_and_read_by_its_readers(
    name: str, text: str, wired: Callable[..., Any]
) -> None:
    one = wired(name, text)
    lanes = [(node, lane) for node, role in one.roles().items() for lane in role.lanes]
    used = Counter((node, register) for node, lane in lanes for register in lane.registers)
    ends = {(node, register) for own in one.wiring.registers_by_stream.values() for node, _, _, register in own}
    assert set(used) == ends
    assert set(used.values()) == {1}


@pytest.mark.parametrize("topology", [mesh(3, 2), mesh(4, 4), mesh(3, 5)], ids=str)
@pytest.mark.parametrize(
    ("number", "text", "most"), [(0, "(allreduce 'o 'add :m 64)", 6), (1, "(reduce 'o 'add 2 :m 64)", 4)]
)
def test_a_processor_has_as_few_accesses_as_on_a_chain(number: int, text: str, most: int, topology: Topology) -> None:
    (operator,) = compile_text(text, topology=topology).operators()
    context = Context(topology, NodeShape())
    ends = accesses(IN_HALVES[number].streams(operator, context))
    assert max(ends.values()) == most
    metric = IN_HALVES[number].metric(operator, context)
    assert metric is not None
    assert metric.words_per_cycle == 2 / most


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "(allreduce 'o 'add :m 2)"),
        (0, "(allreduce 'o :m 64)"),
        (0, "(allreduce 'o 'mine :m 64)"),
        (0, "(subset '((0 1)) (allreduce 'o 'add :m 64))"),
        (1, "(reduce 'o 'add (runtime) :m 64)"),
        (1, "(subset '((0 1 2 3)) (reduce 'o 'add 0 :m 64))"),
    ],
)
def test_what_gains_nothing_or_is_not_known_is_left_to_others(number: int, text: str) -> None:
    topology = mesh(6)
    (operator,) = compile_text(text, topology=topology).operators()
    assert IN_HALVES[number].metric(operator, Context(topology, NodeShape())) is None


@pytest.mark.parametrize(
    ("size", "text", "halves"),
    [
        ((8, 8), "(allreduce 'o 'add :m 256)", True),
        ((2, 2), "(allreduce 'o 'add :m 256)", True),
        ((3, 3), "(allreduce 'o 'add :m 256)", False),
        ((4, 4), "(reduce 'o 'add 0 :m 64)", True),
    ],
)
def test_they_are_taken_where_they_are_quicker(size: tuple[int, ...], text: str, halves: bool) -> None:
    program = compile_text(text, topology=mesh(*size))
    others = [one for one in IMPLEMENTATIONS if one not in IN_HALVES]
    before, now = (
        make_plan(program, NodeShape(), name="o", implementations=some) for some in (others, IMPLEMENTATIONS)
    )
    (one,) = now.phases[0].operators
    assert (one.implementation in IN_HALVES) is halves
    assert now.cycles < 0.9 * before.cycles if halves else now.cycles <= before.cycles


def test_processors_keep_up_with_a_schedule_without_a_slot_to_spare() -> None:
    # Words that had missed their slots went on missing them where a node's own two words did not come first: 8 cycles for two.
    program = compile_text(f"(allreduce 'o 'add :m 1024 {HALVES})", topology=mesh(8, 8))
    plan = make_plan(program, NodeShape(), name="o", period=6)
    assert plan.cycles < 1.06 * 3 * 1024


def test_halves_that_come_in_no_order_are_found() -> None:
    images = images_of(f"(allreduce 'o 'add :m 8 {HALVES})", mesh(2, 2))
    ((index, view),) = images.nodes[0].operators
    (role,) = view.roles

    def with_role(**changes: Any) -> Images:
        other = replace(view, roles=(replace(role, **changes),))
        nodes = (replace(images.nodes[0], operators=((index, other),)), *images.nodes[1:])
        return replace(images, nodes=nodes)

    def messages(images: Images) -> str:
        return check_images(images).render()

    swapped = tuple(replace(lane, half=1 - lane.half) for lane in role.lanes if lane.half is not None)
    assert "meaning" in messages(with_role(lanes=swapped))
    halves = [lane.half for lane in role.lanes]
    mixed = tuple(replace(lane, half=7 if k == 0 else lane.half) for k, lane in enumerate(role.lanes))
    assert f"its lanes move halves 7, {', '.join(map(str, dict.fromkeys(halves)))}" in messages(with_role(lanes=mixed))
    early = tuple(replace(one, step=0) for one in role.combines)
    assert "it combines before it moves a half" in messages(with_role(combines=early))
