"""Bench of the interface registers: processor and pipelines crowd on a few registers."""

from __future__ import annotations

from random import Random
from typing import Any

import cocotb

from cosim.benches.coverage import Coverage
from cosim.benches.harness import BenchPlan, CoveredModel, Task, Values, run
from numesh.codes import bits_for
from numesh.shape import NodeShape

from .catalogue import BENCHES
from .models.interface import InterfaceModel

PROCESSOR = ("p_address", "p_write", "p_read", "p_write_data")
LEAD = 4
"""Cycles of reset after power-up, until registers that were named before are forgotten."""


class InterfaceDriver:
    """Pipelines name a register in each cycle and ask for some; registers are few, so that all meet.

    It keeps what the read and write stages of a node keep: of two pipelines that ask in one cycle none has the register of the
    other; a word is taken only where one was found. Words are put into full places only now and then, as BLIND moves do.

    All inputs have other values in the first half of a cycle.
    """

    def __init__(self, shape: NodeShape, random: Random) -> None:
        self.shape = shape
        self.random = random
        self.resets = LEAD
        self.hot: list[int] = [0]
        self.rates = (0.5, 0.5)
        self.coming = [[0] * shape.pipelines for _ in range(3)]
        """Registers that read stages have in the next cycle, the one after, and so on."""
        self.room = [False] * shape.pipelines

    def early(self, cycle: int) -> Values:
        random = self.random
        if cycle % 50 == 0:
            self.hot = random.sample(range(self.shape.registers), random.randint(1, self.shape.registers))
            self.rates = (random.choice((0.2, 0.6, 1.0)), random.choice((0.2, 0.5, 0.8)))
        if self.resets:
            self.resets -= 1
        elif random.random() < 0.01:
            self.resets = random.randint(1, 3)
        pipelines = range(self.shape.pipelines)
        return self._values([1] * len(pipelines), [True] * len(pipelines)) | {"rst": int(self.resets > 0)}

    def late(self, settled: Values) -> Values:
        pipelines = range(self.shape.pipelines)
        values = self._values([settled[f"read_{p}__found"] for p in pipelines], self.room)
        self.coming = [*self.coming[1:], [values[f"read_{p}__number"] for p in pipelines]]
        # Whether the processor empties the place now is not known yet: at times the word is put there, over the other perhaps.
        puts = [settled[f"write_{p}__same"] and values[f"write_{p}__put"] for p in pipelines]
        taken = values["p_read"] and self.random.random() < 0.5
        self.room = [(not settled[f"write_{p}__full"] or bool(taken)) and not puts[p] for p in pipelines]
        return values

    def _values(self, found: list[int], room: list[bool]) -> dict[str, int]:
        random, shape = self.random, self.shape
        busy, reading = self.rates
        values = {
            "p_address": random.choice(self.hot),
            "p_write_data": random.getrandbits(shape.width),
            "p_read": 0,
            "p_write": 0,
        }
        if random.random() < busy:
            values["p_read" if random.random() < reading else "p_write"] = 1
        if random.random() < 0.05:
            values["p_address"] = random.randrange(1 << bits_for(shape.registers))
        asked: set[int] = set()
        for p in range(shape.pipelines):
            register = self.coming[0][p]
            asks = random.random() < busy and register not in asked
            asked |= {register} if asks else set()
            puts = (room[p] or random.random() < 0.1) and random.random() < busy * (1 - reading / 2)
            values |= {
                f"read_{p}__number": random.choice(self.hot),
                f"read_{p}__asks": int(asks),
                f"read_{p}__names": int(asks or random.random() < 0.5),
                f"read_{p}__keep": int(random.random() < 0.3),
                f"read_{p}__take": int(found[p] and random.random() < 0.8),
                f"write_{p}__number": random.choice(self.hot),
                f"write_{p}__put": int(puts),
                f"write_{p}__data": random.getrandbits(shape.width),
            }
        return values


class CoveredInterface(CoveredModel[InterfaceModel]):
    """The model, which also counts events in coverage bins."""

    def __init__(self, shape: NodeShape, coverage: Coverage) -> None:
        self.model = InterfaceModel(shape)
        self.coverage = coverage
        coverage.group(
            "processor",
            [
                "idle",
                *(f"reads a word of pipeline {p}" for p in range(shape.pipelines)),
                "reads where only its own word is",
                "reads an empty register",
                "writes an empty register",
                "writes where only words of pipelines are",
                "writes over its own word",
                "reads where there is no register",
                "writes where there is no register",
            ],
        )
        writers = ["the processor", *(f"pipeline {p}" for p in range(shape.pipelines))]
        for p in range(shape.pipelines):
            coverage.group(
                f"read of pipeline {p}",
                [f"{how} a word of {writer}" for how in ("takes", "copies", "leaves") for writer in writers]
                + [
                    "finds nothing, it is empty",
                    "finds nothing, a word was found in the cycle before",
                    "finds nothing, a word was taken two cycles before",
                    "finds nothing but the word of a pipeline that has just been put there",
                    "finds the processor's word of two cycles before",
                    "finds the processor's word of the cycle before",
                ],
            )
            never = (
                {"told full, the word of a lower pipeline goes first": "there is no lower pipeline"} if p == 0 else None
            )
            coverage.group(
                f"write of pipeline {p}",
                [
                    "into an empty place",
                    "over a word",
                    "told full",
                    "told full, the processor empties it now",
                    "told empty, the processor emptied it in the cycle before",
                    "told full, the word of a lower pipeline goes first",
                    "told full, a pipeline has just emptied it",
                    "told empty, but it is being filled by the word right before",
                ],
                never,
            )
        coverage.group(
            "in one register at once",
            [
                *(f"words of {count} writers" for count in range(2, len(writers) + 1)),
                *(f"{count} pipelines put words" for count in range(2, shape.pipelines + 1)),
                "the processor writes, a pipeline puts a word",
                "the processor writes, a pipeline takes a word of the processor",
                "the processor writes, a pipeline takes a word of a pipeline",
                "the processor reads, a pipeline takes a word of the processor",
                "the processor reads, a pipeline puts a word",
                "the processor reads, a pipeline puts a word over that word",
                "a pipeline takes a word, a pipeline puts one into another place",
                "a pipeline takes a word, its writer puts one over it",
                "a pipeline copies a word, its writer puts one over it",
            ],
        )
        coverage.group("reset", ["while registers are full", "while a pipeline writes", "while the processor writes"])

    def clock(self, inputs: Values) -> None:
        model = self.model
        if inputs["rst"]:
            self._count(
                "reset",
                {
                    "while registers are full": any(map(any, model.full)),
                    "while a pipeline writes": bool(model.puts(inputs)),
                    "while the processor writes": model.access(inputs, "write") is not None,
                },
            )
        else:
            self._cover_processor(inputs)
            self._cover_readers(inputs)
            self._cover_writers(inputs)
            self._cover_meetings(inputs)
        model.clock(inputs)

    def _count(self, group: str, happened: dict[str, bool]) -> None:
        for name, happens in happened.items():
            if happens:
                self.coverage.hit(group, name)

    def _cover_processor(self, inputs: Values) -> None:
        what = "reads" if inputs["p_read"] else "writes" if inputs["p_write"] else ""
        r = inputs["p_address"]
        if not what:
            how = "idle"
        elif r >= self.model.shape.registers:
            how = f"{what} where there is no register"
        else:
            own, theirs = self.model.full[0][r], any(full[r] for full in self.model.full[1:])
            if what == "reads":
                takes = self.model.processor_takes(inputs)
                how = "reads where only its own word is" if own else "reads an empty register"
                if takes is not None:
                    how = f"reads a word of pipeline {takes[0] - 1}"
            elif own:
                how = "writes over its own word"
            else:
                how = "writes where only words of pipelines are" if theirs else "writes an empty register"
        self.coverage.hit("processor", how)

    def _cover_readers(self, inputs: Values) -> None:
        model, before = self.model, self.model.before
        for p, place in enumerate(model.found):
            group = f"read of pipeline {p}"
            if place is not None:
                how = "leaves" if not inputs[f"read_{p}__take"] else "copies" if model.keeps[p] else "takes"
                writer = f"pipeline {place - 1}" if place else "the processor"
                self.coverage.hit(group, f"{how} a word of {writer}")
            r = model.numbers[1][f"read_{p}"]
            if not inputs[f"read_{p}__asks"] or r >= model.shape.registers:
                continue
            coming, there = model.will_find(p, inputs), [full[r] for full in model.full]
            put = any(number == r for _, number in before.puts)
            self._count(
                group,
                {
                    "finds nothing, it is empty": coming is None and not any(there),
                    "finds nothing, a word was found in the cycle before": r in model.found_in() and any(there),
                    "finds nothing but the word of a pipeline that has just been put there": coming is None
                    and r not in model.found_in()
                    and r not in before.emptied
                    and put,
                    "finds nothing, a word was taken two cycles before": r in before.emptied
                    and r not in model.found_in()
                    and any(there),
                    "finds the processor's word of two cycles before": coming == 0
                    and before.writes == r
                    and not before.full[0][r],
                    "finds the processor's word of the cycle before": coming == 0
                    and model.access(inputs, "write") == r
                    and before.writes != r
                    and not any(there),
                },
            )

    def _cover_writers(self, inputs: Values) -> None:
        model, before = self.model, self.model.before
        puts = model.puts(inputs)
        for p in range(model.shape.pipelines):
            group = f"write of pipeline {p}"
            for q, r in puts:
                if q == p:
                    self.coverage.hit(group, "over a word" if model.full[1 + p][r] else "into an empty place")
            r, full = model.numbers[1][f"write_{p}"], model.will_be_full(p)
            if r >= model.shape.registers:
                continue
            lower = any(model.full[1 + q][r] for q in range(p))
            self._count(
                group,
                {
                    "told full": full,
                    "told full, the processor empties it now": full and model.is_emptied(p, inputs),
                    "told empty, the processor emptied it in the cycle before": not full
                    and before.full[1 + p][r]
                    and before.reads == r,
                    "told full, the word of a lower pipeline goes first": full
                    and model.access(inputs, "read") == r
                    and lower,
                    "told full, a pipeline has just emptied it": full and not model.full[1 + p][r],
                    "told empty, but it is being filled by the word right before": not full and (p, r) in puts,
                },
            )

    def _cover_meetings(self, inputs: Values) -> None:
        model = self.model
        puts, takes = model.puts(inputs), model.processor_takes(inputs)
        reads, writes = model.access(inputs, "read"), model.access(inputs, "write")
        taken, copied = set[tuple[int, int]](), set[tuple[int, int]]()
        for p, place in enumerate(model.found):
            if place is not None and inputs[f"read_{p}__take"]:
                (copied if model.keeps[p] else taken).add((place, model.numbers[0][f"read_{p}"]))
        happened: dict[str, bool] = {}
        for r in range(model.shape.registers):
            words, putting = sum(full[r] for full in model.full), sum(number == r for _, number in puts)
            if words > 1:
                happened[f"words of {words} writers"] = True
            if putting > 1:
                happened[f"{putting} pipelines put words"] = True
        mine, theirs = {r for k, r in taken if not k}, {r for k, r in taken if k}
        into = {r for _, r in puts}
        places = {(1 + p, r) for p, r in puts}
        happened |= {
            "the processor writes, a pipeline puts a word": writes in into,
            "the processor writes, a pipeline takes a word of the processor": writes in mine,
            "the processor writes, a pipeline takes a word of a pipeline": writes in theirs,
            "the processor reads, a pipeline takes a word of the processor": reads in mine,
            "the processor reads, a pipeline puts a word": reads in into,
            "the processor reads, a pipeline puts a word over that word": takes in places,
            "a pipeline takes a word, a pipeline puts one into another place": bool((mine | theirs) & into)
            and not taken & places,
            "a pipeline takes a word, its writer puts one over it": bool(taken & places),
            "a pipeline copies a word, its writer puts one over it": bool(copied & places),
        }
        self._count("in one register at once", happened)


@cocotb.test()
async def interface(dut: Any) -> None:
    """The interface registers do what their model does."""
    task = Task.given()
    coverage = Coverage()
    shape = task.among(BENCHES).shape
    pipelines = range(shape.pipelines)
    requests = [f"read_{p}__{name}" for p in pipelines for name in ("number", "names", "keep", "asks", "take")]
    requests += [f"write_{p}__{name}" for p in pipelines for name in ("number", "put", "data")]
    registered = ["p_full", "p_read_data"]
    registered += [f"read_{p}__{name}" for p in pipelines for name in ("found", "data")]
    registered += [f"write_{p}__{name}" for p in pipelines for name in ("full", "same")]
    plan = BenchPlan(
        inputs=("rst", *PROCESSOR, *requests),
        outputs=(*registered, *(f"write_{p}__emptied" for p in pipelines)),
        settled=registered,
        least=5000,
        most=20000,
    )
    await run(dut, InterfaceDriver(shape, task.random("driver")), CoveredInterface(shape, coverage), coverage, plan)
