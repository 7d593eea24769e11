"""Plan: phases with their implementations, routes, roles and ends; numbers of hardware resources are left to the targets."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from numesh.shape import NodeShape
from pointsman.artifacts.images.images import Technique
from pointsman.network import Topology
from pointsman.operators import Implementation, RoleDraft, Wiring
from pointsman.operators.api.loading import Loading
from pointsman.program.program import Instance, Operator, Program
from pointsman.routing.online.channels import OnlineNetwork, Pair
from pointsman.routing.online.overlays import BurstLoad
from pointsman.routing.streams import RoutedPhase, Stream

from .structure.structure import Structure

ONLINE_KIND = "online"
"""Kind of the operator that stands for online streams; no program can write it."""


class LazyRoles(Mapping[int, tuple[RoleDraft, ...]]):
    """Roles by node, worked out on first use, because most plans are dropped before anybody asks for their roles.

    Parameters
    ----------
    states : int
        Number of roles of a node: values times stages.
    make : callable
        (node, state) -> role of the node in that state.
    like : callable
        node -> a node that has the same roles but for its place in the network, or the node itself.
    make_all : callable or None
        node -> its roles in all states, if they can be made without asking for each state; else None.
    """

    def __init__(
        self,
        nodes: Collection[int],
        states: int,
        make: Callable[[int, int], RoleDraft],
        like: Callable[[int], int] = lambda node: node,
        make_all: Callable[[int], list[RoleDraft] | None] | None = None,
    ) -> None:
        self._nodes = tuple(sorted(nodes))
        self._set = frozenset(nodes)
        self._make, self._make_all = make, make_all
        self.like = like
        self._states = states
        self._made: dict[tuple[int, int], RoleDraft] = {}
        self._whole: dict[int, tuple[RoleDraft, ...]] = {}

    def role(self, node: int, state: int) -> RoleDraft:
        """Role of a node in a state: index of the value x stages + stage."""
        key = node, state
        if key not in self._made:
            if node not in self._set:
                raise KeyError(node)
            self._made[key] = self._make(node, state)
        return self._made[key]

    def __getitem__(self, node: int) -> tuple[RoleDraft, ...]:
        if node not in self._whole:
            self._whole[node] = tuple(self.states(node))
        return self._whole[node]

    def states(self, node: int) -> list[RoleDraft]:
        """Roles of a node in all states. Not kept: there may be very many, of few different roles."""
        if node not in self._set:
            raise KeyError(node)
        # A single role has been made before, as a rule.
        found = None if self._make_all is None or self._states == 1 else self._make_all(node)
        return [self.role(node, state) for state in range(self._states)] if found is None else found

    def __contains__(self, node: object) -> bool:
        return node in self._set

    def __iter__(self) -> Iterator[int]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def distinct(self) -> Iterator[tuple[RoleDraft, ...]]:
        """Roles of one node of each group that `like` puts together; all other nodes' roles are these, moved."""
        return (self[node] for node in self._nodes if self.like(node) == node)


@dataclass(frozen=True)
class PlannedOperator:
    """An operator with its implementation and what every node does in it.

    ``roles`` maps a node to its roles, one for each of ``values`` and stage; ``delays`` maps a node to cycles for each
    of ``values``, for message-bound operators.
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
    """Roles for each value: see `pointsman.artifacts.images.images.OperatorImage.stages`."""
    drain: int = 0
    """Cycles that words may still be on their way when all readers have what they wait for."""
    abreast: int = 1
    """Most lanes that a processor moves in one step of a call."""
    clear: bool = False
    """Processor-bound: when its I/O function returns, no word of it is in the node's router, nor will come (§5.2.1)."""
    silent: frozenset[int] = frozenset()
    """Nodes that move no word for some value: they learn nothing of others by this operator, nor others of them."""

    @property
    def distinct_roles(self) -> Iterable[tuple[RoleDraft, ...]]:
        """Roles of nodes such that all other nodes have one of these, moved; see `LazyRoles.distinct`."""
        return self.roles.distinct() if isinstance(self.roles, LazyRoles) else self.roles.values()

    def role(self, node: int, state: int) -> RoleDraft:
        """Role of a node in a state: index of the value x stages + stage."""
        return self.roles.role(node, state) if isinstance(self.roles, LazyRoles) else self.roles[node][state]

    def states(self, node: int) -> Sequence[RoleDraft]:
        """Roles of a node in all states."""
        return self.roles.states(node) if isinstance(self.roles, LazyRoles) else self.roles[node]

    def like(self, node: int) -> int:
        """A node that has the same roles but for its place in the network, or the node itself."""
        return self.roles.like(node) if isinstance(self.roles, LazyRoles) else node


@dataclass(frozen=True)
class OnlinePart:
    """The online streams of a phase, which carry operators that are done by messages (`pointsman.plan.online`)."""

    name: str
    network: OnlineNetwork
    streams: tuple[Stream, ...]
    own: Mapping[str, tuple[Pair, ...]]
    """By label of an operator, the pairs of nodes between which its messages may go."""
    loads: Mapping[str, BurstLoad]
    """By label, where its messages go; absent: an operator that sends none."""

    @property
    def operator(self) -> Operator:
        nodes = tuple(sorted(self.network.nodes))
        return Operator(self.name, ONLINE_KIND, (Instance(nodes, ()),))

    def channels(self, label: str) -> frozenset[int]:
        """Channels that messages of an operator may take."""
        return frozenset(channel for pair in self.own[label] for channel in self.network.way(*pair))

    def hops(self, label: str) -> int:
        """Channels on the longest way that a message of an operator takes."""
        return max((len(self.network.way(*pair)) for pair in self.own[label]), default=0)

    def bandwidth(self, label: str, routed: RoutedPhase) -> float:
        """Words a cycle for an operator: those of the slowest channel that its messages may take (§4.2.2)."""
        return min(self._bandwidths(label, routed).values(), default=0.0)

    def _bandwidths(self, label: str, routed: RoutedPhase) -> dict[int, float]:
        """By channel that messages of an operator may take, its words a cycle."""
        index = {stream.name: i for i, stream in enumerate(routed.streams)}
        return {c: routed.bandwidth(index[self.streams[c].name]) for c in self.channels(label)}

    def gap(self, label: str, routed: RoutedPhase) -> float:
        """Cycles from word to word on the slowest channel of an operator; 0 if it has no channel."""
        words = self.bandwidth(label, routed)
        return 1 / words if words else 0.0

    def crowd(self, label: str, routed: RoutedPhase) -> float:
        """Cycles for each word of a message that the busiest processor or the fullest channel takes for all messages that an
        operator has under way at once."""
        load = self.loads.get(label)
        if load is None:
            return 0.0
        bandwidths = self._bandwidths(label, routed)
        return max(load.served, *(words / bandwidths[channel] for channel, words in load.carried.items()))


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
    """Nodes that have a part in the phase: members of its operators, and nodes whose routers carry their words."""
    online: PlannedOperator | None
    """The operator that stands for the phase's online streams."""
    part: OnlinePart | None
    """The online streams and which operators use them."""
    settle: int
    """Cycles to wait after leaving the phase until all neighbours have left it too (techniques "barrier" and "hijack")."""
    cycles: float
    """Predicted cycles of the phase over the whole program, for choosing among plans."""
    changing: float = 0.0
    """Share of ``cycles`` that goes into changes to another phase."""
    exits: float = 0.0
    """How often a node leaves the phase during the program, about."""
    settles: frozenset[int] | None = None
    """Phases before which a node waits until all neighbours have left this phase; None: whichever phase comes next."""

    def has_loading(self, loading: Loading) -> bool:
        """Is there an operator of the phase whose calls are loaded this way?"""
        return any(one.implementation.loading is loading for one in self.operators)

    @cached_property
    def loose(self) -> frozenset[int]:
        """Nodes that leave the phase without meeting in a barrier: they may stay in it while a neighbour has long left."""
        if self.technique == "none":
            return frozenset()
        met = self.barrier.operator.nodes if self.barrier is not None else frozenset()
        return self.nodes - met


@dataclass(frozen=True)
class Leaving:
    """By index of a phase, nodes that go through its barrier although they do not go on to another phase: between two
    uses of the phase, or at the end of the program."""

    between_uses: Mapping[int, frozenset[int]]
    at_end: Mapping[int, frozenset[int]]


@dataclass(frozen=True)
class Continuing:
    """An operator that continues over several phases (§5.1). ``planned`` holds it as if it were a phase of its own that
    nobody ever leaves; no other operator gets its registers and VFSMs. ``planned.routed`` has the slots of its first
    route, which it keeps in all of its phases; all slots that it has in phase p are in
    ``Plan.phases[p].routed.beside``, which is in the order of ``Plan.beside(p)``."""

    planned: PlannedPhase
    phases: tuple[int, ...]
    ends: tuple[int, ...]
    """The phases of ``phases`` after which the operator may be over."""
    enters: Mapping[int, int]
    """By node, the phase that its load function enters from outside."""

    @property
    def operator(self) -> PlannedOperator:
        return self.planned.operators[0]


@dataclass(frozen=True)
class ReplacedOperator:
    """An operator of the program and the operators that do its work in its place."""

    operator: Operator
    implementation: str
    parts: tuple[str, ...]
    """Labels of the operators in its place."""
    bound: bool = False
    """Must these be message-bound?"""


@dataclass(frozen=True)
class Considered:
    """A candidate of the planner, for reports: labels of the operators of each phase, and the schedule length in slots.
    ``estimate``: cycles before routing; ``cycles``: cycles of its plan (None: not planned to the end); ``outcome``:
    "chosen", or why it is not the plan."""

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
    """The program as planned, with other operators in the place of those in ``replaced``."""
    shape: NodeShape
    period: int
    structure: Structure
    phases: tuple[PlannedPhase, ...]
    leaving: Leaving
    """Nodes that leave a phase without going on to another."""
    replaced: tuple[ReplacedOperator, ...] = ()
    """Operators of the program whose work others do."""
    considered: tuple[Considered, ...] = ()
    """All candidates of the planner, the most promising first."""
    gap: float = 0.0
    """Share of the search's estimate, from 0 to 1, by which a better division could still be quicker: 0 if it searched all."""
    total: float | None = None
    """Predicted cycles of the slowest node, if the plan has been played (`pointsman.plan.timeline`)."""

    continuing: tuple[Continuing, ...] = ()
    """Operators that continue over several phases; ``phases`` do not list them."""

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
        """By phase, the nodes that come to it: those with a part in it, and those that enter it to use a continuing operator."""
        return [
            phase.nodes | {n for one in self.continuing for n, entered in one.enters.items() if entered == p}
            for p, phase in enumerate(self.phases)
        ]
