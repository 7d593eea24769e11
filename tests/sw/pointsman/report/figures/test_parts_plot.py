"""Pictures of meshes over processors."""

from __future__ import annotations

import pytest

from pointsman.artifacts.channels.channels import ChannelRoute
from pointsman.connections.channels import divide
from pointsman.errors import PointsmanError
from pointsman.fem.exchange import exchange_of
from pointsman.fem.generators import generated
from pointsman.network import graph, mesh, torus
from pointsman.report.figures.parts_plot import loads, plot_parts


@pytest.mark.parametrize(
    ("text", "topology"),
    [("random:60:1", torus(3, 2)), ("valley:60:1", mesh(3, 2)), ("plate:4x4", graph(3, [(0, 1), (1, 2)]))],
)
def test_a_picture_is_drawn_and_the_same_each_time(tmp_path, text, topology):
    exchange = exchange_of(generated(text), 3, topology)
    answer = divide(exchange.problem)
    pictures = [tmp_path / "one.svg", tmp_path / "two.svg"]
    for path in pictures:
        plot_parts(exchange.mesh.points, exchange.mesh.elements, exchange.part_of, exchange.node_of, answer, path)
    assert pictures[0].read_bytes() == pictures[1].read_bytes()
    assert "phase 0" in pictures[0].read_text() or b"<svg" in pictures[0].read_bytes()


def test_connections_on_links_are_counted():
    routes = [ChannelRoute(0, (0, 1, 2), (0, 0, 0), 0, 1), ChannelRoute(1, (0, 1), (1, 1), 0, 1)]
    assert loads(routes) == {(0, 1): 2, (1, 2): 1}


def test_a_picture_has_the_ending_of_one(tmp_path):
    exchange = exchange_of(generated("plate:4x4"), 2, mesh(2))
    arrays = exchange.mesh.points, exchange.mesh.elements, exchange.part_of, exchange.node_of
    with pytest.raises(PointsmanError, match="a plot must end in"):
        plot_parts(*arrays, divide(exchange.problem), tmp_path / "parts.txt")
