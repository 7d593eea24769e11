"""Where nodes are drawn."""

from __future__ import annotations

from pointsman.network import graph, mesh, torus
from pointsman.report.show.network import circle, grid, net_of


def test_nodes_of_a_mesh_stand_at_their_coordinates_and_each_pair_has_two_links() -> None:
    net = net_of(mesh(3, 2))
    assert net.places == [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]
    assert len(net.links) == 2 * 7
    assert all((v, u) in net.links for u, v in net.links)


def test_planes_of_a_mesh_in_three_dimensions_stand_beside_each_other() -> None:
    places = net_of(mesh(2, 2, 2)).places
    assert len(set(places)) == 8
    assert places[4] == (3, 0)


def test_networks_of_every_kind_have_a_place_for_each_node() -> None:
    for topology in (torus(4, 4), graph(5, [(0, 1), (1, 2), (3, 4)]), mesh(1), mesh(1, 5)):
        net = net_of(topology)
        assert len(set(net.places)) == topology.nodes
    assert len(set(circle(40))) == 40
    assert len(set(grid(7))) == 7
