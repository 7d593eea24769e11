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


@pytest.mark.parametrize("count", [1, 2, 7, 36])
def test_values_come_alike(count: int):
    taken = Counter(choice("b", number, count) for number in range(20 * count))
    assert len(taken) == count
    assert min(taken.values()) >= 15
    assert max(taken.values()) <= 25


def test_a_deep_program_is_walked_through():
    text = "(sequential " * 300 + "(barrier 'b)" + ")" * 300
    assert len(list(visits(compile_text(text, topology=mesh(2, 1))))) == 1
