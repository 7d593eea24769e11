"""A planned candidate -> candidates in which one of its operators is done in another way, to be played against it.

The first plans are made with implementations that metrics and rules prefer; metrics are rough. So every other implementation of
every operator is a candidate here: routed streams, a schedule or a set of streams for each value, schedules made at run time,
operators in its place (replacements), and messages that processors pass on. Takes the analysis of the program as it was written,
a candidate, and how its plan does each operator. Gives candidates that differ from it in one operator, each with its
estimate of cycles; the rest of the division stays as it is. Leaves alone: which of them are routed and played
(`pointsman.plan.make_plan`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf

from pointsman.errors import PointsmanError
from pointsman.operators.api.cached import metric_of
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import runtime_operands
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.cost.call_attributes import best_rate, most_words
from pointsman.plan.cost.cost_model import CostModel
from pointsman.plan.structure.extents import Extents, ProgramPart, members
from pointsman.plan.structure.structure import Structure
from pointsman.plan.structure.together import is_all_gather
from pointsman.program.program import Group, Operator

from .divisions import alone, never_alone
from .replacements import Variant, parts_cycles, replacements_of, variants
from .value_schedules import with_schedules

LONG = 1000
"""Slots of a schedule in which ``:b`` limits any operator to which it is given."""


AT_ONCE = 200
"""Cycles that an operator of a parallel group must take before messages are tried for it: a phase in which processors pass them
on takes some hundred to end."""
DOUBTFUL = 2.5
"""Factor on the cycles that an operator takes: ways that take more by their metrics are not tried."""
GATHERED = 12
"""Broadcasts of an all-gather beyond which none of them is tried otherwise than the others: nodes lack registers for all."""
SMALL = 0.02
"""Share of all cycles: the ways of operators that take less are left as they are."""


@dataclass(frozen=True)
class Played:
    """How an operator is done in a plan: the name of its implementation, the cycles of its part of a phase, and labels of the
    operators that have its streams, its own not among them."""

    name: str
    cycles: float
    sharing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Alternative:
    """A variant of the program and its division, with ``label`` done by the implementation ``name``."""

    label: str
    name: str
    variant: Variant
    structure: Structure


def alternatives(
    analysis: ProgramAnalysis, variant: Variant, structure: Structure, played: Mapping[str, Played], period: int
) -> Iterator[Alternative]:
    """Other ways of operators, those that promise most first; none where operators continue over phases.

    Messages that processors pass on are given also where they are the present way, unless the candidate says so: to be tried
    with other schedule lengths. A way is left out if by its metric the operator would take DOUBTFUL times the cycles that it
    takes now, played or by the metric of the way that it is done now; and an operator is left alone if it takes less than SMALL
    of all cycles. Operators that share streams are changed together. At last messages are given in the phase that an operator
    has in common with others that come before or after it.

    Parameters
    ----------
    analysis : ProgramAnalysis
        Of the program as it was written.
    played : mapping
        By label, how the operators of ``variant.program`` are done in the plan.
    period : int
        Schedule length in slots for which metrics are compared.
    """
    if structure.through:
        return
    divided = _by_value(structure)
    ways = {label: one.name for label, one in played.items()} | _per_value(divided, variant.analysis)
    total = sum(one.cycles for one in played.values())
    kept = kept_choices(variant, structure)
    parts = {label: one for one in variant.replaced for label in one.parts}
    promising: list[tuple[float, int, tuple[str, ...], str, Structure]] = []
    sharing_phases: list[tuple[float, int, tuple[str, ...], str, Structure]] = []
    seen: set[str] = set()
    operators = (*analysis.operators, *(o for o in variant.analysis.operators if o.label in parts))
    free = {operator.label: operator for operator in operators if operator.impl is None}
    gathered = _gathered(analysis)
    for operator in operators:
        if operator.label in seen:
            continue
        stand_in = next(
            (one.parts for one in variant.replaced if one.operator.label == operator.label), (operator.label,)
        )
        sharing = played[operator.label].sharing if operator.label in played else ()
        others = [free[label] for label in sharing if label in free]
        labels = operator.label, *(other.label for other in others)
        seen.update(labels)
        spent = sum(played[label].cycles for label in (*stand_in, *labels[1:]) if label in played)
        if operator.impl is not None or not operator.instances or spent < SMALL * total:
            continue
        present = kept.get(operator.label, ways.get(operator.label))
        if operator.label in gathered or any(one.name == present and one.at_once for one in analysis.implementations):
            continue  # done with others, of which one done otherwise is in the way
        tables = [estimates(one, analysis, period) for one in (operator, *others)]
        found_ways = {
            name: sum(one[name] for one in tables) for name in tables[0] if all(name in one for one in tables)
        }
        # Metrics are for the slowest node, and ``spent`` is a mean: of the two, the more patient counts.
        most = DOUBTFUL * max(spent, found_ways.get(present or "", 0.0))
        divisions = structure, alone(variant.analysis, structure, operator.label)
        apart = next((one for one in divisions if one is not None and _is_apart(operator, one)), None)
        whole = len(operator.nodes) == analysis.program.topology.nodes
        for name, cycles in found_ways.items():
            if cycles > most or (name == present and not _unsettled(operator, analysis, name, kept)):
                continue
            loadings = _apart_loadings(operator, analysis, name)
            division = apart if loadings else structure
            patient = spent >= AT_ONCE and structure.threads is None
            if division is None and loadings == {Loading.ONLINE} and patient:
                # Others of its parallel group share the phase of the messages. They cannot share those of its values: a node may
                # come to them first, and would have to know the value.
                division = structure
            near = loadings == {Loading.ONLINE} and _stays_inside(operator, analysis)
            if division is not None and (whole or near or not loadings):
                promising.append((cycles - spent, len(promising), labels, name, division))
                if loadings == {Loading.ONLINE} and patient and division is not structure:
                    # What comes before or after it need not wait in another phase until no message is under way.
                    sharing_phases.append((cycles - spent, len(promising), labels, name, structure))
    promising.sort(key=lambda one: one[:2])
    sharing_phases.sort(key=lambda one: one[:2])
    for *_, labels, name, division in (*promising, *sharing_phases):
        label, chosen = labels[0], dict.fromkeys(labels, name)
        found = changed(analysis, variant, division, kept | chosen, period)
        if found is not None:
            yield Alternative(label, name, *found)
        for more in _parts_in_one_phase(analysis, label, name):
            found = changed(analysis, variant, division, kept | chosen | more, period, together=True)
            if found is not None:
                yield Alternative(label, name, *found)


def _gathered(analysis: ProgramAnalysis) -> set[str]:
    """Labels of the broadcasts of all-gathers with more than GATHERED of them."""
    found: set[str] = set()
    for part, _ in analysis.program.root.walk():
        if isinstance(part, Group) and part.kind == "parallel" and len(part.children) > GATHERED:
            if is_all_gather(part.children):
                found.update(one.label for one in part.children if isinstance(one, Operator))
    return found


def kept_choices(variant: Variant, structure: Structure) -> dict[str, str]:
    """By label of an operator of the program as it was written, the way that the variant or the division has chosen for it."""
    kept = dict(variant.analysis.chosen)
    kept |= {one.operator.label: one.implementation for one in variant.replaced}
    return kept | _per_value(_by_value(structure), variant.analysis)


def _by_value(structure: Structure) -> set[str]:
    """Labels of operators whose phases are divided by value."""
    return {o.label for phase in structure.phases if phase.value is not None for o in phase.operators}


def _per_value(labels: Collection[str], analysis: ProgramAnalysis) -> dict[str, str]:
    """By label, the implementation that divides the phases of these operators by value. In the phase of a value, which is
    constant there, any other may do the operator, so the plan does not tell."""
    found: dict[str, str] = {}
    for operator in analysis.operators:
        if operator.label in labels:
            by_value = [(c, i.name) for c, i in analysis.feasible(operator) if i.loading is Loading.PER_VALUE]
            if by_value:
                found[operator.label] = min(by_value)[1]
    return found


def without_meeting(
    analysis: ProgramAnalysis, variant: Variant, structure: Structure, period: int
) -> tuple[Variant, Structure] | None:
    """The variant and the division with all operators that have run-time values done in ways whose load functions wait for no
    other node; None if fewer than two have such ways, or they cannot be. What one operator gains by that the nodes may lose
    again as they meet for the next, so no single change leads there."""
    chosen: dict[str, str] = {}
    for operator in analysis.operators:
        if operator.impl is not None or not operator.instances or not runtime_operands(operator):
            continue
        found = estimates(operator, analysis, period)
        local = {
            one.name
            for _, one in analysis.feasible(operator)
            if one.loading is Loading.LOCAL and not one.alone and one.name in found
        }
        if local:
            chosen[operator.label] = min(local, key=lambda name: (found[name], name))
    if len(chosen) < 2:
        return None
    return changed(analysis, variant, structure, dict(variant.analysis.chosen) | chosen, period)


def by_values(
    analysis: ProgramAnalysis, variant: Variant, structure: Structure, period: int
) -> tuple[Variant, Structure] | None:
    """The variant and the division with all operators divided by value for which a schedule for each value promises most; None if
    fewer than two are. Each makes phases that barriers have to part from those of the others, so that one alone may be slower."""
    chosen: dict[str, str] = {}
    for operator in analysis.operators:
        if operator.impl is not None or not operator.instances or not runtime_operands(operator):
            continue
        found = estimates(operator, analysis, period)
        best = min(found, key=lambda name: (found[name], name), default=None)
        if best is not None and Loading.PER_VALUE in _apart_loadings(operator, analysis, best):
            chosen[operator.label] = best
    if len(chosen) < 2 or not all(_is_apart(one, structure) for one in analysis.operators if one.label in chosen):
        return None
    return changed(analysis, variant, structure, dict(variant.analysis.chosen) | chosen, period)


def by_messages(
    analysis: ProgramAnalysis, variant: Variant, structure: Structure, period: int
) -> tuple[Variant, Structure] | None:
    """The variant and the division with the operators that a parallel group keeps in one phase all done by messages, as far as
    they can be; None if these are fewer than two. Channels take slots from streams beside them, so that no single change leads
    there, and what is by messages shares the channels."""
    together = never_alone(variant.analysis, structure)
    shared = (
        operator for operator in analysis.operators if operator.label in together and not _is_apart(operator, structure)
    )
    return _with_messages(analysis, variant, structure, shared, period)


def by_messages_together(
    analysis: ProgramAnalysis, variant: Variant, structure: Structure, period: int
) -> tuple[Variant, Structure] | None:
    """The variant with all operators that have run-time values done by messages, as far as they can be, and everything in one
    phase; None if these are fewer than two, or the division has threads. A phase of messages is left by a barrier, and other ways
    of these operators meet or change the phase for new values, so that no single change leads to where nodes do neither."""
    return _messages_together(analysis, variant, structure, period, _with_values(analysis), fewest=2)


def all_by_messages(
    analysis: ProgramAnalysis, variant: Variant, structure: Structure, period: int
) -> tuple[Variant, Structure] | None:
    """As `by_messages_together`, with the operators that have no run-time values, which then share the channels; also where the
    streams of an operator carry many messages, and leave little room to others and to barriers, or for a collect, of which nobody
    knows before who writes. None if no operator is like that: what nodes compute in between makes messages slower than is
    foretold, so it takes more to gain by them."""
    collects = any(operator.kind == "collect" for operator in analysis.operators)
    several = collects or bool(_with_values(analysis)) or _has_carrying(analysis)
    return _messages_together(analysis, variant, structure, period, analysis.operators, fewest=2) if several else None


def by_messages_beside(
    analysis: ProgramAnalysis, variant: Variant, structure: Structure, period: int
) -> tuple[Variant, Structure] | None:
    """As `by_messages_together` where a single operator is done by messages, and the division has several phases: what comes
    before and after it need not wait until no message is under way."""
    if len(structure.phases) == 1 or by_messages_together(analysis, variant, structure, period) is not None:
        return None
    return _messages_together(analysis, variant, structure, period, _with_values(analysis), fewest=1)


def _has_carrying(analysis: ProgramAnalysis) -> bool:
    """Can an operator be done with streams that carry several messages in a round of calls?"""
    ways = (
        (operator, one) for operator in analysis.operators for _, one in analysis.feasible(operator, fallbacks=True)
    )
    return any(one.messages(operator) > 1 for operator, one in ways)


def _with_values(analysis: ProgramAnalysis) -> list[Operator]:
    return [operator for operator in analysis.operators if runtime_operands(operator)]


def _messages_together(
    analysis: ProgramAnalysis,
    variant: Variant,
    structure: Structure,
    period: int,
    operators: Iterable[Operator],
    *,
    fewest: int,
) -> tuple[Variant, Structure] | None:
    """The variant with these operators done by messages, and everything in one phase; None if fewer than ``fewest`` can, or the
    division has threads."""
    if structure.threads is not None:
        return None
    one_phase = variant.analysis.folded(lambda part, i: False)
    return _with_messages(analysis, variant, one_phase, operators, period, fewest=fewest)


def _with_messages(
    analysis: ProgramAnalysis,
    variant: Variant,
    structure: Structure,
    operators: Iterable[Operator],
    period: int,
    *,
    fewest: int = 2,
) -> tuple[Variant, Structure] | None:
    """The variant and the division with these operators done by messages, as far as they can be; None if fewer than ``fewest``
    can."""
    chosen: dict[str, str] = {}
    for operator in operators:
        if operator.impl is not None or not operator.instances:
            continue
        found = estimates(operator, analysis, period)
        online = {
            one.name
            for _, one in analysis.feasible(operator, fallbacks=True)
            if one.loading is Loading.ONLINE and one.name in found
        }
        if online:
            chosen[operator.label] = min(online, key=lambda name: (found[name], name))
    if len(chosen) < fewest:
        return None
    return changed(analysis, variant, structure, dict(variant.analysis.chosen) | chosen, period)


def estimates(operator: Operator, analysis: ProgramAnalysis, period: int) -> dict[str, float]:
    """By name of the implementations and replacements that can do an operator, the cycles that it would take by their metrics
    over the whole program, with the network to itself. The channels of messages keep to no ``:b``."""
    free = most_words(operator, LONG) is None
    ways = []
    for _, one in analysis.feasible(operator, fallbacks=True):
        metric = metric_of(one, operator, analysis.context)
        if metric is not None and (free or one.loading is not Loading.ONLINE):
            rate = best_rate(operator, metric.words_per_cycle, period)
            ways.append((one, replace(metric, words_per_cycle=rate)))
    rounds = analysis.rounds.get(operator.label) or max(1, operator.c)
    found: dict[str, float] = {}
    rounds_of = {operator.label: rounds}
    model = CostModel({operator.label: ways}, rounds_of, analysis.context, analysis.places, period=period)
    for name, cycles in model.alternatives(operator) if ways else ():
        found[name] = min(found.get(name, inf), cycles)
    for replacement, parts in replacements_of(operator, analysis):
        cycles = parts_cycles(parts, analysis, period, together=replacement.played_only)
        found[replacement.name] = rounds * max(1, operator.c) * cycles
    return found


def _unsettled(operator: Operator, analysis: ProgramAnalysis, name: str, kept: Mapping[str, str]) -> bool:
    """Is an operator done by messages only because a schedule of this length has no room for something else? With other lengths
    it would be done otherwise, so that messages would be played with this length alone."""
    online = (one.loading is Loading.ONLINE for one in analysis.implementations if one.name == name)
    return operator.label not in kept and any(online)


def _apart_loadings(operator: Operator, analysis: ProgramAnalysis, name: str) -> set[Loading]:
    """How an implementation is loaded that is tried for operators in a phase of their own only, or with messages also for those
    which a parallel group keeps in one with others; empty if it is another. Nodes of others would have to know the value that a
    schedule is for, and have to stay as long as messages may pass through them."""
    return {
        one.loading
        for one in analysis.implementations
        if one.name == name
        and operator.kind in one.kinds
        and (one.alone or one.loading in (Loading.PER_VALUE, Loading.ONLINE))
    }


def _is_apart(operator: Operator, structure: Structure) -> bool:
    """Does the operator share no phase, in a program without threads?"""
    return structure.threads is None and all(
        len(phase.operators) == 1 or operator.label not in {o.label for o in phase.operators}
        for phase in structure.phases
    )


def _stays_inside(operator: Operator, analysis: ProgramAnalysis) -> bool:
    """Do messages between an operator's nodes pass through these nodes only?"""
    extents = Extents(analysis.program.topology)
    return set(members(extents.of_operator(operator))) == operator.nodes


def _parts_in_one_phase(analysis: ProgramAnalysis, label: str, name: str) -> Iterator[dict[str, str]]:
    """Of a replacement that is only taken where it is quicker when played: by label, how its parts may be done in one phase. In
    any way, and without load functions that wait for other nodes, as that is what a phase in common may save."""
    for operator in analysis.operators:
        for replacement, parts in replacements_of(operator, analysis) if operator.label == label else ():
            if replacement.name != name or not replacement.played_only:
                continue
            yield {}
            local = {}
            for part in parts:
                ways = [(cycles, one.name) for cycles, one in analysis.feasible(part) if one.loading is Loading.LOCAL]
                if ways:
                    local[part.label] = min(ways)[1]
            if local:
                yield local


def changed(
    analysis: ProgramAnalysis,
    variant: Variant,
    structure: Structure,
    chosen: Mapping[str, str],
    period: int,
    *,
    together: bool = False,
) -> tuple[Variant, Structure] | None:
    """The variant and the division with these implementations; None if they cannot be. ``together``: operators that stand in the
    place of one share a phase."""
    try:
        other = variants(analysis.choosing(chosen), period=period)[0]
        plain = all(phase.value is None for phase in structure.phases)
        if [one.implementation for one in other.replaced] == [one.implementation for one in variant.replaced] and plain:
            division: Structure | None = structure
        else:
            division = _folded(other.analysis, variant, structure, together=together)
        if division is None:
            return None
        (found, *_) = with_schedules([division], other.analysis)
    except PointsmanError:
        return None
    return other, found


def _folded(analysis: ProgramAnalysis, variant: Variant, structure: Structure, *, together: bool) -> Structure | None:
    """The division of another variant of the program whose phases end where those of ``structure`` do, and, unless they are
    ``together``, between the operators that stand in the place of one; None if it has no such division."""
    whole = {label: one.operator.label for one in variant.replaced for label in one.parts}
    phases: dict[str, set[tuple[str, ...]]] = {}
    for phase in structure.phases:
        labels = tuple(operator.label for operator in phase.operators)
        for label in labels:
            phases.setdefault(label, set()).add(labels)
            phases.setdefault(whole.get(label, label), set()).add(labels)
    new = {operator.label for operator in analysis.operators} - set(phases)

    def place(part: ProgramPart) -> set[tuple[str, ...]]:
        found: set[tuple[str, ...]] = set()
        for operator in part.operators():
            # A part of a replacement, "o/reduce", stands where the operator "o" stood.
            found |= phases.get(operator.label, phases.get(operator.label.rsplit("/", 1)[0], set()))
        return found

    def ends(part: ProgramPart, i: int) -> bool:
        before, after = part.children[i], part.children[i + 1]
        both = {operator.label for child in (before, after) for operator in child.operators()}
        return not together if both <= new else place(before).isdisjoint(place(after))

    found = analysis.folded(ends)
    return None if found.through or not all(phase.operators for phase in found.phases) else found
