"""Packets that hop: the kernel against a second simulator, against the thesis's figures, and against its model."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh, torus
from pointsman.optical.fabric import fabric
from pointsman.optical.logical import logical
from pointsman.optical.multihop import hop, hopping, model_of
from pointsman.optical.multihop.kernel import FREE, NOBODY, run_slots
from pointsman.optical.outcome import NEVER
from pointsman.optical.traffic import listed, uniform

CASES = [
    (torus(4, 4), "torus"),
    (torus(4, 4), "hypercube"),
    (torus(3, 4), "allxy"),
    (torus(5, 3), "all-to-all"),
    (mesh(2, 3), "all-to-all"),
    (graph(6, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (0, 3)]), "all-to-all"),
    (mesh(3, 3), "allxy"),
    (graph(4, [(0, 1), (1, 2), (2, 3)]), "hypercube"),
    (torus(2, 3), [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (3, 0)]),
]


def made_of(topology, name):
    net = fabric(topology)
    return logical(net, name) if isinstance(name, str) else logical(net, "links", name)


@pytest.mark.parametrize("number", range(27))
def test_the_kernel_equals_an_event_by_event_simulation_message_by_message(number, hopping_by_hand):
    chance = random.Random(number)
    topology, name = CASES[number % len(CASES)]
    made = made_of(topology, name)
    switch = chance.choice([1, 1, 2, 5])
    traffic = uniform(topology.nodes, chance.choice([0.02, 0.1]), chance.choice([1, 3, 8]), 60, number)
    until = chance.choice([70, 2000])
    found = hop(made, switch, traffic, slots=until)
    naive = hopping_by_hand.Hopping(made, switch, traffic).run(until)
    for message in range(len(traffic)):
        assert found.started[message] == naive.started.get(message, NEVER)
        assert found.done[message] == naive.done.get(message, NEVER)


GS = listed([(0, u, v, 64) for u in range(64) for v in (u - 1, u + 1) if 0 <= v < 64], 64)
TSCF = listed([(0, u, u ^ (1 << bit), 1) for u in range(64) for bit in range(6)], 64)


@pytest.mark.parametrize(
    ("name", "printed", "ours"),
    [("all-to-all", (4159, 70), (4159, 70)), ("torus", (404, 30), (401, 29)), ("hypercube", (792, 13), (793, 13))],
)
def test_communication_times_of_table_6_2(name, printed, ours):
    made = logical(fabric(torus(8, 8)), name)
    assert (hop(made, 1, GS).slots, hop(made, 1, TSCF).slots) == ours
    assert ours == pytest.approx(printed, rel=0.04)


@pytest.mark.parametrize("name", ["torus", "hypercube", "allxy", "all-to-all"])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.79])
@pytest.mark.parametrize("switch", [1, 2, 4])
def test_the_model_is_within_a_tenth_of_the_simulation_below_saturation(name, share, switch):
    made = logical(fabric(torus(8, 8)), name)
    model = model_of(made, switch)
    rate = share * model.greatest_rate
    found = hop(made, switch, uniform(64, rate, 1, 12_000, 1), slots=12_000)
    late = found.traffic.ready[found.delivered] > 2000
    assert model.delay(rate) == pytest.approx(found.delays[late].mean(), rel=0.1)


@pytest.mark.parametrize("share", [0.3, 0.6, 0.79])
def test_the_model_is_within_a_fifth_for_the_torus_on_16x16(share):
    made = logical(fabric(torus(16, 16)), "torus")
    model = model_of(made, 1)
    rate = share * model.greatest_rate
    found = hop(made, 1, uniform(256, rate, 1, 4_000, 1), slots=4_000)
    late = found.traffic.ready[found.delivered] > 1000
    assert model.delay(rate) == pytest.approx(found.delays[late].mean(), rel=0.2)


def queued(heads, followers):
    """Packets of chains."""
    found = []
    for at in heads.tolist():
        while at != NOBODY:
            found.append(at)
            at = int(followers[at])
    return found


@pytest.mark.parametrize("number", range(8))
def test_in_every_slot_a_packet_is_in_one_place_and_none_is_lost_or_made(number):
    topology, name = CASES[number % len(CASES)]
    made = made_of(topology, name)
    traffic = uniform(topology.nodes, 0.05, 3, 40, number)
    given = hopping._given(made, 1 + number % 3, traffic, 0)
    state = hopping._grown(hopping._empty(given, made, len(traffic)))
    now, delivered = 0, np.zeros(len(traffic), np.int64)
    for slot in range(1, 400):
        now, _ = run_slots(given, state, now, slot)
        places = [
            *queued(state.buffer_head, state.packet_next),
            *queued(state.path_head, state.packet_next),
            *(at for at in state.current.tolist() if at != NOBODY),
            *(at for at in state.path_tail[len(made.paths) :].tolist() if at != NOBODY),
        ]
        unused = queued(state.counters[FREE : FREE + 1], state.packet_next)
        assert sorted(places + unused) == list(range(len(state.packet_message)))
        under_way = np.bincount(state.packet_message[places], minlength=len(traffic))
        assert (state.injected - state.received == under_way).all()
        assert (delivered <= state.received).all()
        assert (state.received <= traffic.slots).all()
        assert ((state.done >= 0) == (state.received == traffic.slots)).all()
        delivered = state.received.copy()
        # A router has nothing beside the packet that it works on, and what it works on is not late.
        busy = state.current != NOBODY
        assert (state.finish[busy] >= now).all()
    assert (delivered == traffic.slots).all()


def test_packets_of_a_message_arrive_once_each_and_queues_grow_when_needed():
    made = logical(fabric(torus(4, 4)), "torus")
    everyone = listed([(0, u, v, 30) for u in range(16) for v in range(16) if u != v], 16)
    found = hop(made, 1, everyone)
    assert found.delivered.all()
    hops = np.array([len(made.route(u, v)) for _, u, v, _ in zip(*vars(everyone).values(), strict=True)])
    assert found.counts["packet_hops"] == (30 * hops).sum()


def test_an_idle_network_takes_what_the_formula_says():
    made = logical(fabric(torus(4, 4)), "torus")
    delays = [int(hop(made, 3, listed([(ready, 0, 5, 1)], 16)).delays[0]) for ready in range(made.degree)]
    assert np.mean(delays) == 3 * 3 + 2 * 1 + sum((made.degree - 1) / 2 for _ in range(1)) + _second(made)


def _second(made) -> int:
    """Slots from one connection of the way's to the next, which is fixed once the first is met."""
    first, second = (made.paths.index(pair) for pair in zip(made.route(0, 5), made.route(0, 5)[1:], strict=False))
    ready = int(made.slots[first]) + 1 + 3
    return (int(made.slots[second]) - ready) % made.degree


@pytest.mark.parametrize("switch", [0, -1])
def test_a_wrong_time_for_routing_is_refused(switch):
    with pytest.raises(PointsmanError, match="switch_slots: it must be a whole number of slots from 1 on"):
        hop(logical(fabric(torus(4)), "torus"), switch, listed([], 4))


def test_a_network_that_fills_up_is_refused_before_the_memory_is_full(monkeypatch):
    made = logical(fabric(torus(3, 3)), "torus")
    monkeypatch.setattr("pointsman.optical.multihop.hopping.MOST_PACKETS", 1000)
    messages = listed([(0, 0, 4, 50_000)], 9)
    with pytest.raises(PointsmanError, match=r"multihop: in slot .* more than 288 packets are in the network"):
        hop(made, 3, messages)
