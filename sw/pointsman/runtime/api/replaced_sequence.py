"""A seqread or a seqwrite replaced by two parts, at a node: one with constant ends, and a stream to or from the run-time node
(`pointsman.operators.scheduled.replacements`).

The node where both parts meet passes on all messages in its own call. Every node loads the second part when it has finished
the first: in its write or read if it has one, otherwise in its load function.
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
    """Port of a replaced sequence. ``operator``: as in the program; ``parts``: this node's ports of its parts, in order."""

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
        """Note the values. A node that neither writes nor reads loads all parts here."""
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
        """Write a message: a node of the chain its own, the single writer of a seqwrite its next."""
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
        """Read a message: the single reader of a seqread its next, a node of the chain its own."""
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
        """Load all parts up to number ``part`` that are not loaded yet; gives its port."""
        while self.loaded <= part:
            signature, port = self.parts[self.loaded]
            self.loaded += 1
            await port.load(given_to(signature, self.given))
        return self.parts[part][1]

    async def _read_from(self, part: int) -> np.ndarray:
        message = np.zeros(self.m, np.uint32)
        await (await self._up_to(part)).read(message)
        return message
