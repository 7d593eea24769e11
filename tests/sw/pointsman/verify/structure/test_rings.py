"""Operators whose schedule is made at run time: the ring on which messages go if slots are lacking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import SYNC, Images, Role
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images


@cache
def compiled() -> Images:
    """A permutation and, in two rows, a shift."""
    text = """
      (permute 'p (runtime) :m 4 :impl 'sch_permute_runtime)
      (subset (make-1d 'x) (cshift 'c (runtime) :m 4 :impl 'sch_shift_runtime))"""
    program = compile_text(text, topology=mesh(2, 2))
    return make_images(make_plan(program, NodeShape(), name="rings", period=16))


def found(rule: str, images: Images) -> list[str]:
    return [finding.message for finding in check_images(images).findings if finding.rule == rule]


def with_roles(images: Images, node: int, change: Callable[[Role], Role]) -> Images:
    nodes = list(images.nodes)
    operators = tuple(
        (index, replace(here, roles=tuple(map(change, here.roles))) if index == 0 else here)
        for index, here in nodes[node].operators
    )
    nodes[node] = replace(nodes[node], operators=operators)
    return replace(images, nodes=tuple(nodes))


def test_rings_of_all_instances_are_accepted() -> None:
    report = check_images(compiled())
    assert report.ok, report.render()
    assert report.counts["operators with a schedule made at run time"] == 2


def test_a_ring_without_one_of_its_streams_is_found() -> None:
    images = compiled()
    lost = next(p for p in images.promises if p.operator == 0 and "meet" not in p.stream and p.source == 1)
    assert "no stream leads to node 2" in found(
        "rings", replace(images, promises=tuple(p for p in images.promises if p is not lost))
    )


def test_a_ring_in_another_order_is_found() -> None:
    operators = list(compiled().operators)
    operators[0] = replace(operators[0], instances=((0, 1, 3, 2),))
    messages = found("rings", replace(compiled(), operators=tuple(operators)))
    assert messages == ["no stream leads to node 3", "no stream leads to node 2", "no stream leads to node 0"]


def test_an_instance_holds_a_node_once() -> None:
    operators = list(compiled().operators)
    operators[0] = replace(operators[0], instances=((0, 1, 2, 1),))
    assert found("rings", replace(compiled(), operators=tuple(operators))) == ["its instances are not of its nodes"]


@pytest.mark.parametrize("write", [True, False])
def test_a_node_without_a_lane_is_found(write: bool) -> None:
    def cut(role: Role) -> Role:
        return replace(role, lanes=tuple(one for one in role.lanes if one.turn == SYNC or one.write != write))

    message = "its lanes are not one out and one in, the same for all values"
    assert message in found("rings", with_roles(compiled(), 2, cut))
