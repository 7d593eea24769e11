"""Operators that share streams are used in the same order by all nodes, or a node is told."""

from __future__ import annotations

import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.artifacts.images import Images
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.runtime import Node, numesh_node
from pointsman.runtime.numesh.use_order import UseOrder, use_order
from pointsman.targets.numesh import make_images

BROADCASTS = "(loop 'l 3 (broadcast 'a 0 :m 4) (broadcast 'b 0 :m 4))"


def images_of(text: str, size: tuple[int, ...] = (2, 2)) -> Images:
    return make_images(make_plan(compile_text(text, topology=mesh(*size)), NodeShape(), name="p"))


class Clock:
    time = 0


def test_a_node_that_uses_them_the_other_way_round_is_told_what_another_has_used() -> None:
    images, order = images_of(BROADCASTS), UseOrder()
    assert images.sharing == {0, 1}
    assert [order.differs(images, operator, 0, "write") for operator in (0, 0, 1, 0, 1)] == [None] * 5
    assert [order.differs(images, operator, 1, "read") for operator in (0, 1, 1)] == [None] * 3
    assert order.differs(images, 1, 2, "read") == 0
    assert order.differs(images, 0, 3, "read") is None


def test_what_a_node_writes_and_what_it_reads_are_looked_at_apart() -> None:
    images, order = (
        images_of("(doall ((i (all 4))) (stream 'a i (mod (+ i 1) 4))) (cshift 'c 1) (cshift 'd 1)"),
        UseOrder(),
    )
    one, other = sorted(images.sharing)
    for node in (0, 1):
        assert [order.differs(images, operator, node, "write") for operator in (one, other)] == [None, None]
        assert [order.differs(images, operator, node, "read") for operator in (one, other)] == [None, None]


def test_each_instance_has_an_order_of_its_own() -> None:
    """Nodes of one row may leave an operator out."""
    rows = "(subset '((0 1) (2 3)) (optional (broadcast 'a 0 :m 4)) (broadcast 'b 0 :m 4))"
    images, order = images_of(rows), UseOrder()
    assert images.sharing == {0, 1}
    assert order.differs(images, 0, 0, "write") is None
    assert order.differs(images, 1, 2, "write") is None


def test_another_run_begins_where_a_node_is_there_already() -> None:
    clock = Clock()
    first = use_order(clock, 0)
    assert use_order(clock, 1) is first
    assert use_order(clock, 0) is not first


def test_in_a_run_an_application_that_swaps_two_broadcasts_is_told() -> None:
    async def main(node: Node) -> None:
        first, second = ("b", "a") if node.number == 3 else ("a", "b")
        for label in (first, second):
            await getattr(node.cop, f"{label}_load")()
            if node.number == 0:
                await getattr(node.cop, f"{label}_write")([1, 2, 3, 4])
            else:
                await getattr(node.cop, f"{label}_read")()

    images = images_of("(broadcast 'a 0 :m 4) (broadcast 'b 0 :m 4)")
    with Machine(images.shape, images.topology, engine="model", progress=False) as machine:
        nodes = [numesh_node(images, number, machine) for number in range(4)]
        with pytest.raises(
            PointsmanError, match=r"uses '[ab]' where another node has used '[ab]', whose streams it shares"
        ):
            run_nodes(nodes, main, machine)
