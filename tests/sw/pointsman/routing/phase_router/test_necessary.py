"""What streams need at least, on networks that one can count by hand."""

from __future__ import annotations

import random

import networkx as nx
import numpy as np
import pytest

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.phase_router import necessary
from pointsman.routing.phase_router.necessary import Loads, most_words, need_of, overloaded, possible
from pointsman.routing.phase_router.problem import NodeLimits, RoutingPart, split
from pointsman.routing.streams import Stream

SHAPE = NodeShape()
LIMITS = NodeLimits(pipelines=2, vfsms=32, registers=16, phase_change=True)


def part_of(*streams: Stream, size: tuple[int, ...] = (4,)) -> RoutingPart:
    ((part, _),) = split(streams, mesh(*size), SHAPE, ())
    return part


def test_a_word_along_a_row_passes_every_node_between() -> None:
    part = part_of(Stream("s", 0, (3,)))
    need = need_of(part, part.demands[0])
    assert need is not None
    assert need.nodes == {0: 1, 1: 1, 2: 1, 3: 1}
    assert need.registers == {0: 1, 1: 0, 2: 0, 3: 1}
    assert need.total == 4
    assert need.gap == 2
    assert {part.links[link] for link in need.links} == {(0, 1), (2, 3)}


def test_a_word_to_all_needs_a_slot_for_each_link_and_each_delivery() -> None:
    part = part_of(Stream("b", 1, (0, 2, 3)))
    need = need_of(part, part.demands[0])
    assert need is not None
    assert need.total == 6
    assert need.nodes[2] == 2, "it sends on and delivers"


def test_a_destination_that_cannot_be_reached_has_no_need() -> None:
    part = part_of(Stream("s", 0, (2,), keep_in=frozenset({0, 2})), size=(3,))
    assert need_of(part, part.demands[0]) is None


@pytest.mark.parametrize("few", [0, 16])
@pytest.mark.parametrize("seed", range(60))
def test_a_word_passes_each_node_without_which_a_destination_cannot_be_reached(
    seed: int, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(necessary, "FEW", few)
    rng = random.Random(seed)
    network = mesh(*((4, 4), (7,), (5, 3), (3, 3, 2))[seed % 4])
    inside = frozenset(rng.sample(range(network.nodes), rng.randint(3, network.nodes)))
    source, *ends = rng.sample(sorted(inside), rng.randint(2, min(5, len(inside))))
    ((part, site),) = split([Stream("s", source, tuple(ends), keep_in=inside)], network, SHAPE, ())
    need = need_of(part, part.demands[0])
    graph = nx.DiGraph((a, to) for a in inside for to, _ in network.at_port[a].values() if to in inside)
    graph.add_nodes_from(inside)
    reached = {source} | nx.descendants(graph, source)
    assert (need is not None) == (set(ends) <= reached)
    if need is None:
        return
    cut = {
        node
        for node in inside - {source}
        for end in ends
        if end != node and end not in nx.descendants(nx.restricted_view(graph, [node], []), source)
    }
    here = {site.nodes[node]: slots for node, slots in need.nodes.items()}
    assert {node for node, slots in here.items() if slots > (node in ends)} == cut | {source}


def test_what_there_is_too_little_of_is_named() -> None:
    part = part_of(*(Stream(f"s{i}", 0, (1,)) for i in range(3)), size=(2,))
    loads = Loads.of(part, [need for demand in part.demands if (need := need_of(part, demand)) is not None])
    one, two = [1, 1, 1], [2, 2, 2]
    assert overloaded(part, loads, one, one, 8, LIMITS, reserve=True) is None
    assert overloaded(part, loads, one, one, 2, LIMITS, reserve=False) == ("wire", 0)
    assert overloaded(part, loads, [5, 1, 1], one, 8, LIMITS, reserve=True) == ("chain", 0)
    tight = NodeLimits(2, 32, registers=4, phase_change=True)
    assert overloaded(part, loads, one, one, 8, tight, reserve=True) == ("registers", 0)
    rows, chains = np.array([one, two, [5, 1, 1]]), np.array([one, one, one])
    assert possible(part, loads, rows, chains, 8, LIMITS, reserve=True).tolist() == [True, True, False]


def test_blocked_slots_of_a_link_that_every_word_crosses_are_not_there() -> None:
    streams = [Stream("s", 0, (2,)), Stream("f", 0, (1,))]
    [port] = mesh(3).at_port[0]
    taken = [(0, port, slot) for slot in (1, 3, 4)]  # three of the eight slots of the link from 0 to 1
    ((blocked, _),) = split(streams, mesh(3), SHAPE, taken)
    ((freed, _),) = split(streams, mesh(3), SHAPE, taken, freed={"f": {(0, port, 3)}})
    one = [1, 1]

    def over(part: RoutingPart, words: list[int], slots: int) -> tuple[str, int] | None:
        loads = Loads.of(part, [need for demand in part.demands if (need := need_of(part, demand)) is not None])
        return overloaded(part, loads, words, one, slots, LIMITS, reserve=True)

    assert over(blocked, [2, 3], 8) is None
    assert over(blocked, [3, 3], 8) == ("wire", blocked.wires[blocked.links.index((0, 1))])
    assert over(blocked, one, 2) == ("chain", 0), "repeated, a slot must be free all the time"
    assert over(freed, [3, 3], 8) is None, "one of the streams may use a slot more"


def test_a_chain_has_no_more_words_than_the_narrowest_link_of_its_widest_way() -> None:
    # From node 0 to node 3 of a square: by 1, where the second link has two slots, or by 2, where the first has three.
    ports = {(node, other): port for node, links in enumerate(mesh(2, 2).at_port) for port, (other, _) in links.items()}
    taken = [(1, ports[1, 3], slot) for slot in range(6)] + [(0, ports[0, 2], slot) for slot in range(3, 8)]
    streams = [Stream("s", 0, (3,)), Stream("t", 0, (1, 3)), Stream("p", 0, (3,), path=(0, 1, 3)), Stream("q", 0, (1,))]
    ((part, _),) = split(streams, mesh(2, 2), SHAPE, taken)
    assert most_words(part, 8).tolist() == [3, 3, 2, 8]
    assert most_words(part, 2).tolist() == [0, 0, 0, 2]
    ((free, _),) = split(streams, mesh(2, 2), SHAPE, ())
    assert most_words(free, 8).tolist() == [8] * 4
