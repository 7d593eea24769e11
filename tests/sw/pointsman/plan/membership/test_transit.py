"""Nodes that lend their routers: can they know when a phase runs?"""

from __future__ import annotations

import pytest

from pointsman.plan.membership.transit import _may_be_passed
from pointsman.plan.structure.phase_graph import END, START, PhaseGraph

OPTIONAL = PhaseGraph({START: frozenset([0]), 0: frozenset([1, 2]), 1: frozenset([2]), 2: frozenset([END])})
"""Phase 1 may be left out."""
ALWAYS = PhaseGraph({START: frozenset([0]), 0: frozenset([1]), 1: frozenset([2]), 2: frozenset([END])})
LOOP = PhaseGraph({START: frozenset([0]), 0: frozenset([1]), 1: frozenset([0, 2]), 2: frozenset([END])})


@pytest.mark.parametrize(
    ("graph", "mine", "passed"),
    [
        (OPTIONAL, {0, 2}, True),
        (OPTIONAL, {0}, True),
        (OPTIONAL, set(), True),
        (ALWAYS, {0, 2}, False),
        (ALWAYS, set(), False),
        (LOOP, {0, 2}, False),
        (LOOP, {2}, False),
    ],
)
def test_a_phase_that_may_be_left_out_is_a_secret_to_a_node_without_an_operator_in_it(
    graph: PhaseGraph, mine: set[int], passed: bool
) -> None:
    assert _may_be_passed(graph, 1, frozenset(mine), frozenset(mine)) == passed
