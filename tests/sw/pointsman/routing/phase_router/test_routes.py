"""What a route occupies."""

from __future__ import annotations

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.phase_router.problem import split
from pointsman.routing.phase_router.routes import Footprint, NodeVisit, Route
from pointsman.routing.streams import Stream

((PART, _),) = split([Stream("s", 0, (1, 2))], mesh(3), NodeShape(), ())
FORTH, ON = PART.links.index((0, 1)), PART.links.index((1, 2))
ROUTE = Route(
    PART.demands[0],
    (
        NodeVisit(0, -1, -1, 0, 0, 0, (FORTH,), False),
        NodeVisit(1, 0, FORTH, 1, 1, 3, (ON,), True),  # waits three slots, sends on, then delivers
        NodeVisit(2, 1, ON, 0, 5, 0, (), True),
    ),
)


def test_a_wait_a_leg_and_a_delivery_take_a_slot_each() -> None:
    assert ROUTE.cells == ((0, 0, 0), (1, 1, 1), (1, 1, 4), (1, 1, 5), (2, 0, 5))
    assert ROUTE.writes == ((FORTH, 0), (ON, 4))
    assert ROUTE.reads_interface == ((0, 0, 0),)
    assert ROUTE.delivers == ((1, 1, 5), (2, 0, 5))


def test_a_footprint_turns_round_the_period_with_the_start() -> None:
    marks = Footprint(ROUTE, pipelines=2, slots=6)
    for start in range(6):
        cells = {divmod(cell, 6) for cell in marks.cells[start]}
        assert cells == {(2 * node + pipeline, (slot + start) % 6) for node, pipeline, slot in ROUTE.cells}
        assert [cell % 6 for cell in marks.delivers[start]] == [(5 + start) % 6, (5 + start) % 6]
    assert marks.counts == [0, 3, 3, 3, 4]
