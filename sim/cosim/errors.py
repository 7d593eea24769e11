"""Errors of programs in a simulated run, such as a deadlock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pointsman.errors import PointsmanError
from pointsman.runtime.api.left_out import Loaded
from pointsman.runtime.api.requests import Request

_LISTED = 8
"""Waiting processors that a message names; the error has them all."""


@dataclass(frozen=True)
class Waiting:
    """A processor that waits for its router.

    Parameters
    ----------
    node : int
        Its node.
    request : Request
        The request that is incomplete.
    writes, reads : tuple of int
        Interface registers that it waits for: to become empty so that it can write or go on, and to become full so
        that it can read. Both empty if conditions between its lanes hold every lane back.
    since : int
        Cycle since which none of its words has moved.
    """

    node: int
    request: Request
    writes: tuple[int, ...]
    reads: tuple[int, ...]
    since: int

    def __str__(self) -> str:
        parts = []
        if self.writes:
            parts.append(f"{_registers(self.writes)} to be emptied by the router")
        if self.reads:
            parts.append(f"a word in {_registers(self.reads)}")
        what = " or ".join(parts) if parts else "another of its own lanes"
        return f"node {self.node} has waited since cycle {self.since} for {what}"


class TooLongError(PointsmanError):
    """Programs are unfinished after as many cycles as they may take."""


class StuckError(PointsmanError):
    """A deadlock of nodes, with a report of who waits for whom. ``waits``: who waits, no more; ``loaded``: by number of a
    node, what it loaded before."""

    def __init__(self, message: str, *, waits: str, loaded: Mapping[int, Loaded], hint: str) -> None:
        super().__init__(message, hint=hint)
        self.waits = waits
        self.loaded = loaded


class DeadlockError(PointsmanError):
    """A deadlock: no processor can go on.

    Parameters
    ----------
    time : int
        Cycle in which the run was given up.
    quiet : int
        Cycles without any access before it.
    waiting : sequence of Waiting
        Every processor that has not finished.
    """

    def __init__(self, *, time: int, quiet: int, waiting: Sequence[Waiting]) -> None:
        self.time = time
        self.waiting = tuple(waiting)
        lines = [
            f"deadlock: in cycle {time} no processor has read or written for {quiet} cycles; {len(self.waiting)} wait"
        ]
        lines += [f"  {wait}" for wait in self.waiting[:_LISTED]]
        if len(self.waiting) > _LISTED:
            lines.append(f"  and {len(self.waiting) - _LISTED} more")
        super().__init__("\n".join(lines))


def _registers(numbers: tuple[int, ...]) -> str:
    if len(numbers) == 1:
        return f"register {numbers[0]}"
    return f"register {', '.join(map(str, numbers[:-1]))} or {numbers[-1]}"
