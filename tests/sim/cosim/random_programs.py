"""Random COP programs with what each node has to receive, for tests of the whole chain."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Images
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.make_plan import make_plan
from pointsman.runtime import Node
from pointsman.targets.numesh import make_images


@dataclass(frozen=True)
class Step:
    """One operator of a random program. ``subsets`` are its instances' nodes; ``runtime``: the source comes at load."""

    label: str
    kind: str
    where: str
    subsets: tuple[tuple[int, ...], ...]
    words: int
    operands: tuple[int, ...]
    runtime: bool

    def text(self) -> str:
        operands = " ".join(map(str, self.operands))
        if self.kind == "broadcast" and self.runtime:
            operands = "(runtime)"
        call = f"({self.kind} '{self.label} {operands} :m {self.words})"
        return {"all": call}.get(self.where, f"(subset (make-1d '{self.where}) {call})")


@dataclass(frozen=True)
class Case:
    """A program: its steps, run ``rounds`` times, and its images."""

    steps: tuple[Step, ...]
    rounds: int
    images: Images
    seed: int

    def message(self, step: Step, round_: int, node: int) -> np.ndarray:
        """What ``node`` writes: told apart by all four numbers."""
        index = self.steps.index(step)
        first = ((index * 31 + round_) * 1024 + node) * 4096
        return np.arange(first, first + step.words).astype(np.int32)

    def source(self, step: Step, round_: int) -> int:
        """Source of a broadcast in a round, relative to its subset."""
        if not step.runtime:
            return step.operands[0]
        return (self.seed + 7 * round_) % len(step.subsets[0])

    def expected(self, step: Step, round_: int, node: int) -> np.ndarray | None:
        """What ``node`` must receive; None: nothing."""
        nodes = next(s for s in step.subsets if node in s)
        place = nodes.index(node)
        if step.kind == "broadcast":
            source = self.source(step, round_)
            return None if place == source else self.message(step, round_, nodes[source])
        if step.kind == "stream":
            source, destination = step.operands
            return self.message(step, round_, nodes[source]) if place == destination else None
        if step.kind == "cshift":
            return self.message(step, round_, nodes[(place - step.operands[0]) % len(nodes)])
        if step.kind == "eoshift":
            origin = place - step.operands[0]
            if 0 <= origin < len(nodes):
                return self.message(step, round_, nodes[origin])
            return np.zeros(step.words, np.int32)
        return None

    async def main(self, node: Node) -> list[str]:
        """Go through the program with random computation in between; what was received wrongly, in words."""
        chance = random.Random(self.seed * 1000 + node.number)
        wrong: list[str] = []
        for round_ in range(self.rounds):
            for step in self.steps:
                if not any(node.number in s for s in step.subsets):
                    continue
                if chance.random() < 0.4:
                    await node.compute(chance.choice([1, 3, 17, 120, 700]))
                received = await self._step(node, step, round_, chance)
                expected = self.expected(step, round_, node.number)
                if received is not None and not np.array_equal(received, expected):  # type: ignore[arg-type]
                    wrong.append(f"round {round_}, {step}, node {node.number}: {received} instead of {expected}")
        return wrong

    async def _step(self, node: Node, step: Step, round_: int, chance: random.Random) -> Any:
        def function(name: str) -> Any:
            return getattr(node.cop, f"{step.label}_{name}")

        message = self.message(step, round_, node.number)
        if step.kind == "broadcast":
            source = self.source(step, round_)
            await (function("load")(source) if step.runtime else function("load")())
            nodes = next(s for s in step.subsets if node.number in s)
            if chance.random() < 0.3:
                await node.compute(chance.choice([2, 40, 300]))
            if nodes[source] == node.number:
                await function("write")(message)
                return None
            return await function("read")()
        await function("load")()
        if step.kind == "barrier":
            await function("func")()
            return None
        if step.kind == "stream":
            nodes = next(s for s in step.subsets if node.number in s)
            source, destination = (nodes[place] for place in step.operands)
            if node.number == source:
                await function("write")(message)
            return await function("read")() if node.number == destination else None
        return await function("func")(message)


def random_case(seed: int, sizes: tuple[tuple[int, int], ...], shape: NodeShape | None = None) -> Case:
    """A program of one to three operators, in a loop or not."""
    chance = random.Random(seed)
    size = chance.choice(sizes)
    topology = mesh(*size)
    nodes = topology.nodes
    lines = {
        "all": (tuple(range(nodes)),),
        "x": tuple(tuple(range(y * size[0], (y + 1) * size[0])) for y in range(size[1])),
        "y": tuple(tuple(range(x, nodes, size[0])) for x in range(size[0])),
    }
    steps = []
    for number in range(chance.randint(1, 3)):
        kind = chance.choice(["broadcast", "broadcast", "cshift", "eoshift", "stream", "barrier"])
        where = chance.choice(["all", "x", "y"])
        length = len(lines[where][0])
        runtime = kind == "broadcast" and chance.random() < 0.6
        operands: tuple[int, ...] = ()
        if kind == "broadcast":
            operands = (chance.randrange(length),)
        elif kind in ("cshift", "eoshift"):
            operands = (chance.choice([-1, 1, 1, -2, 2, 3, 0]),)
        elif kind == "stream":
            operands = (chance.randrange(length), chance.randrange(length))
        words = 1 if kind == "barrier" else chance.choice([1, 2, 7, 30, 90])
        steps.append(Step(f"op{number}", kind, where, lines[where], words, operands, runtime))
    looped = chance.random() < 0.7
    body = "\n".join(step.text() for step in steps)
    text = f"(loop 'l 4 {body})" if looped else f"(sequential {body})"
    program = compile_text(text, topology=topology)
    images = make_images(make_plan(program, shape or NodeShape(), name=f"random{seed}"))
    return Case(tuple(steps), chance.randint(2, 5) if looped else 1, images, seed)
