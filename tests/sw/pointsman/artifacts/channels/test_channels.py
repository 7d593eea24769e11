"""Values of phased connections, and what they refuse."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pointsman.artifacts.channels.channels import ChannelCosts, ChannelProblem, ChannelRoute, Demand, shares
from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh

LINE = mesh(3)


def test_shares_of_links_are_those_of_round_robin():
    routes = (
        ChannelRoute(0, (0, 1, 2), (0, 0, 0), 0, 2),
        ChannelRoute(1, (1, 2), (1, 1), 0, 2),
        ChannelRoute(2, (2, 1), (2, 2), 0, 2),
    )
    assert shares(routes) == [Fraction(1, 2), Fraction(1, 2), Fraction(1)]


def test_costs_are_those_of_iwarp():
    assert ChannelCosts().switch == 528
    assert ChannelCosts().element == 2
    assert ChannelCosts(access=10).element == 10


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ChannelProblem(LINE, 0, ()), "channels: a node must have 1 to 1024 logical channels, not 0"),
        (lambda: ChannelProblem(LINE, 1, (), 0), 'phases: must be "fewest" or 1 to 4096, not 0'),
        (lambda: ChannelProblem(LINE, 1, (Demand(0, 3),)), "connections[0]: a node must be one of 0..2, not 3"),
        (
            lambda: ChannelProblem(LINE, 1, (Demand(1, 1),)),
            "connections[0]: a connection must join two nodes, not 1 and itself",
        ),
        (
            lambda: ChannelProblem(LINE, 1, (Demand(0, 1, 0),)),
            f"connections[0]: there must be 1 to {1 << 40} words, not 0",
        ),
        (
            lambda: ChannelProblem(LINE, 1, (Demand(0, 1, 1, Fraction(2)),)),
            "connections[0]: a bandwidth must be a share of a link, 0 to 1, not 2",
        ),
        (
            lambda: ChannelProblem(LINE, 1, (Demand(0, 2, 1, latency=7),)),
            "connections[0]: a latency of 7 clocks cannot hold: the way from node 0 to node 2 has 2 links of 4 clocks at least",
        ),
        (
            lambda: ChannelProblem(graph(3, [(0, 1)]), 1, (Demand(0, 2),)),
            "connections[0]: no way leads from node 0 to node 2",
        ),
        (
            lambda: ChannelProblem(LINE, 1, (Demand(0, 1),), order=((0, 1),)),
            "order[0]: there is no connection 1 among 1",
        ),
        (
            lambda: ChannelProblem(LINE, 1, (Demand(0, 1), Demand(1, 2)), order=((0, 1), (1, 0))),
            "order: connection 0 would have to end before it begins",
        ),
        (lambda: ChannelCosts(word=0), "costs.word: clocks must be 1 to 1000000, not 0"),
    ],
)
def test_wrong_values_are_refused(make, message):
    with pytest.raises(PointsmanError) as caught:
        make()
    assert str(caught.value) == message
