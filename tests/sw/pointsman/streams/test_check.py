"""Legal images pass the judge; for each rule there are images that break it and no other."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from numesh.codes import Annotation, MoveType
from numesh.shape import NodeShape
from pointsman.images import Images, LaneImage, Rewrite
from pointsman.network import Link, Topology, graph, mesh, torus
from pointsman.streams.check import RULES, check_images

NAMES = (
    "stream_1x2",
    "delay_1x3",
    "broadcast_1x3",
    "merge_1x3",
    "two_phases_2x2",
    "runtime_broadcast_1x3",
    "two_runtime_broadcasts_2x3",
)
FORK = MoveType.FORK
Case = Callable[[ModuleType, ModuleType], Images]
BREAKING: list[tuple[str, str, Case]] = []
SHOWING: list[tuple[str, str, Case]] = []


def breaks(rule: str, message: str) -> Callable[[Case], Case]:
    """These images break ``rule`` and no other, and the first finding says ``message``."""

    def note(case: Case) -> Case:
        BREAKING.append((rule, message, case))
        return case

    return note


def shows(rule: str, message: str) -> Callable[[Case], Case]:
    """These images break ``rule``, which a finding says with ``message``, and cannot but break others too."""

    def note(case: Case) -> Case:
        SHOWING.append((rule, message, case))
        return case

    return note


def test_small_images_are_those_that_the_builder_lists(by_hand: ModuleType) -> None:
    assert tuple(by_hand.SMALL) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_legal_images_pass(by_hand: ModuleType, name: str) -> None:
    report = check_images(by_hand.SMALL[name]())
    assert report.ok, report.render()
    assert not report.unchecked
    assert report.counts["streams followed"] >= 1


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


def test_every_rule_is_broken_by_a_case_here() -> None:
    assert {rule for rule, _, _ in BREAKING} == set(RULES)


# -- images that break one rule --------------------------------------------------------------------------------


def stream(by_hand: ModuleType, *, period: int = 8, shape: NodeShape | None = None) -> Any:
    """A builder with a phase and an operator for a stream from node 0 to node 1, whose VFSMs are yet to come."""
    by = by_hand.ByHand(mesh(2), period=period, shape=shape)
    phase = by.phase("p")
    by.operator(phase, "s", "stream")
    by.role(0, 0, by_hand.writes(2))
    by.role(0, 1, by_hand.reads(3))
    return by


@breaks("structure", "the period is 0 slots")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return replace(by_hand.stream_1x2(), period=0)


@breaks("structure", "the schedule has 7 slots")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = by_hand.stream_1x2()
    return change.with_part(images, 1, 0, schedule=images.nodes[1].phases[0].schedule[1:])


@breaks("structure", "a VFSM is 32")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_entry(by_hand.stream_1x2(), 0, 0, 3, 1, 32)


@breaks("structure", "there are images of 1 nodes")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = by_hand.stream_1x2()
    return replace(images, nodes=images.nodes[:1])


@breaks("structure", "a role is 1")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_operator(by_hand.stream_1x2(), 0, 0, role_of=(1,))


@breaks("structure", "its words need phase p, of which the node has no part")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = by_hand.stream_1x2()
    return change.with_node(images, 1, replace(images.nodes[1], phases=()))


@breaks("structure", "technique barrier with barrier operator None")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_phase(by_hand.stream_1x2(), 0, technique="barrier")


@breaks("structure", "a port of a link is 2")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return replace(by_hand.stream_1x2(), topology=Topology("mesh", (2,), (Link(0, 2, 1, 0),)))


@breaks("structure", "port 1 of node 0 is joined twice")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return replace(by_hand.stream_1x2(), topology=Topology("mesh", (2,), (Link(0, 1, 1, 0), Link(0, 1, 1, 1))))


@breaks("lanes", "lane 0 waits for itself")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_role(by_hand.stream_1x2(), 0, 0, 0, lanes=(LaneImage(True, (2,), after=0),))


@breaks("structure", "stream s from 0 is promised for the values ()")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_promise(by_hand.stream_1x2(), 0, values=())


@breaks("blocks", "it is in block 0")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_phase(by_hand.stream_1x2(), 0, block=0)


@breaks("blocks", "it is in block 16")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_phase(by_hand.stream_1x2(), 0, block=16)


@breaks("blocks", "it is in block 1 as phase first is")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_phase(by_hand.two_phases_2x2(), 1, block=1)


@breaks("annotations", "it is annotated but never scheduled")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = by_hand.stream_1x2()
    more = Rewrite(1, 9, Annotation(MoveType.MOVE, 8, 8))
    return change.with_part(images, 0, 0, annotations=(*images.nodes[0].phases[0].annotations, more))


@breaks("annotations", "it is annotated 2 times")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = by_hand.stream_1x2()
    return change.with_part(images, 0, 0, annotations=2 * images.nodes[0].phases[0].annotations)


@breaks("annotations", "it is annotated anew")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = by_hand.stream_1x2()
    more = Rewrite(0, 1, Annotation(MoveType.MOVE, 17, 6))
    return change.with_part(images, 0, 0, annotations=(*images.nodes[0].phases[0].annotations, more))


@breaks("annotations", "it is scheduled without an annotation")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_entry(by_hand.stream_1x2(), 0, 0, 2, 1, 7)


@breaks("codes", "its source is special")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.vfsm(0, 1, 3, by.codes.special, "nop", (4,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    return by.images()


@breaks("codes", "its destination is MEMADR")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.vfsm(0, 1, 3, "nop", "memadr", (4,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    return by.images()


@breaks("vfsm-numbers", "phase first uses it as well")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = change.with_entry(by_hand.two_phases_2x2(), 1, 1, 3, 0, 2)
    (rewrite,) = images.nodes[1].phases[1].annotations
    return change.with_part(images, 1, 1, annotations=(replace(rewrite, vfsm=2),))


@breaks("vfsm-numbers", "phase a uses it as well")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    # Phase b delays in the buffer of VFSM 2, which is no VFSM of its own but one of phase a.
    by = by_hand.ByHand(mesh(2), period=8)
    for phase, label in enumerate("ab"):
        by.phase(label)
        by.operator(phase, label, "stream")
        by.role(phase, 0, by_hand.writes(2))
        by.role(phase, 1, by_hand.reads(3))
        by.promise(phase, (0, 2), [(1, 3)], 1)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.vfsm(1, 0, 3, "r2", "+x", (0,))
    by.vfsm(1, 1, 3, "-x", "b2", (1,))
    by.vfsm(1, 1, 4, "b2", "r3", (3,))
    return by.images()


@breaks("rewrites", "its roles do not rewrite the same VFSMs, so an annotation of an earlier value may stay")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    # The role that drops them is one in which they stand as before any load function.
    images = by_hand.runtime_broadcast_1x3()
    assert images.nodes[1].operators[0][1].role_of == (0, 1, 2)
    return change.with_role(images, 1, 0, 0, rewrites=())


@breaks("rewrites", "it is rewritten but not in the phase")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = by_hand.stream_1x2()
    extra = Rewrite(0, 5, Annotation(MoveType.MOVE, 8, 8))
    return change.with_role(images, 0, 0, 0, rewrites=(extra,))


@breaks("rewrites", "operator idle rewrites it as well")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    by = by_hand.ByHand(mesh(3), period=8)
    by.phase("p")
    by.operator(0, "b", "broadcast", [(0,), (1,), (2,)])
    by_hand.line_broadcast(by, 0, 0, [0, 1, 2])
    by.operator(0, "idle", "barrier")
    by.role(1, 0, rewrites={(1, 2): by.move("+x", "r5")})
    images = by.images()
    # Later rewrites win: the extra one is first, so the broadcast itself is as it should be.
    node = images.nodes[0]
    return change.with_node(images, 0, replace(node, operators=tuple(reversed(node.operators))))


@breaks("rewrites", "before any load function it moves words from -x to NULL, as in no role")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = by_hand.runtime_broadcast_1x3()
    assert images.nodes[2].phases[0].annotations[0].vfsm == 2
    return change.with_annotation(images, 2, 0, 0, destination=13)


@breaks("moves", "a blind move drops or overwrites a word when its destination is full")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_annotation(by_hand.stream_1x2(), 1, 0, 0, type=MoveType.BLIND)


@breaks("moves", "a copy leaves the word in register 2 and sends it again")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_annotation(by_hand.stream_1x2(), 0, 0, 0, type=MoveType.COPY)


@breaks("moves", "NULL gives a word in every slot, which no stream sends")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_annotation(by_hand.merge_1x3(), 1, 0, 2, source=13)


@breaks("links", "stream s from 0: it writes +x, but node 1 does not read that link in slot 6")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (0, 5))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.promise(0, (0, 2), [(1, 3)], 2)
    return by.images()


@breaks("links", "stream s from 0: it reads -x, but node 0 does not write there in the slot before")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1, 4))
    by.promise(0, (0, 2), [(1, 3)], 1)
    return by.images()


@breaks("links", "it reads -x as VFSM 2 of pipeline 0 does")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    # The second one can send the word nowhere, so it is no stray stream; but it may take the word.
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.vfsm(0, 1, 2, "-x", "nop", (1,), pipeline=1)
    by.promise(0, (0, 2), [(1, 3)], 1)
    return by.images()


@breaks("links", "it writes +x as VFSM 2 of pipeline 0 does")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
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
    return by.images()


@breaks("links", "it writes -x, where no node is joined")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    by = stream(by_hand)
    by.role(0, 0, by_hand.writes(2, 4))
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 0, 3, "r4", "-x", (4,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    by.promise(0, (0, 4), [], 1)
    return by.images()


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


@breaks("aliased-handshake", "+x carries words to node 1 and back in one slot")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    assert check_images(both_ways(by_hand, aliased=False)).ok
    return both_ways(by_hand, aliased=True)


@breaks("interface-order", "it reads the interface right after VFSM 2 writes it")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = by_hand.stream_1x2()
    assert images.nodes[1].phases[0].schedule[6] == (0, 1)
    return change.with_entry(images, 1, 0, 6, 0, 1)


@breaks("interface-order", "it reads the interface right after VFSM 3 writes it")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    # Across the end of the period: delivered in slot 7, sent in slot 0.
    by = by_hand.ByHand(mesh(2), period=8)
    by.phase("p")
    by.operator(0, "s", "exchange")
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.vfsm(0, 1, 3, "r4", "-x", (6,))
    by.vfsm(0, 0, 3, "+x", "r5", (7,))
    by.role(0, 0, by_hand.writes(2), by_hand.reads(5))
    by.role(0, 1, by_hand.writes(4), by_hand.reads(3))
    by.promise(0, (0, 2), [(1, 3)], 1)
    by.promise(0, (1, 4), [(0, 5)], 1)
    return by.images()


@breaks("back-to-back", "it runs in the slot before as well")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (7, 0))
    by.vfsm(0, 1, 2, "-x", "r3", (0, 1))
    by.promise(0, (0, 2), [(1, 3)], 2)
    return by.images()


@breaks("buffers", "VFSM 3 takes its word 9 slots later, when it has run again")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "b2", (1,))
    by.vfsm(0, 1, 3, "b2", "r3", (2,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    return by.images()


@breaks("buffers", "it writes the buffer of VFSM 3, which runs in the next slot")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "b3", (1,))
    by.vfsm(0, 1, 3, "nop", "r3", (2, 5))
    by.promise(0, (0, 2), [(1, 3)], 1)
    return by.images()


@breaks("buffers", "its buffer is emptied by 2 VFSMs")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    # The second taker can send the word nowhere.
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "b2", (1,))
    by.vfsm(0, 1, 3, "b2", "r3", (3,))
    by.vfsm(0, 1, 4, "b2", "nop", (5,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    return by.images()


@breaks("buffers", "its buffer is read but not written")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    # VFSM 3 would take words that VFSM 2 could not pass on.
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.vfsm(0, 1, 3, "b2", "nop", (3,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    return by.images()


@breaks("buffers", "it uses the buffer of VFSM 1")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "b1", (1,))
    by.vfsm(0, 1, 3, "b1", "r3", (3,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    return by.images()


@breaks("forks", "it forks off +x, which VFSM 0 in the slot before does not write")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_entry(by_hand.broadcast_1x3(), 1, 0, 4, 0, 3)


@breaks("forks", "it forks from register 4")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    by = stream(by_hand)
    by.role(0, 0, by_hand.writes(4))
    by.vfsm(0, 0, 2, "r4", "+x", (0,), type=FORK)
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.promise(0, (0, 4), [(1, 3)], 1)
    return by.images()


@breaks("registers", "it uses command register 1")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    by = stream(by_hand)
    by.role(0, 0, by_hand.writes(1))
    by.vfsm(0, 0, 2, "r1", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.promise(0, (0, 1), [(1, 3)], 1)
    return by.images()


@breaks("registers", "register 3 is read by 0 and written by 2 VFSMs")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    by = by_hand.ByHand(mesh(3), period=8)
    by.phase("p")
    by.operator(0, "s", "collect")
    for node, out, into, pipeline in ((0, "+x", "-x", 0), (2, "-x", "+x", 1)):
        by.vfsm(0, node, 2, "r2", out, (0,))
        by.vfsm(0, 1, 2, into, "r3", (1,), pipeline=pipeline)
        by.role(0, node, by_hand.writes(2))
        by.promise(0, (node, 2), [(1, 3)], 1)
    by.role(0, 1, by_hand.reads(3))
    return by.images()


@breaks("registers", "register 4 is read by 1 and written by 1 VFSMs")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
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
    return by.images()


@breaks("lanes", "stream s from 0 delivers to register 3, which the processor never reads")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_role(by_hand.stream_1x2(), 1, 0, 0, lanes=())


@breaks("lanes", "stream s from 0 sends from register 2, which the processor never writes")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_role(by_hand.stream_1x2(), 0, 0, 0, lanes=())


@breaks("lanes", "the processor writes register 5, which no VFSM reads")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_role(by_hand.stream_1x2(), 0, 0, 0, lanes=(LaneImage(True, (2, 5)),))


@breaks("lanes", "the processor reads register 5, which no VFSM writes")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_role(by_hand.stream_1x2(), 1, 0, 0, lanes=(LaneImage(False, (3, 5)),))


@breaks("lanes", "the processor reads register 2, which no VFSM writes")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    lanes = (LaneImage(True, (2,)), LaneImage(False, (2,)))
    return change.with_role(by_hand.stream_1x2(), 0, 0, 0, lanes=lanes)


@breaks("lanes", "the processor reads register 5, to which no stream delivers")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    # Register 5 gets words when the source is ahead, but it is behind.
    images = by_hand.runtime_broadcast_1x3()
    return change.with_role(images, 1, 0, 0, lanes=(LaneImage(False, (4,)), LaneImage(False, (5,))))


@breaks("lanes", "the processor writes register 2, for which nothing is promised")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = by_hand.runtime_broadcast_1x3()
    assert images.nodes[0].operators[0][1].role_of == (0, 1, 1)
    return change.with_role(images, 0, 0, 1, lanes=(LaneImage(False, (5,)), LaneImage(True, (2,))))


@breaks("lanes", "lane 0 waits for itself")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = both_ways(by_hand, aliased=False)
    lanes = (LaneImage(True, (2,), after=1), LaneImage(False, (3,), after=0))
    return change.with_role(images, 0, 0, 0, lanes=lanes)


@breaks("lanes", "words move although the message is only copied")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_role(by_hand.stream_1x2(), 1, 0, 0, local=True)


@breaks("reprogramming", "VFSM 1 never runs, which the change to phase second needs")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = by_hand.two_phases_2x2()
    for slot in range(images.period):
        if images.nodes[3].phases[0].schedule[slot][0] == 1:
            images = change.with_entry(images, 3, 0, slot, 0, 0)
    return images


@breaks("reprogramming", "VFSM 1 never runs, which the load function of b needs")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = by_hand.runtime_broadcast_1x3()
    for slot in range(images.period):
        if images.nodes[2].phases[0].schedule[slot][0] == 1:
            images = change.with_entry(images, 2, 0, slot, 0, 0)
    return images


@breaks("promises", "stream s from 0: 2 words per period")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_promise(by_hand.stream_1x2(), 0, words=3)


@breaks("promises", "stream b from 0: it forks them to VFSM 3 of pipeline 0 (slot 1) and none (slot 5), "
        "so a refused word would lose its way")  # fmt: skip
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_entry(by_hand.broadcast_1x3(), 1, 0, 6, 0, 0)


@breaks("promises", "stream s from 0: it writes +x to VFSM 2 of pipeline 0 (slot 0) and VFSM 2 of pipeline 1 (slot 4), "
        "so a refused word would lose its way")  # fmt: skip
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    # Both deliver, to a register each; but a word refused by the first may come to the second.
    by = stream(by_hand)
    by.role(0, 1, by_hand.reads(3, 4))
    by.vfsm(0, 0, 2, "r2", "+x", (0, 4))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.vfsm(0, 1, 2, "-x", "r4", (5,), pipeline=1)
    by.promise(0, (0, 2), [(1, 3), (1, 4)], 2)
    return by.images()


@breaks("promises", "stream s from 0: each word comes to register 3 never")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = both_ways(by_hand, aliased=False)
    there, back = images.promises
    images = change.with_promise(images, 0, destinations=back.destinations)
    return change.with_promise(images, 1, destinations=there.destinations)


@breaks("stray", "it moves words from +x to register 9 for no stream")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.vfsm(0, 0, 3, "+x", "r9", (5,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    return by.images()


@breaks(
    "wires", "+x is written, as it was in phase first, and the node does not wait for its neighbours to change as well"
)
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_part(by_hand.two_phases_2x2(), 0, 0, settle=((1, 0),))


@breaks("wires", "+x is written, as it was in phase first, which closes by msg-sync, not by a barrier")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_phase(by_hand.two_phases_2x2(), 0, technique="msg-sync", barrier=None)


def turned_round(by_hand: ModuleType, *, aliased: bool) -> Images:
    """Two phases that use a link in one slot: first there, then back."""
    by = by_hand.ByHand(mesh(2), period=8, shape=NodeShape(aliased_handshake=aliased))
    for phase, (source, out, destination, into) in enumerate(((0, "+x", 1, "-x"), (1, "-x", 0, "+x"))):
        by.phase("there" if phase == 0 else "back", successors=(1,) if phase == 0 else (), technique="msg-sync")
        by.operator(phase, f"s{phase}", "stream")
        by.vfsm(phase, source, 2 + phase, "r2", out, (0,))
        by.vfsm(phase, destination, 2 + phase, into, "r3", (1,))
        by.role(phase, source, by_hand.writes(2))
        by.role(phase, destination, by_hand.reads(3))
        by.promise(phase, (source, 2), [(destination, 3)], 1)
    return by.images()


@breaks("wires", "+x is read, but was written in phase there, so both accept")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    assert check_images(turned_round(by_hand, aliased=False)).ok
    return turned_round(by_hand, aliased=True)


@breaks("passages", "the node has a part in it, but no operator and no passage")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return replace(by_hand.delay_1x3(), passages=())


@breaks("passages", "a passage leads through no phase")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = by_hand.delay_1x3()
    return replace(images, passages=(*images.passages, (1, -1, -1, ())))


@breaks("passages", "a passage leads through it")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = by_hand.delay_1x3()
    return replace(images, passages=(*images.passages, (0, -1, -1, (0,))))


@breaks("passages", "no passage leads to it from phase a")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return replace(passing(by_hand), passages=((1, -1, 2, (1,)),))


def passing(by_hand: ModuleType) -> Images:
    """Three phases; node 1 has no operator in the second, but passes its words on."""
    by = by_hand.ByHand(mesh(3), period=8)
    for phase, (name, hops) in enumerate((("a", [(0, 1)]), ("b", [(0, 1), (1, 2)]), ("c", [(1, 2)]))):
        source, destination = hops[0][0], hops[-1][1]
        by.phase(name, successors=(phase + 1,) if phase < 2 else (), technique="msg-sync")
        by.operator(phase, f"s{name}", "stream")
        by.role(phase, source, by_hand.writes(2))
        by.role(phase, destination, by_hand.reads(3))
        by.promise(phase, (source, 2), [(destination, 3)], 1)
        for i, (a, _) in enumerate(hops):
            by.vfsm(phase, a, 2 + phase, "-x" if i else "r2", "+x", (2 * phase + i,))
        by.vfsm(phase, destination, 2 + phase, "-x", "r3", (2 * phase + len(hops),))
    by.passage(1, 0, 2, 1)
    return by.images()


@pytest.mark.parametrize(
    ("rule", "message", "case"), [pytest.param(*b, id=f"{b[0]}-{i}") for i, b in enumerate(BREAKING)]
)
def test_images_that_break_one_rule_are_reported_under_its_name(
    by_hand: ModuleType, mutations_by_hand: ModuleType, rule: str, message: str, case: Case
) -> None:
    report = check_images(case(by_hand, mutations_by_hand))
    assert not report.ok
    assert report.rules == (rule,), report.render()
    assert report.findings[0].message == message, report.render()
    assert report.findings[0].right


# -- what cannot be broken alone -------------------------------------------------------------------------------


@shows("promises", "stream s from 0: nothing reads register 5, to which the processor writes")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_promise(by_hand.stream_1x2(), 0, register=5)


@shows("promises", "stream s from 0: its words come to NOP and stay there for ever")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_annotation(by_hand.stream_1x2(), 1, 0, 0, destination=8)


@shows("promises", "stream s from 0: its words come to the same VFSM on two ways")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    # Round two links and back to where they were.
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "-x", (1, 3))
    by.vfsm(0, 0, 3, "+x", "+x", (2,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    return by.images()


@shows("promises", "stream s meets stream t")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    images = by_hand.merge_1x3()
    return change.with_promise(change.with_promise(images, 0, stream="t"), 1, stream="s")


@shows("promises", "stream t from 0 meets stream of operator s")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    by = stream(by_hand)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.operator(0, "t", "stream")
    for operator in (0, 1):
        by.promise(operator, (0, 2), [(1, 3)], 1)
    return by.images()


@shows("promises", "stream b from 0: each word comes to register 3 once")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_promise(by_hand.broadcast_1x3(), 0, destinations=((2, 3),))


@shows("structure", "stream s from 0 names a destination twice")
def _(by_hand: ModuleType, change: ModuleType) -> Images:
    return change.with_promise(by_hand.stream_1x2(), 0, destinations=((1, 3), (1, 3)))


@pytest.mark.parametrize(
    ("rule", "message", "case"), [pytest.param(*b, id=f"{b[0]}-{i}") for i, b in enumerate(SHOWING)]
)
def test_images_that_break_more_than_one_rule_show_this_one(
    by_hand: ModuleType, mutations_by_hand: ModuleType, rule: str, message: str, case: Case
) -> None:
    report = check_images(case(by_hand, mutations_by_hand))
    assert (rule, message) in [(finding.rule, finding.message) for finding in report.findings], report.render()


# -- the whole of it -------------------------------------------------------------------------------------------


def test_a_passing_node_with_all_its_passages_is_legal(by_hand: ModuleType) -> None:
    report = check_images(passing(by_hand))
    assert report.ok, report.render()


def test_a_link_is_compared_across_a_phase_that_the_node_skips(by_hand: ModuleType) -> None:
    """Nodes 0 and 1 go from phase a to phase c directly while 2 and 3 are in phase b."""
    by = by_hand.ByHand(mesh(4), period=8)
    for phase, (name, source) in enumerate((("a", 0), ("b", 2), ("c", 0))):
        by.phase(name, successors=(phase + 1,) if phase < 2 else (), technique="msg-sync")
        by.operator(phase, f"s{name}", "stream")
        by.vfsm(phase, source, 2 + phase, "r2", "+x", (0,))
        by.vfsm(phase, source + 1, 2 + phase, "-x", "r3", (1,))
        by.role(phase, source, by_hand.writes(2))
        by.role(phase, source + 1, by_hand.reads(3))
        by.promise(phase, (source, 2), [(source + 1, 3)], 1)
    report = check_images(by.images())
    assert report.rules == ("wires",)
    (finding,) = report.findings
    assert finding.place == "phase c, node 0, slot 0"


def test_two_phases_of_a_loop_are_compared_both_ways_round(by_hand: ModuleType, mutations_by_hand: ModuleType) -> None:
    images = mutations_by_hand.with_phase(by_hand.two_phases_2x2(), 1, successors=(0,), technique="msg-sync")
    report = check_images(images)
    assert [finding.place for finding in report.findings] == ["phase first, node 0, slot 2"]


def test_a_run_time_value_is_named_where_it_matters(by_hand: ModuleType, mutations_by_hand: ModuleType) -> None:
    images = by_hand.runtime_broadcast_1x3()
    role = images.nodes[1].operators[0][1].roles[1]
    forward = role.rewrites[0]
    assert forward.annotation.source == 18
    rewrites = (replace(forward, annotation=replace(forward.annotation, source=0)), *role.rewrites[1:])
    report = check_images(mutations_by_hand.with_role(images, 1, 0, 1, rewrites=rewrites))
    assert report.rules == ("lanes", "promises")
    assert {finding.values for finding in report.findings} == {("b: operand0 1",)}
    assert {finding.source for finding in report.findings} == {"byhand.cop:1:1"}


def test_pairs_of_values_of_two_operators_are_followed(by_hand: ModuleType) -> None:
    report = check_images(by_hand.crossing(3))
    assert report.ok, report.render()
    assert not report.unchecked
    assert report.counts["combinations of values"] == 1 + 2 + 2 + 4


def test_pairs_of_operators_that_cannot_touch_each_other_are_left_out(by_hand: ModuleType) -> None:
    report = check_images(by_hand.two_runtime_broadcasts_2x3())
    assert report.counts["combinations of values"] == 1 + 2 + 2
    assert not report.unchecked


def test_more_pairs_than_are_followed_are_named(by_hand: ModuleType) -> None:
    report = check_images(by_hand.crossing(9))
    assert report.ok, report.render()
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


def test_report_is_json_and_text(by_hand: ModuleType, mutations_by_hand: ModuleType) -> None:
    images = mutations_by_hand.with_promise(by_hand.stream_1x2(), 0, words=3)
    report = check_images(images)
    assert json.loads(json.dumps(report.as_dict()))["findings"] == [
        {
            "rule": "promises",
            "message": "stream s from 0: 2 words per period",
            "right": "3 words, as promised",
            "phase": "p",
            "node": 0,
            "pipeline": 0,
            "slot": None,
            "vfsm": 2,
            "operator": "s",
            "source": "byhand.cop:1:1",
            "values": [],
            "section": "§6.3.1",
        }
    ]
    assert report.render().splitlines()[:2] == [
        "promises: phase p, node 0, pipeline 0, VFSM 2, operator s (byhand.cop:1:1): "
        "stream s from 0: 2 words per period",
        "    right: 3 words, as promised (Metcalf 1997 §6.3.1)",
    ]
    assert report.render().splitlines()[-1].startswith("by hand: 1 finding (nodes 2, phases 1, operators 1,")
    assert check_images(by_hand.stream_1x2()).render().startswith("by hand: all rules hold (nodes 2,")


def test_structure_that_is_wrong_stops_the_judge(by_hand: ModuleType) -> None:
    report = check_images(replace(by_hand.stream_1x2(), period=0))
    assert report.unchecked == ("every rule after the structure, which must be right first",)
    assert "not checked: every rule after the structure" in report.render()


def test_many_findings_are_counted_beyond_those_kept(by_hand: ModuleType) -> None:
    images = by_hand.rows_and_columns(8, period=8)
    report = check_images(replace(images, promises=()))
    assert sum(finding.rule == "stray" for finding in report.findings) == 100
    assert report.more["stray"] > 300
    assert f"stray: {report.more['stray']} more findings" in report.render()


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


def test_a_period_of_two_slots_carries_one_word(by_hand: ModuleType) -> None:
    by = stream(by_hand, period=2)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (1,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    assert check_images(by.images()).ok


def test_a_period_of_one_slot_carries_nothing(by_hand: ModuleType) -> None:
    by = stream(by_hand, period=1)
    by.vfsm(0, 0, 2, "r2", "+x", (0,))
    by.vfsm(0, 1, 2, "-x", "r3", (0,))
    by.promise(0, (0, 2), [(1, 3)], 1)
    assert check_images(by.images()).rules == ("back-to-back",)


def test_large_images_are_judged_in_seconds(by_hand: ModuleType) -> None:
    """A 10x10 mesh, two phases of ten broadcasts each, ten run-time values each, period 40."""
    images = by_hand.rows_and_columns(10, period=40)
    started = time.perf_counter()
    report = check_images(images)
    seconds = time.perf_counter() - started
    assert report.ok, report.render()
    assert not report.unchecked
    assert report.counts["combinations of values"] == 182
    assert seconds < 5
