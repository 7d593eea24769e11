"""Channels of online messages: only where they may go, the right way, without circles."""

import random
from itertools import pairwise

import pytest

from numesh.shape import NodeShape
from pointsman.errors import PointsmanError
from pointsman.network import Topology, graph, mesh, torus
from pointsman.routing.online.channels import (
    Together,
    circle,
    combined,
    dependencies,
    next_channel,
    online_network,
    online_streams,
)
from pointsman.routing.phase_router.router import route_phase

MESHES = [mesh(1, 1), mesh(1, 2), mesh(2, 2), mesh(3, 5), mesh(4, 4), mesh(2, 2, 2), mesh(3, 3, 3), mesh(9)]


def everybody(topology: Topology) -> dict[tuple[int, int], float]:
    return {(s, d): 1.0 for s in range(topology.nodes) for d in range(topology.nodes)}


def distance(topology: Topology, a: int, b: int) -> int:
    total = 0
    for x, y, size in zip(topology.coordinates(a), topology.coordinates(b), topology.size, strict=True):
        total += min(abs(x - y), size - abs(x - y)) if topology.kind == "torus" else abs(x - y)
    return total


@pytest.mark.parametrize("topology", [*MESHES, torus(4, 4), torus(5, 3)], ids=str)
def test_every_message_takes_a_shortest_way_and_arrives(topology: Topology):
    network = online_network(topology, everybody(topology))
    for source in range(topology.nodes):
        for destination in range(topology.nodes):
            way = network.way(source, destination)
            assert len(way) == distance(topology, source, destination)
            assert all(network.channels[a].target == network.channels[b].source for a, b in pairwise(way))


@pytest.mark.parametrize("express", [0, 2, 3, 4])
@pytest.mark.parametrize("topology", MESHES, ids=str)
def test_no_circle_of_channels_on_a_mesh(topology: Topology, express: int):
    """The channel dependency graph has no circle, also with express channels: every way is monotone, x first."""
    network = online_network(topology, everybody(topology), express)
    assert circle(dependencies(network)) is None


def test_a_torus_has_circles_of_channels():
    """So the freedom from deadlock must not rest on that graph (docs/online_routing.md)."""
    network = online_network(torus(5), everybody(torus(5)))
    found = circle(dependencies(network))
    assert found is not None
    graph_of = dependencies(network)
    assert all(b in graph_of[a] for a, b in pairwise((*found, found[0])))


def test_channels_only_where_messages_may_go():
    """(parallel (stream 'A (runtime) (runtime)) (stream 'B 0 (runtime))): A uses every link, B only +x of row 0 and all +y
    (Metcalf 1997, §4.2.2)."""
    topology = mesh(4, 4)
    b = online_network(topology, {(0, d): 1.0 for d in range(1, 16)})
    ends = {(c.source, c.target) for c in b.channels}
    assert ends == {(x, x + 1) for x in range(3)} | {(n, n + 4) for n in range(12)}
    a = online_network(topology, everybody(topology))
    assert len(a.channels) == 2 * len(topology.links)
    both = combined(Together("parallel", (everybody(topology), {(0, d): 1.0 for d in range(16)})))
    merged = online_network(topology, both)
    assert merged.channels == a.channels
    for channel, words, alone in zip(merged.channels, merged.words, a.words, strict=True):
        assert (words > alone) == ((channel.source, channel.target) in ends)


def test_a_run_time_stream_on_a_row_needs_four_registers_and_two_at_its_ends():
    network = online_network(mesh(5), everybody(mesh(5)))
    for node in range(5):
        used = sum((c.source == node) + (c.target == node) for c in network.channels)
        assert used == (2 if node in (0, 4) else 4)


def test_traffic_of_sequential_operators_is_the_most_of_parallel_ones_the_sum():
    first, second = {(0, 1): 3.0, (0, 2): 1.0}, {(0, 1): 2.0, (1, 2): 5.0}
    assert combined(Together("sequential", (first, second))) == {(0, 1): 3.0, (0, 2): 1.0, (1, 2): 5.0}
    assert combined(Together("parallel", (first, second))) == {(0, 1): 5.0, (0, 2): 1.0, (1, 2): 5.0}
    nested = Together("parallel", (first, Together("sequential", (first, second))))
    assert combined(nested) == {(0, 1): 6.0, (0, 2): 2.0, (1, 2): 5.0}


def test_traffic_is_conserved_at_every_node():
    rng = random.Random(5)
    topology = mesh(3, 5)
    traffic = {(rng.randrange(15), rng.randrange(15)): rng.random() for _ in range(40)}
    network = online_network(topology, traffic)
    for node in range(15):
        out = sum(w for c, w in zip(network.channels, network.words, strict=True) if c.source == node)
        into = sum(w for c, w in zip(network.channels, network.words, strict=True) if c.target == node)
        own = sum(w for (s, d), w in traffic.items() if s == node != d)
        mine = sum(w for (s, d), w in traffic.items() if d == node != s)
        assert out - into == pytest.approx(own - mine)


def test_express_channels_shorten_long_ways_and_are_one_in_one_out_at_a_node():
    topology, k = mesh(32), 4
    network = online_network(topology, everybody(topology), k)
    plain = online_network(topology, everybody(topology))
    assert len(plain.way(0, 31)) == 31
    assert max(len(network.way(s, d)) for s in range(32) for d in range(32)) <= 31 // k + 2 * (k - 1)
    for node in range(32):
        assert sum(c.source == node and c.hops > 1 for c in network.channels) <= 2  # one each way
    flat = online_network(mesh(8, 8), everybody(mesh(8, 8)), 4)
    for node in range(64):
        axes = {abs(c.source - c.target) >= 8 for c in flat.channels if c.source == node and c.hops > 1}
        assert len(axes) <= 1, "express channels along one dimension only"


def test_shortest_ways_on_a_graph():
    ring = graph(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2)])
    network = online_network(ring, everybody(ring))
    assert len(network.way(1, 4)) == 2
    assert len(network.way(3, 1)) == 2
    with pytest.raises(PointsmanError, match="no way from node 0 to node 2"):
        next_channel(graph(3, [(0, 1)]), 0, 2)


def test_streams_get_shares_by_the_traffic_of_their_channels():
    network = online_network(mesh(5), {(0, 1): 1.0, (0, 4): 4.0, (2, 4): 4.0, (3, 4): 1.0})
    streams = online_streams(network, "a online")
    assert [(s.name, s.path) for s in streams[:2]] == [("a online[0].0-1", (0, 1)), ("a online[0].1-2", (1, 2))]
    assert network.words == (5.0, 4.0, 8.0, 9.0)
    # Roots 2.2, 2.0, 2.8 and 3.0: only the second is below the first class.
    assert [s.weight for s in streams] == [3.0, 1.5, 3.0, 3.0]
    assert streams[0].group == streams[2].group == streams[3].group != streams[1].group


def test_a_quiet_channel_gets_fewer_slots_than_a_busy_one():
    network = online_network(mesh(4), {(0, 3): 8.0, (3, 0): 1.0})
    routed = route_phase(online_streams(network, "a"), mesh(4), NodeShape(), period=8)
    ahead = {(c.source, c.target): routed.words(i) for i, c in enumerate(network.channels)}
    assert all(ahead[n, n + 1] > ahead[n + 1, n] for n in range(3))
