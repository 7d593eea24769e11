from collections.abc import Sequence

import pytest

from numesh.codes import Codes, ScheduleEntry
from numesh.schedule import ScheduleStage
from numesh.shape import NodeShape
from numesh.trace import Sample, record

SHAPE = NodeShape(pipelines=2, vfsms=8, schedule_depth=8, registers=2)
CODES = Codes(SHAPE)
# VFSM of pipeline 0 is the address, so that the entry tells where it was read.
ONWARD = [CODES.encode_entry(ScheduleEntry((a, 7 - a), (a + 2) % 8)) for a in range(8)]


def run(cycles: int, inputs: dict[int, dict[str, int]], contents: Sequence[int] = ONWARD) -> list[Sample]:
    return record(ScheduleStage(shape=SHAPE, contents=contents), cycles, lambda c, before: inputs.get(c, {}))


def addresses(samples: list[Sample]) -> list[int]:
    """Addresses by cycle, as the entries tell that are out two cycles later."""
    return [CODES.decode_entry(s["entry"]).vfsms[0] for s in samples[2:]]


def test_first_entries_after_reset_are_those_of_0_and_1_two_cycles_later() -> None:
    samples = run(6, {})
    assert [s["running"] for s in samples] == [0, 0, 1, 1, 1, 1]
    assert addresses(samples) == [0, 1, 2, 3]


def test_schedule_is_a_linked_list_of_slots_two_apart() -> None:
    entries = list(ONWARD)
    entries[0] = CODES.encode_entry(ScheduleEntry((0, 0), 5))
    entries[5] = CODES.encode_entry(ScheduleEntry((5, 0), 3))
    entries[3] = CODES.encode_entry(ScheduleEntry((3, 0), 5))
    assert addresses(run(10, {}, entries)) == [0, 1, 5, 3, 3, 5, 5, 3]


def test_set_pointer_gives_the_addresses_of_the_next_two_cycles() -> None:
    # Command in cycle 3, address 6 in cycle 4, address 1 in cycle 5.
    samples = run(11, {3: {"set_pointer": 1, "pointer": 6, "second": 1}})
    assert addresses(samples) == [0, 1, 2, 3, 6, 1, 0, 3, 2]


@pytest.mark.parametrize("delta", [0, 1, 3, 4, 7])
def test_added_delta_moves_all_addresses_from_the_next_one_on_modulo_the_depth(delta: int) -> None:
    samples = run(10, {3: {"add_pointer": 1, "pointer": delta}})
    assert addresses(samples) == [0, 1, 2, 3, *((a + delta) % 8 for a in range(4, 8))]


def test_pointer_without_strobe_does_nothing() -> None:
    assert addresses(run(9, {3: {"pointer": 6, "second": 5}})) == [0, 1, 2, 3, 4, 5, 6]


def test_commands_two_cycles_apart_act_each_in_its_turn() -> None:
    inputs = {
        2: {"set_pointer": 1, "pointer": 5, "second": 6},
        4: {"add_pointer": 1, "pointer": 2},
        6: {"set_pointer": 1, "pointer": 1, "second": 2},
    }
    # Addresses 5 and 6 in cycles 3 and 4; 7 + 2 and 0 + 2; 1 and 2.
    assert addresses(run(12, inputs)) == [0, 1, 2, 5, 6, 1, 2, 1, 2, 3]


def test_command_takes_the_second_half_of_one_straight_before_it_away() -> None:
    inputs = {
        2: {"set_pointer": 1, "pointer": 5, "second": 0},
        3: {"set_pointer": 1, "pointer": 6, "second": 7},
    }
    assert addresses(run(9, inputs)) == [0, 1, 2, 5, 6, 7, 0]


def test_command_in_the_first_cycle_takes_the_place_of_the_second_address() -> None:
    assert addresses(run(7, {0: {"set_pointer": 1, "pointer": 6, "second": 3}})) == [0, 6, 3, 0, 5]


def test_read_in_the_cycle_of_a_write_gives_the_new_entry() -> None:
    entry = CODES.encode_entry(ScheduleEntry((6, 6), 3))
    # Address 3 is read in cycle 3, and from then on in every second one.
    for written in (1, 2, 3):
        looping = run(9, {written: {"w_enable": 1, "w_address": 3, "w_entry": entry}})
        assert addresses(looping) == [0, 1, 2, 6, 4, 6, 6]
    late = run(13, {4: {"w_enable": 1, "w_address": 3, "w_entry": entry}})
    assert addresses(late) == [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2]


def test_writes_in_successive_cycles_are_each_read_at_once() -> None:
    entries = [CODES.encode_entry(ScheduleEntry((6, 6), a)) for a in (3, 4)]
    inputs = {c: {"w_enable": 1, "w_address": c, "w_entry": entries[c - 3]} for c in (3, 4)}
    assert addresses(run(9, inputs)) == [0, 1, 2, 6, 6, 6, 6]


def test_write_needs_its_strobe() -> None:
    assert addresses(run(7, {1: {"w_address": 3, "w_entry": 0}})) == [0, 1, 2, 3, 4]


def test_smallest_schedule_has_two_entries() -> None:
    shape = NodeShape(pipelines=1, vfsms=2, schedule_depth=2, neighbours=1, registers=1, width=1)
    codes = Codes(shape)
    contents = [codes.encode_entry(ScheduleEntry((a,), a)) for a in range(2)]
    stage = ScheduleStage(shape=shape, contents=contents)
    inputs = {3: {"add_pointer": 1, "pointer": 1}}
    samples = record(stage, 9, lambda c, before: inputs.get(c, {}))
    assert [codes.decode_entry(s["entry"]).vfsms[0] for s in samples[2:]] == [0, 1, 0, 1, 1, 0, 1]
