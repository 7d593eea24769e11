"""Scripts: the sends, receives and combinations of a node in an operator that is carried by messages.

A script knows no hardware. Each target (packet routers, a crossbar, online routing over timetables) turns its steps into
headers, connections or hops; `replay` runs scripts without any network.

A message is identified by sender, receiver, channel and, among messages that agree in these three, its place in the order of
sending. The hardware or the run time must keep that order. Messages of different senders, or on different channels, may
overtake each other freely.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

MESSAGE = 0
"""Slot of the message that the application gives. A slot is a buffer for a message; a script may use several slots."""


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

    ``forward`` are sends of the same slot that may begin while its words still come in, or later, one after the other.
    """

    source: int | None
    slot: int = MESSAGE
    channel: int = 0
    words: int | None = None
    forward: tuple[Send, ...] = ()


@dataclass(frozen=True)
class Exchange:
    """Send and receive, neither waiting for the other; otherwise long messages round a ring would deadlock."""

    send: Send
    receive: Receive


@dataclass(frozen=True)
class Combine:
    """Put function(``left``, ``right``), of slots, into slot ``into``. The operator names the function, which is associative."""

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
    """A node's calls in an instance of an operator, for given run-time values.

    ``calls`` lists for each I/O function of the node ("write", "read", "func") the calls after a load, in order; after the last
    the list begins again (the destination of a gather has a read for each other node). ``local``: the node writes to itself and
    reads its own messages in order, without sending any.
    """

    kind: IoKind
    calls: Mapping[str, tuple[Call, ...]] = field(default_factory=dict)
    local: bool = False
    slots: int = 1

    def messages_in(self) -> frozenset[tuple[int | None, int]]:
        """(source, channel) of all messages that the script receives; source None: any sender."""
        return frozenset((r.source, r.channel) for r in _receives(self))

    def messages_out(self) -> frozenset[tuple[int, int]]:
        """(destination, channel) of all messages that the script sends."""
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
