"""Activities of each node with their times and cycles: spans between two changes of a node's activity.

A node names its activity in words (`pointsman.runtime.Node.activity`). This module notes every change with the time, the
phase that runs, and the cycles by category since the last change; programs need no code for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cosim.spans import Call, Span
from pointsman.artifacts.images.images import Images
from pointsman.runtime import Category, Node
from pointsman.runtime.numesh.substrate import NumeshSubstrate

from .machine import Machine

__all__ = ["ActivityWatch", "Call", "Span", "cycles_by"]


class ActivityWatch:
    """A node of a program, ``node``, and the spans of its activities."""

    def __init__(
        self,
        images: Images,
        number: int,
        machine: Machine,
        *,
        preloaded: bool = False,
        functions: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        self.spans: list[Span] = []
        self.calls: list[Call] = []
        self._machine = machine
        self._since = machine.time
        self._in_phase = -1
        self._counted = np.zeros(len(Category), dtype=np.int64)
        substrate = NumeshSubstrate(images, number, machine, preloaded=preloaded)
        self._router = substrate.router
        self.remarks = substrate.remarks
        """What the node's run time has to say in the report."""
        self.node = Node(substrate, images.topology, number, machine, functions, self._changes)

    def _changes(self, doing: str) -> None:
        self.close_span()
        self._in_phase = self._router.current

    def close_span(self) -> None:
        """End the current span here; nothing if no time has passed."""
        now, doing = self._machine.time, self.node.activity
        self.calls += Call.of(self.node, self._since, now, self._router.current)
        counted = self._machine.cycles[self.node.number].copy()
        if now > self._since:
            cycles = tuple(int(cycles) for cycles in counted - self._counted)
            span = Span(self.node.number, self._since, now, doing, self._in_phase, cycles)
            # Loading and leaving belong to the phase that is reached. Operators that stand in the place of one are loaded in
            # its other functions, too.
            self.spans.append(replace(span, phase=self._router.current) if span.operators else span)
        self._since, self._counted = now, counted


def cycles_by(spans: Iterable[Span], key: str, nodes: int) -> dict[str | int | None, dict[str, float]]:
    """Cycles by category, mean over the nodes, of all spans with the same ``key`` ("operator" or "phase"). Operators that moved
    words at the same time share the cycles equally."""
    sums: dict[str | int | None, np.ndarray] = {}
    for span in spans:
        whose = (span.phase,) if key == "phase" else span.operators or (None,)
        for which in whose:
            sums[which] = sums.get(which, 0) + np.array(span.cycles, dtype=np.int64) / len(whose)
    names = [category.name.lower() for category in Category]
    return {which: dict(zip(names, (total / nodes).tolist(), strict=True)) for which, total in sums.items()}
