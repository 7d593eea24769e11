"""Which streams have a place in an order, and when words would be written and read on an empty network."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.codes import ACCESS_TO_ACCESS
from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.phase_router.problem import split
from pointsman.routing.phase_router.turn_order import LONGEST, Order, in_order, is_in_turn, turns_of
from pointsman.routing.streams import Stream, Turn


def test_streams_of_other_kinds_are_in_no_order() -> None:
    turn = Turn("o", 1)
    assert is_in_turn(Stream("s", 0, (1,), max_words=1, turn=turn))
    assert not is_in_turn(Stream("s", 0, (1,), max_words=1))
    assert not is_in_turn(Stream("s", 0, (1,), turn=turn))
    assert not is_in_turn(Stream("s", 0, (1,), max_words=1, turn=turn, rewritten=True))


SHORT = Stream("a", 0, (1,), group="a", chains=2, message=2)
OTHER = Stream("b", 1, (0,), group="b", message=1, path=(1, 0))


def test_short_messages_of_several_operators_have_an_order() -> None:
    found = in_order([SHORT, OTHER])
    assert found is not None
    assert [(one.max_words, one.chains, one.path, one.turn) for one in found] == [
        (2, 1, None, Turn("a", 0, 2)),
        (1, 1, None, Turn("b", 0, 1)),
    ]
    assert all(map(is_in_turn, found))


@pytest.mark.parametrize(
    "other",
    [
        replace(OTHER, group="a"),  # all are of one operator
        replace(OTHER, message=0),
        replace(OTHER, message=LONGEST + 1),
        replace(OTHER, rewritten=True),
    ],
)
def test_other_streams_have_none(other: Stream) -> None:
    assert in_order([SHORT, other]) is None


def test_a_node_does_an_operator_after_those_before_it() -> None:
    """Node 0 writes two words to node 1, which then writes a word back, which node 0 reads before it writes once more."""
    streams = in_order([SHORT, OTHER, replace(SHORT, name="c", group="c", message=1)])
    assert streams is not None
    ((part, site),) = split(streams, mesh(2), NodeShape(), ())
    order = Order(part, turns_of(streams, site))
    first, back, again = (order.ideal[k] for k in order.sequence)
    assert first == 0
    assert back - first >= ACCESS_TO_ACCESS + 2
    assert again - back >= ACCESS_TO_ACCESS + 1
    assert order.shortest > again + ACCESS_TO_ACCESS
