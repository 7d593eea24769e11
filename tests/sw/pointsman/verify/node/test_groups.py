"""Groups of nodes against connected components."""

from __future__ import annotations

import random
from types import ModuleType

import networkx as nx
import pytest

from pointsman.artifacts.images import Promise
from pointsman.verify.node.groups import groups_of, nodes_of


@pytest.mark.parametrize("seed", range(30))
def test_sets_that_overlap_are_one_group(seed: int) -> None:
    rng = random.Random(seed)
    sets = [set(rng.sample(range(12), rng.randint(1, 4))) for _ in range(rng.randint(0, 6))]
    graph = nx.Graph()
    for nodes in sets:
        graph.add_nodes_from(nodes)
        nx.add_path(graph, sorted(nodes))
    groups = groups_of(sets)
    assert groups.keys() == set(graph)
    found = {frozenset(node for node in groups if groups[node] == root) for root in groups.values()}
    assert found == set(map(frozenset, nx.connected_components(graph)))
    assert all(groups[root] == root for root in groups.values())


def test_a_stream_joins_its_source_and_all_of_its_destinations(by_hand: ModuleType) -> None:
    (promise,) = by_hand.broadcast_1x3().promises
    assert isinstance(promise, Promise)
    assert nodes_of(promise) == {0, 1, 2}
