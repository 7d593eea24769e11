"""Room for one route: large enough for the walk, and bounded."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.routing.network_router import arrays
from pointsman.routing.network_router.arrays import make_scratch


@pytest.mark.parametrize(("nodes", "links", "hops"), [(1, 0, 0), (4, 8, 3), (16, 48, 9)])
def test_there_is_room_for_every_node_with_every_number_of_hops_left(nodes: int, links: int, hops: int) -> None:
    room = make_scratch(nodes, links, hops, 2, 8)
    assert len(room.node) >= nodes * (hops + 1)
    assert len(room.links) >= links * (hops + 1)
    assert len(room.first) == len(room.node) + 1
    assert len(room.place) >= max(len(room.node), nodes + 1)
    assert room.onset.shape[1] == room.waiting.shape[1] == 2
    assert room.waiting.shape[2] == room.choice.shape[1] == len(room.cost) == 8
    assert all(table.dtype == np.int32 and not table.any() for table in room)


def test_large_networks_do_not_get_room_without_end() -> None:
    room = make_scratch(4096, 16384, 500, 1, 1)
    assert len(room.node) == arrays.MOST_STATES + 2
    assert len(room.links) <= 8 * arrays.MOST_STATES + 2


def test_kinds_of_ends_and_places_of_numbers_are_all_different() -> None:
    for names in ("INJECT LINK BUFFER FORK DELIVER", "GAIN_PRICE GAIN_HISTORY GAIN_HIGHEST GAIN_LOAD"):
        values = [getattr(arrays, name) for name in names.split()]
        assert values == list(range(len(values)))
    assert arrays.FEWEST_WAIT <= arrays.LONGEST_WAIT
    assert arrays.NEVER * 4 < 1 << 31, "costs that may not be are added up in 32 bits"
