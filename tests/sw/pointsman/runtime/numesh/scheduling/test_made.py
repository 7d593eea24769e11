"""Schedules that are made at run time, proven by the judge."""

from __future__ import annotations

import random

import pytest

from numesh.codes import Codes
from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.operators import Context
from pointsman.operators.scheduled.permute_runtime import SchPermuteRuntime
from pointsman.plan.make_plan import make_plan
from pointsman.runtime.numesh.scheduling.made import schedule_moves, scheduled_images
from pointsman.runtime.numesh.scheduling.standing import Standing
from pointsman.targets.numesh import make_images
from pointsman.verify.images import check_images


def images_of(text: str, size: tuple[int, ...], period: int = 16) -> Images:
    program = compile_text(text, topology=mesh(*size), file="x.cop")
    shape = NodeShape(neighbours=max(4, program.topology.ports))
    return make_images(make_plan(program, shape, name="x", period=period))


@pytest.mark.parametrize("size", [(2, 2), (4, 3), (2, 2, 2)])
def test_schedule_of_a_random_permutation_keeps_every_rule(size: tuple[int, ...]) -> None:
    images = images_of("(broadcast 'b 0 :m 9) (permute 'p (runtime) :m 5 :impl 'sch_permute_runtime)", size, period=24)
    nodes = images.topology.nodes
    for seed in range(3):
        order = random.Random(seed).sample(range(nodes), nodes)
        moves = tuple((node, to) for node, to in enumerate(order) if node != to)
        made = schedule_moves(images, 1, 0, moves)
        report = check_images(scheduled_images(images, 1, {0: made}))
        assert report.ok, report.render()
        assert {(p.source, p.destinations[0][0]) for p in made.promises} == set(moves)
        assert min(p.words for p in made.promises) >= 1


def test_schedules_of_several_instances_stand_side_by_side() -> None:
    images = images_of("(subset (make-1d 'x) (cshift 'c (runtime) :m 5 :impl 'sch_shift_runtime))", (4, 2))
    made = {
        i: schedule_moves(images, 0, i, tuple((4 * i + k, 4 * i + (k + 3) % 4) for k in range(4))) for i in range(2)
    }
    report = check_images(scheduled_images(images, 0, made))
    assert report.ok, report.render()


def test_schedule_that_lost_a_vfsm_is_found_out() -> None:
    images = images_of("(permute 'p (runtime) :m 5 :impl 'sch_permute_runtime)", (2, 2))
    made = schedule_moves(images, 0, 0, ((0, 3), (3, 0)))
    part = made.parts[1]
    broken = type(part)(part.phase, part.schedule[1:] + part.schedule[:1], part.annotations, part.settle)
    made = type(made)({**made.parts, 1: broken}, made.promises, made.cycles)
    assert not check_images(scheduled_images(images, 0, {0: made})).ok


def test_where_slots_are_lacking_the_compiled_schedule_stays() -> None:
    images = images_of("(permute 'p (runtime) :m 5 :impl 'sch_permute_runtime)", (4, 4), period=6)
    moves = tuple((node, 15 - node) for node in range(16))
    made = schedule_moves(images, 0, 0, moves)
    assert made.hops == 15
    assert made.parts == {node: images.nodes[node].phases[0] for node in range(16)}
    assert not made.promises
    assert scheduled_images(images, 0, {0: made}) == images


@pytest.mark.parametrize("size", [(2, 2), (3, 3), (4, 4), (6, 6), (3, 3, 3), (7, 1), (2, 5)])
def test_with_the_length_that_the_compiler_chooses_all_values_find_slots(size: tuple[int, ...]) -> None:
    program = compile_text("(permute 'o (runtime) :m 20)", topology=mesh(*size))
    shape = NodeShape(neighbours=max(4, program.topology.ports))
    (operator,) = program.operators()
    least = SchPermuteRuntime().least_period(operator, Context(program.topology, shape))
    period = next(p for p in (8, 16, 24, 32) if p >= least)
    images = images_of("(permute 'p (runtime) :m 20 :impl 'sch_permute_runtime)", size, period=period)
    nodes = images.topology.nodes
    orders = [[(node + distance) % nodes for node in range(nodes)] for distance in range(nodes)]
    orders += [random.Random(seed).sample(range(nodes), nodes) for seed in range(2000 // nodes)]
    orders.append(list(range(nodes))[::-1])
    for order in orders:
        made = schedule_moves(images, 0, 0, tuple((a, b) for a, b in enumerate(order) if a != b))
        assert not made.hops, order


@pytest.mark.parametrize("size", [(2, 2), (5, 1), (4, 2), (2, 2, 2), (4, 4)])
def test_all_values_find_slots_where_barriers_close_the_phases(size: tuple[int, ...]) -> None:
    operator = "(permute '{} (runtime) :m 5 :impl 'sch_permute_runtime)"
    text = "(loop 'l 3 " + operator.format("p") + operator.format("q") + ")"
    program = compile_text(text, topology=mesh(*size))
    context = Context(program.topology, NodeShape(neighbours=max(4, program.topology.ports)))
    least = SchPermuteRuntime().least_period(next(iter(program.operators())), context)
    images, nodes = images_of(text, size, period=least), program.topology.nodes
    assert {phase.technique for phase in images.phases} == {"barrier"}
    for seed in range(40):
        order = random.Random(seed).sample(range(nodes), nodes)
        for index in (i for i, one in enumerate(images.operators) if one.instances):
            assert not schedule_moves(images, index, 0, tuple((a, b) for a, b in enumerate(order) if a != b)).hops


BESIDE = """
(loop 'l 3
  (parallel
    (permute 'p (runtime) :m 5 :impl 'sch_permute_runtime)
    (broadcast 'b (runtime) :m 9 :b 0.1 :impl 'str_bcast_linear)))
"""


def test_a_schedule_made_beside_another_operator_leaves_it_alone() -> None:
    images = images_of(BESIDE, (2, 2), period=24)
    index = next(i for i, one in enumerate(images.operators) if one.label == "p")
    for order in ((1, 2, 3, 0), (3, 2, 1, 0)):
        made = schedule_moves(images, index, 0, tuple(enumerate(order)))
        changed = scheduled_images(images, index, {0: made})
        report = check_images(changed)
        assert report.ok, report.render()
        others = [one for one in images.promises if one.operator != index]
        assert others == [one for one in changed.promises if one.operator != index and one in others]


@pytest.mark.parametrize("size", [(3, 2), (3, 3)])
def test_made_streams_touch_no_buffer(size: tuple[int, ...]) -> None:
    """So turns at a buffer are as far apart as in the compiled schedule, which has been judged."""
    images = images_of(BESIDE, size, period=40)
    index = next(i for i, one in enumerate(images.operators) if one.label == "p")
    codes = Codes(images.shape)
    nodes = images.topology.nodes
    for seed in range(4):
        order = random.Random(seed).sample(range(nodes), nodes)
        made = schedule_moves(images, index, 0, tuple((a, b) for a, b in enumerate(order) if a != b))
        assert made.hops == 0
        kept = Standing.of(images, index, 0).kept
        for node, part in made.parts.items():
            before = {(r.pipeline, r.vfsm) for r in kept[node].annotations}
            fresh = {(r.pipeline, r.vfsm) for r in part.annotations} - before
            for r in part.annotations:
                ends = {
                    (r.pipeline, end - codes.first_buffer) for end in (r.annotation.source, r.annotation.destination)
                }
                assert not ends & fresh
        assert check_images(scheduled_images(images, index, {0: made})).ok


def test_an_operator_that_makes_its_schedule_shares_a_phase_only_when_asked() -> None:
    text = "(parallel (permute 'p (runtime) :m 5{}) (cshift 's 1 :b 0.1))"
    asked = images_of(text.format(" :impl 'sch_permute_runtime"), (2, 2), period=24)
    assert asked.operators[0].implementation == "sch_permute_runtime"
    assert images_of(text.format(""), (2, 2), period=24).operators[0].implementation == "dyn_permute"


def test_two_operators_that_make_schedules_do_not_share_a_phase() -> None:
    one = "(permute '{} (runtime) :m 5 :impl 'sch_permute_runtime)"
    with pytest.raises(PointsmanError, match="operators 'p' and 'q' both make their schedule at run time"):
        images_of(f"(parallel {one.format('p')} {one.format('q')})", (2, 2), period=24)
