"""Programs of all nodes on a machine: what they do before and after the application."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cosim.record import Record
from cosim.session import run_nodes


class Told:
    """Notes what a machine is asked to run, and runs it at once."""

    nodes, time = 3, 30

    def __init__(self) -> None:
        self.results: list[Any] = []
        self.given: dict[str, Any] = {}

    def run(self, programs: list[Any], **given: Any) -> Record:
        self.given = given
        for program in programs:
            if program is None:
                self.results.append(None)
                continue
            with pytest.raises(StopIteration) as ended:
                program.send(None)
            self.results.append(ended.value.value)
        zeros = np.zeros(self.nodes, np.int64)
        return Record(self.time, zeros, zeros, zeros, self.results, 0.0)


def node(number: int, log: list[str]) -> Any:
    async def step(name: str) -> None:
        log.append(f"{name} {number}")

    cop = SimpleNamespace(init=lambda: step("init"), fini=lambda: step("fini"))
    moved = {("s", "write"): number}
    return SimpleNamespace(
        number=number, cop=cop, working=True, activity="", moved=moved, attended=lambda program: program
    )


def test_a_program_runs_between_init_and_fini_and_other_processors_do_nothing() -> None:
    log: list[str] = []
    machine = Told()

    async def main(one: Any) -> int:
        log.append(f"main {one.number}, {one.activity}")
        return one.number * 10

    nodes = [node(0, log), node(1, log)]
    record = run_nodes(nodes, main, machine, max_cycles=9, events=True)  # type: ignore[arg-type]
    assert record.results == [0, 10, None]
    assert record.moved == {0: {("s", "write"): 0}, 1: {("s", "write"): 1}}
    assert log[:3] == ["init 0", "main 0, before its first operator", "fini 0"]
    assert log[3:] == ["init 1", "main 1, before its first operator", "fini 1"]
    assert [one.latest for one in nodes] == [39, 39]
    assert machine.given == {"max_cycles": 9, "events": True, "each_cycle": None}
