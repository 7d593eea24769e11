"""Demands over several switches side by side."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from pointsman.connections import DemandProblem, TimedConfiguration, Timetable, decompose
from pointsman.connections.algorithms.parallel_switches import on_one, spread
from pointsman.errors import PointsmanError
from pointsman.verify.configurations import check_timetable


def problem(rows, delta=0, switches=1, overlap=False) -> DemandProblem:
    return DemandProblem(
        tuple(tuple(Fraction(str(one)) for one in row) for row in rows), Fraction(str(delta)), switches, overlap
    )


def played(answer: Timetable) -> Fraction:
    """The time of a timetable, worked out anew: every switch by itself, event by event."""
    ends = []
    for switch in range(answer.problem.switches):
        now = established = Fraction(0)
        mine = [entry for entry in answer.configurations if entry.switch == switch]
        for number, entry in enumerate(mine):
            if answer.problem.overlap:
                established = (established if number else Fraction(0)) + answer.problem.delta
                now = max(now, established)
                established = now
            else:
                now += answer.problem.delta
            now += entry.duration
        ends.append(now)
    return max(ends)


@pytest.mark.parametrize("number", range(40))
def test_every_demand_is_carried_and_no_bound_is_beaten(number):
    chance = random.Random(number)
    ports = chance.randint(1, 6)
    rows = [[chance.choice([0, 0, 1, 7, 2.5, 100]) for _ in range(ports)] for _ in range(ports)]
    asked = problem(rows, chance.choice([0, 1, 3.5, 50]), chance.randint(1, 5), chance.random() < 0.5)
    answer = decompose(asked)
    assert check_timetable(answer) == []
    assert answer.total == played(answer)
    assert answer.total >= answer.bound
    if asked.switches > 1:
        alone = decompose(DemandProblem(asked.demand, asked.delta, 1, asked.overlap))
        assert answer.total <= alone.total


def test_more_switches_take_less_time():
    rows = [[(u * 7 + v * 5) % 11 * (u != v) for v in range(6)] for u in range(6)]
    totals = [decompose(problem(rows, 1, switches)).total for switches in (1, 2, 3, 4)]
    assert totals == sorted(totals, reverse=True)
    assert totals[3] <= totals[0] / 3


def test_without_set_up_switches_share_everything_equally():
    rows = [[0, 3, 4], [5, 0, 2], [2, 4, 0]]
    assert decompose(problem(rows, 0, 4)).total == Fraction(7, 4) == decompose(problem(rows, 0, 4)).bound


def test_overlapping_set_up_costs_only_what_is_longer_than_sending():
    rows = [[10, 10], [10, 10]]
    assert decompose(problem(rows, 4)).total == 28
    assert decompose(problem(rows, 4, overlap=True)).total == 24
    assert decompose(problem(rows, 15, overlap=True)).total == 40


def test_the_shortest_comes_last_where_set_up_overlaps():
    parts = [(5, [(0, 1)]), (1, [(1, 0)]), (9, [(0, 0)])]
    assert [duration for duration, _, _ in on_one(parts, True)] == [5, 9, 1]
    assert [duration for duration, _, _ in on_one(parts, False)] == [5, 1, 9]
    assert on_one([], True) == spread([], 1, 3, False) == []


def test_a_long_configuration_is_divided():
    found = spread([(100, [(0, 0)])], 2, 2, False)
    assert sorted(duration for duration, _, _ in found) == [50, 50]
    assert {switch for _, _, switch in found} == {0, 1}


def test_the_judge_knows_the_switches():
    wrong = Timetable(problem([[1]], 0, 2), (TimedConfiguration(Fraction(1), ((0, 0),), 2),), "by hand")
    assert check_timetable(wrong) == ["configuration 0 is on switch 2 of 2"]


@pytest.mark.parametrize("switches", [0, -1, 5000])
def test_wrong_numbers_of_switches_are_refused(switches):
    with pytest.raises(PointsmanError, match=f"switches: there must be 1 to 4096, not {switches}"):
        problem([[1]], 0, switches)
