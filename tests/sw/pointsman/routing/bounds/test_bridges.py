"""Bridges: those of networkx, with the nodes on their far side."""

from __future__ import annotations

import networkx
import pytest

from pointsman.artifacts.routes.file import make_collective, make_problem
from pointsman.artifacts.routes.routes import directed
from pointsman.network import graph, mesh, torus
from pointsman.routing.bounds.bridges import bridges_of
from pointsman.routing.collectives.bounds import period_bounds


@pytest.mark.parametrize("seed", range(30))
def test_bridges_of_random_networks_divide_them(seed):
    made = networkx.gnm_random_graph(14, 10 + seed, seed=seed)
    found = bridges_of(make_problem(graph(14, list(made.edges)), []))
    assert {frozenset((one.near, one.far)) for one in found.bridges} == set(map(frozenset, networkx.bridges(made)))
    for one in found.bridges:
        rest = made.copy()
        rest.remove_edge(one.near, one.far)
        beyond = {found.order[at] for at in one.beyond}
        assert beyond == networkx.node_connected_component(rest, one.far)


def test_faults_make_bridges_and_cycles_have_none():
    assert bridges_of(make_problem(torus(4, 4), [])).bridges == ()
    assert len(bridges_of(make_problem(mesh(2, 3), [], dead_nodes=[3])).bridges) == 4
    topology, extra = directed(3, [(0, 1), (1, 2), (2, 0)])
    assert bridges_of(make_problem(topology, [], dead_links=sorted(extra))).bridges == ()


def test_a_long_line_is_no_matter_of_recursion():
    assert len(bridges_of(make_problem(mesh(4000), [])).bridges) == 3999


@pytest.mark.parametrize("seed", range(5))
def test_all_to_all_on_a_tree_is_bounded_by_its_busiest_link(seed):
    tree = networkx.random_labeled_tree(24, seed=seed)
    net = make_problem(graph(24, list(tree.edges)), [])
    busiest = max(len(one.beyond) * (24 - len(one.beyond)) for one in bridges_of(net).bridges)
    assert period_bounds(make_collective(net, "all-to-all"))[0].value == busiest
