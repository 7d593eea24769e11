"""Spans of activities: whose function they are, and sums of their cycles."""

from __future__ import annotations

import pytest

import pointsman
from cosim.numesh.activities import Span, cycles_by
from pointsman import cop
from pointsman.cop import Network, Parts
from pointsman.runtime import Application, Category, Node

KINDS = len(Category)


def span(node: int, activity: str, phase: int, *cycles: int) -> Span:
    return Span(node, 0, sum(cycles), activity, phase, (*cycles, *[0] * (KINDS - len(cycles))))


@pytest.mark.parametrize(
    ("activity", "operator"),
    [
        ("b_load", "b"), ("b_write", "b"), ("my_own_read", "my_own"), ("x_func", "x"),
        ("starting", None), ("before its first operator", None), ("b_loads", None), ("after b_load", None),
    ],
)  # fmt: skip
def test_only_a_function_of_an_operator_has_a_label(activity: str, operator: str | None) -> None:
    assert span(0, activity, 0).operator == operator


def test_cycles_are_means_over_all_nodes_by_operator_and_by_phase() -> None:
    spans = [span(0, "b_load", 0, 4, 2), span(1, "b_read", 1, 6), span(1, "computing", 1, 1, 8)]
    for key in ("operator", "phase"):
        told = cycles_by(spans, key, 2)
        assert sum(sum(row.values()) for row in told.values()) * 2 == sum(sum(one.cycles) for one in spans)
        assert all(list(row) == [category.name.lower() for category in Category] for row in told.values())
    first, second = (category.name.lower() for category in list(Category)[:2])
    by_operator = cycles_by(spans, "operator", 2)
    assert (by_operator["b"][first], by_operator["b"][second]) == (5.0, 1.0)
    assert (by_operator[None][first], by_operator[None][second]) == (0.5, 4.0)
    assert set(cycles_by(spans, "phase", 2)) == {0, 1}


def test_without_spans_there_is_nothing_to_sum() -> None:
    assert cycles_by([], "phase", 3) == {}


def test_functions_at_the_same_time_share_their_cycles() -> None:
    told = cycles_by([span(0, "b_write, c_read", 4, 6)], "operator", 1)
    assert {label: sum(row.values()) for label, row in told.items()} == {"b": 3.0, "c": 3.0}
    assert sum(cycles_by([span(0, "b_write, c_read", 4, 6)], "phase", 1)[4].values()) == 6.0


def test_what_loads_in_a_function_of_its_own_is_counted_in_the_phase_that_it_reaches() -> None:
    class Sums(Application):
        def program(self, net: Network) -> Parts:
            return cop.reduce("sum", "add", destination=cop.runtime(), type="int32", impl="repl_runtime_reduce")

        async def main(self, node: Node) -> None:
            await node.cop.sum_load(0)
            await node.cop.sum_func(1)

    done = pointsman.run(Sums, "2x2", engine="model")
    assert done.finished is not None
    own = [one for one in done.finished.spans if one.activity == "sum_func"]
    assert own
    assert all(one.phase >= 0 for one in own)
