"""Neighbours and phases: images that break one rule between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images import Images
from pointsman.network import mesh
from pointsman.verify.images import check_images

Judge = Callable[[str, str, Images], None]


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


def passing(by_hand: ModuleType) -> Images:
    """Three phases; node 1 has no operator in the second, but passes its words on."""
    by = by_hand.ByHand(mesh(3), period=8)
    for phase, (name, hops) in enumerate((("a", [(0, 1)]), ("b", [(0, 1), (1, 2)]), ("c", [(1, 2)]))):
        source, destination = hops[0][0], hops[-1][1]
        by.phase(name, successors=(phase + 1,) if phase < 2 else (), technique="msg-sync")
        by.operator(phase, f"s{name}", "stream", m=16)
        by.role(phase, source, by_hand.writes(2), delay=32)
        by.role(phase, destination, by_hand.reads(3))
        by.promise(phase, (source, 2), [(destination, 3)], 1)
        for i, (a, _) in enumerate(hops):
            by.vfsm(phase, a, 2 + phase, "-x" if i else "r2", "+x", (2 * phase + i,))
        by.vfsm(phase, destination, 2 + phase, "-x", "r3", (2 * phase + len(hops),))
    by.passage(1, 0, 2, 1)
    return by.images()


def test_aliased_handshake_x_carries_words_to_node_1_and_back_in_one_slot(by_hand: ModuleType, breaks: Judge) -> None:
    assert check_images(both_ways(by_hand, aliased=False)).ok
    breaks("aliased-handshake", "+x carries words to node 1 and back in one slot", both_ways(by_hand, aliased=True))


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


def sharing(by_hand: ModuleType, *, loop: bool, numbers: tuple[int, int]) -> Images:
    """Two phases that messages close, one after the other or round and round; ``numbers``: their VFSMs at node 1."""
    by = by_hand.ByHand(mesh(2), period=8)
    for phase, label in enumerate("ab"):
        successors = (1 - phase,) if loop or phase == 0 else ()
        by.phase(label, successors=successors, technique="msg-sync" if successors else "none")
        by.operator(phase, f"s{label}", "stream", m=16)
        by.role(phase, 0, by_hand.writes(2 + 2 * phase), delay=32)
        by.role(phase, 1, by_hand.reads(3 + 2 * phase))
        by.promise(phase, (0, 2 + 2 * phase), [(1, 3 + 2 * phase)], 1)
        by.vfsm(phase, 0, 2 + phase, f"r{2 + 2 * phase}", "+x", (4 * phase,))
        by.vfsm(phase, 1, numbers[phase], "-x", f"r{3 + 2 * phase}", (4 * phase + 1,))
    return by.images()


def test_phases_share_vfsms_where_no_words_wait_in_them(by_hand: ModuleType) -> None:
    for loop, numbers in ((False, (2, 2)), (True, (2, 3))):
        report = check_images(sharing(by_hand, loop=loop, numbers=numbers))
        assert report.ok, report.render()


def test_vfsm_numbers_phase_b_uses_it_as_well(by_hand: ModuleType, breaks: Judge) -> None:
    breaks("vfsm-numbers", "phase b uses it as well", sharing(by_hand, loop=True, numbers=(2, 2)))


def test_vfsm_numbers_of_a_phase_that_is_scheduled_at_run_time(by_hand: ModuleType, breaks: Judge) -> None:
    images = sharing(by_hand, loop=False, numbers=(2, 2))
    operators = (replace(images.operators[0], instances=((0, 1),)), images.operators[1])
    breaks("vfsm-numbers", "phase b uses it as well", replace(images, operators=operators))


def test_passages_the_node_has_a_part_in_it_but_no_operator_and_no_passage(by_hand: ModuleType, breaks: Judge) -> None:
    breaks(
        "passages",
        "the node has a part in it, but no operator and no passage",
        replace(by_hand.delay_1x3(), passages=()),
    )


def test_passages_a_passage_leads_through_no_phase(by_hand: ModuleType, breaks: Judge) -> None:
    images = by_hand.delay_1x3()
    breaks(
        "passages", "a passage leads through no phase", replace(images, passages=(*images.passages, (1, -1, -1, ())))
    )


def test_passages_a_passage_leads_through_it(by_hand: ModuleType, breaks: Judge) -> None:
    images = by_hand.delay_1x3()
    breaks("passages", "a passage leads through it", replace(images, passages=(*images.passages, (0, -1, -1, (0,)))))


def test_passages_no_passage_leads_to_it_from_phase_a(by_hand: ModuleType, shows: Judge) -> None:
    shows("passages", "no passage leads to it from phase a", replace(passing(by_hand), passages=((1, -1, 2, (1,)),)))


def test_a_passage_leads_to_where_the_node_goes_on(by_hand: ModuleType) -> None:
    images = replace(by_hand.delay_1x3(), passages=((1, -1, -1, (0, 0)),))
    images = replace(images, phases=(replace(images.phases[0], successors=(0,)),))
    assert check_images(images).ok
    images = replace(by_hand.delay_1x3(), passages=((1, -1, 0, (0,)),))
    report = check_images(images)
    assert [finding.message for finding in report.findings] == [
        "a passage begins or ends in it",
        "a passage leads from it to phase p",
        "no passage leads from it to the end",
    ]


def test_the_barrier_that_closes_a_phase_is_no_operator_of_a_passing_node(by_hand: ModuleType, breaks: Judge) -> None:
    images = by_hand.two_phases_2x2()
    assert [node for node, _, _, _ in images.passages] == [1, 2]
    breaks(
        "passages",
        "the node has a part in it, but no operator and no passage",
        replace(images, passages=images.passages[:1]),
    )


def test_a_phase_that_only_follows_itself_needs_no_reprogramming(by_hand: ModuleType, change: ModuleType) -> None:
    images = change.with_phase(by_hand.stream_1x2(), 0, successors=(0,))
    for slot in range(images.period):
        if images.nodes[0].phases[0].schedule[slot][0] == 1:
            images = change.with_entry(images, 0, 0, slot, 0, 0)
    assert check_images(images).ok


def test_passages_no_passage_leads_from_it_to_phase_c(by_hand: ModuleType, shows: Judge) -> None:
    images = replace(passing(by_hand), passages=((1, 0, -1, (1,)),))
    shows("passages", "no passage leads from it to phase c", images)


def test_passages_no_passage_leads_to_it_from_the_beginning(by_hand: ModuleType, breaks: Judge) -> None:
    images = by_hand.two_phases_2x2()
    images = replace(images, passages=(images.passages[0], (2, 1, 1, (0,))))
    images = replace(images, phases=(images.phases[0], replace(images.phases[1], technique="none")))
    report = check_images(images)
    assert [finding.message for finding in report.findings] == [
        "a passage leads from it to phase first",
        "no passage leads to it from the beginning",
    ]


def test_a_link_to_a_node_without_a_part_is_passed_over(by_hand: ModuleType) -> None:
    by = by_hand.ByHand(mesh(2), period=4, shape=NodeShape(aliased_handshake=True))
    by.phase("p")
    by.vfsm(0, 0, 2, "nop", "nop", (0,))
    by.passage(0, -1, -1, 0)
    assert check_images(by.images()).ok


def test_roles_beyond_the_limit_are_named(by_hand: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pointsman.verify.node.role_choices.MOST_KEYS", 2)
    report = check_images(by_hand.crossing(3))
    assert report.ok
    assert report.unchecked == ("in phase p combinations of roles of a node or link beyond 2",)
