"""Sampled rounds stand for all, and values are a fair sample."""

from __future__ import annotations

from collections import Counter

import pytest

from pointsman.cop import compile_text
from pointsman.network import mesh
from pointsman.plan.timeline import sampling
from pointsman.plan.timeline.sampling import choice, visits

TEXT = """
(barrier 'first)
(loop 'outer 5
  (broadcast 'a 0)
  (loop 'inner 300 (cshift 'b 1) (optional (cshift 'c 1)))
  (optional (broadcast 'd 0))
  (optional (broadcast 'e 0)))
"""


def weights(text: str) -> dict[str, float]:
    found: Counter[str] = Counter()
    for visit in visits(compile_text(text, topology=mesh(2, 2))):
        found[visit.operator.label] += visit.weight  # type: ignore[assignment]
    return dict(found)


def test_sampled_rounds_stand_for_all():
    found = weights(TEXT)
    assert {name: pytest.approx(found[name]) for name in "abc"} == {"a": 5, "b": 1500, "c": 1500}
    assert found["first"] == 1


def test_of_optional_groups_in_a_row_one_is_taken_at_a_time():
    found = weights(TEXT)
    assert found["d"] + found["e"] == pytest.approx(5)
    assert found["d"] > 0
    assert found["e"] > 0


def test_where_it_comes_by_too_seldom_all_optional_groups_are_taken():
    """Each of them would stand for the program otherwise, and the others for nothing."""
    row = "(optional (broadcast 'd 0)) (optional (broadcast 'e 0)) (optional (broadcast 'f 0))"
    assert weights(row) == {"d": 1, "e": 1, "f": 1}
    assert weights(f"(loop 'l 2 {row})") == {"d": 2, "e": 2, "f": 2}
    found = weights(f"(loop 'l 3 {row})")
    assert found == {"d": 1, "e": 1, "f": 1}


def test_there_are_not_many_more_visits_than_are_asked_for(monkeypatch: pytest.MonkeyPatch):
    program = compile_text(TEXT, topology=mesh(2, 2))
    assert len(list(visits(program))) <= sampling.VISITS
    monkeypatch.setattr(sampling, "NODE_VISITS", 120)
    assert len(list(visits(program))) <= 30 + 5


def test_the_first_round_stands_for_itself():
    program = compile_text("(loop 'l 1000 (barrier 'b))", topology=mesh(2, 1))
    first, *others = list(visits(program))
    assert first.weight == 1
    assert {other.weight for other in others} == {999 / len(others)}
    assert [visit.number for visit in (first, *others)] == list(range(len(others) + 1))


def test_all_rounds_are_played_where_they_are_few():
    found = list(visits(compile_text("(loop 'k 4 (loop 'l 15 (barrier 'b)))", topology=mesh(2, 1))))
    assert [visit.weight for visit in found] == [1.0] * 60


@pytest.mark.parametrize("count", [1, 2, 3, 7, 9, 36, 65536])
def test_each_value_comes_once_before_any_comes_again(count: int):
    for first in (0, count):
        assert sorted(choice("b", first + number, count) for number in range(count)) == list(range(count))


def test_a_few_values_are_spread_over_all():
    """Whether a stream crosses the network must not depend on how many rounds are played."""
    few = sorted(choice("s", number, 36) // 6 for number in range(12))
    assert set(few) == set(range(6))
    assert max(Counter(few).values()) <= 3


def test_a_deep_program_is_walked_through():
    text = "(sequential " * 300 + "(barrier 'b)" + ")" * 300
    assert len(list(visits(compile_text(text, topology=mesh(2, 1))))) == 1


def test_other_values_are_played_where_a_program_seldom_asks_for_them_but_not_on_large_networks():
    text = "(loop 'l 3 (broadcast 'a (runtime)))"
    assert sampling.samples(compile_text(text, topology=mesh(4, 4))) == 3
    assert sampling.samples(compile_text(text, topology=mesh(50, 50))) == 1


def test_of_loops_deep_within_loops_few_rounds_stand_for_all():
    """Forty loops of two rounds would have 2^40 visits."""
    deep = "".join(f"(loop 'l{k} 2 (cshift 'c{k} 1) " for k in range(40)) + ")" * 40
    program = compile_text(deep, topology=mesh(2, 2))
    assert len(list(visits(program))) <= sampling.DEEP
    found = weights(deep)
    assert [found[f"c{k}"] for k in (0, 1, 20, 39)] == [2.0, 4.0, 2.0**21, 2.0**40]
