"""Faults in roles that words, routers and schedules do not show: the operator means something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images, LaneImage, Role
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.program.program import Operator
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images
from pointsman.verify.meaning.rounds import Run

SHIFT = "(cshift 's 1 :m 20)"
REDUCE = "(reduce 's 'left 2 :m 3)"
KINDS = [
    "(broadcast 'o 1 :m 5)",
    "(broadcast 'o (runtime) :m 5)",
    "(broadcast 'o 1 :m 5 :valid '(0 1 3))",
    "(spread 'o 2 :m 3)",
    "(spread 'o 1 :m 3 :impl 'str_spread_chain)",
    "(gather 'o 2 :m 3)",
    "(gather 'o 1 :m 3 :impl 'str_gather_chain)",
    "(collect 'o 1 :m 3)",
    "(collect 'o (runtime) :m 3 :impl 'str_collect_runtime)",
    "(stream 'o 1 2 :m 3)",
    "(stream 'o (runtime) 2 :m 3 :impl 'str_stream_rtsrc)",
    "(reduce 'o 'left 1 :m 4)",
    "(reduce 'o 'left (runtime) :m 4 :impl 'sch_reduce)",
    "(allreduce 'o 'right :m 4 :type 'int64*)",
    "(prefix 'o 'left :m 300)",
    "(prefix 'o 'left :m 3 :impl 'sch_prefix)",
    "(cshift 'o -1 :m 3)",
    "(eoshift 'o 2 :m 3)",
    "(permute 'o '(3 1 0 2) :m 3)",
    "(seqread 'o '(3 0) 1 :m 2)",
    "(seqwrite 'o 1 '(3 2) :m 2)",
    "(barrier 'o)",
    "(subset '((0 1 2) (2 3)) (broadcast 'o 0 :m 2))",
]


@cache
def compiled(text: str) -> Images:
    return make_images(make_plan(compile_text(text, topology=mesh(2, 2)), NodeShape(), name="meaning"))


def with_roles(images: Images, change: Callable[[Role], Role], node: int, label: str) -> Images:
    """The images, whose node plays changed roles in the operator."""
    nodes = list(images.nodes)
    nodes[node] = replace(
        nodes[node],
        operators=tuple(
            (i, replace(view, roles=tuple(map(change, view.roles))) if images.operators[i].label == label else view)
            for i, view in nodes[node].operators
        ),
    )
    return replace(images, nodes=tuple(nodes))


def with_program(images: Images, **changes: Any) -> Images:
    first, *others = images.operators
    assert first.program is not None
    return replace(images, operators=(replace(first, program=replace(first.program, **changes)), *others))


def lanes(change: Callable[[LaneImage], LaneImage]) -> Callable[[Role], Role]:
    return lambda role: replace(role, lanes=tuple(map(change, role.lanes)))


def breaks(rule: str, images: Images, message: str) -> None:
    report = check_images(images)
    assert rule in report.rules, report.render()
    assert any(message in finding.message for finding in report.findings), report.render()


@pytest.mark.parametrize("text", KINDS)
def test_what_is_compiled_means_what_it_says(text: str) -> None:
    report = check_images(compiled(text))
    assert report.ok, report.render()
    assert report.counts["meanings"]
    assert not report.unchecked


def test_registers_in_another_order_put_words_in_another_order() -> None:
    images = compiled("(subset '((0 1)) (stream 's 0 1 :m 20))")
    wide = next(lane for lane in images.nodes[0].operators[0][1].roles[0].lanes)
    assert len(wide.registers) > 1
    turned = lanes(lambda lane: replace(lane, registers=lane.registers[::-1]))
    breaks("meaning", with_roles(images, turned, 0, "s"), "gives as word 0 word 1 of message 0 of node 0")


def test_a_lane_of_other_length_leaves_words_or_waits() -> None:
    images = compiled(SHIFT)
    fewer = lanes(lambda lane: replace(lane, words=3) if lane.write else lane)
    breaks("meaning", with_roles(images, fewer, 1, "s"), "never return")
    unread = lanes(lambda lane: replace(lane, words=19) if not lane.write else lane)
    breaks("meaning", with_roles(images, unread, 1, "s"), "as word")


def test_another_message_than_is_meant() -> None:
    images = compiled(SHIFT)
    token = lanes(lambda lane: replace(lane, data="token") if lane.write else lane)
    breaks("meaning", with_roles(images, token, 1, "s"), "a word without contents")


def test_a_result_that_is_withheld_or_given_where_there_is_none() -> None:
    images = compiled(SHIFT)
    breaks("meaning", with_roles(images, lambda role: replace(role, result=False), 2, "s"), "no message")
    breaks("meaning", with_roles(images, lambda role: replace(role, void=True), 2, "s"), "no message")
    reduced = compiled(REDUCE)
    breaks("meaning", with_roles(reduced, lambda role: replace(role, result=True), 0, "s"), "a message")


def test_a_combination_that_is_left_out_or_turned_round() -> None:
    images = compiled(REDUCE)

    def turned(role: Role) -> Role:
        return replace(role, combines=tuple(replace(one, left=one.right, right=one.left) for one in role.combines))

    found = {
        node: [role for i, view in image.operators if i == 0 for role in view.roles if role.combines]
        for node, image in enumerate(images.nodes)
    }
    combining = [node for node, roles in found.items() if roles]
    for node in combining:
        breaks("meaning", with_roles(images, turned, node, "s"), "then word")
        without = with_roles(images, lambda role: replace(role, combines=role.combines[1:]), node, "s")
        assert not check_images(without).ok
    assert combining


def test_a_function_that_commutes_may_take_messages_in_any_order() -> None:
    images = compiled("(reduce 's 'max 2 :m 3)")

    def turned(role: Role) -> Role:
        return replace(role, combines=tuple(replace(one, left=one.right, right=one.left) for one in role.combines))

    for node in range(4):
        assert check_images(with_roles(images, turned, node, "s")).ok


def test_an_operator_that_is_another_than_that_of_the_program() -> None:
    images = compiled(SHIFT)
    assert isinstance(images.operators[0].program, Operator)
    breaks("meaning", with_program(images, m=3), "its length is 20")
    instance = images.operators[0].program.instances[0]
    other = (replace(instance, operands=(("distance", 2),)),)
    breaks("meaning", with_program(images, instances=other), "gives as word 0 word 0 of message 0 of node")
    turned = (replace(instance, nodes=instance.nodes[::-1]),)
    breaks("meaning", with_program(images, instances=turned), "it is at position")


def test_a_node_that_waits_for_itself_is_found() -> None:
    images = compiled(SHIFT)
    first = [lane.write for lane in images.nodes[0].operators[0][1].roles[0].lanes].index(False)

    def waits(role: Role) -> Role:
        return replace(
            role,
            lanes=tuple(replace(lane, after=first, after_all=True) if lane.write else lane for lane in role.lanes),
        )

    ring = images
    for node in range(4):
        ring = with_roles(ring, waits, node, "s")
    breaks("meaning", ring, "its functions never return at nodes 0, 1, 2, 3")


def test_a_lane_shorter_than_the_message_is_found_whatever_its_length() -> None:
    images = compiled("(broadcast 's 1 :m 28)")
    for words in range(1, 6):
        shorter = lanes(lambda lane, words=words: lane if lane.write else replace(lane, words=words))
        breaks("meaning", with_roles(images, shorter, 2, "s"), "as word" if words > 1 else "word")


def test_a_lane_that_waits_for_one_of_another_step() -> None:
    images = compiled(REDUCE)
    changed = with_roles(images, lanes(lambda lane: replace(lane, after=1)), 0, "s")
    assert not check_images(changed).ok


def test_a_combination_of_no_message() -> None:
    def nothing(role: Role) -> Role:
        return replace(role, combines=tuple(replace(one, left="") for one in role.combines))

    images = compiled(REDUCE)
    nodes = [
        node for node, image in enumerate(images.nodes) if any(r.combines for _, v in image.operators for r in v.roles)
    ]
    assert nodes
    for node in nodes:
        breaks("meaning", with_roles(images, nothing, node, "s"), "which there is not")


ROWS = "(subset (make-1d 'x) (broadcast 's 1 :m 20))"


def test_of_instances_that_do_the_same_one_is_carried_out(monkeypatch: pytest.MonkeyPatch) -> None:
    images = make_images(make_plan(compile_text(ROWS, topology=mesh(3, 4)), NodeShape(), name="meaning"))
    carried_out: list[int] = []
    problems = Run.problems

    def counted(run: Run) -> list[tuple[int | None, str, str]]:
        carried_out.append(len(run.roles))
        return problems(run)

    monkeypatch.setattr(Run, "problems", counted)
    assert check_images(images).ok
    assert set(carried_out) == {3}
    assert len(carried_out) < 4


@pytest.mark.parametrize("row", range(4))
def test_a_fault_in_one_of_the_instances_is_found_there(row: int) -> None:
    images = make_images(make_plan(compile_text(ROWS, topology=mesh(3, 4)), NodeShape(), name="meaning"))
    node = 3 * row + 2
    changed = with_roles(images, lambda role: replace(role, result=False), node, "s")
    found = [one.node for one in check_images(changed).findings if one.rule == "meaning"]
    assert set(found) == {node}
