"""A program as a row of steps, along which the searches for the ends of phases go, and the costs that they ask for.

``(barrier 'a) (loop 'l 9 (barrier 'b) (barrier 'c))`` becomes: operators a, gap, loop, operators b, gap, operators c,
loop ends. Takes a tree of extents and the places where phases may end; a part without such a place is a single step.
Leaves alone: which places are taken (``branch_and_bound``, ``dynamic_program``).
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
    """Costs of phases, in cycles over the whole program."""

    def phase(self, operators: Operators, exits: float) -> float:
        """Cost of a phase with these operators that is left ``exits`` times; infinite if they cannot share a phase."""
        ...

    def alone(self, operator: Operator) -> float:
        """Lower bound of what the operator adds to the cost of any phase."""
        ...

    def least(self, operators: Operators, exits: float) -> float:
        """Lower bound of the cost of any phase that has these operators and perhaps others, and is left ``exits`` times
        or more, less `alone` of the others."""
        ...


@dataclass(frozen=True)
class WalkStep:
    """A step on the walk through the program: operators, a gap between two children of a sequence where a phase ``may``
    or ``must`` end, executed ``times`` times, or the begin or end of a group."""

    kind: Literal[
        "operators", "gap", "loop", "loop ends", "threads", "thread ends", "threads end", "context", "no context"
    ]
    operators: Operators = ()
    place: Break | None = None
    times: float = 0.0
    may: bool = False
    must: bool = False


def walk_steps(root: ProgramPart, places: set[Break]) -> Iterator[WalkStep]:
    """The steps of a program in the order of its text; ``places``: where phases may end."""
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
            sealed = any(one.sealed for one in _ending(part))
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
    """Parts in which a phase may or must end: those that hold one of ``places``, or a ``phase`` that another part follows."""
    holds: set[ProgramPart] = set()
    order = list(root.walk())
    sequences = {place[0] for place in breaks(root)}
    for part in reversed(order):
        own = part in sequences and (
            any((part, i) in places for i in range(len(part.children) - 1))
            or any(one.sealed for child in part.children[:-1] for one in child.walk())
        )
        if own or (part.kind != "phase" and any(child in holds for child in part.children)):
            holds.add(part)
    return holds


def _ending(part: ProgramPart) -> Iterator[ProgramPart]:
    """Parts that end where ``part`` ends: itself, its last child, the last child of that, and so on."""
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
