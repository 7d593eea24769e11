"""Plan -> Images: numbers stay within the hardware, and what the plan says stands in the images."""

from __future__ import annotations

from pointsman.plan.plan import Plan
from pointsman.targets.numesh.images import make_images, most_load_cycles


def test_images_have_what_the_plan_has(small_plan: Plan) -> None:
    plan, images = small_plan, make_images(small_plan)
    assert (images.name, images.period, images.topology) == (plan.name, plan.period, plan.topology)
    assert [phase.name for phase in images.phases] == [phase.name for phase in plan.phases]
    assert [phase.technique for phase in images.phases] == [phase.technique for phase in plan.phases]
    inner = {phase.barrier for phase in images.phases}
    assert [one.label for i, one in enumerate(images.operators) if i not in inner] == ["b", "c"]


def test_every_written_register_has_a_promise(small_plan: Plan) -> None:
    images = make_images(small_plan)
    for index, operator in enumerate(images.operators):
        written = {
            (number, register)
            for number, node in enumerate(images.nodes)
            for role in (dict(node.operators)[index].roles if index in dict(node.operators) else ())
            for lane in role.lanes
            if lane.write
            for register in lane.registers
        }
        promised = {(one.source, one.register) for one in images.promises if one.operator == index}
        assert written == promised, operator.label


def test_the_time_to_load_covers_the_largest_schedule(small_plan: Plan) -> None:
    images = make_images(small_plan)
    assert all(most_load_cycles(images, phase) > 2 * images.period for phase in range(len(images.phases)))
