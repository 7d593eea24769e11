"""Trees reach every node, on shortest ways; those by dimensions have intervals behind each node."""

from __future__ import annotations

import pytest

from pointsman.artifacts.routes.file import make_problem
from pointsman.network import mesh, torus
from pointsman.routing.collectives.trees import avoiding_tree, depths, dimension_tree, middle, shortest_tree


@pytest.mark.parametrize("topology", [mesh(4, 5), torus(5, 4), mesh(3, 2, 3)], ids=str)
def test_shortest_trees_have_the_distances_as_depths(topology):
    net = make_problem(topology, [])
    for inward in (False, True):
        found = depths(shortest_tree(net, 7, inward=inward), 7)
        assert [found[node] for node in range(net.nodes)] == net.distances(7)


def test_every_partial_result_of_a_tree_by_dimensions_can_be_put_in_order():
    net = make_problem(torus(4, 3, 2), [])
    for root in range(net.nodes):
        parent = dimension_tree(net, root)
        behind = {node: [node] for node in range(net.nodes)}
        for node in reversed(list(parent)):
            behind[parent[node]] += behind[node]
        for node in parent:
            found = sorted(behind[node])
            assert found == list(range(found[0], found[-1] + 1))


def test_the_middle_is_near_all():
    assert middle(make_problem(mesh(5, 5), []), tuple(range(25))) == 12
    assert middle(make_problem(mesh(5), [], dead_links=[(0, 1)]), tuple(range(5))) in range(5)


def test_a_tree_avoids_links_where_it_can():
    net = make_problem(mesh(3, 2), [])
    straight = shortest_tree(net, 0)
    assert (straight[1], straight[2]) == (0, 1)
    tree = avoiding_tree(net, 0, frozenset({(0, 1)}))
    assert tree == {3: 0, 4: 3, 1: 4, 5: 4, 2: 1} or tree == {3: 0, 4: 3, 1: 4, 5: 4, 2: 5}
    assert avoiding_tree(make_problem(mesh(2), []), 0, frozenset({(0, 1)})) == {1: 0}
