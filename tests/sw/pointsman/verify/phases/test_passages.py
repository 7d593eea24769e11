"""Phases that a node passes: passages that are missing, or lead nowhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

from pointsman.artifacts.images import Images
from pointsman.verify.images import check_images

Judge = Callable[[str, str, Images], None]


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


def test_passages_a_passage_leads_through_it(passing: Images, shows: Judge) -> None:
    images = replace(passing, passages=(*passing.passages, (0, 1, -1, (2,))))
    shows("passages", "a passage leads through it", images)


def test_passages_no_passage_leads_to_it_from_phase_a(passing: Images, shows: Judge) -> None:
    shows("passages", "no passage leads to it from phase a", replace(passing, passages=((1, -1, 2, (1,)),)))


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


def test_passages_no_passage_leads_from_it_to_phase_c(passing: Images, shows: Judge) -> None:
    images = replace(passing, passages=((1, 0, -1, (1,)),))
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


def test_a_node_takes_one_passage_from_a_phase_to_another(by_hand: ModuleType, breaks: Judge) -> None:
    images = by_hand.delay_1x3()
    breaks(
        "passages",
        "several passages lead from either end of the program to either end of the program",
        replace(images, passages=(*images.passages, *images.passages)),
    )
