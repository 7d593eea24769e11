"""Random array programs, element by element: every step of the analysis against remote copies that can be missing or stale."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from pointsman.arrays.analysis import descriptors, eliminating, scheduling, vectorising

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


@pytest.mark.parametrize("part", range(5))
def test_random_programs(part: int, enumeration: ModuleType) -> None:
    for seed in range(part * 100, part * 100 + 100):
        try:
            enumeration.judge(seed)
        except Exception as error:
            raise AssertionError(f"random program {seed}") from error


def test_random_programs_over_several_grids(enumeration: ModuleType) -> None:
    for seed in range(30):
        try:
            enumeration.judge(seed, several=True)
        except Exception as error:
            raise AssertionError(f"random program {seed} over several grids") from error


@pytest.mark.slow
@pytest.mark.parametrize("part", range(100))
def test_many_random_programs(part: int, enumeration: ModuleType) -> None:
    for seed in range(1000 + part * 1000, 2000 + part * 1000):
        try:
            enumeration.judge(seed)
        except Exception as error:
            raise AssertionError(f"random program {seed}") from error


@pytest.mark.parametrize("fault", MUTANTS)
def test_the_judge_finds_faults(fault: str, enumeration: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name, instead, seed = MUTANTS[fault]
    monkeypatch.setattr(module, name, instead)
    found = enumeration.steps(seed)
    with pytest.raises(AssertionError):
        any(enumeration.judged(step) is None for step in found)
