"""Waveforms, links' monitors and breakpoints of the compiled RTL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cosim.engines.verilated.build import find_compiler
from cosim.numesh.machine import Machine
from cosim.numesh.rings import ring_memories
from numesh.shape import NodeShape
from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.runtime.api.requests import Category, Lane, Transfer, Wait

SHAPE = NodeShape(vfsms=8, schedule_depth=16)
TOPOLOGY = mesh(2, 2)
needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="needs a C++ compiler")


def send(words: int) -> Any:
    yield Wait(3, Category.CPU)
    yield Transfer(Lane(True, 2, words, np.arange(0xABC, 0xABC + words, dtype=np.uint32)))
    yield Wait(40, Category.CPU)


@needs_compiler
def test_a_waveform_shows_what_the_machine_did_in_the_window(tmp_path: Path):
    import pywellen

    path = tmp_path / "ring.fst"
    seen: dict[int, list[int]] = {}
    with Machine(SHAPE, TOPOLOGY, engine="verilated", wave=path, wave_window=(5, 30)) as machine:
        machine.preload(ring_memories(SHAPE, TOPOLOGY, [(2, 3)]))

        def look() -> None:
            seen[machine.time] = [sum(1 << int(r) for r in np.flatnonzero(row)) for row in machine.state()["full"]]

        machine.run([send(3), None, None, None], each_cycle=look)
    wave = pywellen.Waveform(str(path))
    names = {name_of(variable): variable for variable in wave.all_vars()}
    for node in range(4):
        changes = changes_of(names[f"node_{node}.pointsman_seat.p_full"])
        assert min(changes) == 10  # two steps a cycle
        assert max(changes) <= 61
        value = changes[10]
        for cycle in range(5, 31):
            value = changes.get(2 * cycle, value)
            assert value == seen[cycle][node], f"cycle {cycle}"
    assert any(name.endswith(".transfer_0.write_valid") for name in names), "blocks keep their names"


def name_of(variable: Any) -> str:
    return str(variable.full_name)


def changes_of(variable: Any) -> dict[int, int]:
    """Time to value; a value stays until the next change."""
    return {int(time): int(value) for time, value in variable.tv}


def test_other_engines_write_no_waveforms(tmp_path: Path):
    with pytest.raises(PointsmanError, match=r"^engine 'model' writes no waveforms\n  hint: use engine 'verilated'"):
        Machine(SHAPE, TOPOLOGY, engine="model", wave=tmp_path / "no.fst")
    with pytest.raises(PointsmanError, match="must not be before the first, as 3 before 9"):
        Machine(SHAPE, TOPOLOGY, engine="verilated", wave=tmp_path / "no.fst", wave_window=(9, 3))


@needs_compiler
def test_a_waveform_that_cannot_be_written_is_said(tmp_path: Path):
    with pytest.raises(PointsmanError, match=r"cannot write .*there is no folder"):
        Machine(SHAPE, TOPOLOGY, engine="verilated", wave=tmp_path / "nowhere" / "no.fst")


class OtherWords:
    """An engine on whose links words change on their way."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self.compiled = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def peek(self, name: str) -> Any:
        value = self._engine.compiled.peek(name)
        return [word + 1 for word in value] if name.startswith("wire.out_data") else value


@needs_compiler
def test_monitors_of_links_see_words_cross_and_find_those_that_do_not_arrive():
    with Machine(SHAPE, TOPOLOGY, engine="verilated") as machine:
        machine.preload(ring_memories(SHAPE, TOPOLOGY, [(2, 3)]))
        monitors = machine.link_monitors()
        machine.run([send(1), None, None, None], each_cycle=monitors)
        assert (monitors.words, monitors.violations) == (1, [])
    with Machine(SHAPE, TOPOLOGY, engine="verilated") as machine:
        machine.preload(ring_memories(SHAPE, TOPOLOGY, [(2, 3)]))
        monitors = machine.link_monitors()
        monitors._engine = OtherWords(monitors._engine)
        machine.run([send(1), None, None, None], each_cycle=monitors)
    assert "was accepted, and is not in the neighbour's write stage" in str(monitors.violations[0])


def test_monitors_of_links_need_links():
    with Machine(SHAPE, TOPOLOGY, engine="model") as machine:
        with pytest.raises(PointsmanError, match="engine 'model' has no links to monitor"):
            machine.link_monitors()


@pytest.mark.parametrize("engine", ["model", pytest.param("verilated", marks=needs_compiler)])
def test_a_run_stops_at_a_cycle_or_at_a_condition_and_the_state_is_there(engine: str):
    for until_register in (False, True):
        with Machine(SHAPE, TOPOLOGY, engine=engine) as machine:  # type: ignore[arg-type]
            machine.preload(ring_memories(SHAPE, TOPOLOGY, [(2, 3)]))
            until = (lambda: bool(machine.state()["full"][1, 3])) if until_register else 4
            record = machine.run([send(3), None, None, None], until=until)
            assert record.stopped == machine.time == record.total_cycles
            assert record.results[0] is None
            state = machine.state()
            if until_register:
                assert state["register"][1, 3] == 0xABC
            else:
                assert (machine.time, state["register"][0, 2], record.accesses[0, 0]) == (4, 0xABC, 1)
                assert record.cycles[0, Category.CPU] == 3


def test_until_has_to_be_ahead():
    with Machine(SHAPE, TOPOLOGY, engine="model") as machine:
        with pytest.raises(PointsmanError, match=r"^until must be at least 1, not 0"):
            machine.run([None] * 4, until=0)
