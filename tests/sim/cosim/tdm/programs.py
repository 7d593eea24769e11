"""Random COP programs of all kinds of operators, for any target: what every node reads is compared with the reference machine."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pointsman.cop import Program, compile_text
from pointsman.network import mesh
from pointsman.runtime import Node

KINDS = (
    *("broadcast", "broadcast", "cshift", "eoshift", "permute", "stream", "spread", "gather", "barrier"),
    *("reduce", "allreduce", "prefix", "seqread", "seqwrite"),
)


@dataclass(frozen=True)
class Step:
    """An operator: its text, its instances' nodes, and what its load is given in each round."""

    label: str
    kind: str
    text: str
    subsets: tuple[tuple[int, ...], ...]
    words: int
    given: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Case:
    """A program and what its nodes do, with computation of random length in between."""

    text: str
    program: Program
    steps: tuple[Step, ...]
    rounds: int
    seed: int

    async def main(self, node: Node) -> list[Any]:
        """Go through the program; everything that was read."""
        chance = random.Random(self.seed * 1000 + node.number)
        heard: list[Any] = []
        for round_ in range(self.rounds):
            for index, step in enumerate(self.steps):
                mine = next((nodes for nodes in step.subsets if node.number in nodes), None)
                if mine is None:
                    continue
                if chance.random() < 0.3:
                    await node.compute(chance.choice([1, 3, 40, 150]))
                await getattr(node.cop, f"{step.label}_load")(*step.given[round_])
                if chance.random() < 0.2:
                    await node.compute(chance.choice([2, 30]))
                first = ((index * 31 + round_) * 1024 + node.number) * 512
                heard.append(
                    await self._call(node, step, round_, mine, np.arange(first, first + step.words, dtype=np.int32))
                )
        return heard

    async def _call(self, node: Node, step: Step, round_: int, nodes: tuple[int, ...], message: np.ndarray) -> Any:
        def function(name: str) -> Callable[..., Any]:
            found: Callable[..., Any] = getattr(node.cop, f"{step.label}_{name}")
            return found

        place, operands = nodes.index(node.number), self._operands(step, round_)
        others = len(nodes) - 1
        match step.kind:
            case "barrier":
                await function("func")()
                return "met"
            case "broadcast" | "spread":
                if place == operands[0]:
                    for k in range(others if step.kind == "spread" else 1):
                        await function("write")(message + k)
                    return "wrote"
                return await function("read")()
            case "gather":
                if place == operands[0]:
                    return [await function("read")() for _ in range(others)]
                await function("write")(message)
                return "wrote"
            case "stream":
                if place == operands[0]:
                    await function("write")(message)
                return await function("read")() if place == operands[1] else None
            case "seqread" | "seqwrite":
                chain, one = (operands[0], operands[1]) if step.kind == "seqread" else (operands[1], operands[0])
                reads = step.kind == "seqread"
                if place == one:
                    if reads:
                        return [await function("read")() for _ in chain]
                    for k in range(len(chain)):
                        await function("write")(message + k)
                elif place in chain:
                    if not reads:
                        return await function("read")()
                    await function("write")(message)
                return "done"
        return await function("func")(message)

    def _operands(self, step: Step, round_: int) -> Sequence[Any]:
        operator = next(one for one in self.program.operators() if one.label == step.label)
        left = list(step.given[round_])
        values = []
        for _, value in operator.instances[0].operands:
            values.append(left.pop(0) if type(value).__name__ == "Runtime" else value)
        return values


def random_case(seed: int, sizes: Sequence[tuple[int, int]], kinds: Sequence[str] = KINDS) -> Case:
    """A program of one to three operators, in a loop or not."""
    chance = random.Random(seed)
    size = chance.choice(sizes)
    nodes = size[0] * size[1]
    lines = {
        "all": (tuple(range(nodes)),),
        "x": tuple(tuple(range(y * size[0], (y + 1) * size[0])) for y in range(size[1])),
        "y": tuple(tuple(range(x, nodes, size[0])) for x in range(size[0])),
    }
    rounds = chance.randint(2, 3)
    steps = []
    for number in range(chance.randint(1, 3)):
        where = chance.choice(["all", "x", "y"])
        n = len(lines[where][0])
        kind = chance.choice([k for k in kinds if n > 1 or k not in ("seqread", "seqwrite", "spread", "gather")])
        text, given = _operator(chance, kind, n, rounds)
        words = 1 if kind == "barrier" else chance.choice([1, 2, 7, 30])
        function = " 'add" if kind in ("reduce", "allreduce", "prefix") else ""
        call = f"({kind} 'op{number}{function}{text} :m {words})"
        if where != "all":
            call = f"(subset (make-1d '{where}) {call})"
        steps.append(Step(f"op{number}", kind, call, lines[where], words, given))
    body = "\n".join(step.text for step in steps)
    looped = chance.random() < 0.7
    text = f"(loop 'l 4 {body})" if looped else f"(sequential {body})"
    return Case(text, compile_text(text, topology=mesh(*size)), tuple(steps), rounds if looped else 1, seed)


def _operator(chance: random.Random, kind: str, n: int, rounds: int) -> tuple[str, tuple[tuple[Any, ...], ...]]:
    """Operands as text, and what load is given in each round."""

    def each(make: Callable[[], Any]) -> tuple[tuple[Any, ...], ...]:
        return tuple((make(),) for _ in range(rounds))

    nothing = ((),) * rounds
    runtime = chance.random() < 0.5
    if kind in ("broadcast", "reduce"):
        if runtime:
            flavour = chance.choice(["", "", " :distributed t"]) if kind == "broadcast" else ""
            return f" (runtime{flavour})", each(lambda: chance.randrange(n))
        return f" {chance.randrange(n)}", nothing
    if kind in ("cshift", "eoshift"):
        if runtime:
            return " (runtime)", each(lambda: chance.randrange(1 - n, n))
        return f" {chance.choice([-1, 1, -2, 3, 0])}", nothing
    if kind == "permute":
        if runtime:
            return " (runtime)", each(lambda: chance.sample(range(n), n))
        return f" '({' '.join(map(str, chance.sample(range(n), n)))})", nothing
    if kind == "stream":
        source = chance.randrange(n)
        if runtime:
            return f" {source} (runtime)", each(lambda: chance.randrange(n))
        return f" {source} {chance.randrange(n)}", nothing
    if kind in ("spread", "gather"):
        return f" {chance.randrange(n)}", nothing
    if kind in ("seqread", "seqwrite"):
        one, *chain = chance.sample(range(n), chance.randint(2, n))
        chain_text = f"'({' '.join(map(str, chain))})"
        return (f" {chain_text} {one}" if kind == "seqread" else f" {one} {chain_text}"), nothing
    return "", nothing


def same(one: Any, other: Any) -> bool:
    """Equality that looks into arrays and the lists around them."""
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return np.array_equal(one, other)
    return type(one) is type(other) and not isinstance(one, np.ndarray) and one == other
