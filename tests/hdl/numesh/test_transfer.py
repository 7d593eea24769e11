import pytest

from numesh.codes import SHORTEST_RETURN, SHORTEST_STAY, SHORTEST_TURN, Annotation, MoveType
from transfer_bench import (
    ALL,
    BUFFER,
    CODES,
    EAST,
    INVALID,
    MEMADR,
    NOP,
    NORTH,
    NULL,
    REGISTER,
    SOUTH,
    WEST,
    Slot,
    offers,
    run,
    word_at,
)

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
