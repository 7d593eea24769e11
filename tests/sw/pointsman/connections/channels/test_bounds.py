"""Bounds hold against proved optima (`test_exact`) and say what they say."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from pointsman.artifacts.channels.channels import ChannelProblem, Demand
from pointsman.connections.channels import divide
from pointsman.connections.channels.bounds import bounds_of
from pointsman.connections.channels.tables import tables_of
from pointsman.network import graph, mesh


def kinds(problem: ChannelProblem) -> dict[str, int]:
    return {bound.kind: int(bound.value) for bound in bounds_of(problem, tables_of(problem))}


def test_a_node_a_cut_and_all_channels_bound_phases():
    ends = tuple(Demand(0, node) for node in (1, 1, 1, 1, 1))
    assert kinds(ChannelProblem(mesh(2), 2, ends))["node"] == 3
    across = tuple(Demand(node, 5 - node) for node in (0, 1, 2) for _ in range(2))
    assert kinds(ChannelProblem(mesh(6), 2, across))["cut"] == 3
    assert kinds(ChannelProblem(mesh(6), 2, across))["channels"] == 2


def test_weights_find_a_narrow_passage_where_nothing_else_does():
    # Two stars joined by a node: all six connections pass it.
    network = graph(9, [(0, 3), (1, 3), (2, 3), (3, 4), (4, 5), (5, 6), (5, 7), (5, 8)])
    problem = ChannelProblem(network, 1, tuple(Demand(u, v) for u, v in zip((0, 1, 2), (6, 7, 8), strict=True)))
    assert kinds(problem)["weighted"] == 3


@pytest.mark.parametrize(
    ("shares", "phases"),
    [
        ((1, 1), 2),
        ((1, None), 2),
        ((2, None), 1),
        ((2, None, None), 2),
        ((2, 2, 3, 3, 3), 2),
        ((2, 2, 2, 3, None), 3),
        ((None,) * 9, 1),
    ],
)
def test_bandwidths_fill_the_links_of_a_node(shares, phases):
    demands = tuple(Demand(0, 1, 1, Fraction(0) if one is None else Fraction(1, one)) for one in shares)
    for ends in (demands, tuple(replace(one, source=1, destination=0) for one in demands)):
        problem = ChannelProblem(mesh(2), 12, ends)
        assert kinds(problem).get("links", 1) == phases
        assert len(divide(problem).phases) == phases


def test_there_is_no_bound_without_connections():
    assert bounds_of(ChannelProblem(mesh(2), 2, ()), tables_of(ChannelProblem(mesh(2), 2, ()))) == ()
