"""A broadcast whose source only the source knows, replaced by an agreement and a broadcast from the node agreed on, at a node
(`pointsman.operators.scheduled.replacements`).

The load function agrees: each node gives its position plus one if it is the source, else 0, and gets the greatest of these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pointsman.operators.messages.agreement import nobody_said, two_said
from pointsman.program.program import Operator

from .replaced import given_to, says_itself
from .substrate import Combine, Given, Permission, Port, Signature


class ReplacedAgreed:
    """Port of a replaced broadcast. ``operator``: as in the program; ``parts``: this node's ports of its parts, in order."""

    def __init__(self, operator: Operator, number: int, parts: Sequence[tuple[Signature, Port]]) -> None:
        self.operator, self.number = operator, number
        nodes = next(instance.nodes for instance in operator.instances if number in instance.nodes)
        self.position = nodes.index(number)
        (_, self.agreement), self.broadcast = parts

    async def load(self, given: Given) -> Permission:
        """Agree on the source, and load the broadcast from it."""
        signature, port = self.broadcast
        here = says_itself(self.operator, self.number, self.position, given)
        own = np.array([self.position + 1 if here else 0], np.uint32)
        agreed = own.copy()
        part = await self.agreement.load(Given())
        if not part.local:
            await self.agreement.func(own, agreed, _greater)
        where, label = signature.where, self.operator.label
        if not agreed[0]:
            raise nobody_said(where, label, "source")
        said = int(agreed[0]) - 1
        if here and said != self.position:
            raise two_said(where, label, "source", (self.position, self.position), (None, said))
        return await port.load(given_to(signature, Given((said,))))

    def stale(self) -> str | None:
        return self.broadcast[1].stale()

    async def write(self, words: np.ndarray) -> None:
        await self.broadcast[1].write(words)

    async def read(self, into: np.ndarray) -> bool:
        return await self.broadcast[1].read(into)

    async def func(self, words: np.ndarray | None, into: np.ndarray | None, combine: Combine | None) -> bool:
        raise AssertionError("a broadcast has no such function")


def _greater(one: np.ndarray, other: np.ndarray, out: np.ndarray) -> None:
    np.maximum(one, other, out=out)
