"""Program -> programs in which other operators do what some of its operators ask for (Metcalf 1997, §4.1.2, "replace").

Takes a Program and the implementations, replacements among them. Gives the program as it is and, where replacements promise
more, with these; where only a replacement can do an operator, or `:impl` asks for one, it is in both. The parts of a replaced
operator stand in a loop, because the application may call its function any number of times.
Leaves alone: phases, routes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pointsman.operators import Context, Implementation
from pointsman.operators.scheduled.replacements import Replacement
from pointsman.plan.cost.equations import barrier_cycles
from pointsman.plan.cost.feasible import able, why_none
from pointsman.plan.errors import PlanError
from pointsman.plan.plan import ReplacedOperator
from pointsman.program.program import Group, Operator, Program

WORTH = 0.8
"""A replacement is tried besides if it expects at most this share of the cycles of the best other way."""


@dataclass(frozen=True)
class Variant:
    """A program with some of its operators replaced."""

    program: Program
    replaced: tuple[ReplacedOperator, ...] = ()


def variants(
    program: Program, implementations: Sequence[Implementation], context: Context, *, period: int
) -> list[Variant]:
    """The programs to plan, the one nearest to the text first.

    Raises
    ------
    PlanError
        If nothing can do one of the operators.
    """
    must: dict[str, Group] = {}
    may: dict[str, Group] = {}
    names: dict[str, ReplacedOperator] = {}
    for operator in program.operators():
        own = able(operator, implementations, context)
        others = _replacements(operator, implementations, context)
        if not own and not others:
            raise PlanError(why_none(operator, implementations))
        if not others:
            continue
        cycles, way, parts = min(((_cycles(p, implementations, context, period), w, p) for w, p in others), key=_first)
        loop = Group(
            "loop", parts, label=f"{operator.label}/calls", count=max(1, operator.c), position=operator.position
        )
        names[operator.label] = ReplacedOperator(operator, way.name, tuple(part.label for part in parts), way.bound)
        if not own:
            must[operator.label] = loop
        elif cycles <= WORTH * min(cycles for cycles, _ in own):
            may[operator.label] = loop
    found = [_variant(program, must, names)]
    if may:
        found.append(_variant(program, must | may, names))
    return found


def _first(triple: tuple[float, Replacement, tuple[Operator, ...]]) -> float:
    return triple[0]


def _replacements(
    operator: Operator, implementations: Sequence[Implementation], context: Context
) -> list[tuple[Replacement, tuple[Operator, ...]]]:
    """Replacements whose parts can all be done."""
    found = []
    for one in implementations:
        if not isinstance(one, Replacement) or operator.kind not in one.kinds or operator.impl not in (None, one.name):
            continue
        parts = one.replace(operator, context)
        if parts is not None and all(able(part, implementations, context) for part in parts):
            found.append((one, parts))
    return found


def _cycles(
    parts: Sequence[Operator], implementations: Sequence[Implementation], context: Context, period: int
) -> float:
    """Expected cycles of a call, with a change of phases after each part if there are several."""
    cycles = sum(min(cycles for cycles, _ in able(part, implementations, context)) for part in parts)
    if len(parts) > 1:
        across = max(context.topology.across(instance.nodes) for instance in parts[0].instances)
        cycles += len(parts) * (barrier_cycles(across, period) + period)
    return cycles


def _variant(program: Program, ways: dict[str, Group], names: dict[str, ReplacedOperator]) -> Variant:
    if not ways:
        return Variant(program)
    done: dict[int, Group | Operator] = {}
    # Backwards through the order of the text, children come before their group.
    for part, _ in reversed(list(program.root.walk())):
        if isinstance(part, Operator):
            done[id(part)] = ways.get(part.label, part)
        else:
            done[id(part)] = replace(part, children=tuple(done[id(child)] for child in part.children))
    root = done[id(program.root)]
    assert isinstance(root, Group)
    return Variant(replace(program, root=root), tuple(names[label] for label in ways))
