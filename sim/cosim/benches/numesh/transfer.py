"""Bench of the transfer stages of a pipeline; the driver plays everything around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random
from typing import Any

import cocotb

from cosim.benches.coverage import Coverage
from cosim.benches.harness import BenchPlan, CoveredModel, Task, Values, run
from numesh.codes import Annotation, Codes, MoveType
from numesh.shape import NodeShape

from .catalogue import BENCHES
from .models.places import KINDS, code_of, kind_of
from .models.transfer import Result, TransferModel
from .moves import Goal, MoveCoverage

OUTPUTS = (
    *("in_accept", "out_claim", "out_valid", "out_data", "memadr"),
    *("read__request", "read__number", "read__keep"),
    *("write__request", "write__number", "write__blind", "write__data"),
)


class TransferDriver:
    """A few VFSMs with annotations that change; links and registers that stall at random.

    In the first half of a cycle links and registers answer at random, in the second half as they must: a register answers
    only where it was asked.
    """

    def __init__(self, shape: NodeShape, random: Random, goals: Callable[[], Sequence[Goal]]) -> None:
        self.shape = shape
        self.codes = Codes(shape)
        self.random = random
        self.goals = goals
        self.resets = 3
        self.crowd: list[int] = [0]
        self.annotations = [self._annotation() for _ in range(shape.vfsms)]
        self.last = 0
        self.rates = (0.5, 0.5)

    def early(self, cycle: int) -> Values:
        random = self.random
        if cycle % 64 == 0:
            self.crowd = random.sample(range(self.shape.vfsms), random.randint(1, 5))
            self.rates = (random.choice((0.1, 0.5, 0.95)), random.choice((0.1, 0.5, 0.95)))
            self.annotations = [self._annotation() for _ in range(self.shape.vfsms)]
        if self.resets:
            self.resets -= 1
        elif random.random() < 0.005:
            self.resets = self.shape.reset_cycles + random.randint(0, 2)
        vfsm = self.last if random.random() < 0.2 else random.choice(self.crowd)
        if random.random() < 0.2:
            self.annotations[vfsm] = self._annotation()
        self._follow(self.annotations[self.last].destination, vfsm)
        self.last = vfsm
        return self._answers({}) | {
            "rst": int(self.resets > 0),
            "active": int(random.random() < 0.95),
            "vfsm": vfsm,
            "annotation": self.codes.encode_annotation(self.annotations[vfsm]),
        }

    def late(self, settled: Values) -> Values:
        return self._answers(settled)

    def _follow(self, before: int, vfsm: int) -> None:
        """Now and then let ``vfsm`` read from where the VFSM before it writes to, ``before``: a fork, or a buffer."""
        random, codes = self.random, self.codes
        if codes.is_neighbour(before) and random.random() < 0.25:
            kinds = [goal.destination for goal in self.goals() if goal.source == "fork"] or KINDS
            destination = code_of(codes, random.choice(kinds), random.randrange(64))
            self.annotations[vfsm] = Annotation(MoveType.FORK, before, destination, random.random() < 0.3)
        elif codes.is_buffer(before) and random.random() < 0.1:
            self.annotations[vfsm] = replace(self.annotations[vfsm], source=before)

    def _annotation(self) -> Annotation:
        random = self.random
        kinds = random.choices(KINDS, weights=(4, 4, 4, 2, 1, 1, 1, 1), k=2)
        goals = self.goals() if random.random() < 0.3 else ()
        if goals:
            goal = random.choice(goals)
            kinds = ["link" if goal.source in (None, "fork") else goal.source, goal.destination]
        source, destination = (code_of(self.codes, kind, random.randrange(64)) for kind in kinds)
        # Only buffers of the few VFSMs that run are of interest.
        if random.random() < 0.7 and self.codes.is_buffer(source):
            source = self.codes.buffer(random.choice(self.crowd))
        if random.random() < 0.7 and self.codes.is_buffer(destination):
            destination = self.codes.buffer(random.choice(self.crowd))
        return Annotation(random.choice(tuple(MoveType)), source, destination, random.random() < 0.3)

    def _answers(self, settled: Values) -> dict[str, int]:
        random, shape = self.random, self.shape
        links = range(shape.neighbours)
        giving, taking = self.rates
        return {
            "in_valid": sum(1 << d for d in links if random.random() < giving),
            "out_accept": sum(1 << d for d in links if random.random() < taking),
            **{f"in_data_{d}": random.getrandbits(shape.width) for d in links},
            "in_lost": int(random.random() < 0.1),
            "out_lost": int(random.random() < 0.1),
            "read__taken": int(settled.get("read__request", 1) and random.random() < giving),
            "read__data": random.getrandbits(shape.width),
            "write__ok": int(settled.get("write__request", 1) and random.random() < taking),
        }


class CoveredTransfer(CoveredModel[TransferModel]):
    """The model, which also counts events in coverage bins."""

    def __init__(self, shape: NodeShape, coverage: Coverage) -> None:
        self.model = TransferModel(shape)
        self.coverage = coverage
        self.moves = MoveCoverage(coverage, self.model.codes)
        coverage.group("read stage", ["idle", "own", "incoming", "retry", "open"])
        coverage.group(
            "same VFSM in both stages",
            [f"{kind} from {origin}" for kind in ("MOVE", "BLIND") for origin in ("source", "buffer")]
            + [f"to {place} from {origin}" for place in ("MEMADR", "NULL") for origin in ("source", "buffer")],
        )
        coverage.group(
            "fork",
            [
                "both legs at once",
                "first leg refused, so second waits",
                "no word in the first leg",
                "the word goes elsewhere",
                *(f"first leg held back, second is {state}" for state in ("own", "incoming", "retry")),
                "marked first leg held back, second not there",
                "marked first leg goes with the second",
                "mark of no consequence, not a link",
            ],
            {"first leg held back, second is incoming": "the word of a first leg goes to a link, not to a buffer"},
        )
        coverage.group(
            "buffer",
            [
                "keeps a refused word",
                "empties on success",
                "keeps what is refused again",
                "empties when a BLIND word is dropped",
                "a BLIND word is dropped, not kept",
                "filled by another VFSM",
                "overwritten by another VFSM",
                "overwritten while another VFSM takes the old word",
                "taken by another VFSM",
                "copied by another VFSM",
                "not taken while it leaves",
                "of the same VFSM as source",
            ],
        )
        coverage.group("not taken", ["link without a word", "register refuses", "interface is being written"])
        coverage.group("reset", ["with a word in the write stage", "with words in buffers"])

    def clock(self, inputs: Values) -> None:
        held = list(self.model.held)
        if inputs["rst"]:
            if self.model.word is not None:
                self.coverage.hit("reset", "with a word in the write stage")
            if any(held):
                self.coverage.hit("reset", "with words in buffers")
        result = self.model.step(inputs)
        word = result.word
        if word is not None:
            self.moves.written(word.annotation, ok=result.ok, from_buffer=word.from_buffer)
        if result.taken is not None and not result.taken.from_buffer:
            self.moves.taken(result.taken.annotation)
        self.coverage.hit("read stage", result.reading.state)
        self._cover_meeting(result)
        self._cover_fork(result)
        self._cover_buffers(result, held)
        self._cover_not_taken(result)

    def _cover_meeting(self, result: Result) -> None:
        word = result.word
        if word is None or result.reading.state == "idle" or result.reading.vfsm != word.vfsm:
            return
        origin = "buffer" if word.from_buffer else "source"
        to = kind_of(self.model.codes, word.annotation.destination)
        if to in ("MEMADR", "NULL"):
            self.coverage.hit("same VFSM in both stages", f"to {to} from {origin}")
        elif word.annotation.type in (MoveType.MOVE, MoveType.BLIND):
            self.coverage.hit("same VFSM in both stages", f"{word.annotation.type.name} from {origin}")

    def _cover_fork(self, result: Result) -> None:
        reading, word = result.reading, result.word
        if word is not None and word.annotation.forked:
            if not self.model.codes.is_neighbour(word.annotation.destination):
                self.coverage.hit("fork", "mark of no consequence, not a link")
            elif not reading.forked:
                self.coverage.hit("fork", "marked first leg held back, second not there")
            elif result.ok:
                self.coverage.hit("fork", "marked first leg goes with the second")
        if reading.annotation.type != MoveType.FORK or not self.model.codes.is_neighbour(reading.annotation.source):
            return
        if reading.forked and reading.state in ("own", "incoming", "retry"):
            self.coverage.hit("fork", f"first leg held back, second is {reading.state}")
        elif reading.state == "open":
            if reading.forked:
                how = "both legs at once" if result.ok else "first leg refused, so second waits"
            else:
                how = "no word in the first leg" if result.word is None else "the word goes elsewhere"
            self.coverage.hit("fork", how)

    def _cover_buffers(self, result: Result, held: list[bool]) -> None:
        word, reading, first = result.word, result.reading, self.model.codes.first_buffer
        happened: dict[str, bool] = {}
        taking = reading.state == "open" and self.model.codes.is_buffer(reading.annotation.source)
        source = reading.annotation.source - first
        if word is not None:
            blind = word.annotation.type == MoveType.BLIND
            into = word.annotation.destination - first
            to_buffer = self.model.codes.is_buffer(word.annotation.destination)
            over = result.ok and to_buffer and held[into]
            happened = {
                "keeps a refused word": not result.ok and not word.from_buffer and not blind,
                "empties on success": result.ok and word.from_buffer and not to_buffer,
                "keeps what is refused again": not result.ok and word.from_buffer and not blind,
                "empties when a BLIND word is dropped": not result.ok and word.from_buffer and blind,
                "a BLIND word is dropped, not kept": not result.ok and not word.from_buffer and blind,
                "filled by another VFSM": result.ok and to_buffer and not over,
                "overwritten by another VFSM": over,
                "overwritten while another VFSM takes the old word": over
                and taking
                and result.taken is not None
                and source == into,
                "not taken while it leaves": taking and held[source] and word.from_buffer and word.vfsm == source,
            }
        if taking:
            happened["of the same VFSM as source"] = source == reading.vfsm
            if result.taken is not None:
                copied = reading.annotation.type == MoveType.COPY
                happened["copied by another VFSM" if copied else "taken by another VFSM"] = True
        for name, happens in happened.items():
            if happens:
                self.coverage.hit("buffer", name)

    def _cover_not_taken(self, result: Result) -> None:
        reading = result.reading
        if reading.state != "open" or result.taken is not None:
            return
        source = kind_of(self.model.codes, reading.annotation.source)
        if source == "link" and reading.annotation.type != MoveType.FORK:
            self.coverage.hit("not taken", "link without a word")
        elif source == "register":
            to = None if result.word is None else kind_of(self.model.codes, result.word.annotation.destination)
            self.coverage.hit("not taken", "interface is being written" if to == "register" else "register refuses")


@cocotb.test()
async def transfer(dut: Any) -> None:
    """The transfer stages of a pipeline do what their model does."""
    task = Task.given()
    shape = task.among(BENCHES).shape
    coverage = Coverage()
    inputs = ["rst", "active", "vfsm", "annotation", "in_valid", "out_accept", "read__taken", "read__data", "write__ok"]
    inputs += ["in_lost", "out_lost", *(f"in_data_{d}" for d in range(shape.neighbours))]
    plan = BenchPlan(inputs, OUTPUTS, OUTPUTS, least=8000, most=120000)
    model = CoveredTransfer(shape, coverage)
    await run(dut, TransferDriver(shape, task.random("driver"), model.moves.goals), model, coverage, plan)
