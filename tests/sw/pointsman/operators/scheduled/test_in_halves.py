"""All-reduces on two trees, a half of the message on each."""

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
from pointsman.operators.scheduled.in_halves import IN_HALVES
from pointsman.plan.make_plan import make_plan
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
    assert [results[n] for n in taking_part] == [total.tolist()] * len(taking_part)
    assert all(results[n] is None for n in range(topology.nodes) if n not in taking_part)


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


def test_every_stream_is_written_by_one_and_read_by_its_readers(wired: Callable[..., Any]) -> None:
    one = wired("str_allreduce_halves", "(allreduce 'o 'add :m 7)")
    lanes = [(node, lane) for node, role in one.roles().items() for lane in role.lanes]
    used = Counter((node, register) for node, lane in lanes for register in lane.registers)
    ends = {(node, register) for own in one.wiring.registers_by_stream.values() for node, _, _, register in own}
    assert set(used) == ends
    assert set(used.values()) == {1}


@pytest.mark.parametrize("topology", [mesh(2, 2), mesh(4, 4), mesh(3, 5)], ids=str)
def test_a_processor_has_three_accesses_a_word_at_most(topology: Topology) -> None:
    (operator,) = compile_text(f"(allreduce 'o 'add :m 64 {HALVES})", topology=topology).operators()
    (implementation,) = IN_HALVES
    context = Context(topology, NodeShape())
    ends = Counter(
        node for one in implementation.streams(operator, context) for node in (one.source, *one.destinations)
    )
    assert max(ends.values()) <= 6
    metric = implementation.metric(operator, context)
    assert metric is not None
    assert metric.words_per_cycle == 2 / max(ends.values())


def test_short_messages_and_functions_that_are_not_known_are_left_to_others() -> None:
    (implementation,) = IN_HALVES
    for text in ("(allreduce 'o 'add :m 2)", "(allreduce 'o :m 64)", "(allreduce 'o 'mine :m 64)"):
        (operator,) = compile_text(text, topology=mesh(4)).operators()
        assert implementation.metric(operator, Context(mesh(4), NodeShape())) is None


@pytest.mark.parametrize(("size", "m", "halves"), [((8, 8), 256, True), ((2, 2), 256, True), ((3, 3), 256, False)])
def test_they_are_taken_where_they_are_quicker(size: tuple[int, ...], m: int, halves: bool) -> None:
    program = compile_text(f"(allreduce 'o 'add :m {m})", topology=mesh(*size))
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
