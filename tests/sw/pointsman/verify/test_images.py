"""Legal images pass the judge, and its report says what it found; test_check_*.py have the rules one by one."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images import Images
from pointsman.network import Topology, graph, mesh, torus
from pointsman.verify.images import RULES, check_images


def test_legal_images_pass(small: Callable[[], Images]) -> None:
    report = check_images(small())
    assert report.ok, report.render()
    assert not report.unchecked
    assert report.counts["streams followed"] >= 1


def test_every_rule_is_broken_by_a_test_of_its_own() -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.rglob("test_*.py"))
    broken = set(re.findall(r'\b(?:breaks|found)\(\s*"([a-z-]+)"', tests))
    # What their tests break may break other rules as well; times to settle have helpers of their own (test_settling).
    assert broken | {"online", "schedules", "gates", "continuing", "settling"} == set(RULES)


@pytest.mark.parametrize("name", ["broadcast_1x3", "two_phases_2x2", "runtime_broadcast_1x3"])
@pytest.mark.parametrize(
    "shape",
    [
        NodeShape(neighbours=6, registers=8, vfsms=8, schedule_depth=32, width=8),
        NodeShape(pipelines=2, neighbours=12, registers=40, vfsms=64, width=64),
    ],
    ids=["narrow", "wide"],
)
def test_legal_images_pass_for_other_shapes(by_hand: ModuleType, name: str, shape: NodeShape) -> None:
    report = check_images(by_hand.SMALL[name](shape=shape))
    assert report.ok, report.render()


def test_a_passing_node_with_all_its_passages_is_legal(passing: Images) -> None:
    report = check_images(passing)
    # Only: phase b must not be left without a barrier, because node 1 does not know when its words are through.
    assert [(finding.rule, finding.phase, finding.node) for finding in report.findings] == [("message-ends", "b", 1)]


def test_a_link_is_compared_across_a_phase_that_the_node_skips(by_hand: ModuleType) -> None:
    """Nodes 0 and 1 go from phase a to phase c directly while 2 and 3 are in phase b."""
    by = by_hand.ByHand(mesh(4), period=8)
    for phase, (name, source) in enumerate((("a", 0), ("b", 2), ("c", 0))):
        by.phase(name, successors=(phase + 1,) if phase < 2 else (), technique="msg-sync")
        by.operator(phase, f"s{name}", "stream", m=16)
        by.vfsm(phase, source, 2 + phase, "r2", "+x", (0,))
        by.vfsm(phase, source + 1, 2 + phase, "-x", "r3", (1,))
        by.role(phase, source, by_hand.writes(2), delay=32)
        by.role(phase, source + 1, by_hand.reads(3))
        by.promise(phase, (source, 2), [(source + 1, 3)], 1)
    report = check_images(by.images())
    assert report.rules == ("wires",)
    (finding,) = report.findings
    assert finding.place == "phase c, node 0, slot 0"


def test_two_phases_of_a_loop_are_compared_both_ways_round(by_hand: ModuleType, mutations_by_hand: ModuleType) -> None:
    images = mutations_by_hand.with_phase(by_hand.two_phases_2x2(), 1, successors=(0,), technique="msg-sync")
    images = replace(images, passages=(*images.passages, (1, 1, 1, (0,)), (2, 1, 1, (0,))))
    report = check_images(images)
    wires = [finding.place for finding in report.findings if finding.rule == "wires"]
    assert wires == ["phase first, node 0, slot 2"]


def test_a_run_time_value_is_named_where_it_matters(by_hand: ModuleType, mutations_by_hand: ModuleType) -> None:
    images = by_hand.runtime_broadcast_1x3()
    role = images.nodes[1].operators[0][1].roles[1]
    forward = role.rewrites[0]
    assert forward.annotation.source == 18
    rewrites = (replace(forward, annotation=replace(forward.annotation, source=0)), *role.rewrites[1:])
    report = check_images(mutations_by_hand.with_role(images, 1, 0, 1, rewrites=rewrites))
    assert report.rules == ("lanes", "promises", "entered")
    assert {finding.values for finding in report.findings if finding.rule != "entered"} == {("b: operand0 1",)}
    assert {finding.source for finding in report.findings} == {"byhand.cop:1:1"}


def test_structure_that_is_wrong_stops_the_judge(by_hand: ModuleType) -> None:
    report = check_images(replace(by_hand.stream_1x2(), period=0))
    assert report.unchecked == ("every rule after the structure, which must be right first",)
    assert "not checked: every rule after the structure" in report.render()


@pytest.mark.parametrize("topology", [mesh(1), mesh(2, 3), torus(3, 3), graph(4, [(0, 1), (1, 2)])], ids=str)
def test_an_empty_program_is_legal(by_hand: ModuleType, topology: Topology) -> None:
    report = check_images(by_hand.ByHand(topology, period=4).images())
    assert report.ok
    assert report.counts["nodes"] == topology.nodes


def test_words_go_round_a_torus_and_through_a_graph(by_hand: ModuleType) -> None:
    for topology, out, into in ((torus(3), "-x", "+x"), (graph(3, [(0, 1), (0, 2)]), 1, 0)):
        by = by_hand.ByHand(topology, period=4)
        by.phase("p")
        by.operator(0, "s", "stream")
        by.vfsm(0, 0, 2, "r2", out, (3,))
        by.vfsm(0, 2, 2, into, "r3", (0,))
        by.role(0, 0, by_hand.writes(2))
        by.role(0, 2, by_hand.reads(3))
        by.promise(0, (0, 2), [(2, 3)], 1)
        report = check_images(by.images())
        assert report.ok, report.render()


def test_a_period_of_two_slots_carries_one_word(one_stream: Callable[..., Any]) -> None:
    by = one_stream(period=2)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    assert check_images(by.images()).ok


def test_a_period_of_one_slot_carries_nothing(one_stream: Callable[..., Any]) -> None:
    by = one_stream(period=1)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (0,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    assert check_images(by.images()).rules == ("back-to-back",)


def test_large_images_are_judged_whole(by_hand: ModuleType) -> None:
    """A 10x10 mesh, two phases of ten broadcasts each, ten run-time values each, period 40."""
    images = by_hand.rows_and_columns(10, period=40)
    report = check_images(images)
    assert report.ok, report.render()
    assert not report.unchecked
    assert report.counts["combinations of values"] == 182


def test_the_judge_says_the_same_whatever_only_people_read(
    small: Callable[[], Images], mutations_by_hand: ModuleType
) -> None:
    generator = random.Random(2)
    for number in range(12):
        images = small()
        if number:
            _, _, images = mutations_by_hand.mutate(images, generator)
        assert check_images(images).rules == check_images(mutations_by_hand.unlisted(images)).rules
