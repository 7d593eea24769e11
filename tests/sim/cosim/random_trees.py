"""Random COP programs of nested groups over all kinds of subsets, and an application that runs any program.

What a node has to receive comes from the reference machine, which runs the same application.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import numpy as np

from pointsman.cop import compile_text
from pointsman.network import Topology
from pointsman.operators.api.operands import runtime_values
from pointsman.program.program import Group, Instance, Operator, Program, Runtime
from pointsman.runtime import Node

KINDS = ("broadcast", "broadcast", "stream", "cshift", "eoshift", "barrier")
MOST_ROUNDS = 3


def random_text(
    seed: int,
    topology: Topology,
    *,
    depth: int = 2,
    operators: int = 5,
    rounds: int = MOST_ROUNDS,
    threads: float = 0.0,
    continuing: float = 0.0,
    online: float = 0.0,
) -> str:
    """A program; the same for the same arguments. Loops are run at most ``rounds`` times.

    Parameters
    ----------
    threads : float
        Share of the groups that are sequences side by side on parts of the mesh.
    continuing : float
        Share of the groups that are operators beside a sequence.
    online : float
        Share of these in which one of the operators is done by messages.
    """
    rng = random.Random(seed)
    labels = iter(f"o{i}" for i in range(1000))
    left = operators
    everything = list(range(topology.nodes))
    region = everything
    together = False
    calm = False
    """No load function rewrites the router, as beside messages it cannot."""

    def subset() -> list[list[int]]:
        nodes = list(region)
        if together and rng.random() < 0.85:
            return [nodes]
        # Beside others, operators on a few nodes mostly leave a program that has to be in one phase.
        common = ["all"] * 6 if threads + continuing > 0 else []
        how = rng.choice([*common, "all", "rows", "columns", "some", "parts", "pairs"])
        if how in ("rows", "columns"):
            axis = how == "columns"
            lines: dict[int, list[int]] = {}
            for node in nodes:
                lines.setdefault(topology.coordinates(node)[0 if axis else 1], []).append(node)
            return list(lines.values())
        if how == "all":
            return [nodes]
        rng.shuffle(nodes)
        if how == "some":
            return [nodes[: rng.randint(1, len(nodes))]]
        length = min(2, len(nodes)) if how == "pairs" else max(1, len(nodes) // rng.randint(1, 3))
        parts = [nodes[i : i + length] for i in range(0, len(nodes) - length + 1, length)]
        return parts[: rng.randint(1, len(parts))]

    def messages() -> str:
        """An operator done by messages, of all nodes."""
        nonlocal left
        left -= 1
        kind, operands, ways = rng.choice(
            [
                ("broadcast", "(runtime)", ["dyn_bcast"]),
                ("broadcast", str(rng.randrange(len(region))), ["dyn_bcast_tree"]),
                ("stream", "(runtime) (runtime)", ["dyn_stream"]),
                ("cshift", str(rng.randrange(len(region))), ["dyn_shift"]),
            ]
        )
        nodes = " ".join(map(str, region))
        how = f"{operands} :m {rng.choice([1, 5, 30])} :impl '{rng.choice(ways)}"
        return f"(subset '(({nodes})) ({kind} '{next(labels)} {how}))"

    def operator(*, settled: bool = False) -> str:
        nonlocal left
        left -= 1
        parts = [list(region)] if settled and rng.random() < 0.9 else subset()
        count = len(parts[0])
        kind = rng.choice(KINDS)
        words = rng.choice([1, 2, 3, 7, 20])
        operands = {
            "broadcast": lambda: rng.choice(
                [str(rng.randrange(count)) if settled or calm else "(runtime)", str(rng.randrange(count))]
            ),
            "stream": lambda: f"{rng.randrange(count)} {rng.randrange(count)}",
            "cshift": lambda: str(rng.randint(1 - count, count - 1)),
            "eoshift": lambda: str(rng.randint(1 - count, count - 1)),
            "barrier": lambda: "",
        }[kind]()
        length = "" if kind == "barrier" else f":m {words}"
        lists = " ".join(f"({' '.join(map(str, part))})" for part in parts)
        return f"(subset '({lists}) ({kind} '{next(labels)} {operands} {length}))"

    def halves(nodes: list[int]) -> list[list[int]]:
        """Two boxes that a box of nodes falls into."""
        axis = rng.randrange(2)
        places = sorted({topology.coordinates(node)[axis] for node in nodes})
        if len(places) < 2:
            axis = 1 - axis
            places = sorted({topology.coordinates(node)[axis] for node in nodes})
        if len(places) < 2:
            return [nodes]
        cut = rng.choice(places[1:])
        return [[n for n in nodes if (topology.coordinates(n)[axis] < cut) == low] for low in (True, False)]

    def sequence(depth: int, most: int) -> str:
        head = rng.choice(["sequential", f"loop '{next(labels)}_loop {rng.randint(1, MOST_ROUNDS)}", "sequential"])
        return f"({head} {' '.join(part(depth - 1) for _ in range(rng.randint(2, most)))})"

    def apart(depth: int) -> str:
        nonlocal region
        before, children = region, []
        for half in halves(before):
            region = half
            children.append(sequence(depth, 4))
        region = before
        return f"(parallel {' '.join(children)})"

    def beside(depth: int) -> str:
        nonlocal together, calm
        operators = [operator(settled=True) for _ in range(rng.choice([1, 1, 2]))]
        passing = len(region) > 1 and rng.random() < online
        if passing:
            operators[0] = messages()
        before, together = together, True
        was, calm = calm, calm or passing
        inner = apart(depth) if len(region) > 2 and not passing and rng.random() < threads else sequence(depth, 3)
        together, calm = before, was
        return f"(parallel {' '.join(operators)} {inner})"

    def part(depth: int) -> str:
        if depth and threads + continuing > 0:
            how = rng.random()
            if how < threads and len(region) > 2:
                return apart(depth)
            if how < threads + continuing:
                return beside(depth)
        if depth == 0 or left <= 1 or rng.random() < 0.3:
            return operator()
        kind = rng.choice(["sequential", "loop", "loop", "optional", "parallel"])
        if kind == "parallel":
            return f"(parallel {operator()} {operator()})"
        head = f"loop '{next(labels)}_loop {rng.randint(1, rounds)}" if kind == "loop" else kind
        return f"({head} {' '.join(part(depth - 1) for _ in range(rng.randint(1, 3)))})"

    return "\n".join(part(depth) for _ in range(rng.randint(1, 2) if continuing else rng.randint(2, 3)))


class Walker:
    """Runs any program: every loop as often as it says, every optional group as a coin of its own falls."""

    def __init__(self, text: str, topology: Topology, seed: int, *, slowest: int = 0) -> None:
        self.program: Program = compile_text(text, topology=topology)
        self.seed = seed
        self.slowest = slowest
        """Most cycles that a node computes before an operator."""

    def _number(self, *what: object) -> int:
        return crc32(repr((self.seed, *what)).encode())

    async def main(self, node: Node) -> list[tuple[str, list[int]]]:
        """Everything that the node has received, in order, each with where it was in the program."""
        received: list[tuple[str, list[int]]] = []
        beside: list[tuple[list[Operator], tuple[int, ...]]] = []

        async def walk(part: Group | Operator, turn: tuple[int, ...]) -> None:
            if isinstance(part, Operator):
                await self._load(node, part, turn)
                # All that have one of them come here with each other.
                around = [(one, when) for several, when in beside for one in several if one.nodes <= part.nodes]
                for operator, when in around:
                    if not self._fits(operator):
                        await self._use(node, operator, when, received)
                    elif not self._late(operator, when, turn):
                        await self._use(node, operator, when, received, call="write")
                        await self._use(node, operator, when, received, call="read")
                    else:
                        # Its words wait in the network, or at a processor, while the other is used.
                        await self._use(node, operator, when, received, call="write")
                await self._use(node, part, turn, received)
                for operator, when in around:
                    if self._fits(operator) and self._late(operator, when, turn):
                        await self._load(node, operator, when)
                        await self._use(node, operator, when, received, call="read")
            elif part.kind == "parallel":
                # The operators run beside the other children: they are used before each operator of theirs with as many nodes.
                operators = [child for child in part.children if isinstance(child, Operator)]
                groups = [child for child in part.children if not isinstance(child, Operator)]
                for operator in operators:
                    await self._load(node, operator, turn)
                for operator in operators:
                    await self._use(node, operator, turn, received)
                beside.append((operators, turn))
                for child in groups:
                    await walk(child, turn)
                beside.pop()
            elif part.kind == "optional" and self._number(turn, str(part.position)) % 2:
                return
            elif part.kind == "loop":
                await node.cop.__getattr__(f"{part.label}_load")()
                for k in range(part.count):
                    for child in part.children:
                        await walk(child, (*turn, k))
            else:
                for child in part.children:
                    await walk(child, turn)

        await walk(self.program.root, ())
        return received

    @staticmethod
    def _fits(operator: Operator) -> bool:
        """May the readers of a message come later, whatever the writer does meanwhile? One word fits into any register, and
        messages that processors pass on into their memories."""
        return operator.kind in ("broadcast", "stream") and (
            operator.m == 1 or (operator.impl or "").startswith("dyn_")
        )

    def _late(self, operator: Operator, when: tuple[int, ...], turn: tuple[int, ...]) -> bool:
        return self._number(operator.label, when, turn, "late") % 2 == 0

    def _mine(self, node: Node, operator: Operator) -> Iterator[tuple[Instance, int]]:
        for instance in operator.instances:
            if node.number in instance.nodes:
                yield instance, instance.nodes.index(node.number)

    def _values(self, operator: Operator, turn: tuple[int, ...]) -> tuple[int, ...]:
        legal = runtime_values(operator)
        return legal[self._number(operator.label, turn) % len(legal)]

    async def _load(self, node: Node, operator: Operator, turn: tuple[int, ...]) -> None:
        if next(self._mine(node, operator), None) is None:
            return
        if self.slowest and self._number(node.number, operator.label, turn, "slow") % 3 == 0:
            await node.compute(self._number(node.number, operator.label, turn) % self.slowest)
        await node.cop.__getattr__(f"{operator.label}_load")(*self._values(operator, turn))

    async def _use(
        self,
        node: Node,
        operator: Operator,
        turn: tuple[int, ...],
        received: list[tuple[str, list[int]]],
        *,
        call: str | None = None,
    ) -> None:
        """``call``: that function only."""
        found = next(self._mine(node, operator), None)
        if found is None:
            return
        instance, place = found
        values = dict(instance.operands)
        given = iter(self._values(operator, turn))
        values = {name: next(given) if isinstance(value, Runtime) else value for name, value in values.items()}
        label = operator.label
        message = np.arange(operator.m, dtype=np.int64) * 7 + self._number(label, turn, node.number) % 1_000_003
        words = message.astype(np.int32)

        def note(got: Any) -> None:
            received.append((f"{label}{turn}", [int(word) for word in got]))

        async def do(name: str, *arguments: Any) -> Any:
            return await node.cop.__getattr__(f"{label}_{name}")(*arguments)

        if operator.kind == "barrier":
            await do("func")
        elif operator.kind in ("cshift", "eoshift"):
            note(await do("func", words))
        elif operator.kind == "broadcast":
            if place == values["source"]:
                if call != "read":
                    await do("write", words)
            elif call != "write":
                note(await do("read"))
        else:
            if place == values["source"] and call != "read":
                await do("write", words)
            if place == values["destination"] and call != "write":
                note(await do("read"))
