"""The marked graph of an operator in flight, against buffers counted by hand."""

from __future__ import annotations

import pytest

from numesh.codes import MoveType
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import LaneImage
from pointsman.network import mesh
from pointsman.operators import Wiring
from pointsman.plan.termination.marked_graph import operator_graph, termination
from pointsman.routing.streams import Place, RoutedChain, RoutedPhase, RoutedVfsm, Stream, largest_gap


def line(nodes: int, *, period: int = 4, chains: int = 1) -> Wiring:
    """One stream from node 0 to the last node of a line, a word per chain and period, straight through."""
    made = []
    for chain in range(chains):
        vfsms = []
        for node in range(nodes):
            source = Place("inject") if node == 0 else Place("link", 0)
            destination = Place("deliver") if node == nodes - 1 else Place("link", 1)
            slot = (node + 2 * chain) % period
            vfsms.append(RoutedVfsm(node, chain, 2, MoveType.MOVE, source, destination, (slot,), node - 1))
        made.append(RoutedChain(0, chain, tuple(vfsms)))
    stream = Stream("s", 0, (nodes - 1,), chains=chains)
    return Wiring(RoutedPhase(NodeShape(), mesh(nodes, 1), period, (stream,), tuple(made)))


def ends(wiring: Wiring, nodes: int) -> dict[int, tuple[LaneImage, ...]]:
    return {
        0: (LaneImage(True, wiring.registers("s", 0, "inject")),),
        nodes - 1: (LaneImage(False, wiring.registers("s", nodes - 1, "deliver"), data="in"),),
    }


@pytest.mark.parametrize("nodes", [2, 3, 7])
def test_a_stream_is_message_bound_when_its_message_is_longer_than_its_buffers(nodes: int) -> None:
    wiring = line(nodes)
    lanes = ends(wiring, nodes)
    graph = operator_graph(wiring, lanes, {}, [0])
    buffers = nodes + 2  # one in each VFSM, and the register at either end
    assert not termination(graph, lanes, buffers, [0, nodes - 1]).message_bound
    assert termination(graph, lanes, buffers + 1, [0, nodes - 1]).message_bound


def test_a_writer_that_is_done_knows_how_many_words_have_been_read() -> None:
    wiring = line(3)
    graph = operator_graph(wiring, ends(wiring, 3), {}, [0])
    passed = graph.progress([("lane", 0, 0, 0)], 20)
    assert passed["lane", 2, 0, 0] == 20 - 5
    assert passed["lane", 0, 0, 0] == 20


def test_a_reader_that_is_done_leaves_nothing_behind() -> None:
    wiring = line(3)
    lanes = ends(wiring, 3)
    result = termination(operator_graph(wiring, lanes, {}, [0]), lanes, 20, [0, 2])
    assert result.delays[2] == 0
    assert result.delays[0] > 0


def test_two_chains_have_twice_the_buffers() -> None:
    wiring = line(3, chains=2)
    lanes = ends(wiring, 3)
    graph = operator_graph(wiring, lanes, {}, [0])
    passed = graph.progress([("lane", 0, 0, 0)], 40)
    # Each chain holds five words; which chain has the last word decides about one more.
    assert 40 - 11 <= passed["lane", 2, 0, 0] <= 40 - 9


def test_the_delay_grows_with_the_period() -> None:
    delays = []
    for period in (4, 8, 16):
        wiring = line(3, period=period)
        lanes = ends(wiring, 3)
        result = termination(operator_graph(wiring, lanes, {}, [0]), lanes, 20, [0, 2])
        delays.append(result.delays[0])
    assert delays == sorted(delays)
    assert delays[0] < delays[2]


def test_a_node_without_lanes_cannot_tell_when_it_is_done() -> None:
    wiring = line(3)
    lanes = ends(wiring, 3)
    graph = operator_graph(wiring, lanes, {}, [0])
    assert not termination(graph, lanes, 100, [0, 1, 2]).message_bound


@pytest.mark.parametrize(
    ("slots", "period", "gap"), [((0,), 4, 4), ((0, 2), 4, 2), ((1, 2), 8, 7), ((), 8, 8), ((3,), 1, 1)]
)
def test_the_largest_gap_goes_round_the_end_of_the_period(slots: tuple[int, ...], period: int, gap: int) -> None:
    assert largest_gap(slots, period) == gap
