"""A seqread or a seqwrite that a constant one and a stream do in its place
(`pointsman.operators.scheduled.replacements`), at one node.

The node between the two passes on all messages in its own call. Every node goes on from the one part to the other as soon as
it is through with it: in its call if it has one, otherwise in its load function.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.operators.api.operands import taking_part
from pointsman.operators.scheduled.replacements import sequence
from pointsman.program.program import Operator

from .replaced import given_to
from .substrate import Combine, Given, Permission, Port, Signature


class ReplacedSequence:
    """Parameters: the operator as in the program, this node, and the node's ports of its parts in their order."""

    def __init__(self, operator: Operator, number: int, parts: Sequence[tuple[Signature, Port]]) -> None:
        self.m = operator.m
        self.label = operator.label
        self.reads = operator.kind == "seqread"
        instance = next(i for i, one in enumerate(operator.instances) if number in one.nodes)
        self.position = operator.instances[instance].nodes.index(number)
        self.void = self.position not in taking_part(operator, instance)
        self.chain = sequence(operator, instance)
        self.middle = self.chain[-1 if self.reads else 0]
        self.parts = parts
        self.given = Given()
        self.loaded = 0
        """Parts that have been loaded since the last load."""
        self.calls = 0

    async def load(self, given: Given) -> Permission:
        """Nodes that have no call go through all parts."""
        self.given, self.loaded, self.calls = given, 0, 0
        if given.numbers[0] in self.chain:
            raise PointsmanError(
                f"{self.label}_load: node {given.numbers[0]} is one of the chain and cannot be its end",
                hint="give a node that has no message of its own",
            )
        if given.numbers[0] == self.position:
            return Permission("read" if self.reads else "write")
        if self.position in self.chain:
            return Permission("write" if self.reads else "read")
        await self._up_to(len(self.parts) - 1)
        return Permission("none", void=self.void)

    def stale(self) -> str | None:
        return None

    async def write(self, words: np.ndarray) -> None:
        """A message of the chain, or the next one of the single end."""
        last = len(self.parts) - 1
        self.calls += 1
        if self.position == self.middle:
            messages = [await self._read_from(0) for _ in range(len(self.chain) - 1)]
            stream = await self._up_to(last)
            for message in (*messages, words):
                await stream.write(message)
            return
        await (await self._up_to(0)).write(words)
        if self.reads or self.calls == len(self.chain):
            await self._up_to(last)

    async def read(self, into: np.ndarray) -> bool:
        """The next message at the single end, or one of the chain."""
        if self.position != self.middle:
            into[:] = await self._read_from(len(self.parts) - 1)
            return True
        messages = [await self._read_from(0) for _ in self.chain]
        into[:] = messages[0]
        port = await self._up_to(len(self.parts) - 1)
        for message in messages[1:]:
            await port.write(message)
        return True

    async def func(self, words: np.ndarray | None, into: np.ndarray | None, combine: Combine | None) -> bool:
        raise AssertionError("a seqread or a seqwrite is no functional operator")

    async def _up_to(self, part: int) -> Port:
        """The port of a part, loaded after those before it."""
        while self.loaded <= part:
            signature, port = self.parts[self.loaded]
            self.loaded += 1
            await port.load(given_to(signature, self.given))
        return self.parts[part][1]

    async def _read_from(self, part: int) -> np.ndarray:
        message = np.zeros(self.m, np.uint32)
        await (await self._up_to(part)).read(message)
        return message
