"""A compiled program played on a cycle model, by an application that computes nothing: how many cycles it will take.

The run time is as it is. Every operator is called in the order of the text, and optional groups are taken. A loop is played for a
few rounds, and each round that is left out costs what the played ones have cost on the mean after the first. Run-time values are
drawn anew in each ``:block`` of rounds. A program that is too long is played with shorter messages of two lengths, from which the
cycles of the true ones follow in a line.
"""

from __future__ import annotations

import math
import random
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from pointsman.operators.api.operands import (
    function_name,
    is_partial,
    operand,
    rounds_between_values,
    runtime_values,
    taking_part,
)
from pointsman.operators.messages import SEVERAL_MESSAGES
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Group, Instance, Operator, Program, Runtime
from pointsman.runtime import Node

from .errors import StuckError, TooLongError
from .machine import ProcessorMachine
from .session import run_nodes

ROUNDS = 12
"""Most rounds of a loop that are played."""
DRAWS = 4
"""Plays with different run-time values."""
FEWER_ROUNDS = 3
"""Most rounds in a program that would be too long."""
LENGTHS = ((512, 256), (128, 64), (32, 16), (8, 4))
"""Greatest lengths of messages, in words, in the two plays of a program that is still too long."""
LAST = 6
"""The last pair of plays may be so many times as long."""
LIMIT = 375_000
"""Most cycles times nodes of a play, which take some two seconds."""
ACCESSES = 2
"""Cycles that a processor spends on a word at least, most often: it is read, and written or passed on."""


@dataclass(frozen=True)
class Played:
    """``cycles`` until the last processor has ended; ``operators``: by label, cycles of a node in functions of an operator, its
    loads included, mean over all nodes."""

    cycles: float
    operators: Mapping[str, float]


class Stage(Protocol):
    """A compiled program, ready to be played."""

    def __call__(
        self, most: int | None, rounds: int, seed: int, limit: int, *, in_turn: bool = False
    ) -> tuple[Played, int]:
        """Play it with messages of ``most`` words at most, on a new machine; gives also the cycles that were played. ``in_turn``:
        see `play`.

        Raises
        ------
        TooLongError
            If it has not ended after ``limit`` cycles.
        StuckError
            If all nodes wait.
        """
        ...


def predict(program: Program, stage: Stage) -> Played | None:
    """The cycles of a program, if nothing is computed; None if even the shortest play is too long."""
    limit = max(1000, LIMIT // program.topology.nodes)
    tried: dict[tuple[int, ...], tuple[int, Played | None]] = {}

    def drawn(most: int | None, rounds: int) -> Played | None:
        """What is played again with no other messages and rounds takes as long."""
        key = _sizes(program, most, rounds)
        before, found = tried.get(key, (0, None))
        if found is None and before < limit:
            found = _drawn(program, stage, most, rounds, limit)
            tried[key] = limit, found
        return found

    for rounds in (ROUNDS, FEWER_ROUNDS):
        if ACCESSES * words_of(program, rounds=rounds) < limit:
            whole = drawn(None, rounds)
            if whole is not None:
                return whole
    for longer, shorter in LENGTHS:
        if (longer, shorter) == LENGTHS[-1]:
            limit *= LAST
        if ACCESSES * words_of(program, most=longer, rounds=FEWER_ROUNDS) >= limit:
            continue
        one, other = (drawn(most, FEWER_ROUNDS) for most in (longer, shorter))
        if one is not None and other is not None:
            return _extended(program, (longer, one), (shorter, other))
    return None


def _sizes(program: Program, most: int | None, rounds: int) -> tuple[int, ...]:
    """Words of a message of each operator, calls after a load and rounds of each loop in a play with these limits."""
    found: list[int] = []
    for part, _ in program.root.walk():
        if isinstance(part, Operator):
            found += [part.m if most is None else min(part.m, most), min(part.c, rounds)]
        else:
            found.append(min(part.count, rounds))
    return tuple(found)


def _drawn(program: Program, stage: Stage, most: int | None, rounds: int, limit: int) -> Played | None:
    """Mean of plays with several draws of the run-time values, of one if that is long; None if it is too long."""
    drawn = any(isinstance(value, Runtime) for one in program.operators() for _, value in one.instances[0].operands)
    found: list[Played] = []
    for seed in range(DRAWS if drawn else 1):
        try:
            try:
                played, cycles = stage(most, rounds, seed, limit)
            except StuckError:  # there is no room for what all nodes write before they read
                played, cycles = stage(most, rounds, seed, limit, in_turn=True)
        except TooLongError:
            return None
        found.append(played)
        if DRAWS * cycles > limit:
            break
    labels = dict.fromkeys(label for one in found for label in one.operators)
    return Played(
        sum(one.cycles for one in found) / len(found),
        {label: sum(one.operators.get(label, 0.0) for one in found) / len(found) for label in labels},
    )


def _extended(program: Program, one: tuple[int, Played], other: tuple[int, Played]) -> Played:
    """What whole messages take, from plays with shorter ones of two lengths."""
    (longer, more), (shorter, fewer) = one, other
    operators: dict[str, float] = {}
    for label, cycles in more.operators.items():
        whole, long, short = (words_of(program, most=most, label=label) for most in (None, longer, shorter))
        slope = max(0.0, cycles - fewer.operators.get(label, 0.0)) / max(1.0, long - short)
        operators[label] = cycles + (whole - long) * slope
    # What a word costs differs from operator to operator, and so does the share of it that was played.
    return Played(more.cycles + sum(operators.values()) - sum(more.operators.values()), operators)


def play(
    program: Program,
    made: Mapping[str, Operator],
    machine: ProcessorMachine,
    nodes: Callable[[Mapping[str, Any]], Sequence[Node]],
    *,
    rounds: int | None = None,
    seed: int = 0,
    max_cycles: int | None = None,
    in_turn: bool = False,
) -> Played:
    """Cycles until the last processor has ended ``program`` on ``machine``, with those of the rounds that are left out.

    Parameters
    ----------
    made : mapping
        By label, the operators as they were compiled.
    nodes : callable
        Makes the nodes, given the functions of the application by their names.
    rounds : int, optional
        Most rounds of a loop that are played; by default all.
    seed : int
        Seed of the run-time values.
    in_turn : bool
        Use the instances of an operator in their order, which needs room for no message. Otherwise a node that writes in one of
        them and reads in another writes first, as applications do that exchange messages.

    Raises
    ------
    TooLongError
        If it has not ended after ``max_cycles``.
    StuckError
        If all nodes wait.
    """
    functions = functions_of(program.operators())
    player = Player(program, made, machine, rounds, seed, in_turn)
    record = run_nodes(nodes(functions), player.main, machine, max_cycles=max_cycles)
    ends = (record.finished - record.started).tolist()
    given = [result if result is not None else (0.0, {}) for result in record.results]
    spent: dict[str, float] = {}
    for _, of_node in given:
        for label, cycles in of_node.items():
            spent[label] = spent.get(label, 0.0) + cycles / program.topology.nodes
    return Played(max(float(end) + left_out for end, (left_out, _) in zip(ends, given, strict=False)), spent)


def functions_of(operators: Iterable[Operator]) -> dict[str, Any]:
    """Something in place of each of the application's own functions."""
    return {name: _first for one in operators if (name := function_name(one)) is not None}


def message_of(operator: Operator, words: int) -> Any:
    """A message of an operator without contents, ``words`` words long."""
    items = np.zeros(words // operator.type.words, operator.type.name)
    return items if operator.type.array else items[0].item()


def _first(one: Any, _: Any, out: Any = None) -> Any:
    """In place of a function of the application, on items or on arrays, of which messages without contents need nothing."""
    return one if out is None else None


def words_of(
    program: Program, *, most: int | None = None, rounds: int | None = None, label: str | None = None
) -> float:
    """Words of all messages of a node, ``most`` words long at most, when no loop goes round more often than ``rounds``.
    ``label``: of this operator only."""
    loops: list[tuple[int, int]] = []
    words = 0.0
    for part, depth in program.root.walk():
        while loops and loops[-1][0] >= depth:
            loops.pop()
        if isinstance(part, Group):
            if part.kind == "loop":
                loops.append((depth, part.count))
            continue
        if label is not None and part.label != label:
            continue
        times = [float(count if rounds is None else min(count, rounds)) for count in (*(c for _, c in loops), part.c)]
        messages = len(part.instances[0].nodes) - 1 if part.kind in SEVERAL_MESSAGES else 1
        words += math.prod(times) * messages * (part.m if most is None else min(part.m, most))
    return words


class Player:
    """The application that is played: ``main`` calls every operator of ``program`` on ``machine``. Other parameters: `play`."""

    def __init__(
        self,
        program: Program,
        made: Mapping[str, Operator],
        machine: ProcessorMachine,
        rounds: int | None = None,
        seed: int = 0,
        in_turn: bool = False,
    ) -> None:
        self.in_turn = in_turn
        self.program = program
        self.machine = machine
        self.rounds = rounds
        self.seed = seed
        self.operators = made

    async def main(self, node: Node) -> tuple[float, dict[str, float]]:
        """Gives the cycles of the rounds that were left out, and by label those in functions of an operator."""
        way = _Way(self, node)
        await way.walk(self.program.root)
        return way.left_out, way.spent


class _Way:
    """A node's way through the program."""

    def __init__(self, player: Player, node: Node) -> None:
        self.player = player
        self.node = node
        self.left_out = 0.0
        self.spent: dict[str, float] = {}
        """By label, cycles in functions of an operator, those left out among them."""
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

    @contextmanager
    def counted(self, label: str) -> Iterator[None]:
        """Cycles that pass here are an operator's."""
        before = self.time
        yield
        self.spent[label] = self.spent.get(label, 0.0) + self.time - before

    async def repeat(self, count: int, round_: Callable[[int], Awaitable[None]]) -> None:
        """Play some of ``count`` rounds, and reckon the others."""
        played = count if self.player.rounds is None else min(count, self.player.rounds)
        after_first, spent_then = 0.0, dict(self.spent)
        for k in range(played):
            await round_(k)
            if k == 0:
                after_first, spent_then = self.time, dict(self.spent)
        if count > played:
            more = (count - played) / (played - 1)
            self.left_out += more * (self.time - after_first)
            for label, cycles in self.spent.items():
                self.spent[label] = cycles + more * (cycles - spent_then.get(label, 0.0))

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
            with self.counted(operator.label):
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
            with self.counted(operator.label):
                for index, instance, place in self.ordered(operator):
                    await self.call(operator, index, instance, place)

        if next(self.mine(operator), None) is not None:
            await self.repeat(1 if operator.kind in SEVERAL_MESSAGES else operator.c, once)

    def ordered(self, operator: Operator) -> list[tuple[int, Instance, int]]:
        """As ``mine``, in the order in which the node calls functions of an operator."""
        if operator.flow == "functional" or self.player.in_turn:
            return list(self.mine(operator))
        return sorted(self.mine(operator), key=lambda one: not self.calls(operator, *one)[0])

    async def call(self, operator: Operator, index: int, instance: Instance, place: int) -> None:
        """All calls of an instance's functions that make a round."""
        cop, label = self.node.cop, operator.label
        message = message_of(operator, self.player.operators[label].m)
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
