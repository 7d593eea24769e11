"""Program -> which operators a node uses in the order of the text, and which in any order (Metcalf 1997, §2.3.2, §2.4).

Takes a Program. Gives the `Place` of each operator: the groups around it, from the outermost on, with the number of the child in
which it lies. Two operators part in the innermost group around both. Children of a sequential, loop or optional group are used
one after the other by every node that has a part in them; children of a ``parallel`` or ``phase`` group in any order.

So of two operators that are `in_order`, every node ends each use of the first before the next use of the second, and, in a
loop, the other way round. Messages that a node sends to another node then come in the order of the receiver's uses, whatever
runs late: nothing needs to be proved about which node waits for which.
"""

from __future__ import annotations

from typing import NamedTuple

from .program import Operator, Program

IN_ANY_ORDER = ("parallel", "phase")
"""Kinds of groups whose children are in no order. (A ``phase`` is a sequence whose operators may be loaded beforehand.)"""


class Step(NamedTuple):
    """A group around an operator: its number in the order of the text, the child with the operator, are its children in order."""

    group: int
    child: int
    ordered: bool


Place = tuple[Step, ...]


def places(program: Program) -> dict[str, Place]:
    """By label of each operator, the groups around it, the outermost first."""
    found: dict[str, Place] = {}
    open_groups: list[tuple[int, bool]] = []
    children: list[int] = []  # by depth: number of the child that the walk is in
    for number, (part, depth) in enumerate(program.root.walk()):
        del open_groups[depth:]
        del children[depth:]
        if depth:
            children[-1] += 1
        if isinstance(part, Operator):
            found[part.label] = tuple(
                Step(group, child, ordered) for (group, ordered), child in zip(open_groups, children, strict=True)
            )
        else:
            open_groups.append((number, part.kind not in IN_ANY_ORDER))
            children.append(-1)
    return found


def in_order(one: Place, other: Place) -> bool:
    """Does every node that has a part in both use them in the order of the text? True of an operator and itself."""
    return next((a.ordered for a, b in zip(one, other, strict=False) if a.child != b.child), True)
