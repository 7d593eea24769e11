"""Channels in frames: colours, even slots, and what the judge says of whole programs."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import Topology, graph, mesh, torus
from pointsman.plan.make_plan import make_plan
from pointsman.routing.online.channels import online_network, online_streams
from pointsman.routing.online.frames import coloured, route_frames, sorted_out
from pointsman.routing.phase_router.router import route_phase
from pointsman.routing.streams import RoutedPhase, Stream
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

SHAPE = NodeShape(neighbours=6)
NETWORKS = [mesh(2), mesh(5), mesh(2, 2), mesh(3, 5), torus(4, 3), mesh(2, 2, 2), graph(4, [(0, 1), (1, 2), (1, 3)])]


def channels(topology: Topology) -> list[Stream]:
    pairs = {(a, b): 1.0 for a in range(topology.nodes) for b in range(topology.nodes) if a != b}
    return online_streams(online_network(topology, pairs), "a online")


def assert_rules(routed: RoutedPhase) -> None:
    """One VFSM a slot; one word a link and slot; no delivery before an injection in a pipeline; a slot to reprogram."""
    routed.schedule  # noqa: B018  raises if a slot is used twice
    links: Counter[tuple[int, int, int]] = Counter()
    injects, delivers, used = set(), set(), set()
    for chain in routed.chains:
        for vfsm in chain.vfsms:
            for slot in vfsm.slots:
                at = vfsm.node, vfsm.pipeline, slot
                used.add(at)
                if vfsm.source.kind == "inject":
                    injects.add(at)
                if vfsm.destination.kind == "deliver":
                    delivers.add((vfsm.node, vfsm.pipeline, (slot + 1) % routed.period))
                if vfsm.destination.kind == "link":
                    links[vfsm.node, vfsm.destination.number, slot] += 1
    assert max(links.values()) == 1
    assert not injects & delivers
    for node in {node for node, _, _ in used}:
        free = [s for s in range(routed.period) if (node, 0, s) not in used and (node, 0, s) not in delivers]
        assert free, f"node {node} has no slot for reprogramming"


@pytest.mark.parametrize("seed", range(40))
def test_edges_get_as_many_colours_as_the_busiest_end_has(seed: int):
    rng = random.Random(seed)
    nodes = rng.randint(1, 9)
    ends = sorted({(rng.randrange(nodes), rng.randrange(nodes)) for _ in range(rng.randint(1, 60))})
    colours = coloured(ends)
    for side in (0, 1):
        taken = Counter((edge[side], colour) for edge, colour in zip(ends, colours, strict=True))
        assert max(taken.values()) == 1
    most = max(max(Counter(edge[side] for edge in ends).values()) for side in (0, 1))
    assert set(colours) <= set(range(most))


@pytest.mark.parametrize("topology", NETWORKS, ids=str)
def test_channels_alone_have_all_the_slots_there_are_as_evenly_as_can_be(topology: Topology):
    streams = channels(topology)
    routed = route_frames(streams, range(len(streams)), topology, SHAPE, period=24)
    assert routed is not None
    assert_rules(routed)
    degree = max(Counter(stream.source for stream in streams).values())
    frame = max(2, degree)
    for index in range(len(streams)):
        # One slot of each node is for reprogramming, and a channel may have made way for another.
        assert routed.words(index) >= 24 // frame - 2
        slots = sorted(s for chain in routed.chains if chain.stream == index for s in chain.vfsms[0].slots)
        gaps = [(b - a) % 24 for a, b in pairwise([*slots, slots[0]])]
        assert min(gaps) >= 2
        assert max(gaps) <= 3 * frame


def test_other_streams_keep_their_places_and_channels_go_round_them():
    topology = mesh(3, 3)
    streams = [Stream("s", 0, (8,), max_words=2), *channels(topology), Stream("m", 4, (0, 2, 6, 8), max_words=1)]
    hops = range(1, len(streams) - 1)
    routed = route_frames(streams, hops, topology, SHAPE, period=24)
    assert routed is not None
    assert_rules(routed)
    assert [chain.stream for chain in routed.chains] == sorted(chain.stream for chain in routed.chains)
    assert routed.words(0) >= 1
    assert routed.words(len(streams) - 1) == 1
    assert min(routed.words(i) for i in hops) >= 3


def test_what_has_no_path_or_one_pipeline_is_left_to_the_router():
    topology = mesh(4)
    far = Stream("a", 0, (2,))
    assert route_frames([far], range(1), topology, SHAPE, period=8) is None
    assert route_frames([], range(0), topology, SHAPE, period=8) is None
    near = channels(topology)
    assert route_frames(near, range(len(near)), topology, NodeShape(pipelines=1), period=8) is None
    assert route_frames(near, range(len(near)), topology, SHAPE, period=2) is None, "no slot for reprogramming"


def test_a_phase_sorted_out_carries_the_same_words():
    topology = mesh(3, 3)
    streams = [Stream("m", 4, (0, 2, 6, 8)), Stream("a", 0, (8,)), Stream("b", 8, (0,), chains=2)]
    before = route_phase(streams, topology, SHAPE, period=12)
    after = sorted_out(before)
    assert_rules(after)
    for old, new in zip(before.chains, after.chains, strict=True):
        assert [(v.node, v.slots, v.type, v.parent) for v in old.vfsms] == [
            (v.node, v.slots, v.type, v.parent) for v in new.vfsms
        ]


@pytest.mark.parametrize("topology", NETWORKS, ids=str)
@pytest.mark.parametrize("text", ["(stream 's (runtime) (runtime) :m 2)", "(allreduce 's 'add :impl 'dyn_allreduce)"])
def test_the_judge_accepts_what_frames_make(topology: Topology, text: str):
    program = compile_text(text, topology=topology)
    images = make_images(make_plan(program, SHAPE, name="frames", period=24))
    report = check_images(images)
    assert report.ok, str(report)
