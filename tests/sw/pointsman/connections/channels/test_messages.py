"""Routes of messages never wait for each other in a circle; predictions are the printed ones."""

from __future__ import annotations

import pytest

from pointsman.artifacts.channels.channels import ChannelCosts
from pointsman.connections.channels.messages import message_route, predicted_messages
from pointsman.connections.channels.patterns import pattern
from pointsman.connections.patterns import all_to_all_pattern
from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh, torus
from pointsman.verify.channels import circle_of


@pytest.mark.parametrize(
    "topology", [torus(1), torus(2), torus(8), torus(5, 3), torus(8, 8), torus(3, 3, 3), mesh(4, 3)], ids=str
)
def test_channels_do_not_wait_for_each_other_in_a_circle(topology):
    routes = [message_route(topology, *pair) for pair in all_to_all_pattern(topology.nodes)]
    assert circle_of(routes) is None
    if topology.kind == "torus" and max(topology.size) > 3:
        assert circle_of([[(u, v, 0) for u, v, _ in route] for route in routes]) is not None


@pytest.mark.parametrize(("name", "messages"), [("torus", 4), ("hypercube", 6), ("all-to-all", 63)])
def test_predictions_are_a_number_of_messages_times_2k_and_800(name, messages):
    # The paper's column for all-to-all counts 64.
    for k in (32, 256, 2048, 16384):
        assert predicted_messages(pattern(name, (8, 8), k), ChannelCosts()) == messages * (2 * k + 800)


def test_a_graph_has_no_dimension_order():
    with pytest.raises(PointsmanError, match="messages need a mesh or torus without faults, not a graph"):
        message_route(graph(2, [(0, 1)]), 0, 1)
