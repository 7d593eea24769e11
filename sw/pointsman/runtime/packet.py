"""A node's side of a network of packet routers: operators as messages, each to an interface address (Metcalf 1997, §7.2).

A message is a header and its words. The header says whose it is (`Address`) and from where; what a node does not wait for is
kept in memory, where a later call finds it (``packet_inbox``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from packet_router.header import pack_header
from packet_router.node import LAST, WORD
from pointsman.operators.api.operands import taking_part
from pointsman.operators.messages import (
    MESSAGE,
    POINT_TO_POINT,
    Call,
    Combine,
    Exchange,
    Receive,
    Script,
    Send,
    among_valid,
    value_of,
)
from pointsman.operators.messages.agreement import agreed_values, known_words, larger, plain_operator
from pointsman.targets.packet import PacketOperator, PacketProgram
from pointsman.targets.packet.addresses import Address

from .api.node import Node
from .api.requests import Lane
from .api.substrate import CHOSEN, HERE, CycleClock, Given, Permission, Port, Signature
from .api.substrate import Combine as Function
from .packet_inbox import Inbox
from .reference import signature_of_operator

Words = np.ndarray


class PacketSubstrate:
    """A node of a program on packet routers: the messages that have come to it, and a port for each of its operators."""

    def __init__(self, program: PacketProgram, number: int, clock: CycleClock) -> None:
        self.program = program
        self.number = number
        self.clock = clock
        self.loops: Sequence[str] = program.structure.loops
        self.at = "before its first operator"
        hidden = [one.agreement for one in program.operators if one.agreement is not None]
        self.inbox = Inbox(
            {
                address: one.words
                for one in (*program.operators, *hidden)
                for (node, _), address in one.addresses.items()
                if node == number
            }
        )

    @property
    def name(self) -> str:
        return self.program.name

    def ports(self) -> Sequence[tuple[Signature, Port | None]]:
        return [(signature_of_operator(one.operator), self._port(one)) for one in self.program.operators]

    def _port(self, one: PacketOperator) -> Port | None:
        instances = [i for i, instance in enumerate(one.operator.instances) if self.number in instance.nodes]
        return PacketPort(self, one, instances) if instances else None

    async def init(self) -> None:
        """Packet routers need no loading."""

    async def fini(self) -> None:
        """A node may stop at once: the routers pass on messages by themselves."""

    def where(self) -> str:
        kept = self.inbox.count()
        return self.at + (f", with {kept} messages put aside" if kept else "")

    def header(self, to: int, address: Address) -> Words:
        """The words before a message to ``address`` of node ``to``."""
        words = [pack_header(self.program.shape, to, address.number, source=self.number, tag=address.tag)]
        if address.virtual is not None:
            words.append(address.virtual)
        return np.array(words, np.uint32)

    def outgoing(self, to: int, address: Address, words: Words) -> list[Lane]:
        """Lanes that send ``words`` to ``address`` of node ``to``: header words first, the last word marked as the last."""
        body = np.concatenate([self.header(to, address), words[:-1]])
        return [Lane(True, WORD, len(body), body), Lane(True, LAST, 1, words[-1:].copy())]

    def onward(self, to: int, address: Address, words: Words) -> list[Lane]:
        """Lanes that send ``words`` as lane 0 of the same transfer reads them."""
        header = self.header(to, address)
        lanes = [Lane(True, WORD, len(header), header)]
        if len(words) > 1:
            lanes.append(Lane(True, WORD, len(words) - 1, words, after=0))
        return [*lanes, Lane(True, LAST, 1, words[-1:], after=0, after_all=True)]


class PacketPort:
    """An operator at a node, in all instances that have the node: carries out the steps of its scripts."""

    def __init__(self, substrate: PacketSubstrate, one: PacketOperator, instances: Sequence[int]) -> None:
        self.substrate = substrate
        self.one = one
        self.instances = instances
        self.instance = instances[0]
        """The instance in which the node takes part in a functional operator."""
        self.operator = plain_operator(one.operator)
        self.agreement = None if one.agreement is None else PacketPort(substrate, one.agreement, instances)
        self.scripts: dict[str, Script] = {}
        """Script by function that it has, after load."""
        self.calls: dict[str, int] = {}
        self.result = True
        """Whether ``func`` gives a message at this node."""
        self.void = False
        """Is the node in no instance among those that are ``:valid``?"""
        self.round = 0
        """Calls so far."""

    async def load(self, given: Given) -> Permission:
        operator = self.operator
        self.substrate.at = f"in operator '{operator.label}'"
        values = self._values(given)
        if self.agreement is not None:
            values = await self._agree(self.agreement, values)
        topology, number = self.substrate.program.topology, self.substrate.number
        self.scripts, self.calls = {}, {}
        parts = []
        for instance in self.instances[:1] if operator.flow == "functional" else self.instances:
            script = among_valid(operator, instance, self.one.way.script(operator, instance, number, values, topology))
            for name in script.calls:
                self.scripts.setdefault(name, script)
            nodes = operator.instances[instance].nodes
            void = nodes.index(number) not in taking_part(operator, instance)
            if script.kind != "none":
                parts.append(Permission(script.kind, script.local, void))
        nodes = operator.instances[self.instance].nodes
        if operator.kind == "reduce":
            self.result = nodes[value_of(operator, self.instance, "destination", values)] == number
        self.void = all(part.void for part in parts)
        kinds = {part.kind for part in parts}
        if operator.kind == "collect" and "read" in kinds:
            kinds.add("write")  # the destination may be among the writers
        if not kinds:
            return Permission("none")
        kind = kinds.pop() if len(kinds) == 1 else "both"
        return Permission(kind, any(part.local for part in parts), self.void)

    def stale(self) -> str | None:
        return None

    async def write(self, words: Words) -> None:
        if "write" not in self.scripts:
            # To itself: the destination of a collect.
            self.substrate.inbox.keep(self._address(0), self.substrate.number, words.copy())
            return
        await self._call("write", words, None, None)

    async def read(self, into: Words) -> bool:
        if self.void and self.operator.kind in POINT_TO_POINT:
            return False
        await self._call("read", None, into, None)
        return True

    async def func(self, words: Words | None, into: Words | None, combine: Function | None) -> bool:
        origin = await self._call("func", words, into, combine)
        if self.operator.kind in ("cshift", "eoshift", "permute") and origin is not None:
            nodes = self.operator.instances[self.instance].nodes
            return nodes.index(origin) in taking_part(self.operator, self.instance)
        return self.result

    # -- inside ----------------------------------------------------------------------------------------------

    def _values(self, given: Given) -> tuple[Any, ...]:
        """Values for the script, an entry for each run-time operand; a function, or a permutation not given: None."""
        signature = signature_of_operator(self.one.operator)
        own = self.operator.instances[self.instance].nodes.index(self.substrate.number)
        numbers = iter(given.numbers)
        values: list[Any] = []
        for name, sort in zip(signature.runtime, signature.sorts, strict=True):
            if sort in CHOSEN or name in signature.partial:
                number = next(numbers)
                values.append(own if number == HERE and name in signature.partial else number)
            else:
                values.append(list(given.permutation) if sort == "permutation" and given.permutation else None)
        return tuple(values)

    async def _agree(self, port: PacketPort, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Exchange the known run-time values among all nodes of the instance, by an allreduce with maximum; gives all values."""
        operator, m = self.one.operator, port.one.operator.m
        own = operator.instances[self.instance].nodes.index(self.substrate.number)
        await port.load(Given((), 0, None))
        words = np.zeros(m, np.uint32)
        await port.func(known_words(operator, own, values, m), words, larger)
        return agreed_values(operator, self.instance, own, values, words)

    async def _call(self, name: str, words: Words | None, into: Words | None, combine: Function | None) -> int | None:
        """Carry out a call; gives the source of the last message that came, if any."""
        script = self.scripts[name]  # `OperatorFunctions` refuses calls before load
        several = script.calls[name]
        count = self.calls.get(name, 0)
        self.calls[name] = count + 1
        call: Call = several[count % len(several)]
        origin: int | None = None
        m = self.one.operator.m
        slots = [np.zeros(m, np.uint32) for _ in range(max(2, script.slots))]
        if words is not None:
            slots[MESSAGE][:] = words
        for step in call.steps:
            if isinstance(step, Send):
                await self.substrate.inbox.send(self._lanes(step, slots))
            elif isinstance(step, Receive):
                origin = await self._receive(step, slots)
            elif isinstance(step, Exchange):
                origin = await self._receive(step.receive, slots, beside=self._lanes(step.send, slots))
            else:
                self._combine(step, slots, combine)
        if into is not None and call.result is not None:
            into[:] = slots[call.result]
        self.round += 1
        return origin

    @staticmethod
    def _combine(step: Combine, slots: list[Words], combine: Function | None) -> None:
        assert combine is not None
        out = np.zeros_like(slots[step.into])
        combine(slots[step.left], slots[step.right], out)
        slots[step.into] = out

    def _lanes(self, step: Send, slots: list[Words]) -> list[Lane]:
        address = self.one.addresses[step.to, step.channel]
        words = slots[step.slot][: step.words]
        if self.one.counted:
            words = np.concatenate([np.array([self.round], np.uint32), words])
        return self.substrate.outgoing(step.to, address, words)

    def _address(self, channel: int) -> Address:
        """Where messages on ``channel`` come to this node."""
        return self.one.addresses[self.substrate.number, channel]

    async def _receive(self, step: Receive, slots: list[Words], *, beside: Sequence[Lane] = ()) -> int:
        """Receive a message, and send it on: to the first of ``step.forward`` as it comes, to the rest afterwards."""
        inbox, slot = self.substrate.inbox, slots[step.slot][: step.words]
        address = self._address(step.channel)
        if self.one.counted:
            whole = np.zeros(self.one.words, np.uint32)
            first = self.round if step.source is None else None
            origin, _ = await inbox.receive(address, step.source, whole, first=first, beside=beside)
            slot[:] = whole[1:]
            for later in step.forward:
                await inbox.send(self._lanes(later, slots))
            return origin
        onward: list[Lane] = []
        for send in step.forward[:1]:
            onward = self.substrate.onward(send.to, self.one.addresses[send.to, send.channel], slot)
        origin, passed = await inbox.receive(address, step.source, slot, beside=beside, onward=onward)
        for later in step.forward[int(passed) :]:
            await inbox.send(self._lanes(later, slots))
        return origin


def packet_node(
    program: PacketProgram,
    number: int,
    clock: CycleClock,
    *,
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> Node:
    """A node of a program on packet routers."""
    return Node(PacketSubstrate(program, number, clock), program.topology, number, clock, functions)
