"""Sizes and header of the packet router."""

from __future__ import annotations

import pytest

from packet_router.header import pack_header, source_of, tag_of
from packet_router.shape import RouterShape, ShapeError

WRONG = [
    ({"size": ()}, "size must be one to three numbers of nodes, not ()"),
    ({"size": [4, 4]}, "size must be one to three numbers of nodes, not [4, 4]"),
    ({"size": (4, 0)}, "nodes in a dimension must be at least 1, not 0"),
    ({"size": (4, 2.0)}, "size must be an integer, not 2.0"),
    ({"size": (128, 64)}, "coordinates must fit 12 bits of the header, not 7 + 6 for 128x64"),
    ({"torus": 1}, "torus must be true or false, not 1"),
    ({"routing": "xy"}, "routing must be e-cube, adaptive or up-down, not 'xy'"),
    ({"routing": "up-down"}, "routing up-down and a graph must be given together"),
    ({"size": (2,), "graph": ((0, 1),)}, "routing up-down and a graph must be given together"),
    (
        {"size": (2, 2), "routing": "up-down", "graph": ()},
        "a graph must have its number of nodes as size, and be no torus",
    ),
    ({"size": (65,), "routing": "up-down", "graph": ()}, "a graph must have at most 64 nodes, not 65"),
    ({"size": (2,), "routing": "up-down", "graph": [(0, 1)]}, "a graph must be a tuple of links, not [(0, 1)]"),
    ({"size": (2,), "routing": "up-down", "graph": ((0, 2),)}, "a link must join two nodes 0 to 1, not (0, 2)"),
    ({"size": (2,), "routing": "up-down", "graph": ((1, 1),)}, "a link must not join node 1 to itself"),
    (
        {"size": (4,), "routing": "up-down", "graph": ((0, 1), (2, 3))},
        "a graph must be connected: no links lead from node 0 to node 2",
    ),
    (
        {"size": (10,), "routing": "up-down", "graph": tuple((0, n) for n in range(1, 10))},
        "a node must have at most 8 links, not 9",
    ),
    (
        {"size": (2,), "routing": "up-down", "graph": ((0, 1),), "channels": 2},
        "channels must be 1 for up-down, not 2",
    ),
    ({"channels": 2}, "channels must be 1 for e-cube on a mesh, not 2"),
    ({"channels": 1, "torus": True}, "channels must be 2 for e-cube on a torus, not 1"),
    ({"channels": 1, "routing": "adaptive"}, "channels must be 2 to 8 for adaptive routing, not 1"),
    ({"channels": 9, "routing": "adaptive"}, "channels must be 2 to 8 for adaptive routing, not 9"),
    ({"buffer": 6}, "buffer must be a power of two from 2 to 64, not 6"),
    ({"addresses": 32}, "addresses must be a power of two from 2 to 16, not 32"),
    ({"queue": True}, "queue must be an integer, not True"),
    ({"width": 16}, "width must be 32 to 64 bits, not 16"),
]


@pytest.mark.parametrize(("sizes", "message"), WRONG, ids=[message[:40] for _, message in WRONG])
def test_sizes_that_cannot_be_are_refused(sizes, message):
    with pytest.raises(ShapeError) as error:
        RouterShape(**sizes)
    assert str(error.value) == message


def test_channels_follow_the_routing():
    assert RouterShape().lanes == 1
    assert RouterShape(torus=True).lanes == 2
    assert RouterShape(routing="adaptive").lanes == 5


def test_header_holds_place_address_and_source():
    shape = RouterShape(size=(5, 3, 2))
    word = pack_header(shape, 29, 7, source=13, any_way=True, tag=5)
    assert word & 0xFFF == 4 | 2 << 3 | 1 << 5
    assert (word >> 12 & 15, source_of(word), word >> 28 & 1, tag_of(word)) == (7, 13, 1, 5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((16, 1), "destination must be a node 0 to 15, not 16"),
        ((0, 0), "interface address must be 1 to 15, not 0"),
        ((0, 16), "interface address must be 1 to 15, not 16"),
    ],
)
def test_headers_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        pack_header(RouterShape(), *arguments)
