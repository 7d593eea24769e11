"""Base class of all operator implementations, with the six parts of Metcalf 1997, Table 4.1."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

from numesh.shape import NodeShape
from pointsman.network import Topology
from pointsman.operators.api.loading import Loading
from pointsman.operators.api.roles import RoleDraft, VfsmSetting
from pointsman.operators.api.wiring import Wiring
from pointsman.program.program import Operator
from pointsman.routing.streams import Stream


@dataclass(frozen=True)
class Context:
    """The network on which an operator is to run, and the sizes of its nodes' routers."""

    topology: Topology
    shape: NodeShape


@dataclass(frozen=True)
class Metric:
    """Estimated speed of an implementation (Metcalf 1997, §4.1.2), before anything is routed.

    ``words_per_cycle`` is the best rate that its streams could get; ``latency`` the cycles from the first word written to the
    first word at the farthest reader; ``reload_words`` the commands that a load with a new value sends to each router.
    """

    words_per_cycle: float
    latency: float
    reload_words: int = 0


class Implementation(ABC):
    """A way to do operators of some ``kinds``.

    ``metric`` says whether it can do an operator and how fast; ``replace`` names operators that do its work (None by default);
    ``streams`` lists the streams to route. Of the routed streams, ``gen_router`` lists the VFSMs that load functions rewrite,
    ``gen_io`` says what the processor writes and reads, and ``gen_load`` how the VFSMs are rewritten. `role` joins these three.
    """

    name: str
    kinds: tuple[str, ...]
    loading = Loading.LOCAL
    """What load functions do to the routers before the operator is used."""
    processor_bound = False
    """True: an I/O function returns only when the node's router has no more words of this operator to move (§5.2.1)."""
    traceable = True
    """True: the processors' lanes alone tell how far other nodes must have got (§5.2.1). False where words pass from one stream
    to another inside a router, or where processors do more than move messages."""
    one_way = False
    """True: in an instance a node only writes or only reads, in a single message, so it can do the other in another instance."""
    alone = False
    """True: the operator shares a phase with others only if its ``:impl`` names this implementation."""
    in_order = False
    """True: a function waits until other nodes have called theirs, so all nodes must come to the operator in the same order. It
    is not taken beside others in a parallel group, unless the operator's ``:impl`` names it."""
    share = 1.0
    """Share of the words of a message that each stream carries."""
    played_only = False
    """True: no plan is begun with this implementation, unless ``:impl`` names it or nothing else can do the operator; it is tried
    against the best plan so far, on the timeline (`pointsman.plan.candidates.alternatives`)."""

    at_once = False
    """True: made for several operators that nodes call together. No operator is done by it alone, unless ``:impl`` names it
    (`pointsman.plan.structure.together`)."""

    def stages(self, operator: Operator) -> int:
        """Number of stages that each node passes in a call (`pointsman.artifacts.images.images.OperatorImage.stages`)."""
        return 1

    def messages(self, operator: Operator) -> int:
        """Most messages that a stream carries in a round of calls."""
        return 1

    def least_period(self, operator: Operator, context: Context) -> int:
        """Slots of the shortest schedule in which the implementation is taken, unless the program asks for both by name."""
        return 2

    def drain(self, operator: Operator, wiring: Wiring) -> int:
        """Cycles for which words that routers drop may still be on their way after all readers have read their messages."""
        return 0

    def replace(self, operator: Operator, context: Context) -> tuple[Operator, ...] | None:
        """Operators that do the work of ``operator`` in its place; None: this implementation is not a replacement."""
        return None

    @abstractmethod
    def metric(self, operator: Operator, context: Context) -> Metric | None:
        """Estimated speed for this operator; None if the implementation cannot do it."""

    @abstractmethod
    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        """Streams to route, named after the operator."""

    def gen_router(self, operator: Operator, wiring: Wiring, node: int) -> tuple[VfsmSetting, ...]:
        """VFSMs at ``node`` that load functions rewrite, as routed; none by default."""
        return ()

    @abstractmethod
    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        """Lanes by which the processor of ``node`` writes and reads in ``instance``, for these run-time values."""

    def decides(
        self, operator: Operator, wiring: Wiring, instance: int, values: tuple[int, ...]
    ) -> tuple[Hashable, Mapping[int, Hashable]] | None:
        """What of these run-time values decides the roles of an instance's nodes: what decides those of all, and by node what
        decides its own besides. Roles for which all of this is equal are worked out once. None: every value counts."""
        return None

    def gen_load(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> tuple[VfsmSetting, ...]:
        """How a load function with these values sets the VFSMs of ``gen_router``; by default as they were routed."""
        return self.gen_router(operator, wiring, node)


def role(
    implementation: Implementation,
    operator: Operator,
    wiring: Wiring,
    instance: int,
    node: int,
    values: tuple[int, ...],
) -> RoleDraft:
    """The complete role of a node for the run-time ``values``: lanes of ``gen_io``, settings of ``gen_load``."""
    draft = implementation.gen_io(operator, wiring, instance, node, values)
    if draft.each:
        return draft
    settings = implementation.gen_load(operator, wiring, instance, node, values)
    return draft if settings == draft.settings else replace(draft, settings=settings)
