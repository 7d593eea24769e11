"""One phase of a division -> PlannedPhase: its implementations, its routes and its end.

Combinations of implementations are routed, the end of each decided, its time predicted (Metcalf 1997, §6.2.5) and the quickest
kept. What a phase has to regard of others is told from outside (``planner``): who joins its barrier, wires that it leaves alone,
what continues beside it.
Leaves alone: other phases, VFSM and register numbers, memory addresses (targets).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from math import inf, prod
from typing import Any

from numesh.shape import NodeShape
from pointsman.cop.program import Operator
from pointsman.errors import PointsmanError
from pointsman.images.image import Technique
from pointsman.operators import Context, Implementation, Wiring
from pointsman.operators.barrier import StrBarrierTree
from pointsman.operators.implementation import is_settled
from pointsman.operators.kept import streams_of
from pointsman.operators.online import Online
from pointsman.streams.frames import route_frames
from pointsman.streams.router import RoutingError, route_phase
from pointsman.streams.stream import RoutedPhase, Stream
from pointsman.streams.subphases import with_subphases

from .candidates import Candidate
from .choice import able
from .continuing import ends_of
from .continuing_routes import Made
from .drained import drained
from .ends import (
    Freed,
    change_cycles,
    closing_barrier,
    leaves_nothing,
    parts_of,
    phase_name,
    phase_nodes,
    settle_cycles,
    why_not_loose,
)
from .entered import always_left
from .hijack import Hijacked, hijack
from .online import OnlinePart, online_part, stands_for
from .options import capped
from .plan import PlannedOperator, PlannedPhase
from .roles import PlanError, plan_operator
from .room import refuse_overfull_phase, refuse_two_makers
from .routed_cycles import leaving_cycles, operator_cycles
from .structure import PhaseOutline
from .timing import barrier_cycles
from .wires import Link, kept

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
ROUTING = 0.3
"""Effort of the router for a plan."""
WIDENED = 8
"""Sets of nodes by which a barrier grows at most because words go other ways when it is routed."""
MASKED = 64
"""Cycles more until a node leaves a phase when the word that lets it go finds its processor serving messages
(`pointsman.runtime.online`): what a handler that is told to stop still does, with a header from each of four neighbours."""
HIJACKED = 1.5
"""Streams of the phase close it if they take at most this times what a barrier of its own would, which takes slots away."""

Routes = dict[tuple[Hashable, ...], RoutedPhase | RoutingError]
"""By streams, schedule length, links to leave alone, what stands, and who may use which of these links."""


wiring_of = kept(Wiring)


def _alone(part: OnlinePart | None, spans: Sequence[range], streams: int) -> range:
    """The online streams of a phase that has no others (but a barrier later); with others they share in proportion."""
    return spans[-1] if part is not None and part.streams and len(spans[-1]) == streams else range(0)


@dataclass(frozen=True)
class _Draft:
    """A phase routed without a barrier. ``reason``: why it needs one, if it does."""

    phase: PlannedPhase
    reason: str | None
    least_cycles: float
    spans: list[range]
    part: OnlinePart | None = None
    """Its online streams; their span is the last one."""
    loose: tuple[set[int], ...] = ()
    """Partitions that its barrier leaves out."""


class PhasePlanner:
    """Plans the phases of one candidate, each for itself."""

    def __init__(
        self,
        candidate: Candidate,
        shape: NodeShape,
        seed: int,
        routes: Routes,
        implementations: Sequence[Implementation],
        express: int = 0,
        effort: float = 1.0,
        fallbacks: bool = True,
        known: dict[object, Any] | None = None,
    ) -> None:
        self.express = express
        self.plain = False
        self.fallbacks = fallbacks
        self.effort = effort
        self.variant = candidate.variant
        self.program = program = candidate.variant.program
        self.bound = {label for one in self.variant.replaced if one.bound for label in one.parts}
        self.structure = candidate.structure
        self.context = Context(program.topology, shape)
        self.shape = shape
        self.period = candidate.period
        self.seed = seed
        self.routes = routes
        self.implementations = implementations
        self.notes: list[str] = []
        self.standing: Made = []
        """Operators that continue, and their routes."""
        self.routing = ROUTING * effort
        self.known: dict[object, Any] = {} if known is None else known
        """What has been worked out for routed streams of this variant of the program; these are kept in ``routes``, so their
        identity will do."""
        self.forget()

    def forget(self) -> None:
        """Begin again."""
        self.joined: dict[int, dict[int, list[set[int]]]] = {}
        """By phase and later phase whose wires collide with its own: which nodes hang together in the later one."""
        self.shared: dict[int, tuple[RoutedPhase, ...]] = {}
        """By phase, what continues through it, if not with its first slots."""
        self.continued: dict[int, frozenset[Link]] = {}
        """By phase, links and slots that these have in other phases."""
        self.taken: dict[int, dict[int, frozenset[Link]]] = {}
        """By phase and earlier phase, links and slots that it has to leave alone."""
        self.freed: dict[int, Freed] = {}
        """By phase, which of these some of its operators may use."""

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
            if fallbacks and not any(i.fallback for o in phase.operators for _, i in self._able(o, True)):
                continue
            for self.plain in (False, True):
                # Channels to all neighbours may fit where others do not.
                if self.plain and not any(i.fallback for o in phase.operators for _, i in self._able(o, fallbacks)):
                    continue
                yield promising, fallbacks

    def _able(self, operator: Operator, fallbacks: bool) -> list[tuple[float, Implementation]]:
        """Implementations that can do an operator; with ``fallbacks`` only those to fall back on, if it has any."""
        found = able(operator, self.implementations, self.context, fallbacks=fallbacks)
        found = [pair for pair in found if not pair[1].subphased or self._has_room(operator, pair[1])]
        if not is_settled(operator):
            found = [pair for pair in found if not pair[1].by_value]
        return [pair for pair in found if pair[1].fallback] or found if fallbacks else found

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
        drafts, failure = self._free_drafts(index, barrier_reason, promising, fallbacks) or self._drafts(
            index, barrier_reason, promising, fallbacks
        )
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

    def _free_drafts(
        self, index: int, barrier_reason: str | None, promising: float, fallbacks: bool
    ) -> tuple[list[_Draft], PointsmanError | None] | None:
        """Of a phase that has to leave links alone, drafts that do not, if all need a barrier: they take as long, about, and it is
        routed again with the barrier in any case. None if that is not so."""
        taken = self.taken.pop(index, None)
        if not taken:
            return None
        try:
            drafts, failure = self._drafts(index, barrier_reason, promising, fallbacks)
        finally:
            self.taken[index] = taken
        return (drafts, failure) if drafts and all(draft.reason is not None for draft in drafts) else None

    def _drafts(
        self, index: int, barrier_reason: str | None, promising: float, fallbacks: bool
    ) -> tuple[list[_Draft], PointsmanError | None]:
        """A phase routed without a barrier, with each combination of implementations that is tried; and why others are not."""
        phase = self.structure.phases[index]
        drafts: list[_Draft] = []
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
        left = always_left(self.structure, self.structure.phases.index(phase))
        for operator in phase.operators:
            found = self._able(operator, fallbacks)
            if not left:
                found = [one for one in found if not one[1].entered]
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
    ) -> _Draft | None:
        """Route a phase with these implementations and see how it may end; None if they cannot be used safely."""
        refuse_two_makers(phase.operators, implementations)
        beside = self._beside(index)
        if beside and any(one.rescheduled or isinstance(one, Online) for one in implementations):
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
        routed = self._route(index, streams, _alone(part, spans, len(streams)))
        planned = self._operators(phase, implementations, spans, routed)
        if planned is None:
            return None
        nodes = phase_nodes(phase, routed)

        def closed(technique: Technique, reason: str) -> PlannedPhase:
            return self._closed(phase, planned, None, routed, nodes, technique, reason, 0, part)

        if part is not None and part.streams:
            why = "processors pass on messages until nobody needs them"
            ending = closed("none", why)
            least = ending.cycles + phase.exits * self._barrier_cycles(self._barrier(phase, routed, part))
            return _Draft(ending, why, least, spans, part)
        messages = self._messages(index)
        if messages and any(one.values != ((),) or one.stages > 1 for one in planned):
            raise RoutingError(
                f"load functions of '{phase_name(phase)}' rewrite the router, and messages interrupt nodes"
            )
        successors = self.structure.successors[index]
        if not any(s >= 0 and s != index for s in successors) and not (messages and barrier_reason):
            ending = closed("none", "no phase follows")
            return _Draft(ending, None, ending.cycles, spans)
        parts = parts_of(phase, routed)
        why_not = [barrier_reason or why_not_loose(part, planned, routed, self._last(index)) for part in parts]
        if messages:
            # How long a word waits for a processor is not known then.
            why = "processors may be called away to pass on messages"
            last = self._last(index)
            why_not = [
                one or (None if leaves_nothing([part], planned, last) else why)
                for part, one in zip(parts, why_not, strict=True)
            ]
        reason = next((why for why in why_not if why is not None), None)
        if reason is None:
            if leaves_nothing(parts, planned, self._last(index)):
                ending = closed("no-op", "no word is left in a node's router when its own messages are through")
            else:
                ending = closed("msg-sync", "every node has moved a word by the time that any node is done")
            return _Draft(ending, None, ending.cycles, spans)
        loose = [part for part, why in zip(parts, why_not, strict=True) if why is None]
        barrier = self._barrier(phase, routed, None, loose)
        if not barrier.instances:
            ending = closed("msg-sync", "no word leaves its node")
            return _Draft(ending, None, ending.cycles, spans)
        # Whether threads may send in the next phase is proven with barriers that have streams of their own.
        apart = self.structure.threads is not None or bool(beside)
        key = "hijack", id(routed), implementations, barrier.instances, apart
        if key not in self.known:
            self.known[key] = None if apart else hijack(barrier, planned, routed, wiring_of(routed))
        found: Hijacked | None = self.known[key]
        if found is not None and found.cycles <= HIJACKED * self._barrier_cycles(barrier):
            why = f"{reason}; {found.words} words over streams of the phase tell that all are done"
            ending = self._closed(
                phase, planned, found, routed, nodes, "hijack", why, found.spread + change_cycles(routed)
            )
            return _Draft(ending, None, ending.cycles, spans)
        ending = closed("none", reason)
        least = ending.cycles + phase.exits * self._barrier_cycles(barrier)
        return _Draft(ending, reason, least, spans, loose=tuple(loose))

    def _last(self, index: int) -> frozenset[str] | None:
        """Operators of a phase after which a node may leave it; None: any."""
        last = self.structure.last
        return last[index] if last else None

    def _with_barrier(
        self, phase: PhaseOutline, draft: _Draft, wider: tuple[frozenset[int], ...] = ()
    ) -> PlannedPhase | None:
        """Route a draft again, with the barrier that closes it; None if that makes its implementations unsafe. ``wider``: nodes
        that belong together in the barrier as well."""
        assert draft.reason is not None
        before = draft.phase
        index = self.structure.phases.index(phase)
        barrier = self._barrier(phase, before.routed, draft.part, draft.loose, wider)
        ending = StrBarrierTree()
        own = ending.streams(barrier, self.context)
        streams = list(before.routed.streams)
        span = range(len(streams), len(streams) + len(own))
        routed = self._route(index, streams + own, _alone(draft.part, draft.spans, len(streams)), before.routed)
        implementations = tuple(one.implementation for one in before.operators)
        planned = self._operators(phase, implementations, draft.spans, routed)
        if planned is None:
            return None
        split = [
            frozenset(part)
            for part in parts_of(phase, routed)
            if not part.isdisjoint(barrier.nodes) and not any(part.issubset(i.nodes) for i in barrier.instances)
        ]
        if split:
            # With the barrier words go other ways, through nodes that are not in it: these have to join.
            return self._with_barrier(phase, draft, (*wider, *split)) if len(wider) < WIDENED else None
        left_out = [part for part in parts_of(phase, routed) if part.isdisjoint(barrier.nodes)]
        if any(why_not_loose(part, planned, routed, self._last(index)) for part in left_out if len(part) > 1):
            # With the barrier it is routed otherwise, so that a part that needed none needs one now.
            return self._with_barrier(phase, replace(draft, loose=())) if draft.loose else None
        key = "barrier", id(routed), barrier.instances
        if key not in self.known:
            self.known[key] = plan_operator(barrier, ending, span, routed, wiring_of(routed))
        closing: PlannedOperator | None = self.known[key]
        assert closing is not None
        # Words that the router drops may still be on their way when all have met.
        over = [alone.operators[0] for through, alone in self.standing if index in ends_of(through, self.structure)]
        closing = drained(closing, (*planned, *over), wiring_of(routed), span)
        nodes = phase_nodes(phase, routed) | barrier.nodes
        settle = settle_cycles(routed, span) + (MASKED if self._messages(index) else 0)
        return self._closed(
            phase, planned, closing, routed, nodes, "barrier", draft.reason, settle, draft.part, draft.spans[-1]
        )

    def _messages(self, index: int) -> bool:
        """Do messages of an operator that continues pass through the phase?"""
        return any(alone.online is not None for through, alone in self.standing if index in through.phases)

    def _beside(self, index: int) -> tuple[RoutedPhase, ...]:
        return self.shared.get(index) or tuple(alone.routed for t, alone in self.standing if index in t.phases)

    def first_streams(self, index: int) -> list[Stream]:
        """Streams of a phase as its operators would be done first of all."""
        phase = self.structure.phases[index]
        chosen = next(self._combinations(phase, PROMISING, self.fallbacks), ())
        ways = zip(phase.operators, chosen, strict=False)
        return [s for one, way in ways for s in capped(one, way.streams(one, self.context), self.period)]

    def _route(
        self, index: int, streams: list[Stream], hops: range = range(0), fewer: RoutedPhase | None = None
    ) -> RoutedPhase:
        """``hops``: streams to neighbours that are to be in frames; ``fewer``: the first streams, routed without the others."""
        taken = frozenset().union(*self.taken.get(index, {}).values(), self.continued.get(index, ()))
        beside = self._beside(index)
        freed = self._freed(index, streams) if taken else ()
        key = (tuple(streams), self.period, taken, beside, freed)
        if key not in self.routes:
            # There was more room before some of it was taken.
            free = self.routes.get((tuple(streams), self.period, frozenset(), beside, ()))
            fewer = free if isinstance(free, RoutedPhase) else fewer
            had = [] if fewer is None else [fewer.words(s) for s in range(len(fewer.streams))]
            network, shape, period, seed = self.program.topology, self.shape, self.period, self.seed
            try:
                made: RoutedPhase | None = None
                if not taken and not beside:
                    made = route_frames(streams, hops, network, shape, period=period, seed=seed)
                made = made or route_phase(
                    streams,
                    network,
                    shape,
                    period=period,
                    seed=seed,
                    effort=self.routing,
                    forbidden=taken,
                    beside=beside,
                    had=had,
                    freed=dict(freed),
                )
                # Beside what continues one schedule has to do.
                self.routes[key] = made if beside else with_subphases(made, taken)
            except RoutingError as error:
                self.routes[key] = error
        result = self.routes[key]
        if isinstance(result, RoutingError):
            raise result
        return result

    def _freed(self, index: int, streams: Iterable[Stream]) -> tuple[tuple[str, frozenset[Link]], ...]:
        """By stream of a phase, links and slots that it may use though the phase has to leave them alone."""
        by_source = self.freed.get(index, {})
        return tuple(
            (one.name, by_source[one.name.split("[")[0], one.source])
            for one in streams
            if (one.name.split("[")[0], one.source) in by_source
        )

    def _operators(
        self,
        phase: PhaseOutline,
        implementations: tuple[Implementation, ...],
        spans: list[range],
        routed: RoutedPhase,
    ) -> tuple[PlannedOperator, ...] | None:
        # A phase whose wires collide with others' is planned again and again. The route is kept for its id.
        key = (
            id(routed),
            phase.value,
            tuple(map(id, implementations)),
            tuple(operator.label for operator in phase.operators),
        )
        if key not in self.known:
            wiring = wiring_of(routed)
            refuse_overfull_phase(wiring, self.shape)
            planned: list[PlannedOperator] = []
            for operator, implementation, span in zip(phase.operators, implementations, spans, strict=False):
                one = plan_operator(operator, implementation, span, routed, wiring)
                if one is None or (operator.label in self.bound and not one.message_bound):
                    break
                planned.append(one)
            self.known[key] = routed, tuple(planned) if len(planned) == len(phase.operators) else None
        return self.known[key][1]

    def _barrier(
        self,
        phase: PhaseOutline,
        routed: RoutedPhase,
        part: OnlinePart | None = None,
        loose: Collection[set[int]] = (),
        wider: Iterable[frozenset[int]] = (),
    ) -> Operator:
        """What closes the phase, over all that later phases with its wires join."""
        index = self.structure.phases.index(phase)
        joined = chain.from_iterable(self.joined.get(index, {}).values())
        over = [through.operator for through, _ in self.standing if index in ends_of(through, self.structure)]
        ending = [set(instance.nodes) for operator in over for instance in operator.instances]
        barrier = closing_barrier(phase, routed, [*joined, *map(set, wider), *ending], part, loose)
        # Whoever only waits among nodes that have no part in the phase does not have to.
        touching = phase_nodes(phase, routed).union(*ending)
        return replace(barrier, instances=tuple(i for i in barrier.instances if not touching.isdisjoint(i.nodes)))

    def _barrier_cycles(self, barrier: Operator) -> float:
        across = [self.program.topology.across(instance.nodes) for instance in barrier.instances]
        return barrier_cycles(max(across, default=0), self.period)

    def _closed(
        self,
        phase: PhaseOutline,
        operators: tuple[PlannedOperator, ...],
        barrier: PlannedOperator | Hijacked | None,
        routed: RoutedPhase,
        nodes: frozenset[int],
        technique: Technique,
        reason: str,
        settle: int,
        part: OnlinePart | None = None,
        span: range = range(0),
    ) -> PlannedPhase:
        cycles = operator_cycles(phase, operators, routed, self.context, part)
        changing = leaving_cycles(phase, operators, routed, technique)
        if isinstance(barrier, Hijacked):
            changing += phase.exits * (barrier.cycles + settle)
            barrier = barrier.planned
        elif barrier is not None:
            changing += phase.exits * (self._barrier_cycles(barrier.operator) + settle)
        wiring = wiring_of(routed)
        carrier = None
        if part is not None and barrier is not None:
            carrier = stands_for(part, wiring, span, self.program.topology)
        return PlannedPhase(
            phase_name(phase),
            operators,
            barrier,
            routed,
            wiring,
            technique,
            reason,
            nodes,
            carrier,
            part,
            settle,
            cycles + changing,
            changing,
            phase.exits,
        )
