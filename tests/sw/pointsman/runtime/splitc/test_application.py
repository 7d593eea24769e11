"""Applications of Split-C: what is left under way at the end of ``splitc_main`` still arrives."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
import pytest

import pointsman
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime.splitc import SplitC, SplitCApplication

from .programs import application, run


def test_what_is_under_way_at_the_end_of_splitc_main_still_arrives() -> None:
    memories: dict[int, Any] = {}

    async def main(s: SplitC) -> None:
        cell = await s.all_spread_allocate(2 * s.PROCS, np.int32)
        other = s.store_counter()
        await s.put(cell + (s.MYPROC + 1) % s.PROCS, 7)
        await s.store(cell + s.PROCS + (s.MYPROC + 2) % s.PROCS, 9, other)
        memories[s.MYPROC] = s.memory.view(cell.addr, 2, np.int32)

    for machine in ("example", "cm5,delay=3000"):
        run(main, 4, machine)
        assert [memories[p].tolist() for p in range(4)] == [[7, 9]] * 4


def test_splitc_main_must_be_a_coroutine_and_buffers_have_a_size_on_the_abstract_machine_too() -> None:
    kind = type("Plain", (SplitCApplication,), {"splitc_main": lambda self, splitc: 3})
    with pytest.raises(PointsmanError, match=r"Plain\.splitc_main must give a coroutine, not int"):
        pointsman.run(kind(argparse.Namespace(), mesh(2)), target="logp")

    async def main(s: SplitC) -> None:
        return None

    with pytest.raises(PointsmanError, match="room for 1 to 255 requests of each other, not 0"):
        run(main, 2, window=0)


def test_each_application_has_memory_of_its_own_size() -> None:
    async def main(s: SplitC) -> int:
        return s.memory.size

    assert run(main, 2, memory_bytes=1 << 16).record.results == [1 << 16] * 2
    assert application(main, 2).check([]) == "the application checks nothing"
