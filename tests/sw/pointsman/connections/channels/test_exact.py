"""CP-SAT proves how many phases are needed, and the search finds as many."""

from __future__ import annotations

import pytest

from pointsman.artifacts.channels.channels import ChannelProblem, Demand
from pointsman.connections.channels import divide
from pointsman.connections.patterns import random_pattern
from pointsman.errors import PointsmanError
from pointsman.network import mesh, torus
from pointsman.verify.channels import check_phases

pytest.importorskip("ortools")


@pytest.mark.parametrize("topology", [torus(5), torus(3, 3), mesh(3, 3)], ids=str)
def test_the_search_needs_no_more_phases_than_are_proved(topology):
    for channels in (1, 2):
        pairs = random_pattern(topology.nodes, 8, channels)
        problem = ChannelProblem(topology, channels, tuple(Demand(*pair) for pair in pairs))
        exact, best = divide(problem, algorithm="exact"), divide(problem)
        assert check_phases(exact) == []
        assert best.bound <= len(exact.phases) == len(best.phases)


def test_large_problems_and_orders_are_refused():
    demands = tuple(Demand(*pair) for pair in random_pattern(64, 100, 0))
    with pytest.raises(PointsmanError, match="takes up to 20000 ways"):
        divide(ChannelProblem(mesh(8, 8), 12, demands), algorithm="exact")
    with pytest.raises(PointsmanError, match="knows neither an order nor bandwidths"):
        divide(ChannelProblem(mesh(3), 1, (Demand(0, 1), Demand(1, 2)), order=((0, 1),)), algorithm="exact")
