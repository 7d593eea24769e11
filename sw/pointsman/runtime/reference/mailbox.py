"""Messages of an operator that are not yet read on the reference machine, and values on which its nodes have to agree."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.program.program import Operator
from pointsman.runtime.api.substrate import Given, Signature


class Until:
    """Awaited like a request, of the reference machine alone: resume when ``ready`` is true."""

    __slots__ = ("ready",)

    def __init__(self, ready: Callable[[], bool]) -> None:
        self.ready = ready

    def __await__(self) -> Generator[Any, Any, None]:
        return iter((self,))  # type: ignore[return-value]  # as for `Request`


@dataclass
class Round:
    """The k-th call of a functional operator in an instance."""

    given: Given | None = None
    sent: dict[int, np.ndarray | None] = field(default_factory=dict)
    """Message of each position that has called."""
    done: int = 0
    """Positions that have returned."""
    targets: dict[int, int] | None = None
    """Destination of each position's message, for a permutation of which each node knows only its own entry."""


@dataclass
class Cast:
    """A message of a broadcast, and the positions that have yet to read it."""

    writer: int
    words: np.ndarray
    readers: set[int]


class Mailbox:
    """State shared by the nodes of an operator: unread messages, and values on which nodes have to agree."""

    def __init__(self, operator: Operator, signature: Signature) -> None:
        self.operator = operator
        self.signature = signature
        self.rounds: dict[tuple[int, int], Round] = defaultdict(Round)
        self.queues: dict[tuple[int, int, int], deque[np.ndarray]] = defaultdict(deque)
        """By instance, writer's and reader's position: unread messages."""
        self.order: dict[tuple[int, int], deque[int]] = defaultdict(deque)
        """By instance of a collect and destination: positions that have written, in order."""
        self.agreed = not signature.partial
        self.casts: dict[tuple[int, int], Cast] = {}
        """Messages of a broadcast whose source not every node knows, by instance and number of the call."""
        self.said: dict[tuple[int, int], int] = {}
        """By instance and number of the load, the destination that some node named."""

    def round(self, instance: int, number: int, position: int, given: Given) -> Round:
        """Round ``number``, after checking that this node has the same values as the nodes that called before."""
        found = self.rounds[instance, number]
        if found.given is None:
            found.given = given
        elif self.agreed and found.given != given:
            label = self.signature.label
            node = self.operator.instances[instance].nodes[position]
            raise PointsmanError(
                f"{self.signature.where}node {node} calls {label}_func with the values {given}, "
                f"others in the same round with {found.given}",
                hint="run-time values must be the same at all nodes of the operator",
            )
        return found

    def unread(self) -> list[str]:
        found = []
        for (instance, writer, reader), queue in sorted(self.queues.items()):
            if queue:
                nodes = self.operator.instances[instance].nodes
                found.append(
                    f"{self.signature.where}{len(queue)} message{'s' * (len(queue) > 1)} of operator '{self.signature.label}' "
                    f"from node {nodes[writer]} to node {nodes[reader]} never read"
                )
        for (instance, _), cast in sorted(self.casts.items()):
            nodes = self.operator.instances[instance].nodes
            found.append(
                f"{self.signature.where}1 message of operator '{self.signature.label}' from node {nodes[cast.writer]} to "
                f"node {', '.join(str(nodes[k]) for k in sorted(cast.readers))} never read"
            )
        return found
