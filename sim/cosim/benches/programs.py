"""Programs that the image bench runs, and the words that each node must receive.

Each word holds its sender, the number of its message and its place in it, so a stray word cannot pass for another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from numesh.shape import NodeShape
from pointsman.artifacts.images.file import write_images
from pointsman.cop import compile_text
from pointsman.network import Topology
from pointsman.plan.make_plan import make_plan
from pointsman.runtime import Node
from pointsman.targets.numesh import make_images

Delivered = list[tuple[str, list[int]]]
"""Messages as a node has received them: label and words."""

Pause = Callable[[], int]

MATMUL = Path(__file__).parents[3] / "examples" / "matmul" / "matmul.cop"


class ImageProgram(ABC):
    """A COP program, with each node's program and the words that it must receive."""

    name: str
    words: int
    """Words of a message."""
    period: int
    """Slots of a schedule; given, so that not all lengths are tried."""

    def __init__(self, topology: Topology) -> None:
        self.topology = topology

    @abstractmethod
    def text(self) -> str:
        """The COP program."""

    def parameters(self) -> Mapping[str, int]:
        return {}

    @abstractmethod
    async def main(self, node: Node, pause: Pause) -> Delivered:
        """Program of a node, once its router has been started; between operations it computes for ``pause()`` cycles."""

    @abstractmethod
    def meaning(self, node: int) -> Delivered:
        """Words that a node must receive, in order."""

    def message(self, label: str, sender: int, count: int) -> list[int]:
        """Words of the message number ``count`` of an operator from a node."""
        return [(ord(label[0]) << 23) | sender << 19 | count << 13 | k for k in range(self.words)]

    def array(self, label: str, sender: int, count: int) -> np.ndarray:
        return np.array(self.message(label, sender, count), np.int32)

    def file(self, folder: Path) -> Path:
        """File of its images."""
        return folder / f"{self.name}.images"

    def compile(self, shape: NodeShape, folder: Path) -> None:
        """Make its images."""
        program = compile_text(
            self.text(), file=f"{self.name}.cop", topology=self.topology, parameters=self.parameters()
        )
        plan = make_plan(program, shape, name=self.name, period=self.period)
        write_images(make_images(plan), self.file(folder))


class Matmul(ImageProgram):
    """The communications of the matrix multiplication (Metcalf 1997, Figure 2-6), without the products."""

    name = "matmul"
    words = 4
    period = 8

    def text(self) -> str:
        return MATMUL.read_text()

    def parameters(self) -> Mapping[str, int]:
        return {"block": self.words}

    async def main(self, node: Node, pause: Pause) -> Delivered:
        x, y = node.coordinates
        n = self.topology.size[0]
        block = self.array("c", node.number, 0)
        received: Delivered = []
        await node.cop.mul_load()
        for k in range(n):
            source = (y + k) % n
            await node.cop.b_load(source)
            await node.compute(pause())
            if x == source:
                await node.cop.b_write(self.array("b", node.number, 0))
            else:
                received.append(("b", _words(await node.cop.b_read())))
            await node.compute(pause())
            await node.cop.c_load()
            block = await node.cop.c_func(block)
            received.append(("c", _words(block)))
        return received

    def meaning(self, node: int) -> Delivered:
        x, y = self.topology.coordinates(node)
        n = self.topology.size[0]
        received: Delivered = []
        for k in range(n):
            source = (y + k) % n
            if x != source:
                received.append(("b", self.message("b", self.topology.node_at(source, y), 0)))
            received.append(("c", self.message("c", self.topology.node_at(x, (y + k + 1) % n), 0)))
        return received


class Exchange(ImageProgram):
    """Streams that cross, broadcasts from a fixed and from a chosen node, and a barrier, some messages each."""

    name = "exchange"
    words = 5
    period = 16
    streams = (("s", 0, 3), ("t", 2, 1), ("u", 1, 0))
    """Label, source and destination."""
    fixed = 2
    """Source of the broadcast that is not chosen at run time."""
    chosen = (3, 0, 1, 2)
    """Sources of the other operator, in the order of its rounds."""
    repeats = 3
    """Messages of each stream and of the fixed broadcast in a round."""
    rounds = 2

    def text(self) -> str:
        lines = [f"    (stream '{label} {source} {to})" for label, source, to in self.streams]
        return "\n".join(
            [
                f"(defaults :m {self.words})",
                f"(loop 'rounds {self.rounds}",
                "  (parallel",
                *lines,
                "  )",
                f"  (broadcast 'f {self.fixed})",
                "  (barrier 'all)",
                "  (broadcast 'r (runtime)))",
            ]
        )

    async def main(self, node: Node, pause: Pause) -> Delivered:
        received: Delivered = []
        me = node.number
        functions = node.cop
        for turn in range(self.rounds):
            # The streams of a node in the order of their labels; no two nodes wait for each other in a circle.
            for label, *ends in self.streams:
                if me in ends:
                    await getattr(functions, f"{label}_load")()
            for count in range(self.repeats):
                for label, source, to in self.streams:
                    await node.compute(pause())
                    if me == source:
                        await getattr(functions, f"{label}_write")(self.array(label, me, turn * 8 + count))
                    elif me == to:
                        received.append((label, _words(await getattr(functions, f"{label}_read")())))
            await functions.f_load()
            for count in range(self.repeats):
                await node.compute(pause())
                if me == self.fixed:
                    await functions.f_write(self.array("f", me, turn * 8 + count))
                else:
                    received.append(("f", _words(await functions.f_read())))
            await functions.all_load()
            await functions.all_func()
            for count, source in enumerate(self.chosen):
                await functions.r_load(source)
                await node.compute(pause())
                if me == source:
                    await functions.r_write(self.array("r", me, turn * 8 + count))
                else:
                    received.append(("r", _words(await functions.r_read())))
        return received

    def meaning(self, node: int) -> Delivered:
        received: Delivered = []
        for turn in range(self.rounds):
            for count in range(self.repeats):
                for label, source, to in self.streams:
                    if node == to:
                        received.append((label, self.message(label, source, turn * 8 + count)))
            if node != self.fixed:
                for count in range(self.repeats):
                    received.append(("f", self.message("f", self.fixed, turn * 8 + count)))
            for count, source in enumerate(self.chosen):
                if node != source:
                    received.append(("r", self.message("r", source, turn * 8 + count)))
        return received


def programs(topology: Topology) -> Sequence[ImageProgram]:
    """All of them."""
    return (Matmul(topology), Exchange(topology))


def prepare(topology: Topology, shape: NodeShape, folder: Path) -> None:
    """Compile all programs."""
    for program in programs(topology):
        program.compile(shape, folder)


def _words(message: np.ndarray) -> list[int]:
    return [int(word) for word in message]
