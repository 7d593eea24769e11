"""Reservation protocols: what they do in small cases, and in all variants what a second simulator does."""

from __future__ import annotations

import random
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.network import graph, mesh, torus
from pointsman.optical.fabric import fabric
from pointsman.optical.outcome import NEVER
from pointsman.optical.reservation import Reservation, Scheme, reserve
from pointsman.optical.traffic import listed, uniform

NETWORKS = [
    torus(4, 4),
    torus(5, 3),
    torus(2, 2),
    torus(6),
    mesh(1, 4),
    mesh(3, 5),
    torus(3, 2, 2),
    graph(7, [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5), (5, 6), (2, 6), (0, 5)]),
    graph(2, [(0, 1)]),
]


def protocols(chance: random.Random, degree: int) -> Scheme:
    direction = chance.choice(["forward", "backward"])
    cset = chance.choice([1, None, chance.randint(1, degree)])
    conservative = cset == 1 and chance.random() < 0.5
    return Scheme(
        direction,
        chance.choice([0, 0, 1, 3, 10]),
        cset,
        conservative,
        (chance.randint(1, 3), chance.randint(0, 3)),
        chance.choice([1, 2, 5, 20]),
        "res" if direction == "backward" and conservative else chance.choice(["res", "ack"]),
        chance.choice([None, 0, 1, 2]) if direction == "backward" else None,
        chance.choice([None, None, 1, 2]),
    )


CASES = 60


def case(number: int) -> tuple[random.Random, str, int, Scheme]:
    """A routing, a degree and a protocol at random, and the generator for what follows."""
    chance = random.Random(number)
    routing, degree = chance.choice(["xy", "adaptive"]), chance.choice([1, 2, 3, 4, 7])
    return chance, routing, degree, protocols(chance, degree)


def test_the_random_cases_have_every_variant_with_every_other():
    seen = set()
    for number in range(CASES):
        _, routing, degree, protocol = case(number)
        size = "one" if protocol.cset == 1 else "all" if protocol.cset in (None, degree) else "some"
        ways = [
            protocol.direction,
            "hold" if protocol.hold else "drop",
            size,
            "no ACK" if protocol.conservative and protocol.direction == "backward" else "ACK",
            f"set at {protocol.set_at}",
            routing,
            "probe some" if protocol.probe is not None else "probe all",
            "requests" if protocol.requests else "all requests",
        ]
        seen |= {(a, b) for a in ways for b in ways}
    kinds = [
        ("forward", "backward"), ("hold", "drop"), ("one", "some", "all"), ("ACK", "no ACK"), ("set at res", "set at ack"),
        ("xy", "adaptive"), ("probe some", "probe all"), ("requests", "all requests"),
    ]  # fmt: skip
    impossible = {
        ("forward", "no ACK"), ("forward", "probe some"), ("some", "no ACK"), ("all", "no ACK"), ("no ACK", "set at ack"),
    }  # fmt: skip
    wanted = {(a, b) for i, one in enumerate(kinds) for other in kinds[i + 1 :] for a in one for b in other}
    assert wanted - impossible <= seen, wanted - impossible - seen
    assert not impossible & seen - {("all", "no ACK")}  # with one channel, one is all


@pytest.mark.parametrize("number", range(CASES))
def test_the_kernel_equals_an_event_by_event_simulation_message_by_message(number, reservation_by_hand):
    chance, routing, degree, protocol = case(number)
    net = fabric(NETWORKS[number % len(NETWORKS)], routing)
    traffic = uniform(net.nodes, chance.choice([0.01, 0.1]), chance.randint(1, 5), 60, number)
    if len(traffic) > 80:
        traffic = type(traffic)(*(column[:80] for column in vars(traffic).values()))
    until = 800
    run = Reservation(net, degree, protocol, traffic, seed=number)
    run.advance(until)
    naive = reservation_by_hand.Simulation(net, degree, protocol, traffic, number).run(until)
    assert run.hops == naive.hops
    found = run.state
    for message in range(len(traffic)):
        for ours, theirs in (
            (found.established, naive.established),
            (found.started, naive.started),
            (found.done, naive.done),
            (found.channel, naive.channel),
        ):
            assert int(ours[message]) == theirs.get(message, NEVER), (message, protocol)
    assert run.outcome().retries == naive.retries
    assert run.outcome().counts["switch_settings"] == naive.settings


def owners_are_consistent(run: Reservation) -> None:
    """Every channel is available, or has one owner; attempts and packets are as many as are in use."""
    state, given = run.state, run.given
    every = (1 << given.degree) - 1
    taken = np.zeros(len(state.free), np.uint64)
    unused, attempt = set(), int(state.counters[2])
    while attempt != -1 and attempt < len(state.attempt_next):
        unused.add(attempt)
        attempt = int(state.attempt_next[attempt])
    message_of = {}
    chains = [*state.bucket.tolist(), *state.head.tolist(), *state.current.tolist()]
    packets = []
    for at in chains[: len(state.bucket) + len(state.head)]:
        while at != -1:
            packets.append(at)
            at = int(state.packet_next[at])
    packets += [at for at in state.current.tolist() if at != -1] + state.held[: int(state.counters[4])].tolist()
    assert len(packets) == len(set(packets)) == int(state.counters[3])
    for packet in packets:
        if state.packet_attempt[packet] != -1:
            message_of[int(state.packet_attempt[packet])] = int(state.packet_message[packet])
    assert not unused & set(message_of)
    for attempt, message in message_of.items():
        hops = int(state.attempt_hops[attempt])
        for place in range(hops + 1):
            locked = int(state.locked[attempt, place])
            rows = [run.fabric.nodes + int(given.destination[message])]
            if place < hops:
                rows = [2 * run.fabric.nodes + int(state.path[attempt, place])]
            if place == 0:
                rows.append(int(given.source[message]))
            for row in rows:
                assert not int(taken[row]) & locked, "two owners"
                taken[row] |= np.uint64(locked)
    assert np.array_equal(taken, np.uint64(every) & ~state.free), "a channel is locked for nobody"


@pytest.mark.parametrize("number", range(12))
def test_every_channel_has_one_owner_in_every_slot_and_all_are_free_in_the_end(number):
    chance = random.Random(number)
    topology = NETWORKS[number % len(NETWORKS)]
    net = fabric(topology, chance.choice(["xy", "adaptive"]))
    degree = chance.choice([1, 3, 64])
    traffic = uniform(net.nodes, 0.1, 3, 40, number)
    protocol = protocols(chance, degree)
    if protocol.cset is None and protocol.direction == "forward":
        protocol = Scheme(**{**vars(protocol), "retry": 60})  # else it may live-lock
    run = Reservation(net, degree, protocol, traffic, seed=number)
    for slot in range(1, 300):
        run.advance(slot)
        owners_are_consistent(run)
    run.advance(1_000_000)
    assert run.finished
    assert (run.state.free == np.uint64((1 << degree) - 1)).all()
    assert run.outcome().delivered.all()
    owners_are_consistent(run)


@pytest.mark.parametrize(
    ("protocol", "established"),
    [
        # 3 links; processing 1 slot, propagation 2. A packet that goes there is processed by 4 routers, one that comes back by 3.
        (Scheme("forward", cset=1, control_slots=(1, 2)), 4 + 3 + 2 * 6),
        (Scheme("backward", cset=1, control_slots=(1, 2)), 4 + 3 + 2 * 6),
        (Scheme("backward", cset=1, conservative=True, control_slots=(2, 0)), 8 + 6),
    ],
)
def test_an_idle_network_is_as_quick_as_the_packets(protocol, established):
    net = fabric(mesh(4))
    found = reserve(net, 4, protocol, listed([(5, 0, 3, 2)], 4))
    assert found.established.tolist() == [5 + established]
    channel = int(found.started[0]) % 4
    assert 0 <= found.started[0] - found.established[0] < 4
    assert found.done[0] == found.started[0] + 4 + 1
    assert found.slots == found.done[0]
    assert found.retries == 0
    if protocol.direction == "backward" and not protocol.conservative:
        assert channel >= 0


def test_the_sender_and_the_receiver_carry_one_connection_per_channel():
    net = fabric(torus(4, 4))
    to_one = reserve(net, 1, Scheme(), listed([(0, node, 5, 10) for node in (1, 4, 6, 9)], 16))
    spans = sorted(zip(to_one.started.tolist(), to_one.done.tolist(), strict=True))
    assert all(done <= start for (_, done), (start, _) in pairwise(spans))


def test_two_aggressive_forward_reservations_without_pause_lock_each_other_out_for_ever():
    """The live-lock of §3.1: each takes all channels of its own first link and never gets those of the other's."""
    net = fabric(torus(5))
    pairs = listed([(0, node, (node + 2) % 5, 1) for node in range(5)], 5)
    stuck = reserve(net, 4, Scheme("forward", cset=None, retry=1), pairs, slots=20_000)
    assert not stuck.delivered.any()
    assert stuck.retries > 1000
    assert reserve(net, 4, Scheme("forward", cset=None, retry=60), pairs).delivered.all()
    assert reserve(net, 4, Scheme("forward", cset=1, retry=1), pairs).delivered.all()


def test_a_node_asks_for_so_many_connections_at_a_time():
    net = fabric(mesh(4))
    three = listed([(0, 0, 3, 5), (0, 0, 2, 5), (0, 0, 1, 5)], 4)
    # An attempt on an idle network takes 2 routers a link and one: the second begins when the first is established.
    assert reserve(net, 64, Scheme(requests=1), three).established.tolist() == [13, 13 + 9, 13 + 9 + 5]
    assert reserve(net, 64, Scheme(requests=2), three).established[2] > reserve(net, 64, Scheme(), three).established[2]


def test_switches_are_set_once_a_connection_at_ack_and_for_every_locked_channel_at_res():
    net, one = fabric(mesh(4)), listed([(0, 0, 3, 1)], 4)
    settings = [
        reserve(net, 8, Scheme("forward", cset=5, set_at=when), one).counts["switch_settings"]
        for when in ("res", "ack")
    ]
    assert settings == [3 * 5 + 1, 4]


def test_a_run_that_ends_early_says_what_is_not_delivered():
    net = fabric(mesh(4))
    found = reserve(net, 1, Scheme(), listed([(0, 0, 3, 100), (0, 3, 0, 1)], 4), slots=40)
    assert found.done.tolist()[0] == NEVER
    assert found.delivered.tolist() == [False, True]
    assert found.as_dict()["messages"][0][5] is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"cset": 0}, "reservation.cset: it must be 1 to 64 channels or all, not 0"),
        ({"cset": 2, "conservative": True}, "a conservative protocol has a cset of 1, not 2"),
        ({"control_slots": (0, 1)}, r"reservation.control_slots\[0\]: it must be 1 to 1048576, not 0"),
        ({"retry": 0}, "reservation.retry: it must be 1 to 1048576, not 0"),
        ({"requests": 0}, "reservation.requests: it must be 1 to 1048576, not 0"),
        ({"hold": -1}, "reservation.hold: it must be 0 to 1048576, not -1"),
        ({"direction": "forward", "probe": 2}, "only backward protocols probe"),
        ({"conservative": True, "set_at": "ack"}, "has no ACK to set switches at"),
    ],
)
def test_wrong_protocols_are_refused(changes, message):
    with pytest.raises(PointsmanError, match=message):
        Scheme(**changes)


@pytest.mark.parametrize("degree", [0, 65, -1])
def test_wrong_degrees_are_refused(degree):
    with pytest.raises(PointsmanError, match=f"degree: there must be 1 to 64 channels, not {degree}"):
        Reservation(fabric(mesh(2)), degree, Scheme(), listed([], 2))


def test_more_channels_at_a_time_than_there_are_are_refused():
    with pytest.raises(PointsmanError, match="4 is more than 3"):
        Reservation(fabric(mesh(2)), 3, Scheme(cset=4), listed([], 2))


MEMORY = """
import resource
from pointsman.network import torus
from pointsman.optical.fabric import fabric
from pointsman.optical.logical import logical
from pointsman.optical.multihop import hop
from pointsman.optical.reservation import Scheme, reserve
from pointsman.optical.traffic import uniform
net = fabric(torus(32, 32))
assert reserve(net, 32, Scheme(cset=3), uniform(1024, 0.005, 8, 2000, 1), slots=2000).delivered.sum() > 5000
assert hop(logical(net, "allxy"), 1, uniform(1024, 0.03, 1, 2000, 1), slots=2000).delivered.sum() > 50_000
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
def test_32x32_nodes_take_less_than_a_gigabyte():
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 1_000_000  # kilobytes; some 200,000


def test_messages_that_queue_up_are_refused_before_the_memory_is_full(monkeypatch):
    monkeypatch.setattr("pointsman.optical.reservation.protocol.MOST_PLACES", 1000)
    messages = listed([(0, 0, 2, 1)] * 500, 9)
    with pytest.raises(PointsmanError, match="reservation: in slot 0 too many messages ask for a connection at a time"):
        reserve(fabric(torus(3, 3)), 1, Scheme(), messages)
