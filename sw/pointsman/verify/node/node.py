"""What one node does in one phase: its VFSMs with their sources, destinations and slots, for one choice of roles.

Takes a node's part of a phase; gives views and states, on which all rules of the judge work (rules of a single node are
in ``rules``). A VFSM "at slot t" has its read stage in slot t and its write stage in slot t + 1, where the VFSM of slot
t + 1 of the same pipeline has its read stage; slots are modulo the period throughout.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from numesh.codes import FIRST_FREE_VFSM, Annotation, Codes, MoveType
from pointsman.artifacts.images.images import Images, NodeOperator, NodePhase, Role
from pointsman.verify.report import Finding

Vfsm = tuple[int, int]
"""Pipeline and number of a VFSM."""
Place = tuple[int, int, int]
"""Node, pipeline and number of a VFSM."""
Key = tuple[int, ...]
"""Index of the role that each operator of the phase has at a node."""


@dataclass(frozen=True)
class Problem:
    """A finding of a node before phase, node and values are known."""

    rule: str
    message: str
    right: str
    pipeline: int | None = None
    slot: int | None = None
    vfsm: int | None = None

    def at(self, phase: str, node: int, values: Sequence[str] = ()) -> Finding:
        return Finding(
            self.rule,
            self.message,
            self.right,
            phase=phase,
            node=node,
            pipeline=self.pipeline,
            slot=self.slot,
            vfsm=self.vfsm,
            values=tuple(values),
        )


class Remark(NamedTuple):
    """A fault on the way of words through a VFSM, before the stream to which they belong is known."""

    rule: str
    node: int
    message: str
    right: str
    vfsm: Vfsm | None = None
    slot: int | None = None


@dataclass
class Hop:
    """Where the words of a VFSM go next."""

    steps: list[Place] = field(default_factory=list)
    """VFSMs that get the words, in the order found."""
    remarks: list[Remark] = field(default_factory=list)
    """Faults, in the order found."""
    link_slots: int = 0
    register: int | None = None
    """Interface register into which the words go, if any."""
    words: int | None = None
    """Words per period that a VFSM takes on from that register; None: no VFSM does, the words have arrived."""
    dropped: bool = False
    """Do the words go to NULL?"""


class NodeView:
    """A node's part in a phase.

    Parameters
    ----------
    images : Images
        Whole program.
    codes : Codes
        Codes of its shape.
    node : int
        Number of the node.
    part : NodePhase
        The node's part, which must keep the rule "structure".
    """

    def __init__(self, images: Images, codes: Codes, node: int, part: NodePhase) -> None:
        self.images = images
        self.codes = codes
        self.node = node
        self.part = part
        self.period = images.period
        self.links = images.topology.at_port[node]
        self.columns = tuple(zip(*part.schedule, strict=True))
        """VFSM numbers by pipeline and slot."""
        self.operators: tuple[tuple[int, NodeOperator], ...] = tuple(
            (index, operator)
            for index, operator in images.nodes[node].operators
            if part.phase in images.operators[index].phases
        )
        self.here = dict(self.operators)
        """``operators`` as a mapping."""
        self._position = {index: i for i, (index, _) in enumerate(self.operators)}
        self._first = tuple(operator.role_of[0] for _, operator in self.operators)
        self._rewriting = [
            (i, operator) for i, (_, operator) in enumerate(self.operators) if any(r.rewrites for r in operator.roles)
        ]
        """Operators whose load functions rewrite, each with its place in a ``Key``."""
        slots: dict[Vfsm, list[int]] = {}
        for pipeline, column in enumerate(self.columns):
            for slot, vfsm in enumerate(column):
                if vfsm >= FIRST_FREE_VFSM:
                    slots.setdefault((pipeline, vfsm), []).append(slot)
        self.slots = {vfsm: tuple(at) for vfsm, at in slots.items()}
        nothing = Annotation(MoveType.MOVE, codes.nop, codes.nop)
        given = {(r.pipeline, r.vfsm): r.annotation for r in part.annotations}
        self.standing = {vfsm: given.get(vfsm, nothing) for vfsm in self.slots}
        self._states: dict[Key, NodeState] = {}
        self._possible: dict[Vfsm, list[Annotation]] | None = None
        self._link_uses: tuple[list[tuple[Vfsm, int]], list[tuple[Vfsm, int]]] | None = None

    def every_slot(self, vfsm: Vfsm) -> tuple[int, ...]:
        """Slots in which ``vfsm`` runs in either schedule of the phase."""
        if not self.part.second:
            return self.slots[vfsm]
        pipeline, number = vfsm
        second = (slot for slot, row in enumerate(self.part.second) if row[pipeline] == number)
        return tuple(sorted({*self.slots[vfsm], *second}))

    def alike(self) -> Hashable:
        """All that decides what the router does in the phase, whatever node it is: its VFSMs, its ports, and what load functions
        rewrite for which value."""
        rewriting = tuple(
            (index, here.role_of, tuple(role.rewrites for role in here.roles)) for index, here in self.operators
        )
        commanded = None
        if any(self.images.operators[index].remote for index in self.images.phases[self.part.phase].operators):
            commanded = frozenset(self.commanded())
        return self.columns, self.part.annotations, frozenset(self.links), rewriting, commanded

    def commanded(self) -> set[int]:
        """Command registers of this node to which other nodes are promised to send."""
        here = (
            p for p in self.images.promises if p.phase == self.part.phase and self.images.operators[p.operator].remote
        )
        return {register for promise in here for node, register in promise.destinations if node == self.node}

    def key(self, choice: Mapping[int, int]) -> Key:
        """Role of each operator for ``choice`` (operator to its state; operators that are not named are in state 0)."""
        key = self._first
        for index, state in choice.items():
            at = self._position.get(index)
            if at is not None:
                role = self.here[index].role_of[state]
                if role != key[at]:
                    key = (*key[:at], role, *key[at + 1 :])
        return key

    def state(self, key: Key) -> NodeState:
        """What the node does when its operators have the roles ``key``."""
        state = self._states.get(key)
        if state is None:
            annotations = dict(self.standing)
            for at, operator in self._rewriting:
                annotations.update(self._rewritten(operator.roles[key[at]]))
            state = self._states[key] = NodeState(self, key, annotations)
        return state

    def possible(self) -> dict[Vfsm, list[Annotation]]:
        """All annotations that each VFSM may have, before and after load functions."""
        if self._possible is not None:
            return self._possible
        possible = {vfsm: [annotation] for vfsm, annotation in self.standing.items()}
        for _, operator in self._rewriting:
            for role in dict.fromkeys(operator.role_of):
                for vfsm, annotation in self._rewritten(operator.roles[role]).items():
                    if annotation not in possible[vfsm]:
                        possible[vfsm].append(annotation)
        self._possible = possible
        return possible

    def link_uses(self) -> tuple[list[tuple[Vfsm, int]], list[tuple[Vfsm, int]]]:
        """VFSMs and ports of links that they may write, and may read, before and after load functions."""
        if self._link_uses is not None:
            return self._link_uses
        codes, possible = self.codes, self.possible()
        filled = {(vfsm[0], annotation.destination) for vfsm, choices in possible.items() for annotation in choices}
        writes: dict[tuple[Vfsm, int], None] = {}
        reads: dict[tuple[Vfsm, int], None] = {}
        for vfsm, choices in possible.items():
            for annotation in choices:
                off = annotation.source == codes.nop and (vfsm[0], codes.buffer(vfsm[1])) not in filled
                if annotation.destination in codes.neighbours and not off:
                    writes[vfsm, annotation.destination] = None
                # The second leg of a fork names the link that the first leg writes, and reads nothing from it.
                if annotation.source in codes.neighbours and annotation.type != MoveType.FORK:
                    reads[vfsm, annotation.source] = None
        self._link_uses = list(writes), list(reads)
        return self._link_uses

    def _rewritten(self, role: Role) -> dict[Vfsm, Annotation]:
        rewrites = {(r.pipeline, r.vfsm): r.annotation for r in role.rewrites}
        return {vfsm: annotation for vfsm, annotation in rewrites.items() if vfsm in self.slots}


class NodeState:
    """What a node does in a phase with given annotations.

    ``moving`` tells which VFSMs can ever get a word, from their source or from another VFSM that writes their buffer:
    only these count as writers of their destination.
    """

    def __init__(self, view: NodeView, key: Key, annotations: dict[Vfsm, Annotation]) -> None:
        codes = view.codes
        self.view = view
        self.key = key
        self.hops: dict[Place, tuple[int | None, dict[NodeState | None, Hop]]] = {}
        """Cache of ``words.trace``: by VFSM, the node at the far end of the link that it writes, and by state of that
        node where the words go next."""
        self.annotations = annotations
        neighbours, registers, buffers = codes.neighbours, codes.registers, codes.buffers
        self.taking = {vfsm: annotation.source in codes.sources for vfsm, annotation in annotations.items()}
        self.buffer_writers: dict[Vfsm, list[Vfsm]] = {}
        self.buffer_readers: dict[Vfsm, list[Vfsm]] = {}
        # A VFSM without a source can pass on words that others put into its buffer, and so on down a row of VFSMs.
        self.moving = dict(self.taking)
        waiting = [vfsm for vfsm, takes in self.taking.items() if takes]
        while waiting:
            vfsm = waiting.pop()
            destination = annotations[vfsm].destination
            if destination in buffers:
                other = (vfsm[0], destination - codes.first_buffer)
                self.buffer_writers.setdefault(other, []).append(vfsm)
                if other in annotations and not self.moving[other]:
                    self.moving[other] = True
                    waiting.append(other)
        self.reads: dict[tuple[int, int], list[Vfsm]] = {}
        """By port and slot, the VFSMs that read the link."""
        self.writes: dict[tuple[int, int], list[Vfsm]] = {}
        self.register_readers: dict[int, list[Vfsm]] = {}
        self.register_writers: dict[int, list[Vfsm]] = {}
        for vfsm, annotation in annotations.items():
            source, destination = annotation.source, annotation.destination
            if source in neighbours and annotation.type != MoveType.FORK:
                for slot in view.slots[vfsm]:
                    self.reads.setdefault((source, slot), []).append(vfsm)
            elif source in registers:
                self.register_readers.setdefault(source - codes.first_register, []).append(vfsm)
            elif source in buffers:
                self.buffer_readers.setdefault((vfsm[0], source - codes.first_buffer), []).append(vfsm)
            if not self.moving[vfsm]:
                continue
            if destination in neighbours:
                for slot in view.slots[vfsm]:
                    self.writes.setdefault((destination, slot), []).append(vfsm)
            elif destination in registers:
                self.register_writers.setdefault(destination - codes.first_register, []).append(vfsm)

    def moves(self, vfsm: Vfsm) -> bool:
        """It can pass a word on; otherwise it is switched off."""
        return self.moving[vfsm] and self.annotations[vfsm].destination != self.view.codes.nop

    def takers(self, buffer: Vfsm) -> list[Vfsm]:
        """VFSMs that empty ``buffer``: those that name it as source, and the VFSM to which it belongs if that sends the
        word anywhere else than into the same buffer."""
        takers = list(self.buffer_readers.get(buffer, ()))
        own = self.annotations.get(buffer)
        if own is not None and own.destination not in (
            self.view.codes.nop,
            self.view.codes.buffer(buffer[1]),
        ):
            takers.append(buffer)
        return takers

    def fork_leg(self, vfsm: Vfsm, slot: int) -> Vfsm | None:
        """The second leg that forks off the word of ``vfsm`` at ``slot``; None: there is none."""
        pipeline = vfsm[0]
        leg = (pipeline, self.view.columns[pipeline][(slot + 1) % self.view.period])
        annotation = self.annotations.get(leg)
        if annotation is None or annotation.type != MoveType.FORK:
            return None
        return leg if annotation.source == self.annotations[vfsm].destination else None
