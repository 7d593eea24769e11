"""Many streams of single words: legal by the rules of slots and links, in few slots."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.network import Topology, mesh, torus
from pointsman.plan.conflicts.link_slots import link_writes
from pointsman.routing.phase_router.packed import packed_length, route_packed
from pointsman.routing.phase_router.router import PhaseConditions, route_phase
from pointsman.routing.streams import Stream


def shifts(topology: Topology, *distances: int) -> list[Stream]:
    nodes = topology.working
    return [
        Stream(f"{d}.{node}", node, (nodes[(at + d) % len(nodes)],), max_words=1, packed=True)
        for d in distances
        for at, node in enumerate(nodes)
    ]


@pytest.mark.parametrize(
    ("topology", "distances", "slots"),
    [(mesh(2, 2), (1, 2, 3), 6), (mesh(3, 3), (1, 8, 4, 5), 8), (torus(3, 3), (1, 2, 3), 6), (mesh(5), (1, 4), 6)],
    ids=str,
)
def test_a_word_of_each_stream_finds_slots(topology: Topology, distances: tuple[int, ...], slots: int) -> None:
    streams = shifts(topology, *distances)
    found = packed_length([(s.source, s.destinations[0]) for s in streams], topology, NodeShape(), 40)
    assert found is not None
    assert found <= slots
    routed = route_phase(streams, topology, NodeShape(), period=found)
    assert [routed.words(number) for number in range(len(streams))] == [1] * len(streams)
    assert routed.schedule.any(), "raises if a slot is used twice"
    writes = [
        (vfsm.node, vfsm.destination.number, slot)
        for chain in routed.chains
        for vfsm in chain.vfsms
        if vfsm.destination.kind == "link"
        for slot in vfsm.slots
    ]
    assert len(writes) == len(set(writes))
    ends = {(chain.vfsms[0].node, chain.vfsms[-1].node) for chain in routed.chains}
    assert ends == {(s.source, s.destinations[0]) for s in streams}


def test_link_writes_that_are_forbidden_are_not_used() -> None:
    topology, forbidden = mesh(2, 2), [(0, port, slot) for port in mesh(2, 2).at_port[0] for slot in (0, 3)]
    routed = route_phase(
        shifts(topology, 1, 2, 3), topology, NodeShape(), period=8, conditions=PhaseConditions(forbidden=forbidden)
    )
    assert link_writes(routed).isdisjoint(forbidden)


def test_other_streams_are_left_to_the_search() -> None:
    streams = shifts(mesh(2, 2), 1, 3)
    for other in (
        replace(streams[0], max_words=2),
        replace(streams[0], rewritten=True),
        replace(streams[0], path=(0, 1)),
    ):
        assert route_packed([other, *streams[1:]], mesh(2, 2), NodeShape(), 8) is None
    assert route_packed(streams, mesh(2, 2), NodeShape(), 3) is None, "four ends at a node in three slots"


def test_where_a_processor_has_more_accesses_than_cycles_the_search_routes_instead() -> None:
    topology = torus(6)
    streams = shifts(topology, 1, 5)
    assert route_packed(streams, topology, NodeShape(), 4) is not None, "two words out, two in"
    assert route_packed(streams, topology, NodeShape(), 3) is None
    assert route_phase(streams, topology, NodeShape(), period=3).period == 3
