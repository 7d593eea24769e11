"""Input of every step that plans a candidate (`PlanContext`), and results that all candidates of a program share (`PlanMemo`).

A context is made once for a division into phases and a schedule length, handed from step to step, and never changed. The
constraints that phases put on each other change while they are planned: they are in `pointsman.plan.phases.constraints`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from numesh.shape import NodeShape
from pointsman.operators import Context, Implementation, Wiring
from pointsman.operators.api.cached import streams_of
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.operands import is_settled
from pointsman.program.program import Group, Instance, Operator, Program
from pointsman.routing.errors import RoutingError
from pointsman.routing.streams import RoutedPhase, Stream

from .analysis import ProgramAnalysis
from .conflicts.link_slots import Link
from .cost.call_attributes import limit
from .cost.schedule_lengths import longest
from .plan import OnlinePart, PlannedOperator, ReplacedOperator
from .structure.structure import Structure
from .termination.hijack import Hijacked
from .work import Work

ROUTING = 0.3
"""Effort of the router for a plan whose own effort is 1."""


class RouteKey(NamedTuple):
    """What the routes of a phase depend on, within one call of `pointsman.plan.make_plan.make_plan`."""

    seed: int
    period: int
    streams: tuple[Stream, ...]
    taken: frozenset[Link] = frozenset()
    """Links and slots to leave alone."""
    beside: tuple[RoutedPhase, ...] = ()
    """Routes of operators that continue through the phase."""
    freed: tuple[tuple[str, frozenset[Link]], ...] = ()
    """By name of a stream, links and slots of ``taken`` that it may use all the same."""


class OperatorsKey(NamedTuple):
    """What the operators of a phase are planned from, besides its routes."""

    value: tuple[int, ...] | None
    """`PhaseOutline.value`: the run-time values that the phase is for, if its operators have a schedule for each."""
    implementations: tuple[Implementation, ...]
    labels: tuple[str, ...]


class CrowdedKey(NamedTuple):
    """A phase whose operators are done by ``implementations``, whatever its schedule length; ``plain``, ``narrow``: how messages
    go (`ChoiceLimits`)."""

    operators: tuple[Operator, ...]
    value: tuple[int, ...] | None
    implementations: tuple[Implementation, ...]
    plain: bool
    narrow: bool


class RefusedKey(NamedTuple):
    """A phase by which a candidate was refused, with the seed of the router."""

    labels: tuple[str, ...]
    chosen: tuple[str | None, ...]
    """By operator, the implementation that the candidate chooses for it."""
    value: tuple[int, ...] | None
    period: int
    seed: int


class ClosingKey(NamedTuple):
    """What the end of a phase is planned from, besides its routes."""

    label: str
    instances: tuple[Instance, ...]
    """Sets of nodes that meet."""
    implementations: tuple[Implementation, ...] = ()
    """Implementations of the operators whose streams are hijacked."""
    closing: int = 0
    """`PlanContext.closing`."""


class OnlineKey(NamedTuple):
    """What the online streams of a phase depend on, within one call of `pointsman.plan.make_plan.make_plan`."""

    operators: tuple[Operator, ...]
    rounds: tuple[float, ...]
    implementations: tuple[Implementation | None, ...]
    """None: the operator is not done by messages."""
    home: Group | None
    """The group of the program around them, if there is one (`pointsman.plan.online.home_of`)."""
    plain: bool
    """Only channels to all neighbours."""
    period: int
    narrow: bool


@dataclass(frozen=True, eq=False)
class PhaseRoute:
    """The routes of a phase, with a cache of what was planned on them: a phase whose wires collide with those of others
    is planned again and again, mostly on routes that it had before."""

    routed: RoutedPhase
    operators: dict[OperatorsKey, tuple[PlannedOperator, ...] | None] = field(default_factory=dict)
    """None: these implementations cannot be used safely."""
    hijacked: dict[ClosingKey, Hijacked | None] = field(default_factory=dict)
    """None: no streams of the phase can stand for its barrier."""
    barriers: dict[ClosingKey, PlannedOperator] = field(default_factory=dict)

    @cached_property
    def wiring(self) -> Wiring:
        return Wiring(self.routed)


@dataclass(frozen=True, eq=False)
class PlanMemo:
    """Routes found so far for a program, its node shape and the router's effort."""

    routes: dict[RouteKey, PhaseRoute | RoutingError] = field(default_factory=dict)
    """Refusals are kept, too."""
    online: dict[OnlineKey, OnlinePart | None] = field(default_factory=dict)
    """Online streams of phases, before they are routed."""
    homes: dict[tuple[Operator, ...], Group | None] = field(default_factory=dict)
    """By the operators of a phase, `pointsman.plan.online.home_of`."""
    barriers: dict[ClosingKey, list[Stream]] = field(default_factory=dict)
    """Streams of the barriers that close phases."""
    crowded: dict[CrowdedKey, tuple[int, RoutingError]] = field(default_factory=dict)
    """Phases that need a barrier for which the nodes have too few interface registers: the shortest schedule with which that was
    found, and why."""
    refused: set[RefusedKey] = field(default_factory=set)
    """Phases that could not be planned: most likely they cannot be in another division either, and so are looked at first."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PlanContext:
    """A division of a program into phases, with a schedule length, that is to be planned.

    Parameters
    ----------
    analysis : ProgramAnalysis
        The analysed program, in which replaced operators have given way to others.
    replaced : tuple of ReplacedOperator
        The replaced operators.
    structure : Structure
        The division.
    period : int
        Slots of each schedule.
    seed : int
        Seed of the router.
    express : int
        See `pointsman.plan.options.PlanOptions`.
    effort : float
        Factor on the work to spend; 1.0 is usual.
    asked : bool
        Did the user ask for this schedule length?
    fallbacks : bool
        May processors pass on messages where nothing else can be done?
    closing : int
        How barriers that close phases are done where there is room: index in `termination.closing_barrier.CLOSING`.
    memo : PlanMemo
        Shared with the other divisions and schedule lengths of the program.
    work : Work
        Shared likewise: how much may be tried.
    """

    analysis: ProgramAnalysis
    structure: Structure
    period: int
    replaced: tuple[ReplacedOperator, ...] = ()
    seed: int = 0
    express: int = 0
    effort: float = 1.0
    asked: bool = False
    fallbacks: bool = True
    closing: int = 0
    memo: PlanMemo = field(default_factory=PlanMemo)
    work: Work = field(default_factory=Work)

    def refused_key(self, index: int) -> RefusedKey:
        phase = self.structure.phases[index]
        labels = tuple(operator.label for operator in phase.operators)
        chosen = tuple(self.analysis.chosen.get(label) for label in labels)
        return RefusedKey(labels, chosen, phase.value, self.period, self.seed)

    @property
    def program(self) -> Program:
        return self.analysis.program

    @property
    def shape(self) -> NodeShape:
        return self.analysis.context.shape

    @property
    def surroundings(self) -> Context:
        """The network and node, in the form that implementations take."""
        return self.analysis.context

    @cached_property
    def bound(self) -> frozenset[str]:
        """Labels of operators that must be message-bound, because of what they replace."""
        return frozenset(label for one in self.replaced if one.bound for label in one.parts)

    @property
    def routing_effort(self) -> float:
        return ROUTING * self.effort

    def able(self, operator: Operator, *, fallbacks: bool = False) -> list[tuple[float, Implementation]]:
        """(cycles of a message, implementation) for implementations that can do an operator in this division; with
        ``fallbacks`` only those by messages, if it has any."""
        known = self.analysis.feasible(operator, fallbacks=fallbacks)
        found = [(c, i) for c, i in known if i.loading is not Loading.SUBPHASES or self._has_room(operator, i)]
        if not is_settled(operator):
            found = [pair for pair in found if pair[1].loading is not Loading.PER_VALUE]
        found = [pair for pair in found if not self._too_short(operator, pair[1])]
        if not found:
            known = self.analysis.feasible(operator, fallbacks=True)
            found = [pair for pair in known if pair[1].loading is Loading.ONLINE]
        return [pair for pair in found if pair[1].loading is Loading.ONLINE] or found if fallbacks else found

    def _too_short(self, operator: Operator, implementation: Implementation) -> bool:
        """Has the schedule fewer slots than the implementation needs? An implementation that the program names is taken in the
        longest schedule that the memory holds, and in the schedule that the user asks for."""
        needed = implementation.least_period(operator, self.surroundings)
        if operator.impl == implementation.name:
            needed = 2 if self.asked else min(needed, longest(self.structure, self.shape))
        return needed > self.period

    def _has_room(self, operator: Operator, implementation: Implementation) -> bool:
        """Has the schedule memory room for a second schedule of every phase? If the program names the implementation,
        this is not asked: a plan that does not fit is refused (``memory.capacity``)."""
        blocks = self.shape.schedule_depth // self.period - 1
        return operator.impl == implementation.name or 2 * len(self.structure.phases) <= blocks

    def streams(self, operator: Operator, implementation: Implementation) -> list[Stream]:
        """Streams of an operator, with no more words a period than it may use."""
        return streams_of(
            implementation, operator, self.surroundings, limit(operator, self.period, implementation.messages(operator))
        )
