"""Images: all that the nodes of a mesh need to run a program, and all that a judge needs to prove it.

Nothing symbolic is left: VFSM numbers, interface registers, schedule addresses and every rewriting that a load
function may do stand here as the hardware will see them. The file format is in ``format``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
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


@dataclass(frozen=True)
class LaneImage:
    """One direction of words between a processor and its router as the node's part of an image names it: messages by
    name, where ``pointsman.runtime.api.requests.Lane`` has arrays. The fields have the same order in both.

    ``words`` None: the operator's message length. ``data`` tells which words: the caller's message going out
    ("out"), the message coming in ("in", also what a later lane forwards), nothing that matters ("token"), or a message
    in between that the role keeps while it runs ("t0", "t1", …).

    ``turn``: the lane moves in each call of the I/O function whose number modulo ``Role.turns`` is this; with SYNC it
    belongs to the load function, as part of a barrier among the operator's nodes. ``step``: lanes of one call move
    step after step.
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


SYNC = -1
"""The turn of lanes that load functions move."""


@dataclass(frozen=True)
class Combination:
    """``result`` = function(``left``, ``right``) of messages named as in ``LaneImage.data``, before the lanes of ``step``
    move; a copy of ``left`` if ``right`` is empty."""

    step: int
    left: str
    right: str
    result: str


@dataclass(frozen=True)
class Rewrite:
    """An annotation that a load function puts into the router."""

    pipeline: int
    vfsm: int
    annotation: Annotation


@dataclass(frozen=True)
class Role:
    """What a node does in an operator for some values of its run-time operands."""

    kind: IoKind
    lanes: tuple[LaneImage, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    """Annotations that must stand for this role. All roles of a node name the same VFSMs."""
    delay: int = 0
    """Cycles from the end of the I/O function until no word of the operator is left in this node's router
    (message-bound operators; 0 when the I/O function itself guarantees it)."""
    local: bool = False
    """The node sends to itself only: the message is copied, no word enters the router."""
    turns: int = 1
    """Calls of the I/O function after which its lanes begin again."""
    combines: tuple[Combination, ...] = ()
    """What the processor does between the steps of a call."""
    result: bool = True
    """The message that comes in means something."""
    void: bool = False
    """The node takes part without a message of its own (it is not ``:valid``)."""
    switch: int | None = None
    """Step from which on the router runs the second schedule of the phase, if it has one, until the call ends."""
    commands: tuple[tuple[int, int], ...] = ()
    """(register, word) that its load function writes, if the operator is ``remote``: commands for other routers."""
    by_item: bool = False
    """Messages are combined item by item: each lane comes after the one before it, and ``step`` of a combination is the number
    of the lane before which it is done with each item. An application whose function is not of that kind has the lanes move
    one after the other, whole messages each."""


@dataclass(frozen=True)
class OnlineNode:
    """What a node's processor needs to pass on messages in a phase (Metcalf 1997, §4.2).

    ``inputs`` and ``outputs`` are the channels that end and begin here, by their interface registers: words go through those of
    a channel in turn. ``onward`` says by destination node through which of ``outputs`` a message goes on; -1: no message goes
    there from here.
    """

    inputs: tuple[tuple[int, ...], ...]
    outputs: tuple[tuple[int, ...], ...]
    onward: tuple[int, ...]


@dataclass(frozen=True)
class OnlineOperator:
    """An operator whose messages processors pass on.

    ``program`` is the operator as in the program, without its place; ``queues`` has the destination queue of each of its
    channels.
    """

    program: Operator
    queues: tuple[int, ...]


@dataclass(frozen=True)
class NodeOperator:
    """An operator as one node sees it. ``role_of[i]`` is the role in the i-th of the operator's states."""

    roles: tuple[Role, ...]
    role_of: tuple[int, ...]
    position: int
    """Node number relative to its instance."""
    nodes: int
    """Nodes of its instance."""
    online: OnlineNode | None = None
    """In the operator that stands for the online streams of a phase."""
    enters: int = -1
    """Of an operator that continues from phase to phase, the one that its load function enters when the node is in none of
    them; -1 of others."""


@dataclass(frozen=True)
class OperatorImage:
    """What is the same for all nodes of an operator."""

    label: str
    kind: str
    implementation: str
    phase: int
    type: str
    m: int
    runtime: tuple[str, ...]
    """Names of its run-time operands, in order."""
    values: tuple[tuple[int, ...], ...]
    """Every legal combination of run-time values, sorted; one empty tuple when there is none."""
    bandwidth: float
    """Words per cycle of its slowest stream."""
    source: str
    """``file:line:column`` of the operator in the COP text."""
    function: str | None = None
    """Name of the function that combines messages, if the program names one."""
    stages: int = 1
    """For each of its values, stages that its nodes pass one after the other: a node that is through with its I/O changes
    its router to its role in the last of them."""
    synchronised: bool = False
    """Its load functions meet in a barrier before and after they rewrite, so that no word is on its way meanwhile."""

    gated: bool = False
    """Its stages are gates: the n-th call of its func function puts the router into stage 1 + n mod (stages - 1), and back into
    stage 0 when its messages have moved. Words wait at every node that is in another stage."""
    instances: tuple[tuple[int, ...], ...] = ()
    """Nodes of each instance, if load functions work out a schedule for it (`pointsman.runtime.numesh.scheduling`)."""
    remote: bool = False
    """The annotations of its roles are written by commands from another node, which alone knows the value: streams bring them to
    command registers. A node that gets none is ready for the value that names itself."""
    online: OnlineOperator | None = None
    """If processors pass on its messages: the operator itself, as its run-time values are not listed then."""
    continues: tuple[int, ...] = ()
    """If it continues over changes of phase: all of its phases, of which ``phase`` is the first. Its VFSMs, with their
    slots, annotations and registers, are the same in all of them, and are used by nothing else."""

    @property
    def phases(self) -> tuple[int, ...]:
        return self.continues or (self.phase,)

    @property
    def states(self) -> int:
        """Values times stages; state ``value * stages + stage``."""
        return len(self.values) * self.stages


@dataclass(frozen=True)
class ReplacedImage:
    """An operator of the program that others do in its place (`pointsman.operators.scheduled.replacements`)."""

    program: Operator
    """As in the program, without its place."""
    implementation: str
    parts: tuple[int, ...]
    """The operators that do it, in their order."""
    source: str
    """``file:line:column`` of the operator in the COP text."""


@dataclass(frozen=True)
class PhaseImage:
    """A phase: its operators and how it ends."""

    name: str
    block: int
    """Block of the schedule memory: entries block * period to block * period + period - 1. Phases may share one: the run time
    loads what is not there."""
    operators: tuple[int, ...]
    """Those that continue through it are among them."""
    technique: Technique
    reason: str
    """Why this technique, in words."""
    successors: tuple[int, ...]
    """Phases that may come next in the program; a node passes over those of which it has no part."""
    barrier: int | None = None
    """Which of the operators closes the phase, for the techniques "barrier" and "hijack"; the latter has no streams of its
    own."""
    online: int | None = None
    """Which of the operators stands for the phase's online streams (§4.2.2: they belong to the phase), if it has any."""
    load_cycles: int = 0
    """Cycles that loading all of the phase takes at most at any node."""
    second: int = 0
    """Block of its second schedule (`NodePhase.second`); 0: none."""
    last: tuple[int, ...] = ()
    """Which of the operators of the program may be the last that a node uses before it leaves; the others come before one
    of these."""
    order: tuple[tuple[int, int], ...] = ()
    """(one, other): a node that has both operators uses ``one`` each time that it has come to the phase before it uses ``other``.
    Only of those that tell who has come; the run time insists on it."""


@dataclass(frozen=True)
class NodePhase:
    """A phase as one node sees it.

    ``schedule`` has one row per slot with the VFSM of each pipeline; ``annotations`` are all VFSMs that the schedule
    names, but 0 and 1, as they stand before any load function. ``settle``: cycles to wait after changing to a given
    phase until the neighbours have changed as well.
    """

    phase: int
    schedule: tuple[tuple[int, ...], ...]
    annotations: tuple[Rewrite, ...]
    settle: tuple[tuple[int, int], ...] = ()
    second: tuple[tuple[int, ...], ...] = ()
    """A second schedule of the same VFSMs, to which the node may go and come back at any time; empty: none."""


@dataclass(frozen=True)
class NodeImage:
    """All that one node needs. ``phases`` and ``operators`` only hold those in which it has a part."""

    phases: tuple[NodePhase, ...]
    operators: tuple[tuple[int, NodeOperator], ...]
    """(index of the operator, its view from here)."""
    ways: tuple[tuple[int, int], ...] = ()
    """(phase left or -1, phase entered or -1 for the end): the node's ways through its phases, where threads make them
    differ from node to node. Empty: those of all nodes, by ``PhaseImage.successors``."""


@dataclass(frozen=True)
class Promise:
    """One chain of a stream, as the compiler promises it.

    In every state in ``values`` (indices of the operator's values, times its stages) and phase ``phase``, each word that
    the processor of ``source`` writes to ``register`` is delivered once to every destination register, in order, at ``words``
    words per period as long as nobody blocks.
    """

    operator: int
    phase: int
    stream: str
    values: tuple[int, ...]
    source: int
    register: int
    destinations: tuple[tuple[int, int], ...]
    """(node, interface register)."""
    words: int
    held: bool = False
    """The words wait at the destination: a later stage takes them on."""


@dataclass(frozen=True)
class Images:
    """A compiled program."""

    shape: NodeShape
    topology: Topology
    period: int
    name: str
    parameters: tuple[tuple[str, int], ...]
    loops: tuple[str, ...]
    """Labels of the loops, which have load functions that do nothing."""
    operators: tuple[OperatorImage, ...]
    phases: tuple[PhaseImage, ...]
    nodes: tuple[NodeImage, ...]
    promises: tuple[Promise, ...]
    passages: tuple[tuple[int, int, int, tuple[int, ...]], ...] = ()
    """(node, phase left or -1, phase entered or -1 for the end, phases on the way): where a node must pass phases in
    which it has no operator."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    replaced: tuple[ReplacedImage, ...] = ()

    LOADER_BLOCK = 0
    """Block of the loader phase: VFSM 1 in every pipeline and slot, Metcalf 1997 §7.1.5."""

    @cached_property
    def members(self) -> Mapping[int, Mapping[int, NodeOperator]]:
        """By operator, its nodes in order, and what each sees of it."""
        found: dict[int, dict[int, NodeOperator]] = {index: {} for index in range(len(self.operators))}
        for node, image in enumerate(self.nodes):
            for index, view in image.operators:
                found.setdefault(index, {})[node] = view
        return found
