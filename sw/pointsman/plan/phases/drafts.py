"""One phase of a division -> PlannedPhase: its implementations, its routes and its end.

Combinations of implementations are routed (``routes``), the end of each is decided and its cycles predicted (``closing``); the
quickest is kept. Takes the `Constraints` under which a phase is planned: nodes that its barrier joins, wires that it leaves
alone, operators that continue beside it. Leaves alone: other phases, VFSM and register numbers, memory addresses (targets).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import inf, prod

from pointsman.errors import PointsmanError
from pointsman.operators import Implementation
from pointsman.operators.api.loading import Loading
from pointsman.plan.conflicts.load_functions import refuse_mixed_commands, refuse_two_makers
from pointsman.plan.context import CrowdedKey, OnlineKey, PlanContext
from pointsman.plan.errors import PlanError
from pointsman.plan.online import home_of, online_part
from pointsman.plan.plan import OnlinePart, PlannedPhase
from pointsman.plan.sharing import sets_that_share, streams_of_phase
from pointsman.plan.structure.structure import PhaseOutline
from pointsman.plan.termination.closing_barrier import phase_name
from pointsman.plan.termination.left_between_uses import always_left_between_uses
from pointsman.routing.errors import RoutingError
from pointsman.routing.streams import Stream, most_ends

from .closing import Draft, RoutedOperators, draft_end, refuse_barrier, with_barrier
from .constraints import Constraints
from .routes import hops_of, plan_operators, route

COMBINATIONS = 24
"""Most combinations of implementations tried for a phase."""
PROMISING = 2.0
"""Factor on the cycles of the best implementation of an operator: implementations whose metric gives more are not tried
at first, because metrics are rough, but not that rough, and routing takes most of the compiler's time."""
TOGETHER = 1
"""Most combinations that are routed for a phase of several operators: implementations that are best alone mostly are
best together, and routing many streams at once takes long."""
BARRIERS_TRIED = 2
"""Most combinations of a phase that are routed with a barrier once a plan, or a combination without barrier, is at hand."""


Choice = tuple[float, Implementation]
"""An implementation, with cycles of a message."""


@dataclass(frozen=True)
class ChoiceLimits:
    """Which implementations are tried for the operators of a phase.

    Parameters
    ----------
    promising : float
        Factor on the cycles of an operator's best implementation, up to which others are tried.
    fallbacks : bool
        Are operators that can be done by messages done by messages only?
    plain : bool
        Do messages go over channels between neighbours only?
    narrow : bool
        Do messages go along trees only, on which a node has few neighbours?
    only : tuple of Implementation
        By operator, the only implementation that is tried; empty if there is no such limit.
    """

    promising: float
    fallbacks: bool
    plain: bool = False
    narrow: bool = False
    only: tuple[Implementation, ...] = ()


def plan_phase(
    context: PlanContext,
    constraints: Constraints,
    index: int,
    limit: float = inf,
    only: tuple[Implementation, ...] = (),
) -> PlannedPhase | None:
    """The quickest plan of phase ``index``, which with its barrier may take more than ``limit`` cycles; None if all do without.
    ``only``: by operator, the only implementation that is tried, if not empty.

    Raises
    ------
    PlanError
        If it cannot be routed.
    """
    failure: PlanError | None = None
    for choice in _choices(context, index):
        choice = replace(choice, only=only)
        try:
            return _plan_chosen(context, constraints, index, limit, choice)
        except PlanError as error:
            failure = failure or error.without_frames()
    assert failure is not None
    raise failure.without_frames()


def least_cycles(context: PlanContext, index: int) -> float:
    """Cycles that a phase takes at least, about: routed without regard to other phases and without its barrier, whose
    cycles are estimated.

    Raises
    ------
    PlanError
        If it cannot be routed.
    """
    failure: PointsmanError | None = None
    for choice in _choices(context, index):
        crowded = _crowded(context, index, choice)
        if crowded is None:
            drafts, error = _drafts(context, Constraints(), index, choice)
            if drafts:
                return min(draft.least_cycles for draft in drafts)
            failure = failure or error
        failure = failure or crowded
    raise _refusal(context, index, failure, None)


def _without_room(context: PlanContext, index: int, draft: Draft) -> RoutingError | None:
    """Why a draft cannot be planned: it needs a barrier, for which interface registers lack. None if it may be planned."""
    if draft.reason is None:
        return None
    try:
        refuse_barrier(context, Constraints(), index, draft)
    except RoutingError as error:
        return error.without_frames()
    return None


def _crowded(context: PlanContext, index: int, choice: ChoiceLimits) -> RoutingError | None:
    """Why no combination that can be routed of a phase of several operators has room for its barrier, as with a shorter schedule;
    None if that is not known."""
    phase = context.structure.phases[index]
    first = next(_combinations(context, index, choice), None)
    if first is None or len(phase.operators) < 2:
        return None
    shortest, why = context.memo.crowded.get(_crowded_key(phase, first, choice), (inf, None))
    return why if context.period >= shortest else None


def first_streams(context: PlanContext, index: int) -> list[Stream]:
    """Streams of a phase with the combination of implementations that is tried first."""
    phase = context.structure.phases[index]
    chosen = next(_combinations(context, index, ChoiceLimits(PROMISING, context.fallbacks)), ())
    return _streams(context, phase, chosen)[0]


def _choices(context: PlanContext, index: int) -> Iterator[ChoiceLimits]:
    """Choices to try in turn until one can be routed: implementations near the best, then all of them, then messages
    that processors pass on, if the context allows it."""
    phase = context.structure.phases[index]
    for promising, fallbacks in ((PROMISING, False), (inf, False), (inf, True)):
        if fallbacks and not context.fallbacks:
            break
        if fallbacks and not _may_be_online(context, phase, fallbacks):
            continue
        yield ChoiceLimits(promising, fallbacks)
        # Channels between neighbours only may fit where longer ones do not, and those of a tree where all do not.
        if _may_be_online(context, phase, fallbacks):
            yield ChoiceLimits(promising, fallbacks, plain=True)
            yield ChoiceLimits(promising, fallbacks, plain=True, narrow=True)


def _may_be_online(context: PlanContext, phase: PhaseOutline, fallbacks: bool) -> bool:
    """May processors pass on the messages of an operator of the phase?"""
    return any(i.loading is Loading.ONLINE for o in phase.operators for _, i in context.able(o, fallbacks=fallbacks))


def _plan_chosen(
    context: PlanContext, constraints: Constraints, index: int, limit: float, choice: ChoiceLimits
) -> PlannedPhase | None:
    """The quickest plan among the combinations of a choice.

    Every combination is first routed without a barrier. In the order of their least cycles those that need a barrier
    are then routed with it, until none can be quicker than the best.
    """
    crowded = _crowded(context, index, choice)
    if crowded is not None:
        raise _refusal(context, index, crowded, constraints.reasons.get(index))
    free = _free_draft(context, constraints, index, choice)
    if free is not None:
        if free.least_cycles >= limit:
            return None
        try:
            moved = with_barrier(context, constraints, index, free)
        except RoutingError:
            moved = None
        if moved is not None:
            return moved
    drafts, failure = _drafts(context, constraints, index, choice)
    best: PlannedPhase | None = None
    barriers = 0
    for draft in sorted(drafts, key=lambda draft: draft.least_cycles):
        if draft.reason is not None:
            # Routing with a barrier takes longest, and drafts further down the order seldom win.
            barriers += 1
            if barriers > BARRIERS_TRIED and (best is not None or any(d.reason is None for d in drafts)):
                continue
        if draft.least_cycles >= (limit if best is None else best.cycles):
            if best is None:
                return None
            break
        try:
            planned = draft.phase if draft.reason is None else with_barrier(context, constraints, index, draft)
        except RoutingError as error:
            failure = failure or error.without_frames()
            continue
        if planned is not None and (best is None or planned.cycles < best.cycles):
            best = planned
    if best is None:
        raise _refusal(context, index, failure, constraints.reasons.get(index))
    return best


def _refusal(context: PlanContext, index: int, failure: PointsmanError | None, barrier_reason: str | None) -> PlanError:
    phase = context.structure.phases[index]
    reason = failure.message if failure else _no_combination(context, index) or "no implementation ends safely"
    if barrier_reason is not None:
        reason += f"; it has to have a barrier because {barrier_reason}"
    return PlanError(
        f"{phase.operators[0].position}: phase '{phase_name(phase)}' cannot be routed with {context.period} slots: {reason}",
        hint=failure.hint if failure else None,
    )


def _no_combination(context: PlanContext, index: int) -> str | None:
    """Why a phase of several operators has no combination of implementations; None if it has some, or for want of slots."""
    operators = context.structure.phases[index].operators
    for operator in operators if len(operators) > 1 else ():
        ways = [one for _, one in context.analysis.feasible(operator, fallbacks=True)]
        if all(one.alone or one.loading is Loading.PER_VALUE for one in ways):
            names = ", ".join(sorted({one.name for one in ways}))
            return f"operator '{operator.label}' shares it, and what can do that operator ({names}) needs a phase of its own"
    return None


def _free_draft(context: PlanContext, constraints: Constraints, index: int, choice: ChoiceLimits) -> Draft | None:
    """For a phase that has to leave links alone: its draft without regard to them, if it is the only draft and needs a
    barrier, since then it is routed again in any case. Else None."""
    if not constraints.taken.get(index):
        return None
    drafts, _ = _drafts(context, constraints.free(index), index, choice)
    return drafts[0] if [draft.reason is not None for draft in drafts] == [True] else None


def _drafts(
    context: PlanContext, constraints: Constraints, index: int, choice: ChoiceLimits
) -> tuple[list[Draft], PointsmanError | None]:
    """Drafts of a phase, one for each combination of implementations that can be routed, and the first error of the others. Of
    several operators those are left out that lack registers for a barrier, and then those that need no fewer."""
    phase = context.structure.phases[index]
    sets = _choices_of_sets(context, index, choice)
    several = len(sets) > 1
    drafts: list[Draft] = []
    failure: PointsmanError | None = None
    crowded: tuple[tuple[Implementation, ...], RoutingError] | None = None
    least: dict[tuple[Implementation | None, ...], int] = {}
    for implementations in _combined(sets):
        channels = _by_messages(implementations)  # these need registers, too
        if channels in least and _registers(context, phase, implementations) >= least[channels]:
            continue
        try:
            draft = _draft(context, constraints, index, implementations, choice)
        except RoutingError as error:
            failure = failure or error.without_frames()
            continue
        if draft is None:
            continue
        if several and (why := _without_room(context, index, draft)) is not None:
            failure = failure or why
            crowded = crowded or (implementations, why)
            least[channels] = min(least.get(channels, 1 << 30), _registers(context, phase, implementations))
            continue
        drafts.append(draft)
        if several and len(drafts) == TOGETHER:
            break
    if crowded is not None and not drafts and not choice.only:
        key, known = _crowded_key(phase, crowded[0], choice), context.memo.crowded
        if key not in known or context.period < known[key][0]:
            known[key] = context.period, crowded[1]
    return drafts, failure


def _crowded_key(phase: PhaseOutline, first: tuple[Implementation, ...], choice: ChoiceLimits) -> CrowdedKey:
    return CrowdedKey(phase.operators, phase.value, first, choice.plain, choice.narrow)


def _combinations(context: PlanContext, index: int, choice: ChoiceLimits) -> Iterator[tuple[Implementation, ...]]:
    """Combinations of implementations, one for each operator of a phase; those with the fewest estimated cycles first."""
    return _combined(_choices_of_sets(context, index, choice))


def _combined(sets: Sequence[tuple[list[int], list[Choice]]]) -> Iterator[tuple[Implementation, ...]]:
    choices = [choices for _, choices in sets]
    while len(choices) > 1 and prod(map(len, choices)) > COMBINATIONS:
        longest = max(choices, key=len)
        longest.pop()
    for pairs in sorted(product(*choices), key=lambda pairs: sum(cycles for cycles, _ in pairs)):
        way = {number: one for (numbers, _), (_, one) in zip(sets, pairs, strict=True) for number in numbers}
        yield tuple([way[number] for number in range(len(way))])


def _choices_of_sets(context: PlanContext, index: int, choice: ChoiceLimits) -> list[tuple[list[int], list[Choice]]]:
    """Numbers of the operators of a phase, those together that share streams if each is done in its best way, and the
    implementations of each set, with cycles of a message of each of its operators, the quickest first."""
    phase = context.structure.phases[index]
    left = always_left_between_uses(context.structure, index)
    choices: list[list[Choice]] = []
    for number, operator in enumerate(phase.operators):
        found = context.able(operator, fallbacks=choice.fallbacks)
        if phase.value is not None:
            # Messages serve all values in one phase: beside phases for other values nodes would not know where to go.
            found = [one for one in context.able(operator) if one[1].loading is Loading.PER_VALUE] or found
        if not left:
            found = [one for one in found if one[1].loading is not Loading.LEFT_BETWEEN_USES]
        if len(phase.operators) > 1:
            found = [one for one in found if not one[1].alone or operator.impl == one[1].name]
        if choice.only:
            found = [one for one in found if one[1] is choice.only[number]]
        most = choice.promising * min((cycles for cycles, _ in found), default=0.0)
        choices.append(sorted((pair for pair in found if pair[0] <= most), key=lambda pair: pair[0]))
    if not all(choices):
        return [([number], own) for number, own in enumerate(choices)]
    best = [(operator, own[0][1]) for operator, own in zip(phase.operators, choices, strict=True)]
    return [
        (numbers, _in_common([choices[number] for number in numbers]))
        for numbers in sets_that_share(best, context.analysis.places, context.surroundings)
    ]


def _in_common(choices: Sequence[Sequence[Choice]]) -> list[Choice]:
    """Implementations that are among the choices of several operators, with the cycles of all."""
    cycles = [{one: cycles for cycles, one in own} for own in choices]
    found = [(sum(own[one] for own in cycles), one) for _, one in choices[0] if all(one in own for own in cycles)]
    return sorted(found, key=lambda pair: pair[0])


def _registers(context: PlanContext, phase: PhaseOutline, implementations: tuple[Implementation, ...]) -> int:
    """Ends of streams at the node with most of them."""
    return most_ends(_streams(context, phase, implementations)[0])


def _streams(
    context: PlanContext, phase: PhaseOutline, implementations: tuple[Implementation, ...]
) -> tuple[list[Stream], list[range]]:
    """The streams of a phase, and by operator the indices of its own."""
    ways = list(zip(phase.operators, implementations, strict=False))
    return streams_of_phase(ways, context.analysis.places, context.surroundings, context.streams)


def _by_messages(implementations: tuple[Implementation, ...]) -> tuple[Implementation | None, ...]:
    """The implementations by messages, None for others."""
    return tuple(one if one.loading is Loading.ONLINE else None for one in implementations)


def _online_part(
    context: PlanContext, phase: PhaseOutline, implementations: tuple[Implementation, ...], choice: ChoiceLimits
) -> OnlinePart | None:
    """The online streams of a phase, found once for all candidates that have the phase."""
    by_messages = _by_messages(implementations)
    if not any(by_messages):
        return None
    homes = context.memo.homes
    if phase.operators not in homes:
        homes[phase.operators] = home_of(phase, context.program)
    home = homes[phase.operators]
    key = OnlineKey(phase.operators, phase.rounds, by_messages, home, choice.plain, context.period, choice.narrow)
    known = context.memo.online
    if key not in known:
        shape = None if choice.plain else context.shape
        known[key] = online_part(
            phase,
            implementations,
            context.program,
            phase_name(phase),
            context.express,
            shape,
            context.period,
            choice.narrow,
        )
    return known[key]


def _draft(
    context: PlanContext,
    constraints: Constraints,
    index: int,
    implementations: tuple[Implementation, ...],
    choice: ChoiceLimits,
) -> Draft | None:
    """Route a phase with these implementations and decide how it may end; None if they cannot be used safely."""
    phase = context.structure.phases[index]
    refuse_two_makers(phase.operators, implementations)
    at_run_time = any(one.loading in (Loading.RESCHEDULED, Loading.ONLINE) for one in implementations)
    if at_run_time and constraints.standing.beside(index):
        raise RoutingError(
            f"'{phase_name(phase)}' is done by schedules or messages made at run time, and others continue"
        )
    streams, spans = _streams(context, phase, implementations)
    context.work.spend(len(streams) + at_run_time * context.program.topology.nodes)
    part = _online_part(context, phase, implementations, choice)
    if part is not None and part.streams:
        spans.append(range(len(streams), len(streams) + len(part.streams)))
        streams += part.streams
    made = route(context, constraints, index, streams, hops_of(part, spans, len(streams)))
    planned = plan_operators(context, phase, implementations, spans, made)
    if planned is None:
        return None
    refuse_mixed_commands(planned)
    return draft_end(context, constraints, index, RoutedOperators(planned, made, spans, part))
