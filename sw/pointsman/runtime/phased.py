"""The five primitives of ConSet and of message passing on every target (Feldmann, Stricker and Warfel 1993, §2 and §3.1).

Connections: a phase of connections is a phase of COP streams, which are timetables on scheduled routers, connections of
configurations on the switch, messages between packet routers. Messages: active messages carry blocks from any node to any other.
A program of either kind is a coroutine function of a cell; `cosim.iwarp.awaited` runs the same on logical channels.
"""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from pointsman.artifacts.channels.channels import PhasedConnections
from pointsman.cop import Network, Part, loop, parallel, phase, stream
from pointsman.errors import PointsmanError

from .active import Endpoint, Handlers
from .active.application import ActiveApplication
from .active.carrier import DATA_BYTES
from .api.application import Application
from .api.node import Node

WORDS_OF = {"int32": 1, "float32": 1, "int64": 2, "float64": 2}
"""Words of an element."""


class ConnectionsCell:
    """A node as its program sees it: connections of one phase at a time, used element by element.

    Phases come in the order of the answer, again and again: `instantiate_phase` goes on to the next. Every node calls it,
    also one that has no connection there, as its router may have to pass on words of others.
    """

    def __init__(self, node: Node, answer: PhasedConnections) -> None:
        self.number = node.number
        self._node, self._answer = node, answer
        self._phase: int | None = None

    async def instantiate_phase(self, name: str) -> None:
        """Go on to a phase, "0", "1", …

        Raises
        ------
        PointsmanError
            If it is not the next one.
        """
        count = len(self._answer.phases)
        after = 0 if self._phase is None else (self._phase + 1) % count
        if name != str(after):
            raise PointsmanError(
                f"cell {self.number} asks for phase {name!r} when '{after}' is next",
                hint="phases of a COP program come in their order, in each round of its loop",
            )
        self._phase = after
        routes = self._answer.phases[after]
        mine = [route.connection for route in routes if self.number in self._ends(route.connection)]
        for connection in mine or [routes[0].connection]:
            await getattr(self._node.cop, f"{label(connection)}_load")()

    async def send_element(self, connection: int, element: Any) -> None:
        """Send an element on a connection of the phase."""
        self._check(connection, 0)
        await getattr(self._node.cop, f"{label(connection)}_write")(element)

    async def receive_element(self, connection: int) -> Any:
        """The next element of a connection of the phase."""
        self._check(connection, 1)
        return await getattr(self._node.cop, f"{label(connection)}_read")()

    async def compute(self, clocks: int) -> None:
        """Spend clocks."""
        await self._node.compute(clocks)

    def _ends(self, connection: int) -> tuple[int, int]:
        one = self._answer.problem.connections[connection]
        return one.source, one.destination

    def _check(self, connection: int, end: int) -> None:
        active = self._phase is not None and any(
            route.connection == connection for route in self._answer.phases[self._phase]
        )
        if not active:
            raise PointsmanError(f"cell {self.number} uses connection {connection!r}, which is not active")
        if self._ends(connection)[end] != self.number:
            verb = "receives from" if end else "sends on"
            raise PointsmanError(f"cell {self.number} {verb} connection {connection!r}, whose end it is not")


class ConnectionsApplication(Application, ABC):
    """A program of connections in phases.

    Attributes
    ----------
    element : str
        Type of an element: int32, float32, int64 or float64. A connection's ``words`` are those of all its elements in a round.
    rounds : int
        How often the phases come in turn, approximately: the compiler weighs with it.
    """

    element: str = "int32"
    rounds: int = 1

    def __init__(self, answer: PhasedConnections) -> None:
        super().__init__(argparse.Namespace(), answer.problem.topology)
        if self.element not in WORDS_OF:
            raise PointsmanError(f"an element must be {', '.join(WORDS_OF)}, not {self.element}")
        if not answer.phases:
            raise PointsmanError("there are no connections")
        size = WORDS_OF[self.element]
        for number, one in enumerate(answer.problem.connections):
            if one.words % size:
                raise PointsmanError(f"connection {number} has {one.words} words; a {self.element} takes {size}")
        self.answer = answer

    @abstractmethod
    async def cell_main(self, cell: ConnectionsCell) -> Any:
        """The program of a node. Its result is handed to ``check``."""

    def program(self, net: Network) -> Part:
        """A phase of streams for each phase of connections."""
        demands, size = self.answer.problem.connections, WORDS_OF[self.element]
        ranks = self.topology.ranks
        phases = [
            phase(
                parallel(
                    *(
                        stream(
                            label(route.connection),
                            ranks[demands[route.connection].source],
                            ranks[demands[route.connection].destination],
                            type=self.element,
                            m=size,
                            c=demands[route.connection].words // size,
                        )
                        for route in routes
                    )
                )
            )
            for routes in self.answer.phases
        ]
        return loop("rounds", self.rounds, *phases)

    async def main(self, node: Node) -> Any:
        await node.cop.rounds_load()
        return await self.cell_main(ConnectionsCell(node, self.answer))


class MessagesCell:
    """A node as its program sees it: messages to and from anybody, those of a sender in the order in which it sent them."""

    def __init__(self, node: Node, endpoint: Endpoint, inbox: _Inbox, dtype: np.dtype[Any]) -> None:
        self.number = endpoint.number
        self._node, self._endpoint, self._inbox, self._dtype = node, endpoint, inbox, dtype
        self._sent: dict[int, int] = {}

    async def msg_send(self, destination: int, block: Sequence[Any]) -> None:
        """Send a block to a node."""
        if destination == self.number:
            raise PointsmanError(f"cell {self.number} sends a message to itself")
        data = np.asarray(block, self._dtype).tobytes()
        number = self._sent[destination] = self._sent.get(destination, 0) + 1
        for begin in range(0, max(len(data), 1), DATA_BYTES):
            part = data[begin : begin + DATA_BYTES]
            await self._endpoint.request(destination, "block", (number, begin, len(data)), part, replies=0)

    async def msg_receive(self) -> tuple[int, np.ndarray]:
        """The next message, as (source, block)."""
        await self._endpoint.until(lambda: bool(self._inbox.whole))
        source, data = self._inbox.whole.pop(0)
        return source, np.frombuffer(data, self._dtype)

    async def compute(self, clocks: int) -> None:
        """Spend clocks."""
        await self._node.compute(clocks)


class MessagesApplication(ActiveApplication, ABC):
    """A program of messages. ``dtype``: of the words of a block."""

    dtype: Any = np.int32

    @abstractmethod
    async def cell_main(self, cell: MessagesCell) -> Any:
        """The program of a node. Its result is handed to ``check``. Every message is to be received before it ends."""

    async def main(self, node: Node) -> Any:
        carrier, inbox, handlers = self.carrier(node), _Inbox(), Handlers()
        handlers.add("block", _Inbox.take)
        await carrier.start()
        cell = MessagesCell(node, Endpoint(carrier, handlers, inbox), inbox, np.dtype(self.dtype))
        result = await self.cell_main(cell)
        await carrier.finish()
        if inbox.whole or inbox.parts:
            raise PointsmanError(
                f"cell {node.number} has not received all messages to it", hint="every message must be received"
            )
        return result


class _Inbox:
    """Parts of blocks that have come, and whole blocks that are next."""

    def __init__(self) -> None:
        self.parts: dict[tuple[int, int], tuple[bytearray, int]] = {}
        """By source and number: a block, and how many bytes of it are there."""
        self.due: dict[int, int] = {}
        self.whole: list[tuple[int, bytes]] = []

    def take(self, source: int, arguments: tuple[int, ...], data: bytes) -> None:
        """Handler of a part of a block; parts and blocks may overtake each other."""
        number, begin, size = arguments[:3]
        block, there = self.parts.get((source, number), (bytearray(size), 0))
        block[begin : begin + len(data)] = data
        self.parts[source, number] = block, there + len(data)
        while True:
            following = (source, self.due.get(source, 0) + 1)
            block, there = self.parts.get(following, (bytearray(), -1))
            if there != len(block):
                return
            del self.parts[following]
            self.due[source] = following[1]
            self.whole.append((source, bytes(block)))


def label(connection: int) -> str:
    """Label of a connection's stream in COP."""
    return f"h{connection}"
