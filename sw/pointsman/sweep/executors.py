"""Where cases run: in a pool of processes on this machine, or on the workers of a dask scheduler.

Both give each case that has ended, in any order, with its status or the exception that stood in its way.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from typing import Any

from pointsman.errors import PointsmanError

from .cases import SweptCase

Ended = tuple[SweptCase, str | BaseException]
Work = Callable[[SweptCase], str]
MOST_PROCESSES = 512


def ended_cases(cases: Sequence[SweptCase], work: Work, on: str) -> Iterator[Ended]:
    """Run all cases; give each as it ends.

    Parameters
    ----------
    work : function
        Of a module, so that other processes find it.
    on : str
        "pool" (a process a core), "pool:N" (N processes), or "dask:ADDRESS" (of a scheduler, for instance
        "dask:tcp://10.0.0.1:8786", or of a scheduler file that ends in .json).

    Raises
    ------
    PointsmanError
        If ``on`` is none of these, dask is not installed, or the scheduler does not answer.
    """
    check_place(on)
    kind, colon, rest = on.partition(":")
    if kind == "dask":
        return _on_dask(cases, work, rest)
    return _on_pool(cases, work, int(rest) if colon else len(os.sched_getaffinity(0)))


def check_place(on: str) -> None:
    """Refuse a place where no cases can run, before anything is made for them; see `ended_cases`.

    Raises
    ------
    PointsmanError
        If it is no place that there could be.
    """
    kind, colon, rest = on.partition(":")
    if kind == "dask" and rest:
        return
    if kind == "pool" and (not colon or (rest.isascii() and rest.isdigit() and 1 <= int(rest) <= MOST_PROCESSES)):
        return
    raise PointsmanError(
        f"cases run on pool, pool:N with 1 to {MOST_PROCESSES} processes, or dask:ADDRESS, not on {on!r}",
        hint="for instance --on pool:4, or --on dask:tcp://127.0.0.1:8786",
    )


def _on_pool(cases: Sequence[SweptCase], work: Work, processes: int) -> Iterator[Ended]:
    """A process that dies breaks the pool, and which case killed it is not known: those that were running are run again alone,
    each in a pool of its own."""
    waiting, suspects = deque(cases), deque[SweptCase]()
    while waiting or suspects:
        alone = bool(suspects)
        source = deque([suspects.popleft()]) if alone else waiting
        running: dict[Future[str], SweptCase] = {}
        broken = False
        with ProcessPoolExecutor(1 if alone else processes, mp_context=get_context("spawn")) as pool:
            while (source or running) and not broken:
                try:
                    while source and len(running) < processes:
                        running[pool.submit(work, source[0])] = source[0]
                        source.popleft()
                    done = wait(running, return_when=FIRST_COMPLETED).done
                except BrokenProcessPool:  # a process has died since the last case ended
                    done, broken = set(), True
                for future in done:
                    raised = future.exception()
                    if isinstance(raised, BrokenProcessPool):
                        broken = True
                    else:
                        yield running.pop(future), future.result() if raised is None else raised
        if broken and alone:
            yield from ((case, RuntimeError("its process was killed")) for case in running.values())
            suspects.extend(source)
        elif broken:
            suspects.extend(running.values())


def _on_dask(cases: Sequence[SweptCase], work: Work, address: str) -> Iterator[Ended]:
    """Whose worker dies is given to another by the scheduler; after a few deaths the case is given up (`KilledWorker`)."""
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise PointsmanError("dask.distributed is not installed", hint='pip install "pointsman[cluster]"') from None
    where: dict[str, Any] = {"scheduler_file": address} if address.endswith(".json") else {"address": address}
    try:
        client = Client(**where, timeout="10s", set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise PointsmanError(
            f"no dask scheduler answers at {address}: {error}",
            hint="start it with: dask scheduler; dask worker ADDRESS",
        ) from None
    with client:
        futures = {client.submit(work, case, key=f"pointsman-{case.key}", pure=False): case for case in cases}
        for future in as_completed(futures, loop=client.loop):
            raised = future.exception()
            yield futures[future], future.result() if raised is None else raised


def work_in(folder: str, run: Callable[[str, SweptCase], str]) -> Work:
    """The work on cases whose records are in ``folder``."""
    return partial(run, folder)
