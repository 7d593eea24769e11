"""The reference machine: a COP program run by the meaning of its operators, without any network.

Messages go from function to function at once and wait there as long as need be. So what a program does here is what
it must do on every target; if it cannot go on here, it can nowhere, and if messages are left over, some target may be
unable to finish it. Values that should agree, and do not, are found; of one that is ``:distributed`` or ``:dynamic`` a node may
give what it knows. Computing takes its cycles, words take none.

Takes a Program and what each node does. Source of the meanings: Metcalf 1997, A.1; ours where that is silent: a
combining operator takes the messages in the order of the subset, collect in the order in which they were written here,
seqread and seqwrite in the order of the chain.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.operators.api.operands import function_name, operand, runtime_operands, runtime_values, taking_part
from pointsman.operators.messages import is_partial
from pointsman.operators.messages.online import agrees, legal_values
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Group, Instance, Operator, Program

from .api.node import Node
from .api.requests import Request, Transfer, Wait, WaitUntil
from .api.substrate import CHOSEN, HERE, UNKNOWN, Combine, Given, Part, Port, Signature


def signature_of_operator(operator: Operator) -> Signature:
    """What an operator of a program looks like to an application."""
    partial = tuple(name for name in _runtime_names(operator) if is_partial(operator, name))
    if partial:
        sorts = {one.name: one.sort for one in OPERATORS[operator.kind].operands}
        listed = [
            name
            for name in _runtime_names(operator)
            if sorts[name] in CHOSEN or (sorts[name] == "permutation" and name in partial)
        ]
        return Signature(
            operator.label,
            operator.kind,
            str(operator.type),
            operator.m,
            _runtime_names(operator),
            function=function_name(operator),
            source=str(operator.position) if operator.position else "",
            ranges=tuple(legal_values(operator, 0, name) for name in listed),
            partial=partial,
            whole=True,
        )
    return Signature(
        operator.label,
        operator.kind,
        str(operator.type),
        operator.m,
        runtime_operands(operator) if operator.instances else (),
        runtime_values(operator) if operator.instances else ((),),
        function_name(operator),
        str(operator.position) if operator.position else "",
    )


def _runtime_names(operator: Operator) -> tuple[str, ...]:
    return runtime_operands(operator) if operator.instances else ()


class Until(Request):
    """Resume when ``ready`` is true."""

    __slots__ = ("ready",)

    def __init__(self, ready: Callable[[], bool]) -> None:
        self.ready = ready


@dataclass
class DryRun:
    """What running a program on the reference machine gave.

    ``cycles``: of computation, at the busiest node. ``unread``: in words, messages that nobody has read.
    """

    results: list[Any]
    cycles: int
    unread: tuple[str, ...]


class ReferenceMachine:
    """Runs programs by their meaning.

    Parameters
    ----------
    program : Program
        What the operators are.
    name : str
        Of the program, for messages.
    functions : mapping
        The application's functions for reductions.
    """

    def __init__(
        self, program: Program, name: str = "program", functions: Mapping[str, Callable[..., Any]] | None = None
    ) -> None:
        self.program = program
        self.shared = [_Shared(operator, signature_of_operator(operator)) for operator in program.operators()]
        self.loops = tuple(
            part.label or "" for part, _ in program.root.walk() if isinstance(part, Group) and part.kind == "loop"
        )
        self.clocks = [_Clock() for _ in range(program.topology.nodes)]
        self.nodes = [
            Node(_Substrate(self, number, name), program.topology, number, clock, functions)
            for number, clock in enumerate(self.clocks)
        ]

    def run(self, main: Callable[[Node], Coroutine[Any, Any, Any]]) -> DryRun:
        """Run ``main`` on every node, between cop_init and cop_fini.

        Raises
        ------
        PointsmanError
            If the program misuses an operator, nodes give different values where they must be the same, or all nodes that
            are not done wait for each other.
        """

        async def program(node: Node) -> Any:
            await node.cop.init()
            node.activity = "before its first operator"
            result = await main(node)
            await node.cop.fini()
            return result

        results: list[Any] = [None] * len(self.nodes)
        running = {node.number: program(node) for node in self.nodes}
        waiting: dict[int, Until] = {}
        turn = deque(running)
        try:
            while turn or waiting:
                if not turn:
                    turn.extend(number for number, until in waiting.items() if until.ready())
                    if not turn:
                        raise self._deadlock(sorted(waiting))
                number = turn.popleft()
                waiting.pop(number, None)
                until = self._resume(number, running, results)
                if until is not None:
                    waiting[number] = until
        finally:
            for coroutine in running.values():
                coroutine.close()
        unread = tuple(text for shared in self.shared for text in shared.unread())
        return DryRun(results, max(clock.time for clock in self.clocks), unread)

    def _resume(self, number: int, running: dict[int, Coroutine[Any, Any, Any]], results: list[Any]) -> Until | None:
        """Let a node go on until it has to wait for a message, or ends."""
        clock = self.clocks[number]
        while True:
            try:
                request = running[number].send(None)
            except StopIteration as end:
                results[number] = end.value
                del running[number]
                return None
            except Exception as error:
                error.add_note(f"at node {number}")
                raise
            if isinstance(request, Until):
                if not request.ready():
                    return request
            elif isinstance(request, Wait):
                clock.time += request.cycles
            elif isinstance(request, WaitUntil):
                clock.time = max(clock.time, request.time)
            else:
                what = "interface registers" if isinstance(request, Transfer) else type(request).__name__
                raise PointsmanError(
                    f"node {number} asks for {what}, which the reference machine does not have",
                    hint="leave --dry out",
                )

    def _deadlock(self, waiting: Sequence[int]) -> PointsmanError:
        lines = ["deadlock: these nodes wait for messages that nobody sends:"]
        lines += [f"  node {number}: {self.nodes[number].activity}" for number in waiting[:16]]
        if len(waiting) > 16:
            lines.append(f"  and {len(waiting) - 16} more")
        done = [node.number for node in self.nodes if node.activity == "done"]
        if done:
            lines.append(f"  finished already: {', '.join(map(str, done[:16]))}{' …' if len(done) > 16 else ''}")
        return PointsmanError(
            "\n".join(lines),
            hint="every message must be written before it is read, and every node of a subset must take part",
        )


@dataclass
class _Clock:
    time: int = 0


class _Substrate:
    def __init__(self, machine: ReferenceMachine, number: int, name: str) -> None:
        self.machine = machine
        self.number = number
        self.name = name
        self.loops = machine.loops

    def ports(self) -> list[tuple[Signature, Port | None]]:
        return [(shared.signature, shared.port(self.number)) for shared in self.machine.shared]

    async def init(self) -> None:
        pass

    async def fini(self) -> None:
        pass

    def where(self) -> str:
        return "without a network"


@dataclass
class _Round:
    """The k-th call of a functional operator in one instance."""

    given: Given | None = None
    sent: dict[int, np.ndarray | None] = field(default_factory=dict)
    """Message of each position that has called."""
    done: int = 0
    """Positions that have returned."""
    targets: dict[int, int] | None = None
    """Where the message of each position goes, if only that position knows."""


@dataclass
class _Cast:
    """A message of a broadcast on its way, and who has yet to read it."""

    writer: int
    words: np.ndarray
    readers: set[int]


class _Shared:
    """What the nodes of an operator share."""

    def __init__(self, operator: Operator, signature: Signature) -> None:
        self.operator = operator
        self.signature = signature
        self.rounds: dict[tuple[int, int], _Round] = defaultdict(_Round)
        self.queues: dict[tuple[int, int, int], deque[np.ndarray]] = defaultdict(deque)
        """By instance, writer's and reader's position, messages on their way."""
        self.order: dict[tuple[int, int], deque[int]] = defaultdict(deque)
        """By instance of a collect and destination, who has written, in order."""
        self.agreed = not signature.partial
        self.casts: dict[tuple[int, int], _Cast] = {}
        """Of a broadcast whose source not everybody knows, messages by instance and number of the call."""
        self.said: dict[tuple[int, int], int] = {}
        """By instance and number of the load, the destination that some node named."""
        self.values: dict[tuple[int, int], tuple[int, Given]] = {}
        """By instance and number of the change, the values that all of its nodes load, and the position that was first."""

    def port(self, node: int) -> _Port | None:
        mine = [i for i, instance in enumerate(self.operator.instances) if node in instance.nodes]
        return _Port(self, mine, node) if mine else None

    def round(self, instance: int, number: int, position: int, given: Given) -> _Round:
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


class _Port:
    """One operator at one node."""

    def __init__(self, shared: _Shared, instances: Sequence[int], node: int) -> None:
        self.shared = shared
        self.instances = list(instances)
        self.node = node
        self.given = Given()
        self.loaded: Given | None = None
        self.calls: dict[tuple[int, str], int] = defaultdict(int)
        """Calls so far, by instance and function."""

    async def load(self, given: Given) -> Part:
        operator = self.shared.operator
        if self.shared.agreed and given != self.loaded:
            for instance in self.instances:
                self.shared.compare(instance, self._count(instance, "change"), self._position(instance), given)
        self.loaded = given
        self.given = await self._known(given)
        if operator.flow == "functional":
            (instance,) = self.instances[:1]
            position = self._position(instance)
            return Part("func", void=position not in taking_part(operator, instance))
        parts = [self._part(instance) for instance in self.instances]
        kinds = {part.kind for part in parts} - {"none"}
        if not kinds:
            return Part("none")
        kind = kinds.pop() if len(kinds) == 1 else "both"
        return Part(kind, any(part.local for part in parts), all(part.void for part in parts if part.kind != "none"))

    async def _known(self, given: Given) -> Given:
        """What this node was given, with its own number in place of "here"; nodes that have to agree do so."""
        instance = self.instances[0]
        names = [
            n for n, s in zip(self.shared.signature.runtime, self.shared.signature.sorts, strict=True) if s in CHOSEN
        ]
        numbers = list(given.numbers)
        for k, name in enumerate(names):
            if name in self.shared.signature.partial and numbers[k] == HERE:
                numbers[k] = self._position(instance)
        if agrees(self.shared.operator):
            at = names.index("destination")
            key = instance, self._count(instance, "load")
            if numbers[at] != UNKNOWN:
                self.shared.said.setdefault(key, numbers[at])
            await Until(lambda: key in self.shared.said)
            numbers[at] = self.shared.said[key]
        return Given(tuple(numbers), given.index, given.permutation)

    def stale(self) -> str | None:
        return None

    async def write(self, words: np.ndarray) -> None:
        operator = self.shared.operator
        instance = next(i for i in self.instances if self._part(i).kind in ("write", "both"))
        position = self._position(instance)
        if self._is_cast():
            left = set(self._readers(instance, position))
            number = self._count(instance, "call")
            if left:
                self.shared.casts[instance, number] = _Cast(position, words.copy(), left)
            return
        call = self._count(instance, "write")
        readers = self._readers(instance, position)
        if operator.kind in ("spread", "seqwrite"):
            readers = readers[call % len(readers) :][:1]
        if operator.kind == "collect":
            for reader in readers:
                self.shared.order[instance, reader].append(position)
        for reader in readers:
            self.shared.queues[instance, position, reader].append(words.copy())

    async def read(self, into: np.ndarray) -> bool:
        operator, shared = self.shared.operator, self.shared
        instance = next(i for i in self.instances if self._part(i).kind in ("read", "both"))
        position = self._position(instance)
        if self._is_cast():
            return await self._read_cast(instance, position, into)
        if position not in taking_part(operator, instance):
            return False
        call = self._count(instance, "read")
        writers = self._writers(instance)
        if operator.kind == "collect":
            order = shared.order[instance, position]
            await Until(lambda: bool(order))
            writer = order.popleft()
        else:
            if not writers:
                await Until(lambda: False)
            writer = writers[call % len(writers)]
        queue = shared.queues[instance, writer, position]
        await Until(lambda: bool(queue))
        into[:] = queue.popleft()
        return True

    def _is_cast(self) -> bool:
        return self.shared.operator.kind == "broadcast" and not self.shared.agreed

    async def _read_cast(self, instance: int, position: int, into: np.ndarray) -> bool:
        """Read the message that belongs to this call, whoever wrote it."""
        key, casts = (instance, self._count(instance, "call")), self.shared.casts
        if position not in taking_part(self.shared.operator, instance):
            return False
        await Until(lambda: key in casts)
        into[:] = casts[key].words
        casts[key].readers.discard(position)
        if not casts[key].readers:
            del casts[key]
        return True

    async def func(self, words: np.ndarray | None, into: np.ndarray | None, combine: Combine | None) -> bool:
        (instance,) = self.instances[:1]
        position = self._position(instance)
        number = self._count(instance, "func")
        found = self.shared.round(instance, number, position, self.given)
        found.sent[position] = None if words is None else words.copy()
        if self.shared.operator.kind == "permute" and not self.shared.agreed and self.given.permutation is None:
            self._aim(instance, position, found)
        valid = await self._result(instance, position, found, into, combine)
        found.done += 1
        if found.done == len(self._instance(instance).nodes):
            del self.shared.rounds[instance, number]
        return valid

    async def _result(
        self, instance: int, position: int, found: _Round, into: np.ndarray | None, combine: Combine | None
    ) -> bool:
        """Wait for the messages that a position needs, and combine them."""
        operator, given = self.shared.operator, self.given
        members = taking_part(operator, instance)
        needed: Sequence[int]
        if operator.kind in ("cshift", "eoshift", "permute"):
            origin: int | None
            if found.targets is not None:
                targets = found.targets
                await Until(lambda: position in targets.values())
                origin = next(k for k, to in targets.items() if to == position)
            else:
                origin = _origin(operator, instance, position, given)
            if origin is None:
                return position in members  # nothing comes in over the edge of an eoshift: zeros
            if origin not in members or position not in members:
                return False
            needed = (origin,)
        elif operator.kind == "reduce":
            if position != operand(operator, instance, "destination", given.numbers):
                return False
            needed = members
        elif operator.kind == "prefix":
            needed = [k for k in members if k <= position]
        else:  # allreduce, barrier
            needed = range(len(operator.instances[instance].nodes)) if operator.kind == "barrier" else members
        if not needed or (position not in members and operator.kind != "barrier"):
            return False
        await Until(lambda: all(k in found.sent for k in needed))
        if into is None:
            return True
        first, *rest = (found.sent[k] for k in needed)
        assert first is not None
        into[:] = first
        for message in rest:
            assert message is not None
            assert combine is not None
            combine(into, message, into)
        return True

    def _aim(self, instance: int, position: int, found: _Round) -> None:
        """Note where the message of this node goes, as nobody else knows."""
        target = self.given.numbers[0]
        found.targets = {} if found.targets is None else found.targets
        for other, to in found.targets.items():
            if to == target:
                nodes, label = self._instance(instance).nodes, self.shared.signature.label
                raise PointsmanError(
                    f"{self.shared.where()}nodes {nodes[other]} and {nodes[position]} both send to node {nodes[target]} in "
                    f"the same round of {label}_func",
                    hint="every node is to get one message of a permutation",
                )
        found.targets[position] = target

    # -- who sends to whom ------------------------------------------------------------------------------------

    def _instance(self, instance: int) -> Instance:
        return self.shared.operator.instances[instance]

    def _position(self, instance: int) -> int:
        return self._instance(instance).nodes.index(self.node)

    def _count(self, instance: int, what: str) -> int:
        self.calls[instance, what] += 1
        return self.calls[instance, what] - 1

    def _part(self, instance: int) -> Part:
        """What this node may do in an instance of a directional operator."""
        operator, position = self.shared.operator, self._position(instance)
        reads = position in self._all_readers(instance)
        writes = position in self._all_writers(instance)
        if operator.kind == "stream" and not writes and self._end(instance, "destination") == UNKNOWN:
            reads = True  # it may be the one; only the source knows
        if operator.kind == "stream" and reads and writes:
            return Part("both", local=True)
        void = position not in taking_part(operator, instance)
        if operator.kind == "collect":
            return Part("both" if reads else "write", void=void)
        return Part("read" if reads else "write" if writes else "none", void=void)

    def _end(self, instance: int, name: str) -> int:
        return operand(self.shared.operator, instance, name, self.given.numbers)

    def _chain(self, instance: int, name: str) -> tuple[int, ...]:
        chain = self._instance(instance).operand(name)
        assert isinstance(chain, tuple)
        return chain

    def _all_writers(self, instance: int) -> Sequence[int]:
        others = range(len(self._instance(instance).nodes))
        match self.shared.operator.kind:
            case "gather":
                return [k for k in others if k != self._end(instance, "destination")]
            case "seqread":
                return self._chain(instance, "sources")
            case "collect":
                return others
            case _:
                return (self._end(instance, "source"),)

    def _all_readers(self, instance: int) -> Sequence[int]:
        others = range(len(self._instance(instance).nodes))
        match self.shared.operator.kind:
            case "broadcast" | "spread":
                return [k for k in others if k != self._end(instance, "source")]
            case "seqwrite":
                return self._chain(instance, "destinations")
            case _:
                return (self._end(instance, "destination"),)

    def _writers(self, instance: int) -> Sequence[int]:
        members = taking_part(self.shared.operator, instance)
        return [k for k in self._all_writers(instance) if k in members]

    def _readers(self, instance: int, position: int) -> Sequence[int]:
        members = taking_part(self.shared.operator, instance)
        return [k for k in self._all_readers(instance) if k in members]


def _origin(operator: Operator, instance: int, position: int, given: Given) -> int | None:
    """Who sends to a position in a shift or a permutation; None beyond the end of an eoshift."""
    size = len(operator.instances[instance].nodes)
    if operator.kind == "permute":
        permutation = given.permutation
        if permutation is None:
            value = operator.instances[instance].operand("permutation")
            assert isinstance(value, tuple)
            permutation = value
        return permutation.index(position)
    origin = position - operand(operator, instance, "distance", given.numbers)
    if operator.kind == "cshift":
        return origin % size
    return origin if 0 <= origin < size else None
