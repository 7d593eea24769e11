"""All-reduces by exchanges in rows and columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import Topology, mesh, torus
from pointsman.network.faults import with_faults
from pointsman.operators import Context
from pointsman.operators.scheduled.exchange import StrAllreduceExchange, row_length
from pointsman.plan.make_plan import make_plan
from pointsman.runtime import numesh_node
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

EXCHANGE = ":impl 'str_allreduce_exchange"


@pytest.mark.parametrize(
    ("topology", "length"),
    [(mesh(4, 4), 4), (mesh(2, 3), 2), (torus(4, 2), 4), (mesh(1, 8), 4), (mesh(1, 5), None), (mesh(2), None)],
    ids=str,
)
def test_rows_are_as_long_as_lets_a_word_through_soonest(topology: Topology, length: int | None) -> None:
    assert row_length(topology.working, topology) == length


@pytest.mark.parametrize(
    ("text", "topology"),
    [
        (f"(allreduce 'o 'mine :m 1 {EXCHANGE})", mesh(2, 2)),
        (f"(allreduce 'o 'mine :m 3 {EXCHANGE})", mesh(3, 2)),
        (f"(allreduce 'o 'mine :m 4 :type 'int64* {EXCHANGE})", torus(3, 3)),
        (f"(allreduce 'o 'mine :m 2 {EXCHANGE})", with_faults(mesh(3, 3), nodes=[4])),
        (f"(subset '((5 0 3 2)) (allreduce 'o 'mine :m 2 {EXCHANGE}))", mesh(3, 2)),
    ],
    ids=["2x2", "3x2", "torus", "dead", "order"],
)
def test_the_order_of_the_nodes_is_kept(text: str, topology: Topology) -> None:
    """The function is associative and does not commute: it counts digits of a number, and appends them."""
    program = compile_text(text, topology=topology)
    (operator,) = program.operators()
    nodes = operator.instances[0].nodes
    items = operator.m // operator.type.words

    def appended(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
        out[:] = [int(f"{x}{y}") for x, y in zip(a.tolist(), b.tolist(), strict=True)]

    images = make_images(make_plan(program, NodeShape(), name="o"))
    report = check_images(images)
    assert report.ok, report.render()

    async def main(node: Any) -> list[list[int]]:
        if node.number not in nodes:
            return []
        await node.cop.o_load()
        digit = 1 + nodes.index(node.number)
        sent = np.full(items, digit, operator.type.name)
        return [(await node.cop.o_func((sent + turn) % 10)).tolist() for turn in range(2)]

    with Machine(NodeShape(neighbours=4), topology, engine="model", progress=False) as machine:
        every = [numesh_node(images, n, machine, functions={"mine": appended}) for n in range(topology.nodes)]
        results = run_nodes(every, main, machine).results
    wanted = []
    for turn in range(2):
        digits = "".join(str((1 + k + turn) % 10) for k in range(len(nodes)))
        wanted.append([int(digits)] * items)
    assert [results[n] for n in nodes] == [wanted] * len(nodes)


@pytest.mark.parametrize(
    "text",
    [
        f"(allreduce 'o 'add :m 5 {EXCHANGE})",
        f"(allreduce 'o 'add :valid '(0 1 2) {EXCHANGE})",
        f"(subset '((0 1 2)) (allreduce 'o 'add {EXCHANGE}))",
        "(allreduce 'o 'add)",
    ],
)
def test_long_messages_and_nodes_that_make_no_rows_are_left_to_others(text: str) -> None:
    (operator,) = compile_text(text, topology=mesh(4, 4)).operators()
    assert StrAllreduceExchange().metric(operator, Context(mesh(4, 4), NodeShape())) is None


def test_a_processor_needs_a_register_for_each_node_of_its_row_and_column() -> None:
    (operator,) = compile_text(f"(allreduce 'o 'add {EXCHANGE})", topology=mesh(8, 8)).operators()
    assert StrAllreduceExchange().metric(operator, Context(mesh(8, 8), NodeShape())) is None
    assert StrAllreduceExchange().metric(operator, Context(mesh(8, 8), NodeShape(registers=32))) is not None


@pytest.mark.parametrize(("size", "cycles"), [((2, 2), 10), ((4, 4), 20), ((4, 2), 14)])
def test_a_round_of_a_loop_takes_fewer_cycles_than_on_a_tree(size: tuple[int, ...], cycles: int) -> None:
    def of_a_round(impl: str) -> float:
        plans = [
            make_plan(
                compile_text(f"(loop 'l {rounds} (allreduce 'o 'add :m 1 {impl}))", topology=mesh(*size)),
                NodeShape(),
                name="o",
            )
            for rounds in (20, 50)
        ]
        return (plans[1].cycles - plans[0].cycles) / 30

    assert of_a_round(EXCHANGE) == cycles
    assert of_a_round("") > 1.15 * cycles
