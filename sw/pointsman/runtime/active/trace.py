"""What active messages did, and when: who sent and handled how many, quanta of threads, counters. Kept only if somebody asks."""

from __future__ import annotations

from typing import Protocol

Quantum = tuple[int, int, int, str]
"""(node, start, end, what ran)"""


class Clock(Protocol):
    """Tells the time of a node."""

    @property
    def time(self) -> int: ...


class ActiveTrace:
    """A run's messages between nodes.

    Attributes
    ----------
    sent, handled : list of (time, node, other node, messages)
        In order of time at each node.
    quanta : list of Quantum
    counters : dict of str to list of (time, node, value)
        Each time that one changed.
    """

    def __init__(self) -> None:
        self.sent: list[tuple[int, int, int, int]] = []
        self.handled: list[tuple[int, int, int, int]] = []
        self.quanta: list[Quantum] = []
        self.counters: dict[str, list[tuple[int, int, int]]] = {}

    def of(self, node: int, clock: Clock) -> NodeTrace:
        """The part that a node writes."""
        return NodeTrace(self, node, clock)


class NodeTrace:
    """A node's part of a trace."""

    def __init__(self, trace: ActiveTrace, node: int, clock: Clock) -> None:
        self.trace = trace
        self.node = node
        self.clock = clock
        self.running: tuple[int, str] | None = None

    def sent(self, to: int, count: int) -> None:
        """Messages to another node have been sent."""
        self.trace.sent.append((self.clock.time, self.node, to, count))

    def handled(self, source: int, count: int) -> None:
        """Messages of another node have come and are handled."""
        self.trace.handled.append((self.clock.time, self.node, source, count))

    def runs(self, what: str | None) -> None:
        """A quantum begins; None: nothing runs."""
        if self.running is not None:
            began, before = self.running
            self.trace.quanta.append((self.node, began, self.clock.time, before))
        self.running = None if what is None else (self.clock.time, what)

    def counts(self, name: str, value: int) -> None:
        """A counter has this value now."""
        self.trace.counters.setdefault(name, []).append((self.clock.time, self.node, value))
