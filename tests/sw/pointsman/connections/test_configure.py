"""Laws that every scheduler must keep, over all of them; the judge shares nothing with them."""

from __future__ import annotations

import re

import pytest

from pointsman.connections import ALGORITHMS, ConnectionProblem, Network, configure
from pointsman.connections.patterns import all_to_all_pattern, hypercube_pattern, random_pattern
from pointsman.errors import PointsmanError
from pointsman.verify.configurations import check_configurations

NETWORKS = [
    Network("torus", (4, 6)),
    Network("torus", (3, 5)),
    Network("torus", (2, 2)),
    Network("torus", (1, 5)),
    Network("torus", (2, 3, 4)),
    Network("torus", (12,)),
    Network("mesh", (1, 1)),
    Network("mesh", (1, 7)),
    Network("mesh", (4, 4)),
    Network("crossbar", (1,)),
    Network("crossbar", (9,)),
]


@pytest.mark.parametrize("network", NETWORKS, ids=lambda network: f"{network.kind} {network}")
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_connection_stands_once_and_nothing_is_used_twice(network, algorithm):
    if algorithm == "koenig" and network.kind != "crossbar":
        pytest.skip("for crossbars only")
    pairs = network.nodes * (network.nodes - 1)
    for share in (0, 0.1, 0.6, 1):
        for routing in ("xy", "free"):
            chosen = tuple(random_pattern(network.nodes, int(share * pairs), 1))
            answer = configure(ConnectionProblem(network, chosen, routing), algorithm=algorithm, effort=0.05)
            assert check_configurations(answer) == []
            assert answer.degree >= answer.bound
            assert bool(answer.degree) == bool(chosen)


@pytest.mark.parametrize("connections", [100, 800, 2000, 2800])
def test_random_sets_on_the_torus_meet_the_bound(connections):
    for seed in range(2):
        problem = ConnectionProblem(Network("torus", (8, 8)), tuple(random_pattern(64, connections, seed)))
        answer = configure(problem)
        assert answer.degree == answer.bound
        assert answer.bound < configure(problem, algorithm="combined").degree or connections == 100


def test_free_routing_is_below_what_the_ways_of_dimension_order_allow():
    pairs = tuple(random_pattern(64, 800, 0))
    fixed = configure(ConnectionProblem(Network("mesh", (8, 8)), pairs))
    free = configure(ConnectionProblem(Network("mesh", (8, 8)), pairs, "free"))
    assert free.degree < fixed.bound
    assert check_configurations(free) == []


def test_all_to_all_and_hypercube_come_out_at_their_bounds():
    torus = Network("torus", (8, 8))
    assert configure(ConnectionProblem(torus, tuple(all_to_all_pattern(64)))).degree == 64
    assert configure(ConnectionProblem(torus, tuple(hypercube_pattern(64)))).degree == 6
    assert configure(ConnectionProblem(torus, tuple(hypercube_pattern(64)[::3]))).degree <= 6


def test_the_same_seed_gives_the_same_answer():
    problem = ConnectionProblem(Network("torus", (5, 5)), tuple(random_pattern(25, 300, 4)))
    assert configure(problem, seed=3).configurations == configure(problem, seed=3).configurations


def test_a_loop_through_the_crossbar_is_a_connection():
    problem = ConnectionProblem(Network("crossbar", (2,)), ((0, 0), (0, 1), (1, 0), (1, 1)))
    answer = configure(problem, degree=2)
    assert answer.degree == 2
    assert check_configurations(answer) == []


def refused(text):
    return pytest.raises(PointsmanError, match=f"^{re.escape(text)}$")


def test_too_few_slots_are_explained_by_the_busiest_port_or_link():
    with refused("2 slots are too few, 3 are needed at least: the sender of node 0 has 3 connections"):
        configure(ConnectionProblem(Network("crossbar", (3,)), ((0, 0), (0, 1), (0, 2))), degree=2)
    with refused("1 slots are too few, 2 are needed at least: the link 1 -> 2 has 2 connections"):
        configure(ConnectionProblem(Network("mesh", (4,)), ((0, 2), (1, 3))), degree=1)


def test_too_few_slots_for_one_algorithm_are_told_from_too_few_for_all():
    problem = ConnectionProblem(Network("mesh", (5,)), ((0, 2), (1, 3), (3, 4), (2, 4)))
    assert configure(problem, degree=2).degree == 2
    with refused(
        "the connections were not fitted into 2 slots: greedy needs 3, and no bound is above 2 "
        "(the receiver of node 4 has 2 connections)"
    ):
        configure(problem, algorithm="greedy", degree=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"degree": 0}, "a degree must be at least 1, not 0"),
        ({"effort": 0}, "effort must be positive and below a million, not 0"),
        ({"effort": float("nan")}, "effort must be positive and below a million, not nan"),
        ({"algorithm": "koenig"}, "the algorithm koenig is for crossbars, not for a mesh"),
        (
            {"algorithm": "fast"},
            f"there is no algorithm 'fast'\n  hint: known are {', '.join(ALGORITHMS)}",
        ),
    ],
)
def test_options_out_of_range_are_refused(options, message):
    with refused(message):
        configure(ConnectionProblem(Network("mesh", (2,)), ((0, 1),)), **options)
