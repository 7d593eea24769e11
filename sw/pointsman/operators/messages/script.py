"""What a node does in an operator, when messages carry it: scripts of sending, receiving and combining.

A script knows no hardware. Whoever runs it (packet routers, a crossbar, online routing over timetables) turns its steps
into headers, connections or hops; `replay` runs scripts without any network.

A message is told by four things: who sends it, who gets it, its channel and, among messages that agree in these,
its place in the order of sending. The hardware or the run time must keep that order. Messages of different senders, or on
different channels, may overtake each other freely.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

MESSAGE = 0
"""Slot of the message that the application gives. A slot is a buffer of one message; a script may use several."""


@dataclass(frozen=True)
class Send:
    """Send the message in ``slot``, or its first ``words`` words, to node ``to`` of the network."""

    to: int
    slot: int = MESSAGE
    channel: int = 0
    words: int | None = None


@dataclass(frozen=True)
class Receive:
    """Wait for a message from ``source`` (None: from anybody) and put it into ``slot``.

    ``forward`` are sends of the same slot that may begin while words still come in; None of them has to, and they may go
    out one after the other.
    """

    source: int | None
    slot: int = MESSAGE
    channel: int = 0
    words: int | None = None
    forward: tuple[Send, ...] = ()


@dataclass(frozen=True)
class Exchange:
    """Send and receive, neither waiting for the other: long messages round a ring would wait for ever otherwise."""

    send: Send
    receive: Receive


@dataclass(frozen=True)
class Combine:
    """Put function(``left``, ``right``) into slot ``into``. The function is associative; which one, the operator says."""

    into: int
    left: int
    right: int


Step = Send | Receive | Exchange | Combine


@dataclass(frozen=True)
class Call:
    """One call of an I/O function: steps in order, and the slot whose contents it returns (None: nothing)."""

    steps: tuple[Step, ...] = ()
    result: int | None = None


IoKind = Literal["none", "write", "read", "func", "both"]


@dataclass(frozen=True)
class Script:
    """What a node does in one instance of an operator, for given run-time values.

    ``calls`` has for each I/O function of the node ("write", "read", "func") the calls after a load, in order; when they
    are through they begin again (a node that gathers reads once for each other node). ``local``: a node that writes to
    itself reads what it has written, in order, without any message.
    """

    kind: IoKind
    calls: Mapping[str, tuple[Call, ...]] = field(default_factory=dict)
    local: bool = False
    slots: int = 1

    def messages_in(self) -> frozenset[tuple[int | None, int]]:
        """(source, channel) of everything it receives."""
        return frozenset((r.source, r.channel) for r in _receives(self))

    def messages_out(self) -> frozenset[tuple[int, int]]:
        """(destination, channel) of everything it sends."""
        return frozenset((s.to, s.channel) for s in _sends(self))


NOTHING = Script("none")


def _steps(script: Script) -> list[Step]:
    return [step for calls in script.calls.values() for call in calls for step in call.steps]


def _receives(script: Script) -> list[Receive]:
    found = []
    for step in _steps(script):
        if isinstance(step, Receive):
            found.append(step)
        elif isinstance(step, Exchange):
            found.append(step.receive)
    return found


def _sends(script: Script) -> list[Send]:
    found: list[Send] = []
    for step in _steps(script):
        if isinstance(step, Send):
            found.append(step)
        elif isinstance(step, Exchange):
            found += [step.send, *step.receive.forward]
        elif isinstance(step, Receive):
            found += step.forward
    return found
