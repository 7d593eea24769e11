"""Demands into configurations with durations."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.connections import DemandProblem, decompose
from pointsman.connections.algorithms.decompose import DECOMPOSITIONS
from pointsman.errors import PointsmanError
from pointsman.verify.configurations import check_timetable


def problem_of(rows, delta=0):
    return DemandProblem(tuple(tuple(Fraction(str(amount)) for amount in row) for row in rows), Fraction(str(delta)))


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 6).flatmap(
        lambda n: st.lists(st.lists(st.integers(0, 30), min_size=n, max_size=n), min_size=n, max_size=n)
    ),
    st.sampled_from([0, 1, 7, 0.25]),
)
def test_every_demand_is_met_and_no_bound_is_broken(rows, delta):
    problem = problem_of(rows, delta)
    for name in DECOMPOSITIONS:
        answer = decompose(problem, algorithm=name)
        assert check_timetable(answer) == []
        assert answer.total >= answer.bound
        if name in ("best", "birkhoff") and delta == 0:
            assert answer.total == answer.bound


@pytest.mark.parametrize("delta", [0, 1, 10, 100])
def test_the_best_of_all_is_near_the_bound(delta):
    random = np.random.default_rng(delta)
    matrix = random.integers(1, 101, (16, 16)) * (random.random((16, 16)) < 0.4)
    problem = problem_of(matrix.tolist(), delta)
    totals = {name: decompose(problem, algorithm=name).total for name in DECOMPOSITIONS}
    assert totals["best"] == min(totals.values())
    assert totals["best"] <= Fraction(13, 10) * decompose(problem).bound
    if delta == 100:
        assert totals["birkhoff"] > 2 * totals["best"]  # many short configurations do not pay


def test_numbers_that_are_not_whole_stay_exact():
    answer = decompose(problem_of([[0.1, 0.2], [0.3, 0]], 0.05))
    assert answer.total == Fraction(5, 10)
    assert answer.as_dict()["total"] == 0.5


def test_nothing_to_send_takes_nothing():
    answer = decompose(problem_of([[0, 0], [0, 0]], 3))
    assert answer.configurations == ()
    assert answer.total == 0 == answer.bound


def test_demands_without_a_common_unit_of_reasonable_size_are_refused():
    with pytest.raises(PointsmanError, match="in units in which all are whole, the sum must be at most 2\\^52"):
        decompose(problem_of([[1e-14, 1000], [1, 1]]))
    with pytest.raises(PointsmanError, match="there is no decomposition 'best of all'"):
        decompose(problem_of([[1]]), algorithm="best of all")


def test_very_unequal_demands_are_quick():
    answer = decompose(problem_of([[1_000_000_000, 1], [1, 0]], 1))
    assert answer.total == 1_000_000_000 + 1 + 2
