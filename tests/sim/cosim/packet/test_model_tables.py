"""Steps of the cycle model are the ways of the hardware, and links lead back."""

from __future__ import annotations

import pytest

from cosim.packet.model_tables import CHANNEL, FAR_NODE, FIELD, HOPS, stations, step_table
from packet_router.routing import ways
from packet_router.shape import RouterShape

RING = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 3))
SHAPES = [
    RouterShape(size=(1,)),
    RouterShape(size=(5, 3), routing="adaptive"),
    RouterShape(size=(4, 5, 2), torus=True, routing="adaptive"),
    RouterShape(size=(5,), routing="up-down", graph=RING),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_steps_are_ways(shape: RouterShape) -> None:
    table = step_table(shape)
    for here in map(shape.place, range(shape.nodes)):
        for there in map(shape.place, range(shape.nodes)):
            steps = [int(table[d, here[d], there[d]]) for d in range(shape.dimensions)]
            steps = [step for step in steps if step]
            way = ways(shape, here, there)
            if way is None:
                assert not steps
                continue
            assert (steps[0] & FIELD, steps[0] >> CHANNEL & FIELD) == way.escape
            if way.adaptive:
                assert tuple(s & FIELD for s in sorted(steps, key=lambda s: -(s >> HOPS))) == way.adaptive


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_link_of_a_link_is_itself(shape: RouterShape) -> None:
    s = stations(shape)
    for link, end in enumerate(s.ends_of):
        if end[FAR_NODE] >= 0:
            back = int(end[1]) // shape.lanes
            assert s.ends_of[back, FAR_NODE] == link // shape.ports
            assert s.ends_of[back, 1] == link * shape.lanes
