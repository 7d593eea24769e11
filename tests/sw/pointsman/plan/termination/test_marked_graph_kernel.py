"""The kernel against the same in plain Python, on random graphs."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from pointsman.artifacts.images.images import LaneImage
from pointsman.plan.termination.marked_graph import Actor, MarkedGraph, Termination, termination

Lanes = dict[int, tuple[LaneImage, ...]]


def random_graph(seed: int) -> tuple[MarkedGraph, Lanes, list[int], int]:
    rng = random.Random(seed)
    nodes = list(range(rng.randint(1, 4)))
    graph = MarkedGraph()
    lanes: Lanes = {}
    for node in nodes:
        own = rng.choice([0, 1, 1, 2])
        lanes[node] = tuple(LaneImage(True, (i,)) for i in range(own))
        for i in range(own):
            graph.add(("lane", node, i, 0), node, (1, 0))
    for i in range(rng.randint(0, 8)):
        count = rng.choice([1, 1, 2])
        graph.add(("out", 0, rng.randrange(count), i), rng.choice(nodes), (count, rng.randrange(count)))
    actors = list(graph.actors)
    rng.shuffle(actors)
    for at, to in enumerate(actors):
        for _ in range(rng.randint(0, 3)):
            # Only edges with a lag may close a circle.
            before = rng.randrange(len(actors))
            lag = rng.randint(0, 3) if before < at else rng.randint(1, 3)
            graph.join(actors[before], to, lag, rng.randint(1, 9), whole=before < at and rng.random() < 0.05)
    return graph, lanes, nodes, rng.randint(1, 12)


def plainly(graph: MarkedGraph, lanes: Lanes, words: int, nodes: list[int]) -> Termination:
    """`termination` as its docstring has it."""
    delays = {}
    bound, clear, spread = True, True, 0
    moved: list[Actor] = [("lane", node, i, 0) for node in nodes for i in range(len(lanes[node]))]
    for node in nodes:
        own: list[Actor] = [("lane", node, i, 0) for i in range(len(lanes[node]))]
        passed = graph.progress(own, words)
        here = [actor for actor in graph.actors if graph.node_of[actor] == node and actor[0] != "lane"]
        clear = clear and all(passed[actor] > graph.last_word(actor, words) for actor in here)
        begun = all(any(passed["lane", other, i, 0] for i in range(len(lanes[other]))) for other in nodes)
        whole = all(passed[edge.frm] >= words for edge in graph.edges if edge.whole)
        bound = bound and bool(own) and begun and whole
        if bound:
            times = graph.finish_times(passed, words)
            last = max((times[actor] for actor in here), default=0)
            delays[node] = last + 1 if last else 0
            spread = max([spread, *(times[actor] for actor in moved)])
        elif not clear:
            break
    return Termination(bound, delays if bound else {}, clear, spread)


@pytest.mark.parametrize("seed", range(200))
def test_it_answers_as_plain_python_does(seed: int) -> None:
    graph, lanes, nodes, words = random_graph(seed)
    expected = plainly(graph, lanes, words, nodes)
    assert termination(graph, lanes, words, nodes, spread=True) == expected
    assert termination(graph, lanes, words, nodes) == replace(expected, spread=0)


def test_random_graphs_are_of_every_kind() -> None:
    found = [plainly(graph, lanes, words, nodes) for graph, lanes, nodes, words in map(random_graph, range(200))]
    assert {(one.message_bound, one.clear) for one in found} == {(a, b) for a in (True, False) for b in (True, False)}
    assert any(len(one.delays) > 1 and one.spread for one in found)


def test_words_that_wait_in_a_circle_are_an_error() -> None:
    graph = MarkedGraph()
    for i in range(2):
        graph.add(("lane", 0, i, 0), 0, (1, 0))
    graph.join(("lane", 0, 0, 0), ("lane", 0, 1, 0), 0, 1)
    graph.join(("lane", 0, 1, 0), ("lane", 0, 0, 0), 0, 1)
    with pytest.raises(ValueError, match="circle"):
        termination(graph, {0: (LaneImage(True, (0,)), LaneImage(True, (1,)))}, 3, [0])
