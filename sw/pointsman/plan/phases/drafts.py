"""One phase of a division -> PlannedPhase: its implementations, its routes and its end.

Combinations of implementations are routed (``phase_routes``), the end of each decided, its time predicted (``phase_ends``) and
the quickest kept. What a phase has to regard of others is told from outside (``planner``): who joins its barrier, wires that it
leaves alone, what continues beside it.
Leaves alone: other phases, VFSM and register numbers, memory addresses (targets).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import inf, prod

from pointsman.errors import PointsmanError
from pointsman.operators import Implementation
from pointsman.operators.api.cached import streams_of
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import is_settled
from pointsman.plan.cost.call_attributes import capped
from pointsman.plan.errors import PlanError
from pointsman.plan.memory.capacity import refuse_two_makers
from pointsman.plan.online import online_part
from pointsman.plan.plan import PlannedPhase
from pointsman.plan.structure.structure import PhaseOutline
from pointsman.plan.termination.closing_barrier import phase_name
from pointsman.plan.termination.left_between_uses import always_left_between_uses
from pointsman.program.program import Operator
from pointsman.routing.errors import RoutingError
from pointsman.routing.streams import Stream

from .closing import Draft, PhaseEnds
from .routes import hops_of

COMBINATIONS = 24
"""Most combinations of implementations tried for a phase."""
PROMISING = 2.0
"""Implementations that expect more than this times the cycles of the best are not tried at first: their metric is rough,
but not that rough, and routing is what takes the compiler's time."""
TOGETHER = 1
"""Most of them that are routed for several operators: what is best one by one mostly is together, and routing many streams at
once takes long."""
BARRIERS_TRIED = 2
"""Most combinations of a phase that are routed with a barrier while there are others."""


class PhasePlanner(PhaseEnds):
    """Plans the phases of one candidate, each for itself."""

    def plan_phase(self, index: int, barrier_reason: str | None, limit: float = inf) -> PlannedPhase | None:
        """The quickest way to do a phase; None if none takes less than ``limit`` cycles."""
        failure: PlanError | None = None
        for promising, fallbacks in self._tries(index):
            try:
                return self._plan_phase(index, barrier_reason, limit, promising, fallbacks)
            except PlanError as error:
                failure = failure or error
        assert failure is not None
        raise failure

    def least_cycles(self, index: int) -> float:
        """What a phase takes at least, about: as it is routed without the barrier that closes it, which is estimated.

        Raises
        ------
        PlanError
            If it cannot be routed.
        """
        failure: PointsmanError | None = None
        for promising, fallbacks in self._tries(index):
            drafts, error = self._drafts(index, None, promising, fallbacks)
            if drafts:
                return min(draft.least_cycles for draft in drafts)
            failure = failure or error
        raise self._refusal(self.structure.phases[index], failure)

    def _tries(self, index: int) -> Iterator[tuple[float, bool]]:
        """Limits to the choice of implementations, one after the other while none can be routed. Implementations that promise far
        less than the best are only tried when the others fail, and when all fail processors pass on the messages."""
        phase = self.structure.phases[index]
        for promising, fallbacks in ((PROMISING, False), (inf, False), (inf, True)):
            if fallbacks and not self.fallbacks:
                break
            if fallbacks and not self._may_be_online(phase, True):
                continue
            for self.plain in (False, True):
                # Channels to all neighbours may fit where others do not.
                if self.plain and not self._may_be_online(phase, fallbacks):
                    continue
                yield promising, fallbacks

    def _may_be_online(self, phase: PhaseOutline, fallbacks: bool) -> bool:
        """May processors pass on the messages of an operator of the phase?"""
        return any(i.loading is Loading.ONLINE for o in phase.operators for _, i in self._able(o, fallbacks))

    def _able(self, operator: Operator, fallbacks: bool) -> list[tuple[float, Implementation]]:
        """Implementations that can do an operator; with ``fallbacks`` only those to fall back on, if it has any."""
        known = self.variant.analysis.feasible(operator, fallbacks=fallbacks)
        found = [(c, i) for c, i in known if i.loading is not Loading.SUBPHASES or self._has_room(operator, i)]
        if not is_settled(operator):
            found = [pair for pair in found if pair[1].loading is not Loading.PER_VALUE]
        return [pair for pair in found if pair[1].loading is Loading.ONLINE] or found if fallbacks else found

    def _has_room(self, operator: Operator, implementation: Implementation) -> bool:
        """Is there room for a second schedule for every phase? Who asks for it is told by the target if there is none."""
        blocks = self.shape.schedule_depth // self.period - 1
        return operator.impl == implementation.name or 2 * len(self.structure.phases) <= blocks

    def _plan_phase(
        self, index: int, barrier_reason: str | None, limit: float, promising: float, fallbacks: bool
    ) -> PlannedPhase | None:
        """Choose among implementations that expect at most ``promising`` times the cycles of the best.

        Every combination is routed as it is first; those that need a barrier are routed with it in the order of what
        they would take at least, until none can win any more.
        """
        phase = self.structure.phases[index]
        free = self._free_draft(index, barrier_reason, promising, fallbacks)
        if free is not None:
            if free.least_cycles >= limit:
                return None
            try:
                moved = self._with_barrier(phase, free)
            except RoutingError:
                moved = None
            if moved is not None:
                return moved
        drafts, failure = self._drafts(index, barrier_reason, promising, fallbacks)
        best: PlannedPhase | None = None
        barriers = 0
        for draft in sorted(drafts, key=lambda draft: draft.least_cycles):
            if draft.reason is not None:
                # Routing with a barrier is the costly part; the second best start seldom ends first.
                barriers += 1
                if barriers > BARRIERS_TRIED and (best is not None or any(d.reason is None for d in drafts)):
                    continue
            if draft.least_cycles >= (limit if best is None else best.cycles):
                if best is None:
                    return None
                break
            try:
                planned = draft.phase if draft.reason is None else self._with_barrier(phase, draft)
            except RoutingError as error:
                failure = failure or error
                continue
            if planned is not None and (best is None or planned.cycles < best.cycles):
                best = planned
        if best is None:
            raise self._refusal(phase, failure, barrier_reason)
        return best

    def _refusal(
        self, phase: PhaseOutline, failure: PointsmanError | None, barrier_reason: str | None = None
    ) -> PlanError:
        reason = failure.message if failure else "no implementation ends safely"
        if barrier_reason is not None:
            reason += f"; it has to have a barrier because {barrier_reason}"
        return PlanError(
            f"{phase.operators[0].position}: phase '{phase_name(phase)}' cannot be routed with {self.period} slots: {reason}",
            hint=failure.hint if failure else None,
        )

    def _free_draft(self, index: int, barrier_reason: str | None, promising: float, fallbacks: bool) -> Draft | None:
        """Of a phase that has to leave links alone, the draft that does not, if it is the only one and needs a barrier: then it
        is routed again in any case, with the barrier. None if that is not so."""
        taken = self.taken.pop(index, None)
        if not taken:
            return None
        try:
            drafts, _ = self._drafts(index, barrier_reason, promising, fallbacks)
        finally:
            self.taken[index] = taken
        return drafts[0] if [draft.reason is not None for draft in drafts] == [True] else None

    def _drafts(
        self, index: int, barrier_reason: str | None, promising: float, fallbacks: bool
    ) -> tuple[list[Draft], PointsmanError | None]:
        """A phase routed without a barrier, with each combination of implementations that is tried; and why others are not."""
        phase = self.structure.phases[index]
        drafts: list[Draft] = []
        failure: PointsmanError | None = None
        for implementations in self._combinations(phase, promising, fallbacks):
            try:
                draft = self._draft(index, phase, implementations, barrier_reason)
            except RoutingError as error:
                failure = failure or error
                continue
            if draft is not None:
                drafts.append(draft)
            if len(phase.operators) > 1 and len(drafts) == TOGETHER:
                break
        return drafts, failure

    def _combinations(
        self, phase: PhaseOutline, promising: float, fallbacks: bool
    ) -> Iterator[tuple[Implementation, ...]]:
        choices = []
        left = always_left_between_uses(self.structure, self.structure.phases.index(phase))
        for operator in phase.operators:
            found = self._able(operator, fallbacks)
            if not left:
                found = [one for one in found if one[1].loading is not Loading.LEFT_BETWEEN_USES]
            if len(phase.operators) > 1:
                found = [one for one in found if not one[1].alone or operator.impl == one[1].name]
            most = promising * min((cycles for cycles, _ in found), default=0.0)
            choices.append(sorted((pair for pair in found if pair[0] <= most), key=lambda pair: pair[0]))
        while len(choices) > 1 and prod(map(len, choices)) > COMBINATIONS:
            longest = max(choices, key=len)
            longest.pop()
        ordered = sorted(product(*choices), key=lambda pairs: sum(cycles for cycles, _ in pairs))
        return iter([tuple(one for _, one in pairs) for pairs in ordered])

    def _draft(
        self,
        index: int,
        phase: PhaseOutline,
        implementations: tuple[Implementation, ...],
        barrier_reason: str | None,
    ) -> Draft | None:
        """Route a phase with these implementations and see how it may end; None if they cannot be used safely."""
        refuse_two_makers(phase.operators, implementations)
        beside = self._beside(index)
        if beside and any(one.loading in (Loading.RESCHEDULED, Loading.ONLINE) for one in implementations):
            raise RoutingError(
                f"'{phase_name(phase)}' is done by schedules or messages made at run time, and others continue"
            )
        streams: list[Stream] = []
        spans = []
        for operator, implementation in zip(phase.operators, implementations, strict=True):
            own = capped(operator, streams_of(implementation, operator, self.context), self.period)
            spans.append(range(len(streams), len(streams) + len(own)))
            streams += own
        shape = None if self.plain else self.shape
        part = online_part(phase, implementations, self.program, phase_name(phase), self.express, shape, self.period)
        if part is not None and part.streams:
            spans.append(range(len(streams), len(streams) + len(part.streams)))
            streams += part.streams
        routed = self._route(index, streams, hops_of(part, spans, len(streams)))
        planned = self._operators(phase, implementations, spans, routed)
        if planned is None:
            return None
        return self._ended(index, planned, routed, spans, part, barrier_reason)

    def first_streams(self, index: int) -> list[Stream]:
        """Streams of a phase as its operators would be done first of all."""
        phase = self.structure.phases[index]
        chosen = next(self._combinations(phase, PROMISING, self.fallbacks), ())
        ways = zip(phase.operators, chosen, strict=False)
        return [s for one, way in ways for s in capped(one, way.streams(one, self.context), self.period)]
