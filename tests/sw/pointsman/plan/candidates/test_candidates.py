"""Ways to plan a program, by estimates."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.candidates.candidates import Candidates, find_candidates
from pointsman.plan.structure.structure import outline

TEXT = "(broadcast 'a 0 :m 20) (loop 'l 9 (cshift 'b 1 :m 8) (allreduce 'c 'add :m 2))"


def analysed(text: str = TEXT) -> ProgramAnalysis:
    program = compile_text(text, topology=mesh(2, 2))
    return ProgramAnalysis(program, Context(program.topology, NodeShape()), IMPLEMENTATIONS)


@pytest.fixture(scope="module")
def found() -> Candidates:
    return find_candidates(analysed(), period=None, effort=1.0)


def test_every_operator_is_in_one_phase_of_each_way(found: Candidates) -> None:
    assert found.fits
    assert not found.refused
    for one in found.ways:
        assert sorted(label for labels in one.labels for label in labels) == ["a", "b", "c"]
        assert one.estimate > 0


def test_ways_are_there_once_and_those_in_one_phase_by_need_come_last(found: Candidates) -> None:
    keys = [(one.labels, one.period) for one in found.ways]
    assert len(keys) == len(set(keys))
    whole = [one.whole for one in found.ways]
    assert whole == sorted(whole)


def test_each_division_comes_first_with_the_length_that_promises_most(found: Candidates) -> None:
    first: dict[object, float] = {}
    for one in found.ways:
        assert first.setdefault(one.labels, one.estimate) <= one.estimate


def test_the_length_and_the_phases_that_were_asked_for_are_kept_to() -> None:
    analysis = analysed()
    given = outline(analysis.program)
    (one,) = find_candidates(analysis, period=12, effort=1.0, structures=[given]).ways
    assert (one.structure, one.period) == (given, 12)
    few = find_candidates(analysis, period=None, effort=1.0, most_phases=2)
    assert all(len(one.labels) <= 2 for one in few.ways)
    assert all("may have 2" in error.message for error in few.refused)


def test_near_a_way_are_its_other_lengths_and_divisions_with_a_phase_more_or_less(found: Candidates) -> None:
    for one in found.ways[:3]:
        near = found.near(one)
        assert [way.estimate for way in near] == sorted(way.estimate for way in near)
        for way in near:
            assert (way.labels == one.labels) != (way.period == one.period)
            assert abs(len(way.labels) - len(one.labels)) <= 1
        lengths = [way for way in near if way.labels == one.labels]
        assert lengths
        assert found.of_other_lengths(one) == lengths


def test_barriers_done_otherwise_are_candidates_of_their_own_near_which_all_are_done_so(found: Candidates) -> None:
    one = found.ways[0]
    several = list(found.closed_otherwise(one))
    assert [{way.closing for way in ways} for ways in several] == [{1}, {2}]
    for ways in several:
        assert (ways[0].structure, ways[0].period) == (one.structure, one.period)
        assert len({way.key for way in ways}) == 1
        assert ways[0].key != one.key
        near = [*found.near(ways[0]), *found.longer(ways[0])]
        assert near
        assert {way.closing for way in near} == {ways[0].closing}
