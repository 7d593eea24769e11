"""Operators of the program in images: every operand there, of its sort, within its instance."""

from __future__ import annotations

from dataclasses import replace
from types import ModuleType
from typing import Any

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.program.program import DataType, Instance, Operator, Runtime
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images


@pytest.fixture(scope="module")
def images() -> Images:
    program = compile_text("(broadcast 'b (runtime) :m 2) (reduce 'r 'add 1 :m 2)", topology=mesh(2, 2))
    return make_images(make_plan(program, NodeShape(), name="programs"))


def changed(images: Images, index: int, **changes: Any) -> Images:
    operators = list(images.operators)
    operators[index] = replace(operators[index], **changes)
    return replace(images, operators=tuple(operators))


def with_operand(operator: Operator, value: Any, name: str) -> Operator:
    operands = tuple((key, value if key == name else old) for key, old in operator.instances[0].operands)
    return replace(operator, instances=(Instance(operator.instances[0].nodes, operands),))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda one: replace(one, kind="carry"), "it is a carry"),
        (lambda one: replace(one, kind="cshift"), "it has the operands"),
        (lambda one: replace(one, type=DataType("int8")), "its type is int8*"),
        (lambda one: replace(one, m=0), "its messages have 0 words"),
        (lambda one: replace(one, m=1 << 60), "its messages have"),
        (lambda one: replace(one, m=3, type=DataType("int64")), "its messages have 3 words"),
        (lambda one: replace(one, type=DataType("int32", array=False)), "its messages have 2 words"),
        (lambda one: replace(one, instances=()), "it has no instance"),
        (lambda one: replace(one, valid=(0, 9)), "the nodes (0, 9) take part"),
        (
            lambda one: replace(one, instances=(Instance((0, 0), one.instances[0].operands),)),
            "an instance has the nodes",
        ),
        (
            lambda one: replace(one, instances=(Instance((0, 77), one.instances[0].operands),)),
            "a node of an instance is 77",
        ),
        (lambda one: with_operand(one, 4, "destination"), "its destination is 4"),
        (lambda one: with_operand(one, (0,), "destination"), "its destination is (0,)"),
        (lambda one: with_operand(one, Runtime((7,)), "destination"), "its destination is Runtime"),
        (lambda one: with_operand(one, 3, "function"), "its function is 3"),
    ],
)
def test_what_the_run_time_could_not_take_is_found(images: Images, change: Any, said: str) -> None:
    index = next(i for i, one in enumerate(images.operators) if one.kind == "reduce")
    program = images.operators[index].program
    report = check_images(changed(images, index, program=change(program)))
    assert "structure" in report.rules
    assert any(said in finding.message for finding in report.findings), report.render()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"label": "x"}, "its label is 'x'"),
        ({"kind": "allreduce"}, "its kind is 'allreduce'"),
        ({"type": "float32*"}, "its type is 'float32*'"),
        ({"m": 4}, "its length is 4"),
        ({"function": "max"}, "its function is 'max'"),
        ({"runtime": ("destination",)}, "its run-time operands is ('destination',)"),
        ({"values": ((1, 2),)}, "it has a role for the values (1, 2)"),
    ],
)
def test_what_images_repeat_is_the_same(images: Images, changes: dict[str, Any], said: str) -> None:
    index = next(i for i, one in enumerate(images.operators) if one.kind == "reduce")
    report = check_images(changed(images, index, **changes))
    assert not {"meaning", "structure"}.isdisjoint(report.rules)
    assert any(said in finding.message for finding in report.findings), report.render()


def test_kinds_and_types_without_a_meaning_are_found(images: Images) -> None:
    for changes, said in (
        ({"kind": "carry"}, "it is a carry"),
        ({"type": "int8*", "program": None}, "its type is int8*"),
    ):
        report = check_images(changed(images, 0, **changes))
        assert report.rules == ("structure",)
        assert said in report.findings[0].message


def test_nodes_of_the_instances_have_their_place(images: Images) -> None:
    program = images.operators[0].program
    assert program is not None
    turned = Instance(program.instances[0].nodes[::-1], program.instances[0].operands)
    report = check_images(changed(images, 0, program=replace(program, instances=(turned,))))
    assert any("it is at position" in finding.message for finding in report.findings)
    fewer = Instance(program.instances[0].nodes[:3], program.instances[0].operands)
    report = check_images(changed(images, 0, program=replace(program, instances=(fewer,))))
    assert any("has a part in it" in finding.message for finding in report.findings)


def test_who_brings_a_value_brings_no_function() -> None:
    images = make_images(
        make_plan(compile_text("(allreduce 'r (runtime) :m 1)", topology=mesh(2, 2)), NodeShape(), name="p")
    )
    remote = replace(images, operators=(replace(images.operators[0], remote=True), *images.operators[1:]))
    found = [one.message for one in check_images(remote).findings if one.rule == "structure"]
    assert found == ["other nodes bring it its value, and it combines messages"]


def test_who_brings_a_value_waits_for_the_others() -> None:
    images = make_images(
        make_plan(compile_text("(stream 's 0 (runtime :dynamic t) :m 2)", topology=mesh(2, 1)), NodeShape(), name="p")
    )
    alone = replace(images.operators[0], remote=True, synchronised=False)
    report = check_images(replace(images, operators=(alone, *images.operators[1:])))
    assert any("nobody waits for them" in one.message for one in report.findings)


def test_who_passes_messages_on_has_a_way_and_nobody_else(by_hand: ModuleType) -> None:
    images = by_hand.stream_1x2()
    (one, *rest) = images.operators
    report = check_images(replace(images, operators=(replace(one, way="dyn_bcast"), *rest)))
    assert "its messages are passed on by a way of the run time" in report.render()
