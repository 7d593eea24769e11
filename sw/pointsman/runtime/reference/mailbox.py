"""Messages of one operator that are under way on the reference machine, and what its nodes have to agree on."""

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
    """The k-th call of a functional operator in one instance."""

    given: Given | None = None
    sent: dict[int, np.ndarray | None] = field(default_factory=dict)
    """Message of each position that has called."""
    done: int = 0
    """Positions that have returned."""
    targets: dict[int, int] | None = None
    """Where the message of each position goes, if only that position knows."""


@dataclass
class Cast:
    """A message of a broadcast on its way, and who has yet to read it."""

    writer: int
    words: np.ndarray
    readers: set[int]


class Mailbox:
    """What the nodes of an operator share: the messages under way, and the values that nodes have to agree on."""

    def __init__(self, operator: Operator, signature: Signature) -> None:
        self.operator = operator
        self.signature = signature
        self.rounds: dict[tuple[int, int], Round] = defaultdict(Round)
        self.queues: dict[tuple[int, int, int], deque[np.ndarray]] = defaultdict(deque)
        """By instance, writer's and reader's position, messages on their way."""
        self.order: dict[tuple[int, int], deque[int]] = defaultdict(deque)
        """By instance of a collect and destination, who has written, in order."""
        self.agreed = not signature.partial
        self.casts: dict[tuple[int, int], Cast] = {}
        """Of a broadcast whose source not everybody knows, messages by instance and number of the call."""
        self.said: dict[tuple[int, int], int] = {}
        """By instance and number of the load, the destination that some node named."""
        self.values: dict[tuple[int, int], tuple[int, Given]] = {}
        """By instance and number of the change, the values that all of its nodes load, and the position that was first."""

    def round(self, instance: int, number: int, position: int, given: Given) -> Round:
        """A round, after checking that this node means the same as those before it."""
        found = self.rounds[instance, number]
        if found.given is None:
            found.given = given
        elif self.agreed and found.given != given:
            label = self.signature.label
            node = self.operator.instances[instance].nodes[position]
            raise PointsmanError(
                f"{self.where()}node {node} calls {label}_func with the values {_shown(given)}, "
                f"others in the same round with {_shown(found.given)}",
                hint="run-time values must be the same at all nodes of the operator",
            )
        return found

    def compare(self, instance: int, change: int, position: int, given: Given) -> None:
        """Find a node that loads other values than those before it did."""
        first, wanted = self.values.setdefault((instance, change), (position, given))
        if given != wanted:
            label, nodes = self.signature.label, self.operator.instances[instance].nodes
            raise PointsmanError(
                f"{self.where()}node {nodes[position]} calls {label}_load with the values {_shown(given)}, node {nodes[first]} "
                f"with {_shown(wanted)}",
                hint="run-time values must be the same at all nodes of the operator, in the same order",
            )

    def unread(self) -> list[str]:
        found = []
        for (instance, writer, reader), queue in sorted(self.queues.items()):
            if queue:
                nodes = self.operator.instances[instance].nodes
                found.append(
                    f"{self.where()}{len(queue)} message{'s' * (len(queue) > 1)} of operator '{self.signature.label}' "
                    f"from node {nodes[writer]} to node {nodes[reader]} never read"
                )
        for (instance, _), cast in sorted(self.casts.items()):
            nodes = self.operator.instances[instance].nodes
            found.append(
                f"{self.where()}1 message of operator '{self.signature.label}' from node {nodes[cast.writer]} to "
                f"node {', '.join(str(nodes[k]) for k in sorted(cast.readers))} never read"
            )
        return found

    def where(self) -> str:
        return f"{self.signature.source}: " if self.signature.source else ""


def _shown(given: Given) -> str:
    return ", ".join(map(str, given.numbers if given.permutation is None else given.permutation))
