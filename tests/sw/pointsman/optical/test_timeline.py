"""Rows of who had which channel when, against ownership, ways and times of messages."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest

from pointsman.network import graph, mesh, torus
from pointsman.optical import timeline
from pointsman.optical.compiled import Registers, run_compiled
from pointsman.optical.fabric import fabric
from pointsman.optical.logical import logical
from pointsman.optical.multihop import hop
from pointsman.optical.reservation import Scheme, reserve
from pointsman.optical.traffic import uniform


def check_owners(held, end):
    """A channel of a link has one owner at a time."""
    spans = sorted((row[:3], row[4], end if row[6] is None else row[6]) for row in map(comparable, held))
    for (one, _, freed), (two, locked, _) in pairwise(spans):
        assert one != two or freed <= locked, (one, freed, locked)


def comparable(row):
    return [-1 if value is None and place < 2 else value for place, value in enumerate(row)]


@pytest.mark.parametrize("number", range(24))
def test_reserved_channels_have_one_owner_and_messages_all_of_their_way(number):
    chance = random.Random(number)
    net = fabric(chance.choice([torus(4, 4), mesh(3, 2), graph(4, [(0, 1), (1, 2), (2, 3), (3, 0)])]))
    degree = chance.choice([1, 3, 5])
    direction = chance.choice(["forward", "backward"])
    scheme = Scheme(direction, chance.choice([0, 8]), chance.choice([1, None]), retry=chance.choice([5, 60]))
    found = reserve(net, degree, scheme, uniform(net.nodes, 0.01, 3, 300, number), seed=number)
    held = found.timeline["held"]
    check_owners(held, found.slots + 100)
    assert found.timeline["held_until"] == found.slots
    whole = Counter(row[3] for row in held if row[5] is not None)
    for message in range(len(found.traffic)):
        source, destination = int(found.traffic.source[message]), int(found.traffic.destination[message])
        assert whole[message] == len(net.way(source, destination)) + 1
    for _, _, channel, message, locked, established, freed in held:
        if established is not None:
            assert channel == (found.started[message]) % degree
            assert locked <= established == found.established[message]
            assert freed is None or freed >= found.done[message]


def test_channels_behind_others_have_their_slots():
    net = fabric(torus(4, 4))
    traffic = uniform(16, 0.01, 3, 300, 1)
    alone, behind = (reserve(net, 2, Scheme(), traffic, before=before) for before in (0, 3))
    assert set((behind.started % 5).tolist()) == {3, 4}
    assert ((behind.done - behind.started - 1) % 5 == 0).all()
    assert {row[2] for row in behind.timeline["held"]} == {3, 4}
    assert behind.slots > alone.slots


def test_compiled_channels_have_one_owner_and_packets_that_hop_wait_in_order():
    net = fabric(torus(4, 4))
    traffic = uniform(16, 0.02, 2, 200, 1)
    found = run_compiled(net, traffic, Registers())
    assert len({row[3] for row in found.timeline["held"]}) == len(traffic)
    check_owners(found.timeline["held"], found.slots)
    topology = logical(net, "hypercube")
    hops = hop(topology, 2, traffic)
    assert len(hops.timeline["hops"]) == hops.counts["packet_hops"] - int(traffic.slots.sum())
    for u, v, channel, message, arrived, routed, sent in hops.timeline["hops"]:
        assert (u, v) in topology.paths
        assert sent % topology.degree == channel
        assert traffic.ready[message] <= arrived < routed <= sent < hops.done[message]


def test_only_the_first_rows_are_kept(monkeypatch):
    monkeypatch.setattr(timeline, "MOST_ROWS", 10)
    rows = [[0, 1, 0, number, 30 - number, None, None] for number in range(20)]
    cut = timeline.timeline("held", rows, 100)
    assert [row[3] for row in cut["held"]] == list(range(19, 9, -1))
    assert cut["held_until"] == 20
    both = timeline.joined([(cut, 0, 0), ({"held": [[0, 1, 0, 0, 1, 1, 2]], "held_until": 9}, 100, 20)])
    assert both == cut
