"""A program as a row of steps: what the searches for the places where phases end walk along, and what they ask of costs.

``(barrier 'a) (loop 'l 9 (barrier 'b) (barrier 'c))`` becomes: operators a, gap, loop, operators b, gap, operators c, loop ends.
Takes a tree of extents and the places where phases may end; what cannot be broken is one step. Leaves alone: which places are
taken (``branch_and_bound``, ``dynamic_program``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from pointsman.plan.structure.extents import ProgramPart
from pointsman.plan.structure.phase_tree import Break, breakable, breaks, rounds
from pointsman.program.program import Operator

Operators = tuple[Operator, ...]


class PhaseCosts(Protocol):
    """What phases cost, in cycles of the whole program."""

    def phase(self, operators: Operators, exits: float) -> float:
        """A phase with these operators that is left so often; infinite if they cannot share one."""
        ...

    def alone(self, operator: Operator) -> float:
        """Never more than what the operator adds to any phase."""
        ...

    def least(self, operators: Operators, exits: float) -> float:
        """Never more than a phase with these and other operators, left as often or more, less what `alone` says of the
        others."""
        ...


@dataclass(frozen=True)
class WalkStep:
    """One thing that happens on the walk through the program."""

    kind: Literal[
        "operators", "gap", "loop", "loop ends", "threads", "thread ends", "threads end", "context", "no context"
    ]
    operators: Operators = ()
    place: Break | None = None
    times: float = 0.0
    may: bool = False
    must: bool = False


def walk_steps(root: ProgramPart, places: set[Break]) -> Iterator[WalkStep]:
    """The walk through the program. What cannot be broken is one step."""
    times = rounds(root)
    holds = _holding(root, places)
    stack: list[ProgramPart | WalkStep] = [root]
    while stack:
        part = stack.pop()
        if isinstance(part, WalkStep):
            yield part
            continue
        children = part.children
        if part not in holds:
            sealed = any(one.kind == "phase" for one in _ending(part))
            yield WalkStep("operators", tuple(part.operators()), must=sealed)
        elif part.kind == "disjoint":
            then: list[ProgramPart | WalkStep] = [WalkStep("threads")]
            for child in children:
                then += [child, WalkStep("thread ends")]
            stack += reversed([*then, WalkStep("threads end")])
        elif part.kind == "parallel":
            inner = [child for child in children if child in holds]
            assert len(inner) == 1
            others = tuple(o for child in children if child is not inner[0] for o in child.operators())
            stack += reversed(
                [WalkStep("operators", others), WalkStep("context", others), inner[0], WalkStep("no context")]
            )
        else:
            then = [WalkStep("loop")] if part.kind == "loop" else []
            for i, child in enumerate(children):
                then.append(child)
                if i + 1 < len(children):
                    place = (part, i)
                    then.append(WalkStep("gap", place=place, times=times[part], may=place in places))
            if part.kind == "loop" and part.group is not None:
                then.append(WalkStep("loop ends", times=times[part] - times[part] / max(1, part.group.count)))
            stack += reversed(then)


def _holding(root: ProgramPart, places: set[Break]) -> set[ProgramPart]:
    """Parts in which a phase may end, or must: those on the way to a place, and to a ``phase`` that something follows."""
    holds: set[ProgramPart] = set()
    order = list(root.walk())
    sequences = {place[0] for place in breaks(root)}
    for part in reversed(order):
        own = part in sequences and (
            any((part, i) in places for i in range(len(part.children) - 1))
            or any(one.kind == "phase" for child in part.children[:-1] for one in child.walk())
        )
        if own or (part.kind != "phase" and any(child in holds for child in part.children)):
            holds.add(part)
    return holds


def _ending(part: ProgramPart) -> Iterator[ProgramPart]:
    """Parts with which a part ends."""
    stack = [part]
    while stack:
        one = stack.pop()
        yield one
        if one.kind == "disjoint":
            stack.extend(one.children)
        elif one.kind == "parallel":
            stack.extend(child for i, child in enumerate(one.children) if i == breakable(one))
        elif one.children and one.kind != "phase":
            stack.append(one.children[-1])
