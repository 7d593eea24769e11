"""CP-SAT proves how many phases are needed, and the search finds as many."""

from __future__ import annotations

import importlib
from dataclasses import replace
from fractions import Fraction

import pytest

from pointsman.artifacts.channels.channels import ChannelProblem, Demand
from pointsman.artifacts.configurations.configurations import ConfigurationBound
from pointsman.connections.channels import divide
from pointsman.connections.channels.starts import put
from pointsman.connections.channels.tables import empty
from pointsman.connections.patterns import random_pattern
from pointsman.errors import PointsmanError
from pointsman.network import mesh, torus
from pointsman.verify.channels import check_phases

from .random_sets import proved, small_problems

pytest.importorskip("ortools")

room = importlib.import_module("pointsman.connections.channels.divide")


def test_the_search_needs_no_more_phases_than_are_proved():
    known = []
    for topology in (torus(5), torus(3, 3), mesh(3, 3)):
        for channels in (1, 2):
            pairs = random_pattern(topology.nodes, 8, channels)
            problem = ChannelProblem(topology, channels, tuple(Demand(*pair) for pair in pairs))
            known.append((problem, divide(problem)))
    for (_, best), (phases, found) in zip(known, proved(known), strict=True):
        assert found is not None
        assert best.bound <= phases == len(best.phases)


def test_small_random_sets_with_wishes_take_no_more_phases_than_are_proved():
    known = [(problem, divide(problem)) for problem in small_problems(100, 20)]
    assert any(problem.order for problem, _ in known)
    assert any(one.bandwidth for problem, _ in known for one in problem.connections)
    for (_, best), (phases, found) in zip(known, proved(known), strict=True):
        assert found is not None
        assert best.bound <= phases == len(best.phases)


def test_exact_answers_keep_orders_and_bandwidths():
    demands = (Demand(0, 2, 1, Fraction(1)), Demand(0, 1), Demand(1, 2), Demand(0, 2))
    answer = divide(ChannelProblem(mesh(3), 4, demands, order=((2, 0), (1, 2))), algorithm="exact")
    assert check_phases(answer) == []
    assert len(answer.phases) == 2


def test_large_problems_are_refused():
    demands = tuple(Demand(*pair) for pair in random_pattern(64, 100, 0))
    with pytest.raises(PointsmanError, match="takes up to 20000 ways"):
        divide(ChannelProblem(mesh(8, 8), 12, demands), algorithm="exact")


def test_where_the_search_fails_and_no_bound_forbids_it_a_proof_is_looked_for(monkeypatch):
    # A ring of five, a channel a node: two steps of each pair meet, whichever way they take.
    demands = tuple(Demand(node, (node + 2) % 5) for node in range(5))
    problem = ChannelProblem(torus(5), 2, demands)
    needed = len(divide(problem, algorithm="exact").phases)
    poor = divide(ChannelProblem(torus(5), 1, demands))
    assert needed < len(poor.phases)
    # A search that finds no more than a phase for each connection.
    monkeypatch.setitem(room.ALGORITHMS, "best", lambda problem, tables, *_: one_each(problem, tables))
    answer = divide(replace(problem, phases=needed))
    assert len(answer.phases) == needed
    assert check_phases(answer) == []
    monkeypatch.setattr(room, "bounds_of", lambda *_: (ConfigurationBound(1, "node", "nothing"),))
    with pytest.raises(PointsmanError, match=f"{needed} are needed at least, as CP-SAT has proved over all ways"):
        divide(replace(problem, phases=needed - 1))
    monkeypatch.setattr(room, "fewest", unsettled)
    with pytest.raises(PointsmanError, match="were not enough for the search, which needs 5; the bound is 1: nothing"):
        divide(replace(problem, phases=needed - 1))


def one_each(problem, tables):
    given = empty(tables)
    for index, one in enumerate(problem.connections):
        put(given, index, index, (one.source, (one.source + 1) % 5, one.destination))
    return given


def unsettled(*_):
    raise PointsmanError("no time")
