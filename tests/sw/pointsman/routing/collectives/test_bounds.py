"""Bounds of collectives: those of streams where both apply, and known values."""

from __future__ import annotations

import pytest

from pointsman.artifacts.routes.file import make_collective, make_problem
from pointsman.artifacts.routes.routes import RouteProblem, directed
from pointsman.network import graph, mesh, torus
from pointsman.routing.bounds.ideal import counted_bounds
from pointsman.routing.collectives.bounds import latency_bound, period_bounds, reversed_net


@pytest.mark.parametrize("kind", ["broadcast", "all-gather", "gather", "scatter", "all-to-all"])
@pytest.mark.parametrize("topology", [mesh(4, 3), torus(4, 4), mesh(3, 3), mesh(5)], ids=lambda t: f"{t} {t.kind}")
def test_they_are_those_of_the_same_streams(kind, topology):
    problem = make_collective(make_problem(topology, []), kind, words=3, root=1)
    streams = RouteProblem(topology, problem.streams())
    mine = {bound.kind: bound.value for bound in period_bounds(problem)}
    counted = {bound.kind: bound.value for bound in counted_bounds(make_problem(topology, streams.streams))}
    for name in ("injection", "ejection", "cut", "hop capacity", "parity"):
        if name in counted and name in mine:
            assert mine[name] == counted[name], name
    assert max(mine.values()) == max(value for name, value in counted.items() if name != "counting")


def test_parity_forbids_an_even_period_on_two_coloured_networks_of_odd_size():
    def value(topology, words, **options):
        problem = make_collective(make_problem(topology, [], **options), "all-gather", words=words)
        return period_bounds(problem)[0].value

    assert value(mesh(5, 7), 1) == 35
    assert value(mesh(5, 7), 3) == 103
    assert value(mesh(5, 7), 2) == 68
    assert value(torus(5, 7), 1) == 34
    assert value(mesh(5, 7), 1, buffers=True) == 34


def test_latency_counts_distances_and_words():
    net = make_problem(mesh(4, 4), [])
    assert latency_bound(make_collective(net, "broadcast", words=5)).value == 4 + 6
    assert latency_bound(make_collective(net, "all-gather")).value == 15
    assert latency_bound(make_collective(net, "all-reduce", words=5)).value == 4 + 6
    assert latency_bound(make_collective(make_problem(mesh(1), []), "reduce")) is None


def test_links_of_one_direction_bound_an_all_reduce_by_all_links():
    topology, extra = directed(5, [(node, (node + 1) % 5) for node in range(5)])
    net = make_problem(topology, [], dead_links=sorted(extra))
    assert reversed_net(net).links == tuple(sorted((v, u) for u, v in net.links))
    bound = period_bounds(make_collective(net, "all-reduce", words=5))[0]
    assert (bound.value, bound.kind) == (8, "hop capacity")


def test_cuts_round_nodes_bound_collectives_on_graphs_too():
    line = make_problem(graph(8, [(node, node + 1) for node in range(7)]), [])
    bound = period_bounds(make_collective(line, "all-to-all"))[0]
    # Four nodes on each side of the link in the middle.
    assert (bound.value, bound.kind, bound.text) == (
        16,
        "cut",
        "16 words leave the nodes within 3 links of 0 by 1 link",
    )
    tree = make_problem(graph(7, [(node, (node - 1) // 2) for node in range(1, 7)]), [])
    assert period_bounds(make_collective(tree, "all-to-all", words=3))[0].value == 36
