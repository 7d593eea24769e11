"""Starts on a tree never let two words come to a node at once."""

from __future__ import annotations

import networkx
import pytest

from pointsman.artifacts.routes.collectives import CollectiveResult
from pointsman.artifacts.routes.file import make_collective, make_problem
from pointsman.network import graph, mesh, torus
from pointsman.network.lattice import diamond
from pointsman.routing.bounds.flooding import FloodedTree
from pointsman.routing.collectives.flooding import on_a_tree, start_slots
from pointsman.verify.collectives import check_collective


def line(count: int) -> FloodedTree:
    beside = {node: [at for at in (node - 1, node + 1) if 0 <= at < count] for node in range(count)}
    return FloodedTree(beside, dict.fromkeys(range(count), 1))


@pytest.mark.parametrize("count", [*range(4, 40), 100, 101])
def test_arrivals_are_in_different_slots(count):
    period, starts = start_slots(line(count))
    assert period == 2 * count - 3 - (count % 2 == 0)
    for node in range(count):
        arrivals = {(slots[0] + abs(node - source)) % period for source, slots in starts.items() if source != node}
        assert len(arrivals) == count - 1


@pytest.mark.parametrize("words", [1, 2, 5])
@pytest.mark.parametrize("seed", range(12))
def test_schedules_on_random_trees_pass_the_judge(seed, words):
    tree = networkx.random_labeled_tree(5 + 2 * seed, seed=seed)
    net = make_problem(graph(len(tree), list(tree.edges)), [])
    problem = make_collective(net, "all-gather", words=words)
    made = on_a_tree(net, problem.nodes, words)
    assert made is not None
    inner = sum(tree.degree(node) > 1 for node in tree)
    assert 0 <= made.period - (words * len(tree) + inner - 2) <= 2
    report = check_collective(CollectiveResult(problem, made.period, made.latency, made.words, made.method))
    assert report.ok, report.render()


@pytest.mark.parametrize("topology", [mesh(4, 5), torus(3, 5), diamond(3)], ids=str)
def test_other_networks_have_a_tree_too(topology):
    net = make_problem(topology, [])
    problem = make_collective(net, "all-gather", words=3)
    made = on_a_tree(net, problem.nodes, 3)
    assert made is not None
    report = check_collective(CollectiveResult(problem, made.period, made.latency, made.words, made.method))
    assert report.ok, report.render()


def test_links_of_one_direction_make_no_tree():
    net = make_problem(mesh(3), [], dead_links=[(0, 1)])
    assert on_a_tree(net, (0, 1, 2), 1) is None
    assert on_a_tree(make_problem(mesh(2), []), (0, 1), 1) is None
