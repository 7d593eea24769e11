"""What every operator implementation has: the six parts of Metcalf 1997, Table 4.1, as one small class."""

from __future__ import annotations

from abc import ABC, abstractmethod
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
    """Where an operator is to run."""

    topology: Topology
    shape: NodeShape


@dataclass(frozen=True)
class Metric:
    """How an implementation would do (Metcalf 1997, §4.1.2), before anything is routed.

    ``words_per_cycle`` is what its streams could get at best; ``latency`` the cycles from the first word written to the
    first word at the farthest reader; ``reload_words`` the commands that a load with a new value sends to one router.
    """

    words_per_cycle: float
    latency: float
    reload_words: int = 0


class Implementation(ABC):
    """One way to do one kind of operator.

    ``metric`` says whether it can and how well; ``replace`` gives operators to do instead (none here); ``streams``
    the streams to route; ``gen_router``, ``gen_io`` and ``gen_load`` what becomes of the routed VFSMs, of the
    processor's side and of the load function. The last three come together in ``roles``.
    """

    name: str
    kinds: tuple[str, ...]
    loading = Loading.LOCAL
    """How its calls get the routers ready."""
    processor_bound = False
    """Its I/O functions return only when the node routes no more for it (§5.2.1)."""
    traceable = True
    """Its words move as its lanes do, so that how far others must be can be told from the lanes (§5.2.1). Not so where
    words pass from stream to stream in the router, or where processors do more than move messages."""
    alone = False
    """It shares a phase with other operators only where ``:impl`` asks for it."""

    def stages(self, operator: Operator) -> int:
        """Stages that its nodes pass (`pointsman.artifacts.images.images.OperatorImage.stages`)."""
        return 1

    def drain(self, operator: Operator, wiring: Wiring) -> int:
        """Cycles that words may still be on their way when all readers have what they wait for (words that the router
        drops)."""
        return 0

    def replace(self, operator: Operator, context: Context) -> tuple[Operator, ...] | None:
        """Operators to use instead; None: this implementation is not a replacement."""
        return None

    @abstractmethod
    def metric(self, operator: Operator, context: Context) -> Metric | None:
        """How well it would do; None if it cannot do this operator."""

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
        """What ``node`` does in ``instance`` for these run-time values: lanes, without settings."""

    def gen_load(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> tuple[VfsmSetting, ...]:
        """How the VFSMs of ``gen_router`` stand for these values; as routed by default."""
        return self.gen_router(operator, wiring, node)


def role(
    implementation: Implementation,
    operator: Operator,
    wiring: Wiring,
    instance: int,
    node: int,
    values: tuple[int, ...],
) -> RoleDraft:
    """The complete role of a node for some values."""
    draft = implementation.gen_io(operator, wiring, instance, node, values)
    if draft.each:
        return draft
    settings = implementation.gen_load(operator, wiring, instance, node, values)
    return draft if settings == draft.settings else replace(draft, settings=settings)
