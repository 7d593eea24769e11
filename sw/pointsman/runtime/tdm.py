"""The substrate of the time-multiplexed switch: a node's network interface, its rows of the configurations, its messages.

No node coordinates the others. A processor that loads an operator of another working set waits until its queued words are
sent, then replaces its own row of every configuration by commands to the scheduler (docs/tdm_target.md derives why this is
safe, and why no processor waits for ever). Words of an operator go through the queues of the interface.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pointsman.artifacts.tables import ConnectionTables, OperatorTable
from pointsman.errors import PointsmanError
from pointsman.operators.messages import Call, Exchange, Receive, Script, Send, value_of
from pointsman.operators.messages import Combine as CombineStep
from pointsman.operators.messages.crossbar import arguments, way_named
from pointsman.program.program import Runtime
from tdm_switch.codes import NOWHERE, Answer, Command, Predictor, Registers, decode_answer, encode, encode_predictor

from .api.node import Node
from .api.requests import Category, Lane, Transfer, WaitEmpty, WaitUntil
from .api.substrate import Combine, CycleClock, Given, Permission, Signature

OWN_ROWS = 1
"""Mode of LOAD and FLUSH that changes only the rows of the processor that gives the command."""
STEADY_COMMAND_CYCLES = 4
"""Cycles between two commands of a processor while no other processor sends commands."""
DYNAMIC, GIVES_WAY = 1, 2
"""Modes of a slot: it takes dynamic connections; its idle preloaded connections may be replaced for a time."""


class Interface:
    """A processor's side of the switch: the working set that it has entered, and which of its rows are in the registers."""

    def __init__(self, tables: ConnectionTables, number: int, clock: CycleClock) -> None:
        self.tables = tables
        self.number = number
        self.clock = clock
        self.registers = Registers(tables.shape)
        self.current = -1
        """Working set that the processor has entered; -1: none."""
        self.phase = -1
        """Phase of the last operator that was loaded."""
        self.rows: list[int | None] = [None] * tables.registers
        """Destination that stands in each register of the tables."""
        self.wanted: list[int | None] = [None] * tables.registers
        self.held: set[int] = set()
        self.refused = 0
        """Loads that were refused because another row still had the destination."""

    async def start(self) -> None:
        """After reset: processor 0 sets modes and time-out of the whole switch and loads all rows of the first working set.
        The other processors wait until that is done."""
        tables = self.tables
        words = [encode(Command.SLOT, x=slot, mode=DYNAMIC | GIVES_WAY) for slot in range(tables.registers)]
        if tables.timeout:
            words.append(encode_predictor(Predictor.TIMEOUT, tables.timeout))
        if tables.registers and tables.sets:
            for register, configuration in enumerate(tables.sets[0].configurations):
                words += [encode(Command.STAGE, x=u, y=v) for u, v in configuration]
                words += [encode(Command.LOAD, x=register)] * bool(configuration)
            self.rows = list(tables.sets[0].row(self.number))
            self.wanted = list(self.rows)
        if self.number == 0:
            await self.command(words, Category.ROUTER)
            await WaitEmpty(self.registers.command, Category.ROUTER)
        end = STEADY_COMMAND_CYCLES * (len(words) + 1)
        if self.clock.time > end:
            raise PointsmanError(f"the switch was not set up within {end} cycles", hint="is something else using it?")
        await WaitUntil(end, Category.ROUTER)

    async def command(self, words: Sequence[int], category: Category) -> None:
        """Send commands; they are carried out in order."""
        if words:
            data = np.array(words, np.uint32)
            await Transfer([Lane(True, self.registers.command, len(words), data)], category)

    async def enter(self, number: int, category: Category) -> None:
        """Go on to another working set."""
        if number == self.current:
            return
        chosen = self.tables.sets[number]
        self.wanted = list(chosen.row(self.number))
        changes = self.wanted != self.rows
        if changes:
            # This node's queued words go out by the old rows; after that no word needs these rows.
            await WaitEmpty(self.registers.unsent, Category.PSYNC)
        words = []
        if chosen.flush and self.current >= 0:
            words.append(encode(Command.FLUSH, mode=OWN_ROWS))
            self.held.clear()
        held = {v for u, v in chosen.hold if u == self.number}
        words += [encode(Command.RELEASE, x=v) for v in sorted(self.held - held)]
        words += [encode(Command.HOLD, x=v) for v in sorted(held - self.held)]
        self.held = held
        self.current = number
        await self.command(words, category)
        if changes:
            await self.load_rows(category)

    async def load_rows(self, category: Category) -> None:
        """Load this node's missing rows of the working set. A refused row is left to the scheduler until the next call."""
        exclusive = self.tables.sets[self.current].exclusive
        for register, (stands, wanted) in enumerate(zip(self.rows, self.wanted, strict=True)):
            if stands == wanted:
                continue
            words = [
                encode(Command.STAGE, x=self.number, y=NOWHERE if wanted is None else wanted),
                encode(Command.LOAD, x=register, mode=OWN_ROWS),
            ]
            if wanted is None or exclusive:
                await self.command(words, category)
                self.rows[register] = wanted
            elif await self._asked(words, category):
                self.rows[register] = wanted
            else:
                self.refused += 1
                if stands is not None:  # the old row must go in any case
                    await self.command([encode(Command.STAGE, x=self.number, y=NOWHERE), words[1]], category)
                    self.rows[register] = None

    async def _asked(self, words: Sequence[int], category: Category) -> bool:
        """Send commands and then a query; were all accepted? (A refused command answers CONFLICT before the query's VALUE.)"""
        await self.command([*words, encode(Command.DEGREE)], category)
        good = True
        while True:
            answer = np.zeros(1, np.uint32)
            await Transfer([Lane(False, self.registers.answer, 1, answer)], category)
            kind, _ = decode_answer(int(answer[0]))
            if kind == Answer.VALUE:
                return good
            if kind != Answer.CONFLICT:
                raise PointsmanError(
                    f"the switch refused a command of node {self.number}: {kind.name}",
                    hint="the tables do not fit this switch; check them with pointsman check",
                )
            good = False

    async def leave(self) -> None:
        """At the end of the program: release the connections that this node holds."""
        if self.held:
            await self.command([encode(Command.FLUSH, mode=OWN_ROWS)], Category.ROUTER)
            self.held.clear()

    async def ready(self) -> None:
        """Before a call: try again to load rows that were refused."""
        if self.rows != self.wanted:
            await self.load_rows(Category.ROUTER)


class TdmSubstrate:
    """One node's side of the switch; see `pointsman.runtime.api.substrate.Substrate`."""

    def __init__(self, tables: ConnectionTables, number: int, clock: CycleClock) -> None:
        self.tables = tables
        self.number = number
        self.clock = clock
        self.interface = Interface(tables, number, clock)

    @property
    def name(self) -> str:
        return self.tables.name

    @property
    def loops(self) -> Sequence[str]:
        return self.tables.loops

    def ports(self) -> Sequence[tuple[Signature, TdmPort | None]]:
        found: list[tuple[Signature, TdmPort | None]] = []
        for table in self.tables.operators:
            here = self.number in table.operator.nodes
            found.append((signature_of(table), TdmPort(self, table) if here else None))
        return found

    async def init(self) -> None:
        await self.interface.start()

    async def fini(self) -> None:
        """Release held connections, which would keep ports from other nodes. Queued words leave by the rows that are loaded."""
        await self.interface.leave()

    def where(self) -> str:
        current = self.interface.current
        return f"in working set '{self.tables.sets[current].name}'" if current >= 0 else "in no working set yet"


class TdmPort:
    """An operator at a node of its subset; see `pointsman.runtime.api.substrate.Port`."""

    def __init__(self, substrate: TdmSubstrate, table: OperatorTable) -> None:
        self.substrate = substrate
        self.table = table
        self.operator = table.operator
        self.interface = substrate.interface
        self.way = way_named(table.way, table.operator.kind)
        self.instances = [i for i, one in enumerate(self.operator.instances) if substrate.number in one.nodes]
        self.scripts: list[Script] = []
        self.count: dict[str, int] = {}
        self.gets = True
        """Whether ``func`` gives a message at this node: for a reduce at its destination only, otherwise everywhere."""

    async def load(self, given: Given) -> Permission:
        number, tables = self.table.sets[given.index], self.substrate.tables
        category = Category.REPROG if self.table.second_level else Category.ROUTER
        await self.interface.enter(number, category)
        topology = tables.topology
        self.scripts = [
            self.way.script(self.operator, i, self.substrate.number, self._arguments(given), topology)
            for i in self.instances
        ]
        self.count = {}
        self.interface.phase = self.table.phase
        self.gets = self.operator.kind != "reduce" or any(
            self._own(i) == value_of(self.operator, i, "destination", self._arguments(given)) for i in self.instances
        )
        kinds = {script.kind for script in self.scripts} - {"none"}
        kind = kinds.pop() if len(kinds) == 1 else "both" if kinds else "none"
        return Permission(kind, local=any(script.local for script in self.scripts), void=self._void())

    def stale(self) -> str | None:
        phase = self.interface.phase
        if phase == self.table.phase:
            return None
        name = self.substrate.tables.phases[phase].name
        return f"has gone on to phase '{name}' and must call {self.operator.label}_load again"

    async def write(self, words: np.ndarray) -> None:
        await self._call("write", words, None, None)

    async def read(self, into: np.ndarray) -> bool:
        return await self._call("read", None, into, None)

    async def func(self, words: np.ndarray | None, into: np.ndarray | None, combine: Combine | None) -> bool:
        return await self._call("func", words, into, combine)

    # -- inside ----------------------------------------------------------------------------------------------

    def _arguments(self, given: Given) -> list[Any]:
        return arguments(self.operator, given.numbers, given.permutation)

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
        await self.interface.ready()
        at = next((i for i, one in enumerate(self.scripts) if what in one.calls), None)
        if at is None:
            return False
        script, valid = self.scripts[at], self._valid(self.instances[at])
        calls = script.calls[what]
        if valid is not None and self.operator.flow == "directional" and self.operator.kind != "broadcast":
            # Only valid nodes read and write; a message to any other node would stay in its buffer unread.
            calls = tuple(call for call in calls if all(peer in valid for peer in _peers(call)))
            if not calls or self.substrate.number not in valid:
                return False
        count = self.count.get(what, 0)
        self.count[what] = count + 1
        call = calls[count % len(calls)]
        slots = [np.zeros(self.operator.m, np.uint32) for _ in range(max(2, script.slots))]
        if words is not None:
            slots[0][:] = words
        await self._run(call, slots, combine)
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

    async def _run(self, call: Call, slots: list[np.ndarray], combine: Combine | None) -> None:
        sends: list[Send] = []
        for step in call.steps:
            if isinstance(step, Send):
                sends.append(step)
                continue
            await self._send(sends, slots)
            sends = []
            if isinstance(step, Receive):
                await self._transfer([], step, slots)
            elif isinstance(step, Exchange):
                await self._transfer([step.send], step.receive, slots)
            elif isinstance(step, CombineStep):
                assert combine is not None
                combine(slots[step.left], slots[step.right], slots[step.into])
        await self._send(sends, slots)

    async def _send(self, sends: Sequence[Send], slots: list[np.ndarray]) -> None:
        """Carry out consecutive sends together: while the queue of one destination is full, words go to another's."""
        if sends:
            await Transfer([self._lane(send, slots) for send in sends])

    async def _transfer(self, sends: Sequence[Send], receive: Receive, slots: list[np.ndarray]) -> None:
        assert receive.source is not None  # ways() gives only scripts with known sources
        before = [self._lane(send, slots) for send in sends]
        at = len(before) + len(receive.forward)
        # Forwarding comes before reading: other nodes wait for these words.
        forward = [self._lane(send, slots, after=at) for send in receive.forward]
        register = self.interface.registers.buffer(receive.source)
        words = self.operator.m if receive.words is None else receive.words
        await Transfer([*before, *forward, Lane(False, register, words, slots[receive.slot])])

    def _lane(self, send: Send, slots: list[np.ndarray], after: int | None = None) -> Lane:
        words = self.operator.m if send.words is None else send.words
        return Lane(True, self.interface.registers.queue(send.to), words, slots[send.slot], after=after)


def _peers(call: Call) -> list[int | None]:
    """Nodes that a call of a directional operator sends to or receives from."""
    found: list[int | None] = [step.to for step in call.steps if isinstance(step, Send)]
    return found + [step.source for step in call.steps if isinstance(step, Receive)]


def signature_of(table: OperatorTable) -> Signature:
    """Signature that applications see of an operator in connection tables."""
    operator = table.operator
    names = tuple(name for name, value in operator.instances[0].operands if isinstance(value, Runtime))
    function = next((value for name, value in operator.instances[0].operands if name == "function"), None)
    return Signature(
        operator.label,
        operator.kind,
        str(operator.type),
        operator.m,
        names,
        table.values,
        function if isinstance(function, str) else None,
        str(operator.position) if operator.position else "",
    )


def tdm_node(
    tables: ConnectionTables,
    number: int,
    clock: CycleClock,
    *,
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> Node:
    """A node of a program on the switch."""
    return Node(TdmSubstrate(tables, number, clock), tables.topology, number, clock, functions)
