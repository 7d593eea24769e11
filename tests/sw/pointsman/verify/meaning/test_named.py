"""What a role says of its calls is what the definition says: which may be called, and what they give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest

from numesh.shape import NodeShape
from pointsman.api.judged import judged
from pointsman.artifacts.images.images import Images, NodeOperator
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images

TEXT = """(sequential (stream 's 0 1 :m 2) (reduce 'r 'left 1 :m 2 :valid '(0 1))
 (broadcast 'd 0 :m 1 :impl 'dyn_bcast))"""


@cache
def compiled() -> Images:
    return make_images(make_plan(compile_text(TEXT, topology=mesh(3)), NodeShape(), name="named"))


def changed(label: str, node: int, change: Callable[[NodeOperator], NodeOperator]) -> Images:
    images = compiled()
    (index,) = [k for k, one in enumerate(images.operators) if one.label == label]
    image = images.nodes[node]
    operators = tuple((k, change(one) if k == index else one) for k, one in image.operators)
    return replace(images, nodes=(*images.nodes[:node], replace(image, operators=operators), *images.nodes[node + 1 :]))


def test_the_images_are_right() -> None:
    report = judged(compiled())
    assert report.ok, report.render()


@pytest.mark.parametrize(
    ("label", "node", "field", "value", "said"),
    [
        ("s", 2, "kind", "read", "its role is of kind 'read'"),
        ("s", 1, "kind", "both", "its role is of kind 'both'"),
        ("r", 1, "result", False, "func in round 0 gives no message"),
        ("s", 2, "void", True, "its role is void"),
        ("d", 1, "delay", 1, "processors pass its messages on, and its roles say more"),
    ],
)
def test_what_a_role_says_besides_is_found(label: str, node: int, field: str, value: object, said: str) -> None:
    def change(one: NodeOperator) -> NodeOperator:
        return replace(one, roles=tuple(replace(role, **{field: value}) for role in one.roles))  # type: ignore[arg-type]

    assert said in judged(changed(label, node, change)).render()


def test_a_role_that_no_value_takes_is_found() -> None:
    images = changed("s", 0, lambda one: replace(one, roles=one.roles * 2))
    assert "role 1 is taken for no value" in judged(images).render()


def test_nodes_to_which_messages_are_brought_are_numbered_in_order() -> None:
    (label,) = [one.label for one in compiled().operators if one.kind == "online"]
    images = changed(label, 1, lambda one: replace(one, position=0))
    assert "it is number 0 of 3 nodes" in judged(images).render()
