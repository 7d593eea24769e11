"""The machine that runs a program by its meaning: nodes in turn, each until it has to wait for a message."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.program.program import Group, Program
from pointsman.runtime.api.claims import Claims, unclaimed
from pointsman.runtime.api.left_out import Loaded, left_out
from pointsman.runtime.api.node import Node, carried_out
from pointsman.runtime.api.requests import Transfer, Wait, WaitUntil
from pointsman.runtime.api.substrate import Port, Signature

from .awaited import awaited
from .early_loads import EarlyLoads
from .mailbox import Mailbox, Until
from .meaning import signature_of_operator
from .port import ReferencePort


@dataclass
class DryRun:
    """Results of a program on the reference machine.

    ``cycles``: of computation, at the busiest node. ``unread``: descriptions of messages that were never read. ``early``: of
    loads that hardware may refuse.
    """

    results: list[Any]
    cycles: int
    unread: tuple[str, ...]
    early: tuple[str, ...] = ()


class ReferenceMachine:
    """Runs programs by their meaning.

    Parameters
    ----------
    program : Program
        Program with the operators.
    name : str
        Name of the program, for messages.
    functions : mapping
        The application's functions for reductions.
    """

    def __init__(
        self, program: Program, name: str = "program", functions: Mapping[str, Callable[..., Any]] | None = None
    ) -> None:
        self.program = program
        self.mailboxes = [Mailbox(operator, signature_of_operator(operator)) for operator in program.operators()]
        self.early = EarlyLoads(program)
        self.loops = tuple(
            part.label or "" for part, _ in program.root.walk() if isinstance(part, Group) and part.kind == "loop"
        )
        self.clocks = [ReferenceClock() for _ in range(program.topology.nodes)]
        self.nodes = [
            Node(ReferenceSubstrate(self, number, name), program.topology, number, clock, functions)
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

        claims = Claims(strict=True)
        for node in self.nodes:
            node.claims = claims

        results: list[Any] = [None] * len(self.nodes)
        running = {node.number: carried_out(node, main) for node in self.nodes if node.working}
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
        unread = tuple(text for mailbox in self.mailboxes for text in mailbox.unread())
        return DryRun(results, max(clock.time for clock in self.clocks), unread, tuple(self.early.told()))

    def _resume(self, number: int, running: dict[int, Coroutine[Any, Any, Any]], results: list[Any]) -> Until | None:
        """Run a node until it has to wait for a message, or ends."""
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
        loaded = {node.number: Loaded.of(node) for node in self.nodes if node.working}
        lines += [f"  {line}" for number in waiting for line in self.nodes[number].not_awaited()]
        for wrong in unclaimed(self.program, loaded):
            return PointsmanError("\n".join([wrong.message, *lines]), hint=wrong.hint)
        lines += [f"  {line}" for line in (*awaited(self.program, loaded), *left_out(self.program, loaded))]
        return PointsmanError(
            "\n".join(lines),
            hint="every message must be written before it is read, and every node of a subset must take part",
        )


@dataclass
class ReferenceClock:
    time: int = 0


class ReferenceSubstrate:
    def __init__(self, machine: ReferenceMachine, number: int, name: str) -> None:
        self.machine = machine
        self.number = number
        self.name = name
        self.loops = machine.loops

    def ports(self) -> list[tuple[Signature, Port | None]]:
        return [(mailbox.signature, self._port(mailbox)) for mailbox in self.machine.mailboxes]

    def _port(self, mailbox: Mailbox) -> ReferencePort | None:
        instances = [i for i, instance in enumerate(mailbox.operator.instances) if self.number in instance.nodes]
        return ReferencePort(mailbox, instances, self.number, self.machine.early) if instances else None

    async def init(self) -> None:
        pass

    async def fini(self) -> None:
        pass

    def where(self) -> str:
        return "without a network"
