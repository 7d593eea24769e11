"""Corner cases of a node, cycle by cycle, that the model must have right before the hardware is held against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from cosim.benches.numesh.models.node import NodeModel
from numesh.codes import FIRST_READ, LOOKAHEAD, POINTER_LATENCY, Annotation, MoveType, ScheduleEntry
from numesh.shape import NodeShape

NOTHING = {"rst": 0, "p_address": 0, "p_write": 0, "p_read": 0, "p_write_data": 0}


class Rig:
    """A node with a schedule of its own from reset on; slot 0 has its read stage two cycles after the rig is ready."""

    def __init__(
        self,
        rows: Sequence[tuple[int, int]],
        first: Mapping[int, Annotation],
        second: Mapping[int, Annotation] | None = None,
    ) -> None:
        self.model = NodeModel(NodeShape())
        self.codes = self.model.codes
        rows = [*rows, *rows] if len(rows) == 1 else rows
        for i, row in enumerate(rows):
            self.model.schedule[i] = ScheduleEntry(row, (i + LOOKAHEAD) % len(rows))
        for p, legs in enumerate((first, second or {})):
            for vfsm, annotation in legs.items():
                self.model.annotations[p][vfsm] = annotation
        self.cycles(FIRST_READ - 2)

    def cycle(self, **inputs: int) -> dict[str, int | None]:
        """Let a cycle pass. Gives the outputs in it."""
        given = dict(NOTHING)
        for d in range(4):
            given |= {f"in_valid_{d}": 0, f"in_data_{d}": 0, f"out_accept_{d}": 0}
        given |= inputs
        outputs = self.model.outputs()
        self.model.clock(given)
        return outputs

    def cycles(self, count: int) -> None:
        for _ in range(count):
            self.cycle()


def move(source: int, destination: int, type: MoveType = MoveType.MOVE, forked: bool = False) -> Annotation:
    return Annotation(type, source, destination, forked)


R3, R4, R5, NULL = 16 + 3, 16 + 4, 16 + 5, 13


def test_pointer_command_of_the_processor_reaches_the_read_stage_eleven_cycles_later() -> None:
    rig = Rig([(1, 0)], {2: move(0, NULL)})
    rig.model.schedule[7] = ScheduleEntry((2, 0), 7)
    rig.cycles(10)
    command = rig.codes.set_pointer(7, 7)
    assert len(command) == 1
    rig.cycle(p_write=1, p_address=0, p_write_data=command[0])
    assert [rig.cycle()["in_accept_0"] for _ in range(POINTER_LATENCY + 4)] == [0] * (POINTER_LATENCY + 1) + [1, 1, 1]


def test_first_slot_reads_two_cycles_after_the_rig_is_ready_and_writes_in_the_next() -> None:
    rig = Rig([(2, 0)] * 4, {2: move(0, 1)})
    accepted, offered = [], []
    for _ in range(5):
        outputs = rig.cycle(in_valid_0=1, in_data_0=5, out_accept_1=1)
        accepted.append(outputs["in_accept_0"])
        offered.append(outputs["out_valid_1"])
    assert accepted[:3] == [0, 0, 1]
    assert offered[:4] == [0, 0, 0, 1]


def test_word_written_in_a_slot_is_read_by_the_neighbour_in_the_next() -> None:
    rig = Rig([(2, 0), (0, 0)], {2: move(NULL, 3)})
    seen = [rig.cycle(out_accept_3=1)["out_valid_3"] for _ in range(8)]
    assert seen == [0, 0, 0, 1, 0, 1, 0, 1]


def test_refused_word_stays_in_the_buffer_and_closes_the_source() -> None:
    rig = Rig([(2, 0), (0, 0)], {2: move(0, 1)})
    rig.cycles(2)
    assert rig.cycle(in_valid_0=1, in_data_0=77)["in_accept_0"] == 1
    assert rig.cycle(out_accept_1=0)["out_valid_1"] == 1
    assert rig.model.held[0][2]
    assert rig.cycle(in_valid_0=1, in_data_0=78)["in_accept_0"] == 0
    outputs = rig.cycle(out_accept_1=1)
    assert (outputs["out_valid_1"], outputs["out_data_1"]) == (1, 77)
    assert rig.cycle()["in_accept_0"] == 1


def test_vfsm_that_is_still_in_the_write_stage_refuses() -> None:
    rig = Rig([(2, 0), (2, 0), (0, 0), (0, 0)], {2: move(0, 1)})
    rig.cycles(2)
    assert rig.cycle(in_valid_0=1)["in_accept_0"] == 1
    assert rig.cycle(in_valid_0=1, out_accept_1=1)["in_accept_0"] == 0


@pytest.mark.parametrize("annotation", [move(0, NULL), move(0, 1, MoveType.BLIND)])
def test_word_that_cannot_come_back_lets_its_vfsm_accept_at_once(annotation: Annotation) -> None:
    rig = Rig([(2, 0)], {2: annotation})
    rig.cycles(2)
    assert [rig.cycle(in_valid_0=1)["in_accept_0"] for _ in range(3)] == [1, 1, 1]


def test_buffered_word_to_null_is_sent_once_even_back_to_back() -> None:
    rig = Rig([(2, 0)], {2: move(8, NULL)})
    rig.model.held[0][2] = True
    sent = 0
    for _ in range(8):
        rig.cycle()
        happening = rig.model.happenings[0]
        sent += happening.written is not None and happening.ok
    assert sent == 1


def test_fork_gives_both_legs_the_word_or_neither() -> None:
    rig = Rig([(2, 0), (3, 0), (0, 0), (0, 0)], {2: move(0, 1), 3: move(1, R3, MoveType.FORK)})
    rig.cycles(2)
    rig.cycle(in_valid_0=1, in_data_0=9)
    assert rig.cycle(out_accept_1=0)["out_valid_1"] == 1
    rig.cycles(3)
    assert not rig.model.full[3]
    outputs = rig.cycle(out_accept_1=1)
    assert (outputs["out_valid_1"], outputs["out_data_1"]) == (1, 9)
    rig.cycle()
    assert rig.model.full[3]
    assert rig.model.words[1][3] == 9


def test_first_leg_waits_while_the_second_holds_a_word() -> None:
    rig = Rig([(2, 0), (3, 0), (0, 0), (0, 0)], {2: move(0, 1), 3: move(1, R3, MoveType.FORK)})
    rig.model.places[1][3] = rig.model.held[0][3] = True
    rig.cycles(2)
    rig.cycle(in_valid_0=1, in_data_0=9)
    assert rig.cycle(out_accept_1=1)["out_valid_1"] == 0
    assert rig.model.held[0][2]


def test_marked_first_leg_waits_for_a_second_that_is_not_there() -> None:
    rig = Rig([(2, 0), (0, 0), (0, 0), (0, 0)], {2: move(0, 1, forked=True)})
    rig.cycles(2)
    rig.cycle(in_valid_0=1, in_data_0=9)
    assert [rig.cycle(out_accept_1=1)["out_valid_1"] for _ in range(9)] == [0] * 9
    rig.model.schedule[1] = ScheduleEntry((3, 0), 3)
    rig.model.annotations[0][3] = move(1, NULL, MoveType.FORK)
    assert 1 in [rig.cycle(out_accept_1=1)["out_valid_1"] for _ in range(12)]


def test_blind_move_overwrites_the_word_of_its_pipeline_and_no_other() -> None:
    rig = Rig([(2, 0), (0, 0)], {2: move(0, R3, MoveType.BLIND)})
    rig.cycle(p_write=1, p_address=3, p_write_data=1)
    rig.cycle()
    for word in (2, 3):
        rig.cycle(in_valid_0=1, in_data_0=word)
        rig.cycle()
        assert [full[3] for full in rig.model.places] == [True, True, False]
        assert [words[3] for words in rig.model.words] == [1, word, None]
    assert not any(rig.model.held[0])


def test_copy_leaves_the_register_full() -> None:
    rig = Rig([(2, 0), (0, 0)], {2: move(R3, 1, MoveType.COPY)})
    rig.cycle(p_write=1, p_address=3, p_write_data=6)
    outputs = [rig.cycle(out_accept_1=1) for _ in range(8)]
    assert [o["out_data_1"] for o in outputs if o["out_valid_1"]] == [6, 6, 6]
    assert rig.model.full[3]


def test_pipeline_that_writes_a_register_reads_none_in_that_cycle() -> None:
    rig = Rig([(2, 0), (3, 0), (0, 0)], {2: move(NULL, R3), 3: move(R4, 1)})
    rig.cycle(p_write=1, p_address=4, p_write_data=6)
    rig.cycles(2)
    rig.cycle()
    assert rig.model.happenings[0].why_not == "own write stage uses the interface"
    assert rig.model.full[4]


def test_both_pipelines_write_a_register_and_the_lower_one_comes_first_at_a_link() -> None:
    rig = Rig([(2, 2), (3, 3)], {2: move(NULL, R3), 3: move(NULL, 1)}, {2: move(0, R3), 3: move(0, 1)})
    rig.cycles(2)
    rig.cycle(in_valid_0=1, in_data_0=5)
    rig.cycle(in_valid_0=1, in_data_0=6)
    assert [words[3] for words in rig.model.words] == [None, 0, 5]
    assert rig.model.happenings[1].state == "meets"
    outputs = rig.cycle(out_accept_1=1)
    assert (outputs["out_valid_1"], outputs["out_data_1"]) == (1, 0)
    assert not any(rig.model.held[1])


def test_word_goes_into_a_register_while_the_processor_takes_the_one_before() -> None:
    rig = Rig([(2, 0), (0, 0)], {2: move(0, R3)})
    rig.cycles(2)
    rig.cycle(in_valid_0=1, in_data_0=5)
    rig.cycle()
    rig.cycle(in_valid_0=1, in_data_0=6, p_read=1, p_address=3)
    rig.cycle()
    assert rig.model.happenings[0].ok
    assert rig.model.read_data == 5
    rig.cycle(in_valid_0=1, in_data_0=7)
    rig.cycle()
    assert rig.model.happenings[0].why == "full"
    assert rig.model.words[1][3] == 6
    assert rig.model.held[0][2]


def test_processor_takes_no_word_of_its_own_and_writes_over_it() -> None:
    rig = Rig([(0, 0)], {})
    rig.cycle(p_write=1, p_address=4, p_write_data=6)
    rig.cycle(p_read=1, p_address=4)
    rig.cycle(p_write=1, p_address=4, p_write_data=7)
    assert rig.model.outputs()["p_full"] == 1 << 4
    assert rig.model.words[0][4] == 7


def test_turn_at_the_buffer_that_has_just_been_filled_is_idle() -> None:
    buffers = {2: move(0, 32 + 3), 3: move(0, 1)}
    for gap, state in ((2, "buffer"), (3, "retry")):
        rig = Rig([(2, 0), *[(0, 0)] * gap, (3, 0), *[(0, 0)] * 6], buffers)
        assert rig.codes.buffer(3) == 32 + 3
        rig.cycles(2)
        rig.cycle(in_valid_0=1, in_data_0=5)
        rig.cycles(gap + 1)
        assert rig.model.happenings[0].state == state


def test_reset_empties_everything_but_the_memories() -> None:
    rig = Rig([(1, 1)], {})
    annotation = move(0, 1)
    rig.cycle(p_write=1, p_address=9, p_write_data=1)
    rig.cycle(p_write=1, p_address=0, p_write_data=rig.codes.write_annotation(5, annotation)[0])
    rig.cycles(3)
    rig.model.held[1][4] = True
    rig.cycle(rst=1)
    assert rig.model.annotations[0][5] == annotation
    assert not any(rig.model.full)
    assert not any(map(any, rig.model.held))
    assert rig.model.stage == [None, None]
    rig.cycle()
    assert rig.model.happenings[0].state == "none"


def test_schedule_and_pointer_commands_of_other_pipelines_do_nothing() -> None:
    rig = Rig([(1, 1)], {})
    entry = ScheduleEntry((0, 0), 3)
    for command in (rig.codes.write_entry(0, entry), rig.codes.set_pointer(9, 9), rig.codes.add_pointer(2)):
        rig.cycle(p_write=1, p_address=1, p_write_data=command[0])
        rig.cycles(4)
    assert rig.model.schedule[0] == ScheduleEntry((1, 1), 0)
    assert [turns[3].vfsm for turns in rig.model.turns] == [1, 1]


def test_added_pointer_wraps_at_the_schedule_depth() -> None:
    rig = Rig([(1, 0)], {})
    for address in (125, 126):
        rig.model.schedule[address] = ScheduleEntry((0, 0), 125)
    rig.cycles(3)
    rig.cycle(p_write=1, p_address=0, p_write_data=rig.codes.add_pointer(-3)[0])
    rig.cycles(5)
    assert rig.model.out == [ScheduleEntry((0, 0), 125)] * 2
