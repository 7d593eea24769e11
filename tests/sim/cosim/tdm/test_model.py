"""The switch as a cycle model with processors at its ports."""

from __future__ import annotations

import numpy as np
import pytest

from cosim.engines.processors import Access
from cosim.errors import DeadlockError
from cosim.tdm.model import SwitchModelEngine, SwitchPortShape, switch_machine
from pointsman.errors import PointsmanError
from pointsman.runtime.api.requests import Lane, Transfer
from tdm_switch.codes import Registers
from tdm_switch.shape import SwitchShape

SHAPE = SwitchShape(ports=2, slots=1, buffer_depth=4, queue_depth=4)
AT = Registers(SHAPE)


def test_a_program_sees_words_of_the_width_of_the_switch() -> None:
    shape = SwitchPortShape(SHAPE)
    assert shape.registers == SHAPE.registers == AT.unsent + 1
    assert shape.word_mask.bit_length() == shape.width == SHAPE.width


def test_time_goes_on_a_cycle_at_a_time_and_a_word_is_read_when_it_has_come() -> None:
    engine = SwitchModelEngine(SHAPE)
    engine.clock({0: Access(AT.queue(1), True, 77)})
    for _ in range(60):
        if engine.available(1) >> AT.buffer(0) & 1:
            break
        assert engine.clock({}) == {}
    before = engine.time
    assert engine.clock({1: Access(AT.buffer(0), False, 0)}) == {1: 77}
    assert engine.time == before + 1


def test_programs_exchange_messages() -> None:
    async def program(me: int) -> list[int]:
        out, into = np.arange(5, dtype=np.uint32) + 10 * me, np.zeros(5, np.uint32)
        await Transfer([Lane(True, AT.queue(1 - me), 5, out), Lane(False, AT.buffer(1 - me), 5, into)])
        return into.tolist()

    with switch_machine(SHAPE, "model", progress=False) as machine:
        assert machine.engine == "model"
        record = machine.run([program(0), program(1)])
    assert record.results == [[10, 11, 12, 13, 14], [0, 1, 2, 3, 4]]
    assert record.accesses.tolist() == [[5, 5], [5, 5]]


def test_waiting_for_a_word_that_nobody_sends_is_a_deadlock() -> None:
    async def program() -> None:
        await Transfer(Lane(False, AT.buffer(0), 1))

    with switch_machine(SHAPE, "model", progress=False) as machine:
        assert machine.state() is None
        with pytest.raises(DeadlockError, match="node 1"):
            machine.run([None, program()], quiet_cycles=50)


def test_an_engine_that_does_not_exist_is_refused() -> None:
    with pytest.raises(PointsmanError, match=r"^an engine of the switch must be auto, verilated or model, not 'fast'$"):
        switch_machine(SHAPE, "fast")  # type: ignore[arg-type]
