"""Random array programs, element by element: every step of the analysis against remote copies that can be missing or stale."""

from __future__ import annotations

from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest

from pointsman.arrays.analysis import communications, derive, descriptors, eliminating, scheduling, vectorising
from pointsman.arrays.analysis.emulation import count

MUTANTS: dict[str, tuple[Any, str, Any, int]] = {
    "nothing flows": (vectorising, "may_flow", lambda *a, **k: False, 0),
    "nothing moves in loops": (vectorising, "moved", lambda *a: set(), 1),
    "nothing is written": (eliminating, "written", lambda *a: [], 435),
    "nothing moves": (eliminating, "moved", lambda *a: set(), 43),
    "every branch sends": (eliminating, "covers", lambda *a: True, 435),
    "nothing is written before": (scheduling, "written", lambda *a: [], 100),
    "nothing moves before": (scheduling, "moved", lambda *a: set(), 205),
    "values are always outside": (descriptors, "_never", lambda *a: True, 100),
    "values are always inside": (descriptors, "within", lambda *a: True, 36),
    "steps always fit": (descriptors, "_on_lattice", lambda *a: True, 117),
}
"""Faults, each with a random program on which the judge finds it."""


def _steps(enumeration: ModuleType, seed: int, *, several: bool = False) -> list[communications.Communications]:
    return list(derive(enumeration.random_program(seed, several=several)).values())


def _judge(enumeration: ModuleType, seed: int, *, several: bool = False) -> None:
    steps = _steps(enumeration, seed, several=several)
    first, hoisted, *_ = judged = [enumeration.judged(step) for step in steps]
    assert first.needed <= first.sent
    assert all(one.needed == first.needed for one in judged)
    # Hoisting neither adds an element nor loses one.
    assert first.sent == hoisted.sent
    if seed % 5:
        return
    costs = [count(step) for step in steps]
    assert all(later.elements <= earlier.elements for earlier, later in pairwise(costs))
    assert costs[-1].messages <= costs[1].messages <= costs[0].messages


@pytest.mark.parametrize("part", range(5))
def test_random_programs(part: int, enumeration: ModuleType) -> None:
    for seed in range(part * 100, part * 100 + 100):
        try:
            _judge(enumeration, seed)
        except Exception as error:
            raise AssertionError(f"random program {seed}") from error


def test_random_programs_over_several_grids(enumeration: ModuleType) -> None:
    for seed in range(30):
        try:
            _judge(enumeration, seed, several=True)
        except Exception as error:
            raise AssertionError(f"random program {seed} over several grids") from error


@pytest.mark.slow
@pytest.mark.parametrize("part", range(100))
def test_many_random_programs(part: int, enumeration: ModuleType) -> None:
    for seed in range(1000 + part * 1000, 2000 + part * 1000):
        try:
            _judge(enumeration, seed)
        except Exception as error:
            raise AssertionError(f"random program {seed}") from error


@pytest.mark.parametrize("fault", MUTANTS)
def test_the_judge_finds_faults(fault: str, enumeration: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name, instead, seed = MUTANTS[fault]
    monkeypatch.setattr(module, name, instead)
    found = _steps(enumeration, seed)
    with pytest.raises(AssertionError):
        any(enumeration.judged(step) is None for step in found)
