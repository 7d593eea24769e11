"""The judge follows online messages: every table that misleads one is found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from numesh.shape import NodeShape
from pointsman.api.judged import judged
from pointsman.artifacts.images.file import images_from_bytes, images_to_bytes
from pointsman.artifacts.images.images import Images, OnlineNode
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images


@cache
def images() -> Images:
    text = (
        "(parallel (stream 'a (runtime) (runtime) :m 2) (subset (make-1d 'x) (cshift 'c (runtime) :impl 'dyn_shift)))"
    )
    program = compile_text(text, topology=mesh(3, 2))
    return make_images(make_plan(program, NodeShape(), name="online", period=24))


def with_table(node: int, change: Callable[[OnlineNode], OnlineNode]) -> Images:
    good = images()
    carrier = good.phases[0].online
    assert carrier is not None
    nodes = list(good.nodes)
    operators = []
    for index, view in nodes[node].operators:
        if index == carrier:
            assert view.online is not None
            view = replace(view, online=change(view.online))
        operators.append((index, view))
    nodes[node] = replace(nodes[node], operators=tuple(operators))
    return replace(good, nodes=tuple(nodes))


def found(bad: Images) -> str:
    report = check_images(bad)
    assert not report.ok
    assert {finding.rule for finding in report.findings} <= {"online", "structure", "lanes", "promises", "registers"}
    return "\n".join(f"{one.rule}: {one.message}" for one in report.findings)


def test_every_way_of_a_good_image_is_followed():
    report = check_images(images())
    assert report.ok, str(report)
    assert report.counts["online ways"] == 36


def test_a_message_that_is_sent_back_and_forth_is_found():
    def back(table: OnlineNode) -> OnlineNode:
        return replace(table, onward=(*table.onward[:2], table.onward[0], *table.onward[3:]))

    assert "a message to node 2 goes" in found(with_table(1, back))


def test_a_table_that_ends_half_way_is_found():
    def gap(table: OnlineNode) -> OnlineNode:
        return replace(table, onward=(-1, *table.onward[1:]))

    assert "does not arrive" in found(with_table(1, gap))


def test_a_channel_that_is_none_is_found():
    def beyond(table: OnlineNode) -> OnlineNode:
        return replace(table, onward=(9, *table.onward[1:]))

    assert "go out at channel 9" in found(with_table(1, beyond))


def test_registers_of_other_lanes_are_found():
    def swapped(table: OnlineNode) -> OnlineNode:
        return replace(table, inputs=table.outputs, outputs=table.inputs)

    text = found(with_table(1, swapped))
    assert "its channels are not the lanes of its role" in text
    assert "no stream carries what it writes" in text


def test_registers_that_are_read_in_another_turn_are_found():
    text = "(stream 'a (runtime) (runtime) :m 40 :impl 'dyn_stream)"
    good = make_images(make_plan(compile_text(text, topology=mesh(2, 2)), NodeShape(), name="online", period=32))
    assert check_images(good).ok
    carrier = good.phases[0].online
    assert carrier is not None
    nodes = list(good.nodes)
    views = dict(nodes[0].operators)
    table = views[carrier].online
    assert table is not None
    channel = next(channel for channel in table.inputs if len(channel) == 2)

    def turned(several: tuple[int, ...]) -> tuple[int, ...]:
        return several[::-1] if several == channel else several

    (role,) = views[carrier].roles
    lanes = tuple(replace(lane, registers=turned(lane.registers)) for lane in role.lanes)
    inputs = tuple(map(turned, table.inputs))
    views[carrier] = replace(views[carrier], online=replace(table, inputs=inputs), roles=(replace(role, lanes=lanes),))
    nodes[0] = replace(nodes[0], operators=tuple(views.items()))
    assert "in turn arrives in" in found(replace(good, nodes=tuple(nodes)))


def test_a_table_of_the_wrong_size_is_found():
    assert "its table has 5 destinations" in found(with_table(0, lambda t: replace(t, onward=t.onward[:5])))


def test_a_phase_that_does_not_end_by_a_barrier_is_found():
    good = images()
    phase = replace(good.phases[0], technique="none", barrier=None)
    assert "processors may still have to pass on messages" in found(replace(good, phases=(phase,)))


@pytest.mark.parametrize(("queue", "message"), [(0, "share destination queue 0"), (5, "destination queues are [0, 5]")])
def test_destination_queues_that_clash_are_found(queue: int, message: str):
    good = images()
    operators = list(good.operators)
    online = operators[1].online
    assert online is not None
    operators[1] = replace(operators[1], online=(queue,))
    assert message in found(replace(good, operators=tuple(operators)))


def test_the_carrier_must_be_of_the_phase():
    good = images()
    text = found(replace(good, phases=(replace(good.phases[0], online=99),)))
    assert "operator 99 stands for its online streams" in text


def test_online_images_go_into_a_file_and_come_back():
    assert images_from_bytes(images_to_bytes(images())) == images()


def test_a_channel_has_a_register() -> None:
    changed = with_table(4, lambda table: replace(table, outputs=((), *table.outputs[1:])))
    found = [one.message for one in check_images(changed).findings if one.rule == "structure"]
    assert found == ["one of its online channels has no register"]


@pytest.mark.parametrize(("node", "to"), [(0, 5), (2, 1), (4, 3)])
def test_a_message_that_some_value_sends_must_have_a_way(node: int, to: int) -> None:
    def without(table: OnlineNode) -> OnlineNode:
        return replace(table, onward=(*table.onward[:to], -1, *table.onward[to + 1 :]))

    assert judged(images()).ok
    messages = [one.message for one in judged(with_table(node, without)).findings if one.rule == "online"]
    assert f"operator a has a message to node {to}, which has no way" in messages
