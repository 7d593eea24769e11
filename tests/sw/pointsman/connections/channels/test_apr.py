"""The published partitioner and router."""

from __future__ import annotations

from pointsman.artifacts.channels.channels import ChannelProblem, Demand
from pointsman.connections.channels.apr import apr, ranked
from pointsman.connections.channels.patterns import pattern
from pointsman.connections.channels.tables import tables_of
from pointsman.network import mesh, torus


def test_longest_ways_come_first_and_whoever_others_wait_for_before():
    problem = ChannelProblem(mesh(5), 1, (Demand(0, 1), Demand(0, 4), Demand(1, 3)), order=((0, 1),))
    assert ranked(problem).tolist() == [2, 0, 1]


def test_ways_avoid_nodes_that_others_pass():
    problem = ChannelProblem(mesh(3, 3), 3, (Demand(0, 8), Demand(0, 8)))
    found = apr(problem, tables_of(problem), 1, 4)
    assert found is not None
    inner = [set(found.paths[c, 1 : found.lengths[c] - 1].tolist()) for c in range(2)]
    assert inner[0] != inner[1]


def test_rip_up_finds_ways_that_the_first_pass_does_not():
    problem = ChannelProblem(torus(8, 8), 12, pattern("all-to-all", (8, 8), 1))
    tables = tables_of(problem)
    without = apr(problem, tables, 27, 40, rounds=0)
    found = apr(problem, tables, 27, 40)
    assert without is not None
    assert found is not None
    assert found.phase.max() + 1 <= without.phase.max() + 1
    assert found.phase.max() + 1 <= 30  # Feldmann et al. 1993, §5.1.3


def test_nothing_is_found_in_too_few_phases():
    problem = ChannelProblem(mesh(2), 1, (Demand(0, 1), Demand(1, 0)))
    assert apr(problem, tables_of(problem), 1, 1) is None
