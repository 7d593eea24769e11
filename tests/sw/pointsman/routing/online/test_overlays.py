"""Overlays: every message arrives, with few ends at each node, and the expected cycles choose between them."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from pointsman.network import Topology, graph, mesh, torus
from pointsman.routing.online.channels import online_network
from pointsman.routing.online.overlays import (
    Burst,
    boxes_of,
    chosen,
    expected_cycles,
    frame_of,
    over,
    overlays,
    registers_of,
)

SIZES = [(2, 2), (2, 5), (3, 3), (3, 4), (4, 4), (5, 3), (6, 6)]


def everybody(nodes: int) -> dict[tuple[int, int], float]:
    return {(a, b): 1.0 for a in range(nodes) for b in range(nodes)}


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_message_arrives_on_every_overlay(size: tuple[int, ...]):
    topology = mesh(*size)
    traffic = everybody(topology.nodes)
    names = []
    for overlay in overlays(topology, traffic):
        names.append(overlay.name)
        network = over(overlay, topology, traffic)
        assert network is not None, "streets lead from everywhere to everywhere"
        for source, destination in traffic:
            way = network.way(source, destination)
            assert len(way) <= len(network.channels)
            assert all(network.channels[a].target == network.channels[b].source for a, b in pairwise(way))
        for channel in network.channels:
            assert all(b in {to for to, _ in topology.at_port[a].values()} for a, b in pairwise(channel.path))
    assert names[0] == "streets"


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_on_streets_a_node_has_two_channels_out_and_two_in_at_most(size: tuple[int, ...]):
    topology = mesh(*size)
    traffic = everybody(topology.nodes)
    streets = next(overlays(topology, traffic))
    assert max(Counter(channel.source for channel in streets.channels).values()) <= 2
    assert max(Counter(channel.target for channel in streets.channels).values()) <= 2
    ends = {(channel.source, channel.target) for channel in streets.channels}
    assert not any((b, a) in ends for a, b in ends), "one way"
    network = over(streets, topology, traffic)
    assert network is not None
    assert frame_of(network, topology) == 2
    assert registers_of(network) <= 4


def test_expressways_make_ways_of_fewer_stops():
    topology = mesh(6, 6)
    traffic = everybody(36)

    def stops(network) -> float:  # type: ignore[no-untyped-def]
        return sum(len(network.way(a, b)) for a, b in traffic) / len(traffic)

    found = {overlay.name: over(overlay, topology, traffic) for overlay in overlays(topology, traffic)}
    near = online_network(topology, traffic)
    assert stops(found["expressways of 2"]) < 0.85 * stops(near)
    assert len(found["expressways of 2"].way(0, 35)) == 6
    assert stops(found["streets"]) > stops(near)


@pytest.mark.parametrize(
    "topology", [mesh(5), mesh(1, 4), mesh(2, 2, 2), graph(4, [(0, 1), (1, 2), (2, 3), (3, 0)])], ids=str
)
def test_there_are_none_where_no_box_has_two_dimensions(topology: Topology):
    assert list(overlays(topology, everybody(topology.nodes))) == []


def test_boxes_are_those_of_nodes_that_messages_join():
    topology = mesh(4, 4)
    assert boxes_of(topology, [(0, 5), (10, 15), (15, 10)]) == [(range(2), range(2)), (range(2, 4), range(2, 4))]
    assert boxes_of(topology, [(0, 5), (1, 15)]) == [(range(4), range(4))], "they meet"
    # The second box meets neither; the third joins both.
    assert boxes_of(topology, [(0, 1), (8, 9), (4, 12), (0, 8)]) == [(range(2), range(4))]
    assert boxes_of(graph(2, [(0, 1)]), [(0, 1)]) is None


def test_a_subset_has_its_streets_in_its_own_box():
    topology = mesh(4, 4)
    nodes = [5, 6, 9, 10]
    traffic = {(a, b): 1.0 for a in nodes for b in nodes}
    network = over(next(overlays(topology, traffic)), topology, traffic)
    assert network is not None
    assert network.nodes == set(nodes)


def test_an_overlay_without_a_way_is_none():
    topology = mesh(3, 3)
    streets = next(overlays(topology, {(0, 4): 1.0}))
    assert over(streets, topology, {(0, 8): 1.0}) is None


def test_long_messages_take_streets_short_ones_expressways_and_many_at_once_neighbours():
    topology = mesh(6, 6)
    traffic = everybody(36)
    near = online_network(topology, traffic)

    def name(words: int, messages: float, registers: int = 8, period: int = 32) -> str:
        return chosen(topology, traffic, [Burst(traffic, words, messages)], near, registers, period).name

    assert name(256, 1) == "streets"
    assert name(1, 1) == "expressways of 2"
    assert name(16, 36) == "neighbours"
    assert name(1, 1, registers=4) == "neighbours"
    assert name(1, 1, period=8) == "neighbours"
    assert name(256, 1, period=8) == "streets"


def test_neighbours_need_no_overlay():
    topology = mesh(4, 4)
    traffic = {(a, b): 1.0 for a in range(16) for b, _ in topology.at_port[a].values()}
    near = online_network(topology, traffic)
    assert chosen(topology, traffic, [Burst(traffic, 1, 24)], near, 8, 32).name == "neighbours"


def test_nothing_to_send_takes_no_time():
    topology = torus(3, 3)
    near = online_network(topology, {(0, 0): 1.0})
    assert expected_cycles(near, topology, [Burst({(0, 0): 1.0}, 4, 1)]) == 0
