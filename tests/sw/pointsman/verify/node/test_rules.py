"""What a node must keep by itself: images that break one rule of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

from numesh.codes import MoveType
from pointsman.artifacts.images import Images
from pointsman.network import mesh

FORK = MoveType.FORK
Judge = Callable[[str, str, Images], None]


def test_moves_a_blind_move_drops_or_overwrites_a_word_when_its_destination_is_full(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    breaks(
        "moves",
        "a blind move drops or overwrites a word when its destination is full",
        change.with_annotation(by_hand.stream_1x2(), 1, 0, 0, type=MoveType.BLIND),
    )


def test_moves_a_copy_leaves_the_word_in_register_2_and_sends_it_again(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    breaks(
        "moves",
        "a copy leaves the word in register 2 and sends it again",
        change.with_annotation(by_hand.stream_1x2(), 0, 0, 0, type=MoveType.COPY),
    )


def test_moves_null_gives_a_word_in_every_slot_which_no_stream_sends(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    breaks(
        "moves",
        "NULL gives a word in every slot, which no stream sends",
        change.with_annotation(by_hand.merge_1x3(), 1, 0, 2, source=13),
    )


def test_links_it_writes_x_but_node_1_does_not_read_that_link_in_slot_6(
    one_stream: Callable[..., Any], breaks: Judge
) -> None:
    by = one_stream()
    by.vfsm(0, 0, 2, "r2", "+x", (0, 5))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.promise(0, (0, 2), [(1, 3)], 2)
    breaks("links", "stream s from 0: it writes +x, but node 1 does not read that link in slot 6", by.images())


def test_links_it_reads_x_but_node_0_does_not_write_there_in_the_slot_before(
    one_stream: Callable[..., Any], breaks: Judge
) -> None:
    by = one_stream()
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1, 4))
    by.promise(0, (0, 2), [(1, 3)], 1)
    breaks("links", "stream s from 0: it reads -x, but node 0 does not write there in the slot before", by.images())


def test_links_it_reads_x_as_vfsm_2_of_pipeline_0_does(one_stream: Callable[..., Any], breaks: Judge) -> None:
    # The second one can send the word nowhere, so it is no stray stream; but it may take the word.
    by = one_stream()
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.vfsm(0, 1, 2, "-x", "nop", (1,), pipeline=1)
    by.promise(0, (0, 2), [(1, 3)], 1)
    breaks("links", "it reads -x as VFSM 2 of pipeline 0 does", by.images())


def test_links_it_writes_x_as_vfsm_2_of_pipeline_0_does(by_hand: ModuleType, shows: Judge) -> None:
    # Two sources of one stream meet on a link instead of in a buffer.
    by = by_hand.ByHand(mesh(2), period=8)
    by.phase("p")
    by.operator(0, "s", "collect")
    by.role(0, 0, by_hand.writes(2), by_hand.writes(4))
    by.role(0, 1, by_hand.reads(3))
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 0, 2, "r4", "+x", (0,), pipeline=1)
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.promise(0, (0, 2), [(1, 3)], 1, stream="to 1")
    by.promise(0, (0, 4), [(1, 3)], 1, stream="to 1")
    shows("links", "it writes +x as VFSM 2 of pipeline 0 does", by.images())


def test_links_it_writes_x_where_no_node_is_joined(
    by_hand: ModuleType, one_stream: Callable[..., Any], breaks: Judge
) -> None:
    by = one_stream()
    by.role(0, 0, by_hand.writes(2, 4))
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 0, 3, "r4", "-x", (4,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    by.promise(0, (0, 4), [], 1)
    breaks("links", "it writes -x, where no node is joined", by.images())


def test_interface_order_it_reads_the_interface_right_after_vfsm_2_writes_it(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    images = by_hand.stream_1x2()
    assert images.nodes[1].phases[0].schedule[6] == (0, 1)
    breaks(
        "interface-order",
        "it reads the interface right after VFSM 2 writes it",
        change.with_entry(images, 1, 0, 6, 0, 1),
    )


def test_interface_order_it_reads_the_interface_right_after_vfsm_3_writes_it(
    by_hand: ModuleType, breaks: Judge
) -> None:
    # Across the end of the period: delivered in slot 7, sent in slot 0.
    by = by_hand.ByHand(mesh(2), period=8)
    by.phase("p")
    by.operator(0, "s", "cshift")
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.vfsm(0, 1, 3, "r4", "-x", (6,))
    by.vfsm(0, 0, 3, "+x", "r5", (7,))
    by.role(0, 0, by_hand.writes(2), by_hand.reads(5))
    by.role(0, 1, by_hand.writes(4), by_hand.reads(3))
    by.promise(0, (0, 2), [(1, 3)], 1)
    by.promise(0, (1, 4), [(0, 5)], 1)
    breaks("interface-order", "it reads the interface right after VFSM 3 writes it", by.images())


def test_back_to_back_it_runs_in_the_slot_before_as_well(one_stream: Callable[..., Any], breaks: Judge) -> None:
    by = one_stream()
    by.vfsm(0, 0, 2, "r2", "+x", (7, 0))
    by.vfsm(0, 1, 2, "-x", "r3", (0, 1))
    by.promise(0, (0, 2), [(1, 3)], 2)
    breaks("back-to-back", "it runs in the slot before as well", by.images())


def test_buffers_vfsm_3_takes_its_word_9_slots_later_when_it_has_run_again(
    one_stream: Callable[..., Any], breaks: Judge
) -> None:
    by = one_stream()
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "b2", (1,))
    by.vfsm(0, 1, 3, "b2", "r3", (2,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    breaks("buffers", "VFSM 3 takes its word 9 slots later, when it has run again", by.images())


def test_buffers_it_runs_in_the_slot_after_vfsm_2_at_the_buffer_of_vfsm_3(
    one_stream: Callable[..., Any], breaks: Judge
) -> None:
    by = one_stream()
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "b3", (1,))
    by.vfsm(0, 1, 3, "nop", "r3", (2, 5))
    by.promise(0, (0, 2), [(1, 3)], 1)
    breaks("buffers", "it runs in the slot after VFSM 2, at the buffer of VFSM 3", by.images())


def test_buffers_its_buffer_is_emptied_by_2_vfsms(one_stream: Callable[..., Any], breaks: Judge) -> None:
    # The second taker can send the word nowhere.
    by = one_stream()
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "b2", (1,))
    by.vfsm(0, 1, 3, "b2", "r3", (3,))
    by.vfsm(0, 1, 4, "b2", "nop", (5,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    breaks("buffers", "its buffer is emptied by 2 VFSMs", by.images())


def test_buffers_its_buffer_is_read_but_not_written(one_stream: Callable[..., Any], breaks: Judge) -> None:
    # VFSM 3 would take words that VFSM 2 could not pass on.
    by = one_stream()
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.vfsm(0, 1, 3, "b2", "nop", (3,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    breaks("buffers", "its buffer is read but not written", by.images())


def test_buffers_it_uses_the_buffer_of_vfsm_1(one_stream: Callable[..., Any], breaks: Judge) -> None:
    by = one_stream()
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "b1", (1,))
    by.vfsm(0, 1, 3, "b1", "r3", (3,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    breaks("buffers", "it uses the buffer of VFSM 1", by.images())


def test_forks_it_forks_off_x_which_vfsm_0_in_the_slot_before_does_not_write(
    by_hand: ModuleType, change: ModuleType, breaks: Judge
) -> None:
    breaks(
        "forks",
        "it forks off +x, which VFSM 0 in the slot before does not write",
        change.with_entry(by_hand.broadcast_1x3(), 1, 0, 4, 0, 3),
    )


def test_forks_it_forks_from_register_4(by_hand: ModuleType, one_stream: Callable[..., Any], breaks: Judge) -> None:
    by = one_stream()
    by.role(0, 0, by_hand.writes(4))
    by.vfsm(0, 0, 2, "r4", "+x", (0,), type=FORK)
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.promise(0, (0, 4), [(1, 3)], 1)
    breaks("forks", "it forks from register 4", by.images())


def test_registers_it_uses_command_register_1(
    by_hand: ModuleType, one_stream: Callable[..., Any], breaks: Judge
) -> None:
    by = one_stream()
    by.role(0, 0, by_hand.writes(1))
    by.vfsm(0, 0, 2, "r1", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.promise(0, (0, 1), [(1, 3)], 1)
    breaks("registers", "it uses command register 1", by.images())


def test_registers_register_2_is_read_by_2_and_written_by_0_vfsms(by_hand: ModuleType, shows: Judge) -> None:
    by = by_hand.ByHand(mesh(2), period=8)
    by.phase("p")
    by.operator(0, "s", "stream")
    for slot in (0, 4):
        by.vfsm(0, 0, 2 + slot, "r2", "+x", (slot,))
        by.vfsm(0, 1, 2 + slot, "-x", "r3", (slot + 1,))
    by.role(0, 0, by_hand.writes(2))
    by.role(0, 1, by_hand.reads(3))
    by.promise(0, (0, 2), [(1, 3)], 1)
    shows("registers", "register 2 is read by 2 and written by 0 VFSMs", by.images())


def test_forks_it_is_forked_off_in_the_next_slot_and_not_marked_as_forked(by_hand: ModuleType, shows: Judge) -> None:
    images = by_hand.broadcast_1x3()
    node = images.nodes[1]
    part = node.phases[0]
    bare = tuple(replace(r, annotation=replace(r.annotation, forked=False)) for r in part.annotations)
    nodes = (images.nodes[0], replace(node, phases=(replace(part, annotations=bare),)), images.nodes[2])
    shows("forks", "it is forked off in the next slot and not marked as forked", replace(images, nodes=nodes))


def test_forks_it_is_marked_as_forked_and_no_second_leg_follows(by_hand: ModuleType, shows: Judge) -> None:
    images = by_hand.broadcast_1x3()
    node = images.nodes[0]
    part = node.phases[0]
    marked = tuple(replace(r, annotation=replace(r.annotation, forked=True)) for r in part.annotations)
    nodes = (replace(node, phases=(replace(part, annotations=marked),)), *images.nodes[1:])
    shows("forks", "it is marked as forked and no second leg follows", replace(images, nodes=nodes))
