"""Multicasts round a cycle: legal by the replay of the router's tests, with a word of each stream in a round."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import ModuleType

import pytest

from numesh.shape import NodeShape
from pointsman.network import Topology, mesh, torus
from pointsman.operators.trees.cycles import cycle_of
from pointsman.routing.phase_router.rounds import round_lengths, route_rounds
from pointsman.routing.phase_router.router import route_phase
from pointsman.routing.streams import Stream


def round_about(topology: Topology, every: int = 1, count: int = 12) -> list[Stream]:
    """Multicasts from every second, third, … node of a cycle to all other nodes."""
    cycle = cycle_of(topology.working, topology)
    streams = []
    for source in cycle[::every][:count]:
        at = cycle.index(source)
        way = (*cycle[at:], *cycle[:at])
        streams.append(Stream(f"s{source}", source, way[1:], tree=tuple(pairwise(way))))
    return streams


@pytest.mark.parametrize(
    ("topology", "every", "period", "words"),
    [
        (mesh(2, 2), 1, 5, 1),
        (mesh(2, 2), 1, 20, 4),
        (mesh(3, 2), 1, 14, 2),
        (mesh(4, 2), 1, 9, 1),
        (mesh(4, 2), 1, 36, 4),
        (mesh(3, 4), 1, 26, 2),
        (torus(3, 3), 1, 10, 1),
        (torus(5), 1, 12, 2),
        (mesh(4, 4), 2, 18, 2),
    ],
    ids=str,
)
def test_each_stream_gets_a_word_in_a_round(
    replay: ModuleType, topology: Topology, every: int, period: int, words: int
) -> None:
    phase = route_phase(round_about(topology, every), topology, NodeShape(), period=period)
    assert replay.findings(phase) == []
    assert [phase.words(k) for k in range(len(phase.streams))] == [words] * len(phase.streams)


def test_neighbours_send_beside_the_rounds_as_much_as_each_round_does(replay: ModuleType) -> None:
    topology = mesh(4, 4)
    streams = round_about(topology, 2)
    cycle = cycle_of(topology.working, topology)
    beside = [Stream(f"r{a}", b, (a,), chains=2, group="r") for a, b in zip(cycle[::2], cycle[1::2], strict=True)]
    phase = route_rounds([*beside, *streams], topology, NodeShape(), 18)
    assert phase is not None
    assert replay.findings(phase) == []
    assert [phase.words(k) for k in range(len(phase.streams))] == [2] * len(phase.streams)
    assert route_rounds(beside, topology, NodeShape(), 18) is None, "no round is there"
    assert route_rounds([*beside, *beside, *streams], topology, NodeShape(), 18) is None, "no slots are left"


def test_cycles_beside_each_other_go_round_at_the_same_time(replay: ModuleType) -> None:
    whole = mesh(4, 4)
    streams = []
    for half in (range(8), range(8, 16)):
        cycle = cycle_of(tuple(half), whole)
        for at, source in enumerate(cycle):
            way = (*cycle[at:], *cycle[:at])
            streams.append(Stream(f"s{source}", source, way[1:], tree=tuple(pairwise(way))))
    phase = route_rounds(streams[::-1], whole, NodeShape(), 18)
    assert phase is not None
    assert replay.findings(phase) == []
    assert {phase.words(k) for k in range(16)} == {2}


@pytest.mark.parametrize(
    "change",
    [
        {"chains": 2},
        {"max_words": 1},
        {"rewritten": True},
        {"tree": None},
        {"subphase": 1},
        {"destinations": (4, 5)},
        {"tree": ((0, 4), (4, 5), (5, 1), (1, 2), (2, 3), (3, 7), (7, 6)), "destinations": (1, 2, 3, 4, 5, 6, 7)},
    ],
    ids=str,
)
def test_other_streams_are_left_to_the_search(change: dict[str, object]) -> None:
    streams = round_about(mesh(4, 2))
    assert streams[0].source == 0
    assert route_rounds(streams, mesh(4, 2), NodeShape(), 18) is not None
    assert route_rounds([replace(streams[0], **change), *streams[1:]], mesh(4, 2), NodeShape(), 18) is None  # type: ignore[arg-type]
    assert route_rounds([*streams, Stream("other", 0, (5,))], mesh(4, 2), NodeShape(), 18) is None


def test_what_does_not_fit_is_left_to_the_search() -> None:
    streams = round_about(mesh(4, 2))
    assert route_rounds(streams[:4], mesh(4, 2), NodeShape(), 18) is None, (
        "the search finds more than two words for four streams"
    )
    heavier = [replace(streams[0], weight=2.0), *streams[1:]]
    assert route_rounds(heavier, mesh(4, 2), NodeShape(), 18) is None
    for period in (2, 7, 8):
        assert route_rounds(streams, mesh(4, 2), NodeShape(), period) is None
    assert route_rounds(streams, mesh(4, 2), NodeShape(pipelines=1), 18) is None
    assert route_rounds(streams, mesh(4, 2), NodeShape(registers=9), 18) is None, "eight streams end at each node"
    assert route_rounds([], mesh(4, 2), NodeShape(), 18) is None


def test_forbidden_links_are_not_used() -> None:
    streams, topology = round_about(mesh(4, 2)), mesh(4, 2)
    phase = route_rounds(streams, topology, NodeShape(), 18)
    assert phase is not None
    vfsm = phase.chains[0].vfsms[0]
    taken = frozenset({(vfsm.node, vfsm.destination.number, vfsm.slots[0])})
    assert route_rounds(streams, topology, NodeShape(), 18, taken) is None


@pytest.mark.parametrize(
    ("nodes", "lengths"), [(2, ()), (4, (5, 10, 15, 20)), (8, (9, 18)), (9, (10, 20)), (12, (13, 26))]
)
def test_the_longest_of_the_best_lengths_has_room_for_other_phases(nodes: int, lengths: tuple[int, ...]) -> None:
    assert round_lengths(nodes, nodes, NodeShape(), 42) == lengths
