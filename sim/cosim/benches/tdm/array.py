"""Bench of the scheduler arrays: all orders decide the same slots, the pipelined order a new slot in every cycle."""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Any

import cocotb

from cosim.benches.coverage import Coverage
from cosim.benches.harness import BenchPlan, Task, Values, run
from cosim.tdm.scheduler_model import bits_of, connections_of, decide
from tdm_switch.shape import SwitchShape, bits_for

from .catalogue import BENCHES

ORDERS = ("plain", "turned", "wrapped")


class ArrayDriver:
    """Random legal slots, and the connections to be changed in them, from very few to all."""

    def __init__(self, shape: SwitchShape, random: Random) -> None:
        self.n = shape.ports
        self.random = random

    def early(self, cycle: int) -> Values:
        return self._values() | {"rst": int(cycle < 2)}

    def late(self, settled: Values) -> Values:
        return self._values()

    def _values(self) -> dict[str, int]:
        n, random = self.n, self.random
        outputs = random.sample(range(n), n)
        kept = random.random()
        realised = {(u, v) for u, v in enumerate(outputs) if random.random() < kept}
        rate = random.choice((0.05, 0.3, 0.7, 1.0))
        change = {(u, v) for u in range(n) for v in range(n) if random.random() < rate}
        return {
            "b": bits_of(realised, n),
            "l": bits_of(change, n),
            "row": random.randrange(1 << bits_for(n)),
            "column": random.randrange(1 << bits_for(n)),
        }


class ArrayModel:
    """Model of the arrays, which also counts events in coverage bins."""

    def __init__(self, shape: SwitchShape, coverage: Coverage) -> None:
        self.n = shape.ports
        self.coverage = coverage
        self.before: deque[set[tuple[int, int]]] = deque([set()] * (2 * self.n - 1), maxlen=2 * self.n - 1)
        """Toggles of the slots that entered the pipelined array, this cycle's first."""
        self.cycles = 0
        what = ("released", "established", "established where another was released", "refused", "refused both ports")
        for order in ORDERS:
            coverage.group(order, what)
        coverage.group("start", [f"row {i}" for i in range(self.n)] + [f"column {i}" for i in range(self.n)])

    def outputs(self, inputs: Values) -> dict[str, int | None]:
        n = self.n
        realised, change = connections_of(inputs["b"], n), connections_of(inputs["l"], n)
        start = (inputs["row"] % n, inputs["column"] % n)
        found: dict[str, int | None] = {}
        for name, order, where in (
            ("plain", "plain", (0, 0)),
            ("turned", "plain", start),
            ("wrapped", "wrapped", start),
        ):
            released, established = decide(n, order, where, change, realised)
            self._cover(name, change, realised, released, established)
            found[f"t_{name}"] = bits_of(released | established, n)
            if name == "plain":
                self.now = released | established
        for part, number in zip(("row", "column"), start, strict=True):
            self.coverage.hit("start", f"{part} {number}")
        slots = [self.now, *self.before]
        skewed = {(u, v) for u in range(n) for v in range(n) if (u, v) in slots[u + v]}
        found["t_pipelined"] = bits_of(skewed, n) if self.cycles > 2 * n + 2 else None
        return found

    def clock(self, inputs: Values) -> None:
        self.before.appendleft(self.now)
        self.cycles += 1

    def _cover(self, name: str, change: set, realised: set, released: set, established: set) -> None:
        hit = self.coverage.hit
        refused = change - realised - established
        ports = [{c[i] for c in realised | established} for i in (0, 1)]
        freed = [{c[i] for c in released} for i in (0, 1)]
        if released:
            hit(name, "released")
        if established:
            hit(name, "established")
        if any(u in freed[0] or v in freed[1] for u, v in established):
            hit(name, "established where another was released")
        if refused:
            hit(name, "refused")
        if any(u in ports[0] and v in ports[1] for u, v in refused):
            hit(name, "refused both ports")


@cocotb.test()
async def tdm_array(dut: Any) -> None:
    """The arrays decide as their model does."""
    task = Task.given()
    shape: SwitchShape = task.among(BENCHES).shape
    coverage = Coverage()
    plan = BenchPlan(
        inputs=("rst", "b", "l", "row", "column"),
        outputs=(*(f"t_{name}" for name in ORDERS), "t_pipelined"),
        settled=(),
        least=1000,
        most=8000,
    )
    await run(
        dut,
        ArrayDriver(shape, task.random("driver")),
        ArrayModel(shape, coverage),
        coverage,
        plan,
    )
