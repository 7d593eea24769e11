"""Tasks and the flows between them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """A task that takes a node; ``at``: the node, if it is given."""

    name: str
    at: int | None = None


@dataclass(frozen=True)
class Flow:
    """Words from a task to others: ``bandwidth`` in words a cycle (0: best effort, what the others leave), ``latency`` at most so
    many cycles (None: no limit).

    ``source`` and ``destinations`` are places in the list of tasks.
    """

    name: str
    source: int
    destinations: tuple[int, ...]
    bandwidth: float
    latency: float | None = None


@dataclass(frozen=True)
class FlowSet:
    """All tasks and flows of a file."""

    tasks: tuple[Task, ...]
    flows: tuple[Flow, ...]
