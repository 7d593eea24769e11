"""Compiling with fewer searches for cyclic garbage.

A compilation makes very many small objects and hardly any reference cycles: dropped objects are freed at once by their reference
count. Python's collector, which looks for cycles after every 700 new objects, takes a third of the time, for images half; and
once a plan is made, a tenth to look through the half million objects that it is made of.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import ParamSpec, TypeVar

OBJECTS = 2_000_000
"""New objects after which the collector looks for cycles, in a decorated call or after several of them."""

Taken = ParamSpec("Taken")
Given = TypeVar("Given")

_lock = Lock()
_before: list[tuple[int, int, int]] = []
"""For each decorated call under way, the thresholds from before the first of these calls."""
_put_by = [0, 0]
"""How often the collector had looked through all objects, and the number of objects that decorated calls have left since."""


def seldom_collected(function: Callable[Taken, Given]) -> Callable[Taken, Given]:
    """Decorator: during calls of the function the collector looks for cycles after ``OBJECTS`` new objects, unless it
    is off or has a higher threshold. Calls may be nested, and in several threads; when the last ends, the thresholds
    from before the first are restored, and the objects that the calls have left are not looked through before there are
    ``OBJECTS`` of them."""

    @wraps(function)
    def called(*args: Taken.args, **named: Taken.kwargs) -> Given:
        with _lock:
            now = gc.get_threshold()
            _before.append(_before[0] if _before else now)
            if now[0]:
                gc.set_threshold(max(OBJECTS, now[0]), *now[1:])
        try:
            return function(*args, **named)
        finally:
            with _lock:
                before = _before.pop()
                if not _before:
                    _put_objects_by(before)
                    gc.set_threshold(*before)

    return called


def _put_objects_by(before: tuple[int, int, int]) -> None:
    """Put new objects among the old ones, which the collector looks through only when it looks through all; without this it would
    look through them at once, as soon as its thresholds are those from ``before``."""
    new = gc.get_count()[0]
    if new <= before[0] or not before[0] or not gc.isenabled():
        return
    times = gc.get_stats()[-1]["collections"]
    if times != _put_by[0]:
        _put_by[:] = times, 0
    _put_by[1] += new
    if _put_by[1] >= OBJECTS:
        gc.collect()
    elif gc.get_freeze_count() == 0:  # else objects that somebody has frozen would thaw
        gc.freeze()
        gc.unfreeze()
