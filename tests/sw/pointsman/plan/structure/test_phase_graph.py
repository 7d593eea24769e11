"""Walks over the graph of phases, against networkx and by law."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import networkx
import pytest

from pointsman.plan.structure.phase_graph import END, START, PhaseGraph


def successors(seed: int) -> dict[int, frozenset[int]]:
    """A random graph of phases: each has a successor, START leads to 0."""
    random = Random(seed)
    phases = random.randint(1, 9)
    edges = {
        phase: frozenset(random.sample([*range(phases), END], random.randint(1, min(3, phases + 1))))
        for phase in range(phases)
    }
    return {START: frozenset([0]), **edges}


def directed(graph: PhaseGraph) -> networkx.DiGraph:
    return networkx.DiGraph((phase, after) for phase, nexts in graph.successors.items() for after in nexts)


SEEDS = range(40)


@pytest.mark.parametrize("seed", SEEDS)
def test_later_phases_are_those_with_a_way_of_a_step_or_more(seed: int) -> None:
    graph = PhaseGraph(successors(seed))
    other = directed(graph)
    for phase in graph.successors:
        ways = {after: networkx.descendants(other, after) | {after} for after in graph.successors[phase]}
        assert graph.later(phase) == frozenset().union(*ways.values()) - {END}


@pytest.mark.parametrize("seed", SEEDS)
def test_distances_are_those_of_shortest_ways_and_round_a_loop_to_itself(seed: int) -> None:
    graph = PhaseGraph(successors(seed))
    other = directed(graph)
    for phase, found in graph.distances.items():
        assert found.keys() == graph.later(phase)
        for later, steps in found.items():
            lengths = [
                networkx.shortest_path_length(other, after, later)
                for after in graph.successors[phase]
                if networkx.has_path(other, after, later)
            ]
            assert steps == 1 + min(lengths)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_phase_is_optional_if_the_end_is_reached_without_it(seed: int) -> None:
    graph = PhaseGraph(successors(seed))
    for phase in set(graph.successors) - {START}:
        other = directed(graph)
        other.remove_node(phase)
        with_end = START in other and END in other and networkx.has_path(other, START, END)
        assert (phase in graph.optional) == with_end


@pytest.mark.parametrize("seed", SEEDS)
def test_what_comes_next_among_members_is_reached_past_all_others_by_a_shortest_way(seed: int) -> None:
    graph = PhaseGraph(successors(seed))
    other = directed(graph)
    phases = [phase for phase in graph.successors if phase >= 0]
    members = set(Random(seed).sample(phases, Random(seed + 1).randint(0, len(phases))))
    for phase in graph.successors:
        found = graph.next_among(phase, members)
        assert set(found) == graph.reached(graph.successors[phase], lambda p: p not in members) & {*members, END}
        for target, way in found.items():
            places = [phase, *way, target]
            assert members.isdisjoint(way)
            assert all(other.has_edge(*step) for step in pairwise(places))
            between = other.subgraph({*graph.successors, END} - members | {target})
            lengths = [
                networkx.shortest_path_length(between, after, target)
                for after in graph.successors[phase]
                if after in between and networkx.has_path(between, after, target)
            ]
            assert len(way) == min(lengths)


def test_a_walk_goes_on_only_through_phases_that_it_may_go_through() -> None:
    graph = PhaseGraph(
        {START: frozenset([0]), 0: frozenset([1, 2]), 1: frozenset([3]), 2: frozenset([END]), 3: frozenset()}
    )
    assert graph.reached([0]) == {0, 1, 2, 3, END}
    assert graph.reached([0], lambda phase: phase != 1) == {0, 1, 2, END}
    assert graph.reached([0], without=1) == {0, 2, END}
    assert graph.reached([1], without=1) == set()


def test_the_shortest_way_takes_the_lowest_numbers_first() -> None:
    graph = PhaseGraph(
        {START: frozenset([0]), 0: frozenset([1, 2]), 1: frozenset([3]), 2: frozenset([3]), 3: frozenset([0])}
    )
    assert graph.next_among(0, [3]) == {3: (1,)}
    assert graph.next_among(0, [0]) == {0: (1, 3)}
