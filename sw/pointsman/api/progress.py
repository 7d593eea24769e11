"""What a command is busy with, as lines on standard error: the first after two seconds, then ever more rarely.

For people who look at a pipe or a log. A terminal gets bars from builds and runs; steps that have none are told there too.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

MARK = "… "
"""Beginning of each line."""
PAUSES = (2.0, 5.0, 10.0, 20.0)
"""Seconds before the first line, and between lines; the last pause repeats."""


@contextmanager
def telling(what: str, *, has_bar: bool = False) -> Iterator[Callable[[str], None]]:
    """While the block runs, say now and then what is being done, if there is a standard error to say it to.

    Parameters
    ----------
    what : str
        The work, as in "planning ring".
    has_bar : bool
        The work shows its own progress on a terminal; here is silence then.

    Yields
    ------
    callable
        Takes a text for the next lines, in the place of ``what``.
    """
    if sys.stderr is None or (has_bar and sys.stderr.isatty()):
        yield lambda text: None
        return
    said, done, began, stream = [what], threading.Event(), monotonic(), sys.stderr

    def tell() -> None:
        pauses = iter(PAUSES)
        while not done.wait(next(pauses, PAUSES[-1])):
            why = " (compiling kernels, once)" if _is_compiling() else ""
            print(f"{MARK}{said[0]}, {monotonic() - began:.0f} s so far{why}", file=stream, flush=True)

    def say(text: str) -> None:
        said[0] = text

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield say
    finally:
        done.set()
        teller.join()


def _is_compiling() -> bool:
    """Is a kernel being compiled? Whoever has not imported ``kernels``, which imports Numba, compiles none."""
    kernels = sys.modules.get("pointsman.kernels")
    return kernels is not None and kernels.is_compiling()
