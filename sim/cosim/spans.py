"""Activities of nodes with their times and cycles: a span from each change of a node's activity to the next, on any machine.

A node names its activity in words (`pointsman.runtime.Node.activity`); programs need no code for it. What phase a node is in
only the mesh of scheduled routers knows (`cosim.numesh.activities`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from pointsman.runtime import Category, Node

from .machine import ProcessorMachine

_OPERATOR = re.compile(r"(\w+)_(load|write|read|func)")


@dataclass(frozen=True)
class Call:
    """A call of a function of an operator: ``what`` is "load", "write", "read" or "func"; ``end`` is the cycle after it,
    ``phase`` the phase that runs then, -1 where none is known; ``values`` the run-time values of the operator's last load."""

    node: int
    label: str
    what: str
    start: int
    end: int
    phase: int = -1
    values: tuple[int, ...] = ()

    @classmethod
    def of(cls, node: Node, start: int, end: int, phase: int = -1) -> Call | None:
        """The call that the activity of ``node`` is; None if it is none."""
        match = _OPERATOR.fullmatch(node.activity)
        if match is None:
            return None
        return cls(node.number, match[1], match[2], start, end, phase, node.loaded.get(match[1], ()))


@dataclass(frozen=True)
class Span:
    """An activity of a node from cycle ``start`` to ``end``. ``phase`` is -1 for the loader phase, and where none is known."""

    node: int
    start: int
    end: int
    activity: str
    phase: int
    cycles: tuple[int, ...]

    @property
    def operator(self) -> str | None:
        """Label of the operator, if the activity is a function of an operator; otherwise None."""
        match = _OPERATOR.fullmatch(self.activity)
        return match[1] if match else None


class NodeWatch:
    """Notes the activities of a node in ``spans``, and its calls of functions of operators, quick ones too, in ``calls``."""

    def __init__(self, node: Node, machine: ProcessorMachine) -> None:
        self.spans: list[Span] = []
        self.calls: list[Call] = []
        self._node = node
        self._machine = machine
        self._since = machine.time
        self._counted = np.zeros(len(Category), dtype=np.int64)
        node.watch = lambda _: self.close_span()

    def close_span(self) -> None:
        """End the current span here; nothing if no time has passed."""
        now, number = self._machine.time, self._node.number
        call = Call.of(self._node, self._since, now)
        if call is not None:
            self.calls.append(call)
        counted = self._machine.cycles[number].copy()
        if now > self._since:
            cycles = tuple(int(count) for count in counted - self._counted)
            self.spans.append(Span(number, self._since, now, self._node.activity, -1, cycles))
        self._since, self._counted = now, counted
