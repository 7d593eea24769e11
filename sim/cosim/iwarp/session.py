"""Programs on all cells: connections in phases and messages, by the five primitives of ConSet and of message passing.

A program is a generator function of a `Cell`; it calls the primitives with ``yield from``::

    def program(cell):
        yield from cell.instantiate_phase("halo")
        yield from cell.send_element(connection, 3.5)
        block = yield from cell.msg_receive()

A processor does one thing after the other. Its sending and its receiving unit work side by side in `Cell.exchange` (long
instruction words), and behind its back while spooling. A context switch begins when all cells have asked for the same phase; it
waits for spools of connections, and is refused if a connection still has words, so that none is ever lost (§4.2). Messages may be
under way: they stand still while the communication agents sleep, and go on afterwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from pointsman.connections.channels.messages import message_route
from pointsman.errors import PointsmanError

from .fabric import MESSAGES, NEVER, RECEIVING, SENDING, CompiledFabric, Fabric, Flow
from .machine import ChannelMachine

Path = tuple[int, ...]
Step = Generator[tuple[Any, ...], Any, Any]


class ContextSwitch(NamedTuple):
    """A context switch, in clocks. Cells are synchronized from ``begun`` to ``asleep``; from then to ``awake`` no word moves."""

    phase: str
    begun: int
    asleep: int
    awake: int

    @property
    def steps(self) -> tuple[tuple[str, int], ...]:
        """The seven steps of §4.2 with the clock in which each begins. The paper tells the clocks of the second, and those of all
        after it together."""
        return (
            ("disable global events", self.begun),
            ("synchronize", self.begun),
            ("put the communication agents to sleep", self.asleep),
            ("write the new pattern", self.asleep),
            ("wake the communication agents", self.awake),
            ("enable global events", self.awake),
            ("resume the programs", self.awake),
        )


@dataclass
class ChannelRun:
    """What a run was: clocks until the last program ended, when each phase was ready, what each program returned."""

    clocks: int = 0
    phases: list[tuple[str, int]] = field(default_factory=list)
    returned: list[Any] = field(default_factory=list)
    words: int = 0
    """Words that were received."""
    switches: list[ContextSwitch] = field(default_factory=list)


class Cell:
    """A cell as its program sees it. ``clocks`` of a primitive are those of a word; more than the machine's where the program
    computes between words (systolic use), or addresses them indirectly."""

    def __init__(self, number: int, machine: ChannelMachine) -> None:
        self.number = number
        self._machine = machine

    def send_element(self, connection: Any, element: Any) -> Step:
        """Send one word on a connection (CON-01)."""
        yield "move", [(connection, [element])], [], None, False

    def receive_element(self, connection: Any) -> Step:
        """Receive one word from a connection."""
        ((value,),) = yield "move", [], [(connection, 1)], None, False
        return value

    def send_elements(self, connection: Any, values: Sequence[Any], clocks: int | None = None) -> Step:
        """Send words one after the other (streaming)."""
        yield "move", [(connection, list(values))], [], clocks, False

    def receive_elements(self, connection: Any, words: int, clocks: int | None = None) -> Step:
        """Receive words one after the other."""
        (values,) = yield "move", [], [(connection, words)], clocks, False
        return values

    def exchange(
        self,
        sends: Sequence[tuple[Any, Sequence[Any]]],
        receives: Sequence[tuple[Any, int]],
        clocks: int | None = None,
    ) -> Step:
        """Send (connection, values) in this order, and beside that receive (connection, words) in this order."""
        return (yield "move", [(c, list(v)) for c, v in sends], list(receives), clocks, False)

    def spool(self, sends: Sequence[tuple[Any, Sequence[Any]]], receives: Sequence[tuple[Any, int]] = ()) -> Step:
        """As `exchange`, behind the processor's back; `wait` gives the values."""
        yield "move", [(c, list(v)) for c, v in sends], list(receives), None, True

    def wait(self) -> Step:
        """Until the spools have ended; values received, for each of ``receives``."""
        return (yield ("wait",))

    def compute(self, clocks: int) -> Step:
        """Spend clocks."""
        yield "compute", clocks

    def instantiate_phase(self, name: str) -> Step:
        """Change to a phase, with all other cells."""
        yield "phase", name

    def msg_send(self, destination: int, block: Sequence[Any]) -> Step:
        """Send a message; a spool sends it when those before have gone (CON-02, sender-buffered)."""
        yield "message", destination, list(block)

    def msg_receive(self) -> Step:
        """The next message to arrive, as (source, block)."""
        return (yield ("receive",))


class _Processor:
    """A cell's program and its units."""

    def __init__(self, program: Step) -> None:
        self.program = program
        self.wants: tuple[Any, ...] | None = None
        self.ready = 0
        self.answer: Any = None
        self.queues: list[deque[tuple[int, int, int, int]]] = [deque(), deque()]
        """For either unit: (flow, words, clocks of a word, not before)."""
        self.busy: list[int | None] = [None, None]
        """The flow that either unit moves words of."""
        self.asked: list[tuple[Any, int]] = []
        self.got: list[list[Any]] = []
        self.inbox: deque[int] = deque()
        self.reading: int | None = None
        self.ended = False
        self.returned: Any = None

    @property
    def idle(self) -> bool:
        """Neither unit moves words, or will."""
        return self.busy == [None, None] and not any(self.queues)

    def flows(self) -> Iterator[int]:
        """Flows that the units move words of, or will."""
        yield from (flow for flow in self.busy if flow is not None)
        yield from (entry[0] for queue in self.queues for entry in queue)


class ChannelSession:
    """One machine with its phases of connections.

    Parameters
    ----------
    phases : mapping
        For each phase its connections by name: the nodes of their ways, both ends included.
    fabric : Fabric, optional
        The engine; the compiled one if not given.
    messages : int
        Most messages of a run, for the compiled engine.

    Raises
    ------
    PointsmanError
        If a phase needs more channels of a cell than there are.
    """

    def __init__(
        self,
        machine: ChannelMachine,
        phases: Mapping[str, Mapping[Any, Path]],
        *,
        fabric: Fabric | None = None,
        messages: int = 0,
    ) -> None:
        self._machine, self._phases = machine, phases
        for name, connections in phases.items():
            used = [0] * machine.topology.nodes
            for path in connections.values():
                for node in path:
                    used[node] += 1
            if max(used, default=0) > machine.channels:
                node = max(range(len(used)), key=used.__getitem__)
                raise PointsmanError(
                    f"phase {name!r} needs {used[node]} logical channels at cell {node}, which has {machine.channels}"
                )
        longest = sum(machine.topology.size) + 1
        self._fabric: Fabric = fabric or CompiledFabric(machine, messages, longest)
        self._flow: dict[Any, int] = {}
        self._path: dict[int, Path] = {}
        self._values: dict[int, deque[Any]] = {}
        self._message_of: dict[int, tuple[int, list[Any]]] = {}
        self._moved = {SENDING: 0, RECEIVING: 0}
        self._clock = 0
        self._switching: ContextSwitch | None = None
        self.run_ = ChannelRun()

    def run(self, program: Callable[[Cell], Step], most_clocks: int = 1 << 40) -> ChannelRun:
        """Run ``program`` on every cell until all have ended.

        Raises
        ------
        PointsmanError
            If cells wait for each other for ever, a context switch would lose words, or clocks run out.
        """
        cells = [_Processor(program(Cell(number, self._machine))) for number in range(self._machine.topology.nodes)]
        while True:
            if self._switching is not None and self._clock >= self._switching.asleep:
                self._write(self._switching)
            progress = True
            while progress:
                done = [self._step(number, cell) for number, cell in enumerate(cells)]
                progress = any(done) or self._switch(cells)
            if all(cell.ended and cell.idle for cell in cells):
                break
            timers = [cell.ready for cell in cells if cell.ready > self._clock and not cell.ended]
            until = min(timers, default=NEVER)
            if self._switching is not None:
                until = min(until, self._switching.asleep)
            went = self._fabric.advance(self._clock, min(until, most_clocks))
            if went.stuck and until == NEVER:
                raise self._stuck(cells)
            self._clock = until if went.stuck else went.clock
            if self._clock >= most_clocks:
                raise PointsmanError(f"the programs have not ended after {most_clocks} clocks")
            for number, unit in went.done:
                cells[number].busy[unit] = None
            for flow in went.arrived:
                cells[self._path[flow][-1]].inbox.append(flow)
        self.run_.clocks = self._clock
        self.run_.returned = [cell.returned for cell in cells]
        self.run_.words = self._moved[RECEIVING]
        lost = self._moved[SENDING] - self._moved[RECEIVING]
        if lost:
            raise PointsmanError(f"{lost} words were sent and not received by the end of the run")
        return self.run_

    def _step(self, number: int, cell: _Processor) -> bool:
        """Whether something was done for a cell in this clock."""
        self._feed(number, cell)
        if cell.ended or cell.ready > self._clock:
            return False
        if cell.wants is None:
            answer, cell.answer = cell.answer, None
            try:
                cell.wants = cell.program.send(answer)
            except StopIteration as end:
                cell.ended, cell.returned = True, end.value
                return True
            self._begin(number, cell)
            return True
        return self._finish(number, cell)

    def _feed(self, number: int, cell: _Processor) -> None:
        """Units that are idle begin with what is next."""
        for unit in (SENDING, RECEIVING):
            if cell.busy[unit] is None and cell.queues[unit]:
                flow, words, element, ready = cell.queues[unit].popleft()
                self._fabric.begin(number, unit, flow, words, element, max(ready, self._clock))
                cell.busy[unit] = flow

    def _begin(self, number: int, cell: _Processor) -> None:
        assert cell.wants is not None
        kind, *rest = cell.wants
        costs = self._machine.costs
        if kind == "move":
            sends, receives, clocks, _ = rest
            element = max(clocks or costs.element, costs.element)
            cell.asked += receives
            for unit, entries in ((SENDING, sends), (RECEIVING, receives)):
                for name, what in entries:
                    flow = self._connection(number, name, unit)
                    words = what if unit == RECEIVING else len(what)
                    if words:
                        cell.queues[unit].append((flow, words, element, self._clock))
                    if unit == SENDING:
                        self._values[flow].extend(what)
                    self._moved[unit] += words
            self._feed(number, cell)
        elif kind == "compute":
            cell.ready = self._clock + rest[0]
        elif kind == "message":
            self._machine.topology.check_node(rest[0])
            if rest[0] == number:
                raise PointsmanError(f"cell {number} sends a message to itself")
            cell.ready = self._clock + costs.message

    def _finish(self, number: int, cell: _Processor) -> bool:
        """Go on with a program whose request is done; whether it is."""
        assert cell.wants is not None
        kind, *rest = cell.wants
        costs = self._machine.costs
        if kind == "move" and rest[3]:
            cell.wants = None
        elif kind in ("move", "wait"):
            if not cell.idle:
                return False
            self._collect(cell)
            cell.answer, cell.got = cell.got, []
            cell.wants = None
        elif kind == "compute":
            cell.wants = None
        elif kind == "message":
            self._send(number, cell, rest[0], rest[1])
            cell.wants = None
        elif kind == "receive":
            return self._receive(cell, costs.message)
        else:
            return False
        return True

    def _send(self, number: int, cell: _Processor, destination: int, block: list[Any]) -> None:
        hops = message_route(self._machine.topology, number, destination)
        path = (number, *(v for _, v, _ in hops))
        words = len(block) + self._machine.envelope
        flow = self._fabric.message(Flow(path, tuple(pool for *_, pool in hops), words))
        self._path[flow] = path
        self._message_of[flow] = (number, block)
        cell.queues[SENDING].append((flow, words, self._machine.costs.word, self._clock))
        self._moved[SENDING] += words
        self._feed(number, cell)

    def _receive(self, cell: _Processor, overhead: int) -> bool:
        """The overhead begins when the header is there; then the words are taken."""
        if cell.reading is None:
            if not cell.inbox or any(cell.queues[RECEIVING]) or cell.busy[RECEIVING] is not None:
                return False
            cell.reading = cell.inbox.popleft()
            words = len(self._message_of[cell.reading][1]) + self._machine.envelope
            ready = self._clock + overhead
            cell.queues[RECEIVING].append((cell.reading, words, self._machine.costs.element, ready))
            self._moved[RECEIVING] += words
            return True
        if cell.busy[RECEIVING] is not None or cell.queues[RECEIVING]:
            return False
        cell.answer, cell.reading, cell.wants = self._message_of.pop(cell.reading), None, None
        return True

    def _switch(self, cells: Sequence[_Processor]) -> bool:
        """The context switch, once all cells ask for it and spools have ended."""
        if not all(cell.wants is not None and cell.wants[0] == "phase" and not cell.ended for cell in cells):
            return False
        if any(flow < MESSAGES for cell in cells for flow in cell.flows()):
            return False
        names = {cell.wants[1] for cell in cells if cell.wants is not None}
        if len(names) > 1:
            raise PointsmanError(f"cells ask for different phases: {', '.join(sorted(map(repr, names)))}")
        (name,) = names
        if name not in self._phases:
            raise PointsmanError(f"there is no phase {name!r}", hint=f"there are {', '.join(map(repr, self._phases))}")
        self._refuse_undrained(name)
        for cell in cells:
            self._collect(cell)
        costs = self._machine.costs
        asleep = self._clock + costs.synchronize
        self._switching = ContextSwitch(name, self._clock, asleep, asleep + costs.initialize)
        for cell in cells:
            cell.wants, cell.ready = None, self._switching.awake
        if asleep == self._clock:
            self._write(self._switching)
        return True

    def _refuse_undrained(self, name: str) -> None:
        """Refuse to begin phase ``name`` while connections have words, which would be lost."""
        full = self._fabric.in_flight()
        if full:
            flow, words = next(iter(full.items()))
            which = next(key for key, number in self._flow.items() if number == flow)
            raise PointsmanError(
                f"phase {name!r} cannot begin: connection {which!r} still has {words} words",
                hint="a phase may end when all words that were sent have been received",
            )

    def _write(self, switch: ContextSwitch) -> None:
        """The communication agents sleep, are given the connections of the new phase, and wake."""
        self._refuse_undrained(switch.phase)
        routes = self._phases[switch.phase]
        messages = {flow: path for flow, path in self._path.items() if flow >= MESSAGES}
        self._path = {**messages, **dict(enumerate(routes.values()))}
        self._flow = {key: number for number, key in enumerate(routes)}
        self._values = {number: deque() for number in range(len(routes))}
        self._fabric.connect([Flow(path) for path in routes.values()])
        self.run_.phases.append((switch.phase, switch.awake))
        self.run_.switches.append(switch)
        self._clock, self._switching = switch.awake, None

    def _connection(self, number: int, name: Any, unit: int) -> int:
        """Flow of a connection that this cell sends on or receives from."""
        if name not in self._flow:
            raise PointsmanError(f"cell {number} uses connection {name!r}, which is not active")
        flow = self._flow[name]
        if self._path[flow][-1 if unit == RECEIVING else 0] != number:
            verb = "receives from" if unit == RECEIVING else "sends on"
            raise PointsmanError(f"cell {number} {verb} connection {name!r}, whose end it is not")
        return flow

    def _collect(self, cell: _Processor) -> None:
        """What was received on connections of this phase becomes part of the answer."""
        for name, words in cell.asked:
            values = self._values[self._flow[name]]
            cell.got.append([values.popleft() for _ in range(words)])
        cell.asked = []

    def _stuck(self, cells: Sequence[_Processor]) -> PointsmanError:
        waits = [(n, cell.wants) for n, cell in enumerate(cells) if not cell.ended and cell.wants is not None]
        if not waits:
            return PointsmanError("words stand in channels that nobody receives from")
        kinds = {"move": "a transfer", "wait": "its spools", "phase": "a context switch", "receive": "a message"}
        number, wants = waits[0]
        assert wants is not None
        return PointsmanError(
            f"cells wait for each other for ever: cell {number} for {kinds[wants[0]]}, {len(waits)} in all"
        )
