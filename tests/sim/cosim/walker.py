"""An application that runs any COP program: the same on every target and on the reference machine, whose results are the oracle.

What a node sends, which run-time values it gives, how often a loop goes round and whether an optional group is taken comes out of
the seed, the place in the program and the round, so all nodes agree without a word. All nodes use operators in the same order, as
far as they share them, so no program waits for ever on a machine that holds no word for long.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any
from zlib import crc32

import numpy as np

from pointsman.operators.api.operands import is_partial, operand, runtime_values, taking_part
from pointsman.program.catalogue import OPERATORS
from pointsman.program.program import Group, Instance, Operator, Program, Runtime
from pointsman.runtime import Node

ROUNDS = ("spread", "gather", "seqread", "seqwrite")
"""Kinds whose messages make a round: they are loaded for each, as some are done in stages that only their load begins anew."""
Turn = tuple[int, ...]
"""Number of the round in each loop around a part of the program."""
Heard = tuple[str, str, Any]
"""What a node has received: by which operator and when, its type, and the message; None where nothing is to be received."""


def _left(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    out[:] = a


def _right(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    out[:] = b


def _largest(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """The message whose first item is larger: no item is combined by itself."""
    out[:] = b if b[0] > a[0] else a


def _matrices(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Products of 2×2 matrices modulo 251, four items each: their order matters."""
    one, two = (np.asarray(side).reshape(-1, 2, 2).astype(np.int64) % 251 for side in (a, b))
    out[:] = (np.matmul(one, two) % 251).reshape(-1)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "left": _left,
    "right": _right,
    "largest": _largest,
    "matrices": _matrices,
    "left_item": lambda a, b: a,
    "right_item": lambda a, b: b,
}
"""Functions of the application that programs may name: associative, but for none does the order of the messages not matter."""


class Walker:
    """Runs a program.

    Parameters
    ----------
    slowest : int
        Most cycles that a node computes before it loads an operator.
    calls : bool
        Nodes compute before other calls too.
    fewer : bool
        Loops go round any number of times up to one more than their count, which is approximate; else just as often as it says.
    late : bool
        Readers of operators beside a sequence may come when others of the sequence have been used, if the words fit somewhere.
    """

    functions = FUNCTIONS

    def __init__(
        self,
        program: Program,
        seed: int,
        *,
        slowest: int = 0,
        calls: bool = False,
        fewer: bool = False,
        late: bool = True,
    ) -> None:
        self.program = program
        self.seed = seed
        self.slowest = slowest
        self.calls = calls
        self.fewer = fewer
        self.late = late

    async def main(self, node: Node) -> list[Heard]:
        """Everything that the node has received, in order, each with where it was in the program."""
        return await _Walk(self, node).all()

    def number(self, *what: object) -> int:
        """A number that looks random, the same for the same arguments."""
        return crc32(repr((self.seed, *what)).encode())

    def rounds(self, loop: Group, turn: Turn) -> int:
        """How often a loop goes round."""
        return self.number(loop.label, turn, "rounds") % (loop.count + 2) if self.fewer else loop.count

    def values(self, operator: Operator, turn: Turn) -> tuple[int, ...]:
        """Run-time nodes and distances of an operator."""
        legal = runtime_values(operator)
        return legal[self.number(operator.label, turn) % len(legal)]

    def message(self, operator: Operator, turn: Turn, node: int, call: int) -> Any:
        """What a node sends in its n-th call of a round. Floats are small whole numbers, which add exactly in any order."""
        dtype = np.dtype(operator.type.name)
        first = self.number(operator.label, turn, node, *([call] if call else [])) % 1_000_003
        items = np.arange(operator.m // operator.type.words, dtype=np.int64) * 7 + first
        if dtype.kind == "f":
            items = 1 + items % (2 if dict(operator.instances[0].operands).get("function") == "mul" else 4093)
        message = items.astype(dtype)
        return message if operator.type.array else message[0].item()


class _Walk:
    """A node's way through the program."""

    def __init__(self, walker: Walker, node: Node) -> None:
        self.walker = walker
        self.node = node
        self.heard: list[Heard] = []
        self.beside: list[tuple[list[Operator], Turn]] = []
        """Operators that are beside the group at hand, each with the round in which it was loaded."""
        self.sent: Counter[tuple[str, Turn]] = Counter()
        """Messages that the node has sent, by operator and round."""
        self.chance = random.Random(f"{walker.seed} {node.number} delay")

    async def all(self) -> list[Heard]:
        await self.walk(self.walker.program.root, ())
        return self.heard

    async def walk(self, part: Group | Operator, turn: Turn) -> None:
        walker = self.walker
        if isinstance(part, Operator):
            await self.load(part, turn)
            await self.use_among_others(part, turn)
            return
        if part.kind == "parallel":
            operators, groups = _side_by_side(part)
            for operator in operators:
                await self.load(operator, turn)
            for operator in operators:
                await self.use(operator, turn)
            self.beside.append((operators, turn))
            for child in groups:
                await self.walk(child, turn)
            self.beside.pop()
        elif part.kind == "loop":
            await self.function(f"{part.label}_load")()
            for k in range(walker.rounds(part, turn)):
                for child in part.children:
                    await self.walk(child, (*turn, k))
        elif part.kind != "optional" or walker.number(turn, str(part.position)) % 2 == 0:
            for child in part.children:
                await self.walk(child, turn)

    async def use_among_others(self, part: Operator, turn: Turn) -> None:
        """Use an operator, and before it those that are beside it, if all that have one of them come here with each other."""
        around = [(one, when) for several, when in self.beside for one in several if one.nodes <= part.nodes]
        late = []
        for operator, when in around:
            if operator.kind in ROUNDS:
                await self.load(operator, when)
            if not self.walker.late or not _fits(operator):
                await self.use(operator, when)
            elif self.walker.number(operator.label, when, turn, "late") % 2:
                await self.use(operator, when, call="write")
                await self.use(operator, when, call="read")
            else:
                # Its words wait in the network, or at a processor, while the other is used.
                await self.use(operator, when, call="write")
                late.append((operator, when))
        await self.use(part, turn)
        for operator, when in late:
            await self.load(operator, when)
            await self.use(operator, when, call="read")

    def function(self, name: str) -> Callable[..., Any]:
        found: Callable[..., Any] = getattr(self.node.cop, name)
        return found

    def mine(self, operator: Operator) -> Iterator[tuple[int, Instance, int]]:
        """Instances in which the node is, each with its index and the node's place in it."""
        for index, instance in enumerate(operator.instances):
            if self.node.number in instance.nodes:
                yield index, instance, instance.nodes.index(self.node.number)

    async def pause(self) -> None:
        if self.walker.calls and self.walker.slowest and self.chance.random() < 0.4:
            await self.node.compute(self.chance.randrange(1, self.walker.slowest + 1))

    async def load(self, operator: Operator, turn: Turn) -> None:
        found = next(self.mine(operator), None)
        if found is None:
            return
        walker, label, number = self.walker, operator.label, self.node.number
        if walker.slowest and walker.number(number, label, turn, "slow") % 3 == 0:
            await self.node.compute(walker.number(number, label, turn) % walker.slowest)
        _, instance, place = found
        await self.function(f"{label}_load")(*self.given(operator, instance, place, turn))

    def given(self, operator: Operator, instance: Instance, place: int, turn: Turn) -> Iterator[Any]:
        """Arguments of the load function: what this node knows of the run-time values."""
        number = self.walker.number
        chosen = self.walker.values(operator, turn)
        values = iter(chosen)
        sorts = {one.name: one.sort for one in OPERATORS[operator.kind].operands}
        for name, value in instance.operands:
            if not isinstance(value, Runtime):
                continue
            partial = is_partial(operator, name)
            if sorts[name] == "function":
                functions = [np.add, np.maximum, np.minimum, *([_left, _right] if operator.type.array else [])]
                yield functions[number(operator.label, turn, "function") % len(functions)]
            elif sorts[name] == "permutation":
                order = list(range(len(instance.nodes)))
                random.Random(number(operator.label, turn, "permutation")).shuffle(order)
                yield order[place] if partial else order
            elif not partial:
                yield next(values)
            elif operator.kind == "stream":
                # Only the source knows where it goes.
                to = next(values)
                yield to if place == operand(operator, 0, "source", chosen) else None
            else:
                yield place == next(values)

    async def use(self, operator: Operator, turn: Turn, *, call: str | None = None) -> None:
        """Use an operator; ``call``: that function only."""
        for index, instance, place in self.mine(operator):
            name = f"{operator.label}{turn}"
            if operator.flow == "functional":
                await self.pause()
                func = self.function(f"{operator.label}_func")
                if operator.kind == "barrier":
                    await func()
                else:
                    self.note(name, await func(self.message(operator, turn)))
                continue
            writes, reads = self.calls(operator, index, instance, place, turn)
            for _ in range(writes if call != "read" else 0):
                await self.pause()
                await self.function(f"{operator.label}_write")(self.message(operator, turn))
            for _ in range(reads if call != "write" else 0):
                await self.pause()
                self.note(name, await self.function(f"{operator.label}_read")())

    def message(self, operator: Operator, turn: Turn) -> Any:
        """The node's next message."""
        self.sent[operator.label, turn] += 1
        return self.walker.message(operator, turn, self.node.number, self.sent[operator.label, turn] - 1)

    def note(self, name: str, message: Any) -> None:
        if isinstance(message, np.ndarray):
            self.heard.append((name, message.dtype.name, message.tolist()))
        else:
            self.heard.append((name, type(message).__name__, message))

    def calls(self, operator: Operator, index: int, instance: Instance, place: int, turn: Turn) -> tuple[int, int]:
        """How often the node writes and reads in an instance of a directional operator."""
        values = self.walker.values(operator, turn)
        valid = taking_part(operator, index)

        def end(name: str) -> int:
            return operand(operator, index, name, values)

        match operator.kind:
            case "broadcast":
                return (1, 0) if place == end("source") else (0, 1)
            case "collect":
                # A single writer for each destination: of two the messages could come in any order.
                writer = valid[self.walker.number(operator.label, end("destination"), "writer") % len(valid)]
                return int(place == writer), int(place == end("destination"))
            case "stream":
                return int(place == end("source")), int(place == end("destination"))
            case "spread":
                return (len(valid) - 1, 0) if place == end("source") else (0, 1)
            case "gather":
                return (0, len(valid) - 1) if place == end("destination") else (1, 0)
        reads = operator.kind == "seqread"
        chain = instance.operand("sources" if reads else "destinations")
        assert isinstance(chain, tuple)
        one = place == end("destination" if reads else "source")
        return (int(place in chain), len(chain) * one) if reads else (len(chain) * one, int(place in chain))


def _side_by_side(group: Group) -> tuple[list[Operator], list[Group]]:
    """Operators of a parallel group, those of parallel groups in it among them, and its other children."""
    operators: list[Operator] = []
    groups: list[Group] = []
    for child in group.children:
        if isinstance(child, Operator):
            operators.append(child)
        elif child.kind == "parallel" and all(isinstance(one, Operator) for one in child.children):
            operators.extend(one for one in child.children if isinstance(one, Operator))
        else:
            groups.append(child)
    return operators, groups


def _fits(operator: Operator) -> bool:
    """May the readers of a message come later, whatever the writer does meanwhile? One word fits into any register, and messages
    that processors pass on into their memories."""
    return operator.kind in ("broadcast", "stream") and (operator.m == 1 or (operator.impl or "").startswith("dyn_"))
