"""Words and processors: images that do not do what is promised."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from pointsman.artifacts.images import Images
from pointsman.network import mesh

Judge = Callable[[str, str, Images], None]


def test_promises_2_words_per_period(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    breaks("promises", "stream s from 0: 2 words per period", change.with_promise(by_hand.stream_1x2(), 0, words=3))


def test_promises_it_forks_them_to_vfsm_3_of_pipeline_0_slot_1_and_none_slot_5_so_a_refused_word_would_l(
    by_hand: ModuleType, change: ModuleType, shows: Judge
) -> None:
    shows(
        "promises",
        "stream b from 0: it forks them to VFSM 3 of pipeline 0 (slot 1) and none (slot 5), so a refused word would lose its way",
        change.with_entry(by_hand.broadcast_1x3(), 1, 0, 6, 0, 0),
    )


def test_promises_it_writes_x_to_vfsm_2_of_pipeline_0_slot_0_and_vfsm_2_of_pipeline_1_slot_4_so_a_refuse(
    by_hand: ModuleType, one_stream: Callable[..., Any], breaks: Judge
) -> None:
    # Both deliver, to a register each; but a word refused by the first may come to the second.
    by = one_stream()
    by.role(0, 1, by_hand.reads(3, 4))
    by.vfsm(0, 0, 2, "r2", "+x", (0, 4))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.vfsm(0, 1, 2, "-x", "r4", (5,), pipeline=1)
    by.promise(0, (0, 2), [(1, 3), (1, 4)], 2)
    breaks(
        "promises",
        "stream s from 0: it writes +x to VFSM 2 of pipeline 0 (slot 0) and VFSM 2 of pipeline 1 (slot 4), "
        "so a refused word would lose its way",
        by.images(),
    )


def test_promises_each_word_comes_to_register_3_never(
    both_ways: Callable[..., Images], change: ModuleType, breaks: Judge
) -> None:
    images = both_ways(aliased=False)
    there, back = images.promises
    images = change.with_promise(images, 0, destinations=back.destinations)
    breaks(
        "promises",
        "stream s from 0: each word comes to register 3 never",
        change.with_promise(images, 1, destinations=there.destinations),
    )


def test_promises_nothing_reads_register_5_to_which_the_processor_writes(
    by_hand: ModuleType, change: ModuleType, shows: Judge
) -> None:
    shows(
        "promises",
        "stream s from 0: nothing reads register 5, to which the processor writes",
        change.with_promise(by_hand.stream_1x2(), 0, register=5),
    )


def test_promises_its_words_come_to_nop_and_stay_there_for_ever(
    by_hand: ModuleType, change: ModuleType, shows: Judge
) -> None:
    shows(
        "promises",
        "stream s from 0: its words come to NOP and stay there for ever",
        change.with_annotation(by_hand.stream_1x2(), 1, 0, 0, destination=8),
    )


def test_promises_its_words_come_to_the_same_vfsm_on_two_ways(one_stream: Callable[..., Any], shows: Judge) -> None:
    # Round two links and back to where they were.
    by = one_stream()
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "-x", (1, 3))
    by.vfsm(0, 0, 3, "+x", "+x", (2,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    shows("promises", "stream s from 0: its words come to the same VFSM on two ways", by.images())


def test_promises_each_word_comes_to_register_3_once(by_hand: ModuleType, change: ModuleType, shows: Judge) -> None:
    shows(
        "promises",
        "stream b from 0: each word comes to register 3 once",
        change.with_promise(by_hand.broadcast_1x3(), 0, destinations=((2, 3),)),
    )


def test_links_to_a_node_without_a_part_are_not_read(by_hand: ModuleType, shows: Judge) -> None:
    by = by_hand.ByHand(mesh(2), period=8)
    by.phase("p")
    by.operator(0, "s", "stream")
    by.role(0, 0, by_hand.writes(2))
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    message = "stream s from 0: it writes +x, but node 1 does not read that link in slot 1"
    shows("links", message, by.images())
