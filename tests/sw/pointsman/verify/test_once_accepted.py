"""What the judge once let pass, though it ran wrong, stopped for ever or broke the run time: all of it is refused.

The places are those of a program with two phases that close by barriers, an operator that continues, one that combines with a
function whose order matters, one whose load functions meet, and nodes that pass through phases of others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Combination, Images, Role
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import fold
from pointsman.plan.structure.structure import divided
from pointsman.program.program import Program
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images
from pointsman.verify.programs import program_differences

TEXT = """
(loop 'l 2
  (subset '((0 1 3)) (stream 's 0 2 :m 12))
  (parallel
    (subset '((0 1)) (stream 'k 0 1 :m 3))
    (sequential (reduce 'r 'f 1 :m 2) (collect 'b (runtime) :m 3 :impl 'str_collect_tree))))
"""
Changed = Iterator[Images]


MOST = 12
"""Places that are tried of each change, spread over all."""


@cache
def compiled() -> tuple[Images, Program]:
    program = compile_text(TEXT, topology=mesh(4))
    root = disjoint_tree(program)
    structure = divided(program, root, fold(root, lambda part, i: True))
    made = make_images(make_plan(program, NodeShape(), name="t", structures=[structure]))
    report = check_images(made)
    assert report.ok, report.render()
    assert program_differences(made, program) == []
    return made, program


def with_role(images: Images, node: int, at: int, number: int, role: Role) -> Images:
    """Images with another role of a node."""
    image = images.nodes[node]
    index, view = image.operators[at]
    view = replace(view, roles=(*view.roles[:number], role, *view.roles[number + 1 :]))
    operators = (*image.operators[:at], (index, view), *image.operators[at + 1 :])
    return replace(images, nodes=(*images.nodes[:node], replace(image, operators=operators), *images.nodes[node + 1 :]))


def roles(images: Images, change: Callable[[Role], Iterator[Role]]) -> Changed:
    for node, image in enumerate(images.nodes):
        for at, (_, view) in enumerate(image.operators):
            for number, role in enumerate(view.roles):
                for other in change(role):
                    if other != role:
                        yield with_role(images, node, at, number, other)


def lanes(images: Images, **fields: Callable[[Any], Any]) -> Changed:
    """Each lane with one of its fields changed."""

    def change(role: Role) -> Iterator[Role]:
        for k, lane in enumerate(role.lanes):
            for name, new in fields.items():
                other = replace(lane, **{name: new(getattr(lane, name))})
                yield replace(role, lanes=(*role.lanes[:k], other, *role.lanes[k + 1 :]))

    return roles(images, change)


def operators(images: Images, **fields: Any) -> Changed:
    """Each operator with a field changed."""
    for name, value in fields.items():
        for k, one in enumerate(images.operators):
            if getattr(one, name) != value:
                yield replace(
                    images,
                    operators=(*images.operators[:k], replace(one, **{name: value}), *images.operators[k + 1 :]),
                )


def registers_in_another_order(images: Images) -> Changed:
    return lanes(images, registers=lambda old: old[::-1])


def a_register_twice(images: Images) -> Changed:
    return lanes(images, registers=lambda old: old[:1] + old[:1] + old[2:] if len(old) > 1 else old * 2)


def other_lengths(images: Images) -> Changed:
    for words in (0, 1, 7):
        yield from lanes(images, words=lambda old, words=words: words)


def a_lane_twice(images: Images) -> Changed:
    return roles(images, lambda role: iter([replace(role, lanes=role.lanes + role.lanes[-1:])]))


def a_token_for_a_message(images: Images) -> Changed:
    return lanes(images, data=lambda old: "token" if old == "in" else old)


def no_result(images: Images) -> Changed:
    """Where there is one: a role whose words mean nothing may say either."""
    return roles(
        images, lambda role: iter([replace(role, result=False)] if any(one.data == "in" for one in role.lanes) else [])
    )


def a_role_void(images: Images) -> Changed:
    return roles(images, lambda role: iter([replace(role, void=True)]))


def no_combination(images: Images) -> Changed:
    return roles(
        images,
        lambda role: (
            replace(role, combines=role.combines[:k] + role.combines[k + 1 :]) for k in range(len(role.combines))
        ),
    )


def a_combination_turned_round(images: Images) -> Changed:
    return roles(
        images,
        lambda role: (
            replace(
                role,
                combines=(
                    *role.combines[:k],
                    replace(one, left=one.right, right=one.left),
                    *role.combines[k + 1 :],
                ),
            )
            for k, one in enumerate(role.combines)
        ),
    )


def another_function(images: Images) -> Changed:
    return operators(images, function="g")


def another_kind(images: Images) -> Changed:
    for kind in ("broadcast", "reduce", "stream", "barrier", "collect", "gather"):
        yield from operators(images, kind=kind)


def no_passage(images: Images) -> Changed:
    for k in range(len(images.passages)):
        yield replace(images, passages=images.passages[:k] + images.passages[k + 1 :])


def another_passage(images: Images) -> Changed:
    for k, (node, left, entered, way) in enumerate(images.passages):
        phases = range(-1, len(images.phases))
        for other in [(node, p, entered, way) for p in phases if p != left] + [
            (node, left, p, way) for p in phases if p != entered
        ]:
            yield replace(images, passages=(*images.passages[:k], other, *images.passages[k + 1 :]))


def short_times_to_settle(images: Images) -> Changed:
    yield replace(
        images,
        nodes=tuple(
            replace(
                image,
                phases=tuple(
                    replace(part, settle=tuple((later, 1) for later, _ in part.settle)) for part in image.phases
                ),
            )
            for image in images.nodes
        ),
    )


def where_it_is_entered(images: Images) -> Changed:
    for node, image in enumerate(images.nodes):
        for at, (index, view) in enumerate(image.operators):
            for phase in range(-1, len(images.phases)):
                if phase != view.enters and images.operators[index].continues:
                    pairs = (
                        *image.operators[:at],
                        (index, replace(view, enters=phase)),
                        *image.operators[at + 1 :],
                    )
                    yield replace(
                        images,
                        nodes=(*images.nodes[:node], replace(image, operators=pairs), *images.nodes[node + 1 :]),
                    )


def not_synchronised(images: Images) -> Changed:
    return operators(images, synchronised=False)


def unknown_names(images: Images) -> Changed:
    return operators(images, kind="nothing", type="int31*", runtime=("nothing",), remote=True)


def impossible_lengths(images: Images) -> Changed:
    for m in (0, -1, 2**40):
        yield from operators(images, m=m)


CHANGES = (
    registers_in_another_order,
    a_register_twice,
    other_lengths,
    a_lane_twice,
    a_token_for_a_message,
    no_result,
    a_role_void,
    no_combination,
    a_combination_turned_round,
    another_function,
    another_kind,
    no_passage,
    another_passage,
    short_times_to_settle,
    where_it_is_entered,
    not_synchronised,
    unknown_names,
    impossible_lengths,
)


def accepted(changed: list[Images], program: Program) -> list[int]:
    return [k for k, one in enumerate(changed) if check_images(one).ok and not program_differences(one, program)]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_it_is_refused(change: Callable[[Images], Changed]) -> None:
    images, program = compiled()
    changed = list(change(images))
    assert changed
    assert accepted(changed[:: -(-len(changed) // MOST)], program) == []


@cache
def small(text: str) -> Images:
    made = make_images(make_plan(compile_text(text, topology=mesh(4)), NodeShape(), name="t"))
    assert check_images(made).ok
    return made


def rules_of(text: str, node: int, at: int, number: int, **fields: Any) -> tuple[str, ...]:
    """Rules that a role with other fields breaks."""
    images = small(text)
    role = replace(images.nodes[node].operators[at][1].roles[number], **fields)
    return check_images(with_role(images, node, at, number, role)).rules


def test_a_node_without_a_part_gets_no_message_when_it_reads() -> None:
    assert rules_of("(spread 's 0 :m 1 :valid '(0 1))", 3, 0, 0, void=False) == ("meaning",)


def test_what_may_be_called_at_a_gate_stands_in_the_first_stage() -> None:
    text = "(barrier 'o :impl 'str_barrier)"
    assert small(text).operators[0].gated
    assert rules_of(text, 0, 0, 0, local=True) == ("meaning",)
    assert rules_of(text, 0, 0, 0, kind="read") == ("meaning",)


def test_a_barrier_has_no_messages_to_combine() -> None:
    combined = (Combination(1, "out", "", "in"),)
    assert rules_of("(barrier 'o :impl 'str_barrier_tree)", 0, 0, 0, combines=combined) == ("meaning",)


def test_a_phase_is_closed_by_a_barrier_of_its_own() -> None:
    images, _ = compiled()
    (index,) = (k for k, one in enumerate(images.operators) if one.continues)
    for k, phase in enumerate(images.phases):
        if phase.barrier is not None and index in phase.operators:
            phases = (*images.phases[:k], replace(phase, barrier=index), *images.phases[k + 1 :])
            assert check_images(replace(images, phases=phases)).rules == ("structure",)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_it_is_refused_at_every_place(change: Callable[[Images], Changed]) -> None:
    images, program = compiled()
    changed = list(change(images))
    assert accepted(changed, program) == [], len(changed)
