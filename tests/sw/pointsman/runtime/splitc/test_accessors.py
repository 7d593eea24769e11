"""Handlers for many messages do what the handlers for each do."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.runtime.splitc.accessors import SplitCState, scatter, splitc_handlers
from pointsman.runtime.splitc.memory import CODE_BYTES, Memory


@pytest.mark.parametrize(("size", "firsts"), [(4, [0, 8, 4, 0]), (64, [0, 64, 128]), (64, [128, 0, 300]), (8, [])])
def test_pieces_go_where_they_would_go_one_by_one(size: int, firsts: list[int]) -> None:
    addrs = np.array(firsts, np.int64) + CODE_BYTES
    data = np.random.default_rng(0).integers(0, 255, size * len(firsts), np.uint8).tobytes()
    one, other = Memory(0, 1 << 16), Memory(0, 1 << 16)
    scatter(one, addrs, data, size)
    for k, addr in enumerate(addrs.tolist()):
        other.raw[addr : addr + size] = data[k * size : (k + 1) * size]
    assert (one.bytes == other.bytes).all()


def test_stores_are_counted_the_same_in_a_batch() -> None:
    handlers = splitc_handlers()
    number = handlers.numbered("store", reply=False)
    states = [SplitCState(Memory(0, 1 << 16), {}) for _ in range(2)]
    for state in states:
        state.store_counter()
    addrs = np.array([8, 0, 4]) + CODE_BYTES
    data = bytes(range(12))
    batch = handlers.batches[number]
    assert batch is not None
    batch(states[0], 1, addrs, (0,), data, 4)
    for k, addr in enumerate(addrs.tolist()):
        handlers.functions[number](states[1], 1, (addr, 0), data[4 * k : 4 * k + 4])
    assert states[0].stores[0].received == states[1].stores[0].received == 12
    assert (states[0].memory.bytes == states[1].memory.bytes).all()
