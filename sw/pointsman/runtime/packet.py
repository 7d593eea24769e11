"""A node's side of a network of packet routers: operators as messages, each to an interface address (Metcalf 1997, §7.2).

A message is a header and its words. A reader that waits for node 3 and reads a header from node 5 (or for another virtual
address) puts that message aside in memory, where a later call takes it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from packet_router.header import pack_header, source_of
from packet_router.node import LAST, WORD
from pointsman.operators.api.operands import is_partial, runtime_operands, runtime_values
from pointsman.operators.messages import (
    MESSAGE,
    Call,
    Combine,
    Exchange,
    Receive,
    Script,
    Send,
    value_of,
)
from pointsman.operators.messages.agreement import agreed_values, known_words, plain_operator
from pointsman.operators.messages.online import legal_values
from pointsman.program.catalogue import OPERATORS
from pointsman.targets.packet import PacketOperator, PacketProgram
from pointsman.targets.packet.addresses import Address

from .api.node import Node
from .api.requests import Lane, Transfer
from .api.substrate import CHOSEN, HERE, CycleClock, Given, Permission, Port, Signature
from .api.substrate import Combine as Function

Words = np.ndarray


class PacketSubstrate:
    """A node of a program on packet routers: its messages put aside, and a port for each of its operators."""

    def __init__(self, program: PacketProgram, number: int, clock: CycleClock) -> None:
        self.program = program
        self.number = number
        self.clock = clock
        self.loops: Sequence[str] = program.structure.loops
        self.aside: dict[tuple[Address, int], deque[Words]] = {}
        """Messages that came too early, by address and source, oldest first."""
        self.words_at: dict[Address, int] = {}
        """Length in words, without headers, of messages to each virtual address of this node."""
        self.at = "before its first operator"
        hidden = [one.agreement for one in program.operators if one.agreement is not None]
        for one in (*program.operators, *hidden):
            words = 1 if one.operator.kind == "barrier" else one.operator.m
            for (node, _), address in one.addresses.items():
                if node == number and address.virtual is not None:
                    self.words_at[address] = words

    @property
    def name(self) -> str:
        return self.program.name

    def ports(self) -> Sequence[tuple[Signature, Port | None]]:
        return [
            (
                _signature(one),
                PacketPort(self, one, instance) if (instance := self._instance(one)) is not None else None,
            )
            for one in self.program.operators
        ]

    def _instance(self, one: PacketOperator) -> int | None:
        for number, instance in enumerate(one.operator.instances):
            if self.number in instance.nodes:
                return number
        return None

    async def init(self) -> None:
        """Packet routers need no loading."""

    async def fini(self) -> None:
        """A node may stop at once: the routers pass on messages by themselves."""

    def where(self) -> str:
        aside = sum(map(len, self.aside.values()))
        return self.at + (f", with {aside} messages put aside" if aside else "")

    # -- messages --------------------------------------------------------------------------------------------

    def outgoing(self, to: int, address: Address, words: Words) -> list[Lane]:
        """Lanes that send ``words`` to ``address`` of node ``to``: header words first, the last word marked as the last."""
        head = [pack_header(self.program.shape, to, address.number, source=self.number)]
        if address.virtual is not None:
            head.append(address.virtual)
        body = np.concatenate([np.array(head, np.uint32), words[:-1]])
        return [
            Lane(True, WORD, len(body), body),
            Lane(True, LAST, 1, words[-1:].copy(), after=None),
        ]

    def found(self, address: Address, source: int | None) -> Words | None:
        """Take the oldest message from ``source`` (None: any node) for ``address`` that was put aside; None if there is none."""
        for (at, origin), messages in self.aside.items():
            if at == address and source in (None, origin) and messages:
                return messages.popleft()
        return None

    def put_aside(self, address: Address, source: int, words: Words) -> None:
        self.aside.setdefault((address, source), deque()).append(words)

    async def head(self, number: int) -> tuple[int, int | None]:
        """Read the header of the next message at an interface address: its source and its virtual address."""
        multiplexed = any(address.number == number for address in self.words_at)
        words = np.zeros(2 if multiplexed else 1, np.uint32)
        await Transfer(Lane(False, number, len(words), words))
        return source_of(int(words[0])), int(words[1]) if multiplexed else None


class PacketPort:
    """An operator at a node: carries out the steps of its script."""

    def __init__(self, substrate: PacketSubstrate, one: PacketOperator, instance: int) -> None:
        self.substrate = substrate
        self.one = one
        self.instance = instance
        self.operator = plain_operator(one.operator)
        self.agreement = None if one.agreement is None else PacketPort(substrate, one.agreement, instance)
        self.script: Script | None = None
        self.calls: dict[str, int] = {}
        self.result = True
        """Whether ``func`` gives a message at this node: for a reduce at its destination only, otherwise everywhere."""

    async def load(self, given: Given) -> Permission:
        operator = self.operator
        self.substrate.at = f"in operator '{operator.label}'"
        values = self._values(given)
        if self.agreement is not None:
            values = await self._agree(self.agreement, values)
        topology = self.substrate.program.topology
        self.script = self.one.way.script(operator, self.instance, self.substrate.number, values, topology)
        self.calls = {}
        nodes = operator.instances[self.instance].nodes
        if operator.kind == "reduce":
            self.result = nodes[value_of(operator, self.instance, "destination", values)] == self.substrate.number
        void = False
        if operator.valid is not None:
            void = nodes.index(self.substrate.number) not in operator.valid
        return Permission(self.script.kind, self.script.local, void)

    def stale(self) -> str | None:
        return None

    async def write(self, words: Words) -> None:
        await self._call("write", words, None, None)

    async def read(self, into: Words) -> bool:
        await self._call("read", None, into, None)
        return True

    async def func(self, words: Words | None, into: Words | None, combine: Function | None) -> bool:
        await self._call("func", words, into, combine)
        return self.result

    # -- inside ----------------------------------------------------------------------------------------------

    def _values(self, given: Given) -> tuple[Any, ...]:
        """Values for the script, an entry for each run-time operand; a function, or a permutation not given: None."""
        signature = _signature(self.one)
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
        await port.func(known_words(operator, own, values, m), words, _larger)
        return agreed_values(operator, self.instance, own, values, words)

    async def _call(self, name: str, words: Words | None, into: Words | None, combine: Function | None) -> None:
        script = self.script
        assert script is not None  # `OperatorFunctions` refuses calls before load
        several = script.calls[name]
        count = self.calls.get(name, 0)
        self.calls[name] = count + 1
        call: Call = several[count % len(several)]
        m = self.one.operator.m
        slots = [np.zeros(m, np.uint32) for _ in range(max(2, script.slots))]
        if words is not None:
            slots[MESSAGE][:] = words
        for step in call.steps:
            if isinstance(step, Send):
                await Transfer(self._lanes(step, slots))
            elif isinstance(step, Receive):
                await self._receive(step, slots)
            elif isinstance(step, Exchange):
                await self._exchange(step, slots)
            else:
                self._combine(step, slots, combine)
        if into is not None and call.result is not None:
            into[:] = slots[call.result]

    @staticmethod
    def _combine(step: Combine, slots: list[Words], combine: Function | None) -> None:
        assert combine is not None
        out = np.zeros_like(slots[step.into])
        combine(slots[step.left], slots[step.right], out)
        slots[step.into] = out

    def _lanes(self, step: Send, slots: list[Words]) -> list[Lane]:
        address = self.one.addresses[step.to, step.channel]
        return self.substrate.outgoing(step.to, address, slots[step.slot][: step.words])

    def _address(self, step: Receive) -> Address:
        return self.one.addresses[self.substrate.number, step.channel]

    async def _exchange(self, step: Exchange, slots: list[Words]) -> None:
        """Send a message while reading the next message at the address; put that aside if it is not the expected message."""
        receive = step.receive
        address = self._address(receive)
        out = self._lanes(step.send, slots)
        found = self.substrate.found(address, receive.source)
        if found is not None:
            await Transfer(out)
            slots[receive.slot][: receive.words] = found
            return
        words = len(slots[receive.slot][: receive.words])  # the compiler gives every message that may come this length
        head = 1 if address.virtual is None else 2
        into = np.zeros(head + words, np.uint32)
        await Transfer([Lane(False, address.number, head + words, into), *out])
        source = source_of(int(into[0]))
        came = address if address.virtual is None else Address(address.number, int(into[1]))
        if receive.source in (None, source) and came == address:
            slots[receive.slot][: receive.words] = into[head:]
            return
        self.substrate.put_aside(came, source, into[head:])
        await self._receive(receive, slots)

    async def _receive(self, step: Receive, slots: list[Words]) -> None:
        address = self._address(step)
        slot = slots[step.slot][: step.words]
        found = self.substrate.found(address, step.source)
        while found is None:
            source, virtual = await self.substrate.head(address.number)
            if step.source in (None, source) and virtual == address.virtual:
                await self._take(step, address, slot)
                return
            other = Address(address.number, virtual)
            early = np.zeros(len(slot) if virtual is None else self.substrate.words_at[other], np.uint32)
            await Transfer(Lane(False, address.number, len(early), early))
            self.substrate.put_aside(other, source, early)
        slot[:] = found
        for onward in step.forward:
            await Transfer(self._lanes(onward, slots))

    async def _take(self, step: Receive, address: Address, slot: Words) -> None:
        """Read the words behind a header; each goes on to the first of ``step.forward`` as it comes, to the rest afterwards."""
        lanes = [Lane(False, address.number, len(slot), slot)]
        if step.forward:
            first = step.forward[0]
            onward = self.one.addresses[first.to, first.channel]
            head = [pack_header(self.substrate.program.shape, first.to, onward.number, source=self.substrate.number)]
            if onward.virtual is not None:
                head.append(onward.virtual)
            header = np.array(head, np.uint32)
            lanes.append(Lane(True, WORD, len(head), header))
            if len(slot) > 1:
                lanes.append(Lane(True, WORD, len(slot) - 1, slot, after=0))
            lanes.append(Lane(True, LAST, 1, slot[-1:], after=0, after_all=True))
        await Transfer(lanes)
        for onward_step in step.forward[1:]:
            address_there = self.one.addresses[onward_step.to, onward_step.channel]
            await Transfer(self.substrate.outgoing(onward_step.to, address_there, slot))


def _larger(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    np.maximum(a, b, out=out)


def _signature(one: PacketOperator) -> Signature:
    operator = one.operator
    partial = tuple(name for name in runtime_operands(operator) if is_partial(operator, name))
    chosen = [
        name
        for name in runtime_operands(operator)
        if name in partial or next(o.sort for o in OPERATORS[operator.kind].operands if o.name == name) in CHOSEN
    ]
    function = dict(operator.instances[0].operands).get("function")
    return Signature(
        operator.label,
        operator.kind,
        str(operator.type),
        operator.m,
        runtime_operands(operator),
        ((),) if partial else runtime_values(operator),
        function if isinstance(function, str) else None,
        str(operator.position or ""),
        ranges=tuple(legal_values(operator, 0, name) for name in chosen) if partial else None,
        partial=partial,
    )


def packet_node(
    program: PacketProgram,
    number: int,
    clock: CycleClock,
    *,
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> Node:
    """A node of a program on packet routers."""
    return Node(PacketSubstrate(program, number, clock), program.topology, number, clock, functions)
