"""Images of routes alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.codes import MoveType
from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.errors import RoutingError
from pointsman.routing.route_images import route_images
from pointsman.routing.streams import Place, RoutedChain, RoutedPhase, RoutedVfsm, Stream
from pointsman.verify.images import check_images

PORT = next(iter(mesh(2).at_port[0]))
BACK = next(iter(mesh(2).at_port[1]))


def chain(number: int, slot: int) -> RoutedChain:
    return RoutedChain(
        0,
        number,
        (
            RoutedVfsm(0, 0, 2 + number, MoveType.MOVE, Place("inject"), Place("link", PORT), (slot,), -1),
            RoutedVfsm(1, 1, 2 + number, MoveType.MOVE, Place("link", BACK), Place("deliver"), (slot + 1,), 0),
        ),
    )


ROUTED = RoutedPhase(NodeShape(), mesh(2), 8, (Stream("s", 0, (1,), chains=2),), (chain(0, 1), chain(1, 4)))


def test_every_chain_has_a_register_of_its_own_at_either_end_and_the_judge_agrees() -> None:
    images = route_images(ROUTED)
    assert check_images(images).ok
    first = ROUTED.shape.pipelines
    assert [(promise.register, promise.destinations) for promise in images.promises] == [
        (first, ((1, first),)),
        (first + 1, ((1, first + 1),)),
    ]


def test_a_word_that_is_sent_to_another_slot_is_found_by_the_judge() -> None:
    one = chain(0, 1)
    late = replace(one, vfsms=(one.vfsms[0], one.vfsms[1]._replace(slots=(1,))))
    assert not check_images(route_images(replace(ROUTED, chains=(late, chain(1, 4))))).ok


def test_more_chains_than_registers_are_refused() -> None:
    few = replace(ROUTED, shape=NodeShape(registers=2, pipelines=2))
    with pytest.raises(RoutingError, match="node 0 has too few interface registers"):
        route_images(few)
