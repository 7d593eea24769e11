"""Routed phases: words, schedules and gaps, on chains that are written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.codes import MoveType
from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.streams import Place, RoutedChain, RoutedPhase, RoutedVfsm, Stream, largest_gap


def hop(slots: tuple[int, ...], number: int = 2) -> RoutedVfsm:
    return RoutedVfsm(0, 1, number, MoveType.MOVE, Place("inject"), Place("link", 0), slots, -1)


def phase(*chains: RoutedChain) -> RoutedPhase:
    return RoutedPhase(NodeShape(), mesh(2), 8, (Stream("s", 0, (1,), chains=2),), chains)


def test_words_of_all_chains_of_a_stream_are_added_up() -> None:
    routed = phase(RoutedChain(0, 0, (hop((1, 5)),)), RoutedChain(0, 1, (hop((3,), 3),)))
    assert routed.words(0) == 3
    assert routed.words(1) == 0
    assert routed.bandwidth(0) == 3 / 8
    assert routed.schedule[0, :, 1].tolist() == [0, 2, 0, 3, 0, 2, 0, 0]
    assert not routed.schedule[1].any()


def test_chains_of_a_stream_come_in_their_order() -> None:
    chains = [RoutedChain(0, 1, (hop((3,), 3),)), RoutedChain(0, 0, (hop((1, 5)),))]
    assert phase(*chains).chains_of(0) == chains[::-1]
    assert phase(*chains).chains_of(1) == []


def test_a_slot_that_is_used_twice_is_found_by_the_schedule() -> None:
    routed = phase(RoutedChain(0, 0, (hop((1,)),)), RoutedChain(0, 1, (hop((1,), 3),)))
    with pytest.raises(ValueError, match="slot 1 of pipeline 1 of node 0 is used twice"):
        _ = routed.schedule


def test_a_second_schedule_is_the_same_phase_with_other_slots() -> None:
    routed = phase(RoutedChain(0, 0, (hop((1,)),)))
    assert routed.schedules == (routed,)
    second = (RoutedChain(0, 0, (hop((1, 4)),)),)
    first, other = replace(routed, second=second).schedules
    assert first.chains == routed.chains
    assert (other.chains, other.second) == (second, ())


def test_what_stands_beside_comes_after_its_own_chains() -> None:
    mine, others = phase(RoutedChain(0, 0, (hop((1,)),))), phase(RoutedChain(0, 0, (hop((2,)),)))
    assert replace(mine, beside=(others,)).all_chains == (*mine.chains, *others.chains)


@pytest.mark.parametrize(("slots", "gap"), [((), 8), ((3,), 8), ((0, 4), 4), ((6, 1), 5), ((7, 0), 7)])
def test_the_largest_gap_is_counted_round_the_end(slots: tuple[int, ...], gap: int) -> None:
    assert largest_gap(slots, 8) == gap
