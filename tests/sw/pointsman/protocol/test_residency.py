"""Marks of residency, and which phases surely come, against models that look at every place and every way."""

from __future__ import annotations

import random

import pytest

from pointsman.protocol.residency import Following, Residency, sharing


def test_a_schedule_takes_the_block_of_another() -> None:
    marks: Residency[int] = Residency(sharing({0: 1, 1: 2, 2: 1}, (), {}), 1)
    assert marks.shared.staying == {1}
    for phase in (0, 1):
        marks.loaded(phase)
    assert marks.holds(0)
    assert marks.holds(1)
    marks.loaded(2)
    assert not marks.holds(0)
    assert marks.lacks(0, 0) == "none", "its VFSMs are there all the same"
    assert marks.holds(1)


def test_only_what_others_overwrite_is_loaded_again() -> None:
    # In pipeline 1, VFSM 10 of phase 0 stands where 20 of phase 1 does.
    marks: Residency[int] = Residency(sharing({0: 1, 1: 2}, [(1, {0: 10, 1: 20})], {}), 2)
    assert marks.shared.staying == frozenset()
    assert [marks.lacks(0, p) for p in (0, 1)] == ["all", "all"]
    marks.loaded(0)
    marks.loaded(1)
    assert [marks.lacks(0, p) for p in (0, 1)] == ["none", "contested"]
    assert marks.shared.contested[0] == {10}
    marks.loaded(0)
    assert marks.holds(0)
    assert not marks.holds(1)


def test_what_a_load_function_wants_otherwise_is_missing_until_the_next_load() -> None:
    marks: Residency[str] = Residency(sharing({0: 1}, (), {}), 1)
    marks.loaded(0)
    marks.wanted(0, ["a"])
    assert not marks.holds(0)
    marks.loaded(0)
    assert marks.holds(0)


def test_a_phase_with_another_schedule_is_not_there() -> None:
    shared = sharing({0: 1, 1: 2}, (), {0: ["x"]})
    marks: Residency[int] = Residency(shared, 1)
    marks.loaded(0)
    assert marks.stored == {"x"}
    marks.replaced(0, shared)
    assert not marks.holds(0)
    assert marks.lacks(0, 0) == "all"


def test_what_belongs_to_a_phase_is_loaded_before_what_surely_comes() -> None:
    marks: Residency[int] = Residency(sharing({0: 1, 1: 2, 2: 3, 3: 4, 4: 4}, (), {}), 1)
    assert marks.with_it(0, [2], [1]) == [1]
    assert marks.with_it(0, [], [1, 2, 3]) == [1, 2], "phase 3 would not stay"
    marks.loaded(2)
    assert marks.with_it(0, [2], [1, 2, 3]) == [1]


def test_other_schedules_of_an_operator_are_loaded_with_its_second_one() -> None:
    marks: Residency[int] = Residency(sharing({0: 1, 1: 2, 2: 3, 3: 4}, (), {}), 1)
    assert marks.with_it(0, [1, 2, 3], []) == []
    marks.loaded(0)
    assert marks.with_it(1, [0, 2, 3], []) == [2, 3]


def _comes(after: dict[int, set[int]], phase: int, later: int, way: tuple[int, ...] = ()) -> bool:
    """Follow every way from a phase; a round of a phase alone ends some time."""
    if phase == later:
        return True
    if phase in way or not after.get(phase):
        return False
    return all(_comes(after, other, later, (*way, phase)) for other in after[phase] - {phase})


@pytest.mark.parametrize("seed", range(40))
def test_a_phase_surely_comes_if_every_way_leads_to_it(seed: int) -> None:
    chance = random.Random(seed)
    count = chance.randint(2, 6)
    after = {
        phase: set(chance.sample([-1, *range(count), *range(phase + 1, count)], chance.randint(0, 2)))
        for phase in range(count)
    }
    following = Following(after)
    for phase in range(count):
        settled = set(chance.sample(range(count), 1))
        expected = [p for p in range(count) if p != phase and _comes(after, phase, p)]
        assert [p for p in range(count) if p != phase and following.surely(phase, p)] == expected
        assert following.certain(phase, settled) == [p for p in expected if p not in settled]


def test_a_long_sequence_surely_comes() -> None:
    following = Following({phase: {phase + 1, phase} for phase in range(400)})
    assert following.surely(0, 399)
    assert not following.surely(5, 4)
