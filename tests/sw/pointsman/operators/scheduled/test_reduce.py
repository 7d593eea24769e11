"""Messages combined by processors along a tree."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import Topology, mesh, torus
from pointsman.operators import IMPLEMENTATIONS, Implementation
from pointsman.operators.scheduled.reduce import TWO, TreeShape, accesses_of, items_of, narrow_root
from pointsman.operators.trees.reduction_trees import ReductionTree, build_tree, centre
from pointsman.plan.make_plan import make_plan
from pointsman.runtime import numesh_node
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images


@pytest.mark.parametrize("text", ["(reduce 'o 2 'sum :m 5)", "(allreduce 'o 'sum :m 5)", "(prefix 'o 'sum :m 5)"])
def test_every_stream_is_written_by_one_and_read_by_its_readers(text: str, wired: Callable[..., Any]) -> None:
    name = {"r": "str_reduce", "a": "str_allreduce", "p": "str_prefix"}[text[1]]
    one = wired(name, text)
    lanes = Counter((node, reg) for node, role in one.roles().items() for lane in role.lanes for reg in lane.registers)
    ends = {(node, register) for own in one.wiring.registers_by_stream.values() for node, _, _, register in own}
    assert set(lanes) == ends
    assert set(lanes.values()) == {1}


def test_only_the_destination_has_the_result_of_a_reduction(wired: Callable[..., Any]) -> None:
    roles = wired("str_reduce", "(reduce 'o 2 'sum :m 5)").roles()
    assert {node for node, role in roles.items() if role.result} == {2}


def test_a_node_combines_its_children_and_itself_in_the_order_of_the_subset() -> None:
    tree = build_tree(tuple(range(6)), mesh(6), start=2)
    assert tree is not None
    assert items_of(tree, 2) == ["t0", "out", "t1"]
    assert tree.preceded == set(range(6)) - {min(tree.nodes), *_left_edge(tree)}


def _left_edge(tree: ReductionTree) -> set[int]:
    found, node = {tree.root}, tree.root
    while tree.nodes[node].before:
        node = tree.nodes[node].before[0]
        found.add(node)
    return found


@pytest.mark.parametrize("size", [(1, 5), (3, 5), (4, 4), (8, 8)], ids=str)
def test_a_narrow_tree_has_no_more_accesses_than_the_tree_from_the_middle(size: tuple[int, ...]) -> None:
    topology = mesh(*size)
    nodes = topology.working
    trees = [
        build_tree(nodes, topology, start=start)
        for start in (narrow_root(nodes, tuple(range(len(nodes))), topology), centre(nodes, topology))
    ]
    narrow, near = (accesses_of(tree) for tree in trees if tree is not None)
    assert narrow <= min(3, near)


def only(name: str, shape: TreeShape) -> tuple[Implementation, ...]:
    """The implementations, of ``name`` only that on a tree of this shape."""
    return tuple(one for one in IMPLEMENTATIONS if one.name != name or getattr(one, "tree_shape", None) is shape)


@pytest.mark.parametrize("shape", [shape for shape in TreeShape if shape not in TWO], ids=lambda shape: shape.value)
@pytest.mark.parametrize("topology", [mesh(1, 2), mesh(3, 3), torus(4, 3)], ids=str)
@pytest.mark.parametrize(
    "text",
    [
        "(allreduce 'o 'add :m 37 :impl 'str_allreduce)",
        "(reduce 'o 'add 1 :m 37 :impl 'str_reduce)",
        "(allreduce 'o 'max :m 9 :valid '(1) :impl 'str_allreduce)",
        "(reduce 'o 'max 1 :m 10 :type 'int64* :impl 'str_reduce)",
    ],
)
def test_every_shape_of_tree_gives_what_numpy_gives_in_the_order_of_the_nodes(
    text: str, topology: Topology, shape: TreeShape
) -> None:
    name = text.split("'")[-1].rstrip(")")
    if name == "str_reduce" and shape is TreeShape.NARROW:
        pytest.skip("the destination is the root")
    if shape is TreeShape.SHALLOW:
        text = re.sub(r":m \d+", ":m 4", text)
    program = compile_text(text, topology=topology)
    (operator,) = program.operators()
    items = operator.m // operator.type.words
    plan = make_plan(program, NodeShape(), name="shape", implementations=only(name, shape))
    images = make_images(plan)
    report = check_images(images)
    assert report.ok, report.render()
    # copysign is associative, and its operands are not to be exchanged.
    functions = {"max": np.copysign} if "float" in text else {}
    rng = np.random.default_rng(7)
    sent = rng.integers(-99, 99, (topology.nodes, items)).astype(operator.type.name)

    async def main(node: Any) -> list[int] | None:
        await node.cop.o_load()
        got = [await node.cop.o_func(sent[node.number] + k) for k in range(2)][-1]
        return None if got is None else got.tolist()

    with Machine(NodeShape(), topology, engine="model", progress=False) as machine:
        nodes = [numesh_node(images, n, machine, functions=functions) for n in range(topology.nodes)]
        results = run_nodes(nodes, main, machine).results
    taking_part = range(topology.nodes) if operator.valid is None else operator.valid
    wanted = sent[list(taking_part)] + 1
    total = wanted.max(axis=0) if "'max" in text else wanted.sum(axis=0)
    readers = [1] if operator.kind == "reduce" else list(taking_part)
    assert [results[n] for n in readers] == [total.tolist()] * len(readers)


@pytest.mark.parametrize(("size", "levels"), [((2, 2), 1), ((4, 4), 2), ((8, 8), 3)])
def test_a_word_takes_few_levels(size: tuple[int, ...], levels: int) -> None:
    topology = mesh(*size)
    plan = make_plan(compile_text("(allreduce 'o 'add)", topology=topology), NodeShape(), name="short", period=8)
    up = [stream for phase in plan.phases for stream in phase.routed.streams if "up" in stream.name]
    parents = {stream.source: stream.destinations[0] for stream in up}
    (root,) = set(parents.values()) - parents.keys()

    def level(node: int) -> int:
        return 0 if node == root else 1 + level(parents[node])

    assert max(map(level, range(topology.nodes))) == levels


def test_what_long_messages_take_is_near_the_accesses_that_combining_needs() -> None:
    topology = mesh(4, 4)
    for text, accesses in (("(allreduce 'o 'add :m 1024)", 46 / 16), ("(reduce 'o 'add 0 :m 1024)", 30 / 16)):
        plan = make_plan(compile_text(text, topology=topology), NodeShape(), name="long")
        assert plan.cycles < 1.25 * 1024 * accesses
