"""Model of a whole node: schedule, annotations, transfers, interface registers and reprogramming together.

Written independently of the models of the blocks, so that an error in a block's model shows here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
        self.words: list[int | None] = [None] * shape.registers
        """Words last written, None until then."""
        self.buffers = [[0] * shape.vfsms for _ in range(shape.pipelines)]
        idle = [(0, self.annotations[p][0]) for p in range(shape.pipelines)]
        self.coming = [idle, idle]
        """VFSMs with their annotations in the look-up and in the decode stage."""
        self.read_vfsm = [0] * shape.pipelines
        self.read_annotation = [self.annotations[p][0] for p in range(shape.pipelines)]
        self.read_data: int | None = None
        self.happenings: list[Happening] = []
        self.collisions: list[str] = []
        self._reset()

    def _reset(self) -> None:
        shape = self.shape
        self.started = 0
        """Cycles since reset, up to `FIRST_READ`."""
        self.out: list[ScheduleEntry | None] = [None, None]
        """The entry that is out of the schedule memory, and that of the next cycle."""
        self.pending: list[tuple[CommandKind, int]] = [(CommandKind.SET_POINTER, 0), (CommandKind.SET_POINTER, 1)]
        """Commands for the next two schedule addresses; reset acts as a command to go to 0 and 1."""
        self.full = [False] * shape.registers
        self.held = [[False] * shape.vfsms for _ in range(shape.pipelines)]
        self.stage: list[Stage | None] = [None] * shape.pipelines
        self.partial: list[list[int]] = [[] for _ in range(shape.pipelines)]
        self.read_data = None

    # -- decided by registers alone --------------------------------------------------------------------------

    def state(self, p: int) -> str:
        """Of the read stage of pipeline ``p``: "idle", "own", "incoming", "retry" or "open"."""
        if self.started < FIRST_READ:
            return "idle"
        vfsm, stage, codes = self.read_vfsm[p], self.stage[p], self.codes
        if stage is not None and stage.vfsm == vfsm:
            sure = stage.annotation.destination in (codes.memadr, codes.null)
            if stage.from_buffer or not (sure or stage.annotation.type == MoveType.BLIND):
                return "own"
        if self.held[p][vfsm]:
            return "retry"
        if stage is not None and stage.annotation.destination == codes.buffer(vfsm):
            return "incoming"
        return "open"

    def forked(self, p: int) -> bool:
        """The read stage of pipeline ``p`` is the second leg of the fork in the write stage."""
        reading, stage = self.read_annotation[p], self.stage[p]
        if self.started < FIRST_READ or reading.type != MoveType.FORK or stage is None:
            return False
        return self.codes.is_neighbour(reading.source) and stage.annotation.destination == reading.source

    def accepting(self, p: int) -> int | None:
        """Link from which pipeline ``p`` would take a word."""
        reading = self.read_annotation[p]
        if self.state(p) != "open" or reading.type == MoveType.FORK or not self.codes.is_neighbour(reading.source):
            return None
        return reading.source

    def link_writer(self, d: int) -> int | None:
        """Pipeline that drives link ``d``: the lowest with a word for it."""
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
            return "" if self.state(p) == "open" else "second leg not ready"
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
        states = [self.state(p) for p in range(self.shape.pipelines)]
        forks = [self.forked(p) for p in range(self.shape.pipelines)]
        p_read, p_write = self._processor(inputs)
        self.happenings = []
        taken: list[Stage | None] = []
        registers_taken: list[int] = []
        registers_copied: list[int] = []
        registers_written: dict[int, int] = {}
        for p in range(self.shape.pipelines):
            why = self._why_refused(p, inputs, p_write, registers_written)
            stage = self.stage[p]
            ok = stage is not None and not why
            if stage is not None and ok and self.codes.is_register(stage.annotation.destination):
                registers_written[stage.annotation.destination - self.codes.first_register] = stage.data
            got, why_not = self._take(p, inputs, p_read, registers_taken + registers_copied, states[p], forks[p], ok)
            reading = self.read_annotation[p]
            if got is not None and not got.from_buffer and self.codes.is_register(reading.source):
                copied = reading.type == MoveType.COPY
                (registers_copied if copied else registers_taken).append(reading.source - self.codes.first_register)
            taken.append(got)
            self.happenings.append(
                Happening(
                    reading if states[p] != "idle" else None,
                    states[p],
                    forks[p],
                    got is not None,
                    why_not,
                    stage,
                    ok,
                    why,
                )
            )
        commands = [self._update_buffers(p, taken[p]) for p in range(self.shape.pipelines)]
        if inputs["p_read"] and inputs["p_address"] < self.shape.registers:
            self.read_data = self.words[inputs["p_address"]]  # whether it is full or not
        if p_read is not None:
            registers_taken.append(p_read)
        for r in registers_taken:
            self.full[r] = False
        if p_write is not None:
            registers_written[p_write] = inputs["p_write_data"]
        for r, word in registers_written.items():
            self.full[r] = True
            self.words[r] = word
        address, vfsms = self._read_memories()
        self.collisions = []
        for p, command in enumerate(commands):
            if command is not None:
                self.happenings[p].command = self._execute(p, command, address, vfsms)
        # A command changes the schedule memory at once, the annotation memory from the next cycle on.
        self.out = [self.out[1], self.schedule[address]]
        self.stage = taken
        if inputs["rst"]:
            self._reset()

    def _processor(self, inputs: Inputs) -> tuple[int | None, int | None]:
        """Registers that the processor takes and fills."""
        r = inputs["p_address"]
        if r >= self.shape.registers:
            return None, None
        if self.full[r]:
            return (r if inputs["p_read"] else None), None
        return None, (r if inputs["p_write"] else None)

    def _why_refused(
        self,
        p: int,
        inputs: Inputs,
        p_write: int | None,
        written: Mapping[int, int],
    ) -> str:
        """Reason why the word in the write stage is not written; empty if it is written, or if there is no word."""
        stage, codes = self.stage[p], self.codes
        if stage is None:
            return ""
        to = stage.annotation.destination
        blind = stage.annotation.type == MoveType.BLIND
        if codes.is_neighbour(to):
            if self.link_writer(to) != p:
                return "a lower pipeline has it"
            return self.held_back(p) or ("" if inputs[f"out_accept_{to}"] else "not accepted")
        if codes.is_register(to):
            r = to - codes.first_register
            if self.full[r] and not blind:
                return "full"
            if r == p_write:
                return "processor"
            return "a lower pipeline writes it" if r in written else ""
        if codes.is_buffer(to):
            return "full" if self.held[p][to - codes.first_buffer] and not blind else ""
        return "" if to in (codes.memadr, codes.null) else "never"

    def _take(
        self,
        p: int,
        inputs: Inputs,
        p_read: int | None,
        gone: list[int],
        state: str,
        forked: bool,
        ok: bool,
    ) -> tuple[Stage | None, str]:
        """The word that the read stage takes; or None, with the reason if the stage was free to take a word."""
        codes, vfsm, reading, stage = self.codes, self.read_vfsm[p], self.read_annotation[p], self.stage[p]
        if state == "retry":
            return Stage(self.buffers[p][vfsm], vfsm, reading, True), ""
        if state != "open":
            return None, ""
        source = reading.source
        word: int | None = None
        why_not = ""
        if codes.is_neighbour(source) and reading.type == MoveType.FORK:
            if stage is None:
                why_not = "no first leg"
            elif not forked:
                why_not = "the word goes elsewhere"
            elif not ok:
                why_not = "first leg refused"
            else:
                word = stage.data
        elif codes.is_neighbour(source):
            if any(self.accepting(q) == source for q in range(p)):
                why_not = "a lower pipeline accepts"
            elif not inputs[f"in_valid_{source}"]:
                why_not = "no word"
            else:
                word = inputs[f"in_data_{source}"]
        elif codes.is_register(source):
            r = source - codes.first_register
            if not self.full[r]:
                why_not = "empty"
            elif stage is not None and codes.is_register(stage.annotation.destination):
                why_not = "own write stage uses the interface"
            elif r == p_read:
                why_not = "processor"
            elif r in gone:
                why_not = "a lower pipeline takes it"
            else:
                word = self.words[r]
        elif codes.is_buffer(source):
            b = source - codes.first_buffer
            if not self.held[p][b]:
                why_not = "empty"
            elif stage is not None and stage.from_buffer and stage.vfsm == b:
                why_not = "leaving"
            else:
                word = self.buffers[p][b]
        elif source == codes.null:
            word = 0
        else:
            why_not = "never"
        return (None, why_not) if word is None else (Stage(word, vfsm, reading, False), "")

    def _update_buffers(self, p: int, taken: Stage | None) -> int | None:
        """Buffers of pipeline ``p`` at the end of the cycle. Gives the command that is complete."""
        codes, stage, held = self.codes, self.stage[p], self.held[p]
        clear: list[int] = []
        keep: dict[int, int] = {}
        command = None
        reading = self.read_annotation[p]
        from_buffer = taken is not None and not taken.from_buffer and codes.is_buffer(reading.source)
        if from_buffer and reading.type != MoveType.COPY:
            clear.append(reading.source - codes.first_buffer)
        if stage is not None:
            ok = self.happenings[p].ok
            blind = stage.annotation.type == MoveType.BLIND
            if stage.from_buffer and (ok or blind):
                clear.append(stage.vfsm)
            if not stage.from_buffer and not ok and not blind:
                keep[stage.vfsm] = stage.data
            if ok and codes.is_buffer(stage.annotation.destination):
                keep[stage.annotation.destination - codes.first_buffer] = stage.data
            if stage.annotation.destination == codes.memadr:
                command = self._collect(p, stage.data)
        for vfsm in clear:
            held[vfsm] = False
        for vfsm, word in keep.items():
            held[vfsm] = True
            self.buffers[p][vfsm] = word
        return command

    def _collect(self, p: int, word: int) -> int | None:
        self.partial[p].append(word)
        if len(self.partial[p]) < self.codes.command_words:
            return None
        command = sum(part << (self.shape.width * i) for i, part in enumerate(self.partial[p]))
        self.partial[p] = []
        return command

    def _read_memories(self) -> tuple[int, tuple[int, ...]]:
        """The stages before the read stage go on; annotations are read before any write of this cycle.

        Gives the addresses of the memories.
        """
        self.read_vfsm = [vfsm for vfsm, _ in self.coming[0]]
        self.read_annotation = [annotation for _, annotation in self.coming[0]]
        entry = self.out[0]
        vfsms = (0,) * self.shape.pipelines if entry is None else entry.vfsms
        self.coming = [self.coming[1], [(vfsm, self.annotations[p][vfsm]) for p, vfsm in enumerate(vfsms)]]
        address = 0 if entry is None else entry.ahead
        if self.pending:
            kind, value = self.pending.pop(0)
            address = value if kind == CommandKind.SET_POINTER else (address + value) % self.shape.schedule_depth
        self.started = min(self.started + 1, FIRST_READ)
        return address, vfsms

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
