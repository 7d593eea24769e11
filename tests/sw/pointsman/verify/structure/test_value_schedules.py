"""Operators with several schedules: what the judge wants of them."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images


@cache
def compiled() -> Images:
    """Two rows, each with a broadcast that has a schedule for each of two sources."""
    text = "(subset (make-1d 'x) (broadcast 'b (runtime) :m 4 :impl 'sch_bcast_dense))"
    program = compile_text(text, topology=mesh(2, 2))
    return make_images(make_plan(program, NodeShape(), name="rows", period=16))


def findings(images: Images) -> list[str]:
    return [finding.message for finding in check_images(images).findings if finding.rule == "schedules"]


def with_operator(images: Images, index: int, **changes: object) -> Images:
    operators = list(images.operators)
    operators[index] = replace(operators[index], **changes)  # type: ignore[arg-type]
    return replace(images, operators=tuple(operators))


def test_every_schedule_is_followed_and_accepted() -> None:
    report = check_images(compiled())
    assert report.ok, report.render()
    assert report.counts["operators with several schedules"] == 1
    assert [one.label for one in compiled().operators[:2]] == ["b", "b"]
    assert [one.values for one in compiled().operators[:2]] == [((0,),), ((1,),)]
    assert {phase.name for phase in compiled().phases} == {"b=0", "b=1"}


@pytest.mark.parametrize("changes", [{"m": 5}, {"type": "float32*"}, {"runtime": ("other",)}])
def test_schedules_of_one_operator_must_be_alike(changes: dict[str, object]) -> None:
    assert "another schedule of it is another operator" in findings(with_operator(compiled(), 1, **changes))


def test_a_value_has_one_schedule() -> None:
    assert findings(with_operator(compiled(), 1, values=((0,),))) == ["another schedule is for the value (0,) too"]


def test_each_schedule_can_follow_each() -> None:
    images = compiled()
    phases = (replace(images.phases[0], successors=()), *images.phases[1:])
    assert "phase b=0 is not followed by it" in findings(replace(images, phases=phases))


def test_the_same_nodes_have_all_schedules() -> None:
    images = compiled()
    nodes = list(images.nodes)
    nodes[0] = replace(nodes[0], operators=tuple(one for one in nodes[0].operators if one[0] != 1))
    found = findings(replace(images, nodes=tuple(nodes)))
    assert "other nodes have its other schedules" in found
    assert "a router that has no part in the operator is used" in found


def test_a_barrier_must_not_join_instances_that_choose_without_each_other() -> None:
    images = compiled()
    barrier = images.phases[0].barrier
    promises = tuple(
        replace(one, destinations=((2, one.destinations[0][1]),)) if one.operator == barrier else one
        for one in images.promises
    )
    assert "its barrier joins two instances" in findings(replace(images, promises=promises))


def test_an_operator_in_the_phase_of_a_schedule_is_refused() -> None:
    images = compiled()
    phases = list(images.phases)
    operators = (*images.operators, replace(images.operators[0], label="c", values=((),), program=None))
    phases[0] = replace(phases[0], operators=(*phases[0].operators, len(images.operators)))
    changed = replace(images, phases=tuple(phases), operators=operators)
    assert "operator c is in its phase" in findings(changed)


def test_nodes_of_one_instance_know_the_values_in_whatever_order_they_are() -> None:
    """Of several instances the positions of nodes have to agree."""
    texts = {
        False: "(parallel (broadcast 'a 0) (subset '(2 0 1) (cshift 'c (runtime) :m 9 :impl 'sch_shift)))",
        True: "(subset '((0 1) (2 3)) (parallel (broadcast 'a 0) (cshift 'c (runtime) :m 9 :impl 'sch_shift)))",
    }
    for several, text in texts.items():
        topology = mesh(2, 2) if several else mesh(3)
        images = make_images(make_plan(compile_text(text, topology=topology), NodeShape(), name="order"))
        assert findings(images) == []
        label = next(number for number, one in enumerate(images.operators) if one.label == "a")
        turned = [
            replace(
                node,
                operators=tuple(
                    (number, replace(here, position=here.nodes - 1 - here.position) if number == label else here)
                    for number, here in node.operators
                ),
            )
            for node in images.nodes
        ]
        found = findings(replace(images, nodes=tuple(turned)))
        assert ("operator a of its phase has other nodes" in found) == several
