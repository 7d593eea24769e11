"""Bins of moves: each that is within reach is a goal until it is hit."""

from __future__ import annotations

from itertools import product

import pytest

from cosim.benches.coverage import Coverage, CoverageError
from cosim.benches.numesh.catalogue import ODD, STANDARD
from cosim.benches.numesh.models.places import KINDS, code_of
from cosim.benches.numesh.moves import LINKS, MOVES, TAKES, Goal, MoveCoverage, source_kind
from numesh.codes import Annotation, Codes, MoveType


def made(shape=STANDARD) -> tuple[Coverage, MoveCoverage]:
    coverage = Coverage()
    return coverage, MoveCoverage(coverage, Codes(shape))


def test_a_fork_reads_the_link_of_the_leg_before_it_and_nothing_else_is_one() -> None:
    codes = Codes(STANDARD)
    for kind, place in product(MoveType, KINDS):
        told = source_kind(codes, Annotation(kind, code_of(codes, place, 3), codes.null))
        assert told == ("fork" if (kind, place) == (MoveType.FORK, "link") else place)


def test_moves_between_links_have_bins_by_their_numbers() -> None:
    for shape in (STANDARD, ODD):
        coverage, _ = made(shape)
        assert len(coverage.groups[LINKS].hits) == shape.neighbours**2 * 2 * 2


def test_a_hit_takes_a_goal_away_and_no_other() -> None:
    coverage, moves = made()
    before = moves.goals()
    codes = moves.codes
    moves.written(Annotation(MoveType.COPY, codes.register(0), codes.memadr), ok=True, from_buffer=False)
    gone = [goal for goal in before if goal not in moves.goals()]
    assert gone == [Goal("register", "MEMADR", None, False)], "MEMADR has no bins by type"
    moves.written(Annotation(MoveType.COPY, 0, 1), ok=False, from_buffer=True)
    gone = [goal for goal in before if goal not in moves.goals()]
    # Refused and accepted are two bins with one goal: the other is still to be reached.
    assert Goal("link", "link", None, True) not in gone
    assert coverage.groups[MOVES].hits["link > link, refused, buffer full"] == 1
    assert coverage.groups[LINKS].hits["0 > 1, refused, buffer full"] == 1


@pytest.mark.parametrize(
    ("source", "destination", "ok", "from_buffer", "why"),
    [
        ("link", "NULL", False, False, "NULL and MEMADR take every word"),
        ("link", "NOP", True, False, "NOP, special, invalid take no word"),
        ("invalid", "link", True, False, "give no word"),
    ],
)
def test_what_cannot_be_is_an_error_with_the_reason(
    source: str, destination: str, ok: bool, from_buffer: bool, why: str
) -> None:
    _, moves = made()
    codes = moves.codes
    annotation = Annotation(MoveType.MOVE, code_of(codes, source, 0), code_of(codes, destination, 0))
    with pytest.raises(CoverageError, match=why):
        moves.written(annotation, ok=ok, from_buffer=from_buffer)


def test_taken_words_are_counted_by_type_and_source() -> None:
    coverage, moves = made()
    moves.taken(Annotation(MoveType.BLIND, moves.codes.buffer(2), 0))
    assert [name for name, count in coverage.groups[TAKES].hits.items() if count] == ["BLIND < buffer"]
