"""Words under way while annotations, schedules and pointers change: nothing leads them otherwise than before and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest

from numesh.codes import POINTER_LATENCY, Codes, MoveType
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import SYNC, Images, Rewrite
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

Judge = Callable[[str, str, Images], None]


def test_what_words_of_the_barrier_pass_is_not_rewritten_between(change: ModuleType) -> None:
    text = "(loop 'l 3 (collect 'c (runtime) :m 3 :impl 'str_collect_tree) (barrier 'b))"
    images = make_images(make_plan(compile_text(text, topology=mesh(3)), NodeShape(), name="t"))
    assert check_images(images).ok
    index = next(i for i, one in enumerate(images.operators) if one.label == "c")
    node, here = next(
        (n, here)
        for n, here in images.members[index].items()
        if any(lane.write and lane.turn == SYNC for role in here.roles for lane in role.lanes)
    )
    register = next(
        r for role in here.roles for lane in role.lanes if lane.write and lane.turn == SYNC for r in lane.registers
    )
    (part,) = (part for part in images.nodes[node].phases if part.phase == images.operators[index].phase)
    source = Codes(images.shape).register(register)
    (mover,) = (one for one in part.annotations if one.annotation.source == source)
    again = Rewrite(mover.pipeline, mover.vfsm, mover.annotation)
    roles = tuple(replace(role, rewrites=(*role.rewrites, again)) for role in here.roles)
    at = next(k for k, (i, _) in enumerate(images.nodes[node].operators) if i == index)
    operators = list(images.nodes[node].operators)
    operators[at] = index, replace(here, roles=roles)
    found = check_images(change.with_node(images, node, replace(images.nodes[node], operators=tuple(operators))))
    assert "words of the barrier around it pass it while it is rewritten" in {one.message for one in found.findings}


def test_a_node_that_rewrites_for_itself_forks_for_all_values_or_for_none(
    by_hand: ModuleType, change: ModuleType, shows: Judge
) -> None:
    images = by_hand.runtime_broadcast_1x3()
    role = images.nodes[1].operators[0][1].roles[1]
    forward = role.rewrites[0]
    rewrites = (replace(forward, annotation=replace(forward.annotation, source=0)), *role.rewrites[1:])
    shows(
        "entered",
        "it forks for some values only, and is rewritten while words of other values may come to it",
        change.with_role(images, 1, 0, 1, rewrites=rewrites),
    )


def two_broadcasts(by_hand: ModuleType, shift: int, successors: tuple[tuple[int, ...], ...] = ((1,), (0,))) -> Images:
    """Two phases that nodes leave each for itself, with a broadcast each; in the second all slots are ``shift`` later."""
    by = by_hand.ByHand(mesh(3), period=13)
    for phase in range(2):
        by.phase("ab"[phase], successors=successors[phase], technique="msg-sync")
        by.operator(phase, "ab"[phase], "broadcast", m=16)
        later, number = phase * shift, 2 + 2 * phase
        by.vfsm(phase, 0, number, "r2", "+x", (later % 13,))
        by.vfsm(phase, 1, number, "-x", "+x", ((1 + later) % 13,))
        by.vfsm(phase, 1, number + 1, "+x", "r3", ((2 + later) % 13,), type=MoveType.FORK)
        by.vfsm(phase, 2, number, "-x", "r3", ((2 + later) % 13,))
        by.role(phase, 0, by_hand.writes(2), kind="write", delay=60)
        for node in (1, 2):
            by.role(phase, node, by_hand.reads(3), kind="read", delay=60)
        by.promise(phase, (0, 2), [(1, 3), (2, 3)], 1)
    return by.images()


@pytest.mark.parametrize("shift", range(13))
def test_a_second_leg_does_not_take_a_word_of_the_phase_before(by_hand: ModuleType, shift: int) -> None:
    images = two_broadcasts(by_hand, shift)
    found = {one.message for one in check_images(images).findings if one.rule == "forks"}
    # The first leg runs in slot 1; the router can change before slot 2 if VFSM 1 takes a command ten slots before.
    rows = images.nodes[1].phases[0].schedule
    changes = rows[(1 - POINTER_LATENCY) % 13][0] == 1
    assert changes
    pairs = ("VFSM 5 of phase b", "VFSM 3 of phase a") if shift == 0 else ()
    assert found == {f"{one} takes its word as a second leg if the node changes" for one in pairs}


def test_no_word_waits_for_a_phase_that_does_not_come_again_from_the_next(by_hand: ModuleType) -> None:
    # Both phases may come once more after themselves, the first no more after the second.
    found = check_images(two_broadcasts(by_hand, 0, ((0, 1), (1, -2)))).findings
    assert not [one for one in found if one.rule == "forks"]


def test_an_operator_that_is_over_before_the_next_phase_has_no_word_there() -> None:
    text = """
    (parallel (broadcast 'a 0 :m 1) (sequential (eoshift 'b 1 :m 3) (cshift 'c 0 :m 20) (barrier 'd)))
    (parallel (barrier 'e) (loop 'l 3 (stream 'f 1 2 :m 1) (barrier 'g)))"""
    program = compile_text(text, topology=mesh(2, 2))
    shape = NodeShape(vfsms=64, schedule_depth=256, registers=32)
    # A phase for each operator beside 'a', which goes on to that of 'd'; the next has second legs where its first legs are.
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: True))
    images = make_images(make_plan(program, shape, name="t", period=16, structures=[structure]))
    (lasting,) = (one for one in images.operators if one.label == "a")
    assert lasting.continues == (0, 1, 2)
    report = check_images(images)
    assert report.ok, report.render()
    assert report.counts["forks over a change of schedule"]
