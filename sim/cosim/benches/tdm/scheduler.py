"""Bench of the scheduler alone: requests come and go, words are used or not, all processors give commands, legal and other."""

from __future__ import annotations

from random import Random
from typing import Any

import cocotb

from cosim.benches.coverage import Coverage
from cosim.benches.harness import BenchPlan, CoveredModel, Task, Values, run
from cosim.tdm.scheduler_model import SchedulerModel, bits_of
from tdm_switch.codes import NOWHERE, Answer, Command, Predictor, encode
from tdm_switch.shape import SwitchShape

from .catalogue import BENCHES

_WITHOUT_OPERAND = (Command.NOP, Command.CLEAR, Command.FLUSH, Command.DEGREE)
OUTPUTS = ("grant", "fabric", "done", "answers", "answer")


def random_command(random: Random, shape: SwitchShape) -> int:
    """A command; its operands are mostly such as exist."""

    def below(count: int) -> int:
        return random.randrange(count) if random.random() < 0.9 else random.randrange(256)

    weights = {
        Command.STAGE: 10,
        Command.LOAD: 4,
        Command.STORE: 3,
        Command.SLOT: 4,
        Command.PREDICT: 2,
        Command.WIDEN: 5,
    }
    command = random.choices(list(Command), [weights.get(c, 1) for c in Command])[0]
    if random.random() < 0.01:
        return 15
    match command:
        case Command.STAGE:
            y = NOWHERE if random.random() < 0.1 else below(shape.ports)
            return encode(command, x=below(shape.ports), y=y)
        case Command.PREDICT:
            return encode(
                command, mode=random.choice((*Predictor, 2, 3, 9)), x=below(20), y=int(random.random() < 0.05)
            )
        case Command.LOAD | Command.EVICT | Command.SLOT:
            return encode(command, x=below(shape.slots), mode=random.randrange(4))
        case Command.STORE:
            return encode(command, x=below(shape.stored), mode=random.randrange(2))
        case Command.SWAP:
            return encode(command, x=below(shape.slots), y=below(shape.stored))
        case _:
            return encode(command, x=below(shape.ports), mode=random.randrange(4))


class SchedulerDriver:
    """Requests that last for a while; a command of each processor that waits until it is done."""

    def __init__(self, shape: SwitchShape, random: Random, model: CoveredScheduler) -> None:
        self.shape = shape
        self.random = random
        self.model = model
        self.resets = 3
        self.requests = 0
        self.rates = (0.1, 0.5)
        self.commands: list[int | None] = [None] * shape.ports
        self.busy = 0.1

    def early(self, cycle: int) -> Values:
        random, n = self.random, self.shape.ports
        if cycle % 150 == 0:
            self.rates = (random.choice((0.0, 0.01, 0.1, 0.4)), random.choice((0.05, 0.2, 0.6)))
            self.busy = random.choice((0.0, 0.02, 0.1, 0.5))
        if self.resets:
            self.resets -= 1
        elif random.random() < 0.0005:
            self.resets = 2
        for i in range(n * n):
            on = self.requests >> i & 1
            if random.random() < self.rates[on]:
                self.requests ^= 1 << i
        for i in range(n):
            if self.model.done == 1 << i:
                self.commands[i] = None
            if self.commands[i] is None and random.random() < self.busy:
                self.commands[i] = random_command(random, self.shape)
        if self.resets:
            self.commands = [None] * n
        used = bits_of(self.model.fabric_next(), n) & random.getrandbits(n * n) & self._mask()
        values = {"rst": int(self.resets > 0), "request": self.requests, "used": used, "command_valid": 0}
        for i, command in enumerate(self.commands):
            values["command_valid"] |= (command is not None) << i
            values[f"command_{i}"] = command or 0
        return values

    def late(self, settled: Values) -> Values:
        return {}

    def _mask(self) -> int:
        n = self.shape.ports
        return self.random.choice((0, (1 << n * n) - 1))


class CoveredScheduler(CoveredModel[SchedulerModel]):
    """The model, which also counts events in coverage bins."""

    def __init__(self, shape: SwitchShape, coverage: Coverage) -> None:
        self.coverage = coverage
        self.done = 0
        self.model = SchedulerModel(shape)
        coverage.group("command", [c.name for c in Command])
        refusals = {
            Answer.RANGE: (
                Command.STAGE,
                Command.LOAD,
                Command.EVICT,
                Command.STORE,
                Command.SWAP,
                Command.HOLD,
                Command.RELEASE,
                Command.PREDICT,
                Command.SLOT,
                Command.WIDEN,
                Command.WHERE,
            ),
            Answer.CONFLICT: (Command.STAGE, Command.LOAD, Command.SWAP),
            Answer.BROKEN: (Command.LOAD, Command.STORE),
            Answer.UNKNOWN: (Command.PREDICT,),
        }
        names = [f"{kind.name} {command.name}" for kind, commands in refusals.items() for command in commands]
        coverage.group("refused", [*names, "UNKNOWN 15"])
        coverage.group("staging", ["waits for another processor"])
        coverage.group(
            "slot",
            [
                "established",
                "released",
                "preempted",
                "restored",
                "a second slot",
                "a second slot given back",
                "decision lost to a command",
            ],
        )
        coverage.group("predictor", [f"{p.name} lets a latch go" for p in (Predictor.TIMEOUT, Predictor.COUNTER)])
        coverage.group("time slots", ["idle", "same again", "next", "skips empty ones", "changed while on the fabric"])
        coverage.group("reset", ["while slots are in use"])

    def fabric_next(self) -> set[tuple[int, int]]:
        return self.model.fabric

    def clock(self, inputs: Values) -> None:
        hit = self.coverage.hit
        if inputs["rst"]:
            if any(self.model.realised):
                hit("reset", "while slots are in use")
            self.done = 0
            self.model.clock(inputs)
            return
        done, answer = self.model.reply()
        self.done = 0 if done is None else 1 << done
        if self.model.turn is not None:
            opcode = self.model.fields()[0]
            if done is None:
                hit("staging", "waits for another processor")
            elif answer is not None and answer & 15:
                known = Command(opcode).name if opcode in list(Command) else str(opcode)
                hit("refused", f"{Answer(answer & 15).name} {known}")
            else:
                hit("command", Command(opcode).name)
        before = [set(b) for b in self.model.realised]
        preloaded = [set(p) for p in self.model.preloaded]
        latched, predictor = set(self.model.latched), self.model.predictor
        cleared = self.model.turn is not None and self.model.fields()[0] in (Command.FLUSH, Command.RELEASE)
        was, place, tick = self.model.now, self.model.place, self.model.tick
        turn = self.model.turn
        self.model.clock(inputs)
        self._cover_slots(before, preloaded, turn)
        if latched - self.model.latched and not cleared and predictor in (Predictor.TIMEOUT, Predictor.COUNTER):
            hit("predictor", f"{predictor.name} lets a latch go")
        if tick == self.model.shape.slot_cycles - 1:
            if self.model.now is None:
                hit("time slots", "idle")
            elif was is None:
                pass
            elif self.model.now == was:
                hit("time slots", "same again")
            elif place is not None:
                hit(
                    "time slots",
                    "next" if self.model.now == (place + 1) % self.model.shape.slots else "skips empty ones",
                )
        elif was is not None and self.model.realised[was] != before[was]:
            hit("time slots", "changed while on the fabric")

    def _cover_slots(self, before: list[set], preloaded: list[set], turn: int | None) -> None:
        hit = self.coverage.hit
        if any(
            unit.decision is not None and unit.decision.spoilt and unit.decision.change for unit in self.model.units
        ):
            hit("slot", "decision lost to a command")
        if turn is not None:
            return
        for s, (old, new) in enumerate(zip(before, self.model.realised, strict=True)):
            elsewhere = set().union(*(b for t, b in enumerate(before) if t != s))
            for connection in new - old:
                if connection in preloaded[s]:
                    hit("slot", "restored")
                else:
                    hit(
                        "slot",
                        "a second slot" if connection in elsewhere and connection in self.model.wide else "established",
                    )
            for connection in old - new:
                if connection in preloaded[s]:
                    hit("slot", "preempted")
                else:
                    spare = connection in elsewhere and connection in self.model.wide
                    hit("slot", "a second slot given back" if spare else "released")


@cocotb.test()
async def tdm_scheduler(dut: Any) -> None:
    """The scheduler does what its model does."""
    task = Task.given()
    coverage = Coverage()
    shape: SwitchShape = task.among(BENCHES).shape
    model = CoveredScheduler(shape, coverage)
    inputs = ["rst", "request", "used", "command_valid", *(f"command_{i}" for i in range(shape.ports))]
    plan = BenchPlan(inputs=inputs, outputs=OUTPUTS, settled=("grant", "fabric"), least=3000, most=40000)
    await run(dut, SchedulerDriver(shape, task.random("driver"), model), model, coverage, plan)
