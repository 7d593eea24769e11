"""Plan: phases with their implementations, routes, roles and ends, everything but numbers of hardware resources."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Technique
from pointsman.network import Topology
from pointsman.operators import Implementation, RoleDraft, Wiring
from pointsman.operators.api.loading import Loading
from pointsman.program.program import Instance, Operator, Program
from pointsman.routing.online.channels import OnlineNetwork, Pair
from pointsman.routing.streams import RoutedPhase, Stream

from .structure.structure import Structure

ONLINE_KIND = "online"
"""Kind of the operator that stands for online streams; no program can write it."""


class LazyRoles(Mapping[int, tuple[RoleDraft, ...]]):
    """By node its roles, worked out when somebody looks: most plans are dropped before.

    Parameters
    ----------
    states : int
        Roles of a node: one for each value and stage.
    make : callable
        The role of a node in a state.
    like : callable
        A node whose roles are those of this one moved, or the node itself.
    """

    def __init__(
        self,
        nodes: Collection[int],
        states: int,
        make: Callable[[int, int], RoleDraft],
        like: Callable[[int], int] = lambda node: node,
    ) -> None:
        self._nodes = tuple(sorted(nodes))
        self._set = frozenset(nodes)
        self._make = make
        self.like = like
        self._states = states
        self._made: dict[tuple[int, int], RoleDraft] = {}
        self._whole: dict[int, tuple[RoleDraft, ...]] = {}

    def role(self, node: int, state: int) -> RoleDraft:
        """The role of a node in one state."""
        key = node, state
        if key not in self._made:
            if node not in self._set:
                raise KeyError(node)
            self._made[key] = self._make(node, state)
        return self._made[key]

    def __getitem__(self, node: int) -> tuple[RoleDraft, ...]:
        if node not in self._whole:
            self._whole[node] = tuple(self.role(node, state) for state in range(self._states))
        return self._whole[node]

    def __contains__(self, node: object) -> bool:
        return node in self._set

    def __iter__(self) -> Iterator[int]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def distinct(self) -> Iterator[tuple[RoleDraft, ...]]:
        """Roles of which all others are moved."""
        return (self[node] for node in self._nodes if self.like(node) == node)


@dataclass(frozen=True)
class PlannedOperator:
    """An operator with its implementation and what every node does in it.

    ``roles`` maps a node to its roles, one for each of ``values`` and stage; ``delays`` likewise to cycles, for message-bound
    operators; ``instance_of`` a node to the instances that it takes part in.
    """

    operator: Operator
    implementation: Implementation
    values: tuple[tuple[int, ...], ...]
    roles: Mapping[int, tuple[RoleDraft, ...]]
    delays: Mapping[int, tuple[int, ...]]
    message_bound: bool
    streams: tuple[int, ...]
    """Indices into the routed phase's streams."""
    stages: int = 1
    """Roles and values times this: see `pointsman.artifacts.images.images.OperatorImage.stages`."""
    drain: int = 0
    """Cycles that words may still be on their way when all readers have what they wait for."""
    abreast: int = 1
    """Most lanes that a processor moves in one step of a call."""
    clear: bool = False
    """Processor-bound: when its I/O function returns, nothing of it is left in the node's router, nor will come (§5.2.1)."""
    silent: frozenset[int] = frozenset()
    """Nodes that move no word for some value, so that its end tells nothing of them, nor they of others."""

    @property
    def distinct_roles(self) -> Iterable[tuple[RoleDraft, ...]]:
        """Roles of nodes of which all others' are moved."""
        return self.roles.distinct() if isinstance(self.roles, LazyRoles) else self.roles.values()

    def role(self, node: int, state: int) -> RoleDraft:
        """What a node does in a state: a value and a stage."""
        return self.roles.role(node, state) if isinstance(self.roles, LazyRoles) else self.roles[node][state]

    def like(self, node: int) -> int:
        """A node whose roles are those of this one moved, or the node itself."""
        return self.roles.like(node) if isinstance(self.roles, LazyRoles) else node


@dataclass(frozen=True)
class OnlinePart:
    """What a phase needs for operators that are done by messages: its online streams (`pointsman.plan.online`)."""

    name: str
    network: OnlineNetwork
    streams: tuple[Stream, ...]
    own: Mapping[str, tuple[Pair, ...]]
    """By label of an operator: pairs between which its messages may go."""

    @property
    def operator(self) -> Operator:
        nodes = tuple(sorted(self.network.nodes))
        return Operator(self.name, ONLINE_KIND, (Instance(nodes, ()),))

    def channels(self, label: str) -> frozenset[int]:
        """Channels that messages of an operator may take."""
        return frozenset(channel for pair in self.own[label] for channel in self.network.way(*pair))

    def hops(self, label: str) -> int:
        """Channels on the longest way of one of its messages."""
        return max((len(self.network.way(*pair)) for pair in self.own[label]), default=0)

    def bandwidth(self, label: str, routed: RoutedPhase) -> float:
        """Words a cycle for an operator: the least over all channels that its messages may take (§4.2.2)."""
        index = {stream.name: i for i, stream in enumerate(routed.streams)}
        return min((routed.bandwidth(index[self.streams[c].name]) for c in self.channels(label)), default=0.0)

    def gap(self, label: str, routed: RoutedPhase) -> float:
        """Cycles from one word to the next on the slowest of its channels."""
        words = self.bandwidth(label, routed)
        return 1 / words if words else 0.0


@dataclass(frozen=True)
class PlannedPhase:
    """A phase, routed and closed."""

    name: str
    operators: tuple[PlannedOperator, ...]
    barrier: PlannedOperator | None
    """The operator that closes the phase, for the techniques "barrier" and "hijack"."""
    routed: RoutedPhase
    wiring: Wiring
    technique: Technique
    reason: str
    nodes: frozenset[int]
    """Nodes that have a part in it: members of its operators, and nodes whose routers carry their words."""
    online: PlannedOperator | None
    """The operator that stands for the phase's online streams."""
    part: OnlinePart | None
    """What these streams carry."""
    settle: int
    """Cycles to wait after leaving it until all neighbours have left it too (techniques "barrier" and "hijack")."""
    cycles: float
    """Predicted cycles over the whole program, for choosing among plans."""
    changing: float = 0.0
    """Those of them for going on to another phase."""
    exits: float = 0.0
    """How often a node leaves it, about."""
    settles: frozenset[int] | None = None
    """Phases before which a node waits until all neighbours have left this one; None: every one that comes next."""

    def has_loading(self, loading: Loading) -> bool:
        """Is there an operator whose calls are loaded so?"""
        return any(one.implementation.loading is loading for one in self.operators)

    @cached_property
    def loose(self) -> frozenset[int]:
        """Nodes that leave it each for itself, so that a neighbour may stay in it for any time."""
        if self.technique == "none":
            return frozenset()
        met = self.barrier.operator.nodes if self.barrier is not None else frozenset()
        return self.nodes - met


@dataclass(frozen=True)
class Leaving:
    """By number of phase, nodes that go through its barrier besides those that go on to another phase."""

    between_uses: Mapping[int, frozenset[int]]
    at_end: Mapping[int, frozenset[int]]


@dataclass(frozen=True)
class Continuing:
    """An operator that continues over several phases (§5.1). ``planned``: as if it were a phase of its own that nobody ever
    leaves; its registers and VFSMs are nobody else's. ``planned.routed`` has the slots of its first route, which it has in all of
    its phases; those of phase p are in what stands beside ``Plan.phases[p].routed``, in the order of ``Plan.beside(p)``."""

    planned: PlannedPhase
    phases: tuple[int, ...]
    ends: tuple[int, ...]
    """Those of them after which it may be over."""
    enters: Mapping[int, int]
    """By node, the phase that its load function enters from outside."""

    @property
    def operator(self) -> PlannedOperator:
        return self.planned.operators[0]


@dataclass(frozen=True)
class ReplacedOperator:
    """An operator of the program and those that do it."""

    operator: Operator
    implementation: str
    parts: tuple[str, ...]
    """Labels."""
    bound: bool = False
    """Its parts must be message-bound."""


@dataclass(frozen=True)
class Considered:
    """A way that the planner thought of: which operators share phases, and the schedule length. ``estimate`` is what it
    promised, ``cycles`` what it takes by its routes (None: not routed, or not to the end), ``outcome`` why it is not the plan."""

    phases: tuple[tuple[str, ...], ...]
    period: int
    estimate: float
    cycles: float | None
    outcome: str


@dataclass(frozen=True)
class Plan:
    """A program's phases on one network."""

    name: str
    program: Program
    """As it is planned: with operators in the place of those that are replaced."""
    shape: NodeShape
    period: int
    structure: Structure
    phases: tuple[PlannedPhase, ...]
    leaving: Leaving
    """Who leaves a phase without going on to another."""
    replaced: tuple[ReplacedOperator, ...] = ()
    """Operators of the program that others do in their place."""
    considered: tuple[Considered, ...] = ()
    """All ways that were thought of, the most promising first."""
    gap: float = 0.0
    """How much of the estimate of the search may be too much, from 0 to 1: 0 if it came to its end."""
    total: float | None = None
    """Predicted cycles of the slowest node, if the plan has been played (`pointsman.plan.timeline`)."""

    continuing: tuple[Continuing, ...] = ()
    """Operators that are in several phases, and in none of ``phases``."""

    @property
    def parameters(self) -> tuple[tuple[str, int], ...]:
        return self.program.parameters

    @property
    def topology(self) -> Topology:
        return self.program.topology

    @property
    def cycles(self) -> float:
        """Predicted cycles of the whole program."""
        if self.total is not None:
            return self.total
        return sum(phase.cycles for phase in (*self.phases, *(one.planned for one in self.continuing)))

    def beside(self, phase: int) -> tuple[Continuing, ...]:
        """Operators that continue through a phase."""
        return tuple(one for one in self.continuing if phase in one.phases)

    def members(self) -> list[frozenset[int]]:
        """By phase, the nodes that come to it."""
        return [
            phase.nodes | {n for one in self.continuing for n, entered in one.enters.items() if entered == p}
            for p, phase in enumerate(self.phases)
        ]
