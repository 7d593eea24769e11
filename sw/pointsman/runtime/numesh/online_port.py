"""Operators whose messages processors pass on: scripts of messages, carried out by the node's agent."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pointsman.artifacts.images.images import Images, NodeOperator, OperatorImage
from pointsman.errors import PointsmanError
from pointsman.operators.api.operands import is_partial, taking_part
from pointsman.operators.messages import (
    COUNTED,
    POINT_TO_POINT,
    Call,
    Combine,
    Exchange,
    Receive,
    Script,
    Send,
    scripts_of,
)
from pointsman.operators.messages.agreement import larger, nobody_said, two_said
from pointsman.operators.messages.online import (
    AGREEING,
    UNKNOWN,
    agreement,
    agrees,
    channels_of,
    legal_values,
    way_named,
)
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Operator, Runtime
from pointsman.protocol.costs import LOAD_CYCLES
from pointsman.runtime.api.claims import told_in
from pointsman.runtime.api.requests import Category, Wait
from pointsman.runtime.api.substrate import CHOSEN, HERE, Given, Permission, Signature
from pointsman.runtime.api.substrate import Combine as Combining

from .online_agent import Agent, Service
from .online_messages import OnlineMessage, OnlineSending
from .port_host import PortHost


def refuse_unknown_ways(images: Images) -> None:
    """Refuse images with an operator whose messages this run time does not know how to pass on.

    Raises
    ------
    PointsmanError
        If a decomposition is unknown, or has another number of channels.
    """
    for image in images.operators:
        if image.online is None or image.program is None:
            continue
        channels = channels_of(image.program, way_named(image.way, image.kind))
        if channels != len(image.online):
            raise PointsmanError(
                f"{image.source}: operator '{image.label}' has {len(image.online)} destination queues, and "
                f"{image.way} needs {channels}",
                hint="compile the program again",
            )


class OnlinePort:
    """An online operator at a node: carries out the steps of its scripts through the node's agent."""

    def __init__(self, substrate: PortHost, index: int, operator: OperatorImage, view: NodeOperator) -> None:
        assert operator.online is not None
        assert operator.program is not None
        self.substrate = substrate
        self.router = substrate.router
        self.image = operator
        self.program: Operator = operator.program
        self.queues = operator.online
        self.way = way_named(operator.way, operator.kind)
        self.number = substrate.number
        self.position = view.position
        self.enters = view.enters
        self.instance = next(i for i, one in enumerate(self.program.instances) if self.number in one.nodes)
        self.scripts: list[tuple[int, Script]] = []
        self.loaded: tuple[Any, ...] | None = None
        self.calls: dict[str, int] = {}
        self.round = 0
        self.origin: int | None = None
        """Position of the node whose message was received last in this call."""
        self.counted = operator.kind in COUNTED and any(
            is_partial(self.program, name) for name, _ in self.program.instances[0].operands
        )
        valid = self.program.valid
        self.void = valid is not None and self.position not in valid

    async def load(self, given: Given) -> Permission:
        """Enter the phase; if the values are new, agree on them where needed and make this node's scripts."""
        if not self.image.continues:
            await self.router.enter(self.image.phase, self.substrate.leave)
        elif self.router.current not in self.image.continues:
            await self.router.enter(self.enters, self.substrate.leave)
            self.router.unused = True
        values = self._values(given)
        if agrees(self.program):
            values = await self._agree(values)
        if values != self.loaded:
            if self.loaded is not None or values:
                await Wait(LOAD_CYCLES, Category.REPROG)
            self.scripts = self._scripts(values)
            self.loaded = values
        self.calls = {}
        return Permission(self._kind(), self._local(), self.void)

    def stale(self) -> str | None:
        running = self.router.current
        if running in self.image.phases:
            return None
        phase = self.substrate.images.phases[running].name if running >= 0 else "loader"
        return f"has gone on to phase '{phase}' and must call {self.image.label}_load again"

    async def write(self, words: np.ndarray) -> None:
        if self.image.kind == "collect" and self.position == self._value("destination"):
            self._to_itself(words)
        else:
            await self._call("write", words, None, None)

    async def read(self, into: np.ndarray) -> bool:
        if self.void and self.image.kind in POINT_TO_POINT:
            return False
        return await self._call("read", None, into, None)

    async def func(self, words: np.ndarray | None, into: np.ndarray | None, combine: Combining | None) -> bool:
        await self._call("func", words, into, combine)
        if self.image.kind == "reduce":
            # Any other node has at most a part of the result.
            return self._value("destination") == self.position
        if self.image.kind in ("cshift", "eoshift", "permute"):
            nodes = self.program.instances[self.instance].nodes
            return self.origin is None or nodes.index(self.origin) in taking_part(self.program, self.instance)
        return True

    # -- values ----------------------------------------------------------------------------------------------

    def _values(self, given: Given) -> tuple[Any, ...]:
        """Values for the script, an entry for each run-time operand; None for a function."""
        numbers = iter(given.numbers)
        found: list[Any] = []
        sorts = {operand.name: operand.sort for operand in OPERATORS[self.program.kind].operands}
        for name, value in self.program.instances[0].operands:
            if not isinstance(value, Runtime):
                continue
            if sorts[name] == "function":
                found.append(None)
            elif sorts[name] == "permutation" and not value.distributed:
                assert given.permutation is not None
                found.append(given.permutation)
            else:
                number = next(numbers)
                here = number == HERE and is_partial(self.program, name)  # a distance may be any number
                found.append(self.position if here else number)
        return tuple(found)

    async def _agree(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """``values`` with the destination, which only that node knows: an allreduce with maximum in the nodes' load functions."""
        at = self.program.runtime_names.index("destination")
        operator = agreement(self.program)
        script = way_named("dyn_allreduce", "allreduce").script(
            operator, self.instance, self.number, (), self.substrate.images.topology
        )
        result = np.zeros(1, np.uint32)
        own = np.array([values[at] + 1 if values[at] != UNKNOWN else 0], np.uint32)
        await self._run(script.calls["func"][0], script.slots, own, result, larger, AGREEING, 1)
        if not result[0]:
            raise nobody_said(self._where(), self.image.label, "destination")
        said = int(result[0]) - 1
        if values[at] not in (UNKNOWN, said):
            raise two_said(self._where(), self.image.label, "destination", (self.position, values[at]), (None, said))
        return (*values[:at], said, *values[at + 1 :])

    def _where(self) -> str:
        return f"{self.image.source}: " if self.image.source else ""

    def _scripts(self, values: tuple[Any, ...]) -> list[tuple[int, Script]]:
        """The node's scripts, each with its instance; several if it writes in an instance and reads in another."""
        return scripts_of(self.program, self.way, self.number, values, self.substrate.images.topology)

    def _value(self, name: str) -> Any:
        """Value of the operand ``name`` of this node's instance, as loaded if it is a run-time operand."""
        assert self.loaded is not None
        value = self.program.instances[self.instance].operand(name)
        return self.loaded[self.program.runtime_names.index(name)] if isinstance(value, Runtime) else value

    def _to_itself(self, words: np.ndarray) -> None:
        """Append the own message of a collect's destination to the messages that it has received."""
        agent = self.substrate.agent
        assert agent is not None  # alone in its instance, the node would not come here
        here = OnlineMessage(self.number, self.queues[0], 0, words.astype(np.uint32), len(words))
        agent.queues[self.queues[0]].append(here)
        agent.held += len(words)

    def _kind(self) -> Any:
        kinds = {script.kind for _, script in self.scripts}
        if len(kinds) > 1 or (self.image.kind == "collect" and kinds == {"read"}):
            return "both"
        return next(iter(kinds), "none")

    def _local(self) -> bool:
        return any(script.local for _, script in self.scripts)

    # -- calls -----------------------------------------------------------------------------------------------

    async def _call(
        self, function: str, words: np.ndarray | None, into: np.ndarray | None, combine: Combining | None
    ) -> bool:
        script = next(script for _, script in self.scripts if function in script.calls)
        several = script.calls[function]
        count = self.calls.get(function, 0)
        self.calls[function] = count + 1
        call = several[count % len(several)]
        self.origin = None
        await self._run(call, script.slots, words, into, combine, 0, self.image.m)
        self.round += 1
        return call.result is not None

    async def _run(
        self,
        call: Call,
        count: int,
        words: np.ndarray | None,
        into: np.ndarray | None,
        combine: Callable[[np.ndarray, np.ndarray, np.ndarray], Any] | None,
        channel: int,
        m: int,
    ) -> None:
        agent = self.substrate.agent
        slots = [np.zeros(m, np.uint32) for _ in range(max(2, count))]
        if words is not None:
            slots[0][:] = words
        sendings: list[OnlineSending] = []

        def send(step: Send, message: OnlineMessage | None = None) -> None:
            assert agent is not None  # nodes that send or receive have channels
            queue = self.queues[channel + step.channel]
            round_ = self.round if self.counted else 0
            if message is None:
                length = agent.lengths[queue]
                sendings.append(agent.send(step.to, queue, slots[step.slot][:length].tolist(), round_))
            else:
                sendings.append(agent.forward(message, step.to, queue, round_))

        for step in call.steps:
            if isinstance(step, Combine):
                assert combine is not None
                await Wait(m, Category.CPU)
                combine(slots[step.left], slots[step.right], slots[step.into])
                continue
            if isinstance(step, Send):
                send(step)
                continue
            if isinstance(step, Exchange):
                send(step.send)
            receive: Receive = step.receive if isinstance(step, Exchange) else step
            queue = self.queues[channel + receive.channel]
            assert agent is not None
            message = await self._arrival(agent, receive, queue)
            if (message.source, queue) not in agent.passed_on:
                for onward in receive.forward:
                    send(onward, message)
            if not message.whole:
                await Service(agent.until(partial(_is_whole, message), Category.READ))
            agent.take(message)
            self.origin = message.source
            slots[receive.slot][: message.total] = message.data
        if any(not sending.sent for sending in sendings):
            assert agent is not None
            await Service(agent.until(lambda: all(one.sent for one in sendings), Category.WRITE))
        if into is not None and call.result is not None:
            into[:] = slots[call.result]

    async def _arrival(self, agent: Agent, receive: Receive, queue: int) -> OnlineMessage:
        """Wait for the header of the message that ``receive`` names; gives the message, whose words may still be coming."""
        round_ = self.round if self.counted and receive.source is None else None
        found: list[OnlineMessage] = []

        def here() -> bool:
            message = agent.find(receive.source, queue, round_)
            if message is not None:
                found.append(message)
            return message is not None

        await Service(agent.until(here, Category.READ))
        return found[0]


def _is_whole(message: OnlineMessage) -> bool:
    return message.whole


def online_signature(image: OperatorImage, program: Operator) -> Signature:
    """Signature that applications see of an online operator; ranges of its run-time values instead of all combinations."""
    ranges: list[tuple[int, ...] | range] = []
    partial = []
    runtime = []
    function: str | None = None
    sorts = {operand.name: operand.sort for operand in OPERATORS[program.kind].operands}
    for name, value in program.instances[0].operands:
        if not isinstance(value, Runtime):
            if sorts[name] == "function" and isinstance(value, str):
                function = value
            continue
        runtime.append(name)
        partly = value.distributed or value.dynamic
        if partly:
            partial.append(name)
        if sorts[name] in CHOSEN or (partly and sorts[name] == "permutation"):
            ranges.append(legal_values(program, 0, name))
    return Signature(
        image.label,
        image.kind,
        image.type,
        image.m,
        tuple(runtime),
        function=function,
        source=image.source,
        ranges=tuple(ranges),
        partial=tuple(partial),
        told_in=told_in(program),
    )
