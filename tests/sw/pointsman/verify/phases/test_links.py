"""Neighbours and phases: images that break one rule between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

from numesh.shape import NodeShape
from pointsman.artifacts.images import Images
from pointsman.network import mesh
from pointsman.verify.images import check_images

Judge = Callable[[str, str, Images], None]


def turned_round(by_hand: ModuleType, *, aliased: bool) -> Images:
    """Two phases that use a link in one slot: first there, then back."""
    by = by_hand.ByHand(mesh(2), period=8, shape=NodeShape(aliased_handshake=aliased))
    for phase, (source, out, destination, into) in enumerate(((0, "+x", 1, "-x"), (1, "-x", 0, "+x"))):
        by.phase("there" if phase == 0 else "back", successors=(1,) if phase == 0 else (), technique="msg-sync")
        by.operator(phase, f"s{phase}", "stream", m=16)
        by.vfsm(phase, source, 2 + phase, "r2", out, (0,))
        by.vfsm(phase, destination, 2 + phase, into, "r3", (1,))
        by.role(phase, source, by_hand.writes(2), delay=32)
        by.role(phase, destination, by_hand.reads(3))
        by.promise(phase, (source, 2), [(destination, 3)], 1)
    return by.images()


def test_aliased_handshake_x_carries_words_to_node_1_and_back_in_one_slot(
    both_ways: Callable[..., Images], breaks: Judge
) -> None:
    assert check_images(both_ways(aliased=False)).ok
    breaks("aliased-handshake", "+x carries words to node 1 and back in one slot", both_ways(aliased=True))


def test_reprogramming_vfsm_1_never_runs_which_the_change_to_phase_second_needs(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    images = by_hand.two_phases_2x2()
    for slot in range(images.period):
        if images.nodes[3].phases[0].schedule[slot][0] == 1:
            images = change.with_entry(images, 3, 0, slot, 0, 0)
    breaks("reprogramming", "VFSM 1 never runs, which the change to phase second needs", images)


def test_reprogramming_vfsm_1_never_runs_which_the_load_function_of_b_needs(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    images = by_hand.runtime_broadcast_1x3()
    for slot in range(images.period):
        if images.nodes[2].phases[0].schedule[slot][0] == 1:
            images = change.with_entry(images, 2, 0, slot, 0, 0)
    breaks("reprogramming", "VFSM 1 never runs, which the load function of b needs", images)


def test_wires_x_is_written_as_it_was_in_phase_first_and_the_node_does_not_wait_for_its_neighbours_to_ch(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    breaks(
        "wires",
        "+x is written, as it was in phase first, and the node does not wait for its neighbours to change as well",
        change.with_part(by_hand.two_phases_2x2(), 0, 0, settle=((1, 0),)),
    )


def test_wires_x_is_written_as_it_was_in_phase_first_which_closes_by_msg_sync(
    by_hand: ModuleType, change: ModuleType, shows: Judge
) -> None:
    # What was the closing barrier is an operator like any other then, so no node passes through.
    images = replace(by_hand.two_phases_2x2(), passages=())
    shows(
        "wires",
        "+x is written, as it was in phase first, which closes by msg-sync, not by a barrier",
        change.with_phase(images, 0, technique="msg-sync", barrier=None),
    )


def test_wires_x_is_read_but_was_written_in_phase_there_so_both_accept(by_hand: ModuleType, breaks: Judge) -> None:
    assert check_images(turned_round(by_hand, aliased=False)).ok
    breaks("wires", "+x is read, but was written in phase there, so both accept", turned_round(by_hand, aliased=True))


def test_a_phase_that_only_follows_itself_needs_no_reprogramming(by_hand: ModuleType, change: ModuleType) -> None:
    images = change.with_phase(by_hand.stream_1x2(), 0, successors=(0,))
    for slot in range(images.period):
        if images.nodes[0].phases[0].schedule[slot][0] == 1:
            images = change.with_entry(images, 0, 0, slot, 0, 0)
    assert check_images(images).ok


def test_a_link_to_a_node_without_a_part_is_passed_over(by_hand: ModuleType) -> None:
    by = by_hand.ByHand(mesh(2), period=4, shape=NodeShape(aliased_handshake=True))
    by.phase("p")
    by.vfsm(0, 0, 2, "nop", "nop", (0,))
    by.passage(0, -1, -1, 0)
    assert check_images(by.images()).ok
