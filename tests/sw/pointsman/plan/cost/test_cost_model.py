"""Estimates of phases: their laws, and what the search makes of them."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import inf

import numpy as np
import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan.candidates.branch_and_bound import search
from pointsman.plan.cost import cost_model
from pointsman.plan.cost.cost_model import CostModel
from pointsman.plan.structure.extents import disjoint_tree
from pointsman.plan.structure.phase_tree import leaves, rounds
from pointsman.program.order import places
from pointsman.program.program import Program


def estimates(program: Program, period: int = 16) -> CostModel:
    context = Context(program.topology, NodeShape())
    root = disjoint_tree(program)
    times = rounds(root)
    by_label = {part.operator.label: times[part] for part in root.walk() if part.operator is not None}
    choices = {}
    for operator in program.operators():
        ways = [one for one in IMPLEMENTATIONS if operator.kind in one.kinds and operator.impl in (None, one.name)]
        metrics = [(one, one.metric(operator, context)) for one in ways]
        choices[operator.label] = [(one, metric) for one, metric in metrics if metric is not None]
    return CostModel(choices, by_label, context, places(program), period=period)


def phases(text: str, size: tuple[int, ...] = (4, 4)) -> list[str]:
    program = compile_text(text, topology=mesh(*size))
    found = search(disjoint_tree(program), estimates(program))
    assert found.gap == 0
    return [leaf.labels() for leaf in leaves(found.phases)]


MIX = """
(loop 'l 10
  (broadcast 'a 0 :m 50)
  (subset (make-1d 'x) (cshift 'b 1 :m 30))
  (subset (make-1d 'y) (cshift 'c 1 :m 3))
  (barrier 'd)
  (stream 'e 0 15 :m 9))
"""


def test_bounds_are_never_above_what_they_bound() -> None:
    program = compile_text(MIX, topology=mesh(4, 4))
    costs = estimates(program)
    operators = tuple(program.operators())
    for count in range(1, 6):
        for chosen in combinations(operators, count):
            rest = [o for o in operators if o not in chosen]
            for exits in (0.0, 7.0):
                least, whole = costs.least(chosen, exits), costs.phase(chosen, exits)
                assert sum(map(costs.alone, chosen)) <= costs.phase(chosen, 0.0) + 1e-9
                assert least <= whole + 1e-9
                for other in rest:
                    more = tuple(o for o in operators if o in chosen or o is other)
                    assert least <= costs.phase(more, exits) - costs.alone(other) + 1e-9


def test_long_messages_get_phases_of_their_own() -> None:
    text = "(loop 'l 9 (broadcast 'a 0 :m 2000) (broadcast 'b 5 :m 2000) (subset (make-1d 'x) (cshift 'c 1 :m 2000)))"
    assert phases(text) == ["a", "b", "c"]


def test_short_messages_share_a_phase() -> None:
    assert phases("(loop 'l 9 (barrier 'a) (barrier 'b) (stream 'c 0 5))") == ["a,b,c"]


def test_the_matrix_multiplication_has_two_phases() -> None:
    text = """
    (loop 'mul 4 (subset (make-1d 'x) (broadcast 'b (runtime) :m 225)) (subset (make-1d 'y) (cshift 'c -1 :m 225)))
    """
    assert phases(text) == ["b", "c"]


def test_more_streams_than_a_schedule_has_slots_do_not_share_a_phase() -> None:
    streams = " ".join(f"(stream 's{i} 0 {1 + i % 3})" for i in range(10))
    program = compile_text(f"(parallel {streams})", topology=mesh(2, 2))
    operators = tuple(program.operators())
    assert estimates(program, period=4).phase(operators, 0.0) == float("inf")
    assert estimates(program, period=16).phase(operators, 0.0) < float("inf")


def test_a_phase_that_is_never_left_needs_no_room_for_a_barrier() -> None:
    """Twelve broadcasts take the registers of a node but two; with a barrier they would take more than there are."""
    broadcasts = " ".join(f"(broadcast 'b{k} {k} :m 1)" for k in range(12))
    program = compile_text(broadcasts, topology=mesh(4, 4))
    costs, operators = estimates(program), tuple(program.operators())
    assert costs.least(operators, 0.0) <= costs.phase(operators, 0.0) < inf
    assert costs.phase(operators, 1.0) == inf


@pytest.mark.parametrize(
    ("operator", "barrier"),
    [
        ("(broadcast 'a 0 :m 60 :impl 'str_bcast)", False),  # no node is done before all have a word
        ("(cshift 'a 1 :m 60)", True),  # a node hears from its neighbour only
        ("(broadcast 'a 0 :m 60 :impl 'dyn_bcast_tree)", True),  # processors pass on messages until all are done
    ],
)
def test_phases_that_messages_cannot_end_are_estimated_with_a_barrier(operator: str, barrier: bool) -> None:
    program = compile_text(operator, topology=mesh(4, 4))
    costs, operators = estimates(program), tuple(program.operators())
    leaving = costs.phase(operators, 1.0) - costs.phase(operators, 0.0)
    assert (leaving > 50.0) == barrier


def test_streams_that_carry_many_messages_slow_each_other_down() -> None:
    """Two trees in which each node passes on the messages of others: each takes the moves of some routers nearly whole."""
    ways = ":impl 'str_gather_tree", ":impl 'str_spread_tree"
    program = compile_text("(gather 'g 0 :m 10 {}) (spread 's 0 :m 10 {})".format(*ways), topology=mesh(8, 8))
    costs, operators = estimates(program), tuple(program.operators())
    assert costs.phase(operators, 0.0) > 1.5 * sum(map(costs.alone, operators))


def test_a_value_that_seldom_changes_costs_less() -> None:
    def cost(block: int) -> float:
        text = f"(loop 'l 100 (subset (make-1d 'x) (broadcast 'b (runtime :block {block}) :impl 'str_bcast_linear)))"
        program = compile_text(text, topology=mesh(4, 4))
        return estimates(program).phase(tuple(program.operators()), 0.0)

    assert cost(10) < cost(1)


@pytest.mark.parametrize("count", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_a_long_program_is_searched_in_seconds(count: int) -> None:
    operators = " ".join(f"(broadcast 'b{i} {i % 16} :m {1 + i * 7 % 40})" for i in range(count))
    program = compile_text(f"(sequential {operators})", topology=mesh(4, 4))
    found = search(disjoint_tree(program), estimates(program), budget=3000)
    assert found.gap == 0


def test_phases_one_operator_after_the_other_cost_what_they_cost_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The table of ways grows, and is seldom copied: with thousands of operators that would take most of the time."""
    program = compile_text(
        " ".join(f"(stream 's{k} {k % 16} {(5 * k + 1) % 16} :m 4)" for k in range(120)), topology=mesh(4, 4)
    )
    operators = tuple(program.operators())
    copied = 0

    def counted(array: np.ndarray, rows: int) -> np.ndarray:
        nonlocal copied
        copied += len(array)
        return grown(array, rows)

    grown = cost_model._grown
    monkeypatch.setattr(cost_model, "_grown", counted)
    costs = estimates(program)
    pairs = list(pairwise(operators))
    one_by_one = [costs.phase(pair, 1.0) for pair in pairs]
    assert copied < 6 * 4 * sum(len(costs.alternatives(operator)) for operator in operators)
    assert one_by_one == [estimates(program).phase(pair, 1.0) for pair in pairs]
