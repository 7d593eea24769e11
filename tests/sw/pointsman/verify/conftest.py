"""Fixtures of the tests of the judge."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images import Images
from pointsman.network import mesh
from pointsman.verify.images import check_images


@pytest.fixture
def change(mutations_by_hand: ModuleType) -> ModuleType:
    """Short for the changes of images."""
    return mutations_by_hand


@pytest.fixture
def breaks() -> Callable[[str, str, Images], None]:
    """Judge images that break a rule and no other, which the first finding says with a message."""

    def judge(rule: str, message: str, images: Images) -> None:
        report = check_images(images)
        assert report.rules == (rule,), report.render()
        assert report.findings[0].message == message, report.render()
        assert report.findings[0].right

    return judge


@pytest.fixture
def shows() -> Callable[[str, str, Images], None]:
    """Judge images that break a rule, which some finding says with a message, and cannot but break others too."""

    def judge(rule: str, message: str, images: Images) -> None:
        report = check_images(images)
        assert (rule, message) in [(finding.rule, finding.message) for finding in report.findings], report.render()

    return judge


@pytest.fixture
def one_stream(by_hand: ModuleType) -> Callable[..., Any]:
    """Makes a builder with a phase and an operator for a stream from node 0 to node 1, whose VFSMs are yet to come."""

    def make(*, period: int = 8, shape: NodeShape | None = None) -> Any:
        by = by_hand.ByHand(mesh(2), period=period, shape=shape)
        phase = by.phase("p")
        by.operator(phase, "s", "stream")
        by.role(0, 0, by_hand.writes(2))
        by.role(0, 1, by_hand.reads(3))
        return by

    return make


@pytest.fixture
def both_ways(by_hand: ModuleType) -> Callable[..., Images]:
    """Makes streams between two nodes, there and back in one slot."""

    def make(*, aliased: bool) -> Images:
        by = by_hand.ByHand(mesh(2), period=8, shape=NodeShape(aliased_handshake=aliased))
        by.phase("p")
        by.operator(0, "s", "cshift")
        for node, out, into in ((0, "+x", "+x"), (1, "-x", "-x")):
            by.vfsm(0, node, 2, "r2", out, (0,))
            by.vfsm(0, node, 2, into, "r3", (1,), pipeline=1)
            by.role(0, node, by_hand.writes(2), by_hand.reads(3))
            by.promise(0, (node, 2), [(1 - node, 3)], 1)
        return by.images()

    return make


@pytest.fixture
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
