"""Processors against routers: registers that one of the two leaves alone."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from pointsman.artifacts.images import Images, LaneImage
from pointsman.network import mesh

Judge = Callable[[str, str, Images], None]


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


def test_lanes_the_processor_reads_register_4_as_a_vfsm_does(by_hand: ModuleType, shows: Judge) -> None:
    # Node 1 passes words on by itself, behind its processor's back.
    by = by_hand.ByHand(mesh(3), period=8)
    by.phase("p")
    by.operator(0, "s", "stream")
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r4", (1,))
    by.vfsm(0, 1, 3, "r4", "+x", (3,))
    by.vfsm(0, 2, 2, "-x", "r3", (4,))
    by.role(0, 0, by_hand.writes(2))
    by.role(0, 1, by_hand.reads(4), by_hand.writes(4))
    by.role(0, 2, by_hand.reads(3))
    by.promise(0, (0, 2), [(1, 4)], 1)
    by.promise(0, (1, 4), [(2, 3)], 1)
    shows("lanes", "the processor reads register 4, as a VFSM does", by.images())
