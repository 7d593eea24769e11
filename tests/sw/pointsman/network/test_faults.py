"""Networks with faults: what is left, and what is refused."""

from __future__ import annotations

import pytest

from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh, torus
from pointsman.network.faults import with_faults
from pointsman.network.lattice import diamond


def test_a_link_is_left_out_in_both_directions() -> None:
    faulty = with_faults(mesh(3, 3), links=[(4, 1)])
    assert 1 not in {node for node, _ in faulty.at_port[4].values()}
    assert 4 not in {node for node, _ in faulty.at_port[1].values()}
    assert len(faulty.links) == len(mesh(3, 3).links) - 1


def test_a_dead_node_has_no_links_and_keeps_its_number() -> None:
    faulty = with_faults(mesh(3, 3), nodes=[4])
    assert faulty.nodes == 9
    assert faulty.working == (0, 1, 2, 3, 5, 6, 7, 8)
    assert faulty.at_port[4] == {}
    assert faulty.coordinates(5) == (2, 1)


@pytest.mark.parametrize("whole", [mesh(1), mesh(4, 3), torus(3, 3), torus(2, 2), torus(1, 4), mesh(2, 2, 2)])
def test_a_network_is_regular_until_a_link_is_missing(whole) -> None:
    assert whole.regular
    if whole.links and whole.kind == "torus":
        first = whole.links[0]
        assert not with_faults(whole, links=[(first.node, first.other)]).regular


def test_graphs_and_lattices_have_no_coordinates() -> None:
    assert not diamond(2).regular
    assert not graph(3, [(0, 1), (1, 2)]).has_coordinates


def test_distances_follow_the_links_that_are_left() -> None:
    assert mesh(3, 2).across([0, 1]) == 1
    assert with_faults(mesh(3, 2), links=[(0, 1)]).across([0, 1]) == 3
    assert diamond(2).across(range(diamond(2).nodes)) >= 2


@pytest.mark.parametrize(
    ("nodes", "links", "said"),
    [
        ([9], [], "node 9 is outside the network"),
        ([], [(0, 4)], "a faulty link must be a link of the network, not 0 -> 4"),
        ([1, 3], [], "the faults cut the network in two: no way leads from node 0"),
        (range(9), [], "all 9 nodes of the network are faulty"),
    ],
)
def test_faults_that_leave_no_network_are_refused(nodes, links, said: str) -> None:
    with pytest.raises(PointsmanError, match=said):
        with_faults(mesh(3, 3), nodes, links)
