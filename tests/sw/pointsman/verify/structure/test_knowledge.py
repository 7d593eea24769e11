"""Values that only the node knows which they name: nobody else may need to know more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import SYNC, Images, Role
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images
from pointsman.verify.report import Notebook
from pointsman.verify.structure.knowledge import check_knowledge


def compiled(text: str) -> Images:
    program = compile_text(text, topology=mesh(2, 2))
    return make_images(make_plan(program, NodeShape(), name="knowledge", period=16))


def found(rule: str, images: Images) -> set[str]:
    return {finding.message for finding in check_images(images).findings if finding.rule == rule}


def unknown(images: Images) -> set[str]:
    """What this rule alone finds."""
    notebook = Notebook()
    check_knowledge(images, notebook)
    return {finding.message for finding in notebook.report("knowledge", {}).findings}


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


def test_what_nodes_tell_each_other_in_their_barrier_they_know() -> None:
    images = compiled("(collect 'c (runtime :distributed t) :m 4 :impl 'str_collect_tree)")
    (index,) = [k for k, one in enumerate(images.operators) if one.label == "c"]
    assert images.operators[index].partial
    assert check_images(images).ok, check_images(images).render()
    node = images.nodes[1]
    view = dict(node.operators)[index]

    def with_roles(change: Callable[[Role], Role]) -> Images:
        roles = tuple(map(change, view.roles))
        views = tuple((k, replace(one, roles=roles) if k == index else one) for k, one in node.operators)
        return replace(images, nodes=(images.nodes[0], replace(node, operators=views), *images.nodes[2:]))

    fault = {"it has no part in the barrier in which the nodes tell each other the value"}
    # The answer comes before the node has said anything; nothing is said; each in its own time.
    lanes = [lane for lane in view.roles[0].lanes if lane.turn == SYNC]
    assert [lane.write for lane in lanes][-2:] == [True, False]
    assert unknown(with_roles(lambda role: replace(role, lanes=role.lanes[len(lanes) - 1 :]))) == fault
    assert unknown(with_roles(lambda role: replace(role, lanes=role.lanes[len(lanes) :]))) == fault
    free = with_roles(lambda role: replace(role, lanes=tuple(replace(lane, step=0) for lane in role.lanes)))
    assert unknown(free) == fault
    alone = replace(images.operators[index], synchronised=False)
    operators = tuple(alone if k == index else one for k, one in enumerate(images.operators))
    assert "its router depends on the value" in unknown(replace(images, operators=operators))


def test_a_schedule_made_at_run_time_is_no_single_node() -> None:
    images = compiled("(permute 'p (runtime) :m 4)")
    partial = replace(images, operators=(replace(images.operators[0], partial=True),))
    assert unknown(partial) == {"its value is not a single node"}
