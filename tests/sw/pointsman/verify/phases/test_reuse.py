"""Registers and VFSMs that phases share: where words may wait, each has its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

from pointsman.artifacts.images import Images
from pointsman.network import mesh
from pointsman.verify.images import check_images

Judge = Callable[[str, str, Images], None]


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


def test_vfsm_numbers_of_a_phase_that_is_scheduled_at_run_time(by_hand: ModuleType, shows: Judge) -> None:
    images = sharing(by_hand, loop=False, numbers=(2, 2))
    operators = (replace(images.operators[0], instances=((0, 1),)), images.operators[1])
    shows("vfsm-numbers", "phase b uses it as well", replace(images, operators=operators))
