import itertools
from collections.abc import Mapping
from typing import Literal

import pytest

from numesh.codes import SHORTEST_RETURN, SHORTEST_STAY, SHORTEST_TURN, Annotation, Codes, MoveType
from numesh.shape import NodeShape
from numesh.trace import Sample, record
from numesh.transfer import TransferStages

SHAPE = NodeShape(pipelines=1, vfsms=8, schedule_depth=8, neighbours=4, registers=4, width=16)
CODES = Codes(SHAPE)
WEST, EAST, SOUTH, NORTH = (CODES.neighbour(d) for d in range(4))
REGISTER = [CODES.register(r) for r in range(4)]
BUFFER = [CODES.buffer(v) for v in range(8)]
MEMADR, NULL, NOP = CODES.memadr, CODES.null, CODES.nop
INVALID = 9
ALL = 0xF

Slot = tuple[int, int, int] | tuple[int, int, int, MoveType] | tuple[int, int, int, MoveType, Literal[True]] | None
"""VFSM, source, destination and, if it is not a plain move, type and fork mark of the read stage in a cycle."""


def run(slots: list[Slot], inputs: Mapping[int, Mapping[str, int]] | None = None, **always: int) -> list[Sample]:
    """One slot a cycle. ``always`` are inputs of every cycle, ``inputs`` those of single cycles.

    A VFSM is handed over three cycles before its read stage, so the record starts three cycles early. What is asked for a cycle
    before is shown in the cycle in which it is done: ``in_accept`` (links from which the read stage takes words), ``asks``,
    ``keep``. Likewise ``write.full`` is given for the cycle of the write stage, and told a cycle before.
    """
    early = ("active", "vfsm", "annotation")

    def drive(cycle: int, before: object) -> dict[str, int]:
        values = {"write.full": 1, **always}
        slot = slots[cycle] if cycle < len(slots) else None
        if slot is not None:
            vfsm, source, destination, *rest = slot
            kind = MoveType(rest[0]) if rest else MoveType.MOVE
            annotation = Annotation(kind, source, destination, forked=len(rest) == 2)
            values |= {"active": 1, "vfsm": vfsm, "annotation": CODES.encode_annotation(annotation)}
        given = inputs or {}
        values |= {name: v for name, v in given.get(cycle, {}).items() if name in early}
        values |= {name: v for name, v in given.get(cycle - 2, {}).items() if name == "write.full"}
        return values | {name: v for name, v in given.get(cycle - 3, {}).items() if name not in (*early, "write.full")}

    stages = TransferStages(shape=SHAPE)
    watch = {
        "held": stages.held,
        "write_valid": stages.write_valid,
        "idle": stages.read_idle,
        **{f"buffer_{v}": stages.buffers.data[v] for v in range(SHAPE.vfsms)},
    }
    samples = record(stages, len(slots) + 3, drive, watch=watch)
    asked = {"in_accept": "next_accept", "asks": "read.asks", "keep": "read.keep"}
    return [
        {**now, **{name: before[asked_for] for name, asked_for in asked.items()}}
        for before, now in itertools.pairwise(samples[2:])
    ]


def word_at(d: int, word: int) -> dict[str, int]:
    """A word on link ``d``."""
    return {"in_valid": 1 << d, f"in_data_{d}": word}


def offers(samples: list[Sample]) -> list[tuple[int, int, int]]:
    """Cycle, link and word of each offer."""
    return [
        (cycle, s["out_claim"].bit_length() - 1, s["out_data"])
        for cycle, s in enumerate(samples)
        if s["out_claim"] and s["out_valid"]
    ]


# -- Links -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [WEST, EAST, SOUTH, NORTH])
@pytest.mark.parametrize("destination", [WEST, EAST, SOUTH, NORTH])
def test_word_from_a_link_is_offered_to_another_one_cycle_later(source: int, destination: int) -> None:
    samples = run([None, (2, source, destination), None, None], {1: word_at(source, 0xABCD)}, out_accept=ALL)
    assert [s["in_accept"] for s in samples] == [0, 1 << source, 0, 0]
    assert offers(samples) == [(2, destination, 0xABCD)]
    assert all(s["held"] == 0 for s in samples)


def test_nothing_is_accepted_while_the_read_stage_is_idle() -> None:
    samples = run([None] * 3, in_valid=ALL, in_data_0=1, out_accept=ALL)
    assert not any(s["in_accept"] or s["out_claim"] or s["write_valid"] for s in samples)


def test_accept_does_not_wait_for_valid() -> None:
    samples = run([(2, WEST, EAST), None, None], out_accept=ALL)
    assert samples[0]["in_accept"] == 1
    assert offers(samples) == []


def test_refused_word_stays_in_buffer_and_is_sent_next_time() -> None:
    slot = (2, WEST, EAST)
    samples = run(
        [slot, None, slot, None, slot, None, slot, None],
        {0: word_at(WEST, 1), 2: word_at(WEST, 2), 4: word_at(WEST, 2), 5: {"out_accept": ALL}, 6: word_at(WEST, 2)},
    )
    # Taken in 0, refused in 1 and in 3, sent in 5. The writer is refused until the buffer is empty.
    assert offers(samples) == [(1, EAST, 1), (3, EAST, 1), (5, EAST, 1), (7, EAST, 2)]
    assert [s["in_accept"] for s in samples] == [1, 0, 0, 0, 0, 0, 1, 0]
    assert [s["held"] for s in samples] == [0, 0, 4, 4, 4, 4, 0, 0]


def test_interleaved_vfsms_have_a_word_each_in_flight_and_in_buffers() -> None:
    a, b = (2, WEST, EAST), (3, SOUTH, NORTH)
    arriving = {c: word_at(WEST if c % 2 == 0 else SOUTH, c) for c in range(8)}
    refused = run([a, b] * 4, arriving)
    assert [(d, w) for _, d, w in offers(refused)] == [(EAST, 0), (NORTH, 1)] * 3 + [(EAST, 0)]
    assert refused[-1]["held"] == 0b1100
    flowing = run([a, b] * 4, arriving, out_accept=ALL)
    assert [(d, w) for _, d, w in offers(flowing)] == [(EAST if c % 2 == 0 else NORTH, c) for c in range(7)]


def test_same_vfsm_back_to_back_idles_each_second_cycle_and_loses_nothing() -> None:
    slot = (2, WEST, EAST)
    samples = run([slot] * 8, {c: word_at(WEST, c) for c in range(8)}, out_accept=ALL)
    assert [s["in_accept"] for s in samples] == [1, 0] * 4
    assert [w for _, _, w in offers(samples)] == [0, 2, 4, 6]
    refused = run([slot] * 8, {c: {**word_at(WEST, c), "out_accept": ALL * (c == 5)} for c in range(8)})
    # Taken in 0; refused in 1, 3; sent in 5; then the next word, taken in 6.
    assert [s["in_accept"] for s in refused] == [1, 0, 0, 0, 0, 0, 1, 0]
    assert offers(refused) == [(1, EAST, 0), (3, EAST, 0), (5, EAST, 0), (7, EAST, 6)]


def test_shortest_turn_is_the_least_distance_at_which_a_vfsm_takes_a_word_each_time() -> None:
    def taken(distance: int) -> int:
        slots: list[Slot] = [(2, WEST, EAST), *[None] * (distance - 1), (2, WEST, EAST), None]
        samples = run(slots, {c: word_at(WEST, c) for c in range(len(slots))}, out_accept=ALL)
        return sum(s["in_accept"] for s in samples)

    assert [taken(distance) for distance in range(1, 5)] == [1 + (d >= SHORTEST_TURN) for d in range(1, 5)]


@pytest.mark.parametrize("slot", [(1, WEST, MEMADR), (2, WEST, NULL), (2, WEST, EAST, MoveType.BLIND)])
def test_vfsm_that_cannot_be_refused_runs_every_cycle(slot: Slot) -> None:
    arriving = {c: word_at(WEST, c) for c in range(6)}
    samples = run([slot] * 6, arriving)
    assert [s["write_valid"] for s in samples] == [0, 1, 1, 1, 1, 1]
    assert [s["out_data"] for s in samples[1:]] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("destination", [(MEMADR,), (NULL,), (EAST, MoveType.BLIND)])
def test_buffered_word_of_a_vfsm_that_cannot_be_refused_is_written_once(destination: tuple[int, ...]) -> None:
    # VFSM 3 fills the buffer of VFSM 2, which then runs in every cycle.
    filler, slot = (3, WEST, BUFFER[2]), (2, NOP, *destination)
    samples = run([filler, None, None, None, slot, slot, slot, slot], {0: word_at(WEST, 7)}, out_accept=ALL)
    assert [s["write_valid"] for s in samples] == [0, 1, 0, 0, 0, 1, 0, 0]
    assert samples[5]["out_data"] == 7
    assert [s["held"] for s in samples] == [0, 0, 4, 4, 4, 4, 0, 0]


# -- Blind moves -------------------------------------------------------------------------------------------


def test_blind_word_is_dropped_by_a_refusing_neighbour() -> None:
    slot = (2, WEST, EAST, MoveType.BLIND)
    samples = run([slot, None, slot, None], {0: word_at(WEST, 1), 2: word_at(WEST, 2), 3: {"out_accept": ALL}})
    assert offers(samples) == [(1, EAST, 1), (3, EAST, 2)]
    assert all(s["held"] == 0 for s in samples)


def test_blind_word_overwrites_a_full_buffer() -> None:
    move, blind = (3, WEST, BUFFER[5]), (4, WEST, BUFFER[5], MoveType.BLIND)
    reader = (6, BUFFER[5], EAST)
    words = {0: word_at(WEST, 1), 3: word_at(WEST, 2)}
    samples = run([move, None, None, blind, None, None, None, reader, None], words, out_accept=ALL)
    assert offers(samples) == [(8, EAST, 2)]
    assert samples[-1]["held"] == 0


def test_blind_vfsm_is_idle_right_after_the_buffer_was_read() -> None:
    move, blind = (3, WEST, BUFFER[5]), (4, WEST, BUFFER[5], MoveType.BLIND)
    reader = (6, BUFFER[5], EAST)
    words = {0: word_at(WEST, 1), 5: word_at(WEST, 2)}
    samples = run([move, None, None, None, reader, blind, None, None, None, reader, None], words, out_accept=ALL)
    assert [s["idle"] for s in samples[4:6]] == [0, 1]
    assert offers(samples) == [(5, EAST, 1)]


def test_blind_vfsm_puts_a_word_back_into_its_own_buffer() -> None:
    own = (2, NOP, BUFFER[2], MoveType.BLIND)
    samples = run([(3, WEST, BUFFER[2]), None, own, None, (4, BUFFER[2], EAST), None], {0: word_at(WEST, 7)})
    assert [s["held"] for s in samples] == [0, 0, 4, 4, 4, 0]
    assert offers(samples) == [(5, EAST, 7)]


def test_a_word_is_not_tried_again_while_its_buffer_is_overwritten() -> None:
    # Without the rule VFSM 2 would try word 1 again in cycle 4, while the write stage overwrites its buffer with word 2.
    filler, blind, own = (3, WEST, BUFFER[2]), (4, WEST, BUFFER[2], MoveType.BLIND), (2, NOP, EAST)
    words = {0: word_at(WEST, 1), 3: word_at(WEST, 2)}
    samples = run([filler, None, None, blind, own, None, None, own, None], words, out_accept=ALL)
    assert [s["idle"] for s in samples if s["idle"]] == [1] * 6
    assert offers(samples) == [(8, EAST, 2)]


def test_blind_word_is_put_into_a_register_without_room() -> None:
    blind, move = (3, WEST, REGISTER[2], MoveType.BLIND), (3, WEST, REGISTER[2])
    samples = run([blind, None, move, None], {0: word_at(WEST, 1), 2: word_at(WEST, 2)})
    assert [s["write.put"] for s in samples] == [0, 1, 0, 0]
    assert samples[1]["write.data"] == 1
    assert [s["held"] for s in samples] == [0, 0, 0, 0]
    assert run([move, None, None], {0: word_at(WEST, 2)})[-1]["held"] == 8


def test_blind_vfsm_drops_the_buffered_word_too() -> None:
    blind = (2, NOP, EAST, MoveType.BLIND)
    samples = run([(3, WEST, BUFFER[2]), None, None, None, blind, None, None], {0: word_at(WEST, 7)})
    assert offers(samples) == [(5, EAST, 7)]
    assert [s["held"] for s in samples] == [0, 0, 4, 4, 4, 4, 0]


def test_blind_move_still_waits_for_its_source() -> None:
    samples = run([(2, WEST, EAST, MoveType.BLIND)] * 3, out_accept=ALL)
    assert offers(samples) == []


# -- Buffers -----------------------------------------------------------------------------------------------


def test_delay_keeps_a_word_until_a_later_vfsm_reads_the_buffer() -> None:
    first, second = (2, WEST, BUFFER[2]), (3, BUFFER[2], EAST)
    samples = run([first, None, None, None, second, None, None], {0: word_at(WEST, 9)}, out_accept=ALL)
    assert [s["held"] for s in samples] == [0, 0, 4, 4, 4, 0, 0]
    assert offers(samples) == [(5, EAST, 9)]


def test_shortest_stay_is_the_least_distance_at_which_a_reader_finds_a_word_in_a_buffer() -> None:
    def offered(distance: int) -> int:
        slots: list[Slot] = [(2, WEST, BUFFER[2]), *[None] * (distance - 1), (3, BUFFER[2], EAST), None]
        return len(offers(run(slots, {0: word_at(WEST, 9)}, out_accept=ALL)))

    assert [offered(distance) for distance in range(1, 7)] == [int(d >= SHORTEST_STAY) for d in range(1, 7)]


def test_shortest_return_is_the_least_distance_at_which_the_next_word_comes_to_a_buffer() -> None:
    def accepted(distance: int) -> int:
        first, second = (2, WEST, BUFFER[2]), (3, BUFFER[2], EAST)
        slots: list[Slot] = [first, *[None] * 3, second, *[None] * (distance - 1), first, None]
        samples = run(slots, {0: word_at(WEST, 1), len(slots) - 2: word_at(WEST, 2)}, out_accept=ALL)
        return samples[-2]["in_accept"]

    assert [accepted(distance) for distance in range(1, 7)] == [int(d >= SHORTEST_RETURN) for d in range(1, 7)]


TOUCHES = {
    "puts a word there": (5, WEST, BUFFER[4]),
    "has it": (4, WEST, EAST),
    "takes words from there": (6, BUFFER[4], EAST),
}
"""What a turn has to do with the buffer of VFSM 4."""
LATER = {
    "puts a word there": (7, SOUTH, BUFFER[4]),
    "has it": (4, WEST, EAST),
    "takes words from there": (3, BUFFER[4], EAST),
}


@pytest.mark.parametrize("before", TOUCHES)
@pytest.mark.parametrize("after", LATER)
def test_a_turn_is_idle_that_comes_too_soon_for_a_buffer(before: str, after: str) -> None:
    least = {
        ("puts a word there", "puts a word there"): 3,
        ("puts a word there", "has it"): 4,
        ("puts a word there", "takes words from there"): 4,
        ("has it", "puts a word there"): 3,
        ("has it", "has it"): 2,
        ("has it", "takes words from there"): 4,
        ("takes words from there", "puts a word there"): 2,
        ("takes words from there", "has it"): 3,
        ("takes words from there", "takes words from there"): 3,
    }[before, after]
    idle = [run([TOUCHES[before], *[None] * (d - 1), LATER[after], None])[d]["idle"] for d in range(1, 7)]
    assert idle == [int(d < least) for d in range(1, 7)]


def test_an_idle_turn_keeps_no_other_idle() -> None:
    # VFSM 4 has its turn right after one that fills its buffer; the reader of that buffer looks at the filler alone.
    samples = run([(5, WEST, BUFFER[4]), (4, WEST, EAST), None, None, (6, BUFFER[4], EAST), None])
    assert [s["idle"] for s in samples] == [0, 1, 1, 1, 0, 1]


def test_a_turn_that_meets_a_lower_pipeline_is_idle() -> None:
    # Told in the cycle after the annotation.
    samples = run([(2, WEST, EAST), None], {-2: {"meets": 1}}, in_valid=ALL)
    assert [s["idle"] for s in samples] == [1, 1]
    assert not samples[0]["in_accept"]


def test_delay_vfsm_that_holds_a_word_refuses_its_source_and_keeps_the_word() -> None:
    first, second = (2, WEST, BUFFER[2]), (3, BUFFER[2], EAST)
    words = {0: word_at(WEST, 1), 2: word_at(WEST, 2), 4: word_at(WEST, 2), 11: word_at(WEST, 2)}
    round_: list[Slot] = [first, None, first, None, first, None, None, None, second, None, None]
    samples = run([*round_, *round_], words, out_accept=ALL)
    assert [c for c, s in enumerate(samples) if s["in_accept"]] == [0, 11]
    assert offers(samples) == [(9, EAST, 1), (20, EAST, 2)]


def test_reader_of_a_buffer_that_comes_too_soon_takes_nothing_and_loses_nothing() -> None:
    first, second = (2, WEST, BUFFER[2]), (3, BUFFER[2], EAST)
    samples = run([first, second, second, second, second, None], {0: word_at(WEST, 9)}, out_accept=ALL)
    assert offers(samples) == [(5, EAST, 9)]


def test_buffer_is_not_read_while_its_own_vfsm_writes_that_word() -> None:
    # VFSM 2 was refused and tries again in cycle 2; VFSM 3 wants the same buffer.
    first, second = (2, WEST, EAST), (3, BUFFER[2], NORTH)
    words = {0: word_at(WEST, 9), 3: {"out_accept": ALL}, 7: {"out_accept": ALL}}
    slots: list[Slot] = [first, None, first, second, second, second, second, None]
    samples = run(slots, words)
    assert offers(samples) == [(1, EAST, 9), (3, EAST, 9)]
    assert samples[-1]["held"] == 0
    refused = run([*slots, None], {0: words[0], 7: words[7]})
    assert offers(refused) == [(1, EAST, 9), (3, EAST, 9), (7, NORTH, 9)]
    assert refused[-1]["held"] == 0


def test_merge_collects_words_of_several_vfsms_in_the_buffer_of_the_sender() -> None:
    a, b, out = (2, WEST, BUFFER[4]), (3, SOUTH, BUFFER[4]), (4, NOP, EAST)
    words = {0: word_at(WEST, 1), 3: word_at(SOUTH, 2)}
    round_: list[Slot] = [a, None, None, b, None, None, None, out, None, None]
    samples = run([*round_, *round_], words, out_accept=ALL)
    # The second word is refused in cycle 4, waits in the buffer of VFSM 3 and gets in next time.
    held = [(4, 0x18), (5, 0x18), (8, 0x18), (9, 0x08), (13, 0x08), (15, 0x10), (19, 0)]
    assert [(c, samples[c]["held"]) for c, _ in held] == [(4, 0x10), *held[1:]]
    assert offers(samples) == [(8, EAST, 1), (18, EAST, 2)]


def test_vfsm_that_runs_right_after_its_buffer_is_filled_is_idle_and_loses_nothing() -> None:
    filler, own = (2, WEST, BUFFER[3]), (3, SOUTH, EAST)
    words = {0: word_at(WEST, 1), 1: word_at(SOUTH, 2), 4: word_at(SOUTH, 2), 6: word_at(SOUTH, 2)}
    samples = run([filler, own, None, None, own, None, own, None], words, out_accept=ALL)
    assert [s["in_accept"] for s in samples] == [1, 0, 0, 0, 0, 0, 4, 0]
    assert offers(samples) == [(5, EAST, 1), (7, EAST, 2)]


def test_copy_leaves_the_buffer_full() -> None:
    filler, copy, take = (2, WEST, BUFFER[5]), (3, BUFFER[5], EAST, MoveType.COPY), (4, BUFFER[5], EAST)
    slots: list[Slot] = [filler, None, None, None, copy, None, copy, None, None, take, None, None]
    samples = run(slots, {0: word_at(WEST, 6)}, out_accept=ALL)
    assert offers(samples) == [(5, EAST, 6), (7, EAST, 6), (10, EAST, 6)]
    assert samples[-1]["held"] == 0


def test_vfsm_with_its_own_buffer_as_source_waits_until_the_buffer_is_filled() -> None:
    filler, own = (2, WEST, BUFFER[3]), (3, BUFFER[3], EAST)
    slots: list[Slot] = [own, None, None, filler, None, None, None, own, None, own, None]
    samples = run(slots, {3: word_at(WEST, 4)}, out_accept=ALL)
    assert offers(samples) == [(8, EAST, 4)]


# -- Interface registers -----------------------------------------------------------------------------------


def test_register_is_requested_and_its_word_moved_when_it_is_given() -> None:
    samples = run(
        [(2, REGISTER[3], EAST), None, (2, REGISTER[1], EAST, MoveType.COPY), None],
        {0: {"read.found": 1, "read.data": 5}, 2: {"read.data": 6}},
        out_accept=ALL,
    )
    assert [(s["asks"], s["keep"]) for s in samples[::2]] == [(1, 0), (1, 1)]
    assert [s["read.take"] for s in samples] == [1, 0, 0, 0]
    assert offers(samples) == [(1, EAST, 5)]


def test_word_refused_by_a_register_waits_in_the_buffer() -> None:
    slot = (2, WEST, REGISTER[1])
    samples = run([slot, None, slot, None, None], {0: word_at(WEST, 3), 3: {"write.full": 0}})
    assert [(c, s["write.data"]) for c, s in enumerate(samples) if s["write.put"]] == [(3, 3)]
    assert [s["held"] for s in samples] == [0, 0, 4, 4, 0]


def test_write_wins_over_read_when_both_want_the_interface() -> None:
    writer, reader = (2, WEST, REGISTER[0]), (3, REGISTER[1], EAST)
    given = {"read.found": 1, "read.data": 5}
    words = {0: word_at(WEST, 1), 1: {"write.full": 0, **given}, 3: given}
    samples = run([writer, reader, None, reader, None], words)
    assert [s["write.put"] for s in samples] == [0, 1, 0, 0, 0]
    assert [s["read.take"] for s in samples] == [0, 0, 0, 1, 0]


def test_buffered_word_is_retried_beside_a_register_write() -> None:
    # A retry reads the buffer, not the interface.
    writer, own = (2, WEST, REGISTER[0]), (3, REGISTER[1], EAST)
    words = {0: {"read.found": 1, "read.data": 8}, 2: word_at(WEST, 1), 3: {"write.full": 0}}
    samples = run([own, None, writer, own, None], words)
    assert offers(samples) == [(1, EAST, 8), (4, EAST, 8)]
    assert not samples[3]["asks"]


# -- Forks -------------------------------------------------------------------------------------------------


FIRST = (2, WEST, EAST)
SECOND = (3, EAST, NORTH, MoveType.FORK)
THIRD = (4, NORTH, SOUTH, MoveType.FORK)
N, E, S = 1 << NORTH, 1 << EAST, 1 << SOUTH


def test_fork_gives_both_legs_the_word_one_cycle_apart() -> None:
    samples = run([FIRST, SECOND, None, None], {0: word_at(WEST, 7)}, out_accept=ALL)
    assert offers(samples) == [(1, EAST, 7), (2, NORTH, 7)]
    assert all(s["held"] == 0 for s in samples)


def test_fork_of_three_legs_goes_down_pairwise() -> None:
    samples = run([FIRST, SECOND, THIRD, None, None], {0: word_at(WEST, 7)}, out_accept=ALL)
    assert offers(samples) == [(1, EAST, 7), (2, NORTH, 7), (3, SOUTH, 7)]


def test_second_leg_takes_nothing_when_the_first_is_refused() -> None:
    samples = run(
        [FIRST, SECOND, None, FIRST, SECOND, None, None],
        {0: word_at(WEST, 7), 2: {"out_accept": ALL}, 4: {"out_accept": ALL}, 5: {"out_accept": ALL}},
    )
    assert offers(samples) == [(1, EAST, 7), (4, EAST, 7), (5, NORTH, 7)]
    assert samples[-1]["held"] == 0


def test_first_leg_is_not_offered_while_the_second_holds_a_refused_word() -> None:
    rounds: list[Slot] = [FIRST, SECOND, None] * 4
    words = {c: {**word_at(WEST, c + 1), "out_accept": ALL if c >= 8 else E} for c in range(12)}
    samples = run(rounds, words)
    # Word 1: east in 1, north refused in 2, 5, sent in 8. Word 4 waits with VFSM 2 until north is free.
    assert offers(samples) == [
        (1, EAST, 1),
        (2, NORTH, 1),
        (5, NORTH, 1),
        (8, NORTH, 1),
        (10, EAST, 4),
        (11, NORTH, 4),
    ]
    assert [c for c, s in enumerate(samples) if s["in_accept"]] == [0, 3]


def test_refused_third_leg_stops_the_second_and_then_the_first() -> None:
    rounds: list[Slot] = [FIRST, SECOND, THIRD, None] * 6
    words = {c: {**word_at(WEST, c + 1), "out_accept": N | E | (S if c >= 15 else 0)} for c in range(24)}
    samples = run(rounds, words)
    got = {link: [w for c, d, w in offers(samples) if d == link and (d != SOUTH or c >= 15)] for link in range(4)}
    # The three legs see the same words in the same order; none is lost or doubled.
    assert got[EAST][: len(got[SOUTH])] == got[SOUTH]
    assert got[NORTH][: len(got[SOUTH])] == got[SOUTH]
    assert len(got[SOUTH]) >= 3
    assert len(set(got[EAST])) == len(got[EAST])
    assert len(set(got[NORTH])) == len(got[NORTH])


MARKED = (*FIRST, MoveType.MOVE, True)


def test_marked_first_leg_forks_like_any_other() -> None:
    samples = run([MARKED, SECOND, None, None], {0: word_at(WEST, 7)}, out_accept=ALL)
    assert offers(samples) == [(1, EAST, 7), (2, NORTH, 7)]
    middle = (*SECOND, True)
    three = run([MARKED, middle, THIRD, None, None], {0: word_at(WEST, 7)}, out_accept=ALL)
    assert offers(three) == [(1, EAST, 7), (2, NORTH, 7), (3, SOUTH, 7)]


@pytest.mark.parametrize(
    "instead", [None, (5, SOUTH, WEST), (5, EAST, NORTH), (4, NORTH, SOUTH, MoveType.FORK)], ids=str
)
def test_marked_first_leg_waits_in_its_buffer_until_the_second_leg_is_there(instead: Slot) -> None:
    # A phase change between the two slots: another VFSM, or none, stands where the second leg belongs.
    samples = run([MARKED, instead, None, MARKED, SECOND, None, None], {0: word_at(WEST, 7)}, out_accept=ALL)
    assert samples[2]["held"] == 4
    assert offers(samples) == [(4, EAST, 7), (5, NORTH, 7)]
    assert samples[-1]["held"] == 0


def test_marked_first_leg_waits_for_a_second_leg_that_holds_a_refused_word() -> None:
    rounds: list[Slot] = [MARKED, SECOND, None] * 3
    samples = run(rounds, {c: {**word_at(WEST, c + 1), "out_accept": ALL if c >= 5 else E} for c in range(9)})
    assert offers(samples) == [(1, EAST, 1), (2, NORTH, 1), (5, NORTH, 1), (7, EAST, 4), (8, NORTH, 4)]


def test_marked_blind_word_is_dropped_without_its_second_leg() -> None:
    samples = run([(2, WEST, EAST, MoveType.BLIND, True), None, None], {0: word_at(WEST, 7)}, out_accept=ALL)
    assert offers(samples) == []
    assert samples[-1]["held"] == 0


def test_mark_does_not_matter_to_other_destinations() -> None:
    marked = [(2, WEST, place, MoveType.MOVE, True) for place in (BUFFER[5], REGISTER[1], NULL, MEMADR)]
    for slot in marked:
        samples = run([slot, None, None], {0: word_at(WEST, 7), 1: {"write.full": 0}})
        assert samples[1]["write_valid"]
        assert samples[-1]["held"] == (0x20 if slot[2] == BUFFER[5] else 0)


def test_fork_needs_the_vfsm_before_it_to_write_to_that_neighbour() -> None:
    other = (2, WEST, SOUTH)
    samples = run([other, SECOND, SECOND, None], {0: word_at(WEST, 7)}, in_valid=ALL, in_data_1=5, out_accept=ALL)
    assert offers(samples) == [(1, SOUTH, 7)]
    assert [s["in_accept"] for s in samples] == [1, 0, 0, 0]


def test_second_leg_of_a_fork_never_accepts_from_the_link() -> None:
    samples = run([SECOND] * 4, in_valid=ALL, in_data_1=5, out_accept=ALL)
    assert not any(s["in_accept"] or s["write_valid"] for s in samples)


def test_read_from_the_neighbour_just_written_is_no_fork() -> None:
    plain = (3, EAST, NORTH)
    samples = run([FIRST, plain, None], {0: word_at(WEST, 7), 1: word_at(EAST, 8)}, out_accept=ALL)
    assert offers(samples) == [(1, EAST, 7), (2, NORTH, 8)]


def test_blind_first_leg_is_dropped_for_both_legs_when_refused() -> None:
    blind = (2, WEST, EAST, MoveType.BLIND)
    samples = run([blind, SECOND, None, None], {0: word_at(WEST, 7)}, out_accept=N)
    assert offers(samples) == [(1, EAST, 7)]
    assert samples[-1]["held"] == 0


def test_fork_type_with_another_source_is_a_plain_move() -> None:
    fork = MoveType.FORK
    samples = run(
        [(2, REGISTER[0], EAST, fork), (3, WEST, BUFFER[5]), None, None, None, (4, BUFFER[5], EAST, fork), None, None],
        {0: {"read.found": 1, "read.data": 3}, 1: word_at(WEST, 4)},
        out_accept=ALL,
    )
    assert samples[0]["keep"] == 0
    assert offers(samples) == [(1, EAST, 3), (6, EAST, 4)]
    assert samples[-1]["held"] == 0


# -- Places that are nowhere -------------------------------------------------------------------------------


def test_null_source_always_has_the_word_0() -> None:
    samples = run([(2, NULL, EAST), (3, NULL, NORTH), None], out_accept=ALL)
    assert offers(samples) == [(1, EAST, 0), (2, NORTH, 0)]


def test_null_source_of_type_fork_is_a_plain_null() -> None:
    assert offers(run([(2, NULL, EAST, MoveType.FORK), None], out_accept=ALL)) == [(1, EAST, 0)]


def test_null_destination_takes_every_word() -> None:
    samples = run([(2, WEST, NULL)] * 4, in_valid=1, in_data_0=5)
    assert [s["in_accept"] for s in samples] == [1] * 4
    assert all(s["held"] == 0 and s["memadr"] == 0 for s in samples)


@pytest.mark.parametrize("source", [NOP, MEMADR, CODES.special, INVALID, 5])
def test_source_that_is_nowhere_never_has_a_word(source: int) -> None:
    samples = run([(2, source, EAST)] * 3, in_valid=ALL, out_accept=ALL)
    assert not any(s["write_valid"] or s["in_accept"] or s["asks"] for s in samples)


@pytest.mark.parametrize("destination", [NOP, CODES.special, INVALID, 5])
def test_destination_that_is_nowhere_never_takes_a_word(destination: int) -> None:
    slot = (2, WEST, destination)
    samples = run([slot, None, slot, None, slot], {0: word_at(WEST, 3), 2: word_at(WEST, 4)}, out_accept=ALL)
    assert [s["held"] for s in samples] == [0, 0, 4, 4, 4]
    assert samples[-1]["buffer_2"] == 3
    assert not any(s["out_claim"] or s["write.put"] or s["memadr"] for s in samples)
    blind = run([(*slot, MoveType.BLIND), None, None], {0: word_at(WEST, 3)}, out_accept=ALL)
    assert blind[-1]["held"] == 0


def test_word_to_memadr_is_handed_over_once() -> None:
    samples = run([(1, WEST, MEMADR), None, None], {0: word_at(WEST, 3)})
    assert [s["memadr"] for s in samples] == [0, 1, 0]
    assert samples[1]["out_data"] == 3


def test_idle_read_stage_does_not_try_buffered_words_again() -> None:
    idle = {"vfsm": 2, "annotation": CODES.encode_annotation(Annotation(MoveType.MOVE, WEST, EAST))}
    samples = run([(3, WEST, BUFFER[2]), None, None, None], {0: word_at(WEST, 1), 2: idle, 3: idle}, out_accept=ALL)
    assert offers(samples) == []
    assert samples[-1]["held"] == 4


def test_idle_read_stage_holds_no_first_leg_back() -> None:
    fork = CODES.encode_annotation(Annotation(MoveType.FORK, EAST, NORTH))
    samples = run([FIRST, None, None], {0: word_at(WEST, 7), 1: {"vfsm": 3, "annotation": fork}}, out_accept=ALL)
    assert offers(samples) == [(1, EAST, 7)]
    assert not samples[2]["write_valid"]
