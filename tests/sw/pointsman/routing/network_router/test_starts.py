"""How far apart the words of a chain must start on its route."""

from __future__ import annotations

import numpy as np

from numesh.codes import SHORTEST_RETURN
from pointsman.routing.network_router.arrays import BUFFER, DELIVER, INJECT, LINK
from pointsman.routing.network_router.starts import own_gap


def test_a_word_keeps_a_vfsm_busy_for_two_slots() -> None:
    ops = np.array([[0, 0, 0, INJECT, LINK, -1], [2, 1, -1, LINK, DELIVER, 0]], np.int32)
    assert own_gap(ops) == 2


def test_a_wait_keeps_the_buffer_busy() -> None:
    ops = np.array([[0, 0, 0, INJECT, LINK, -1], [2, 1, -1, LINK, BUFFER, 0], [2, 6, -1, BUFFER, DELIVER, 1]], np.int32)
    assert own_gap(ops) == 5 + SHORTEST_RETURN
