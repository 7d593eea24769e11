"""All streams of a phase: which values are looked at together, streams that meet, and VFSMs that serve none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from pointsman.artifacts.images import Images
from pointsman.network import mesh
from pointsman.verify.images import check_images

Judge = Callable[[str, str, Images], None]


def test_stray_it_moves_words_from_x_to_register_9_for_no_stream(one_stream: Callable[..., Any], breaks: Judge) -> None:
    by = one_stream()
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.vfsm(0, 0, 3, "+x", "r9", (5,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    breaks("stray", "it moves words from +x to register 9 for no stream", by.images())


def test_promises_streams_of_what_is_no_collect_meet(by_hand: ModuleType, shows: Judge) -> None:
    images = by_hand.merge_1x3()
    gather = replace(images, operators=(replace(images.operators[0], kind="gather"),))
    shows("promises", "stream to 1 meets stream to 1", gather)


def test_promises_stream_t_from_0_meets_stream_of_operator_s(one_stream: Callable[..., Any], shows: Judge) -> None:
    by = one_stream()
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.operator(0, "t", "stream")
    by.vfsm(0, 1, 3, "-x", "r4", (1,), pipeline=1)
    by.promise(0, (0, 2), [(1, 3)], 1)
    by.promise(1, (0, 2), [(1, 4)], 1)
    shows("promises", "stream t from 0 meets stream of operator s", by.images())


def in_common(by_hand: ModuleType, by: Any, *last: Any) -> Any:
    """A second operator t with the stream of operator s, whose reader does ``last`` besides in another role."""
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.operator(0, "t", "stream")
    by.role(1, 0, by_hand.writes(2))
    by.role(1, 1, by_hand.reads(3), *last)
    for operator in (0, 1):
        by.promise(operator, (0, 2), [(1, 3)], 1)
    return by.images()


def test_operators_may_have_a_stream_in_common(one_stream: Callable[..., Any], by_hand: ModuleType) -> None:
    report = check_images(in_common(by_hand, one_stream()))
    assert report.ok, report.render()


def test_operators_whose_values_change_have_no_stream_in_common(
    one_stream: Callable[..., Any], by_hand: ModuleType, shows: Judge
) -> None:
    images = in_common(by_hand, one_stream())
    operators = (images.operators[0], replace(images.operators[1], runtime=("source",), values=((0,), (1,))))
    nodes = tuple(
        replace(
            node,
            operators=(node.operators[0], (1, replace(node.operators[1][1], role_of=(0, 0)))),
        )
        for node in images.nodes
    )
    promises = (images.promises[0], replace(images.promises[1], values=(0, 1)))
    images = replace(images, operators=operators, nodes=nodes, promises=promises)
    shows("promises", "stream t from 0 meets stream of operator s", images)


def test_registers_two_streams_meet_in_a_register(by_hand: ModuleType, breaks: Judge) -> None:
    by = by_hand.ByHand(mesh(3), period=8)
    by.phase("p")
    by.operator(0, "s", "gather")
    for node, out, into, pipeline in ((0, "+x", "-x", 0), (2, "-x", "+x", 1)):
        by.vfsm(0, node, 2, "r2", out, (0,))
        by.vfsm(0, 1, 2, into, "r3", (1,), pipeline=pipeline)
        by.role(0, node, by_hand.writes(2))
        by.promise(0, (node, 2), [(1, 3)], 1)
    by.role(0, 1, by_hand.reads(3))
    breaks("registers", "stream s from 2 meets stream s from 0 in register 3", by.images())


def touching(by_hand: ModuleType, mutations_by_hand: ModuleType, length: int) -> Images:
    """Broadcasts along a row and a column, and at the node where they cross the row's roles rewrite a VFSM of the column, to what
    it is anyway."""
    images = by_hand.crossing(length)
    middle = length // 2
    node = length * middle + middle
    (row, ours), (_, other) = images.nodes[node].operators
    taken = other.roles[other.role_of[0]].rewrites[0]
    for number, role in enumerate(ours.roles):
        images = mutations_by_hand.with_role(images, node, row, number, rewrites=(*role.rewrites, taken))
    return images


@pytest.mark.parametrize("length", [3, 9])
def test_values_of_two_operators_that_cross_and_touch_nothing_of_each_other_are_not_paired(
    by_hand: ModuleType, length: int
) -> None:
    report = check_images(by_hand.crossing(length))
    assert report.ok, report.render()
    assert not report.unchecked
    assert report.counts["combinations of values"] == 1 + 2 * (length - 1)


def test_pairs_of_values_of_operators_that_rewrite_what_the_other_passes_are_followed(
    by_hand: ModuleType, mutations_by_hand: ModuleType
) -> None:
    report = check_images(touching(by_hand, mutations_by_hand, 3))
    assert "rewrites" in report.rules
    assert report.counts["combinations of values"] == 1 + 2 + 2 + 4


def test_pairs_of_operators_that_cannot_touch_each_other_are_left_out(by_hand: ModuleType) -> None:
    report = check_images(by_hand.two_runtime_broadcasts_2x3())
    assert report.counts["combinations of values"] == 1 + 2 + 2
    assert not report.unchecked


def test_more_pairs_than_are_followed_are_named(by_hand: ModuleType, mutations_by_hand: ModuleType) -> None:
    report = check_images(touching(by_hand, mutations_by_hand, 9))
    assert report.unchecked == (
        "streams of phase p for pairs of values of 1 pairs of operators, each more than 64 "
        "(their nodes and links are checked for all pairs)",
    )


@pytest.mark.parametrize("length", [3, 9])
def test_a_fault_that_only_a_pair_of_values_shows_is_found(
    by_hand: ModuleType, mutations_by_hand: ModuleType, length: int
) -> None:
    """The column's source takes the row's register: always wrong, but two readers only if it is the row's source too."""
    images = by_hand.crossing(length)
    middle = length // 2
    node = length * middle + middle
    index = next(i for i, (operator, _) in enumerate(images.nodes[node].operators) if operator == 1)
    operator = images.nodes[node].operators[index][1]
    number = operator.role_of[middle]
    rewrites = tuple(
        replace(rewrite, annotation=replace(rewrite.annotation, source=18))
        if rewrite.annotation.source == 22
        else rewrite
        for rewrite in operator.roles[number].rewrites
    )
    report = check_images(mutations_by_hand.with_role(images, node, index, number, rewrites=rewrites))
    twice = [finding for finding in report.findings if finding.rule == "registers"]
    assert [(finding.message, finding.values) for finding in twice] == [
        (
            "register 2 is read by 2 and written by 0 VFSMs",
            (f"row: operand0 {middle} and column: operand0 {middle}",),
        )
    ]
