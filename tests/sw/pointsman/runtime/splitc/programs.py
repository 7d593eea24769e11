"""Split-C programs for tests: functions as applications, and the random programs of ``semantics`` on the library."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from cosim.logp.parameters import logp_named
from cosim.logp.session import LogpRun, run_logp_application
from pointsman.network import mesh
from pointsman.runtime.splitc import SplitC, SplitCApplication, SpreadPointer

from .semantics import Op

Main = Callable[[SplitC], Any]


def application(main: Main, procs: int, **attributes: Any) -> SplitCApplication:
    """An application whose ``splitc_main`` is a function."""

    async def splitc_main(self: SplitCApplication, splitc: SplitC) -> Any:
        return await main(splitc)

    kind = type("Made", (SplitCApplication,), {"splitc_main": splitc_main, **attributes})
    made: SplitCApplication = kind(argparse.Namespace(), mesh(procs))
    return made


def run(main: Main, procs: int, machine: str = "example", **attributes: Any) -> LogpRun:
    """A function as ``splitc_main`` on a LogP machine."""
    return run_logp_application(
        application(main, procs, **attributes), mesh(procs), logp_named(machine), max_cycles=3_000_000
    )


def results(main: Main, procs: int, machine: str = "example", **attributes: Any) -> list[Any]:
    """What each processor's ``splitc_main`` gives."""
    return run(main, procs, machine, **attributes).record.results


def random_main(programs: list[list[Op]], cells: int, registers: int) -> Main:
    """The random programs, on the library; a processor gives its own cells and its registers."""

    async def main(s: SplitC) -> Any:
        base: SpreadPointer = await s.all_spread_allocate(cells, np.int32)
        own = s.allocate(registers, np.int32)
        mine = s.local(own, registers)
        for op in programs[s.MYPROC]:
            match op:
                case ("put", cell, value):
                    await s.put(base + cell, value)
                case ("store", cell, value):
                    await s.store(base + cell, value)
                case ("write", cell, value):
                    await s.write(base + cell, value)
                case ("get", cell, register):
                    await s.get(base + cell, own + register)
                case ("read", cell, register):
                    mine[register] = await s.read(base + cell)
                case ("add", cell, value, register):
                    mine[register] = await s.fetch_add(base + cell, value)
                case ("sync",):
                    await s.sync()
                case ("barrier",):
                    await s.barrier()
                case ("all_store_sync",):
                    await s.all_store_sync()
        await s.sync()
        await s.all_store_sync()
        return [int(await s.read(base + cell)) for cell in range(cells)], mine.tolist()

    return main


def ended(found: list[Any]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Results of `random_main` as an end of `semantics.outcomes`."""
    return tuple(found[0][0]), tuple(value for _, values in found for value in values)
