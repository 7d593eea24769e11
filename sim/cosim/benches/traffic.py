"""Random programs and words for whole nodes, and the processor that loads them.

Everything is random but one thing: no word that is ever sent rewrites schedule entry 0 or VFSM 1. The memories do not
know of reset, so a node that loses its loader phase would be dead for the rest of the run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from random import Random

from numesh.codes import REPROGRAM_VFSM, Annotation, Codes, CommandKind, MoveType, ScheduleEntry, bits_for, unpack
from numesh.shape import NodeShape

from .models.places import KINDS, code_of
from .moves import GIVING, Goal

_LOADER_ENTRY = 0
_PATIENCE = 4
"""Cycles after which a command that has left its register has been carried out."""
_CROWD = 7
"""VFSMs that one program uses in a pipeline, at most: few, so that they meet."""
_ENTRIES = 10
"""Schedule entries of one program, at most."""


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
            return unpack(self.codes.command_layouts[CommandKind.SCHEDULE], word)["address"] != _LOADER_ENTRY
        if kind == CommandKind.ANNOTATION:
            return unpack(self.codes.command_layouts[CommandKind.ANNOTATION], word)["vfsm"] != REPROGRAM_VFSM
        return True

    def any(self) -> int:
        """A random word."""
        while True:
            word = self.random.getrandbits(self.codes.shape.width)
            if self.harmless(word):
                return word


class Program:
    """A random schedule with random annotations, and where its pointer may go.

    The schedule of a pipeline is put together from pieces: single VFSMs, a VFSM twice in a row, forks, and pieces that
    bring about a move of ``goals``.
    """

    def __init__(self, codes: Codes, words: Words, random: Random, goals: Sequence[Goal]) -> None:
        self.codes = codes
        self.words = words
        self.random = random
        self.goals = goals
        shape = codes.shape
        self.registers = random.sample(range(shape.registers), random.choice((1, 2, shape.registers)))
        self.links = random.sample(range(shape.neighbours), random.choice((1, shape.neighbours)))
        size = min(random.randint(3, _CROWD), shape.vfsms - 2)
        self.crowds = [random.sample(range(2, shape.vfsms), size) for _ in range(shape.pipelines)]
        self.annotations: list[dict[int, Annotation]] = [
            {vfsm: self.annotation(p) for vfsm in (*crowd, 0)} for p, crowd in enumerate(self.crowds)
        ]
        self.entries = random.randint(2, min(_ENTRIES, shape.schedule_depth - 2))
        self.first = random.randint(1, shape.schedule_depth - self.entries)
        rows = zip(*(self._row(p) for p in range(shape.pipelines)), strict=True)
        self.schedule = {self.first + i: ScheduleEntry(row, self._next(i)) for i, row in enumerate(rows)}

    def annotation(self, p: int) -> Annotation:
        """A random annotation of pipeline ``p``."""
        random = self.random
        source, destination = random.choices(KINDS, weights=(6, 5, 5, 2, 1, 1, 1, 1), k=2)
        return Annotation(random.choice(tuple(MoveType)), self._code(p, source), self._code(p, destination))

    def address(self) -> int:
        """An address that the pointer may be set to."""
        return self.first + self.random.randrange(self.entries)

    def command(self, p: int) -> tuple[int, ...]:
        """Words of a random command for pipeline ``p``, most often one that leaves the node busy."""
        random, codes = self.random, self.codes
        while True:
            match random.randrange(6):
                case 0:
                    command = codes.write_annotation(random.choice((*self.crowds[p], 0)), self.annotation(p))
                case 1:
                    row = tuple(self._vfsm(q) for q in range(codes.shape.pipelines))
                    at = self.address() - self.first
                    command = codes.write_entry(self.first + at, ScheduleEntry(row, self._next(at)))
                case 2 | 3:
                    command = codes.set_pointer(self.address())
                case 4:
                    command = codes.add_pointer(random.randint(-self.entries, self.entries))
                case _:
                    command = tuple(self.words.any() for _ in range(codes.command_words))
            if all(map(self.words.harmless, command)):
                return command

    def loading(self) -> list[deque[int]]:
        """Words that load the program, by pipeline."""
        shape, codes = self.codes.shape, self.codes
        queues: list[deque[int]] = [deque() for _ in range(shape.pipelines)]
        for p, annotations in enumerate(self.annotations):
            for vfsm, annotation in annotations.items():
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
        return self.first + (i + 1) % self.entries

    def _code(self, p: int, kind: str) -> int:
        random = self.random
        if kind == "register" and random.random() < 0.9:
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
            if choice < 0.3 and self.goals and len(idle) >= 3:
                row += self._piece(p, random.choice(self.goals), idle)
            elif choice < 0.4:
                row += self._fork(p)
            elif choice < 0.5:
                row += [random.choice(self.crowds[p])] * 2
            else:
                row.append(self._vfsm(p))
        return row[: self.entries]

    def _fork(self, p: int) -> list[int]:
        """A VFSM that writes a link, and one that takes the same word; sometimes they are the same."""
        first, second = self.random.choices(self.crowds[p], k=2)
        link = self._code(p, "link")
        legs = self.annotations[p]
        legs[first] = Annotation(MoveType.MOVE, legs[first].source, link)
        legs[second] = Annotation(MoveType.FORK, link, link if first == second else legs[second].destination)
        return [first, second, second] if first == second else [first, second]

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
            before = [feeder, random.choice((0, feeder))]
        elif source == "fork":
            legs[feeder] = self._feeding(p, code)
            before = [feeder]
        elif source == "buffer":
            legs[feeder] = self._feeding(p, code)
            before = [feeder, 0]
        return [*before, mover]

    def _feeding(self, p: int, destination: int) -> Annotation:
        source = self._code(p, self.random.choice(("link", "register", "NULL")))
        return Annotation(MoveType.MOVE, source, destination)


class Processor:
    """The processor of a node: loads a program, sets the pointer, makes random accesses, asks for a reset."""

    def __init__(self, shape: NodeShape, random: Random, goals: Callable[[], Sequence[Goal]]) -> None:
        self.shape = shape
        self.random = random
        self.goals = goals
        self.codes = Codes(shape)
        self.words = Words(self.codes, random)
        self.restart()

    def restart(self) -> None:
        """After a reset: the loader phase runs. Load another program, or go on with what the memories hold."""
        random = self.random
        if not hasattr(self, "program") or random.random() < 0.8:
            self.program = Program(self.codes, self.words, random, self.goals())
            self.queues = self.program.loading()
        else:
            self.queues = [deque() for _ in range(self.shape.pipelines)]
        self.phase = "program"
        self.patience = _PATIENCE
        self.left = random.choice((40, 150, 400))
        self.rate = random.choice((0.1, 0.5, 1.0))
        self.reading = random.choice((0.3, 0.5, 0.7))
        self.sent: deque[tuple[int, int]] = deque()

    @property
    def finished(self) -> bool:
        """It is time for a reset."""
        return self.left <= 0

    def access(self, full: int) -> dict[str, int]:
        """Inputs of the processor port in this cycle, when the full bits are ``full``."""
        if self.phase != "run":
            return self._load(full)
        self.left -= 1
        random, program = self.random, self.program
        if random.random() >= self.rate:
            return self._nothing()
        if self.sent:
            # The other words of a command, as soon as its register has room.
            register, word = self.sent[0]
            if full >> register & 1:
                return self._nothing()
            self.sent.popleft()
            return self._write(register, word)
        if random.random() < 0.15:
            p = random.randrange(self.shape.pipelines)
            self.sent.extend((p, word) for word in program.command(p))
        address = random.choice(program.registers)
        if random.random() < 0.1:
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
        else:
            self.queues[0].extend(self.codes.set_pointer(self.program.address()))
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

