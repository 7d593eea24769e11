"""Streams that make no sense, each with what is said about it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.routing.errors import RoutingError
from pointsman.routing.streams import Stream
from pointsman.routing.validation import validate

GOOD = Stream("s", 0, (3,))
ROW = mesh(4)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"destinations": ()}, "it has no destination"),
        ({"destinations": (1, 1)}, "a destination is named twice"),
        ({"destinations": (4,)}, r"node 4 is outside the network \(0..3\)"),
        ({"weight": float("nan")}, "its weight must be a positive number, not nan"),
        ({"chains": 0}, "it must have at least one chain, not 0"),
        ({"max_words": 0}, "it must be allowed at least one word per period, not 0"),
        ({"keep_in": frozenset({0, 1})}, "node 3 is outside the nodes that it may use"),
        ({"path": (0, 1, 2, 3), "tree": ((0, 1),)}, "it has both a path and a tree"),
        ({"path": (0, 1)}, "its path must lead from its source to its last destination"),
        ({"path": (0, 1, 3)}, "its path goes from node 1 to node 3, which are not adjacent"),
        ({"path": (0, 1, 0, 1, 2, 3)}, "its path passes a node twice"),
        ({"path": (0, 1, 2, 3), "destinations": (3, 2)}, None),
        ({"tree": ((1, 2),)}, "its tree goes on from node 1, which it has not reached"),
        ({"tree": ((0, 1), (1, 0))}, "its tree reaches node 0 twice"),
        ({"tree": ((0, 1), (1, 2))}, "its tree misses destination 3"),
        ({"tree": ((0, 1), (1, 2), (2, 3))}, None),
    ],
)
def test_a_stream_is_refused_with_what_is_wrong(changes: dict[str, object], said: str | None) -> None:
    stream = replace(GOOD, **changes)  # type: ignore[arg-type]
    if said is None:
        validate([stream], ROW, NodeShape(), 8, (), 1.0)
        return
    with pytest.raises(RoutingError, match=f"^stream s: {said}$"):
        validate([stream], ROW, NodeShape(), 8, (), 1.0)


def test_what_is_wrong_with_the_phase_as_a_whole() -> None:
    with pytest.raises(RoutingError, match="two streams are called s"):
        validate([GOOD, GOOD], ROW, NodeShape(), 8, (), 1.0)
    with pytest.raises(RoutingError, match="at least 2 slots, not 1"):
        validate([GOOD], ROW, NodeShape(), 1, (), 1.0)
    with pytest.raises(RoutingError, match="effort must be a positive number, not inf"):
        validate([GOOD], ROW, NodeShape(), 8, (), float("inf"))
    with pytest.raises(RoutingError, match="there is no link at port 0 of node 0 in slot 8 to be forbidden"):
        validate([GOOD], ROW, NodeShape(), 8, [(0, 0, 8)], 1.0)
    with pytest.raises(RoutingError, match="the topology needs 6 neighbour ports, the shape has 4"):
        validate([], mesh(3, 3, 3), NodeShape(), 8, (), 1.0)
