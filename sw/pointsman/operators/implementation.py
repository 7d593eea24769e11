"""What every operator implementation has: the six parts of Metcalf 1997, Table 4.1, as one small class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from numesh.codes import MoveType
from numesh.shape import NodeShape
from pointsman.cop.catalogue import ITEM_FUNCTIONS
from pointsman.cop.program import Instance, Operator, Runtime
from pointsman.errors import PointsmanError
from pointsman.images.image import Combination, IoKind, LaneImage
from pointsman.network import Topology
from pointsman.streams.stream import Place, RoutedPhase, RoutedVfsm, Stream


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


@dataclass(frozen=True)
class VfsmSetting:
    """A VFSM of chain ``chain`` of stream ``stream``, as it stands for some role."""

    stream: int
    chain: int
    vfsm: RoutedVfsm

    def read_interface(self) -> VfsmSetting:
        """The same VFSM taking its words from the processor."""
        return replace(self, vfsm=replace(self.vfsm, type=MoveType.MOVE, source=Place("inject")))

    def read_register(self, register: int) -> VfsmSetting:
        """The same VFSM taking its words from a virtual register of its node."""
        return replace(self, vfsm=replace(self.vfsm, type=MoveType.MOVE, source=Place("register", register)))

    def write_register(self, register: int) -> VfsmSetting:
        """The same VFSM, or leg of a fork, writing to a virtual register of its node."""
        return replace(self, vfsm=replace(self.vfsm, destination=Place("register", register)))

    def discard(self) -> VfsmSetting:
        """The same VFSM, or leg of a fork, dropping what it gets."""
        return replace(self, vfsm=replace(self.vfsm, destination=Place("null")))

    def command(self, pipeline: int) -> VfsmSetting:
        """The same VFSM writing to the command register of a pipeline of its node."""
        return replace(self, vfsm=replace(self.vfsm, destination=Place("command", pipeline)))

    def idle(self) -> VfsmSetting:
        """The same VFSM with nothing to read."""
        return replace(self, vfsm=replace(self.vfsm, type=MoveType.MOVE, source=Place("nop")))

    def off(self) -> VfsmSetting:
        """The same VFSM moving nothing."""
        return replace(
            self,
            vfsm=replace(self.vfsm, type=MoveType.MOVE, source=Place("nop"), destination=Place("nop")),
        )


@dataclass(frozen=True)
class RoleDraft:
    """A role before VFSMs and interface registers have their numbers: see ``pointsman.images.image.Role``.

    Registers of the lanes are virtual: numbers from 0 within their node and phase. ``later``: how the VFSMs of
    ``settings`` stand when the node is through with its I/O, if otherwise; ``stage`` the last stage without that.
    """

    kind: IoKind
    lanes: tuple[LaneImage, ...] = ()
    settings: tuple[VfsmSetting, ...] = ()
    local: bool = False
    turns: int = 1
    combines: tuple[Combination, ...] = ()
    result: bool = True
    void: bool = False
    later: tuple[VfsmSetting, ...] | None = None
    stage: int = 0
    switch: int | None = None
    """Step from which on the router runs the second schedule of the phase, if it has one, until the call ends."""
    commands: tuple[tuple[int, VfsmSetting], ...] = ()
    """What the load function writes: (register, how a VFSM of the node to which its words go is to stand)."""
    each: tuple[RoleDraft, ...] = ()
    """If the stages are quite different: the role in each of them."""
    by_item: bool = False
    """As `pointsman.images.image.Role.by_item`."""


class Wiring:
    """The routed streams of one operator, and the virtual interface registers at their ends."""

    def __init__(self, routed: RoutedPhase) -> None:
        self.routed = routed
        self.index = {stream.name: i for i, stream in enumerate(routed.streams)}
        self._registers: dict[tuple[int, int, int, str], int] = {}
        self._used: dict[int, int] = {}
        self._chains: dict[int, list[int]] = {}
        self._settings: dict[int, dict[int, list[VfsmSetting]]] = {}
        for chain in routed.chains:
            stream = routed.streams[chain.stream]
            self._chains.setdefault(chain.stream, []).append(chain.chain)
            for vfsm in chain.vfsms:
                here = self._settings.setdefault(vfsm.node, {}).setdefault(chain.stream, [])
                here.append(VfsmSetting(chain.stream, chain.chain, vfsm))
                if vfsm.source.kind == "inject" or (
                    stream.injects_anywhere and vfsm.parent >= 0 and self._enters(chain.vfsms, vfsm)
                ):
                    self._take(vfsm.node, chain.stream, chain.chain, "inject")
                if vfsm.destination.kind == "deliver" and stream.into is None:
                    self._take(vfsm.node, chain.stream, chain.chain, "deliver")
        for number, stream in enumerate(routed.streams):
            if stream.into is not None:
                (node,) = stream.destinations
                onward = self.index[stream.into]
                end = "inject" if routed.streams[onward].source == node else "deliver"
                self._registers[node, number, 0, "deliver"] = self.register(node, onward, 0, end)

    @staticmethod
    def _enters(vfsms: Sequence[RoutedVfsm], vfsm: RoutedVfsm) -> bool:
        """Does the chain enter the node with this VFSM and go on to another one?"""
        if vfsm.source.kind != "link" or vfsm.type == MoveType.FORK:
            return False
        return any(other.node == vfsm.node and other.destination.kind == "link" for other in vfsms)

    def _take(self, node: int, stream: int, chain: int, end: str) -> None:
        if (node, stream, chain, end) not in self._registers:
            number = self._used.get(node, 0)
            self._registers[node, stream, chain, end] = number
            self._used[node] = number + 1

    @property
    def registers_used(self) -> dict[int, int]:
        """Virtual registers by node."""
        return dict(self._used)

    @property
    def all_registers(self) -> Mapping[tuple[int, int, int, str], int]:
        """Virtual registers by node, stream, chain and end."""
        return self._registers

    def register(self, node: int, stream: int, chain: int, end: str) -> int:
        return self._registers[node, stream, chain, end]

    def has(self, name: str, node: int, end: str) -> bool:
        """Does this stream have registers at this end here?"""
        stream = self.index[name]
        return any((node, stream, chain, end) in self._registers for chain in self._chains[stream])

    def registers(self, name: str, node: int, end: str) -> tuple[int, ...]:
        """Registers of stream ``name`` at ``node``, in the order of its chains; ``end``: "inject" or "deliver"."""
        stream = self.index[name]
        return tuple(self._registers[node, stream, chain, end] for chain in sorted(self._chains[stream]))

    def names_at(self, node: int) -> list[str]:
        """Streams that have VFSMs at ``node``, in their order."""
        return [self.routed.streams[stream].name for stream in sorted(self._settings.get(node, {}))]

    def settings(self, name: str, node: int) -> tuple[VfsmSetting, ...]:
        """The VFSMs of stream ``name`` at ``node``."""
        return tuple(self._settings.get(node, {}).get(self.index[name], ()))


class Implementation(ABC):
    """One way to do one kind of operator.

    ``metric`` says whether it can and how well; ``replace`` gives operators to do instead (none here); ``streams``
    the streams to route; ``gen_router``, ``gen_io`` and ``gen_load`` what becomes of the routed VFSMs, of the
    processor's side and of the load function. The last three come together in ``roles``.
    """

    name: str
    kinds: tuple[str, ...]
    processor_bound = False
    """Its I/O functions return only when the node routes no more for it (§5.2.1)."""
    fallback = False
    """Taken only when no other implementation can do the operator, or when ``:impl`` asks for it."""
    traceable = True
    """Its words move as its lanes do, so that how far others must be can be told from the lanes (§5.2.1). Not so where
    words pass from stream to stream in the router, or where processors do more than move messages."""
    synchronised = False
    """Its load functions meet in a barrier before and after they rewrite (`pointsman.operators.synchronised`)."""
    entered = False
    """Synchronised without a barrier of its own: its load functions rewrite before they enter the phase, which has to be left
    between any two uses with different values (`pointsman.plan.entered`)."""
    alone = False
    """It shares a phase with other operators only where ``:impl`` asks for it."""
    gated = False
    """Its func function puts the router into its later stages in turn, and back into the first when the messages have moved
    (`pointsman.images.image.OperatorImage.gated`)."""
    by_value = False
    """It has a schedule for each run-time value: `pointsman.plan.schedules` gives each a phase of its own, and it only plans an
    operator that has one value left."""
    subphased = False
    """Its streams ask for a second schedule (`pointsman.streams.subphases`); its func function goes there and back."""
    remote = False
    """Load functions rewrite nothing at their own node: one node sends commands to the others
    (`pointsman.images.image.OperatorImage.remote`)."""
    rescheduled = False
    """Its load functions work out a schedule of their own (`pointsman.runtime.scheduling`)."""

    def stages(self, operator: Operator) -> int:
        """Stages that its nodes pass (`pointsman.images.image.OperatorImage.stages`)."""
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


def item_by_item(operator: Operator) -> bool:
    """Does it combine messages of several items one by one, as far as is known: with a function that every program has?"""
    if operator.m <= operator.type.words or not operator.instances:
        return False
    return dict(operator.instances[0].operands).get("function") in (None, *ITEM_FUNCTIONS)


def runtime_operands(operator: Operator) -> tuple[str, ...]:
    """Names of the operands that are given at run time, in order."""
    return tuple(name for name, value in operator.instances[0].operands if isinstance(value, Runtime))


def chosen_operands(operator: Operator) -> tuple[str, ...]:
    """Those of them that are nodes or distances, whose values can be listed."""
    return operator.chosen


def runtime_values(operator: Operator) -> tuple[tuple[int, ...], ...]:
    """Every legal combination of run-time nodes and distances; one empty tuple for an operator without any.

    A distance is any number of places round a cshift, and of an eoshift from one beyond the subset on either side.

    Raises
    ------
    PointsmanError
        If there are more than 65,536 combinations.
    """
    chosen = chosen_operands(operator)
    choices: list[tuple[int, ...]] = []
    for name, value in operator.instances[0].operands:
        if not isinstance(value, Runtime) or name not in chosen:
            continue
        nodes = min(len(instance.nodes) for instance in operator.instances)
        if value.values is not None:
            choices.append(tuple(sorted(set(value.values))))
        elif name != "distance":
            choices.append(tuple(range(nodes)))
        elif operator.kind == "cshift":
            choices.append(tuple(range(1 - nodes, nodes)))
        else:
            choices.append(tuple(range(-nodes, nodes + 1)))
        if operator.valid is not None and name != "distance":
            # A node that is named has to take part in earnest.
            choices[-1] = tuple(value for value in choices[-1] if value in operator.valid)
    combinations: list[tuple[int, ...]] = [()]
    for choice in choices:
        combinations = [(*head, value) for head in combinations for value in choice]
        if len(combinations) > 65536:
            raise PointsmanError(
                f"{operator.position}: operator '{operator.label}' has more than 65536 run-time choices",
                hint="restrict them with :values",
            )
    return tuple(combinations)


def is_settled(operator: Operator) -> bool:
    """Is there one value, or none, for its run-time nodes and distances?"""
    return all(
        not isinstance(value, Runtime) or (value.values is not None and len(set(value.values)) == 1)
        for _, value in (operator.instances[0].operands if operator.instances else ())
    )


def rounds_between_values(operator: Operator) -> int:
    """Times round after which a run-time value changes, about (``:block``, Metcalf 1997, A.4)."""
    blocks = [value.block for _, value in operator.instances[0].operands if isinstance(value, Runtime)]
    return max(1, min(blocks, default=1))


def function_name(operator: Operator) -> str | None:
    """Name of the function with which an operator combines messages, if the program gives one."""
    value = dict(operator.instances[0].operands).get("function") if operator.instances else None
    return value if isinstance(value, str) else None


def taking_part(operator: Operator, instance: int) -> tuple[int, ...]:
    """Positions in an instance of the nodes that have something to send: those in ``:valid``, or all."""
    nodes = range(len(operator.instances[instance].nodes))
    return tuple(nodes) if operator.valid is None else tuple(k for k in nodes if k in set(operator.valid))


def operand(operator: Operator, instance: int, name: str, values: tuple[int, ...]) -> int:
    """Value of a node or distance operand, whether known at compile time or given in ``values``."""
    value = operator.instances[instance].operand(name)
    if isinstance(value, Runtime):
        return values[chosen_operands(operator).index(name)]
    assert isinstance(value, int), f"operand {name} of {operator.label} is {value!r}"
    return value


def is_constant(operator: Operator, name: str) -> bool:
    """Is this operand known at compile time?"""
    return not isinstance(operator.instances[0].operand(name), Runtime)


def stream_name(operator: Operator, instance: int, what: str = "") -> str:
    """Name of a stream of an operator: ``b[2]``, or ``b[2].right``."""
    return f"{operator.label}[{instance}]" + (f".{what}" if what else "")


def keep_in(instance: Instance, context: Context) -> frozenset[int] | None:
    """Nodes that an instance's streams may use: its own if they are connected, else the box around them.

    Source: extents, Metcalf 1997 §6.1.
    """
    nodes = frozenset(instance.nodes)
    reached = {instance.nodes[0]}
    stack = [instance.nodes[0]]
    while stack:
        for other, _ in context.topology.at_port[stack.pop()].values():
            if other in nodes and other not in reached:
                reached.add(other)
                stack.append(other)
    if reached == nodes:
        return nodes
    if context.topology.kind == "graph":
        return None
    return box(instance.nodes, context.topology)


def box(nodes: Sequence[int], topology: Topology) -> frozenset[int]:
    """Smallest box of coordinates around ``nodes``."""
    places = [topology.coordinates(node) for node in nodes]
    low = [min(axis) for axis in zip(*places, strict=True)]
    high = [max(axis) for axis in zip(*places, strict=True)]
    inside = [()]
    for a, b in zip(low, high, strict=True):
        inside = [(*head, x) for head in inside for x in range(a, b + 1)]  # type: ignore[misc]
    return frozenset(topology.node_at(*place) for place in inside)
