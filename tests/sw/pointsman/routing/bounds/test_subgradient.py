"""Prices by multiplicative weights: valid, and near those of the linear program."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.network import mesh, torus
from pointsman.routing.bounds.capacity import Capacity, capacity_of
from pointsman.routing.bounds.linear_program import max_concurrent_flow
from pointsman.routing.bounds.prices import throughput_bound
from pointsman.routing.bounds.subgradient import link_prices


@pytest.mark.parametrize("topology", [mesh(3, 3), torus(4, 4)], ids=str)
@pytest.mark.parametrize("node", [False, True])
def test_the_bound_is_above_the_optimum_and_not_far(topology, node):
    ends = np.random.default_rng(1).permutation(topology.nodes).tolist()
    problem = make_problem(topology, [RouteStream(a, (b,)) for a, b in enumerate(ends) if a != b])
    capacity = capacity_of(problem.shape, 12) if node else Capacity(None)
    exact = max_concurrent_flow(problem, problem.shape if node else None, 12 if node else None).throughput
    found = throughput_bound(problem, capacity, link_prices(problem, capacity, rounds=200))
    assert found is not None
    assert exact <= found <= exact * 1.15
