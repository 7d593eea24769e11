"""Runs of applications on a LogP machine: their answers, messages and speed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from cosim.logp.parameters import LogpParameters
from cosim.logp.session import run_logp_application
from pointsman.network import mesh
from pointsman.runtime import WrongAnswer
from pointsman.runtime.splitc import SplitC, SplitCApplication


class Asks(SplitCApplication):
    async def splitc_main(self, s: SplitC) -> int:
        cell = await s.all_spread_allocate(s.PROCS, np.int32)
        await s.write(cell + (s.MYPROC + 1) % s.PROCS, s.MYPROC)
        await s.barrier()
        return int(await s.read(cell + s.MYPROC))

    def check(self, results: Sequence[Any]) -> str:
        if list(results) != [(p - 1) % len(results) for p in range(len(results))]:
            raise WrongAnswer("wrong neighbours")
        return "neighbours"


def test_an_answer_is_right_or_wrong() -> None:
    done = run_logp_application(Asks(argparse.Namespace(), mesh(3)), mesh(3), LogpParameters())
    assert (done.correct, done.answer) == (True, "neighbours")
    assert done.messages == done.record.accesses[:, 0].sum() == done.record.accesses[:, 1].sum()


class Wrong(Asks):
    def check(self, results: Sequence[Any]) -> str:
        raise WrongAnswer("no")


def test_a_wrong_answer_is_told() -> None:
    done = run_logp_application(Wrong(argparse.Namespace(), mesh(2)), mesh(2), LogpParameters())
    assert (done.correct, done.answer) == (False, "no")


class Many(SplitCApplication):
    async def splitc_main(self, s: SplitC) -> None:
        base = await s.all_spread_allocate(20_000 * s.PROCS, np.int32)
        rng = np.random.default_rng(s.MYPROC)
        for _ in range(5):
            await s.store_many(base, rng.integers(0, 20_000 * s.PROCS, 20_000), np.arange(20_000, dtype=np.int32))
            await s.all_store_sync()


@pytest.mark.slow
def test_a_million_stores_take_less_than_a_second_of_processor_time() -> None:
    from time import process_time

    started = process_time()
    done = run_logp_application(Many(argparse.Namespace(), mesh(16)), mesh(16), LogpParameters())
    assert done.messages / (process_time() - started) > 1_000_000
