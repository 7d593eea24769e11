"""Images: everything that the nodes of a mesh need to run a program, and that a judge needs to prove it right.

Nothing symbolic is left: VFSM numbers, interface registers, schedule addresses and every rewriting that a load
function may do stand here as the hardware will see them. ``file`` has the file format.

What only people read, names and reasons, is *listed* (`LISTED`): the file keeps it apart from what is run and judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import cached_property
from typing import Literal

from numesh.codes import Annotation
from numesh.shape import NodeShape
from pointsman.network import Topology
from pointsman.program.program import Operator

IoKind = Literal["write", "read", "both", "func", "none"]
"""Which I/O functions a node may call. With "both" (a node that is the source of one instance and a destination of
another) the write function moves the write lanes and the read function the read lanes; otherwise one function moves
all lanes."""
Technique = Literal["none", "msg-sync", "hijack", "barrier", "no-op"]
"""How a phase ends (Metcalf 1997, Table 5.1)."""


LISTED = {"listed": True}
"""Metadata of a field that only people read, in reports and messages: the run time and the judge do the same whatever it says."""


def listed_fields(kind: type) -> tuple[str, ...]:
    """Names of the fields of a class of this module that are listed (`LISTED`), in order."""
    return tuple(one.name for one in fields(kind) if "listed" in one.metadata)


@dataclass(frozen=True, slots=True)
class LaneImage:
    """Words that go one way between a processor and its router. The fields are those of
    `pointsman.runtime.api.requests.Lane`, in the same order, but ``data`` is the name of a message instead of an array.

    ``words``: how many words move; None: the operator's message length. ``data``: "out" is the message that the caller
    sends, "in" the message that arrives (a later lane may forward it), "token" a word whose contents do not matter, and
    "t0", "t1", … are intermediate messages that the role keeps while it runs.

    ``turn``: call n of the I/O function moves the lanes with turn n modulo ``Role.turns``; lanes with turn SYNC belong
    to the load function, as part of a barrier among the operator's nodes. ``step``: within a call, all lanes of a step
    move before those of the next step begin. ``half``: 0 or 1, the lane moves only this half of the message (`cut`); None: all
    of it.
    """

    write: bool
    registers: tuple[int, ...]
    words: int | None = None
    data: str = "out"
    _: KW_ONLY
    after: int | None = None
    after_all: bool = False
    pair: int | None = None
    window: int | None = None
    turn: int = 0
    step: int = 0
    half: int | None = None

    def span(self, m: int) -> tuple[int, int]:
        """Which words of a message of ``m`` words move: the first, and that behind the last. Of "token" only their number."""
        if self.half is None:
            return 0, m if self.words is None else self.words
        return (cut(m), m) if self.half else (0, cut(m))

    def count(self, m: int) -> int:
        """Words that move of a message of ``m`` words."""
        first, end = self.span(m)
        return end - first


def cut(m: int) -> int:
    """Words of the first half of a message of ``m`` words. Between two items: those of two words make an even number."""
    return m // 2 if m % 2 else m // 4 * 2


SYNC = -1
"""``LaneImage.turn`` of lanes that load functions move."""


def by_step(lanes: Iterable[LaneImage]) -> list[list[LaneImage]]:
    """Lanes that move together, one step after the other."""
    found: dict[int, list[LaneImage]] = {}
    for lane in sorted(lanes, key=lambda lane: lane.step):
        found.setdefault(lane.step, []).append(lane)
    return list(found.values())


@dataclass(frozen=True)
class Combination:
    """``result`` = function(``left``, ``right``), computed before the lanes of ``step`` move; with ``right`` empty, a
    copy of ``left``. Messages are named as in ``LaneImage.data``."""

    step: int
    left: str
    right: str
    result: str


def before_each(lanes: Sequence[LaneImage]) -> list[int | None]:
    """By lane of a role for single items, the number of the lane that each item passes before it: the one before, if it moves the
    same half."""
    return [k - 1 if k and lanes[k - 1].half == lane.half else None for k, lane in enumerate(lanes)]


def whole_messages(
    lanes: Sequence[LaneImage], combines: Iterable[Combination] = ()
) -> tuple[list[LaneImage], list[Combination]]:
    """Lanes of a role made for single items (`Role.by_item`) and its combinations, where whole messages have to be combined:
    lanes move one after the other. Those of the second half are left out, as those of the first lead wherever they do."""
    kept = [lane.half != 1 for lane in lanes]
    left = [
        replace(one, step=sum(kept[: one.step]))
        for one in combines
        if not one.step or all(kept[one.step - 1 : one.step])
    ]
    return [replace(lane, after=None, half=None) for lane in lanes if lane.half != 1], left


@dataclass(frozen=True, slots=True)
class Rewrite:
    """An annotation that a load function puts into the router."""

    pipeline: int
    vfsm: int
    annotation: Annotation


@dataclass(frozen=True, slots=True)
class Role:
    """What a node does in an operator for some values of its run-time operands: lanes, rewritten VFSMs, waits."""

    kind: IoKind
    lanes: tuple[LaneImage, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    """Annotations that the router must have for this role. All roles of a node rewrite the same VFSMs."""
    delay: int = 0
    """Cycles from the end of the I/O function until no word of the operator is left in this node's router
    (message-bound operators; 0 when the I/O function itself guarantees it)."""
    local: bool = False
    """The node sends to itself only: the processor copies the message, and no word enters the router."""
    turns: int = 1
    """The lanes to move repeat after this many calls of the I/O function (``LaneImage.turn``)."""
    combines: tuple[Combination, ...] = ()
    """Messages that the processor combines between the steps of a call."""
    result: bool = True
    """Whether the message that arrives means anything to the application."""
    void: bool = False
    """The node takes part without a message of its own (it is not ``:valid``)."""
    switch: int | None = None
    """First step of a call in which the router runs the phase's second schedule; it goes back at the end of the call."""
    commands: tuple[tuple[int, int], ...] = ()
    """(register, word) pairs that the load function of a ``remote`` operator writes: commands for other routers."""
    by_item: bool = False
    """Messages may be combined item by item: each item passes all lanes in order, and a combination is done with each
    item before the lane whose number is its ``step``, of the half that the lane before it moves. If the application's function
    works on whole messages only, each lane moves its whole message before the next lane begins, and lanes of the second half
    move nothing."""


@dataclass(frozen=True)
class OnlineNode:
    """Tables by which a node's processor passes on messages in a phase (Metcalf 1997, §4.2).

    ``inputs`` and ``outputs`` are the channels that end and begin at the node, each a tuple of interface registers that
    its words go through in turn. ``onward[d]`` is the index in ``outputs`` by which messages to node d go on; -1: none
    do.
    """

    inputs: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...]
    onward: tuple[int, ...]


@dataclass(frozen=True)
class NodeOperator:
    """An operator as one node sees it: ``roles[role_of[i]]`` is its role in state i (`OperatorImage.states`)."""

    roles: tuple[Role, ...]
    role_of: tuple[int, ...]
    position: int
    """Node number relative to its instance."""
    nodes: int
    """Number of nodes of its instance."""
    online: OnlineNode | None = None
    """Only in the operator that stands for the online streams of a phase."""
    enters: int = -1
    """Phase that the load function of a continuing operator enters when the node is in none of the operator's phases;
    -1 if the operator does not continue."""


@dataclass(frozen=True)
class OperatorImage:
    """The part of an operator that is the same for all of its nodes."""

    label: str
    kind: str
    implementation: str = field(metadata=LISTED)
    phase: int
    type: str
    m: int
    runtime: tuple[str, ...]
    """Names of its run-time operands, in order."""
    values: tuple[tuple[int, ...], ...]
    """Every legal combination of run-time values, sorted; a single empty tuple if it has no run-time operands."""
    bandwidth: float = field(metadata=LISTED)
    """Words per cycle of the operator's slowest stream."""
    source: str = field(metadata=LISTED)
    """``file:line:column`` of the operator in the COP text."""
    function: str | None = None
    """Name of the function that combines messages, if the program names one."""
    stages: int = 1
    """Stages of a node's router for each value, in order: a node that is through with its I/O changes its router to its
    role in the last stage."""
    synchronised: bool = False
    """All nodes rewrite together, while no word of the operator is under way: their load functions meet in a barrier of
    their own around the rewriting, or the barrier that closes the phase has held back every node."""

    gated: bool = False
    """Its stages are gates: call n of the func function puts the router into stage 1 + n mod (stages - 1), and back
    into stage 0 when its messages have moved. Words wait at every node that is in another stage."""
    instances: tuple[tuple[int, ...], ...] = ()
    """Nodes of each instance, if load functions work out its schedule at run time
    (`pointsman.runtime.numesh.scheduling`)."""
    remote: bool = False
    """Another node, which alone need know the value, writes the annotations of the roles by commands that streams bring
    to command registers. Nodes that send no commands take the role for the value that names themselves."""
    online: tuple[int, ...] | None = None
    """Destination queue of each of the operator's channels, if processors pass on its messages: ``values`` does not list its
    run-time values then."""
    way: str = ""
    """Implementation by whose scripts processors pass on its messages; empty if they do not."""
    continues: tuple[int, ...] = ()
    """All phases of an operator that continues over changes of phase; ``phase`` is the first. Its VFSMs, annotations
    and registers are the same in all of these phases, and nothing else uses them."""
    partial: bool = False
    """A node knows of the value only whether it names the node itself: it has the same role for all values that do not."""
    program: Operator | None = None
    """The operator of the program, without its source position: what the roles of its nodes must mean. None: it stands for the
    online streams of a phase, or for a stream that is routed alone."""

    @property
    def phases(self) -> tuple[int, ...]:
        return self.continues or (self.phase,)

    @property
    def states(self) -> int:
        """Number of states, values times stages. State ``value * stages + stage`` is for that value and stage."""
        return len(self.values) * self.stages


@dataclass(frozen=True)
class ReplacedImage:
    """An operator of the program whose work other operators do (`pointsman.operators.scheduled.replacements`)."""

    program: Operator
    """The operator of the program, without its source position."""
    implementation: str = field(metadata=LISTED)
    parts: tuple[int, ...]
    """The operators that do its work, in order."""
    source: str = field(metadata=LISTED)
    """``file:line:column`` of the operator in the COP text."""


@dataclass(frozen=True)
class PhaseImage:
    """A phase: its operators and how it ends."""

    name: str = field(metadata=LISTED)
    block: int
    """Block of the schedule memory: entries block * period to block * period + period - 1. Phases may share a block:
    the run time loads a schedule that is not there."""
    operators: tuple[int, ...]
    """Operators of the phase, including those that continue through it."""
    technique: Technique
    reason: str = field(metadata=LISTED)
    """Why the phase ends by this technique, in words."""
    successors: tuple[int, ...]
    """Phases that may come next in the program; a node passes over phases in which it has no part."""
    barrier: int | None = None
    """Operator that closes the phase, for the techniques "barrier" and "hijack"; a hijack uses streams of other
    operators."""
    online: int | None = None
    """Operator that stands for the phase's online streams, if it has any (§4.2.2: these belong to the phase)."""
    second: int = 0
    """Block of the phase's second schedule (`NodePhase.second`); 0: none."""
    last: tuple[int, ...] = ()
    """Operators of the program that may be the last that a node uses before it leaves; a node uses every other operator
    of the phase before one of them."""
    order: tuple[tuple[int, int], ...] = ()
    """(first, then): each time that a node with both operators comes to the phase, it uses ``first`` before ``then``.
    Only for operators whose end tells which nodes have come; the run time insists on it."""


@dataclass(frozen=True)
class NodePhase:
    """A phase as one node sees it.

    ``schedule`` has a row for each slot with the VFSM of each pipeline; ``annotations`` are those of the phase's VFSMs
    (not 0 and 1) before any load function. ``settle``: (next phase, cycles to wait until the neighbours have changed as
    well).
    """

    phase: int
    schedule: tuple[tuple[int, ...], ...]
    annotations: tuple[Rewrite, ...]
    settle: tuple[tuple[int, int], ...] = ()
    second: tuple[tuple[int, ...], ...] = ()
    """A second schedule of the same VFSMs; the node may change between the two at any time; empty: none."""


@dataclass(frozen=True)
class NodeImage:
    """Everything that one node needs: only the phases and operators in which it has a part."""

    phases: tuple[NodePhase, ...]
    operators: tuple[tuple[int, NodeOperator], ...]
    """(index of the operator, the operator as this node sees it)."""
    ways: tuple[tuple[int, int], ...] = ()
    """Changes of phase that this node makes, where threads make them differ from node to node: (phase left or -1 at the
    beginning, phase entered or -1 for the end). Empty: as ``PhaseImage.successors`` allow."""


@dataclass(frozen=True)
class Promise:
    """A chain of a stream that the compiler promises.

    In phase ``phase`` and every state in ``values`` (`OperatorImage.states`), each word that the processor of
    ``source`` writes to ``register`` is delivered once to every destination register, in order, at ``words`` words per
    period as long as no processor blocks.
    """

    operator: int
    phase: int
    stream: str = field(metadata=LISTED)
    values: tuple[int, ...]
    source: int
    register: int
    destinations: tuple[tuple[int, int], ...]
    """(node, interface register)."""
    words: int
    held: bool = False
    """The words wait in the destination register; a VFSM takes them on in a later stage."""


@dataclass(frozen=True)
class Images:
    """A compiled program."""

    shape: NodeShape
    topology: Topology
    period: int
    name: str = field(metadata=LISTED)
    parameters: tuple[tuple[str, int], ...]
    loops: tuple[str, ...]
    """Labels of the loops; their load functions do nothing."""
    operators: tuple[OperatorImage, ...]
    phases: tuple[PhaseImage, ...]
    nodes: tuple[NodeImage, ...]
    promises: tuple[Promise, ...]
    passages: tuple[tuple[int, int, int, tuple[int, ...]], ...] = ()
    """(node, phase left or -1, phase entered or -1 for the end, phases without an operator of the node on the way)."""
    notes: tuple[str, ...] = field(default=(), compare=False, metadata=LISTED)
    replaced: tuple[ReplacedImage, ...] = ()

    LOADER_BLOCK = 0
    """Block of the loader phase: VFSM 1 in every pipeline and slot, Metcalf 1997 §7.1.5."""

    @cached_property
    def members(self) -> Mapping[int, Mapping[int, NodeOperator]]:
        """By operator and node, in ascending order: the operator as the node sees it."""
        found: dict[int, dict[int, NodeOperator]] = {index: {} for index in range(len(self.operators))}
        for node, image in enumerate(self.nodes):
            for index, view in image.operators:
                found.setdefault(index, {})[node] = view
        return found

    @cached_property
    def shares(self) -> Mapping[int, int]:
        """By operator that has the streams of another, that operator: the first that has them."""
        first: dict[tuple[int, int, int], int] = {}
        found: dict[int, int] = {}
        for promise in self.promises:
            if promise.operator not in found and not self.operators[promise.operator].continues:
                key = self.operators[promise.operator].phase, promise.source, promise.register
                owner = first.setdefault(key, promise.operator)
                if owner != promise.operator:
                    found[promise.operator] = owner
        return found

    @cached_property
    def sharing(self) -> AbstractSet[int]:
        """Operators that have streams in common with others."""
        return {*self.shares, *self.shares.values()}

    @cached_property
    def after(self) -> Mapping[int, AbstractSet[int]]:
        """By operator, those that come after it in the order of its phase."""
        found: dict[int, set[int]] = {}
        for one, other in (pair for phase in self.phases for pair in phase.order):
            found.setdefault(one, set()).add(other)
        return found
