"""A barrier in the router: what the judge wants of its gates."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images, NodeOperator
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images


@cache
def compiled() -> Images:
    program = compile_text("(barrier 'a :impl 'str_barrier)", topology=mesh(2, 2))
    return make_images(make_plan(program, NodeShape(), name="gates", period=16))


def findings(images: Images) -> list[tuple[int | None, str]]:
    return [(one.node, one.message) for one in check_images(images).findings if one.rule == "gates"]


def with_operator(images: Images, node: int, changed: NodeOperator) -> Images:
    nodes = list(images.nodes)
    nodes[node] = replace(nodes[node], operators=((0, changed), *nodes[node].operators[1:]))
    return replace(images, nodes=tuple(nodes))


def test_gates_hold_words_up_at_every_node() -> None:
    report = check_images(compiled())
    assert report.ok, report.render()
    # Three nodes behind the head, two turns, two other stages of each.
    assert report.counts["gates left behind"] == 3 * 2 * 2


@pytest.mark.parametrize("node", [1, 2, 3])
def test_a_gate_that_stays_open_is_found(node: int) -> None:
    images = compiled()
    operator = dict(images.nodes[node].operators)[0]
    shut, even, odd = (operator.roles[number] for number in operator.role_of)
    open_rewrites = tuple(
        b if b.annotation.source != a.annotation.source else a
        for a, b in zip(shut.rewrites, even.rewrites, strict=True)
    )
    roles = (replace(shut, rewrites=open_rewrites), even, odd)
    changed = with_operator(images, node, replace(operator, roles=roles, role_of=(0, 1, 2)))
    assert any(at == node and "although it is in stage 0" in message for at, message in findings(changed))


@pytest.mark.parametrize("node", [1, 2, 3])
def test_gates_that_do_not_take_turns_are_found(node: int) -> None:
    images = compiled()
    operator = dict(images.nodes[node].operators)[0]
    shut, even, odd = (operator.roles[number] for number in operator.role_of)
    # Both are open in the odd turn.
    both = tuple(
        b if b.annotation.source != a.annotation.source else c
        for a, b, c in zip(shut.rewrites, even.rewrites, odd.rewrites, strict=True)
    )
    roles = (shut, even, replace(odd, rewrites=both))
    changed = with_operator(images, node, replace(operator, roles=roles, role_of=(0, 1, 2)))
    assert (node, "words of a[0] pass it although it is in stage 2") in findings(changed)


def test_a_node_that_nobody_releases_is_found() -> None:
    images = compiled()
    promises = tuple(
        replace(one, destinations=tuple(end for end in one.destinations if end[0] != 3)) for one in images.promises
    )
    assert (3, "nothing tells it that all have entered") in findings(replace(images, promises=promises))
