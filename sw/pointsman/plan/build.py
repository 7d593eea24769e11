"""Program -> Plan: implementations are chosen, streams routed, phases closed.

Takes a Program and a shape. Of each way to divide the program into phases every combination of implementations is routed, its
end decided, its time predicted (Metcalf 1997, §6.2.5) and the quickest kept. A phase whose wires collide with a neighbouring
phase's is closed by a barrier.
Leaves alone: VFSM and register numbers, memory addresses (targets).
Non-goals: continuing operators, sharing router memory between phases.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from math import inf
from typing import Any

from numesh.codes import Codes
from numesh.shape import NodeShape
from pointsman.cop.program import Operator, Program
from pointsman.errors import PointsmanError
from pointsman.images.image import SYNC, Technique
from pointsman.operators import IMPLEMENTATIONS, Context, Implementation, RoleDraft, Wiring
from pointsman.operators.barrier import StrBarrierTree
from pointsman.operators.implementation import rounds_between_values
from pointsman.streams.router import RoutingError, route_phase
from pointsman.streams.stream import RoutedPhase, Stream

from .around import route_around
from .cache import evicted
from .choice import able, why_none
from .division import divisions
from .ends import (
    change_cycles,
    closing_barrier,
    collisions,
    leaves_nothing,
    parts_of,
    phase_name,
    phase_nodes,
    settle_cycles,
    why_not_loose,
    word_spans,
)
from .hijack import Hijacked, hijack
from .leaving import leaving
from .online import OnlinePart, online_part, stands_for
from .plan import Plan, PlannedOperator, PlannedPhase
from .roles import PlanError, plan_operator
from .structure import PhaseOutline, Structure, optional_groups, schedule_blocks
from .timing import barrier_cycles
from .transit import refuse_secret_phases
from .wires import Link, command_gap

COMBINATIONS = 24
"""Most combinations of implementations tried for a phase."""
PROMISING = 2.0
"""Implementations that expect more than this times the cycles of the best are not tried at first: their metric is rough,
but not that rough, and routing is what takes the compiler's time."""
TOGETHER = 1
"""Most of them that are routed for several operators: what is best one by one mostly is together, and routing many streams at
once takes long."""
BARRIERS_TRIED = 1
"""Most combinations of a phase that are routed with a barrier while there are others."""
HIJACKED = 1.5
"""Streams of the phase close it if they take at most this times what a barrier of its own would, which takes slots away."""
RESIDENT = 2
"""Least phases that the schedule memory must hold besides the loader phase."""
PERIODS = (8, 16, 24, 32, 40)
"""Schedule lengths among which the compiler chooses."""

Routes = dict[tuple[tuple[Stream, ...], int, frozenset[Link]], RoutedPhase | RoutingError]


def make_plan(
    program: Program,
    shape: NodeShape,
    *,
    name: str,
    period: int | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
    implementations: Sequence[Implementation] = IMPLEMENTATIONS,
    express: int = 0,
) -> Plan:
    """Plan ``program`` for nodes of ``shape``.

    Parameters
    ----------
    period : int or None
        Schedule length; None: the one of ``PERIODS`` with the smallest predicted time that fits the schedule memory.
    implementations : sequence of Implementation
        Those to choose from; `pointsman.operators.registry` finds more than the built-in ones.
    express : int
        Hops of express channels for online messages (Metcalf 1997, §4.2.3); below 2: none.

    Raises
    ------
    PlanError
        With the first reason, if no plan is found.
    """
    if program.topology.ports > shape.neighbours:
        raise PlanError(f"the network needs {program.topology.ports} ports a node, the node has {shape.neighbours}")
    context = Context(program.topology, shape)
    for operator in program.operators():
        if not able(operator, implementations, context):
            raise PlanError(why_none(operator, implementations))
    asked = period if period is not None else program.schedlen
    if asked is not None and asked < 2:
        raise PlanError(f"the schedule length must be at least 2, not {asked}")
    best: Plan | None = None
    failure: PointsmanError | None = None
    routes: Routes = {}
    for structure in divisions(program, context, implementations, period=asked or PERIODS[1]):
        if best is not None and len(structure.phases) == 1:
            # It can always be tried, and routing everything at once takes longest.
            break
        try:
            lengths = _lengths(structure, shape, asked)
        except PlanError as error:
            failure = failure or error
            continue
        for length in lengths:
            if progress is not None:
                progress(f"planning {name} with {len(structure.phases)} phases of {length} slots")
            planner = _Planner(program, structure, shape, length, seed, routes, implementations, express)
            try:
                plan = planner.plan(name, limit=best.cycles if best is not None else inf)
            except PointsmanError as error:
                failure = failure or error
                continue
            if plan is not None and (best is None or plan.cycles < best.cycles):
                best = plan
    if best is None:
        assert failure is not None
        raise failure
    return best


def _lengths(structure: Structure, shape: NodeShape, asked: int | None) -> list[int]:
    """Schedule lengths to try: the one that was asked for, or those with which all phases fit the schedule memory; failing
    that, those with which it holds two besides the loader's, so that the others take turns."""
    blocks = len(structure.phases) + 1
    least = min(blocks, 1 + RESIDENT)
    fitting = [p for p in PERIODS if blocks * p <= shape.schedule_depth]
    sharing = [p for p in PERIODS if least * p <= shape.schedule_depth]
    lengths = [asked] if asked is not None else fitting or sharing or [max(2, shape.schedule_depth // least)]
    if least * lengths[0] > shape.schedule_depth:
        raise PlanError(
            f"{least - 1} phases and the loader phase of {lengths[0]} slots each do not fit a schedule "
            f"memory of {shape.schedule_depth} entries",
            hint="use a shorter schedule, fewer phases, or a node with a deeper schedule memory",
        )
    return lengths


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


class _Planner:
    """One attempt: one schedule length."""

    def __init__(
        self,
        program: Program,
        structure: Structure,
        shape: NodeShape,
        period: int,
        seed: int,
        routes: Routes,
        implementations: Sequence[Implementation],
        express: int = 0,
    ) -> None:
        self.express = express
        self.program = program
        self.structure = structure
        self.context = Context(program.topology, shape)
        self.shape = shape
        self.period = period
        self.seed = seed
        self.routes = routes
        self.implementations = implementations
        self.notes: list[str] = []
        self.joined: dict[int, dict[int, list[set[int]]]] = {}
        """By phase and later phase whose wires collide with its own: which nodes hang together in the later one."""
        self.taken: dict[int, dict[int, frozenset[Link]]] = {}
        """By phase and earlier phase, links and slots that it has to leave alone."""
        self.known: dict[object, Any] = {}
        """What has been worked out for routed streams; these are kept in ``routes``, so their identity will do."""

    def plan(self, name: str, limit: float) -> Plan | None:
        """The plan, or None as soon as its predicted cycles reach ``limit``."""
        planned: list[PlannedPhase] = []
        for i in range(len(self.structure.phases)):
            phase = self.plan_phase(i, None, limit - sum(before.cycles for before in planned))
            if phase is None:
                return None
            planned.append(phase)
        self.taken |= route_around(
            self.structure, planned, self._on_other_wires, aliased_handshake=self.shape.aliased_handshake
        )
        # Where the wires of a phase collide with those of a later one, everybody who may send in the later one has to
        # wait in a barrier until all have left the earlier. Its own route changes with that, so look again.
        while found := [c for c in self._collisions(planned) if c[1] not in self.joined.get(c[0], {})]:
            for earlier, later, (node, port, slot) in found:
                self.joined.setdefault(earlier, {})[later] = word_spans(planned[later])
                reason = (
                    f"the link at port {port} of node {node} carries words in slot {slot} in this phase and in "
                    f"'{planned[later].name}'"
                )
                try:
                    again = self.plan_phase(earlier, reason)
                except PlanError:
                    if self.taken.pop(earlier, None) is None:
                        raise
                    again = self.plan_phase(earlier, reason)
                assert again is not None
                planned[earlier] = again
        self._count_reloads(planned)
        refuse_secret_phases(self.structure, planned)
        return Plan(
            name,
            self.program.parameters,
            self.program.topology,
            self.shape,
            self.period,
            self.structure,
            tuple(planned),
            leaving(planned, self.structure.successors, self.structure.again, optional_groups(self.program)),
            tuple(self.notes),
        )

    def _on_other_wires(
        self, planned: list[PlannedPhase], later: int, taken: dict[int, frozenset[Link]], instead: Iterable[int]
    ) -> PlannedPhase | None:
        """A phase routed again off the links and slots in ``taken``; None if that costs more than barriers at the ends of
        ``instead``, or cannot be done."""
        saved = 0.0
        for earlier in instead:
            phase = self.structure.phases[earlier]
            saved += phase.exits * self._barrier_cycles(self._barrier(phase, planned[earlier].routed))
        self.taken[later] = taken
        try:
            return self.plan_phase(later, None, planned[later].cycles + saved)
        except PlanError:
            return None
        finally:
            del self.taken[later]

    def _count_reloads(self, planned: list[PlannedPhase]) -> None:
        """Phases that take turns in the schedule memory cost the time of loading them each time, about."""
        places = schedule_blocks(self.structure, self.period, self.shape)
        for index in evicted(places, self.structure.successors):
            words = self.period * Codes(self.shape).command_words
            cycles = planned[index].cycles + self.structure.phases[index].exits * 2 * words
            planned[index] = replace(planned[index], cycles=cycles)

    # -- one phase -------------------------------------------------------------------------------------------

    def plan_phase(self, index: int, barrier_reason: str | None, limit: float = inf) -> PlannedPhase | None:
        """The quickest way to do a phase; None if none takes less than ``limit`` cycles. Implementations that promise far
        less than the best are only tried when the others fail, and when all fail processors pass on the messages."""
        failure: PlanError | None = None
        for promising, fallbacks in ((PROMISING, False), (inf, False), (inf, True)):
            phase = self.structure.phases[index]
            if fallbacks and not any(i.fallback for o in phase.operators for _, i in self._able(o, True)):
                continue
            try:
                return self._plan_phase(index, barrier_reason, limit, promising, fallbacks)
            except PlanError as error:
                failure = failure or error
        assert failure is not None
        raise failure

    def _able(self, operator: Operator, fallbacks: bool) -> list[tuple[float, Implementation]]:
        """Implementations that can do an operator; with ``fallbacks`` only those to fall back on, if it has any."""
        found = able(operator, self.implementations, self.context, fallbacks=fallbacks)
        return [pair for pair in found if pair[1].fallback] or found if fallbacks else found

    def _plan_phase(
        self, index: int, barrier_reason: str | None, limit: float, promising: float, fallbacks: bool
    ) -> PlannedPhase | None:
        """Choose among implementations that expect at most ``promising`` times the cycles of the best.

        Every combination is routed as it is first; those that need a barrier are routed with it in the order of what
        they would take at least, until none can win any more.
        """
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
            where = phase.operators[0].position
            reason = failure.message if failure else "no implementation ends safely"
            raise PlanError(
                f"{where}: phase '{phase_name(phase)}' cannot be routed with {self.period} slots: {reason}",
                hint=failure.hint if failure else None,
            )
        return best

    def _combinations(
        self, phase: PhaseOutline, promising: float, fallbacks: bool
    ) -> Iterator[tuple[Implementation, ...]]:
        choices = []
        for operator in phase.operators:
            found = self._able(operator, fallbacks)
            if len(phase.operators) > 1:
                found = [one for one in found if not one[1].alone]
            most = promising * min((cycles for cycles, _ in found), default=0.0)
            choices.append(sorted((pair for pair in found if pair[0] <= most), key=lambda pair: pair[0]))
        while len(choices) > 1 and _product(map(len, choices)) > COMBINATIONS:
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
        streams: list[Stream] = []
        spans = []
        for operator, implementation in zip(phase.operators, implementations, strict=True):
            own = implementation.streams(operator, self.context)
            spans.append(range(len(streams), len(streams) + len(own)))
            streams += own
        part = online_part(phase, implementations, self.program, phase_name(phase), self.express)
        if part is not None and part.streams:
            spans.append(range(len(streams), len(streams) + len(part.streams)))
            streams += part.streams
        routed = self._route(index, streams)
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
        if not any(s >= 0 and s != index for s in self.structure.successors[index]):
            ending = closed("none", "no phase follows")
            return _Draft(ending, None, ending.cycles, spans)
        parts = parts_of(phase, routed)
        why_not = [barrier_reason or why_not_loose(part, planned, routed, self._last(index)) for part in parts]
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
        key = "hijack", id(routed), implementations, barrier.instances
        if key not in self.known:
            self.known[key] = hijack(barrier, planned, routed, Wiring(routed))
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

    def _with_barrier(self, phase: PhaseOutline, draft: _Draft) -> PlannedPhase | None:
        """Route a draft again, with the barrier that closes it; None if that makes its implementations unsafe."""
        assert draft.reason is not None
        before = draft.phase
        index = self.structure.phases.index(phase)
        barrier = self._barrier(phase, before.routed, draft.part, draft.loose)
        ending = StrBarrierTree()
        own = ending.streams(barrier, self.context)
        streams = list(before.routed.streams)
        span = range(len(streams), len(streams) + len(own))
        routed = self._route(index, streams + own)
        implementations = tuple(one.implementation for one in before.operators)
        planned = self._operators(phase, implementations, draft.spans, routed)
        if planned is None:
            return None
        left_out = [part for part in parts_of(phase, routed) if part.isdisjoint(barrier.nodes)]
        if any(why_not_loose(part, planned, routed, self._last(index)) for part in left_out if len(part) > 1):
            # With the barrier it is routed otherwise, so that a part that needed none needs one now.
            return self._with_barrier(phase, replace(draft, loose=())) if draft.loose else None
        key = "barrier", id(routed), barrier.instances
        if key not in self.known:
            self.known[key] = plan_operator(barrier, ending, span, routed, Wiring(routed))
        closing: PlannedOperator | None = self.known[key]
        assert closing is not None
        # Words that the router drops may still be on their way when all have met.
        closing = replace(closing, drain=max(one.drain for one in planned))
        nodes = phase_nodes(phase, routed) | barrier.nodes
        settle = settle_cycles(routed, span)
        return self._closed(
            phase, planned, closing, routed, nodes, "barrier", draft.reason, settle, draft.part, draft.spans[-1]
        )

    def _route(self, index: int, streams: list[Stream]) -> RoutedPhase:
        taken = frozenset().union(*self.taken.get(index, {}).values())
        key = (tuple(streams), self.period, taken)
        if key not in self.routes:
            try:
                self.routes[key] = route_phase(
                    streams, self.program.topology, self.shape, period=self.period, seed=self.seed, forbidden=taken
                )
            except RoutingError as error:
                self.routes[key] = error
        result = self.routes[key]
        if isinstance(result, RoutingError):
            raise result
        return result

    def _operators(
        self,
        phase: PhaseOutline,
        implementations: tuple[Implementation, ...],
        spans: list[range],
        routed: RoutedPhase,
    ) -> tuple[PlannedOperator, ...] | None:
        key = "operators", id(routed), implementations, phase.operators
        if key in self.known:
            found: tuple[PlannedOperator, ...] | None = self.known[key]
            return found
        self.known[key] = None
        wiring = Wiring(routed)
        planned = []
        for operator, implementation, span in zip(phase.operators, implementations, spans, strict=False):
            one = plan_operator(operator, implementation, span, routed, wiring)
            if one is None:
                return None
            planned.append(one)
        self.known[key] = tuple(planned)
        return tuple(planned)

    def _barrier(
        self,
        phase: PhaseOutline,
        routed: RoutedPhase,
        part: OnlinePart | None = None,
        loose: Collection[set[int]] = (),
    ) -> Operator:
        """What closes the phase, over all that later phases with its wires join."""
        joined = chain.from_iterable(self.joined.get(self.structure.phases.index(phase), {}).values())
        return closing_barrier(phase, routed, joined, part, loose)

    def _collisions(self, planned: list[PlannedPhase]) -> list[tuple[int, int, Link]]:
        return collisions(planned, self.structure, aliased_handshake=self.shape.aliased_handshake)

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
        cycles = 0.0
        for one, rounds in zip(operators, phase.rounds, strict=True):
            operator = one.operator
            # Streams of one word a period, with which nodes only meet, do not count.
            words = [routed.words(s) for s in one.streams if routed.streams[s].max_words is None]
            gap = routed.period / min(words) if words else 1.0
            lanes = max((_side_by_side(draft) for drafts in one.roles.values() for draft in drafts), default=1)
            metric = one.implementation.metric(operator, self.context)
            assert metric is not None
            word = max(gap, lanes, 1 / metric.words_per_cycle)
            latency = metric.latency
            if part is not None and operator.label in part.own:
                gap = part.gap(operator.label, routed)
                word, latency = max(word, gap), latency + part.hops(operator.label) * gap
            cycles += rounds * operator.c * (operator.m * word + latency)
            cycles += rounds * metric.reload_words * 4 / rounds_between_values(operator)
            if technique == "msg-sync" and one.delays:
                worst = [max(d[v] for d in one.delays.values()) for v in range(len(one.values))]
                cycles += phase.exits * sum(worst) / len(worst)
        if isinstance(barrier, Hijacked):
            cycles += phase.exits * (barrier.cycles + settle)
            barrier = barrier.planned
        elif barrier is not None:
            cycles += phase.exits * (self._barrier_cycles(barrier.operator) + settle)
        if technique != "none":
            cycles += phase.exits * (command_gap(routed) / 2 + 6)
        wiring = Wiring(routed)
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
            cycles,
        )


def _side_by_side(draft: RoleDraft) -> int:
    """Most lanes that move in one step of one call."""
    return max(Counter((lane.turn, lane.step) for lane in draft.lanes if lane.turn != SYNC).values(), default=1)


def _product(numbers: Iterable[int]) -> int:
    result = 1
    for number in numbers:
        result *= number
    return result
