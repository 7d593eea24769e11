"""Values that only the node knows which they name: nobody else may need to know more."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images


def compiled(text: str) -> Images:
    program = compile_text(text, topology=mesh(2, 2))
    return make_images(make_plan(program, NodeShape(), name="knowledge", period=16))


def found(rule: str, images: Images) -> set[str]:
    return {finding.message for finding in check_images(images).findings if finding.rule == rule}


def test_a_broadcast_over_a_tree_needs_no_agreement() -> None:
    report = check_images(compiled("(broadcast 'b (runtime :distributed t) :m 4)"))
    assert report.ok, report.render()
    assert report.counts["operators whose value a single node knows"] == 1


@pytest.mark.parametrize(
    ("way", "faults"),
    [
        ("str_bcast_tree", set()),
        ("par_bcast", {"it has several roles for values that name other nodes"}),
        (
            "str_bcast_linear",
            {"it has several roles for values that name other nodes", "its router depends on the value"},
        ),
    ],
)
def test_what_nodes_must_agree_on_is_found(way: str, faults: set[str]) -> None:
    images = compiled(f"(broadcast 'b (runtime) :m 9 :impl '{way})")
    assert not found("knowledge", images)
    assert found("knowledge", replace(images, operators=(replace(images.operators[0], partial=True),))) == faults


def test_a_value_that_is_no_node_is_found() -> None:
    images = compiled("(stream 's (runtime) (runtime) :m 4 :impl 'par_stream)")
    assert found("knowledge", replace(images, operators=(replace(images.operators[0], partial=True),))) == {
        "its value is not a single node"
    }
