"""Program -> its connection tables in the mode that is predicted to be the quickest, and the prediction.

The program is played on the model of the switch: the run time as it is, with an application that computes nothing, calls every
operator in the order of the text, and takes optional groups. A loop is played for a few rounds, and each round that is left out
costs what the played ones have cost on the mean after the first. Run-time values are drawn anew in each ``:block`` of rounds.
A program that is too long is played with shorter messages of two lengths, from which the cycles of the true ones follow in a
line.
"""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cosim.errors import TooLongError
from cosim.session import run_nodes
from pointsman.artifacts.tables import ConnectionTables, Mode
from pointsman.artifacts.tables.tables import MODES
from pointsman.operators.api.operands import (
    function_name,
    is_partial,
    operand,
    rounds_between_values,
    runtime_values,
    taking_part,
)
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Group, Instance, Operator, Program, Runtime
from pointsman.runtime import Node
from pointsman.runtime.tdm import tdm_node
from pointsman.targets.tdm import make_tables
from tdm_switch.shape import SwitchShape

from .model import SwitchMachine, switch_machine

ROUNDS = 12
"""Most rounds of a loop that are played."""
DRAWS = 4
"""Plays with different run-time values."""
FEWER_ROUNDS = 3
"""Most rounds in a program that would be too long."""
SEVERAL = ("spread", "gather", "seqread", "seqwrite")
"""Kinds with several messages at an end in a round."""
LENGTHS = ((128, 64), (32, 16), (8, 4))
"""Greatest lengths of messages, in words, in the two plays of a program that is still too long."""
LAST = 6
"""The last pair of plays may be so many times as long."""
LIMIT = 250_000
"""Most cycles times nodes of a play, which take some two seconds."""
ACCESSES = 2
"""Cycles that a processor spends on a word at least, most often: it is read, and written or passed on."""


@dataclass(frozen=True)
class Prediction:
    """``cycles`` that tables are predicted to take; None if even the shortest play was too long."""

    mode: Mode
    cycles: float | None


def best_tables(program: Program, shape: SwitchShape, *, name: str = "program") -> ConnectionTables:
    """Compile ``program`` for a switch in the mode with the least predicted cycles; the notes say what each would take.

    Raises
    ------
    PointsmanError
        If the switch has too few ports, or cannot do an operator.
    """
    made = [make_tables(program, shape, mode=mode, name=name) for mode in MODES if mode != "hybrid" or shape.slots > 1]
    found = [Prediction(tables.mode, predicted_cycles(tables, program)) for tables in made]
    best = min(range(len(made)), key=lambda k: (found[k].cycles is None, found[k].cycles or 0, k))
    said = ", ".join(f"{one.mode} {'too long' if one.cycles is None else f'{one.cycles:,.0f}'}" for one in found)
    note = f"mode {made[best].mode} by prediction, in cycles: {said}"
    return replace(made[best], notes=(note, *made[best].notes))


def predicted_cycles(tables: ConnectionTables, program: Program) -> float | None:
    """Cycles until the last processor has ended ``program``, if nothing is computed; None if the play is too long."""
    limit = max(1000, LIMIT // tables.topology.nodes)
    for rounds in (ROUNDS, FEWER_ROUNDS):
        if ACCESSES * _words(program, rounds=rounds) < limit:
            whole = _played(tables, program, rounds, limit)
            if whole is not None:
                return whole
    for longer, shorter in LENGTHS:
        if (longer, shorter) == LENGTHS[-1]:
            limit *= LAST
        if ACCESSES * _words(program, most=longer, rounds=FEWER_ROUNDS) >= limit:
            continue
        one, other = (_played(_with_messages(tables, most), program, FEWER_ROUNDS, limit) for most in (longer, shorter))
        if one is not None and other is not None:
            all_words, more, fewer = (_words(program, most=most) for most in (None, longer, shorter))
            return one + (all_words - more) * max(0.0, one - other) / max(1.0, more - fewer)
    return None


def _with_messages(tables: ConnectionTables, most: int) -> ConnectionTables:
    """The same tables with messages of ``most`` words at most."""
    operators = [replace(one, operator=replace(one.operator, m=min(one.operator.m, most))) for one in tables.operators]
    return replace(tables, operators=tuple(operators))


def _words(program: Program, *, most: int | None = None, rounds: int | None = None) -> float:
    """Words of all messages of a node, ``most`` words long at most, when no loop goes round more often than ``rounds``."""
    loops: list[tuple[int, int]] = []
    words = 0.0
    for part, depth in program.root.walk():
        while loops and loops[-1][0] >= depth:
            loops.pop()
        if isinstance(part, Group):
            if part.kind == "loop":
                loops.append((depth, part.count))
            continue
        times = [float(count if rounds is None else min(count, rounds)) for count in (*(c for _, c in loops), part.c)]
        messages = len(part.instances[0].nodes) - 1 if part.kind in SEVERAL else 1
        words += math.prod(times) * messages * (part.m if most is None else min(part.m, most))
    return words


def _played(tables: ConnectionTables, program: Program, rounds: int, limit: int) -> float | None:
    """Mean cycles of plays with several draws of the run-time values, of one if that is long; None if it is too long."""
    drawn = any(isinstance(value, Runtime) for one in program.operators() for _, value in one.instances[0].operands)
    found: list[float] = []
    for seed in range(DRAWS if drawn else 1):
        with switch_machine(tables.shape, "model", progress=False) as machine:
            try:
                found.append(play(tables, program, machine, rounds=rounds, seed=seed, max_cycles=limit))
            except TooLongError:
                return None
            if DRAWS * machine.time > limit:
                break
    return sum(found) / len(found)


def play(
    tables: ConnectionTables,
    program: Program,
    machine: SwitchMachine,
    *,
    rounds: int | None = None,
    seed: int = 0,
    max_cycles: int | None = None,
) -> float:
    """Cycles until the last processor has ended ``program`` on ``machine``, with those of the rounds that are left out.

    Parameters
    ----------
    rounds : int, optional
        Most rounds of a loop that are played; by default all.
    seed : int
        Seed of the run-time values.

    Raises
    ------
    TooLongError
        If it has not ended after ``max_cycles``.
    """
    functions = {name: _first for one in program.operators() if (name := function_name(one)) is not None}
    player = _Player(tables, program, machine, rounds, seed)
    nodes = [tdm_node(tables, k, machine, functions=functions) for k in range(tables.topology.nodes)]
    record = run_nodes(nodes, player.main, machine, max_cycles=max_cycles)
    ends = (record.finished - record.started).tolist()
    return max(float(ends[k]) + record.results[k] for k in tables.topology.working)


def _first(one: Any, *_: Any) -> Any:
    """In place of a function of the application, on items or on arrays."""
    return one


class _Player:
    """The application that is played."""

    def __init__(
        self, tables: ConnectionTables, program: Program, machine: SwitchMachine, rounds: int | None, seed: int
    ) -> None:
        self.program = program
        self.machine = machine
        self.rounds = rounds
        self.seed = seed
        self.operators = {table.operator.label: table.operator for table in tables.operators}

    async def main(self, node: Node) -> float:
        """Gives the cycles of the rounds that were left out."""
        way = _Way(self, node)
        await way.walk(self.program.root)
        return way.left_out


class _Way:
    """A node's way through the program."""

    def __init__(self, player: _Player, node: Node) -> None:
        self.player = player
        self.node = node
        self.left_out = 0.0
        self.turn: tuple[int, ...] = ()
        """Number of the round in each loop around."""

    @property
    def time(self) -> float:
        """Cycles until now, those left out among them."""
        return self.player.machine.time + self.left_out

    async def walk(self, part: Group | Operator) -> None:
        if isinstance(part, Operator):
            await self.load(part)
            await self.use(part)
        elif part.kind == "loop":
            await getattr(self.node.cop, f"{part.label}_load")()

            async def round_(number: int) -> None:
                self.turn = (*self.turn, number)
                for child in part.children:
                    await self.walk(child)
                self.turn = self.turn[:-1]

            await self.repeat(part.count, round_)
        elif part.kind == "parallel":
            operators = [child for child in part.children if isinstance(child, Operator)]
            for operator in operators:
                await self.load(operator)
            for operator in operators:
                await self.use(operator)
            for child in part.children:
                if not isinstance(child, Operator):
                    await self.walk(child)
        else:
            for child in part.children:
                await self.walk(child)

    async def repeat(self, count: int, round_: Callable[[int], Awaitable[None]]) -> None:
        """Play some of ``count`` rounds, and reckon the others."""
        played = count if self.player.rounds is None else min(count, self.player.rounds)
        after_first = 0.0
        for k in range(played):
            await round_(k)
            if k == 0:
                after_first = self.time
        if count > played:
            self.left_out += (count - played) * (self.time - after_first) / (played - 1)

    # -- operators -------------------------------------------------------------------------------------------

    def mine(self, operator: Operator) -> Iterator[tuple[int, Instance, int]]:
        """Instances with the node, each with its number and the node's place in it."""
        for index, instance in enumerate(operator.instances):
            if self.node.number in instance.nodes:
                yield index, instance, instance.nodes.index(self.node.number)

    def chance(self, operator: Operator, what: str) -> random.Random:
        """Chance that is the same at all nodes and in all rounds of a block."""
        block = rounds_between_values(operator)
        turn = (*self.turn[:-1], self.turn[-1] // block) if self.turn else ()
        return random.Random(f"{self.player.seed} {operator.label} {turn} {what}")

    def values(self, operator: Operator) -> tuple[int, ...]:
        return self.chance(operator, "value").choice(runtime_values(operator))

    async def load(self, operator: Operator) -> None:
        found = next(self.mine(operator), None)
        if found is not None:
            _, instance, place = found
            await getattr(self.node.cop, f"{operator.label}_load")(*self.given(operator, instance, place))

    def given(self, operator: Operator, instance: Instance, place: int) -> Iterator[Any]:
        """Arguments of the load function: what this node knows of the run-time values."""
        chosen = self.values(operator)
        values = iter(chosen)
        sorts = {one.name: one.sort for one in OPERATORS[operator.kind].operands}
        for name, value in instance.operands:
            if not isinstance(value, Runtime):
                continue
            partial = is_partial(operator, name)
            if sorts[name] == "function":
                yield np.maximum
            elif sorts[name] == "permutation":
                order = list(range(len(instance.nodes)))
                self.chance(operator, "permutation").shuffle(order)
                yield order[place] if partial else order
            elif not partial:
                yield next(values)
            elif operator.kind == "stream":
                to = next(values)
                yield to if place == operand(operator, 0, "source", chosen) else None
            else:
                yield place == next(values)

    async def use(self, operator: Operator) -> None:
        async def once(_: int) -> None:
            for index, instance, place in self.mine(operator):
                await self.call(operator, index, instance, place)

        if next(self.mine(operator), None) is not None:
            await self.repeat(1 if operator.kind in SEVERAL else operator.c, once)

    async def call(self, operator: Operator, index: int, instance: Instance, place: int) -> None:
        """All calls of an instance's functions that make a round."""
        cop, label = self.node.cop, operator.label
        played = self.player.operators[label]
        items = np.zeros(played.m // operator.type.words, operator.type.name)
        message = items if operator.type.array else items[0].item()
        if operator.flow == "functional":
            await (
                getattr(cop, f"{label}_func")()
                if operator.kind == "barrier"
                else getattr(cop, f"{label}_func")(message)
            )
            return
        writes, reads = self.calls(operator, index, instance, place)
        for _ in range(writes):
            await getattr(cop, f"{label}_write")(message)
        for _ in range(reads):
            await getattr(cop, f"{label}_read")()

    def calls(self, operator: Operator, index: int, instance: Instance, place: int) -> tuple[int, int]:
        """How often the node writes and reads in a round."""
        values = self.values(operator)
        valid = taking_part(operator, index)

        def is_end(name: str) -> bool:
            return place == operand(operator, index, name, values)

        match operator.kind:
            case "broadcast":
                return (1, 0) if is_end("source") else (0, 1)
            case "collect":
                writer = self.chance(operator, "writer").choice(valid)
                return int(place == writer), int(is_end("destination"))
            case "stream":
                return int(is_end("source")), int(is_end("destination"))
            case "spread":
                return (len(valid) - 1, 0) if is_end("source") else (0, 1)
            case "gather":
                return (0, len(valid) - 1) if is_end("destination") else (1, 0)
        reads = operator.kind == "seqread"
        chain = instance.operand("sources" if reads else "destinations")
        assert isinstance(chain, tuple)
        one = len(chain) * is_end("destination" if reads else "source")
        return (int(place in chain), one) if reads else (one, int(place in chain))
