"""The links of the targets: how a message of a node gets into the network, and where messages come out.

Each program of active messages has two operators: streams from any node to any other, of two lengths. Online routing
uses them as they are, with a queue for each length. On packet routers they stand for an interface address, and on the switch
for the connections that the scheduler makes on request; there a message has the length that it needs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from packet_router.header import pack_header, source_of
from packet_router.node import LAST, WORD
from pointsman.errors import PointsmanError
from pointsman.runtime.api.requests import Category, Lane, Wait
from pointsman.runtime.numesh.online_agent import Agent, Service
from pointsman.runtime.numesh.online_messages import OnlineMessage
from pointsman.runtime.numesh.substrate import NumeshSubstrate
from pointsman.runtime.packet import PacketSubstrate
from pointsman.runtime.tdm import TdmSubstrate

from .carrier import LONG_WORDS, SHORT_WORDS
from .credits import AtOnce, Link
from .register_link import RegisterLink

SHORT, LONG = "active_short", "active_long"


class NumeshLink:
    """Online messages on scheduled routers: a queue for each of the two lengths."""

    in_order = False
    """Those of one length keep their order; short ones and long ones do not wait for each other."""

    def __init__(self, substrate: NumeshSubstrate) -> None:
        self.substrate = substrate
        self.number = substrate.number
        self.nodes = substrate.images.topology.nodes
        self.arrived: deque[tuple[int, np.ndarray]] = deque()
        queues = {}
        for operator in substrate.images.operators:
            if operator.label in (SHORT, LONG) and operator.online is not None:
                self.phase = operator.phase
                queues[operator.label] = operator.online[0]
        if len(queues) != 2:
            raise PointsmanError("the image has no channels for active messages")
        self.queues = (queues[SHORT], queues[LONG])
        self._at_once: AtOnce | None = None
        self._interruptions = self._noticed = 0
        """Messages that were handled at once, and those of them after which `wait` has ended."""

    def handle_at_once(self, handle: AtOnce) -> bool:
        self._at_once = handle
        return True

    async def start(self) -> None:
        await self.substrate.router.enter(self.phase, self.substrate.leave)
        if self._at_once is not None:
            self._agent().at_once = self._interrupted

    async def send(self, to: int, words: np.ndarray) -> None:
        agent = self._agent()
        queue, whole = self._whole_message(words)
        sending = agent.send(to, queue, whole)  # type: ignore[arg-type]
        await Service(agent.until(lambda: sending.sent, Category.WRITE))
        self._take(agent)

    async def look(self) -> None:
        # The agent is served by interrupts while the program does anything that takes a cycle.
        await Wait(1, Category.READ)
        self._take(self._agent())

    async def wait(self) -> None:
        agent = self._agent()
        self._take(agent)
        if not self.arrived:
            await Service(
                agent.until(lambda: self._whole(agent) or self._interruptions != self._noticed, Category.READ)
            )
            self._take(agent)
        self._noticed = self._interruptions

    def _agent(self) -> Agent:
        agent = self.substrate.agent
        assert agent is not None  # the phase of active messages is the only one
        return agent

    def _whole(self, agent: Agent) -> bool:
        return any(message.whole for queue in self.queues for message in agent.queues[queue])

    def _whole_message(self, words: np.ndarray) -> tuple[int, np.ndarray]:
        """The queue of a message, and its words filled up to the length of messages there."""
        is_long = len(words) > SHORT_WORDS
        whole = np.zeros((SHORT_WORDS, LONG_WORDS)[is_long], np.uint32)
        whole[: len(words)] = words
        return self.queues[is_long], whole

    def _interrupted(self, message: OnlineMessage) -> tuple[int, list[tuple[int, int, np.ndarray]]] | None:
        """A message that has come, in the interrupt handler."""
        if message.queue not in self.queues or self._at_once is None:
            return None
        done = self._at_once(message.source, message.data)
        if done is None:
            return None
        self._interruptions += 1
        cycles, replies = done
        return cycles, [(to, *self._whole_message(words)) for to, words in replies]

    def _take(self, agent: Agent) -> None:
        for queue in self.queues:
            for message in [one for one in agent.queues[queue] if one.whole]:
                agent.take(message)
                self.arrived.append((message.source, message.data))


class PacketLink(RegisterLink):
    """Messages to one interface address of each node."""

    def __init__(self, substrate: PacketSubstrate) -> None:
        program = substrate.program
        one = next(operator for operator in program.operators if operator.operator.label == SHORT)
        self.addresses = {node: address for (node, _), address in one.addresses.items()}
        self.shape = program.shape
        here = self.addresses.get(substrate.number)
        super().__init__(
            substrate.number, program.topology.nodes, substrate.clock, [] if here is None else [here.number], 1
        )

    def source(self, place: int, message: np.ndarray) -> int:
        return source_of(int(message[0]))

    async def start(self) -> None:
        """Packet routers need no loading."""

    async def send(self, to: int, words: np.ndarray) -> None:
        header = pack_header(self.shape, to, self.addresses[to].number, source=self.number)
        body = np.concatenate([np.array([header], np.uint32), words[:-1]])
        await self._move(
            [Lane(True, WORD, len(body), body), Lane(True, LAST, 1, words[-1:].copy(), after=0, after_all=True)]
        )


class TdmLink(RegisterLink):
    """Connections of the switch on request: a queue for each destination, and a buffer for each source."""

    def __init__(self, substrate: TdmSubstrate) -> None:
        self.interface = substrate.interface
        registers = self.interface.registers
        nodes = substrate.tables.topology.nodes
        self.others = [node for node in range(nodes) if node != substrate.number]
        super().__init__(substrate.number, nodes, substrate.clock, [registers.buffer(node) for node in self.others], 0)

    def source(self, place: int, message: np.ndarray) -> int:
        return self.others[place]

    async def start(self) -> None:
        await self.interface.enter(0, Category.ROUTER)

    async def send(self, to: int, words: np.ndarray) -> None:
        await self.interface.take_turn(to)
        await self._move([Lane(True, self.interface.registers.queue(to), len(words), words)])


class AloneLink:
    """The link of a network's only node, which has nobody to send to."""

    number, nodes, in_order = 0, 1, True

    def __init__(self) -> None:
        self.arrived: deque[tuple[int, np.ndarray]] = deque()

    async def start(self) -> None:
        """There is no network."""

    async def send(self, to: int, words: np.ndarray) -> None:
        raise PointsmanError(f"there is no node {to} to send to")

    def handle_at_once(self, handle: AtOnce) -> bool:
        """Nothing can come."""
        return True

    async def look(self) -> None:
        """Nothing can come."""

    async def wait(self) -> None:
        raise PointsmanError("the only node of a network waits for a message")


class WorkingLink:
    """A link on a network with nodes that do not work: its numbers count the others alone, in order."""

    def __init__(self, link: NumeshLink | PacketLink | TdmLink, working: Sequence[int]) -> None:
        self.link, self.working = link, working
        self.ranks = {node: rank for rank, node in enumerate(working)}
        self.number, self.nodes, self.in_order = self.ranks[link.number], len(working), link.in_order
        self._arrived: deque[tuple[int, np.ndarray]] = deque()

    @property
    def arrived(self) -> deque[tuple[int, np.ndarray]]:
        while self.link.arrived:
            source, words = self.link.arrived.popleft()
            self._arrived.append((self.ranks[source], words))
        return self._arrived

    def handle_at_once(self, handle: AtOnce) -> bool:
        def counted(source: int, words: np.ndarray) -> tuple[int, list[tuple[int, np.ndarray]]] | None:
            done = handle(self.ranks[source], words)
            return None if done is None else (done[0], [(self.working[to], sent) for to, sent in done[1]])

        return self.link.handle_at_once(counted)

    async def start(self) -> None:
        await self.link.start()

    async def send(self, to: int, words: np.ndarray) -> None:
        await self.link.send(self.working[to], words)

    async def look(self) -> None:
        await self.link.look()

    async def wait(self) -> None:
        if not self._arrived:
            await self.link.wait()


def link_of(substrate: Any, nodes: int, working: Sequence[int] | None = None) -> Link:
    """The link of a node of a network with ``nodes`` nodes, of which those in ``working`` work (None: all)."""
    count = nodes if working is None else len(working)
    if count == 1:
        return AloneLink()
    link = _link_of(substrate)
    return link if working is None or count == nodes else WorkingLink(link, working)


def _link_of(substrate: Any) -> NumeshLink | PacketLink | TdmLink:
    if isinstance(substrate, NumeshSubstrate):
        return NumeshLink(substrate)
    if isinstance(substrate, PacketSubstrate):
        return PacketLink(substrate)
    if isinstance(substrate, TdmSubstrate):
        return TdmLink(substrate)
    raise PointsmanError(
        f"{type(substrate).__name__} carries no active messages",
        hint="--target logp needs no hardware; --dry has no messages",
    )
