"""The judge on streams that join in the router, roles in steps and turns, and chains with stages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images, NodeOperator, Role
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images

PROGRAMS = {
    "chain": "(seqread 'o '(2 1) 0 :m 3)",
    "collect": "(collect 'o 0 :m 3)",
    "runtime": "(collect 'o (runtime) :m 3 :impl 'str_collect_runtime)",
    "prefix": "(prefix 'o 'add :m 3)",
    "spread": "(spread 'o 0 :m 3 :impl 'str_spread_chain)",
}


@cache
def images_of(name: str) -> Images:
    impl = " :impl 'str_seqread)" if name == "chain" else ")"
    program = compile_text(PROGRAMS[name][:-1] + impl, topology=mesh(3), file="x.cop")
    return make_images(make_plan(program, NodeShape(), name=name, period=16))


def with_operator(images: Images, node: int, change: Callable[[NodeOperator], NodeOperator]) -> Images:
    image = images.nodes[node]
    operators = tuple((i, change(one)) if i == 0 else (i, one) for i, one in image.operators)
    nodes = list(images.nodes)
    nodes[node] = replace(image, operators=operators)
    return replace(images, nodes=tuple(nodes))


def with_roles(images: Images, node: int, change: Callable[[Role], Role]) -> Images:
    return with_operator(images, node, lambda one: replace(one, roles=tuple(map(change, one.roles))))


def messages(images: Images) -> str:
    report = check_images(images)
    assert not report.ok
    return "\n".join(f"{finding.rule}: {finding.message}" for finding in report.findings)


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled_images_keep_every_rule(name: str) -> None:
    report = check_images(images_of(name))
    assert report.ok, report.render()


def test_node_that_never_takes_its_words_on_is_found() -> None:
    images = images_of("chain")
    # Node 2, through which the words of node 1 come, stays in its first stage for ever.
    broken = with_operator(
        images, 2, lambda one: replace(one, roles=one.roles[one.role_of[0] :][:1], role_of=(0,) * len(one.role_of))
    )
    assert "from which nothing ever takes its words" in messages(broken)


def test_held_words_that_the_processor_reads_are_found() -> None:
    images = images_of("chain")
    several = [one.stages > 1 for one in images.operators]
    broken = replace(images, promises=tuple(replace(one, held=several[one.operator]) for one in images.promises))
    assert "is held at register" in messages(broken)


def test_too_high_a_rate_through_a_joint_is_found() -> None:
    images = images_of("collect")
    broken = replace(images, promises=tuple(replace(one, words=one.words + 1) for one in images.promises))
    assert "words, as promised" in check_images(broken).render()


def test_processor_that_reads_what_a_vfsm_takes_is_found() -> None:
    images = images_of("runtime")
    middle = next(one for index, one in images.nodes[1].operators if index == 0)
    # Where node 1 is not the destination its router passes words on; its processor must not take them.
    other = next(role for role in middle.roles if role.kind == "write")
    lane = other.lanes[-1]
    stolen = replace(other, lanes=(*other.lanes, replace(lane, write=False, data="in")))
    broken = with_roles(images, 1, lambda role: stolen if role == other else role)
    assert "as a VFSM does" in messages(broken)


def test_streams_of_what_is_no_collect_may_not_meet_in_a_register() -> None:
    images = images_of("collect")
    broken = replace(images, operators=tuple(replace(one, kind="gather") for one in images.operators))
    assert "meets stream" in messages(broken)


def test_message_that_is_sent_before_it_is_there_is_found() -> None:
    images = images_of("prefix")

    def change(role: Role) -> Role:
        return replace(role, lanes=tuple(replace(lane, data="t77") if lane.write else lane for lane in role.lanes))

    assert "message t77 is sent before it is there" in messages(with_roles(images, 0, change))


def test_message_that_is_combined_before_it_is_there_is_found() -> None:
    images = images_of("prefix")

    def change(role: Role) -> Role:
        return replace(role, combines=tuple(replace(one, left="t88") for one in role.combines))

    assert "message t88 is combined before it is there" in messages(with_roles(images, 1, change))


@pytest.mark.parametrize("turn", [-2, 7])
def test_lane_of_a_turn_that_never_comes_is_found(turn: int) -> None:
    def change(role: Role) -> Role:
        return replace(role, lanes=tuple(replace(lane, turn=turn) for lane in role.lanes))

    assert f"moves in turn {turn} and step 0" in messages(with_roles(images_of("spread"), 0, change))
