"""Forks: a word that leaves a pipeline on two links, one cycle apart."""

import pytest

from numesh.codes import Annotation, MoveType
from transfer_bench import (
    ALL,
    BUFFER,
    CODES,
    EAST,
    MEMADR,
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


def test_idle_read_stage_holds_no_first_leg_back() -> None:
    fork = CODES.encode_annotation(Annotation(MoveType.FORK, EAST, NORTH))
    samples = run([FIRST, None, None], {0: word_at(WEST, 7), 1: {"vfsm": 3, "annotation": fork}}, out_accept=ALL)
    assert offers(samples) == [(1, EAST, 7)]
    assert not samples[2]["write_valid"]
