"""Random programs and words for whole nodes, and the processor that loads them.

Everything is random, with an exception: no word sent rewrites the loader phase's schedule entries or VFSM 1. Reset leaves
the memories unchanged, so a node without its loader phase would be dead for the rest of the run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from cosim.benches.numesh.models.places import KINDS, code_of
from cosim.benches.numesh.moves import GIVING, Goal
from numesh.codes import (
    ANNOTATION_LATENCY,
    ENTRY_LATENCY,
    LOOKAHEAD,
    NOP_VFSM,
    REPROGRAM_VFSM,
    SHORTEST_STAY,
    Annotation,
    Codes,
    CommandKind,
    MoveType,
    ScheduleEntry,
    bits_for,
    unpack,
)
from numesh.shape import NodeShape

_PATIENCE = 4
"""Cycles after which a command that has left its register has been carried out."""
_CROWD = 7
"""VFSMs that a program uses in a pipeline at most: few, so that they interact."""
_STAY = (NOP_VFSM,) * (SHORTEST_STAY - 1)
"""Slots between a word that goes into a buffer and the turn that takes it from there."""
_ENTRIES = 14
"""Schedule entries of a program at most."""


class Words:
    """Words that may go anywhere."""

    def __init__(self, codes: Codes, random: Random) -> None:
        self.codes = codes
        self.random = random
        layouts = codes.command_layouts
        for kind, field in ((CommandKind.SCHEDULE, "address"), (CommandKind.ANNOTATION, "vfsm")):
            if layouts[kind]["kind"] + layouts[kind][field] > codes.shape.width:
                raise ValueError("the first word of a command must tell what the command writes")

    def harmless(self, word: int) -> bool:
        """As the first word of a command, ``word`` does not touch the loader phase."""
        kind = word & 7
        if kind == CommandKind.SCHEDULE:
            return unpack(self.codes.command_layouts[CommandKind.SCHEDULE], word)["address"] >= LOOKAHEAD
        if kind == CommandKind.ANNOTATION:
            return unpack(self.codes.command_layouts[CommandKind.ANNOTATION], word)["vfsm"] != REPROGRAM_VFSM
        return True

    def any(self) -> int:
        """A random word."""
        while True:
            word = self.random.getrandbits(self.codes.shape.width)
            if self.harmless(word):
                return word


class RandomProgram:
    """A random schedule with random annotations, and where its pointer may go.

    The schedule of a pipeline is put together from pieces: single VFSMs, a VFSM twice in a row, forks, and pieces that
    bring about a move of ``goals``.
    """

    def __init__(self, codes: Codes, words: Words, random: Random, goals: Sequence[Goal] = ()) -> None:
        self.codes = codes
        self.words = words
        self.random = random
        self.goals = goals
        shape = codes.shape
        # Other words in a command register would disturb commands of several words.
        first = shape.pipelines if shape.pipelines < shape.registers and random.random() < 0.6 else 0
        pool = range(first, shape.registers)
        self.registers = random.sample(pool, min(random.choice((1, 2, shape.registers)), len(pool)))
        self.links = random.sample(range(shape.neighbours), random.choice((1, shape.neighbours)))
        size = min(random.randint(3, _CROWD), shape.vfsms - 2)
        self.crowds = [random.sample(range(2, shape.vfsms), size) for _ in range(shape.pipelines)]
        self.annotations: list[dict[int, Annotation]] = [
            {vfsm: self.annotation(p) for vfsm in (*crowd, 0)} for p, crowd in enumerate(self.crowds)
        ]
        self.entries = random.randint(2, min(_ENTRIES, shape.schedule_depth - 2))
        self.first = random.randint(LOOKAHEAD, shape.schedule_depth - self.entries)
        rows = [self._row(p) for p in range(shape.pipelines)]
        if random.random() < 0.3:
            self._clash(rows)
        self.schedule = {
            self.first + i: ScheduleEntry(row, self._next(i)) for i, row in enumerate(zip(*rows, strict=True))
        }

    def annotation(self, p: int) -> Annotation:
        """A random annotation of pipeline ``p``."""
        random = self.random
        source, destination = random.choices(KINDS, weights=(6, 5, 5, 2, 1, 1, 1, 1), k=2)
        marked = random.random() < 0.1
        return Annotation(random.choice(tuple(MoveType)), self._code(p, source), self._code(p, destination), marked)

    def addresses(self, start: int | None = None) -> tuple[int, int]:
        """Two addresses that the pointer may be set to, most often of successive slots."""
        if start is None:
            start = self.first + self.random.randrange(self.entries)
        if self.random.random() < 0.1:
            return start, self.first + self.random.randrange(self.entries)
        return start, self.first + (start + 1 - self.first) % self.entries

    def command(self, p: int) -> tuple[int, ...]:
        """Words of a random command for pipeline ``p``, mostly a command after which the node stays busy."""
        random, codes = self.random, self.codes
        while True:
            match random.randrange(8):
                case 0 | 1:
                    vfsm = self.schedule[self._reached(p, ANNOTATION_LATENCY)].vfsms[p]
                    command = codes.write_annotation(vfsm, self.annotation(p))
                case 2 | 3:
                    row = tuple(self._vfsm(q) for q in range(codes.shape.pipelines))
                    address = self._reached(0, ENTRY_LATENCY)
                    command = codes.write_entry(address, ScheduleEntry(row, self._next(address - self.first)))
                case 4 | 5:
                    command = codes.set_pointer(*self.addresses())
                case 6:
                    command = codes.add_pointer(random.randint(-self.entries, self.entries))
                case _:
                    command = self._vain_command(p)
            if all(map(self.words.harmless, command)):
                return command

    def _reached(self, p: int, slots: int) -> int:
        """A schedule address; often ``slots`` slots after the reprogramming VFSM of pipeline ``p``.

        After `ANNOTATION_LATENCY` and `ENTRY_LATENCY` slots, annotations and entries are read at about the time at which the
        command is carried out.
        """
        addresses = list(self.schedule)
        after = [
            addresses[(i + slots) % len(addresses)]
            for i, address in enumerate(addresses)
            if self.schedule[address].vfsms[p] == REPROGRAM_VFSM
        ]
        return self.random.choice(after if after and self.random.random() < 0.5 else addresses)

    def _vain_command(self, p: int) -> tuple[int, ...]:
        """Words of a random command without effect: of an unknown kind, or of a kind that only pipeline 0 carries out."""
        kinds: list[int] = [CommandKind.NONE, *range(max(CommandKind) + 1, 8)]
        if p:
            kinds += [CommandKind.SCHEDULE, CommandKind.SET_POINTER, CommandKind.ADD_POINTER]
        kind = self.random.choice(kinds)
        return tuple(self.words.any() & ~7 | kind for _ in range(self.codes.command_words))

    def loading(self) -> list[deque[int]]:
        """Words that load the program, by pipeline, with some commands in between that do nothing."""
        shape, codes = self.codes.shape, self.codes
        queues: list[deque[int]] = [deque() for _ in range(shape.pipelines)]
        for p, legs in enumerate(self.annotations):
            self._append(queues[p], self._vain_command(p))
            for vfsm, annotation in legs.items():
                self._append(queues[p], codes.write_annotation(vfsm, annotation))
        for address, entry in self.schedule.items():
            self._append(queues[0], codes.write_entry(address, entry))
        return queues

    def _append(self, queue: deque[int], command: tuple[int, ...]) -> None:
        if all(map(self.words.harmless, command)):
            queue.extend(command)

    def _vfsm(self, p: int) -> int:
        if self.random.random() < 0.8:
            return self.random.choice(self.crowds[p])
        return self.random.choice((0, REPROGRAM_VFSM))

    def _next(self, i: int) -> int:
        if self.random.random() < 0.05:
            return self.random.randrange(self.codes.shape.schedule_depth)
        return self.first + (i + LOOKAHEAD) % self.entries

    def _code(self, p: int, kind: str) -> int:
        random = self.random
        if kind == "register" and random.random() < 0.95:
            return self.codes.register(random.choice(self.registers))
        if kind == "link":
            return self.codes.neighbour(random.choice(self.links))
        if kind == "buffer" and random.random() < 0.8:
            return self.codes.buffer(random.choice((*self.crowds[p], REPROGRAM_VFSM)))
        return code_of(self.codes, kind, random.randrange(1 << 16))

    # -- pieces of a schedule --------------------------------------------------------------------------------

    def _row(self, p: int) -> list[int]:
        """VFSMs of pipeline ``p``, slot by slot."""
        random = self.random
        idle = list(self.crowds[p])
        row: list[int] = []
        while len(row) < self.entries:
            choice = random.random()
            if choice < 0.4 and self.goals and len(idle) >= 2:
                row += self._piece(p, random.choice(self.goals), idle)
            elif choice < 0.5:
                row += self._fork(p)
            elif choice < 0.55:
                row += self._theft(p)
            elif choice < 0.65:
                row += [random.choice(self.crowds[p])] * 2
            elif choice < 0.75:
                row += [REPROGRAM_VFSM, self._vfsm(p), random.choice(self.crowds[p])]
            else:
                row.append(self._vfsm(p))
        return row[: self.entries]

    def _fork(self, p: int) -> list[int]:
        """A VFSM that writes a link, and a VFSM that takes the same word; sometimes both are the same VFSM."""
        first, second = self.random.choices(self.crowds[p], k=2)
        link = self._code(p, "link")
        legs = self.annotations[p]
        marked = self.random.random() < 0.5
        legs[first] = Annotation(MoveType.MOVE, legs[first].source, link, marked)
        legs[second] = replace(legs[second], type=MoveType.FORK, source=link)
        if first == second:
            legs[second] = replace(legs[second], destination=link)
        return [first, second, second] if first == second else [first, second]

    def _theft(self, p: int) -> list[int]:
        """A VFSM that sends the word waiting in its buffer, and a VFSM that would take the word from there."""
        feeder, owner, thief = self.random.sample(self.crowds[p], 3)
        legs = self.annotations[p]
        legs[feeder] = self._feeding(p, self.codes.buffer(owner))
        legs[thief] = replace(legs[thief], source=self.codes.buffer(owner))
        return [feeder, *_STAY, owner, thief]

    def _clash(self, rows: list[list[int]]) -> None:
        """In one slot all pipelines want the same register or link, to read or to write it."""
        slot = self.random.randrange(self.entries)
        place = self._code(0, self.random.choice(("register", "link")))
        reading = self.random.random() < 0.5
        for p, row in enumerate(rows):
            row[slot] = vfsm = self.random.choice(self.crowds[p])
            source = place if reading else self.codes.null
            destination = self._code(p, self.random.choice(KINDS)) if reading else place
            self.annotations[p][vfsm] = Annotation(MoveType.MOVE, source, destination)

    def _piece(self, p: int, goal: Goal, idle: list[int]) -> list[int]:
        """Slots in which a VFSM makes the move ``goal``, with luck. Uses up VFSMs of ``idle``."""
        random, legs = self.random, self.annotations[p]
        mover, feeder = idle.pop(), idle.pop()
        source = goal.source or random.choice(GIVING)
        kind = goal.type
        if source == "fork":
            kind = MoveType.FORK
        elif kind is None or (source == "link" and kind == MoveType.FORK):
            kind = random.choice((MoveType.MOVE, MoveType.BLIND, MoveType.COPY))
        code = self._code(p, "link" if source == "fork" else source)
        legs[mover] = Annotation(kind, code, self._code(p, goal.destination))
        before: list[int] = []
        if goal.from_buffer:
            legs[feeder] = self._feeding(p, self.codes.buffer(mover))
            before = [feeder, *_STAY]
        elif source == "fork":
            legs[feeder] = self._feeding(p, code)
            before = [feeder]
        elif source == "buffer":
            legs[feeder] = self._feeding(p, code)
            before = [feeder, *_STAY]
        return [*before, mover]

    def _feeding(self, p: int, destination: int) -> Annotation:
        source = self._code(p, self.random.choice(("link", "register", "NULL")))
        return Annotation(MoveType.MOVE, source, destination)


class RandomProcessor:
    """The processor of a node: loads a program, sets the pointer, makes random accesses, asks for a reset."""

    def __init__(self, shape: NodeShape, random: Random) -> None:
        self.shape = shape
        self.random = random
        self.codes = Codes(shape)
        self.words = Words(self.codes, random)
        self.restart(RandomProgram(self.codes, self.words, random))

    def restart(self, program: RandomProgram | None, *, commands: float = 0.25) -> None:
        """After a reset, when the loader phase runs: load ``program``; None: go on with the contents of the memories.

        Parameters
        ----------
        commands : float
            Share of the accesses that start a command while the program runs.
        """
        random = self.random
        self.commands = commands
        self.held = False
        self.queues: list[deque[int]] = [deque() for _ in range(self.shape.pipelines)]
        if program is not None:
            self.program = program
            self.queues = program.loading()
            self.start = program.addresses()
        self.phase = "program"
        self.age = 0
        self.patience = _PATIENCE
        self.left = random.choice((30, 80, 200))
        self.rate = random.choice((0.1, 0.5, 1.0))
        self.reading = random.choice((0.3, 0.5, 0.7))
        self.sent: deque[tuple[int, int]] = deque()
        """(register, word) of a command whose words are being sent."""

    @property
    def ready(self) -> bool:
        """All is loaded. With ``held`` set the program does not start yet."""
        return self.patience == 0

    @property
    def fresh(self) -> bool:
        """The program has just been started."""
        return self.phase == "run" and self.age < 8

    @property
    def finished(self) -> bool:
        """It is time for a reset."""
        return self.left <= 0

    def access(self, full: int) -> dict[str, int]:
        """Inputs of the processor port in this cycle, when the full bits are ``full``."""
        if self.phase != "run":
            return self._load(full)
        self.left -= 1
        self.age += 1
        random, program = self.random, self.program
        if random.random() >= self.rate:
            return self._nothing()
        if self.sent and not full >> self.sent[0][0] & 1:
            return self._write(*self.sent.popleft())
        if not self.sent and random.random() < self.commands:
            p = random.choice((0, random.randrange(self.shape.pipelines)))
            self.sent.extend((p, word) for word in program.command(p))
        address = random.choice(program.registers)
        if random.random() < 0.05:
            address = random.randrange(1 << bits_for(self.shape.registers))
        if random.random() < self.reading:
            return self._nothing() | {"p_address": address, "p_read": 1}
        return self._write(address, self.words.any())

    def anything(self) -> dict[str, int]:
        """Inputs that mean nothing."""
        random = self.random
        return {
            "p_address": random.randrange(1 << bits_for(self.shape.registers)),
            "p_write": random.randrange(2),
            "p_read": random.randrange(2),
            "p_write_data": random.getrandbits(self.shape.width),
        }

    def _load(self, full: int) -> dict[str, int]:
        for p, queue in enumerate(self.queues):
            if queue and not full >> p & 1:
                return self._write(p, queue.popleft())
        if any(self.queues):
            pass
        elif self.phase == "pointer":
            self.phase = "run"
        elif full & ((1 << self.shape.pipelines) - 1):
            self.patience = _PATIENCE
        elif self.patience:
            self.patience -= 1
        elif not self.held:
            self.queues[0].extend(self.codes.set_pointer(*self.start))
            self.phase = "pointer"
        return self._nothing()

    def _nothing(self) -> dict[str, int]:
        return {
            "p_address": self.random.randrange(self.shape.registers),
            "p_write": 0,
            "p_read": 0,
            "p_write_data": self.words.any(),
        }

    def _write(self, register: int, word: int) -> dict[str, int]:
        return {"p_address": register, "p_write": 1, "p_read": 0, "p_write_data": word}
