"""Words and processors: images that do not do what is promised."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from numesh.shape import NodeShape
from pointsman.artifacts.images import Images, LaneImage
from pointsman.network import mesh

Judge = Callable[[str, str, Images], None]


def stream(by_hand: ModuleType, *, period: int = 8, shape: NodeShape | None = None) -> Any:
    """A builder with a phase and an operator for a stream from node 0 to node 1, whose VFSMs are yet to come."""
    by = by_hand.ByHand(mesh(2), period=period, shape=shape)
    phase = by.phase("p")
    by.operator(phase, "s", "stream")
    by.role(0, 0, by_hand.writes(2))
    by.role(0, 1, by_hand.reads(3))
    return by


def both_ways(by_hand: ModuleType, *, aliased: bool) -> Images:
    """Streams between two nodes in one slot."""
    by = by_hand.ByHand(mesh(2), period=8, shape=NodeShape(aliased_handshake=aliased))
    by.phase("p")
    by.operator(0, "s", "exchange")
    for node, out, into in ((0, "+x", "+x"), (1, "-x", "-x")):
        by.vfsm(0, node, 2, "r2", out, (0,))
        by.vfsm(0, node, 2, into, "r3", (1,), pipeline=1)
        by.role(0, node, by_hand.writes(2), by_hand.reads(3))
        by.promise(0, (node, 2), [(1 - node, 3)], 1)
    return by.images()


def test_lanes_lane_0_waits_for_itself(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    breaks(
        "lanes",
        "lane 0 waits for itself",
        change.with_role(by_hand.stream_1x2(), 0, 0, 0, lanes=(LaneImage(True, (2,), after=0),)),
    )


def test_lanes_stream_s_from_0_delivers_to_register_3_which_the_processor_never_reads(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    breaks(
        "lanes",
        "stream s from 0 delivers to register 3, which the processor never reads",
        change.with_role(by_hand.stream_1x2(), 1, 0, 0, lanes=()),
    )


def test_lanes_stream_s_from_0_sends_from_register_2_which_the_processor_never_writes(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    breaks(
        "lanes",
        "stream s from 0 sends from register 2, which the processor never writes",
        change.with_role(by_hand.stream_1x2(), 0, 0, 0, lanes=()),
    )


def test_lanes_the_processor_writes_register_5_which_no_vfsm_reads(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    breaks(
        "lanes",
        "the processor writes register 5, which no VFSM reads",
        change.with_role(by_hand.stream_1x2(), 0, 0, 0, lanes=(LaneImage(True, (2, 5)),)),
    )


def test_lanes_the_processor_reads_register_5_which_no_vfsm_writes(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    breaks(
        "lanes",
        "the processor reads register 5, which no VFSM writes",
        change.with_role(by_hand.stream_1x2(), 1, 0, 0, lanes=(LaneImage(False, (3, 5)),)),
    )


def test_lanes_the_processor_reads_register_2_which_no_vfsm_writes(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    lanes = (LaneImage(True, (2,)), LaneImage(False, (2,)))
    breaks(
        "lanes",
        "the processor reads register 2, which no VFSM writes",
        change.with_role(by_hand.stream_1x2(), 0, 0, 0, lanes=lanes),
    )


def test_lanes_the_processor_reads_register_5_to_which_no_stream_delivers(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    # Register 5 gets words when the source is ahead, but it is behind.
    images = by_hand.runtime_broadcast_1x3()
    breaks(
        "lanes",
        "the processor reads register 5, to which no stream delivers",
        change.with_role(images, 1, 0, 0, lanes=(LaneImage(False, (4,)), LaneImage(False, (5,)))),
    )


def test_lanes_the_processor_writes_register_2_for_which_nothing_is_promised(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    images = by_hand.runtime_broadcast_1x3()
    assert images.nodes[0].operators[0][1].role_of == (0, 1, 1)
    breaks(
        "lanes",
        "the processor writes register 2, for which nothing is promised",
        change.with_role(images, 0, 0, 1, lanes=(LaneImage(False, (5,)), LaneImage(True, (2,)))),
    )


def test_lanes_lane_0_waits_for_itself_again(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    images = both_ways(by_hand, aliased=False)
    lanes = (LaneImage(True, (2,), after=1), LaneImage(False, (3,), after=0))
    breaks("lanes", "lane 0 waits for itself", change.with_role(images, 0, 0, 0, lanes=lanes))


def test_lanes_words_move_although_the_message_is_only_copied(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    breaks(
        "lanes",
        "words move although the message is only copied",
        change.with_role(by_hand.stream_1x2(), 1, 0, 0, local=True),
    )


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
    by_hand: ModuleType, breaks: Judge
) -> None:
    # Both deliver, to a register each; but a word refused by the first may come to the second.
    by = stream(by_hand)
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


def test_promises_each_word_comes_to_register_3_never(by_hand: ModuleType, change: ModuleType, breaks: Judge) -> None:
    images = both_ways(by_hand, aliased=False)
    there, back = images.promises
    images = change.with_promise(images, 0, destinations=back.destinations)
    breaks(
        "promises",
        "stream s from 0: each word comes to register 3 never",
        change.with_promise(images, 1, destinations=there.destinations),
    )


def test_stray_it_moves_words_from_x_to_register_9_for_no_stream(by_hand: ModuleType, breaks: Judge) -> None:
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.vfsm(0, 0, 3, "+x", "r9", (5,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    breaks("stray", "it moves words from +x to register 9 for no stream", by.images())


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


def test_promises_its_words_come_to_the_same_vfsm_on_two_ways(by_hand: ModuleType, shows: Judge) -> None:
    # Round two links and back to where they were.
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "-x", (1, 3))
    by.vfsm(0, 0, 3, "+x", "+x", (2,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    shows("promises", "stream s from 0: its words come to the same VFSM on two ways", by.images())


def test_promises_stream_s_meets_stream_t(by_hand: ModuleType, change: ModuleType, shows: Judge) -> None:
    images = by_hand.merge_1x3()
    shows(
        "promises",
        "stream s meets stream t",
        change.with_promise(change.with_promise(images, 0, stream="t"), 1, stream="s"),
    )


def test_promises_stream_t_from_0_meets_stream_of_operator_s(by_hand: ModuleType, shows: Judge) -> None:
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.operator(0, "t", "stream")
    for operator in (0, 1):
        by.promise(operator, (0, 2), [(1, 3)], 1)
    shows("promises", "stream t from 0 meets stream of operator s", by.images())


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
