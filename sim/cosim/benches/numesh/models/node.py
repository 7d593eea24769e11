"""Model of a whole node: schedule, annotations, transfers, interface registers and reprogramming together.

Written independently of the models of the blocks, so that an error in a block's model shows here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from numesh.codes import FIRST_READ, Annotation, Codes, CommandKind, MoveType, ScheduleEntry, pack, unpack
from numesh.shape import NodeShape

Inputs = Mapping[str, int]


@dataclass
class Stage:
    """The write stage of a pipeline."""

    data: int
    vfsm: int
    annotation: Annotation
    from_buffer: bool
    room: bool = False
    """Its destination, a register or a buffer, takes it."""


@dataclass(frozen=True)
class ScheduledVfsm:
    """A VFSM on its way to the read stage. ``idle``: why it does nothing there, or empty."""

    vfsm: int
    annotation: Annotation
    idle: str = "none"
    """At first "none": there is no VFSM. Known when it has left the distance stage."""
    active: bool = False


@dataclass
class Past:
    """Of the interface registers, what there was at the start of a cycle and what happened in it."""

    places: list[list[bool]]
    access: tuple[str, int] = ("", 0)
    """Access of the processor, whether it did anything or not."""
    left: set[int] = field(default_factory=set)
    """Registers of which a pipeline took a word."""
    found: set[int] = field(default_factory=set)
    put: set[tuple[int, int]] = field(default_factory=set)
    """Pipelines that put a word into a register."""


@dataclass
class Happening:
    """Actions of a pipeline in a cycle.

    ``why``: reason why the word in the write stage was refused; ``why_not``: why the read stage took no word. Both are
    empty if nothing was refused.
    """

    read: Annotation | None
    """Annotation in the read stage."""
    state: str
    forked: bool
    took: bool
    why_not: str
    written: Stage | None
    ok: bool
    why: str
    command: CommandKind | int | None = None
    """Kind of the command that was carried out."""


class NodeModel:
    """A node, cycle by cycle.

    Attributes
    ----------
    happenings : list of Happening
        Actions of each pipeline in the last cycle.
    collisions : list of str
        Memory contents that were read in the last cycle while a command changed them.
    """

    def __init__(self, shape: NodeShape) -> None:
        self.shape = shape
        self.codes = codes = Codes(shape)
        self.schedule: list[ScheduleEntry] = list(codes.reset_schedule())
        self.annotations = [list(codes.reset_annotations(p)) for p in range(shape.pipelines)]
        self.words: list[list[int | None]] = [[None] * shape.registers for _ in range(1 + shape.pipelines)]
        """Words last written, None until then: the processor's, and those of each pipeline."""
        self.buffers = [[0] * shape.vfsms for _ in range(shape.pipelines)]
        self.read_data: int | None = None
        self.happenings: list[Happening] = []
        self.collisions: list[str] = []
        self.turns = [[ScheduledVfsm(0, self.annotations[p][0])] * 5 for p in range(shape.pipelines)]
        """Of each pipeline those in the decode, distance, look-up, read and write stage."""
        self.fetch = [ScheduledVfsm(0, self.annotations[p][0]) for p in range(shape.pipelines)]
        """VFSMs whose annotations are read in this cycle."""
        self._reset()

    def _reset(self) -> None:
        shape = self.shape
        pipelines = range(shape.pipelines)
        self.started = 0
        """Cycles since reset, up to `FIRST_READ`."""
        self.out: list[ScheduleEntry | None] = [None, None]
        """The entry that is out of the schedule memory, and that of the next cycle."""
        self.pending: list[tuple[CommandKind, int]] = [(CommandKind.SET_POINTER, 0), (CommandKind.SET_POINTER, 1)]
        """Commands for the next two schedule addresses; reset acts as a command to go to 0 and 1."""
        self.places = [[False] * shape.registers for _ in range(1 + shape.pipelines)]
        self.before = Past([list(row) for row in self.places])
        self.held = [[False] * shape.vfsms for _ in pipelines]
        self.stage: list[Stage | None] = [None] * shape.pipelines
        self.states = ["none"] * shape.pipelines
        """Of the read stages: why it is idle, or "left", "retry" or "open"."""
        self.found: list[tuple[int, int | None] | None] = [None] * shape.pipelines
        """Place in which the read stage has found the word of its register, and the word if it is a pipeline's."""
        self.filled = [False] * shape.pipelines
        """The buffer from which the read stage takes has a word."""
        self.partial: list[list[int]] = [[] for _ in pipelines]
        self.commands: list[int | None] = [None] * shape.pipelines
        """Commands that are carried out in this cycle."""
        self.turns = [[replace(turn, active=False, idle="none") for turn in row] for row in self.turns]
        self.fetch = [ScheduledVfsm(0, self.annotations[p][0]) for p in pipelines]
        self.read_data = None

    # -- decided by registers alone --------------------------------------------------------------------------

    @property
    def full(self) -> list[bool]:
        """Which registers hold a word."""
        return [any(row) for row in zip(*self.places, strict=True)]

    def reading(self, p: int) -> Annotation:
        return self.turns[p][3].annotation

    def forked(self, p: int) -> bool:
        """The read stage of pipeline ``p`` is the second leg of the fork in the write stage."""
        _, _, _, turn, first = self.turns[p]
        if not turn.active or turn.annotation.type != MoveType.FORK or self.stage[p] is None:
            return False
        return (
            self.codes.is_neighbour(turn.annotation.source) and first.annotation.destination == turn.annotation.source
        )

    def accepting(self, p: int) -> int | None:
        """Link from which pipeline ``p`` would take a word."""
        reading = self.reading(p)
        if self.states[p] != "open" or reading.type == MoveType.FORK or not self.codes.is_neighbour(reading.source):
            return None
        return reading.source

    def link_writer(self, d: int) -> int | None:
        """Pipeline that has a word for link ``d``. There is but one."""
        for p, stage in enumerate(self.stage):
            if stage is not None and stage.annotation.destination == d:
                return p
        return None

    def held_back(self, p: int) -> str:
        """Reason why the word of pipeline ``p`` for a link is not offered on the link; empty if it is.

        A word with two legs is offered only when both can take it.
        """
        stage = self.stage[p]
        assert stage is not None
        if self.forked(p):
            return "" if self.states[p] == "open" else "second leg not ready"
        return "second leg not there" if stage.annotation.forked else ""

    def offers(self, d: int) -> bool:
        """``out_valid`` of link ``d``."""
        p = self.link_writer(d)
        return p is not None and not self.held_back(p)

    def outputs(self, inputs: Inputs | None = None) -> dict[str, int | None]:
        """All outputs; they depend on registers alone."""
        expected: dict[str, int | None] = {}
        accepted = {self.accepting(p) for p in range(self.shape.pipelines)}
        for d in range(self.shape.neighbours):
            p = self.link_writer(d)
            stage = None if p is None else self.stage[p]
            expected[f"in_accept_{d}"] = int(d in accepted)
            expected[f"out_valid_{d}"] = int(self.offers(d))
            expected[f"out_data_{d}"] = stage.data if stage is not None and self.offers(d) else None
        expected["p_full"] = sum(1 << r for r, full in enumerate(self.full) if full)
        expected["p_read_data"] = self.read_data
        return expected

    # -- a cycle ---------------------------------------------------------------------------------------------

    def clock(self, inputs: Inputs) -> None:
        """The cycle ends."""
        pipelines = range(self.shape.pipelines)
        now = Past([list(row) for row in self.places])
        r = inputs["p_address"]
        if r < self.shape.registers and (inputs["p_read"] or inputs["p_write"]):
            now.access = ("read" if inputs["p_read"] else "write", r)
        self.happenings, taken = [], []
        emptied: list[tuple[int, int]] = []
        for p in pipelines:
            stage = self.stage[p]
            why = self._why_refused(p, inputs)
            ok = stage is not None and not why
            if stage is not None and ok and self.codes.is_register(stage.annotation.destination):
                now.put.add((p, stage.annotation.destination - self.codes.first_register))
            found, source = self.found[p], self._number(self.reading(p).source)
            if found is not None:
                now.found.add(source)
            got, why_not = self._take(p, inputs, ok)
            if got is not None and found is not None and self.reading(p).type != MoveType.COPY:
                emptied.append((found[0], source))
                now.left.add(source)
            taken.append(got)
            turn = self.turns[p][3]
            self.happenings.append(
                Happening(
                    turn.annotation if turn.active else None,
                    self.states[p],
                    self.forked(p),
                    got is not None,
                    why_not,
                    stage,
                    ok,
                    why,
                )
            )
        for p in pipelines:
            got = taken[p]
            if got is not None:
                got.room = self._room(p, got.annotation, got.vfsm, now)
        leaving = [self._leaving(p, taken[p]) for p in pipelines]
        idle = [self._idle(p) for p in pipelines]
        coming = [self._coming(p, now, leaving[p]) for p in pipelines]
        for p in pipelines:
            self._update_buffers(p, leaving[p])
        self._update_registers(inputs, now, emptied)
        commands = [self._collected(p) for p in pipelines]
        address, vfsms = self._read_memories(idle)
        self.collisions = []
        for p, command in enumerate(self.commands):
            if command is not None:
                self.happenings[p].command = self._execute(p, command, address, vfsms)
        # A command changes the schedule memory at once, the annotation memory from the next cycle on.
        self.out = [self.out[1], self.schedule[address]]
        self.stage, self.commands, self.before = taken, commands, now
        self.states = [state for state, _, _ in coming]
        self.found = [found for _, found, _ in coming]
        self.filled = [filled for _, _, filled in coming]
        if inputs["rst"]:
            self._reset()

    def _number(self, code: int) -> int:
        """Number of an interface register."""
        return code - self.codes.first_register

    def _why_refused(self, p: int, inputs: Inputs) -> str:
        """Reason why the word in the write stage is not written; empty if it is written, or if there is no word."""
        stage, codes = self.stage[p], self.codes
        if stage is None:
            return ""
        to = stage.annotation.destination
        if codes.is_neighbour(to):
            return self.held_back(p) or ("" if inputs[f"out_accept_{to}"] else "not accepted")
        if codes.is_register(to) or (codes.is_buffer(to) and to != codes.buffer(stage.vfsm)):
            return "" if stage.room else "full"
        return "" if to in (codes.memadr, codes.null) else "never"

    def _stays(self, p: int) -> bool:
        """The word in the write stage stays in its buffer."""
        stage = self.stage[p]
        if stage is None or self.happenings[p].ok:
            return False
        return stage.annotation.type != MoveType.BLIND or stage.annotation.destination == self.codes.buffer(stage.vfsm)

    def _take(self, p: int, inputs: Inputs, ok: bool) -> tuple[Stage | None, str]:
        """The word that the read stage takes; or None, with the reason if the stage was free to take a word."""
        codes, turn, stage = self.codes, self.turns[p][3], self.stage[p]
        reading, source = turn.annotation, turn.annotation.source
        if self.states[p] == "retry":
            return Stage(self.buffers[p][turn.vfsm], turn.vfsm, reading, True), ""
        if self.states[p] != "open":
            return None, ""
        word: int | None = None
        why_not = ""
        if codes.is_neighbour(source) and reading.type == MoveType.FORK:
            if stage is None:
                why_not = "no first leg"
            elif not self.forked(p):
                why_not = "the word goes elsewhere"
            elif not ok:
                why_not = "first leg refused"
            else:
                word = stage.data
        elif codes.is_neighbour(source):
            if not inputs[f"in_valid_{source}"]:
                why_not = "no word"
            else:
                word = inputs[f"in_data_{source}"]
        elif codes.is_register(source):
            found = self.found[p]
            if found is None:
                why_not = "empty"
            elif stage is not None and codes.is_register(stage.annotation.destination):
                why_not = "own write stage uses the interface"
            else:
                word = self.words[0][self._number(source)] if found[0] == 0 else found[1]
        elif codes.is_buffer(source) and source != codes.buffer(turn.vfsm):
            if self.filled[p]:
                word = self.buffers[p][source - codes.first_buffer]
            else:
                why_not = "empty"
        elif source == codes.null:
            word = 0
        else:
            why_not = "never"
        return (None, why_not) if word is None else (Stage(word, turn.vfsm, reading, False), "")

    def _room(self, p: int, annotation: Annotation, vfsm: int, now: Past) -> bool:
        """There is room in the next cycle where a word goes that has just been taken."""
        codes, to = self.codes, annotation.destination
        if codes.is_buffer(to) and to != codes.buffer(vfsm):
            return annotation.type == MoveType.BLIND or not self.held[p][to - codes.first_buffer]
        if not codes.is_register(to):
            return False
        if annotation.type == MoveType.BLIND:
            return True
        r, past = self._number(to), self.before

        def here(then: Past, q: int) -> bool:
            return then.places[1 + q][r]

        lower = any(here(past, q) for q in range(p))
        full = here(past, p) and (past.access != ("read", r) or lower)
        full = full or (p, r) in past.put
        told = now.access == ("read", r) and not lower and not any((q, r) in past.put for q in range(p))
        return not ((full and not told) or (p, r) in now.put)

    def _idle(self, p: int) -> str:
        """Why the turn in the distance stage of pipeline ``p`` is idle; empty if it is not."""
        _, turn, *earlier = self.turns[p]
        if not turn.active:
            return "none"
        codes, one = self.codes, turn.annotation
        for lower in self.turns[:p]:
            other = lower[1].annotation
            plain = MoveType.FORK not in (one.type, other.type)
            reads = codes.is_register(one.source) or (codes.is_neighbour(one.source) and plain)
            if (reads and one.source == other.source) or (
                codes.is_neighbour(one.destination) and one.destination == other.destination
            ):
                return "meets"
        has, takes, puts = self._touched(turn)
        for slots, then in enumerate(earlier, 1):
            had, took, put = self._touched(then)
            if then.idle:
                continue
            if had == has:
                blind = then.annotation.type == MoveType.BLIND and then.annotation.destination != codes.buffer(had)
                sure = blind or then.annotation.destination in (codes.memadr, codes.null)
                if slots == 1 and (not sure or (takes, puts) != (took, put)):
                    return "own"
                if slots == 3 and takes is not None and takes == put:
                    return "buffer"
                continue
            finds = [has] if takes is None else [has, takes]
            if put in finds or had == takes:
                return "buffer"
            if slots < 3 and (took in finds or (puts is not None and puts in (had, put))):
                return "buffer"
            if slots < 2 and puts is not None and puts == took:
                return "buffer"
        return ""

    def _touched(self, turn: ScheduledVfsm) -> tuple[int, int | None, int | None]:
        """Buffers that a turn has, takes from and fills. Its own is neither taken from nor filled."""

        def other(code: int) -> int | None:
            vfsm = code - self.codes.first_buffer
            return vfsm if self.codes.is_buffer(code) and vfsm != turn.vfsm else None

        return turn.vfsm, other(turn.annotation.source), other(turn.annotation.destination)

    def _coming(
        self, p: int, now: Past, leaving: tuple[list[int], dict[int, int]]
    ) -> tuple[str, tuple[int, int | None] | None, bool]:
        """State of the next read stage, and what its turn finds in its register or buffer."""
        _, _, turn, just, _ = self.turns[p]
        if turn.idle:
            return turn.idle, None, False
        codes, source, stage = self.codes, turn.annotation.source, self.stage[p]
        full = self.held[p][turn.vfsm]
        if stage is not None and stage.vfsm == turn.vfsm:
            full = self._stays(p)
        if full:
            tried = self.states[p] == "retry" and just.vfsm == turn.vfsm
            return "left" if tried else "retry", None, False
        if codes.is_register(source):
            return "open", self._finds(p, self._number(source), now), False
        number = source - codes.first_buffer
        filled = codes.is_buffer(source) and self.held[p][number] and number not in leaving[0]
        return "open", None, filled

    def _finds(self, p: int, r: int, now: Past) -> tuple[int, int | None] | None:
        """Place and word of register ``r`` that pipeline ``p`` finds in the next cycle."""
        if r in now.found:
            return None
        past = self.before
        if r not in past.left:
            for k in range(1, 1 + self.shape.pipelines):
                if past.places[k][r]:
                    return k, self.words[k][r]
            if past.places[0][r]:
                return 0, None
        return (0, None) if ("write", r) in (past.access, now.access) else None

    def _leaving(self, p: int, taken: Stage | None) -> tuple[list[int], dict[int, int]]:
        """Buffers of pipeline ``p`` that another VFSM takes a word from, and words that go into buffers."""
        codes, stage, reading = self.codes, self.stage[p], self.reading(p)
        clear: list[int] = []
        keep: dict[int, int] = {}
        if taken is not None and not taken.from_buffer and codes.is_buffer(reading.source):
            clear += [] if reading.type == MoveType.COPY else [reading.source - codes.first_buffer]
        if stage is not None:
            if self._stays(p):
                keep[stage.vfsm] = stage.data
            elif self.happenings[p].ok and codes.is_buffer(stage.annotation.destination):
                keep[stage.annotation.destination - codes.first_buffer] = stage.data
        return clear, keep

    def _update_buffers(self, p: int, leaving: tuple[list[int], dict[int, int]]) -> None:
        stage, (clear, keep) = self.stage[p], leaving
        if stage is not None and stage.from_buffer:
            self.held[p][stage.vfsm] = False
        for vfsm in clear:
            self.held[p][vfsm] = False
        for vfsm, word in keep.items():
            self.held[p][vfsm] = True
            self.buffers[p][vfsm] = word

    def _update_registers(self, inputs: Inputs, now: Past, emptied: list[tuple[int, int]]) -> None:
        what, r = now.access
        if what == "read":
            full = [k for k in range(1, 1 + self.shape.pipelines) if now.places[k][r]]
            self.read_data = self.words[full[0] if full else self.shape.pipelines][r]
            emptied = emptied + [(k, r) for k in full[:1]]
        for k, number in emptied:
            self.places[k][number] = False
        for p, number in now.put:
            stage = self.stage[p]
            assert stage is not None
            self.places[1 + p][number], self.words[1 + p][number] = True, stage.data
        if what == "write":
            self.places[0][r], self.words[0][r] = True, inputs["p_write_data"]

    def _collected(self, p: int) -> int | None:
        """The command that is complete with the word in the write stage of pipeline ``p``."""
        stage = self.stage[p]
        if stage is None or stage.annotation.destination != self.codes.memadr:
            return None
        return self._collect(p, stage.data)

    def _collect(self, p: int, word: int) -> int | None:
        self.partial[p].append(word)
        if len(self.partial[p]) < self.codes.command_words:
            return None
        command = sum(part << (self.shape.width * i) for i, part in enumerate(self.partial[p]))
        self.partial[p] = []
        return command

    def _read_memories(self, idle: list[str]) -> tuple[int, tuple[int, ...]]:
        """The stages before the read stage go on; annotations are read before any write of this cycle.

        Gives the addresses of the memories.
        """
        read = tuple(fetch.vfsm for fetch in self.fetch)
        for p, fetch in enumerate(self.fetch):
            decode, distance, *rest = self.turns[p]
            now = replace(fetch, annotation=self.annotations[p][fetch.vfsm])
            self.turns[p] = [now, decode, replace(distance, idle=idle[p]), *rest[:2]]
        entry = self.out[0]
        for p in range(self.shape.pipelines):
            vfsm = 0 if entry is None else entry.vfsms[p]
            self.fetch[p] = ScheduledVfsm(vfsm, self.annotations[p][0], active=entry is not None)
        address = 0 if entry is None else entry.ahead
        if self.pending:
            kind, value = self.pending.pop(0)
            address = value if kind == CommandKind.SET_POINTER else (address + value) % self.shape.schedule_depth
        self.started = min(self.started + 1, FIRST_READ)
        return address, read

    def _execute(self, p: int, command: int, address: int, vfsms: tuple[int, ...]) -> CommandKind | int:
        codes = self.codes
        kind = command & 7
        if kind == CommandKind.ANNOTATION:
            fields = unpack(codes.command_layouts[CommandKind.ANNOTATION], command)
            packed = pack(codes.annotation_layout, **{name: fields[name] for name in codes.annotation_layout})
            annotation = codes.decode_annotation(packed)
            if fields["vfsm"] == vfsms[p] and annotation != self.annotations[p][vfsms[p]]:
                self.collisions.append(f"annotation of pipeline {p}")
            self.annotations[p][fields["vfsm"]] = annotation
        elif kind == CommandKind.SCHEDULE and p == 0:
            fields = unpack(codes.command_layouts[CommandKind.SCHEDULE], command)
            packed = pack(codes.entry_layout, **{name: fields[name] for name in codes.entry_layout})
            entry = codes.decode_entry(packed)
            if fields["address"] == address and entry != self.schedule[address]:
                self.collisions.append("schedule entry")
            self.schedule[fields["address"]] = entry
        elif kind in (CommandKind.SET_POINTER, CommandKind.ADD_POINTER) and p == 0:
            fields = unpack(codes.command_layouts[CommandKind(kind)], command)
            second = fields["second"] if kind == CommandKind.SET_POINTER else fields["value"]
            self.pending = [(CommandKind(kind), fields["value"]), (CommandKind(kind), second)]
        return CommandKind(kind) if kind <= max(CommandKind) else kind
