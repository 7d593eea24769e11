"""Interface between the functions of a COP program and the target that moves their words.

Above: ``operator_functions``, the same for every target: labels, argument checks, types, local copies. Below: a substrate for
each target (for example ``numesh``), which gives a ``Port`` for each operator at each node. A port is handed words to send,
and arrays for words received.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from pointsman.artifacts.images.images import IoKind
from pointsman.program.catalogue import OPERATORS

HERE, UNKNOWN = -2, -1
"""Run-time node numbers: HERE is the calling node itself, UNKNOWN a node it does not know (``:distributed``, ``:dynamic``)."""
CHOSEN = ("node", "distance")
"""Sorts of operands whose run-time values are listed; functions and permutations are not."""

Combine = Callable[[np.ndarray, np.ndarray, np.ndarray], None]
"""``combine(a, b, out)``: combine the words of an earlier and a later message into ``out``, which may be ``a`` or ``b``."""


class CycleClock(Protocol):
    """Where a node reads the time: cycles since reset, the same for all nodes (Metcalf 1997, §1.4.1)."""

    @property
    def time(self) -> int: ...


@dataclass(frozen=True)
class Signature:
    """An operator as applications see it: label, type, length and run-time operands, the same on every target.

    Parameters
    ----------
    label, kind, type, m
        As in the COP program; ``m`` in words.
    runtime : tuple of str
        Names of its run-time operands, in the order in which ``load`` takes them.
    values : tuple of tuple of int
        Every legal combination of values of the run-time operands that are nodes or distances, sorted.
    function : str or None
        Name of the function of a reduction, if the program names one.
    source : str
        ``file:line:column``.
    """

    label: str
    kind: str
    type: str
    m: int
    runtime: tuple[str, ...] = ()
    values: tuple[tuple[int, ...], ...] = ((),)
    function: str | None = None
    source: str = ""
    ranges: tuple[tuple[int, ...] | range, ...] | None = None
    """Legal values of each run-time operand that is a node or a distance, where these are too many to list all
    combinations; ``values`` then means nothing."""
    partial: tuple[str, ...] = ()
    """Run-time operands that not every node knows."""
    told_in: tuple[tuple[int, ...], ...] = ()
    """Of an operator with run-time values, the nodes of its instances, if these give them together (not ``:dynamic``)."""

    @cached_property
    def sorts(self) -> tuple[str, ...]:
        """Sort of each run-time operand."""
        known = {operand.name: operand.sort for operand in OPERATORS[self.kind].operands}
        return tuple(known[name] for name in self.runtime)

    @property
    def where(self) -> str:
        """What errors begin with: ``file:line:column: ``, or nothing."""
        return f"{self.source}: " if self.source else ""

    @property
    def functions(self) -> tuple[str, ...]:
        """Suffixes of the functions that the application calls: "load" and "write", "read" or "func"."""
        return OPERATORS[self.kind].functions

    @property
    def combines(self) -> bool:
        """Does it combine messages with a function?"""
        return any(operand.sort == "function" for operand in OPERATORS[self.kind].operands)


@dataclass(frozen=True)
class Given:
    """Checked arguments of a load function.

    ``index`` is the place of ``numbers`` (nodes and distances, in order) in ``Signature.values``. ``UNKNOWN`` stands for a
    number that this node does not know, ``HERE`` for its own.
    """

    numbers: tuple[int, ...] = ()
    index: int = 0
    permutation: tuple[int, ...] | None = None

    def __str__(self) -> str:
        return ", ".join(map(str, self.numbers if self.permutation is None else self.permutation))


@dataclass(frozen=True)
class Permission:
    """Functions of an operator that a node may call after its load function.

    ``local``: the node sends to itself only, no word reaches the port. ``void``: the node is outside ``:valid``; its
    messages are ignored and it receives None.
    """

    kind: IoKind
    local: bool = False
    void: bool = False


class Port(Protocol):
    """An operator at a node of its subset. All coroutines await `pointsman.runtime.api.requests`."""

    async def load(self, given: Given) -> Permission:
        """Get ready for these values."""

    def stale(self) -> str | None:
        """Reason why write, read and func may not be called now, worded to follow "node N"; None if they may."""

    async def write(self, words: np.ndarray) -> None:
        """Send a message; ``words`` (uint32) may change after that."""

    async def read(self, into: np.ndarray) -> bool:
        """Receive a message into ``into`` (uint32). False if its contents mean nothing afterwards."""

    async def func(self, words: np.ndarray | None, into: np.ndarray | None, combine: Combine | None) -> bool:
        """Take part in a functional operator; both arrays are None for a barrier, ``words`` also for a void part. False if
        ``into`` means nothing here. ``combine`` is given to operators that combine."""


class Substrate(Protocol):
    """One node's side of a target."""

    @property
    def name(self) -> str:
        """Of the program, for messages."""

    @property
    def loops(self) -> Sequence[str]:
        """Labels of the program's loops."""

    def ports(self) -> Sequence[tuple[Signature, Port | None]]:
        """Every operator of the program, with its port if the node belongs to its subset."""

    async def init(self) -> None:
        """Before anything else (cop_init)."""

    async def fini(self) -> None:
        """At the end (cop_fini)."""

    def where(self) -> str:
        """Where the node stands, for reports: ``in phase 'b'``."""
