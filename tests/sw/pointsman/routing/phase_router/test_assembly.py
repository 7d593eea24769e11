"""Chains as the rest of the compiler reads them."""

from __future__ import annotations

from numesh.codes import MoveType
from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.phase_router.assembly import assemble
from pointsman.routing.phase_router.problem import split
from pointsman.routing.phase_router.routes import Chain, NodeVisit, Route
from pointsman.routing.streams import Stream


def test_a_wait_is_a_vfsm_and_a_fork_goes_on_from_the_leg_before() -> None:
    streams = [Stream("s", 0, (1, 2), chains=2)]
    ((part, site),) = split(streams, mesh(3), NodeShape(), ())
    forth, on = part.links.index((0, 1)), part.links.index((1, 2))
    route = Route(
        part.demands[0],
        (
            NodeVisit(0, -1, -1, 0, 0, 0, (forth,), False),
            NodeVisit(1, 0, forth, 0, 1, 2, (on,), True),
            NodeVisit(2, 1, on, 1, 4, 0, (), True),
        ),
    )
    first, second = assemble(
        streams, mesh(3), NodeShape(), 8, [(site, part, [Chain(0, route, (6,)), Chain(0, route, (2, 0))])]
    )
    assert [(vfsm.node, vfsm.number, vfsm.slots, vfsm.parent) for vfsm in first.vfsms] == [
        (0, 2, (6,), -1),
        (1, 2, (7,), 0),
        (1, 3, (1,), 1),
        (1, 4, (2,), 2),
        (2, 2, (2,), 2),
    ]
    assert [vfsm.type for vfsm in first.vfsms] == [
        MoveType.MOVE,
        MoveType.MOVE,
        MoveType.MOVE,
        MoveType.FORK,
        MoveType.MOVE,
    ]
    assert first.vfsms[1].destination == first.vfsms[2].source
    assert first.vfsms[3].source == first.vfsms[2].destination
    assert (second.chain, second.words) == (1, 2)
    assert second.vfsms[0].slots == (0, 2)
    assert second.vfsms[0].number == 3, "numbers go on from chain to chain"
