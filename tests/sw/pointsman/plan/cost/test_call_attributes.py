"""``:b`` and ``:pipelined`` in the planner."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.operators import IMPLEMENTATIONS, Context
from pointsman.plan.cost.call_attributes import best_rate, call_cycles, limit, most_words
from pointsman.plan.cost.feasible import feasible_implementations
from pointsman.plan.make_plan import make_plan
from pointsman.plan.plan import Plan


def plan(text: str, size: tuple[int, ...] = (3,), period: int = 16) -> Plan:
    return make_plan(compile_text(text, topology=mesh(*size)), NodeShape(), name="p", period=period)


def words(found: Plan, label: str) -> int:
    """Words a period of an operator's slowest stream."""
    (phase,) = found.phases
    (one,) = (one for one in phase.operators if one.operator.label == label)
    return min(phase.routed.words(stream) for stream in one.streams)


@pytest.mark.parametrize(("b", "most"), [("1.0", None), ("0.5", 8), ("0.25", 4), ("0.01", 1), ("'*min*", 1)])
def test_b_is_the_most_that_streams_get(b: str, most: int | None) -> None:
    text = f"(stream 's 0 2 :m 40 :b {b})"
    program = compile_text(text, topology=mesh(3))
    (operator,) = program.operators()
    assert most_words(operator, 16) == most
    assert best_rate(operator, 0.7, 16) == (0.7 if most is None else min(0.7, most / 16))
    if most is None:
        assert words(plan(text), "s") > 8
    else:
        assert words(plan(text), "s") == most


def test_what_b_leaves_goes_to_the_others() -> None:
    def both(b: str) -> tuple[int, int]:
        pair = f"(parallel (stream 'one 0 2 :m 40 :b {b}) (stream 'two 0 2 :m 40))"
        found = plan(pair)
        return words(found, "one"), words(found, "two")

    free, capped = both("1.0"), both("'*min*")
    assert capped[0] == 1
    assert capped[1] > free[1]


def test_a_phase_with_less_bandwidth_is_expected_to_take_longer() -> None:
    assert plan("(stream 's 0 2 :m 40 :b 0.25)").cycles > plan("(stream 's 0 2 :m 40)").cycles


def test_the_latency_of_a_pipelined_operator_does_not_count() -> None:
    plain, piped = (
        next(compile_text(f"(stream 's 0 2 :m 4 {more})", topology=mesh(3)).operators())
        for more in ("", ":pipelined t")
    )
    assert call_cycles(plain, 2.0, 9.0) == 17.0
    assert call_cycles(piped, 2.0, 9.0) == 8.0
    context = Context(mesh(3), NodeShape())
    ((slow, _), *_), ((quick, _), *_) = (
        feasible_implementations(one, IMPLEMENTATIONS, context) for one in (plain, piped)
    )
    assert quick < slow
    piped_plan, plain_plan = plan("(stream 's 0 2 :m 4 :pipelined t)"), plan("(stream 's 0 2 :m 4)")
    assert piped_plan.considered[0].estimate < plain_plan.considered[0].estimate
    # Played on its routes, one call takes as long as it takes.
    assert piped_plan.cycles == plain_plan.cycles


def test_calls_of_a_round_share_a_latency_unless_each_is_answered() -> None:
    (operator,) = compile_text("(broadcast 'b (runtime) :m 3 :c 6)", topology=mesh(3)).operators()
    assert call_cycles(operator, 2.0, 12.0) == 8.0
    assert call_cycles(operator, 2.0, 12.0, answered=True) == 18.0


@pytest.mark.parametrize(("m", "messages", "most"), [(1, 1, 1), (3, 4, 12), (3, 6, None), (1, 40, None)])
def test_a_stream_gets_no_more_than_a_round_has(m: int, messages: int, most: int | None) -> None:
    (operator,) = compile_text(f"(stream 's 0 2 :m {m})", topology=mesh(3)).operators()
    assert limit(operator, 16, messages) == most
