"""Laws that every division into phases must keep; the judge shares nothing with them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pointsman.artifacts.channels.channels import ChannelProblem, Demand
from pointsman.connections.channels import ALGORITHMS, divide
from pointsman.connections.channels.patterns import pattern
from pointsman.errors import PointsmanError
from pointsman.network import mesh, torus
from pointsman.verify.channels import check_phases

from .random_sets import random_problem
from .soak_channels import tried


@pytest.mark.parametrize("channels", [1, 2, 3, 7, 12, 32])
def test_random_sets_stand_in_phases_that_break_no_rule(channels):
    for seed in range(6):
        problem = random_problem(seed, channels)
        answers = {name: divide(problem, algorithm=name, effort=0.2) for name in ALGORITHMS if name != "exact"}
        for answer in answers.values():
            assert check_phases(answer) == []
            assert len(answer.phases) >= answer.bound
        assert len(answers["best"].phases) <= len(answers["apr"].phases)


@pytest.mark.slow
def test_random_sets_of_the_soak():
    for number in range(0, 10_000, 25):
        tried(number)


@pytest.mark.parametrize(
    ("name", "channels", "phases", "transfers"),
    [("torus", 12, 1, 8), ("hypercube", 12, 2, 12), ("hypercube", 16, 1, 12), ("all-to-all", 12, 27, 126)],
)
def test_basic_patterns_on_iwarp_take_the_fewest_phases_and_balanced_timetables(name, channels, phases, transfers):
    answer = divide(ChannelProblem(torus(8, 8), channels, pattern(name, (8, 8), 1)))
    assert check_phases(answer) == []
    assert len(answer.phases) == answer.bound == phases
    assert answer.predicted == 528 * phases + transfers


def test_a_problem_without_connections_has_no_phases():
    answer = divide(ChannelProblem(mesh(1, 1), 1, ()))
    assert answer.phases == ()
    assert (answer.bound, answer.predicted) == (0, 0)


def test_connections_that_are_named_twice_stand_twice():
    answer = divide(ChannelProblem(mesh(2), 1, (Demand(0, 1, 5), Demand(0, 1, 5))))
    assert len(answer.phases) == 2


def test_an_order_holds_across_phases_and_within_them():
    demands = (Demand(0, 1, 9), Demand(1, 2, 9), Demand(2, 3, 9))
    answer = divide(ChannelProblem(mesh(4), 4, demands, order=((2, 1), (1, 0))))
    assert len(answer.phases) == 1
    assert [route.start for route in answer.phases[0]] == [36, 18, 0]


def test_too_few_phases_are_refused_with_the_busiest_node_and_the_smallest_change():
    demands = tuple(Demand(0, node) for node in (1, 2, 3, 1, 2, 3))
    with pytest.raises(PointsmanError) as caught:
        divide(ChannelProblem(torus(4), 2, demands, phases=2))
    assert str(caught.value).splitlines() == [
        "phases: 2 are too few, 3 are needed at least: node 0 is an end of 6 connections and has 2 channels",
        "  hint: it fits with 3 phases, or with 3 channels a node",
    ]


def test_where_channels_do_not_help_only_phases_are_offered():
    # Each of the two has a whole link for itself, so they never stand together.
    demands = tuple(Demand(0, 1, 1, Fraction(1)) for _ in range(2))
    with pytest.raises(PointsmanError) as caught:
        divide(ChannelProblem(mesh(2), 1, demands, phases=1))
    assert caught.value.hint == "it fits with 2 phases"


def test_the_same_seed_gives_the_same_answer():
    problem = random_problem(3, 2)
    assert divide(problem, seed=5).phases == divide(problem, seed=5).phases


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"algorithm": "none"}, "there is no algorithm 'none'"),
        ({"effort": 0}, "effort must be above 0 and at most 1000"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(PointsmanError, match=message):
        divide(ChannelProblem(mesh(2), 1, ()), **arguments)
