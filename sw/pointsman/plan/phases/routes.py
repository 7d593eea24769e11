"""The routes of one candidate's phases, and the operators on them.

What a phase has to leave alone is told from outside (``planner``): wires of other phases, what continues beside it. Routes that
were asked for before are kept, refusals too. Leaves alone: which implementations, and how phases end (``phase_planner``,
``phase_ends``).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

from numesh.shape import NodeShape
from pointsman.operators import Context, Implementation, Wiring
from pointsman.plan.candidates.candidates import Candidate
from pointsman.plan.conflicts.freed_links import Freed
from pointsman.plan.conflicts.link_slots import Link, cached_on_phase
from pointsman.plan.continuing.routes import Made
from pointsman.plan.memory.capacity import refuse_overfull_phase
from pointsman.plan.online import OnlinePart
from pointsman.plan.plan import PlannedOperator
from pointsman.plan.roles.roles import plan_operator
from pointsman.plan.structure.structure import PhaseOutline
from pointsman.routing.errors import RoutingError
from pointsman.routing.online.frames import route_frames
from pointsman.routing.phase_router.router import PhaseConditions, route_phase
from pointsman.routing.streams import RoutedPhase, Stream
from pointsman.routing.subphases import with_subphases

ROUTING = 0.3
"""Effort of the router for a plan."""

Routes = dict[tuple[Hashable, ...], RoutedPhase | RoutingError]
"""By streams, schedule length, links to leave alone, what stands, and who may use which of these links."""


wiring_of = cached_on_phase(Wiring)


def hops_of(part: OnlinePart | None, spans: Sequence[range], streams: int) -> range:
    """The online streams of a phase that has no others (but a barrier later); with others they share in proportion."""
    return spans[-1] if part is not None and part.streams and len(spans[-1]) == streams else range(0)


class PhaseRoutes:
    """Routes the phases of one candidate, each for itself."""

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
        self.joined: dict[int, dict[int, list[set[int]] | None]] = {}
        """By phase and later phase whose wires collide with its own: which nodes hang together in the later one; None if others
        come between."""
        self.shared: dict[int, tuple[RoutedPhase, ...]] = {}
        """By phase, what continues through it, if not with its first slots."""
        self.continued: dict[int, frozenset[Link]] = {}
        """By phase, links and slots that these have in other phases."""
        self.taken: dict[int, dict[int, frozenset[Link]]] = {}
        """By phase and earlier phase, links and slots that it has to leave alone."""
        self.freed: dict[int, Freed] = {}
        """By phase, which of these some of its operators may use."""

    def _messages(self, index: int) -> bool:
        """Do messages of an operator that continues pass through the phase?"""
        return any(alone.online is not None for through, alone in self.standing if index in through.phases)

    def _beside(self, index: int) -> tuple[RoutedPhase, ...]:
        return self.shared.get(index) or tuple(alone.routed for t, alone in self.standing if index in t.phases)

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
                    conditions=PhaseConditions(taken, dict(freed), beside, had),
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
