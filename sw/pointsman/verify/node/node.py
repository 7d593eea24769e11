"""What one node does in one phase, for one choice of roles, and the rules that it must keep by itself.

Takes a node's part of a phase; gives, for each choice of roles, its VFSMs with their sources and destinations by slot, and
what is wrong with them: rules "moves", "links" (two VFSMs on one link), "interface-order", "back-to-back", "buffers", "forks"
and "registers".

A VFSM "at slot t" has its read stage in slot t and its write stage in slot t + 1, where the VFSM of slot t + 1 of the same
pipeline has its read stage; slots are modulo the period throughout. Example of a buffer: VFSM 5 at slot 3 writes the buffer
of VFSM 6, where the word is from slot 5 on. If VFSM 6 takes it at slot 6, VFSM 5 may run again from slot 7 on; at slot 5 or 6
it would overwrite the word.

Leaves to ``words.trace`` whether the two ends of a link agree, and to ``phases`` what another phase does with the same
places.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from numesh.codes import FIRST_FREE_VFSM, REPROGRAM_VFSM, Annotation, Codes, MoveType
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
    """A problem of words that come to a VFSM, for any stream of such words."""

    rule: str
    node: int
    message: str
    right: str
    vfsm: Vfsm | None = None
    slot: int | None = None


@dataclass
class Hop:
    """Where the words of a VFSM come to next."""

    steps: list[Place | Remark] = field(default_factory=list)
    """VFSMs that get them, and what is wrong with that, in turn."""
    link_slots: int = 0
    register: int | None = None
    """Interface register into which they go."""
    words: int | None = None
    """Words per period that a VFSM takes on from there; None: they have arrived."""


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
        Its part, which has passed the rule "structure".
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
        """The same by operator."""
        self._position = {index: i for i, (index, _) in enumerate(self.operators)}
        self._first = tuple(operator.role_of[0] for _, operator in self.operators)
        self._rewriting = [
            (i, operator) for i, (_, operator) in enumerate(self.operators) if any(r.rewrites for r in operator.roles)
        ]
        """Place in a key of those whose load functions rewrite."""
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

    def every_slot(self, vfsm: Vfsm) -> tuple[int, ...]:
        """Slots in which it runs in any schedule of the phase."""
        if not self.part.second:
            return self.slots[vfsm]
        pipeline, number = vfsm
        second = (slot for slot, row in enumerate(self.part.second) if row[pipeline] == number)
        return tuple(sorted({*self.slots[vfsm], *second}))

    def commanded(self) -> set[int]:
        """Command registers to which other nodes send, by promise."""
        here = (
            p for p in self.images.promises if p.phase == self.part.phase and self.images.operators[p.operator].remote
        )
        return {register for promise in here for node, register in promise.destinations if node == self.node}

    def key(self, choice: Mapping[int, int]) -> Key:
        """Roles for the values of ``choice`` (operator to index of its value; others have their first)."""
        key = self._first
        for index, state in choice.items():
            at = self._position.get(index)
            if at is not None:
                role = self.here[index].role_of[state]
                if role != key[at]:
                    key = (*key[:at], role, *key[at + 1 :])
        return key

    def state(self, key: Key) -> NodeState:
        """What the node does when its operators have these roles."""
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

    def _rewritten(self, role: Role) -> dict[Vfsm, Annotation]:
        rewrites = {(r.pipeline, r.vfsm): r.annotation for r in role.rewrites}
        return {vfsm: annotation for vfsm, annotation in rewrites.items() if vfsm in self.slots}

    def scheduled_problems(self) -> list[Problem]:
        """Rules that depend on the schedule alone."""
        problems = []
        for pipeline, column in enumerate(self.columns):
            for slot, vfsm in enumerate(column):
                if vfsm >= FIRST_FREE_VFSM and column[slot - 1] == vfsm:
                    problems.append(
                        Problem(
                            "back-to-back",
                            "it runs in the slot before as well",
                            "a slot between two runs of a VFSM",
                            pipeline,
                            slot,
                            vfsm,
                        )
                    )
        return problems


class NodeState:
    """What a node does in a phase with given annotations.

    A VFSM counts with its source if that can ever hold a word, and with its destination if it can ever get one: from
    its source, or from another VFSM that writes its buffer.
    """

    def __init__(self, view: NodeView, key: Key, annotations: dict[Vfsm, Annotation]) -> None:
        codes = view.codes
        self.view = view
        self.key = key
        self.hops: dict[Place, tuple[int | None, dict[NodeState | None, Hop]]] = {}
        """By VFSM, the node at the other end of the link that it writes, and where words go on by the state of that: see
        ``words.trace``."""
        self.annotations = annotations
        self.taking = {vfsm: self._takes(codes, annotation) for vfsm, annotation in annotations.items()}
        self.buffer_writers: dict[Vfsm, list[Vfsm]] = {}
        self.buffer_readers: dict[Vfsm, list[Vfsm]] = {}
        # A VFSM without a source of its own can pass on what others put into its buffer, and so on down a row of them.
        self.moving = dict(self.taking)
        waiting = [vfsm for vfsm, takes in self.taking.items() if takes]
        while waiting:
            vfsm = waiting.pop()
            destination = annotations[vfsm].destination
            if codes.is_buffer(destination):
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
            if codes.is_neighbour(source) and annotation.type != MoveType.FORK:
                for slot in view.slots[vfsm]:
                    self.reads.setdefault((source, slot), []).append(vfsm)
            elif codes.is_register(source):
                self.register_readers.setdefault(source - codes.first_register, []).append(vfsm)
            elif codes.is_buffer(source):
                self.buffer_readers.setdefault((vfsm[0], source - codes.first_buffer), []).append(vfsm)
            if not self.moving[vfsm]:
                continue
            if codes.is_neighbour(destination):
                for slot in view.slots[vfsm]:
                    self.writes.setdefault((destination, slot), []).append(vfsm)
            elif codes.is_register(destination):
                self.register_writers.setdefault(destination - codes.first_register, []).append(vfsm)

    @staticmethod
    def _takes(codes: Codes, annotation: Annotation) -> bool:
        source = annotation.source
        return (
            codes.is_neighbour(source) or codes.is_register(source) or codes.is_buffer(source) or source == codes.null
        )

    def moves(self, vfsm: Vfsm) -> bool:
        """It can pass a word on; otherwise it is switched off."""
        return self.moving[vfsm] and self.annotations[vfsm].destination != self.view.codes.nop

    def takers(self, buffer: Vfsm) -> list[Vfsm]:
        """VFSMs that empty a buffer: those that name it as source, and its own unless it only fills it."""
        takers = list(self.buffer_readers.get(buffer, ()))
        own = self.annotations.get(buffer)
        if own is not None and own.destination not in (
            self.view.codes.nop,
            self.view.codes.buffer(buffer[1]),
        ):
            takers.append(buffer)
        return takers

    def fork_leg(self, vfsm: Vfsm, slot: int) -> Vfsm | None:
        """The VFSM that forks off what ``vfsm`` writes when it runs at ``slot``."""
        pipeline = vfsm[0]
        leg = (pipeline, self.view.columns[pipeline][(slot + 1) % self.view.period])
        annotation = self.annotations.get(leg)
        if annotation is None or annotation.type != MoveType.FORK:
            return None
        return leg if annotation.source == self.annotations[vfsm].destination else None

    def problems(self) -> list[Problem]:
        """All rules that the node breaks by itself."""
        found: list[Problem] = []
        for rule in (self._moves, self._ports, self._interface_order, self._forks, self._registers, self._buffers):
            rule(found.append)
        return found

    def _moves(self, note: Callable[[Problem], None]) -> None:
        codes = self.view.codes
        for vfsm, annotation in self.annotations.items():
            if annotation.source == codes.null:
                # Even with nowhere to go: the word would stay in its buffer until a load function gives it a place.
                message = "NULL gives a word in every slot, which no stream sends"
                right = "an interface register, where streams begin"
            elif not self.moves(vfsm):
                continue
            elif annotation.type == MoveType.BLIND:
                message = "a blind move drops or overwrites a word when its destination is full"
                right = "a flow-controlled move"
            elif annotation.type == MoveType.COPY and not codes.is_neighbour(annotation.source):
                message = f"a copy leaves the word in {codes.name(annotation.source)} and sends it again"
                right = "a move"
            else:
                continue
            note(Problem("moves", message, right, vfsm[0], vfsm=vfsm[1]))

    def _ports(self, note: Callable[[Problem], None]) -> None:
        for verb, table in (("reads", self.reads), ("writes", self.writes)):
            for (port, slot), vfsms in table.items():
                name = self.view.codes.name(port)
                if port not in self.view.links:
                    for pipeline, vfsm in vfsms:
                        note(
                            Problem(
                                "links",
                                f"it {verb} {name}, where no node is joined",
                                "a link of the network",
                                pipeline,
                                slot,
                                vfsm,
                            )
                        )
                for pipeline, vfsm in vfsms[1:]:
                    note(
                        Problem(
                            "links",
                            f"it {verb} {name} as VFSM {vfsms[0][1]} of pipeline {vfsms[0][0]} does",
                            "one VFSM for a link and slot",
                            pipeline,
                            slot,
                            vfsm,
                        )
                    )

    def _interface_order(self, note: Callable[[Problem], None]) -> None:
        codes, period = self.view.codes, self.view.period
        for writers in self.register_writers.values():
            for writer in writers:
                column = self.view.columns[writer[0]]
                for slot in self.view.slots[writer]:
                    after = (slot + 1) % period
                    reader = (writer[0], column[after])
                    annotation = self.annotations.get(reader)
                    reading = annotation is not None and codes.is_register(annotation.source)
                    if reader[1] == REPROGRAM_VFSM or reading:
                        note(
                            Problem(
                                "interface-order",
                                f"it reads the interface right after VFSM {writer[1]} writes it",
                                "a slot between them",
                                reader[0],
                                after,
                                reader[1],
                            )
                        )

    def _forks(self, note: Callable[[Problem], None]) -> None:
        codes = self.view.codes
        for vfsm, annotation in self.annotations.items():
            if not annotation.forked or not self.taking[vfsm]:
                continue
            for slot in self.view.slots[vfsm]:
                column = self.view.columns[vfsm[0]]
                second = self.annotations.get((vfsm[0], column[(slot + 1) % len(column)]))
                if second is None or second.type != MoveType.FORK or second.source != annotation.destination:
                    note(
                        Problem(
                            "forks",
                            "it is marked as forked and no second leg follows",
                            "a second leg in the next slot, or no mark",
                            vfsm[0],
                            slot,
                            vfsm[1],
                        )
                    )
        for vfsm, annotation in self.annotations.items():
            if annotation.type != MoveType.FORK or not self.taking[vfsm]:
                continue
            pipeline = vfsm[0]
            if not codes.is_neighbour(annotation.source):
                note(
                    Problem(
                        "forks",
                        f"it forks from {codes.name(annotation.source)}",
                        "a link that the first leg writes",
                        pipeline,
                        vfsm=vfsm[1],
                    )
                )
                continue
            for slot in self.view.slots[vfsm]:
                first = (pipeline, self.view.columns[pipeline][slot - 1])
                leg = self.annotations.get(first)
                if leg is not None and leg.destination == annotation.source and not leg.forked:
                    note(
                        Problem(
                            "forks",
                            "it is forked off in the next slot and not marked as forked",
                            "the mark, so that no word passes the second leg when the phase changes",
                            pipeline,
                            (slot - 1) % self.view.period,
                            first[1],
                        )
                    )
                if leg is None or leg.destination != annotation.source:
                    note(
                        Problem(
                            "forks",
                            f"it forks off {codes.name(annotation.source)}, which VFSM {first[1]} in the slot before "
                            "does not write",
                            "the first leg in the slot before",
                            pipeline,
                            slot,
                            vfsm[1],
                        )
                    )

    def _registers(self, note: Callable[[Problem], None]) -> None:
        pipelines = len(self.view.columns)
        for register in sorted(self.register_readers.keys() | self.register_writers.keys()):
            readers = self.register_readers.get(register, [])
            writers = self.register_writers.get(register, [])
            users = readers + writers
            pipeline, vfsm = users[-1]
            if register < pipelines:
                # Commands from elsewhere: ``words.commands``.
                for pipeline, vfsm in readers if register in self.view.commanded() else users:
                    note(
                        Problem(
                            "registers",
                            f"it uses command register {register}",
                            f"a register from {pipelines} up",
                            pipeline,
                            vfsm=vfsm,
                        )
                    )
            elif len(readers) > 1:
                # Several writers may merge; that is for those who follow the streams to judge.
                note(
                    Problem(
                        "registers",
                        f"register {register} is read by {len(readers)} and written by {len(writers)} VFSMs",
                        "one reader",
                        pipeline,
                        vfsm=vfsm,
                    )
                )

    def _buffers(self, note: Callable[[Problem], None]) -> None:
        for buffer in sorted(self.buffer_writers.keys() | self.buffer_readers.keys()):
            pipeline, number = buffer
            writers, takers = self.buffer_writers.get(buffer, []), self.takers(buffer)
            if number < FIRST_FREE_VFSM:
                vfsm = (writers or takers)[0][1]
                note(Problem("buffers", f"it uses the buffer of VFSM {number}", "another buffer", pipeline, vfsm=vfsm))
                continue
            if not writers:
                note(Problem("buffers", "its buffer is read but not written", "a writer", pipeline, vfsm=takers[0][1]))
            elif len(takers) != 1:
                note(
                    Problem(
                        "buffers", f"its buffer is emptied by {len(takers)} VFSMs", "one reader", pipeline, vfsm=number
                    )
                )
            else:
                self._timing(buffer, writers, takers[0], note)

    def _timing(self, buffer: Vfsm, writers: Sequence[Vfsm], taker: Vfsm, note: Callable[[Problem], None]) -> None:
        """A word written at slot t is in the buffer from t + 2 on, and must be gone when the writer runs again."""
        period, slots = self.view.period, self.view.slots
        pipeline, number = buffer
        column = self.view.columns[pipeline]
        for writer in writers:
            for slot in slots[writer]:
                if column[(slot + 1) % period] == number != writer[1]:
                    note(
                        Problem(
                            "buffers",
                            f"it writes the buffer of VFSM {number}, which runs in the next slot",
                            "a slot between them",
                            pipeline,
                            slot,
                            writer[1],
                        )
                    )
                taken = min((at - slot - 2) % period for at in slots[taker]) + 2
                again = min((at - slot - 1) % period for at in slots[writer]) + 1
                if taken >= again:
                    note(
                        Problem(
                            "buffers",
                            f"VFSM {taker[1]} takes its word {taken} slots later, when it has run again",
                            f"VFSM {taker[1]} 2 to {again - 1} slots after it",
                            pipeline,
                            slot,
                            writer[1],
                        )
                    )
