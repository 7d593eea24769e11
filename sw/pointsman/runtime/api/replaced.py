"""A replaced operator at a node: its function calls, one after the other, the operators (*parts*) that replace it.

Each part is loaded when its turn comes, so the parts may be in different phases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.operators.api.operands import function_name, is_partial, runtime_operands, runtime_values
from pointsman.program.program import Operator

from .claims import told_in
from .substrate import HERE, Combine, Given, Permission, Port, Signature


def replaced_signature(operator: Operator, source: str) -> Signature:
    """Signature that applications see of a replaced operator."""
    signature = Signature(
        operator.label,
        operator.kind,
        str(operator.type),
        operator.m,
        runtime_operands(operator),
        runtime_values(operator),
        function_name(operator),
        source,
        told_in=told_in(operator),
    )
    partial = tuple(name for name in runtime_operands(operator) if is_partial(operator, name))
    if not partial:
        return signature
    ranges = tuple(zip(*signature.values, strict=True))
    return replace(signature, values=((),), ranges=ranges, partial=partial)


def _is_kept_at_destination(operator: Operator) -> bool:
    """May the parts give its message to other nodes, too, as their destination is not that of the operator?"""
    return operator.kind == "reduce" and "destination" in runtime_operands(operator)


class ReplacedPort:
    """Port of a replaced operator. ``operator``: as in the program; ``parts``: this node's ports of its parts, in order."""

    def __init__(self, operator: Operator, number: int, parts: Sequence[tuple[Signature, Port]]) -> None:
        self.parts = parts
        nodes = next(instance.nodes for instance in operator.instances if number in instance.nodes)
        self.operator, self.number, self.position = operator, number, nodes.index(number)
        void = operator.valid is not None and self.position not in operator.valid
        # Not local even if the node is alone in its instance: with each call it enters the phases of the parts, in which
        # others may count on it.
        self.part = Permission("func", void=void)
        self.given = Given()
        self.receives = True
        """Does the node get the result, and not only the parts of the operator?"""

    async def load(self, given: Given) -> Permission:
        """Keep the values; the parts are loaded by ``func``."""
        if _is_kept_at_destination(self.operator):
            self.receives = says_itself(self.operator, self.number, self.position, given)
        self.given = given
        return self.part

    def stale(self) -> str | None:
        return None

    async def write(self, words: np.ndarray) -> None:
        raise AssertionError("only functional operators are replaced")

    async def read(self, into: np.ndarray) -> bool:
        raise AssertionError("only functional operators are replaced")

    async def func(self, words: np.ndarray | None, into: np.ndarray | None, combine: Combine | None) -> bool:
        """Hand the message from part to part. The sender of a stream gives it away; the source of a broadcast keeps it; a
        node alone in its instance keeps its own."""
        message = words
        for signature, port in self.parts:
            part = await port.load(given_to(signature, self.given))
            if part.local:
                continue
            room = np.zeros(signature.m, np.uint32) if into is None else into
            if signature.kind == "stream" and part.kind != "read":
                if part.kind == "write":
                    await port.write(_some(message, room))
                message = None
            elif part.kind == "func":
                own = None if part.void else _some(message, room).copy()
                message = room if await port.func(own, room, combine or _either) else None
            elif part.kind == "write":
                await port.write(_some(message, room))
            else:
                message = room if await port.read(room) else None
        if into is None or message is None or not self.receives:
            return False
        into[:] = message
        return True


def says_itself(operator: Operator, number: int, position: int, given: Given) -> bool:
    """Does node ``number``, at this position, say that it is itself the node which a value names?

    Raises
    ------
    PointsmanError
        If it says so, and the value may not name it.
    """
    itself = given.numbers[0] in (HERE, position)
    if itself and (position,) not in runtime_values(operator):
        raise PointsmanError(f"{operator.label}_load: node {number} is none of the nodes that the value may name")
    return itself


def given_to(signature: Signature, given: Given) -> Given:
    """Load arguments of a part: the run-time values if the part has run-time operands, otherwise none."""
    if signature.ranges is not None:
        return Given(given.numbers if signature.ranges else ())
    if signature.values == ((),):
        return Given()
    return Given(given.numbers, signature.values.index(given.numbers))


def _some(message: np.ndarray | None, room: np.ndarray) -> np.ndarray:
    """The message; the contents of ``room`` if there is none, as for a barrier."""
    return room if message is None else message


def _either(one: np.ndarray, other: np.ndarray, out: np.ndarray) -> None:
    """Combine the messages of a barrier, which mean nothing."""
    out[:] = one
