"""How phases end that are routed: each for itself, by messages, over streams of their own, or with a barrier.

A draft is a phase routed without a barrier; where it needs one it is routed again with it. Who joins the barrier besides is told
from outside (``planner``). Gives planned phases with what they are predicted to take (Metcalf 1997, §6.2.5). Leaves alone: which
implementations do the operators (``phase_planner``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from itertools import chain

from pointsman.artifacts.images.images import Technique
from pointsman.operators.scheduled.barrier import StrBarrierTree
from pointsman.plan.continuing.operators import ends_of
from pointsman.plan.cost.equations import barrier_cycles
from pointsman.plan.cost.routed_cycles import leaving_cycles, operator_cycles
from pointsman.plan.online import OnlinePart, stands_for
from pointsman.plan.plan import PlannedOperator, PlannedPhase
from pointsman.plan.roles.roles import plan_operator
from pointsman.plan.structure.structure import PhaseOutline
from pointsman.plan.termination.closing_barrier import (
    change_cycles,
    closing_barrier,
    parts_of,
    phase_name,
    phase_nodes,
    settle_cycles,
)
from pointsman.plan.termination.drain import with_drain_delays
from pointsman.plan.termination.hijack import Hijacked, hijack
from pointsman.plan.termination.techniques import leaves_nothing, why_not_loose
from pointsman.program.program import Operator
from pointsman.routing.errors import RoutingError
from pointsman.routing.streams import RoutedPhase

from .routes import PhaseRoutes, hops_of, wiring_of

WIDENED = 8
"""Sets of nodes by which a barrier grows at most because words go other ways when it is routed."""
MASKED = 64
"""Cycles more until a node leaves a phase when the word that lets it go finds its processor serving messages
(`pointsman.runtime.numesh.online_agent`): what a handler that is told to stop still does, with a header from each of
four neighbours."""
HIJACKED = 1.5
"""Streams of the phase close it if they take at most this times what a barrier of its own would, which takes slots away."""


@dataclass(frozen=True)
class Draft:
    """A phase routed without a barrier. ``reason``: why it needs one, if it does."""

    phase: PlannedPhase
    reason: str | None
    least_cycles: float
    spans: list[range]
    part: OnlinePart | None = None
    """Its online streams; their span is the last one."""
    loose: tuple[set[int], ...] = ()
    """Partitions that its barrier leaves out."""


class PhaseEnds(PhaseRoutes):
    """Ends the phases of one candidate, each for itself."""

    def _ended(
        self,
        index: int,
        planned: tuple[PlannedOperator, ...],
        routed: RoutedPhase,
        spans: list[range],
        online: OnlinePart | None,
        barrier_reason: str | None,
    ) -> Draft:
        """How a phase may end that is routed without a barrier. ``online``: what its online streams carry.

        Raises
        ------
        RoutingError
            If it cannot be used safely.
        """
        phase = self.structure.phases[index]
        nodes = phase_nodes(phase, routed)

        def closed(technique: Technique, reason: str) -> PlannedPhase:
            return self._closed(phase, planned, None, routed, nodes, technique, reason, 0, online)

        if online is not None and online.streams:
            why = "processors pass on messages until nobody needs them"
            ending = closed("none", why)
            least = ending.cycles + phase.exits * self._barrier_cycles(self._barrier(phase, routed, online))
            return Draft(ending, why, least, spans, online)
        messages = self._messages(index)
        if messages and any(one.values != ((),) or one.stages > 1 for one in planned):
            raise RoutingError(
                f"load functions of '{phase_name(phase)}' rewrite the router, and messages interrupt nodes"
            )
        successors = self.structure.successors[index]
        if not any(s >= 0 and s != index for s in successors) and not (messages and barrier_reason):
            ending = closed("none", "no phase follows")
            return Draft(ending, None, ending.cycles, spans)
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
            return Draft(ending, None, ending.cycles, spans)
        loose = [part for part, why in zip(parts, why_not, strict=True) if why is None]
        barrier = self._barrier(phase, routed, None, loose)
        if not barrier.instances:
            ending = closed("msg-sync", "no word leaves its node")
            return Draft(ending, None, ending.cycles, spans)
        # Whether threads may send in the next phase is proven with barriers that have streams of their own.
        apart = self.structure.threads is not None or bool(self._beside(index))
        implementations = tuple(one.implementation for one in planned)
        key = "hijack", id(routed), implementations, barrier.instances, apart
        if key not in self.known:
            self.known[key] = None if apart else hijack(barrier, planned, routed, wiring_of(routed))
        found: Hijacked | None = self.known[key]
        if found is not None and found.cycles <= HIJACKED * self._barrier_cycles(barrier):
            why = f"{reason}; {found.words} words over streams of the phase tell that all are done"
            ending = self._closed(
                phase, planned, found, routed, nodes, "hijack", why, found.spread + change_cycles(routed)
            )
            return Draft(ending, None, ending.cycles, spans)
        ending = closed("none", reason)
        least = ending.cycles + phase.exits * self._barrier_cycles(barrier)
        return Draft(ending, reason, least, spans, loose=tuple(loose))

    def _last(self, index: int) -> frozenset[str] | None:
        """Operators of a phase after which a node may leave it; None: any."""
        last = self.structure.last
        return last[index] if last else None

    def _with_barrier(
        self, phase: PhaseOutline, draft: Draft, wider: tuple[frozenset[int], ...] = ()
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
        routed = self._route(index, streams + own, hops_of(draft.part, draft.spans, len(streams)), before.routed)
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
        closing = with_drain_delays(closing, (*planned, *over), wiring_of(routed), span)
        nodes = phase_nodes(phase, routed) | barrier.nodes
        settle = settle_cycles(routed, span) + (MASKED if self._messages(index) else 0)
        return self._closed(
            phase, planned, closing, routed, nodes, "barrier", draft.reason, settle, draft.part, draft.spans[-1]
        )

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
        joined = chain.from_iterable(filter(None, self.joined.get(index, {}).values()))
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
