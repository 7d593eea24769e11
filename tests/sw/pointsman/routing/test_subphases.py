"""A second schedule for a phase: what it keeps and what it gains."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.codes import SHORTEST_RETURN, SHORTEST_STAY, MoveType
from numesh.shape import NodeShape
from pointsman.network import Topology, mesh
from pointsman.routing.phase_router.router import route_phase
from pointsman.routing.route_images import route_images
from pointsman.routing.streams import Place, RoutedChain, RoutedPhase, RoutedVfsm, Stream
from pointsman.routing.subphases import with_subphases
from pointsman.verify.images import check_images

SHAPE = NodeShape(neighbours=6)


def tree(topology: Topology, *, subphases: bool = True) -> list[Stream]:
    """A stream from each node to node 0, and one from node 0 to all."""
    others = tuple(range(1, topology.nodes))
    up = [Stream(f"up{node}", node, (0,), max_words=1, subphase=int(subphases)) for node in others]
    return [*up, Stream("down", 0, others, max_words=1, subphase=2 * subphases)]


def routed(topology: Topology, period: int = 16, **options: bool) -> RoutedPhase:
    return route_phase(tree(topology, **options), topology, SHAPE, period=period)


def links(chain: RoutedChain) -> set[tuple[int, int, int]]:
    return {
        (vfsm.node, vfsm.destination.number, slot)
        for vfsm in chain.vfsms
        if vfsm.destination.kind == "link"
        for slot in vfsm.slots
    }


def test_a_phase_that_asks_for_none_has_one_schedule() -> None:
    before = routed(mesh(2, 2), subphases=False)
    assert with_subphases(before) is before
    assert before.schedules == (before,)


@pytest.mark.parametrize("size", [(2,), (2, 2), (3, 2), (2, 2, 2)], ids=str)
@pytest.mark.parametrize("period", [8, 16, 24])
def test_both_schedules_keep_the_rules_of_the_node(size: tuple[int, ...], period: int) -> None:
    made = with_subphases(routed(mesh(*size), period))
    assert len(made.schedules) == 2
    for one in made.schedules:
        assert check_images(route_images(one)).ok


def test_each_subphase_gains_words_in_its_own_schedule() -> None:
    made = with_subphases(routed(mesh(3, 2)))
    first, second = made.schedules
    for number, stream in enumerate(made.streams):
        here, there = (first, second) if stream.subphase == 1 else (second, first)
        assert here.words(number) > there.words(number) == 1


def test_slots_that_a_stream_came_with_are_in_both_and_links_are_one_chains() -> None:
    made = with_subphases(routed(mesh(3, 2)))
    first, second = made.schedules
    for a, b in zip(first.chains, second.chains, strict=True):
        assert [(v.node, v.pipeline, v.number) for v in a.vfsms] == [(v.node, v.pipeline, v.number) for v in b.vfsms]
        assert all(set(v.slots) & set(w.slots) for v, w in zip(a.vfsms, b.vfsms, strict=True))
    for i, a in enumerate(first.chains):
        assert all(not links(a) & links(b) for j, b in enumerate(second.chains) if i != j)


def test_forbidden_links_are_left_alone() -> None:
    before = routed(mesh(2))
    free = with_subphases(before)
    gained = set().union(*map(links, free.chains)) - set().union(*map(links, before.chains))
    assert gained
    kept = with_subphases(before, forbidden=gained)
    assert not gained & set().union(*map(links, kept.chains))


def test_a_link_with_one_handshake_wire_goes_one_way_in_a_slot() -> None:
    shape = NodeShape(neighbours=6, aliased_handshake=True)
    topology = mesh(2, 2)
    made = with_subphases(route_phase(tree(topology), topology, shape, period=24))
    used = [links(chain) for one in made.schedules for chain in one.chains]
    wires = set().union(*used)
    assert not any((*topology.at_port[node][port], slot) in wires for node, port, slot in wires)


def test_a_full_schedule_gains_nothing() -> None:
    before = with_subphases(routed(mesh(2)))
    again = with_subphases(replace(before, second=()))
    assert [chain.words for chain in again.chains] == [chain.words for chain in before.chains]


@pytest.mark.parametrize("wait", [SHORTEST_STAY, SHORTEST_STAY + 2])
@pytest.mark.parametrize("short", [0, 1, 2])
def test_words_that_wait_in_a_buffer_keep_the_distances_of_the_node(wait: int, short: int) -> None:
    """The next word comes to the buffer when it has been free for long enough, and no sooner."""
    east, west, period = 1, 0, 2 * (wait + SHORTEST_RETURN) - short
    vfsms = (
        RoutedVfsm(0, 0, 2, MoveType.MOVE, Place("inject"), Place("link", east), (0,), -1),
        RoutedVfsm(1, 0, 2, MoveType.MOVE, Place("link", west), Place("buffer", 2), (1,), 0),
        RoutedVfsm(1, 0, 3, MoveType.MOVE, Place("buffer", 2), Place("link", east), (1 + wait,), 1),
        RoutedVfsm(2, 0, 2, MoveType.MOVE, Place("link", west), Place("deliver"), (2 + wait,), 2),
    )
    stream = Stream("up", 0, (2,), subphase=1)
    before = RoutedPhase(SHAPE, mesh(3), period, (stream,), (RoutedChain(0, 0, vfsms),))
    for one in with_subphases(before).schedules:
        assert check_images(route_images(one)).ok
    assert with_subphases(before).schedules[0].words(0) == (1 if short else 2)
