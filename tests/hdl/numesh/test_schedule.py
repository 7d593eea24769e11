from collections.abc import Sequence

import pytest

from numesh.codes import Codes, ScheduleEntry
from numesh.schedule import ScheduleStage
from numesh.shape import NodeShape
from numesh.trace import Sample, record

SHAPE = NodeShape(pipelines=2, vfsms=8, schedule_depth=8, registers=2)
CODES = Codes(SHAPE)
# VFSM of pipeline 0 is the address, so that the entry tells where it was read.
ONWARD = [CODES.encode_entry(ScheduleEntry((a, 7 - a), (a + 1) % 8)) for a in range(8)]


def run(cycles: int, inputs: dict[int, dict[str, int]], contents: Sequence[int] = ONWARD) -> list[Sample]:
    return record(ScheduleStage(shape=SHAPE, contents=contents), cycles, lambda c, before: inputs.get(c, {}))


def addresses(samples: list[Sample]) -> list[int]:
    return [CODES.decode_entry(s["entry"]).vfsms[0] for s in samples]


def test_first_entry_after_reset_is_address_0_one_cycle_later() -> None:
    samples = run(5, {})
    assert [s["running"] for s in samples] == [0, 1, 1, 1, 1]
    assert addresses(samples)[1:] == [0, 1, 2, 3]


def test_schedule_is_a_linked_list() -> None:
    entries = list(ONWARD)
    entries[0] = CODES.encode_entry(ScheduleEntry((0, 0), 5))
    entries[5] = CODES.encode_entry(ScheduleEntry((5, 0), 3))
    entries[3] = CODES.encode_entry(ScheduleEntry((3, 0), 5))
    assert addresses(run(8, {}, entries))[1:] == [0, 5, 3, 5, 3, 5, 3]


def test_set_pointer_is_the_address_of_the_next_cycle() -> None:
    # Command in cycle 3, address 6 in cycle 4, its entry in cycle 5.
    samples = run(8, {3: {"set_pointer": 1, "pointer": 6}})
    assert addresses(samples)[1:] == [0, 1, 2, 3, 6, 7, 0]


@pytest.mark.parametrize(("delta", "landing"), [(0, 4), (1, 5), (3, 7), (4, 0), (7, 3)])
def test_added_delta_moves_the_next_address_modulo_the_depth(delta: int, landing: int) -> None:
    # In cycle 4 the entry of address 3 is out, whose next address is 4.
    samples = run(8, {3: {"add_pointer": 1, "pointer": delta}})
    assert addresses(samples)[1:6] == [0, 1, 2, 3, landing]
    assert addresses(samples)[6] == (landing + 1) % 8


def test_pointer_without_strobe_does_nothing() -> None:
    assert addresses(run(8, {3: {"pointer": 6}}))[1:] == [0, 1, 2, 3, 4, 5, 6]


def test_commands_in_successive_cycles_act_each_in_its_turn() -> None:
    inputs = {
        2: {"set_pointer": 1, "pointer": 5},
        3: {"add_pointer": 1, "pointer": 2},
        4: {"set_pointer": 1, "pointer": 1},
    }
    # Address 5 in cycle 3; 6 + 2 = 0 in cycle 4; 1 in cycle 5.
    assert addresses(run(8, inputs))[1:] == [0, 1, 2, 5, 0, 1, 2]


def test_address_0_is_read_first_even_if_a_command_comes_with_reset() -> None:
    assert addresses(run(5, {0: {"set_pointer": 1, "pointer": 6}}))[1:] == [0, 6, 7, 0]


def test_read_in_the_cycle_of_a_write_gives_the_old_entry() -> None:
    entry = CODES.encode_entry(ScheduleEntry((6, 6), 3))
    # Address 3 is read in cycle 3 and, after the new entry made a loop of it, in cycle 4 and on.
    looping = run(7, {3: {"w_enable": 1, "w_address": 3, "w_entry": entry}})
    assert addresses(looping)[1:] == [0, 1, 2, 3, 4, 5]
    early = run(7, {2: {"w_enable": 1, "w_address": 3, "w_entry": entry}})
    assert addresses(early)[1:] == [0, 1, 2, 6, 6, 6]


def test_write_needs_its_strobe() -> None:
    assert addresses(run(6, {1: {"w_address": 3, "w_entry": 0}}))[1:] == [0, 1, 2, 3, 4]


def test_smallest_schedule_has_two_entries() -> None:
    shape = NodeShape(pipelines=1, vfsms=2, schedule_depth=2, neighbours=1, registers=1, width=1)
    codes = Codes(shape)
    contents = [codes.encode_entry(ScheduleEntry((a,), 1 - a)) for a in range(2)]
    stage = ScheduleStage(shape=shape, contents=contents)
    inputs = {3: {"add_pointer": 1, "pointer": 1}}
    samples = record(stage, 7, lambda c, before: inputs.get(c, {}))
    assert [codes.decode_entry(s["entry"]).vfsms[0] for s in samples[1:]] == [0, 1, 0, 1, 1, 0]
