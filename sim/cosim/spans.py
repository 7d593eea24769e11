"""Activities of nodes with their times and cycles: a span from each change of a node's activity to the next, on any machine.

A node names its activity in words (`pointsman.runtime.Node.activity`); programs need no code for it. What phase a node is in
only the mesh of scheduled routers knows (`cosim.numesh.activities`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from pointsman.runtime import Category, Node
from pointsman.runtime.api.substrate import Given

from .machine import ProcessorMachine

_OPERATOR = re.compile(r"(\w+)_(load|write|read|func)")


@dataclass(frozen=True)
class Call:
    """A call of a function of an operator: ``what`` is "load", "write", "read" or "func"; ``end`` is the cycle after it,
    ``phase`` the phase that runs then, -1 where none is known; ``values`` and ``permutation`` the run-time values of the
    operator's last load."""

    node: int
    label: str
    what: str
    start: int
    end: int
    phase: int = -1
    values: tuple[int, ...] = ()
    permutation: tuple[int, ...] | None = None

    @classmethod
    def of(cls, node: Node, start: int, end: int, phase: int = -1) -> list[Call]:
        """The calls that the activity of ``node`` is: none, one, or several at the same time."""
        given = [(label, what, node.loaded.get(label, Given())) for label, what in _functions(node.activity)]
        return [
            cls(node.number, label, what, start, end, phase, last.numbers, last.permutation)
            for label, what, last in given
        ]


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
    def operators(self) -> tuple[str, ...]:
        """Labels of the operators of which the activity is a function, or functions at the same time; else none."""
        return tuple(label for label, _ in _functions(self.activity))

    @property
    def operator(self) -> str | None:
        """Label of the operator, if the activity is a function of one operator; otherwise None."""
        labels = self.operators
        return labels[0] if len(labels) == 1 else None


def _functions(activity: str) -> list[tuple[str, str]]:
    """(label, "load", "write", "read" or "func") of the functions that an activity names, if it names nothing else."""
    found = [_OPERATOR.fullmatch(name) for name in activity.split(", ")]
    return [(match[1], match[2]) for match in found if match] if all(found) else []


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
        self.calls += Call.of(self._node, self._since, now)
        counted = self._machine.cycles[number].copy()
        if now > self._since:
            cycles = tuple(int(count) for count in counted - self._counted)
            self.spans.append(Span(number, self._since, now, self._node.activity, -1, cycles))
        self._since, self._counted = now, counted
