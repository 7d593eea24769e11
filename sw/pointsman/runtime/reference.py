"""The reference machine: a COP program run by the meaning of its operators, without any network.

Messages go from function to function at once and wait there as long as need be. So what a program does here is what
it must do on every target; if it cannot go on here, it can nowhere, and if messages are left over, some target may be
unable to finish it. Values that should agree, and do not, are found. Computing takes its cycles, words take none.

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

from pointsman.cop.program import Group, Instance, Operator, Program, Runtime
from pointsman.errors import PointsmanError
from pointsman.operators.implementation import (
    function_name,
    operand,
    runtime_operands,
    runtime_values,
    taking_part,
)

from .face import Combine, Given, Part, Port, Signature
from .node import Node
from .requests import Request, Transfer, Wait, WaitUntil


def signature_of_operator(operator: Operator) -> Signature:
    """What an operator of a program looks like to an application."""
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
        distributed = [
            isinstance(value, Runtime) and (value.distributed or value.dynamic)
            for _, value in (operator.instances[0].operands if operator.instances else ())
        ]
        self.agreed = not any(distributed)

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
                f"{self._where()}node {node} calls {label}_func with the values {_shown(given)}, "
                f"others in the same round with {_shown(found.given)}",
                hint="run-time values must be the same at all nodes of the operator",
            )
        return found

    def unread(self) -> list[str]:
        found = []
        for (instance, writer, reader), queue in sorted(self.queues.items()):
            if queue:
                nodes = self.operator.instances[instance].nodes
                found.append(
                    f"{self._where()}{len(queue)} message{'s' * (len(queue) > 1)} of operator '{self.signature.label}' "
                    f"from node {nodes[writer]} to node {nodes[reader]} never read"
                )
        return found

    def _where(self) -> str:
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
        self.calls: dict[tuple[int, str], int] = defaultdict(int)
        """Calls so far, by instance and function."""

    async def load(self, given: Given) -> Part:
        operator = self.shared.operator
        self.given = given
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

    def stale(self) -> str | None:
        return None

    async def write(self, words: np.ndarray) -> None:
        operator = self.shared.operator
        instance = next(i for i in self.instances if self._part(i).kind in ("write", "both"))
        position = self._position(instance)
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

    async def func(self, words: np.ndarray | None, into: np.ndarray | None, combine: Combine | None) -> bool:
        (instance,) = self.instances[:1]
        position = self._position(instance)
        number = self._count(instance, "func")
        found = self.shared.round(instance, number, position, self.given)
        found.sent[position] = None if words is None else words.copy()
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
