"""What processors tell the switch when they enter a set: on the model of the switch."""

from __future__ import annotations

from collections import deque

import pytest

from cosim.benches.tdm.tables import commands_of
from cosim.tdm.switch_model import SwitchModel
from pointsman.artifacts.tables import ConnectionTables, WorkingSet
from pointsman.network import mesh
from tdm_switch.codes import Registers
from tdm_switch.shape import SwitchShape

SHAPE = SwitchShape(ports=4, slots=3, queue_depth=4, buffer_depth=4, age_bits=6, stored=0)
FIRST = WorkingSet("a", (((0, 1), (1, 0), (2, 3)), ((0, 2),)), dynamic=((3, 0),), hold=((3, 0),))
SECOND = WorkingSet("b", (((3, 3),), ()))


def tables(*sets: WorkingSet, registers: int = 2, timeout: int = 0) -> ConnectionTables:
    return ConnectionTables("t", (), mesh(2, 2), SHAPE, "hybrid", registers, timeout, (), (), (), sets)


def carried_out(model: SwitchModel, words: dict[int, list[int]]) -> None:
    """Processors give commands, each when its last has been done; none may be answered."""
    left = {i: deque(given) for i, given in words.items()}
    for _ in range(2000):
        inputs = {f"p_{name}_{i}": 0 for i in range(4) for name in ("address", "write", "read", "write_data")}
        for i, given in left.items():
            if given and model.nics[i].command is None:
                inputs |= {f"p_address_{i}": Registers(SHAPE).command, f"p_write_{i}": 1}
                inputs[f"p_write_data_{i}"] = given.popleft()
        model.clock(inputs)
        assert all(nic.answer is None for nic in model.nics), "a command was refused"
        if not any(left.values()) and all(nic.command is None for nic in model.nics):
            return
    raise AssertionError("commands are not done")


@pytest.mark.parametrize("order", [(FIRST, SECOND), (SECOND, FIRST), (FIRST, FIRST)])
def test_when_all_have_entered_a_set_its_configurations_stand_and_nothing_older(order) -> None:
    model = SwitchModel(SHAPE)
    for working in order:
        carried_out(model, commands_of(tables(*order), working))
        given = [set(pairs) for pairs in working.configurations]
        assert [set(b) for b in model.scheduler.preloaded][:2] == given
        assert all(pairs <= set(b) for pairs, b in zip(given, model.scheduler.realised, strict=False))
        assert [bool(one) for one in model.scheduler.dynamic] == [False, False, True]


def test_registers_that_a_set_does_not_name_are_empty() -> None:
    model = SwitchModel(SHAPE)
    carried_out(model, commands_of(tables(FIRST), FIRST))
    carried_out(model, commands_of(tables(FIRST), WorkingSet("none")))
    assert [set(b) for b in model.scheduler.preloaded] == [set()] * 3


def test_only_those_that_hold_a_request_and_the_first_processor_give_commands() -> None:
    assert set(commands_of(tables(FIRST), FIRST)) == {0, 3}
    assert set(commands_of(tables(SECOND), SECOND)) == {0}


def test_a_time_out_is_told_once() -> None:
    without, with_it = (commands_of(tables(FIRST, timeout=t), FIRST)[0] for t in (0, 9))
    assert len(with_it) == len(without) + 1
