"""Threads: as large as they can be, and never so large that a program waits for itself."""

from __future__ import annotations

import pytest

from pointsman.runtime.tam.functional.graph import ANSWERS, FunctionGraph, GraphNode
from pointsman.runtime.tam.functional.partition import THREADS, partition
from pointsman.runtime.tam.functional.reading import read_functions

from .naive import random_program


def regions(text: str) -> list[FunctionGraph]:
    return [FunctionGraph(one) for one in read_functions(text)]


def threads(body: str) -> list[set[str]]:
    made = regions(f"(define (main n) {body})")[0]
    return [{node.name or node.kind for node in part.nodes} for part in partition(made.regions[0], "partitions")]


def test_what_waits_for_the_same_answers_is_one_thread() -> None:
    found = threads("(let ((x (ref n 0))) (+ (* x 2) (- x 1)))")
    assert found == [{"entry", "fetch"}, {"mul", "sub", "add", "halt"}]


def test_what_only_goes_into_the_same_requests_is_one_thread() -> None:
    found = threads("(let ((x (ref n 0)) (y (ref n 1))) (+ (* x 2) (- y 1)))")
    assert found == [{"entry", "fetch"}, {"mul", "sub", "add", "halt"}]


def test_what_another_answer_may_need_first_stays_apart() -> None:
    """Whether x or y is there first depends on who writes what."""
    found = threads("(let ((x (ref n 0)) (y (ref n 1))) (begin (put n 2 (* x 2)) (put n 3 (* y 3))))")
    assert {"mul", "put"} in found
    assert len(found) == 4


def test_a_thread_waits_for_the_last_of_what_comes_one_after_the_other() -> None:
    made = regions("(define (main n) (let ((x (ref n 0)) (y (ref n x))) (+ x (+ y n))))")[0]
    large = partition(made.regions[0], "partitions")
    assert [part.count for part in large] == [1, 1, 1]
    small = partition(made.regions[0], "operations")
    assert max(part.count for part in small) == 2


@pytest.mark.parametrize("seed", range(12))
def test_threads_hold_every_node_once_and_wait_for_all_that_they_need(seed: int) -> None:
    for graph in regions(random_program(seed)):
        for region in graph.regions:
            for how in THREADS:
                parts = partition(region, how)
                assert sorted(node.number for part in parts for node in part.nodes) == [
                    node.number for node in region.nodes
                ]
                of = {node: part for part in parts for node in part.nodes}
                began: set[object] = set()
                # Threads begin when all that they wait for is there; everything that they need must be there then.
                waiting = list(parts)
                while waiting:
                    ready = [one for one in waiting if {*one.forked_by, *one.answers} <= began]
                    assert ready, "threads wait for each other"
                    part = ready[0]
                    waiting.remove(part)
                    _needs_are_there(part.nodes, of, began, part)
                    began.add(part)
                    began.update(node for node in part.nodes if node.kind in ANSWERS)


def _needs_are_there(nodes: list[GraphNode], of: dict[GraphNode, object], began: set[object], part: object) -> None:
    done: set[GraphNode] = set()
    for node in nodes:
        for one in node.before():
            if one.kind in ANSWERS:
                assert one in began
            else:
                assert one in done or (of[one] is not part and of[one] in began)
        done.add(node)
