"""The linear program against known values, and its proofs."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.errors import PointsmanError
from pointsman.network import mesh, torus
from pointsman.routing.bounds.capacity import capacity_of
from pointsman.routing.bounds.linear_program import flow_paths, max_concurrent_flow
from pointsman.routing.bounds.prices import Prices, throughput_bound
from pointsman.routing.bounds.subgradient import link_prices


def bit_reversal(side: int):
    bits = (side * side - 1).bit_length()
    ends = [int(f"{node:0{bits}b}"[::-1], 2) for node in range(side * side)]
    return make_problem(mesh(side, side), [RouteStream(a, (b,)) for a, b in enumerate(ends) if a != b])


@pytest.mark.parametrize(("side", "words"), [(4, 34.3636), (8, 17.0270)])
@pytest.mark.parametrize("vertex", [False, True])
def test_bit_reversal_has_the_reference_bound(side, words, vertex):
    problem = bit_reversal(side)
    bound = max_concurrent_flow(problem, problem.shape, 64, vertex=vertex)
    assert float(bound.throughput) * 64 == pytest.approx(words, abs=2e-4)
    assert bound.reached <= float(bound.throughput) * (1 + 1e-6)


@pytest.mark.slow
def test_bit_reversal_of_256_nodes_has_the_reference_bound():
    problem = bit_reversal(16)
    assert float(max_concurrent_flow(problem, problem.shape, 64).throughput) * 64 == pytest.approx(9.6417, abs=1e-3)


def all_to_all(topology):
    nodes = range(topology.nodes)
    return make_problem(topology, [RouteStream(a, (b,)) for a in nodes for b in nodes if a != b])


@pytest.mark.parametrize(
    ("topology", "slots"), [(mesh(4, 4), 16), (mesh(5, 5), 30), (torus(4, 4), 8), (torus(5, 5), 15), (mesh(2), 1)]
)
def test_all_to_all_in_the_ideal_model_is_bound_by_its_cuts(topology, slots):
    assert float(1 / max_concurrent_flow(all_to_all(topology)).throughput) == pytest.approx(slots, rel=1e-6)


def test_flows_are_kept_at_nodes_and_paths_add_up_to_them():
    problem = bit_reversal(4)
    bound = max_concurrent_flow(problem, problem.shape, 64, vertex=True)
    load = np.zeros(len(problem.links))
    number = {link: index for index, link in enumerate(problem.links)}
    for stream, paths in zip(problem.streams, flow_paths(bound), strict=True):
        assert sum(amount for amount, _ in paths) == pytest.approx(bound.reached, rel=1e-4)
        for amount, path in paths:
            assert (path[0], path[-1]) == (stream.source, stream.destinations[0])
            assert len(set(path)) == len(path)
            for hop in pairwise(path):
                load[number[hop]] += amount
    assert load.max() <= 1 + 1e-5


def test_weights_share_the_bandwidth():
    streams = [RouteStream(0, (1,), weight=3.0), RouteStream(0, (1,), weight=1.0)]
    problem = make_problem(mesh(2), streams)
    # One link of one word a slot for a weight of four; the node could write two.
    assert max_concurrent_flow(problem, problem.shape).throughput == Fraction(1, 4)


def test_multicast_pays_a_link_once():
    problem = make_problem(mesh(3), [RouteStream(0, (1, 2), words=2)])
    assert float(1 / max_concurrent_flow(problem).throughput) == pytest.approx(2, rel=1e-6)
    everyone = make_problem(mesh(3, 3), [RouteStream(a, tuple(b for b in range(9) if b != a)) for a in range(9)])
    bound = max_concurrent_flow(everyone, everyone.shape, 64)
    assert float(bound.throughput) == pytest.approx(bound.reached, rel=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_any_prices_bound_the_throughput_and_rounds_come_near(seed):
    chance = np.random.default_rng(seed)
    nodes = 16
    pairs = [chance.choice(nodes, 2, replace=False).tolist() for _ in range(20)]
    problem = make_problem(mesh(4, 4), [RouteStream(a, (b,), weight=float(chance.integers(1, 4))) for a, b in pairs])
    optimum = max_concurrent_flow(problem, problem.shape, 64)
    for _ in range(20):
        prices = Prices(chance.integers(0, 100, len(problem.links)), chance.integers(0, 100, nodes), {})
        bound = throughput_bound(problem, optimum.capacity, prices)
        assert bound is None or float(bound) >= optimum.reached * (1 - 1e-6)
    near = throughput_bound(problem, optimum.capacity, link_prices(problem, optimum.capacity))
    assert optimum.reached * (1 - 1e-6) <= float(near) <= 1.03 * optimum.reached


def test_node_capacity_keeps_slots_free_and_knows_the_back_to_back_rule():
    assert capacity_of(NodeShape(), 64).node == Fraction(126, 64)
    assert capacity_of(NodeShape(), 64, 1).node == Fraction(127, 64)
    assert capacity_of(NodeShape(), None).node == 2
    # One usable VFSM a pipeline runs every other slot at most.
    assert capacity_of(NodeShape(vfsms=4), 9).node == Fraction(16, 9)
    assert capacity_of(NodeShape(vfsms=2), 9).node == 0


def test_no_streams_and_too_many_flows_are_refused():
    with pytest.raises(PointsmanError, match="a flow bound must have at least one stream"):
        max_concurrent_flow(make_problem(mesh(2), []))
    problem = make_problem(mesh(32, 32), [RouteStream(a, (1023 - a,)) for a in range(500)])
    with pytest.raises(PointsmanError, match="a linear program must have at most 1500000 flows, not"):
        max_concurrent_flow(problem)
