"""The heap against a naive account of it, and accesses that are not there."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.runtime.splitc import AccessError
from pointsman.runtime.splitc.memory import CODE_BYTES, Memory, packed


def test_blocks_of_the_heap_never_overlap_and_all_of_it_comes_back() -> None:
    rng = random.Random(3)
    memory = Memory(0, 1 << 16)
    live: dict[int, int] = {}
    for _ in range(600):
        if live and rng.random() < 0.5:
            addr = rng.choice(list(live))
            memory.free(addr)
            del live[addr]
            continue
        size = rng.randint(0, 900)
        try:
            addr = memory.allocate(size)
        except PointsmanError:
            continue
        assert addr % 8 == 0
        assert addr >= CODE_BYTES
        assert addr + size <= memory.spread_start
        assert all(addr + max(size, 1) <= other or other + room <= addr for other, room in live.items())
        assert not memory.view(addr, size, np.uint8).any()
        memory.view(addr, size, np.uint8)[:] = 255
        live[addr] = max(size, 1)
    for addr in live:
        memory.free(addr)
    assert memory.free_blocks == [(CODE_BYTES, memory.spread_start - CODE_BYTES)]


def test_the_spread_segment_grows_and_shrinks_at_its_end() -> None:
    memory = Memory(2, 1 << 16)
    one, two = memory.grow_spread(10), memory.grow_spread(16)
    assert two == one + 16
    with pytest.raises(AccessError, match="not the newest block of its spread segment"):
        memory.shrink_spread(one)
    memory.shrink_spread(two)
    assert memory.grow_spread(1) == two
    with pytest.raises(PointsmanError, match="processor 2 has no 65536 bytes left in its spread segment"):
        memory.grow_spread(65536)


def test_wrong_accesses_and_frees_are_errors() -> None:
    memory = Memory(2, 1 << 16)
    addr = memory.allocate(8)
    memory.free(addr)
    with pytest.raises(AccessError, match=f"processor 2 frees address {addr:#x}, where no block begins"):
        memory.free(addr)
    with pytest.raises(PointsmanError, match="objects are counted by whole numbers, 0 or more, not -1"):
        memory.view(addr, -1, np.int32)
    with pytest.raises(AccessError, match="address 0xfffc \\(8 bytes\\), outside"):
        memory.view(65532, 2, np.int32)
    with pytest.raises(PointsmanError, match="has no 100000 bytes left in its heap"):
        memory.allocate(100000)
    with pytest.raises(PointsmanError, match="a block must have 0 bytes or more"):
        memory.allocate(-1)
    sizes: tuple[Any, ...] = (100, 40001, 1 << 31, "big", 65536.0)
    for size in sizes:
        with pytest.raises(PointsmanError, match="a memory must have"):
            Memory(0, size)


@pytest.mark.parametrize("kind", ["i1", "u2", ">i4", "<u8", "f4", ">f8", "f2", "S3", "i4,f8", "c16"])
def test_values_become_the_bytes_that_numpy_makes_of_them(kind: str) -> None:
    value = (1, 2.5) if "," in kind else b"ab" if kind == "S3" else 1
    assert packed(np.dtype(kind), value) == np.array(value, kind).tobytes()
    with pytest.raises(PointsmanError, match=r"^'xxxΔ' is no "):
        packed(np.dtype(kind), "xxxΔ")
