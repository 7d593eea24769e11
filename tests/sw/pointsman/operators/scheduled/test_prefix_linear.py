"""Prefixes along chains, and messages that are combined item by item or as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import Topology, mesh
from pointsman.operators.scheduled.prefix_linear import quickest_blocks
from pointsman.plan.make_plan import make_plan
from pointsman.program.catalogue import ITEM_FUNCTIONS
from pointsman.runtime import Category, WaitUntil, numesh_node
from pointsman.runtime.api.combine import KNOWN, Combiner
from pointsman.runtime.reference import ReferenceMachine
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images


def matrices(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Products of 2×2 matrices: associative, not commutative, and no matter of single items."""
    for k in range(0, len(a), 4):
        out[k : k + 4] = (a[k : k + 4].reshape(2, 2) @ b[k : k + 4].reshape(2, 2)).reshape(4)


@pytest.mark.parametrize("size", [(1, 1), (1, 5), (2, 2), (3, 5), (4, 4), (8, 8), (2, 2, 2), (16, 16)], ids=str)
@pytest.mark.parametrize("step", [1, 2, 3])
def test_blocks_keep_the_order_and_processors_touch_a_word_three_times_at_most(
    size: tuple[int, ...], step: int
) -> None:
    topology = mesh(*size)
    members = tuple(range(0, topology.nodes, step))
    shape = quickest_blocks(members, topology)
    assert tuple(node for block in shape.blocks for node in block) == members
    assert all(shape.blocks)
    assert shape.accesses <= 3


def test_known_functions_combine_item_by_item_and_the_compiler_knows_them() -> None:
    assert set(ITEM_FUNCTIONS) == set(KNOWN)
    for function in KNOWN.values():
        assert Combiner(function, np.dtype("int32"), True).item == 1
        assert Combiner(function, np.dtype("float64"), True).item == 2
    assert Combiner(np.matmul, np.dtype("int32"), True).item is None
    assert Combiner(matrices, np.dtype("int32"), True).item is None


CASES = [
    ("(prefix 'o 'mul :m 8 :impl 'str_prefix_linear)", {"mul": matrices}),
    ("(prefix 'o 'mul :m 8 :impl 'str_prefix)", {"mul": matrices}),
    ("(prefix 'o 'mine :m 8 :impl 'str_prefix_linear)", {"mine": matrices}),
    ("(prefix 'o 'max :m 9 :type 'float32* :impl 'str_prefix_linear)", {"max": np.copysign}),
    ("(prefix 'o 'max :m 9 :type 'float32* :impl 'str_prefix)", {"max": np.copysign}),
    ("(reduce 'o 'mul 2 :m 8)", {"mul": matrices}),
    ("(reduce 'o 'max 2 :m 9 :type 'float32*)", {"max": np.copysign}),
    ("(allreduce 'o 'mul :m 8 :impl 'str_allreduce)", {"mul": matrices}),
    ("(allreduce 'o 'max :m 9 :type 'float32* :impl 'str_allreduce)", {"max": np.copysign}),
    ("(reduce 'o 'max 2 :m 300 :type 'float32*)", {"max": np.copysign}),
    ("(allreduce 'o 'max :m 300 :type 'float32*)", {"max": np.copysign}),
    ("(prefix 'o (runtime) :m 8 :impl 'str_prefix_linear)", {}),
    ("(prefix 'o 'add :m 12 :type 'int64* :impl 'str_prefix_linear)", {}),
]


@pytest.mark.parametrize("size", [(1, 4), (3, 2)], ids=str)
@pytest.mark.parametrize(("text", "functions"), CASES, ids=[text for text, _ in CASES])
def test_messages_are_combined_in_order_whatever_the_function_is(
    text: str, functions: dict[str, Callable[..., Any]], size: tuple[int, ...]
) -> None:
    program = compile_text(text, topology=mesh(*size))
    (operator,) = program.operators()
    images = make_images(make_plan(program, NodeShape(), name="order"))
    report = check_images(images)
    assert report.ok, report.render()

    async def main(node: Any) -> list[int] | None:
        await node.cop.o_load(*([matrices] if "runtime" in text else []))
        items = operator.m // operator.type.words
        # Signs, too: copysign is associative, and its items are not to be exchanged.
        message = (np.arange(items) * 7 + node.number * 5) % 11 - 4
        got = [await node.cop.o_func(message.astype(operator.type.name)) for _ in range(3)][-1]
        return None if got is None else got.tolist()

    expected = ReferenceMachine(program, functions=functions).run(main)
    with Machine(NodeShape(), program.topology, engine="model", progress=False) as machine:
        nodes = [numesh_node(images, n, machine, functions=functions) for n in range(program.topology.nodes)]
        assert run_nodes(nodes, main, machine).results == expected.results


def cycles(topology: Topology, text: str) -> tuple[str, float]:
    """Of a call, from the moment at which all begin to the end of the last; and the implementation."""
    program = compile_text(text, topology=topology)
    (operator,) = program.operators()
    images = make_images(make_plan(program, NodeShape(), name="long"))
    assert check_images(images).ok
    ends = []

    async def main(node: Any) -> None:
        await node.cop.o_load()
        await WaitUntil(9000, Category.CPU)
        await node.cop.o_func(np.full(operator.m, node.number + 1, np.int32))
        ends.append(node.time - 9000)

    with Machine(NodeShape(), topology, engine="model", progress=False) as machine:
        run_nodes([numesh_node(images, n, machine) for n in range(topology.nodes)], main, machine)
    return images.operators[0].implementation, max(ends)


def test_a_long_prefix_on_many_nodes_is_near_what_a_processors_port_allows() -> None:
    # Packet routers take 1,447 cycles (docs/comparison.md). Three accesses a word are 192, a word's way is about 110.
    name, taken = cycles(mesh(8, 8), "(prefix 'o 'add :m 64)")
    assert name == "str_prefix_linear"
    assert taken < 400


@pytest.mark.parametrize("text", ["(reduce 'o 'add 0 :m 64)", "(allreduce 'o 'add :m 64)"])
def test_long_messages_up_a_tree_take_a_few_cycles_a_word_whatever_its_depth(text: str) -> None:
    _, taken = cycles(mesh(8, 8), text)
    assert taken < 64 * 9 + 150


def test_lanes_of_items_that_do_not_come_one_after_the_other_are_refused() -> None:
    program = compile_text("(prefix 'o 'add :m 8 :impl 'str_prefix_linear)", topology=mesh(4))
    images = make_images(make_plan(program, NodeShape(), name="order"))
    node = images.nodes[1]
    ((index, view),) = node.operators
    (role,) = view.roles
    assert role.by_item
    first, *others = role.lanes
    loose = replace(role, lanes=(first, *(replace(lane, after=None) for lane in others)))
    wrong = replace(node, operators=((index, replace(view, roles=(loose,))),))
    report = check_images(replace(images, nodes=(images.nodes[0], wrong, *images.nodes[2:])))
    assert "lane 1 does not move items after lane 0" in report.render()
