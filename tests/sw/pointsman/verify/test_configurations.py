"""The judge finds what is wrong, whatever it is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from pointsman.artifacts.configurations.configurations import TimedConfiguration
from pointsman.connections import ConnectionProblem, DemandProblem, Network, configure, decompose
from pointsman.verify.configurations import check_configurations, check_timetable

GOOD = configure(ConnectionProblem(Network("mesh", (4,)), ((0, 2), (1, 3), (3, 0)), "free"))


def changed(configurations, paths):
    return check_configurations(replace(GOOD, configurations=tuple(configurations), paths=tuple(paths)))


def test_a_good_answer_has_no_findings():
    assert check_configurations(GOOD) == []


def test_a_shared_link_is_found():
    pairs, paths = ((0, 2), (1, 3)), ((0, 1, 2), (1, 2, 3))
    findings = changed([pairs, ((3, 0),)], [paths, ((3, 2, 1, 0),)])
    assert findings == ["configuration 0, 1 -> 3: shares the link 1 -> 2 with (0, 2)"]


def test_ports_used_twice_are_found():
    problem = ConnectionProblem(Network("crossbar", (3,)), ((0, 1), (0, 2), (1, 2)))
    answer = replace(configure(problem), configurations=(problem.connections,), paths=(problem.connections,))
    assert check_configurations(answer) == [
        "configuration 0: node 0 sends twice",
        "configuration 0: node 2 receives twice",
    ]


def test_what_is_missing_added_or_repeated_is_found():
    findings = changed([((0, 2), (2, 3)), ((0, 2),)], [((0, 1, 2), (2, 3)), ((0, 1, 2),)])
    assert "configuration 0, 2 -> 3: is not a connection of the problem" in findings
    assert "configuration 1, 0 -> 2: stands in configuration 0 already" in findings
    assert "the connection 1 -> 3 stands nowhere" in findings
    assert "configuration 0 is empty" in changed([()], [()])


def test_a_way_that_jumps_or_ends_elsewhere_is_found():
    assert "configuration 0, 0 -> 2: there is no link 0 -> 2" in changed([((0, 2),)], [((0, 2),)])
    assert "configuration 0, 0 -> 2: its way leads from 0 to 1" in changed([((0, 2),)], [((0, 1),)])
    assert "configuration 0 has 0 ways for 1 connections" in changed([((0, 2),)], [()])


def test_a_way_that_is_not_the_one_of_dimension_order_is_found():
    problem = ConnectionProblem(Network("torus", (4, 4)), ((1, 3),))
    answer = configure(problem)
    assert answer.paths == (((1, 0, 3),),)  # odd: the decreasing way round
    other = replace(answer, paths=(((1, 2, 3),),))
    assert check_configurations(other) == [
        "configuration 0, 1 -> 3: its way is (1, 2, 3), not the one of dimension order"
    ]


def test_a_demand_that_is_not_met_is_found():
    answer = decompose(DemandProblem(((Fraction(0), Fraction(3)), (Fraction(2), Fraction(0)))))
    assert check_timetable(answer) == []
    short = replace(answer, configurations=(TimedConfiguration(Fraction(2), ((0, 1), (1, 0))),))
    assert check_timetable(short) == ["0 -> 1 has 2 of 3"]
    twice = replace(answer, configurations=(TimedConfiguration(Fraction(3), ((0, 1), (1, 0), (1, 1))),))
    assert "configuration 0: node 1 sends twice" in check_timetable(twice)
