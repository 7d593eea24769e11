"""What a node's processor does at its port, written down: a tape that hardware can play.

The application runs once on the cycle model, with its answer checked. What its processors asked for is kept as rows: wait
until the command registers are empty, pause, write or read one word. Whoever does the same at the port of a real node, a
player in the FPGA or a host, runs the program. Then the tapes themselves run on the cycle model, with the cycles that a player
takes for an access. Every node must be out of reset in the same cycle; from then on even the cycles are those of the model.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from pointsman.artifacts.images.images import Images
from pointsman.artifacts.images.readmemh import memories_of
from pointsman.errors import PointsmanError
from pointsman.runtime import (
    Application,
    Attend,
    Category,
    Lane,
    Transfer,
    Wait,
    WaitEmpty,
    WaitUntil,
    WrongAnswer,
    numesh_node,
)

START = 1
"""Cycles from the end of reset to the first that a player looks at."""
PAUSE = 2
"""Cycles that it takes for a row that waits, beyond the row's pause."""
LOOK = 3
"""Cycles from that in which it sees its register ready, or the tape at its end, to the access, or the end."""


@dataclass(frozen=True)
class Row:
    """One access: when the registers in the mask ``drained`` are not full, ``pause`` cycles later, as soon as ``register``
    is ready, ``word`` is written to it, or read from it and compared. ``write`` None ends the tape.

    A player takes `PAUSE` and `LOOK` cycles more."""

    drained: int
    pause: int
    write: bool | None
    register: int = 0
    word: int = 0

    @property
    def waits(self) -> bool:
        """Is there anything to wait for but the register?"""
        return bool(self.drained or self.pause)


@dataclass(frozen=True)
class Tape:
    """All rows of a node, and the cycle in which its program ends, counted from the end of reset."""

    rows: tuple[Row, ...]
    finish: int


def record(images: Images, application: Application) -> list[Tape]:
    """The tape of every node.

    Raises
    ------
    PointsmanError
        If the answer is wrong, or other words are read when the tapes are played, or the program leaves other contents in the
        routers' memories than it found, so that it could not be run again.
    """
    rows = _rows_of_nodes(images, application)
    words: list[list[int]] = [[] for _ in rows]
    with Machine(images.shape, images.topology, engine="model") as machine:
        memories = memories_of(images)
        machine.preload(memories)
        finished = machine.run([played(*pair) for pair in zip(rows, words, strict=True)]).finished
        if words != [[row.word for row in tape if row.write is False] for tape in rows]:
            raise PointsmanError("the tapes, played on the model, give other words than the program")
        if machine.memories() != memories:
            raise PointsmanError(
                "the program changes the routers' memories and cannot be run again from reset",
                hint="load the first run-time values again at its end",
            )
    return [Tape(tape, int(finish)) for tape, finish in zip(rows, finished, strict=True)]


def played(rows: Sequence[Row], words: list[int]) -> Generator[Any, None, None]:
    """A processor that does what a tape says in the cycles that a player does it. ``words`` gets those that it reads."""
    yield Wait(START, Category.CPU)
    for row in rows:
        if row.waits:
            for register in range(row.drained.bit_length()):
                if row.drained >> register & 1:
                    yield WaitEmpty(register, Category.CPU)
            yield Wait(row.pause + PAUSE, Category.CPU)
        if row.write:
            yield WaitEmpty(row.register, Category.WRITE)
        elif row.write is False:
            yield Attend(full=[row.register], category=Category.READ)
        yield Wait(LOOK, Category.CPU)
        if row.write is not None:
            word = np.array([row.word if row.write else 0], np.uint64 if row.word >> 32 else np.uint32)
            yield Transfer(Lane(row.write, row.register, 1, word))
            if not row.write:
                words.append(int(word[0]))


def _rows_of_nodes(images: Images, application: Application) -> list[tuple[Row, ...]]:
    """What the processors of an application do, node by node."""
    with Machine(images.shape, images.topology, engine="model") as machine:
        machine.preload(memories_of(images))
        recorder = _Recorder(machine)
        nodes = [numesh_node(images, number, machine, preloaded=True) for number in range(machine.nodes)]
        result = run_nodes(nodes, application.main, recorder)
        try:
            application.check(result.results)
        except WrongAnswer as error:
            raise PointsmanError(f"the program gives a wrong answer in the model: {error}") from None
    return [_rows(images, log, result.events[result.events["node"] == node]) for node, log in enumerate(recorder.logs)]


class _Recorder:
    """A machine that keeps what its programs ask for, and when."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.nodes = machine.nodes
        self.logs: list[list[tuple[Any, int]]] = [[] for _ in range(machine.nodes)]

    def run(self, programs: list[Any], **options: Any) -> Any:
        options["events"] = True
        kept = [self._kept(program, log) for program, log in zip(programs, self.logs, strict=True)]
        return self.machine.run(kept, **options)

    def _kept(self, program: Any, log: list[tuple[Any, int]]) -> Generator[Any, None, Any]:
        while True:
            try:
                request = program.send(None)
            except StopIteration as end:
                return end.value
            log.append((request, self.machine.time))
            yield request


def _rows(images: Images, log: list[tuple[Any, int]], events: np.ndarray) -> tuple[Row, ...]:
    rows: list[Row] = []
    drained = pause = 0
    accesses = iter(events)
    for request, time in log:
        if isinstance(request, WaitEmpty):
            if request.register >= images.shape.pipelines:
                raise PointsmanError(f"a tape can wait for command registers only, not for {request.register}")
            drained |= 1 << request.register
        elif isinstance(request, Wait):
            pause += request.cycles
        elif isinstance(request, WaitUntil):
            pause += max(0, request.time - time)
        elif isinstance(request, Transfer):
            for _ in range(sum(lane.words for lane in request.lanes)):
                access = next(accesses)
                rows.append(Row(drained, pause, bool(access["write"]), int(access["register"]), int(access["word"])))
                drained = pause = 0
        else:
            raise PointsmanError(f"a tape has no row for {request!r}")
    return (*rows, Row(drained, pause, None))
