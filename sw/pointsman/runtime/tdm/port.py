"""An operator at a node of its subset, on the switch: carries out the steps of its script."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from pointsman.artifacts.images.images import IoKind
from pointsman.artifacts.tables import ConnectionTables
from pointsman.errors import PointsmanError
from pointsman.operators.messages import Call, Exchange, Receive, Script, Send, value_of
from pointsman.operators.messages import Combine as CombineStep
from pointsman.operators.messages.agreement import agreed_values, known_words, larger, plain_operator
from pointsman.operators.messages.crossbar import way_named
from pointsman.runtime.api.requests import Category, Lane, Transfer
from pointsman.runtime.api.substrate import CHOSEN, HERE, UNKNOWN, Combine, Given, Permission
from pointsman.runtime.reference import signature_of_operator

from .interface import Interface
from .messages import Messages


class Host(Protocol):
    """What the operators of a node share. ``loaded``: operators that may be used without being loaded again, by number;
    ``ended_by``: of those that may not, whose load ended that."""

    tables: ConnectionTables
    number: int
    interface: Interface
    messages: Messages
    loaded: set[int]
    ended_by: dict[int, int]


class TdmPort:
    """An operator at a node of its subset; see `pointsman.runtime.api.substrate.Port`."""

    def __init__(self, substrate: Host, index: int) -> None:
        self.substrate = substrate
        self.index = index
        self.table = table = substrate.tables.operators[index]
        self.operator = table.operator if table.agreement < 0 else plain_operator(table.operator)
        self.agreement = None if table.agreement < 0 else TdmPort(substrate, table.agreement)
        self.interface = substrate.interface
        self.messages = substrate.messages
        self.way = way_named(table.way, table.operator.kind)
        self.signature = signature_of_operator(table.operator)
        self.instances = [i for i, one in enumerate(self.operator.instances) if substrate.number in one.nodes]
        self.scripts: list[Script] = []
        self.count: dict[str, int] = {}
        self.kept: deque[np.ndarray] = deque()
        """Messages of a collect that the destination has written, oldest first."""
        self.gets = True
        """Whether ``func`` gives a message at this node: for a reduce at its destination only, otherwise everywhere."""

    async def load(self, given: Given) -> Permission:
        tables, number = self.substrate.tables, self.substrate.number
        category = Category.REPROG if self.table.second_level else Category.ROUTER
        await self.interface.enter(self.table.sets[given.index], category)
        staying = self.substrate.loaded & tables.beside[self.index]
        self.substrate.ended_by.update(dict.fromkeys(self.substrate.loaded - staying, self.index))
        self.substrate.loaded = staying | {self.index}
        self.scripts = []
        self.gets = self.operator.kind != "reduce"
        for i in self.instances:
            own = self._own(i)
            values = self._values(given, own)
            if self.agreement is not None:
                values = await self._agree(self.agreement, i, own, values)
            self._check(i, own, values)
            self.scripts.append(self.way.script(self.operator, i, number, values, tables.topology))
            self.gets |= self.operator.kind == "reduce" and own == value_of(self.operator, i, "destination", values)
        self.count = {}
        kinds = {self._kind(script) for script in self.scripts} - {"none"}
        kind = kinds.pop() if len(kinds) == 1 else "both" if kinds else "none"
        return Permission(kind, local=any(script.local for script in self.scripts), void=self._void())

    def stale(self) -> str | None:
        if self.index in self.substrate.loaded:
            return None
        table = self.substrate.tables.operators[self.substrate.ended_by[self.index]]
        return f"has gone on to operator '{table.operator.label}' and must call {self.operator.label}_load again"

    async def write(self, words: np.ndarray) -> None:
        await self._call("write", words, None, None)

    async def read(self, into: np.ndarray) -> bool:
        return await self._call("read", None, into, None)

    async def func(self, words: np.ndarray | None, into: np.ndarray | None, combine: Combine | None) -> bool:
        return await self._call("func", words, into, combine)

    # -- inside ----------------------------------------------------------------------------------------------

    def _kind(self, script: Script) -> IoKind:
        """The destination of a collect writes, too."""
        return "both" if self.operator.kind == "collect" and script.kind == "read" else script.kind

    def _values(self, given: Given, own: int) -> list[Any]:
        """Values for a script, an entry for each run-time operand; a function, or what this node does not know: None or -1."""
        numbers = iter(given.numbers)
        values: list[Any] = []
        for name, sort in zip(self.signature.runtime, self.signature.sorts, strict=True):
            partial = name in self.signature.partial
            if sort == "permutation" and given.permutation is not None:
                values.append(list(given.permutation))
            elif sort in CHOSEN or partial:
                number = next(numbers)
                values.append(own if number == HERE and partial else number)
            else:
                values.append(None)
        return values

    async def _agree(self, port: TdmPort, instance: int, own: int, values: list[Any]) -> list[Any]:
        """Exchange the known run-time values among all nodes of an instance, by an allreduce with maximum; gives all values."""
        operator, m = self.table.operator, port.operator.m
        port.scripts = [
            port.way.script(port.operator, instance, self.substrate.number, (), self.substrate.tables.topology)
        ]
        slots = [np.zeros(m, np.uint32) for _ in range(max(2, port.scripts[0].slots))]
        slots[0][:] = known_words(operator, own, values, m)
        (call,) = port.scripts[0].calls["func"]
        await port._run(call, slots, larger)
        assert call.result is not None
        return list(agreed_values(operator, instance, own, values, slots[call.result]))

    def _check(self, instance: int, own: int, values: list[Any]) -> None:
        """The writer of a stream has to know where it goes to."""
        operator = self.operator
        if operator.kind == "stream" and own == value_of(operator, instance, "source", values):
            if value_of(operator, instance, "destination", values) == UNKNOWN:
                raise PointsmanError(
                    f"{operator.position}: {operator.label}_load: node {self.substrate.number} writes and must give the "
                    "destination"
                )

    def _void(self) -> bool:
        operator = self.operator
        if operator.valid is None:
            return False
        return not any(self._own(i) in operator.valid for i in self.instances)

    def _own(self, instance: int) -> int:
        """Position of this node in an instance."""
        return self.operator.instances[instance].nodes.index(self.substrate.number)

    async def _call(
        self, what: str, words: np.ndarray | None, into: np.ndarray | None, combine: Combine | None
    ) -> bool:
        if what == "write" and words is not None and self._is_destination():
            self.kept.append(words.copy())
            return False
        if what == "read" and into is not None and self.kept:
            into[:] = self.kept.popleft()
            return True
        await self.interface.ready()
        at = next((i for i, one in enumerate(self.scripts) if what in one.calls), None)
        if at is None:
            return False
        script, valid = self.scripts[at], self._valid(self.instances[at])
        calls = script.calls[what]
        if valid is not None and self.operator.flow == "directional" and self.operator.kind != "broadcast":
            # Only valid nodes read and write; a message to any other node would stay in its buffer unread.
            calls = tuple(call for call in calls if all(peer is None or peer in valid for peer in _peers(call)))
            if not calls or self.substrate.number not in valid:
                return False
        count = self.count.get(what, 0)
        self.count[what] = count + 1
        call = calls[count % len(calls)]
        slots = [np.zeros(self.operator.m, np.uint32) for _ in range(max(2, script.slots))]
        if words is not None:
            slots[0][:] = words
        await self._run(call, slots, combine, self.instances[at])
        if call.result is None:
            return False
        if into is not None:
            into[:] = slots[call.result]
        if valid is not None and self.operator.kind in ("cshift", "eoshift", "permute"):
            return all(step.receive.source in valid for step in call.steps if isinstance(step, Exchange)) and all(
                step.source in valid for step in call.steps if isinstance(step, Receive)
            )
        return self.gets

    def _valid(self, instance: int) -> frozenset[int] | None:
        """Nodes of an instance that ``:valid`` lists; None: no ``:valid`` is given, all take part."""
        places = self.operator.valid
        if places is None:
            return None
        nodes = self.operator.instances[instance].nodes
        return frozenset(nodes[place] for place in places)

    def _is_destination(self) -> bool:
        """Is this node the destination of the collect?"""
        return self.operator.kind == "collect" and any("read" in script.calls for script in self.scripts)

    async def _run(self, call: Call, slots: list[np.ndarray], combine: Combine | None, instance: int = 0) -> None:
        sends: list[Send] = []
        for step in call.steps:
            if isinstance(step, Send):
                sends.append(step)
                continue
            await self._send(sends, slots)
            sends = []
            if isinstance(step, Receive) and step.source is None:
                nodes = self.operator.instances[instance].nodes
                valid = self._valid(instance) or nodes
                others = [node for node in nodes if node in valid and node != self.substrate.number]
                await self.messages.from_anybody(self.index, others, _part(slots, step))
            elif isinstance(step, Receive):
                await self._receive([], step, slots)
            elif isinstance(step, Exchange):
                await self.interface.take_turn(step.send.to)
                await self._receive(self._lanes(step.send, slots), step.receive, slots)
            elif isinstance(step, CombineStep):
                assert combine is not None
                combine(slots[step.left], slots[step.right], slots[step.into])
        await self._send(sends, slots)

    async def _send(self, sends: Sequence[Send], slots: list[np.ndarray]) -> None:
        """Carry out consecutive sends together: while the queue of one destination is full, words go to another's.

        Where configurations are taken in turn there is a row for one destination at a time.
        """
        if self.interface.takes_turns:
            for send in sends:
                await self.interface.take_turn(send.to)
                await Transfer(self._lanes(send, slots))
        elif sends:
            await Transfer([lane for send in sends for lane in self._lanes(send, slots)])

    async def _receive(self, out: Sequence[Lane], receive: Receive, slots: list[np.ndarray]) -> None:
        """Read a message while the words of ``out`` are sent, and pass it on as it comes."""
        source = receive.source
        assert source is not None
        into = _part(slots, receive)
        found = None
        if self.messages.mark_comes(self.index, source):
            found, out = await self.messages.wait_for(self.index, source, out)
        if receive.forward:
            await self.interface.take_turn(receive.forward[0].to)
        if found is not None:
            into[:] = found
            await Transfer([*out, *(lane for send in receive.forward for lane in self._lanes(send, slots))])
            return
        marks = sum((self.substrate.number, send.to) in self.messages.marked[self.index] for send in receive.forward)
        at = len(out) + len(receive.forward) + marks
        # Forwarding comes before reading: other nodes wait for these words.
        forward = [lane for send in receive.forward for lane in self._lanes(send, slots, after=at)]
        register = self.interface.registers.buffer(source)
        await Transfer([*out, *forward, Lane(False, register, len(into), into)])

    def _lanes(self, send: Send, slots: list[np.ndarray], after: int | None = None) -> list[Lane]:
        return self.messages.outgoing(self.index, send.to, _part(slots, send), after=after)


def _peers(call: Call) -> list[int | None]:
    """Nodes that a call of a directional operator sends to or receives from."""
    found: list[int | None] = [step.to for step in call.steps if isinstance(step, Send)]
    return found + [step.source for step in call.steps if isinstance(step, Receive)]


def _part(slots: list[np.ndarray], step: Send | Receive) -> np.ndarray:
    """The words of a message in its slot."""
    return slots[step.slot][: step.words]
