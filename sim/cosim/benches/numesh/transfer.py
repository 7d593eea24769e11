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
from .models.transfer import Result, TransferModel, Turn
from .moves import Goal, MoveCoverage

ANSWERS = ("next_accept", "read__number", "read__asks", "read__take")
"""Outputs that follow inputs."""
REGISTERED = (
    *("out_claim", "out_valid", "out_data", "memadr"),
    *("read__names", "read__keep", "write__number", "write__put", "write__data"),
)

PAIRS = {
    ("puts into", "has"): 3,
    ("puts into", "takes from"): 3,
    ("puts into", "puts into"): 2,
    ("has", "takes from"): 3,
    ("has", "puts into"): 2,
    ("takes from", "has"): 2,
    ("takes from", "takes from"): 2,
    ("takes from", "puts into"): 1,
}
"""What a turn does with a buffer, and what one of another VFSM does with it that is idle if it follows in so many slots."""
ROLES = ("has", "takes from", "puts into")
LOOKED_AT = 3
"""Turns before its own that a turn is compared with."""
SURE = ("word to MEMADR", "word to NULL", "BLIND word")
"""Words that need not come back, so that the next turn of their VFSM need not wait."""


class TransferDriver:
    """A few VFSMs with annotations that change; links and registers that stall at random.

    In the first half of a cycle links and registers answer at random, in the second half as they must: a register has a word
    only if it was ``asked`` in the cycle before.
    """

    def __init__(
        self,
        shape: NodeShape,
        random: Random,
        goals: Callable[[], Sequence[Goal]],
        asked: Callable[[], bool],
    ) -> None:
        self.shape = shape
        self.asked = asked
        self.named = False
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
        return self._answers(asked=True, named=True) | {
            "rst": int(self.resets > 0),
            "active": int(random.random() < 0.95),
            "vfsm": vfsm,
            "annotation": self.codes.encode_annotation(self.annotations[vfsm]),
            "meets": int(random.random() < 0.05),
        }

    def late(self, settled: Values) -> Values:
        values = self._answers(asked=self.asked(), named=self.named)
        self.named = bool(settled["read__names"])
        return values

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

    def _answers(self, *, asked: bool, named: bool) -> dict[str, int]:
        random, shape = self.random, self.shape
        links = range(shape.neighbours)
        giving, taking = self.rates
        found = asked and random.random() < giving
        return {
            "in_valid": sum(1 << d for d in links if random.random() < giving),
            "out_accept": sum(1 << d for d in links if random.random() < taking),
            **{f"in_data_{d}": random.getrandbits(shape.width) for d in links},
            "read__found": int(found),
            "read__data": random.getrandbits(shape.width) if named else 0,
            "write__full": int(random.random() > taking / 2),
            "write__emptied": int(random.random() < taking / 2),
            "write__same": int(random.random() < 0.3),
        }


class CoveredTransfer(CoveredModel[TransferModel]):
    """The model, which also counts events in coverage bins.

    ``asked``: in the cycle before, the stages asked for the word of a register.
    """

    def __init__(self, shape: NodeShape, coverage: Coverage) -> None:
        self.model = TransferModel(shape)
        self.coverage = coverage
        self.moves = MoveCoverage(coverage, self.model.codes)
        self.asked = False
        self._before: tuple[int | None, bool] = None, False
        """VFSM of the word that was in the write stage in the cycle before, and whether it had to stay."""
        coverage.group("read stage", ["none", "own", "buffer", "meets", "left", "retry", "open"])
        coverage.group(
            "turn of another VFSM",
            [
                _meeting(before, now, slots, idle=slots <= limit)
                for (before, now), limit in PAIRS.items()
                for slots in range(1, 1 + LOOKED_AT)
            ]
            + [_after_idle(slots) for slots in range(1, 1 + LOOKED_AT)],
        )
        coverage.group(
            "turn of the same VFSM",
            [
                "right after a word that may be refused: idle",
                "right after one with other buffers: idle",
                "takes words from where it put one three slots before: idle",
                *(f"right after a {kind} from its {origin}" for kind in SURE for origin in ("source", "buffer")),
                *(f"{slots} slots after its word {fate}" for slots in ("two", "three") for fate in ("went", "stayed")),
            ],
        )
        coverage.group(
            "fork",
            [
                "both legs at once",
                "first leg refused, so second waits",
                "no word in the first leg",
                "the word goes elsewhere",
                *(f"first leg held back, second is {state}" for state in ("own", "buffer", "meets", "left", "retry")),
                "marked first leg held back, second not there",
                "marked first leg goes with the second",
                "mark of no consequence, not a link",
            ],
        )
        soon = "the turn that takes the word comes too soon, and is idle"
        coverage.group(
            "buffer",
            [
                "keeps a refused word",
                "empties on success",
                "keeps what is refused again",
                "empties when a BLIND word is dropped",
                "a BLIND word is dropped, not kept",
                "a BLIND word to its own buffer is kept",
                "filled by another VFSM",
                "overwritten by another VFSM",
                "overwritten while another VFSM takes the old word",
                "taken by another VFSM",
                "copied by another VFSM",
                "nothing left, the turn right before has taken it",
                "there still, the turn right before has copied it",
                "of the same VFSM as source",
            ],
            {"overwritten while another VFSM takes the old word": soon},
        )
        coverage.group("not taken", ["link without a word", "register refuses", "interface is being written"])
        coverage.group(
            "register",
            ["empty", "full", "emptied by the processor", "full of the word before", "filled by a BLIND word"],
        )
        coverage.group("reset", ["with a word in the write stage", "with words in buffers"])

    def clock(self, inputs: Values) -> None:
        model, held = self.model, list(self.model.held)
        self.asked = bool(model.outputs(inputs)["read__asks"]) and not inputs["rst"]
        if inputs["rst"]:
            if model.word is not None:
                self.coverage.hit("reset", "with a word in the write stage")
            if any(held):
                self.coverage.hit("reset", "with words in buffers")
        else:
            self._cover_distance(inputs)
            self._cover_own(inputs)
        stays = model.stays(inputs)
        just = model.reading
        result = model.step(inputs)
        word = result.word
        self._before = (None if word is None else word.vfsm), stays
        if word is not None:
            self.moves.written(word.annotation, ok=result.ok, from_buffer=word.from_buffer)
        if result.taken is not None and not result.taken.from_buffer:
            self.moves.taken(result.taken.annotation)
        self.coverage.hit("read stage", just.turn.idle or just.state)
        self._cover_fork(result)
        self._cover_buffers(result, held, stays)
        self._cover_not_taken(inputs, result)
        self._cover_registers(inputs, result)

    def _cover_distance(self, inputs: Values) -> None:
        """The turn in the distance stage: is it idle, and for which of those before it?"""
        model = self.model
        turn, *before = model.turns
        if not turn.active:
            return
        reasons: list[str] = []
        near: list[str] = []
        after_idle: list[str] = []
        for slots, other in enumerate(before, 1):
            if other.vfsm == turn.vfsm or not other.active:
                continue
            for then, now in self._shared(other, turn):
                idle = slots <= PAIRS[then, now]
                if other.idle:
                    after_idle += [_after_idle(slots)] if idle else []
                else:
                    (reasons if idle else near).append(_meeting(then, now, slots, idle=idle))
        told = model.idles(inputs)
        if not told:
            for name in near + after_idle:
                self.coverage.hit("turn of another VFSM", name)
        elif (
            told == "buffer"
            and len(reasons) == 1
            and not any(
                other.vfsm == turn.vfsm and model.too_soon(turn, other, slots) for slots, other in enumerate(before, 1)
            )
        ):
            self.coverage.hit("turn of another VFSM", reasons[0])

    def _shared(self, before: Turn, now: Turn) -> list[tuple[str, str]]:
        """What two turns of different VFSMs do with a buffer that they have in common."""
        then, later = (dict(zip(ROLES, self.model.buffers(turn), strict=True)) for turn in (before, now))
        return [(a, b) for a, b in PAIRS if then[a] is not None and then[a] == later[b]]

    def _cover_own(self, inputs: Values) -> None:
        """Turns that follow one of the same VFSM."""
        model, group = self.model, "turn of the same VFSM"
        turn, just, _, third = model.turns
        if turn.active and turn.vfsm == just.vfsm and not just.idle and model.idles(inputs) == "own":
            refusable = model.refusable(just)
            how = "a word that may be refused" if refusable else "one with other buffers"
            self.coverage.hit(group, f"right after {how}: idle")
        if turn.active and turn.vfsm == third.vfsm and model.idles(inputs) == "buffer" and not third.idle:
            others = [model.too_soon(turn, other, slots) for slots, other in enumerate(model.turns[1:3], 1)]
            if not any(others) and model.too_soon(turn, third, 3):
                self.coverage.hit(group, "takes words from where it put one three slots before: idle")
        coming, word, reading = model.turns[1], model.word, model.reading
        if word is not None and reading.turn.vfsm == word.vfsm and not reading.turn.idle:
            to = kind_of(model.codes, word.annotation.destination)
            kind = f"word to {to}" if to in ("MEMADR", "NULL") else "BLIND word"
            self.coverage.hit(group, f"right after a {kind} from its {'buffer' if word.from_buffer else 'source'}")
        if coming.idle:
            return
        if word is not None and word.vfsm == coming.vfsm:
            self.coverage.hit(group, f"two slots after its word {'stayed' if model.stays(inputs) else 'went'}")
        elif self._before[0] == coming.vfsm:
            self.coverage.hit(group, f"three slots after its word {'stayed' if self._before[1] else 'went'}")

    def _cover_fork(self, result: Result) -> None:
        reading, word = result.reading, result.word
        annotation, state = reading.turn.annotation, reading.turn.idle or reading.state
        if word is not None and word.annotation.forked:
            if not self.model.codes.is_neighbour(word.annotation.destination):
                self.coverage.hit("fork", "mark of no consequence, not a link")
            elif not reading.forked:
                self.coverage.hit("fork", "marked first leg held back, second not there")
            elif result.ok:
                self.coverage.hit("fork", "marked first leg goes with the second")
        if annotation.type != MoveType.FORK or not self.model.codes.is_neighbour(annotation.source):
            return
        if state == "open":
            if reading.forked and word is not None:
                how = "both legs at once" if result.ok else "first leg refused, so second waits"
            else:
                how = "no word in the first leg" if word is None else "the word goes elsewhere"
            self.coverage.hit("fork", how)
        elif reading.forked and word is not None:
            self.coverage.hit("fork", f"first leg held back, second is {state}")

    def _cover_buffers(self, result: Result, held: list[bool], stays: bool) -> None:
        word, codes = result.word, self.model.codes
        annotation, own = result.reading.turn.annotation, result.reading.turn.vfsm
        happened: dict[str, bool] = {}
        taking = result.reading.state == "open" and codes.is_buffer(annotation.source)
        source = annotation.source - codes.first_buffer
        if word is not None:
            blind = word.annotation.type == MoveType.BLIND
            into = word.annotation.destination - codes.first_buffer
            to_buffer = codes.is_buffer(word.annotation.destination)
            over = result.ok and to_buffer and held[into]
            happened = {
                "keeps a refused word": stays and not word.from_buffer,
                "empties on success": result.ok and word.from_buffer and not to_buffer,
                "keeps what is refused again": stays and word.from_buffer,
                "empties when a BLIND word is dropped": not result.ok and not stays and word.from_buffer,
                "a BLIND word is dropped, not kept": not result.ok and not stays and not word.from_buffer,
                "a BLIND word to its own buffer is kept": stays and blind,
                "filled by another VFSM": result.ok and to_buffer and not over,
                "overwritten by another VFSM": over,
                "overwritten while another VFSM takes the old word": over
                and taking
                and result.taken is not None
                and source == into,
            }
        if taking:
            happened["of the same VFSM as source"] = source == own
            copied = annotation.type == MoveType.COPY
            if result.taken is not None:
                happened["copied by another VFSM" if copied else "taken by another VFSM"] = True
        if word is not None and not word.from_buffer and taking and source != own:
            same = word.annotation.source == annotation.source
            copied = word.annotation.type == MoveType.COPY
            happened["nothing left, the turn right before has taken it"] = same and not copied and result.taken is None
            happened["there still, the turn right before has copied it"] = same and copied and result.taken is not None
        for name, happens in happened.items():
            if happens:
                self.coverage.hit("buffer", name)

    def _cover_not_taken(self, inputs: Values, result: Result) -> None:
        reading = result.reading
        if reading.state != "open" or result.taken is not None:
            return
        source = kind_of(self.model.codes, reading.turn.annotation.source)
        if source == "link" and reading.turn.annotation.type != MoveType.FORK:
            self.coverage.hit("not taken", "link without a word")
        elif source == "register":
            self.coverage.hit(
                "not taken", "interface is being written" if inputs["read__found"] else "register refuses"
            )

    def _cover_registers(self, inputs: Values, result: Result) -> None:
        """A word that was just taken goes to a register: what it was told about its place there."""
        taken, word = result.taken, result.word
        if taken is None or not self.model.codes.is_register(taken.annotation.destination):
            return
        puts = word is not None and word.room and self.model.codes.is_register(word.annotation.destination)
        if taken.annotation.type == MoveType.BLIND:
            how = "filled by a BLIND word"
        elif inputs["write__same"] and puts:
            how = "full of the word before"
        elif inputs["write__full"]:
            how = "emptied by the processor" if inputs["write__emptied"] else "full"
        else:
            how = "empty"
        self.coverage.hit("register", how)


def _meeting(before: str, now: str, slots: int, *, idle: bool) -> str:
    return f"{now} a buffer, {slots} slots after one that {before} it: {'idle' if idle else 'goes on'}"


def _after_idle(slots: int) -> str:
    return f"{slots} slots after one that shares a buffer, but was idle: goes on"


@cocotb.test()
async def transfer(dut: Any) -> None:
    """The transfer stages of a pipeline do what their model does."""
    task = Task.given()
    shape = task.among(BENCHES).shape
    coverage = Coverage()
    inputs = ["rst", "active", "vfsm", "annotation", "meets", "in_valid", "out_accept"]
    inputs += ["read__found", "read__data", "write__full", "write__emptied", "write__same"]
    inputs += [f"in_data_{d}" for d in range(shape.neighbours)]
    plan = BenchPlan(inputs, (*ANSWERS, *REGISTERED), REGISTERED, least=8000, most=120000)
    model = CoveredTransfer(shape, coverage)
    driver = TransferDriver(shape, task.random("driver"), model.moves.goals, lambda: model.asked)
    await run(dut, driver, model, coverage, plan)
