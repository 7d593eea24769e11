"""Walks over phases against networkx, on random graphs of phases."""

from __future__ import annotations

import random
from dataclasses import replace
from types import ModuleType

import networkx as nx
import pytest

from pointsman.verify.phases.succession import Succession


def random_graph(seed: int) -> nx.DiGraph:
    """A program's phases: one can come after another, itself included."""
    rng = random.Random(seed)
    count = rng.randint(1, 9)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from((a, b) for a in range(count) for b in range(count) if rng.random() < 1.5 / count)
    return graph


def of(graph: nx.DiGraph) -> Succession:
    return Succession({phase: tuple(sorted(graph.successors(phase))) for phase in graph})


@pytest.mark.parametrize("seed", range(40))
def test_later_phases_are_those_with_a_way_to_them(seed: int) -> None:
    graph = random_graph(seed)
    succession = of(graph)
    for phase in graph:
        circle = any(phase in part and (len(part) > 1 or graph.has_edge(phase, phase)) for part in components(graph))
        assert set(succession.later(phase)) == nx.descendants(graph, phase) | ({phase} if circle else set())
        assert succession.comes_again(phase) == circle
        assert succession.before(phase) == tuple(sorted(graph.predecessors(phase)))


def components(graph: nx.DiGraph) -> list[set[int]]:
    return list(nx.strongly_connected_components(graph))


@pytest.mark.parametrize("seed", range(40))
def test_passing_over_leads_through_phases_that_are_not_kept(seed: int) -> None:
    graph = random_graph(seed)
    kept = {phase for phase in graph if random.Random(seed + phase).random() < 0.5}
    for phase in graph:
        # Ways from the phase to a kept one with none that is kept between them.
        between = graph.subgraph({phase, *(set(graph) - kept)})
        over = {phase} | nx.descendants(between, phase)
        wanted = {after for before in over for after in graph.successors(before) if after in kept}
        assert of(graph).passing_over(phase, kept) == tuple(sorted(wanted))


def test_a_node_passes_over_phases_without_a_part_of_it(by_hand: ModuleType) -> None:
    by = by_hand.ByHand(by_hand.mesh(2), period=4)
    for phase in range(3):
        by.phase(f"p{phase}", successors=((phase + 1) % 3,))
    for phase in (0, 2):
        by.vfsm(phase, 1, 2, "nop", "nop", (0,))
    images = by.images()
    program = Succession.of_program(images)
    node = Succession.of_node(images, 1, program)
    assert list(node) == [0, 2]
    assert (node[0], node[2], node[1]) == ((2,), (0,), ())
    assert program[0] == (1,)


def test_a_node_goes_its_own_ways_if_it_has_any(by_hand: ModuleType) -> None:
    images = by_hand.two_phases_2x2()
    ways = ((-1, 1), (1, 0), (0, 0), (0, -1))
    images = replace(images, nodes=(replace(images.nodes[0], ways=ways), *images.nodes[1:]))
    node = Succession.of_node(images, 0, Succession.of_program(images))
    assert (node[0], node[1]) == ((0,), (0,))
    assert Succession.of_steps(ways).later(-1) == (0, 1)
