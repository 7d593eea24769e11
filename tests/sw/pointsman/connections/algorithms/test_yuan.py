"""Yuan's algorithms against his own examples and figures."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.connections import ConnectionProblem, Network, configure
from pointsman.connections.algorithms.yuan import MAX_COLOURING, colouring, greedy
from pointsman.connections.conflicts import conflicts_of
from pointsman.connections.patterns import all_to_all_pattern, random_pattern
from pointsman.errors import PointsmanError

TORUS = Network("torus", (8, 8))
LINE = ConnectionProblem(Network("mesh", (5,)), ((0, 2), (1, 3), (3, 4), (2, 4)))
"""Figure 5.12."""


def test_the_example_takes_three_slots_in_order_and_two_by_colouring():
    assert greedy(conflicts_of(LINE)).tolist() == [0, 1, 0, 2]
    assert configure(LINE, algorithm="colouring").degree == 2
    assert configure(LINE, algorithm="colouring-updated").degree == 2
    assert configure(LINE).degree == 2


@pytest.mark.parametrize(("algorithm", "degree"), [("colouring", 83), ("aapc", 64), ("combined", 64)])
def test_an_all_to_all_takes_what_table_5_4_says(algorithm, degree):
    assert configure(ConnectionProblem(TORUS, tuple(all_to_all_pattern(64))), algorithm=algorithm).degree == degree


@pytest.mark.parametrize(
    ("connections", "published"),
    [(400, (16.5, 16.1, 16.5)), (1600, (45.0, 43.5, 43.4))],
)
def test_random_sets_take_what_table_5_4_says_within_noise(connections, published):
    names = ("greedy", "colouring", "aapc")
    problems = [ConnectionProblem(TORUS, tuple(random_pattern(64, connections, seed))) for seed in range(4)]
    means = [np.mean([configure(problem, algorithm=name).degree for problem in problems]) for name in names]
    assert np.all(np.abs(np.array(means) - published) <= 1.5), means


def test_ordered_aapc_never_takes_more_than_the_all_to_all():
    for seed in range(2):
        problem = ConnectionProblem(TORUS, tuple(random_pattern(64, 3700, seed)))
        assert configure(problem, algorithm="aapc").degree <= 64


def test_colouring_of_too_many_connections_is_refused():
    pairs = tuple((u, v) for u in range(150) for v in range(150))
    with pytest.raises(PointsmanError, match=f"at most {MAX_COLOURING} connections, not 22500"):
        colouring(conflicts_of(ConnectionProblem(Network("crossbar", (150,)), pairs)))
