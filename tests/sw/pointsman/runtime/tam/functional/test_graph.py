"""Dataflow graphs: regions, what comes before what, and values from outside."""

from __future__ import annotations

from collections import Counter

from pointsman.runtime.tam.functional.graph import FunctionGraph, GraphNode
from pointsman.runtime.tam.functional.reading import read_functions


def graph(body: str) -> FunctionGraph:
    return FunctionGraph(read_functions(f"(define (main n) {body})")[0])


def kinds(made: FunctionGraph) -> list[list[str]]:
    return [[node.kind for node in region.nodes] for region in made.regions]


def test_branches_and_loops_are_regions_of_their_own() -> None:
    assert kinds(graph("(if n 1 2)")) == [["entry", "if", "halt"], ["entry", "leave"], ["entry", "leave"]]
    assert kinds(graph("(loop ((i 0 (+ i 1))) (< i n) i)")) == [
        ["entry", "loop", "halt"],
        ["entry", "compute", "test"],
        ["entry", "compute", "again"],
        ["entry", "leave"],
    ]


def test_a_value_from_outside_is_waited_for_by_what_enters_the_region() -> None:
    made = graph("(let ((x (* n 2)) (a (array n))) (if n (if n (+ x 1) (ref a 0)) 7))")
    body = made.regions[0]
    outer = next(node for node in body.nodes if node.kind == "if")
    assert {node.kind for node in outer.before()} == {"compute", "array"}
    inner = next(node for node in made.regions[1].nodes if node.kind == "if")
    assert [node.kind for node in inner.before()] == ["entry"]
    assert all(node.pinned for node in outer.before())


def test_the_end_waits_for_everything_and_what_nobody_needs_is_left_out() -> None:
    made = graph("(let ((unused (+ n (* n 2))) (a (array 2))) (begin (put a 0 1) (ref a 1) 5))")
    body = made.regions[0]
    assert Counter(node.kind for node in body.nodes)["compute"] == 0

    def reached(node: GraphNode) -> set[GraphNode]:
        return {node}.union(*(reached(one) for one in node.before()))

    assert reached(body.end) == set(body.nodes)
