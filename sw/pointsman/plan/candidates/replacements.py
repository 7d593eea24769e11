"""Program -> variants of it in which some operators are replaced by others that do their work (Metcalf 1997, §4.1.2, "replace").

Takes an analysed program. Gives the program as it is and, where replacements should be much quicker, a second variant
with these; operators that only a replacement can do, or for which `:impl` names a replacement, are replaced in both.
The parts of a replaced operator stand in a loop, because the application may call its function any number of times.
Leaves alone: phases, routes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pointsman.operators import Context, Implementation
from pointsman.operators.api.cached import kept
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import rounds_between_values
from pointsman.operators.scheduled.broadcast import StrBcastRound
from pointsman.operators.scheduled.replacements import Replacement
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.cost.equations import barrier_cycles
from pointsman.plan.cost.feasible import hint_none, why_none
from pointsman.plan.errors import PlanError
from pointsman.plan.plan import ReplacedOperator
from pointsman.plan.structure.together import is_all_gather
from pointsman.program.program import Group, Operator, Program

WORTH = 0.8
"""Share of the cycles of an operator's best implementation, up to which a replacement is tried as well."""


@dataclass(frozen=True)
class Variant:
    """A program with some of its operators replaced."""

    analysis: ProgramAnalysis
    replaced: tuple[ReplacedOperator, ...] = ()

    @property
    def program(self) -> Program:
        return self.analysis.program


def variants(analysis: ProgramAnalysis, *, period: int) -> list[Variant]:
    """The variants to plan, that with the fewest replacements first.

    Raises
    ------
    PlanError
        If no implementation and no replacement can do an operator.
    """
    must: dict[str, Group] = {}
    may: dict[str, Group] = {}
    names: dict[str, ReplacedOperator] = {}
    for operator in analysis.operators:
        own = analysis.feasible(operator)
        others = replacements_of(operator, analysis)
        if not own and not others:
            hint = hint_none(operator, analysis.implementations, analysis.context)
            raise PlanError(why_none(operator, analysis.implementations), hint=hint)
        if not others:
            continue
        cycles, way, parts = min(((parts_cycles(p, analysis, period), w, p) for w, p in others), key=_first)
        loop = Group(
            "loop",
            parts,
            label=f"{operator.label}/calls",
            count=max(1, operator.c),
            position=operator.position,
            fewest=1,  # as of any operator that is loaded
        )
        names[operator.label] = ReplacedOperator(operator, way.name, tuple(part.label for part in parts), way.bound)
        if not own:
            must[operator.label] = loop
        elif not way.played_only and cycles <= WORTH * min(_own_cycles(operator, w, analysis, period) for w in own):
            may[operator.label] = loop
    found = [_variant(analysis, must, names)]
    if may:
        found.append(_variant(analysis, must | may, names))
    if rounds := _rounds(analysis):
        found.append(replace(found[0], analysis=found[0].analysis.choosing({**analysis.chosen, **rounds})))
    return found


def _rounds(analysis: ProgramAnalysis) -> dict[str, str]:
    """By label, `StrBcastRound` for the broadcasts of all-gathers in which it can do all of them; a single broadcast is quicker
    done otherwise, so that no change of one operator leads there."""
    way = next((one for one in analysis.implementations if one.name == StrBcastRound.name), None)
    found: dict[str, str] = {}
    for part, _ in analysis.program.root.walk():
        if way is not None and isinstance(part, Group) and part.kind == "parallel" and is_all_gather(part.children):
            operators = [one for one in part.children if isinstance(one, Operator)]
            free = all(one.impl is None and one.label not in analysis.chosen for one in operators)
            if free and all(way.metric(one, analysis.context) is not None for one in operators):
                found |= {one.label: way.name for one in operators}
    return found


def _own_cycles(operator: Operator, way: tuple[float, Implementation], analysis: ProgramAnalysis, period: int) -> float:
    """Estimated cycles of a call by an implementation of its own, with the change of phase that a new value takes where there is
    a schedule for each."""
    cycles, one = way
    if one.loading is not Loading.PER_VALUE:
        return cycles
    calls = max(1, operator.c) * rounds_between_values(operator)
    return cycles + _change_cycles(operator, analysis, period) / calls


def _change_cycles(operator: Operator, analysis: ProgramAnalysis, period: int) -> float:
    """Cycles to leave a phase of ``operator`` by a barrier."""
    across = max(analysis.context.topology.across(instance.nodes) for instance in operator.instances)
    return barrier_cycles(across, period / 2) + period


def _first(triple: tuple[float, Replacement, tuple[Operator, ...]]) -> float:
    return triple[0]


def replacements_of(operator: Operator, analysis: ProgramAnalysis) -> list[tuple[Replacement, tuple[Operator, ...]]]:
    """Replacements of an operator whose parts can all be done, each with its parts."""
    found = []
    for one in analysis.replacements.get(operator.kind, ()):
        if operator.impl not in (None, one.name):
            continue
        if analysis.chosen.get(operator.label, one.name) != one.name:
            continue
        if one.in_order and operator.label in analysis.any_order and operator.impl != one.name:
            continue
        parts = _parts(one, operator, analysis.context)
        if parts is not None and all(map(analysis.feasible, parts)):
            found.append((one, parts))
    return found


def _parts(one: Replacement, operator: Operator, context: Context) -> tuple[Operator, ...] | None:
    """The operators that do the work of another, made once: what is worked out from them is kept with them."""
    key = "parts", id(one), id(context.topology), context.shape
    return kept(operator, key, (one, context), lambda: one.replace(operator, context))


def parts_cycles(parts: Sequence[Operator], analysis: ProgramAnalysis, period: int, *, together: bool = False) -> float:
    """Estimated cycles of a call of the replaced operator; if it has several parts, with a change of phase after each, unless
    they are ``together`` in one."""
    cycles = sum(min(cycles for cycles, _ in analysis.feasible(part)) for part in parts)
    if len(parts) > 1 and not together:
        cycles += len(parts) * _change_cycles(parts[0], analysis, period)
    return cycles


def _variant(analysis: ProgramAnalysis, ways: dict[str, Group], names: dict[str, ReplacedOperator]) -> Variant:
    if not ways:
        return Variant(analysis)
    program = analysis.program
    done: dict[int, Group | Operator] = {}
    # In the reverse order of the text, children come before their group.
    for part, _ in reversed(list(program.root.walk())):
        if isinstance(part, Operator):
            done[id(part)] = ways.get(part.label, part)
        else:
            done[id(part)] = replace(part, children=tuple(done[id(child)] for child in part.children))
    root = done[id(program.root)]
    assert isinstance(root, Group)
    return Variant(analysis.of(replace(program, root=root)), tuple(names[label] for label in ways))
