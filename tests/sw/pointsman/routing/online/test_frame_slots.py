"""Lines over several hops: what they need, and that no two have it at once."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.online.channels import online_network, online_streams
from pointsman.routing.online.frame_slots import LINKS, RECEIVE, SEND, Filling, lines_of
from pointsman.routing.online.frames import coloured_lines, route_frames
from pointsman.routing.online.overlays import over, overlays
from pointsman.routing.phase_router.router import route_phase
from pointsman.routing.streams import RoutedPhase, Stream

SHAPE = NodeShape()


def assert_rules(routed: RoutedPhase) -> None:
    """One VFSM a slot and pipeline, one word a link and slot, a cycle a hop, no delivery before an injection."""
    vfsms: Counter[tuple[int, int, int]] = Counter()
    links: Counter[tuple[int, int, int]] = Counter()
    injects, delivers = set(), set()
    for chain in routed.chains:
        for i, vfsm in enumerate(chain.vfsms):
            for slot in vfsm.slots:
                at = vfsm.node, vfsm.pipeline, slot
                vfsms[at] += 1
                links[vfsm.node, vfsm.destination.number, slot] += vfsm.destination.kind == "link"
                injects |= {at} if vfsm.source.kind == "inject" else set()
                after = vfsm.node, vfsm.pipeline, (slot + 1) % routed.period
                delivers |= {after} if vfsm.destination.kind == "deliver" else set()
            if i and vfsm.parent >= 0 and chain.vfsms[vfsm.parent].node != vfsm.node:
                before = chain.vfsms[vfsm.parent].slots
                assert sorted(vfsm.slots) == sorted((slot + 1) % routed.period for slot in before)
    assert max(vfsms.values()) == 1
    assert max(links.values()) <= 1
    assert not injects & delivers


def test_a_line_needs_a_vfsm_at_each_node_and_each_link():
    (line,) = lines_of([Stream("a", 0, (2,), path=(0, 1, 2))], mesh(3))
    assert line.pipelines[0] == SEND
    assert line.pipelines[-1] == RECEIVE
    assert sorted((node, at) for node, kind, at in line.cells if kind < LINKS) == [(0, 0), (1, 1), (2, 2)]
    assert sorted((node, at) for node, kind, at in line.cells if kind >= LINKS) == [(0, 0), (1, 1)]


@pytest.mark.parametrize("seed", range(6))
def test_coloured_lines_never_meet(seed: int):
    rng = random.Random(seed)
    topology = mesh(6)
    streams = []
    for k in range(rng.randint(2, 10)):
        a, b = rng.sample(range(6), 2)
        path = tuple(range(a, b + 1) if a < b else range(a, b - 1, -1))
        streams.append(Stream(f"s{k}", a, (b,), path=path))
    lines = lines_of(streams, topology)
    colours = coloured_lines(lines)
    frame = max(colours) + 1
    taken = Counter(
        (node, kind, (at + colour) % frame)
        for line, colour in zip(lines, colours, strict=True)
        for node, kind, at in line.cells
    )
    assert max(taken.values()) == 1


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("size", [(3, 4), (4, 4)])
def test_overlays_and_a_barrier_beside_keep_the_rules(size: tuple[int, ...], number: int):
    topology = mesh(*size)
    traffic = {(a, b): 1.0 for a in range(topology.nodes) for b in range(topology.nodes)}
    overlay = list(overlays(topology, traffic))[number]
    network = over(overlay, topology, traffic)
    assert network is not None
    streams = online_streams(network, "a online")
    beside = [Stream("end", 0, (topology.nodes - 1,), max_words=1)]
    routed = route_frames([*streams, *beside], range(len(streams)), topology, SHAPE, period=40)
    assert routed is not None
    assert_rules(routed)
    assert min(routed.words(i) for i in range(len(streams) + 1)) >= 1


def test_channels_with_two_registers_take_turns():
    topology = mesh(2, 2)
    streams = online_streams(online_network(topology, {(0, 3): 1.0, (3, 0): 1.0}), "a online")
    routed = route_frames(streams, range(len(streams)), topology, SHAPE, period=32)
    assert routed is not None
    assert_rules(routed)
    for index in range(len(streams)):
        first, second = ([*chain.vfsms[0].slots] for chain in routed.chains if chain.stream == index)
        assert abs(len(first) - len(second)) <= 1
        assert sorted(first + second)[::2] == sorted(first)


def test_a_busy_router_leaves_nothing():
    topology = mesh(2)
    rest = route_phase([], topology, SHAPE, period=8)
    (line,) = lines_of([Stream("a", 0, (1,), path=(0, 1))], topology)
    filling = Filling(rest, [1.0], [line], 8)
    filling.used[:] = True
    assert not filling.reserve()
