"""The substrate of scheduled routers: a node and its phases.

All waiting is done by requests (``requests``); nothing here counts cycles, so an application runs the same on every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from typing import Any

from pointsman.artifacts.images.images import Images, OperatorImage, PhaseImage, by_step
from pointsman.errors import PointsmanError
from pointsman.program.program import Operator
from pointsman.protocol.phase_change import Do, finish, leaving
from pointsman.runtime.api.node import Node
from pointsman.runtime.api.replaced import ReplacedPort, replaced_signature
from pointsman.runtime.api.replaced_agreed import ReplacedAgreed
from pointsman.runtime.api.replaced_sequence import ReplacedSequence
from pointsman.runtime.api.requests import Category, Transfer, Wait
from pointsman.runtime.api.substrate import CycleClock, Port, Signature

from .chosen import Choice, chosen_signature, schedules_of
from .messages import lane_request
from .online_agent import Agent, agents_of, attended
from .online_port import OnlinePort
from .port import NumeshPort
from .router import Router
from .signatures import signature_of
from .use_order import use_order


class NumeshSubstrate:
    """A node on the mesh of scheduled routers."""

    moves_together = True
    """Calls of several operators may move their words at the same time (`pointsman.runtime.api.together`)."""

    def __init__(self, images: Images, number: int, clock: CycleClock, *, preloaded: bool = False) -> None:
        self.images = images
        self.name = images.name
        self.loops = images.loops
        self.number = number
        self.clock = clock
        self.router = Router(images, number, clock, preloaded=preloaded)
        self.use_order = use_order(clock, number)
        self.agents = agents_of(images, number, clock)
        self.serving: Agent | None = None
        """The agent of the phase that was entered last."""
        self.left: str | None = None
        """The phase that was left last."""
        self.masked = False
        """The node is between the barrier of a phase and the next phase: online messages have to wait."""
        self.router.arrived = self._arrived
        self.leaving: str | None = None
        """Phase whose closing barrier is running."""
        self.remarks: list[str] = []
        """What the report of the run has to say, each line once."""

    @property
    def agent(self) -> Agent | None:
        """The agent for online messages in the phase that runs; None if the phase has none, or between phases."""
        return None if self.masked else self.agents.get(self.router.current)

    def remark(self, text: str) -> None:
        if text not in self.remarks:
            self.remarks.append(text)

    def _arrived(self) -> None:
        self.masked = False
        before, self.serving = self.serving, self.agent
        if before is not None and before is not self.serving:
            self._refuse_unread(before)

    def _refuse_unread(self, agent: Agent) -> None:
        if not agent.idle():
            phases = [phase for phase, one in self.agents.items() if one is agent]
            name = self.left if self.left is not None else self.images.phases[phases[0]].name
            raise PointsmanError(
                f"phase '{name}': a message to node {self.number} has not been read{self._whose(agent, phases)}",
                hint="every message must be read before its phase ends",
            )

    def _whose(self, agent: Agent, phases: Sequence[int]) -> str:
        """Whose message it is that an agent of ``phases`` has, if it has come as a whole."""
        message = next((one for queue in agent.queues for one in queue), None)
        if message is None:
            return ""
        labels = [
            operator.label.split("/")[0]
            for operator in self.images.operators
            if operator.phase in phases and operator.online is not None and message.queue in operator.online
        ]
        return f": that of operator '{labels[0]}' from node {message.source}" if labels else ""

    def ports(self) -> list[tuple[Signature, Port | None]]:
        """Signature and port (None outside its subset) of every operator of the program, once if it has several schedules.
        Barriers that close phases, carriers of online streams and parts of replaced operators are left out."""
        images = self.images
        made: dict[int, tuple[Signature, Port | None]] = {}
        choices: dict[frozenset[int], Choice] = {}
        for indices in schedules_of(images):
            operators = [images.operators[index] for index in indices]
            ports = [self._port(index, operator) for index, operator in zip(indices, operators, strict=True)]
            if len(indices) == 1:
                made[indices[0]] = signature_of(operators[0]), ports[0]
            else:
                phases = frozenset(operator.phase for operator in operators)
                choice = choices.setdefault(phases, Choice(self.router))
                pairs = [(one, port) for one, port in zip(operators, ports, strict=True) if port is not None]
                made[indices[0]] = (
                    chosen_signature(operators),
                    choice.add(operators[0].label, pairs) if pairs else None,
                )
        found = []
        for one in images.replaced:
            parts = [made.pop(index) for index in one.parts]
            here = [(signature, port) for signature, port in parts if port is not None]
            port: Port | None = None
            if self.number in one.program.nodes:
                port = _replaced_port(one.program, self.number, here)
            found.append((replaced_signature(one.program, one.source), port))
        return [*made.values(), *found]

    def _port(self, index: int, operator: OperatorImage) -> Port | None:
        view = self.router.operators.get(index)
        if view is None:
            return None
        if operator.online is not None:
            return OnlinePort(self, index, operator, view)
        return NumeshPort(self, index, operator, view)

    def attended(self, program: Coroutine[Any, None, Any]) -> Coroutine[Any, None, Any] | Generator[Any, None, Any]:
        """``program`` of this node, interrupted whenever an online message needs its processor."""
        return attended(lambda: self.agent, program) if self.agents else program

    async def init(self) -> None:
        """Start the loader phase."""
        await self.router.start()

    async def fini(self) -> None:
        """At the end of the program: go through phases that other nodes still run and that need this node."""
        await self.router.play(finish(self.router), self.leave)
        phase = self.router.current
        if phase >= 0 and phase in self.agents:
            self._refuse_unread(self.agents[phase])
        # Commands that gates have posted must have been carried out.
        await self.router.settled()

    def where(self) -> str:
        phase = self.router.current
        if self.leaving is not None:
            return f"in the barrier at the end of phase '{self.leaving}'"
        return f"in phase '{self.images.phases[phase].name}'" if phase >= 0 else "in the loader phase"

    async def leave(self, phase: int) -> None:
        """Leave a phase as its technique says, so that none of its words is left in the router (§5.2.3)."""
        self.masked = False
        image = self.images.phases[phase]
        self.left = image.name
        agent = self.agents.get(phase)
        continues = image.online is not None and bool(self.images.operators[image.online].continues)
        meets = image.barrier is not None and image.barrier in self.router.operators
        for do in leaving(barrier=meets, technique=image.technique):
            if do == Do.MEET_ALL:
                await self._meet_all(image, agent if continues else None)
                continue
            if do == Do.AWAIT_DEADLINE:
                self._refuse_unused(image)
            await self.router.take((do, phase, None), self.leave)
        if agent is not None and not continues:
            self._refuse_unread(agent)

    async def _meet_all(self, image: PhaseImage, agent: Agent | None) -> None:
        """Pass the barrier that closes a phase. ``agent``: serves online streams that continue in the next phase, or None."""
        assert image.barrier is not None
        self.leaving = image.name
        role = self.router.operators[image.barrier].roles[0]
        if agent is not None:
            agent.urgent, agent.called = role.lanes[-1].registers, False
        for lanes in by_step(role.lanes):
            await Transfer([lane_request(lane, 1, {}) for lane in lanes], Category.PSYNC)
        if agent is not None:
            agent.urgent, agent.called, self.masked = (), False, True
        await Wait(role.delay, Category.PSYNC)
        self.leaving = None

    def _refuse_unused(self, image: PhaseImage) -> None:
        """Refuse to leave a phase whose operators were loaded but not used: other nodes rely on their words' exchange."""
        due = self.router.due
        last = set(image.last) & due.keys() or due.keys()
        if due and not any(due[index] for index in last):
            operator = self.images.operators[min(last)]
            where, label = f"{operator.source}: " if operator.source else "", operator.label
            raise PointsmanError(
                f"{where}node {self.number} leaves phase '{image.name}' and has called {label}_load, but not used '{label}'",
                hint="whoever loads an operator uses it, or the next phase may begin without some of its nodes",
            )


def numesh_node(
    images: Images,
    number: int,
    clock: CycleClock,
    *,
    preloaded: bool = False,
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> Node:
    """A node of a program on the mesh of scheduled routers."""
    substrate = NumeshSubstrate(images, number, clock, preloaded=preloaded)
    return Node(substrate, images.topology, number, clock, functions)


def _replaced_port(program: Operator, number: int, parts: Sequence[tuple[Signature, Port]]) -> Port:
    """Port of an operator that others replace."""
    if program.flow == "functional":
        return ReplacedPort(program, number, parts)
    return (ReplacedAgreed if program.kind == "broadcast" else ReplacedSequence)(program, number, parts)
