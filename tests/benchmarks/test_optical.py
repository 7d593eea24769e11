"""Patterns and tables of Yuan 1998, Chapter 6: what they are, and that the formulas that we found hold for what is printed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from pointsman.network import torus
from pointsman.optical.fabric import fabric
from pointsman.optical.logical import logical
from pointsman.optical.multihop import hop

ROOT = Path(__file__).parents[2]
MODULES = ("answers", "yuan", "yuan_programs", "yuan_arrays", "evaluation", "evaluation.patterns")


@pytest.fixture(scope="module")
def programs() -> Iterator[ModuleType]:
    """``benchmarks/claims/yuan_programs.py``."""
    path = list(sys.path)
    sys.path[:0] = [str(ROOT / "benchmarks/claims"), str(ROOT / "benchmarks")]
    yield importlib.import_module("yuan_programs")
    sys.path[:] = path
    for name in MODULES:
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def patterns(programs: ModuleType) -> ModuleType:
    return importlib.import_module("evaluation.patterns")


def test_redistributions_move_every_word_once(patterns: ModuleType) -> None:
    words = int(np.prod(patterns.ARRAY))
    for before, after in ((patterns.BLOCKS, patterns.PLANES), (patterns.PLANES, patterns.COLUMNS)):
        assert np.bincount(patterns._owners(before).ravel()).tolist() == [words // 64] * 64
        there, back = patterns.redistribution(before, after), patterns.redistribution(after, before)
        assert sorted((v, u, m) for _, u, v, m in there) == sorted((u, v, m) for _, u, v, m in back)
        stays = (patterns._owners(before) == patterns._owners(after)).sum()
        assert patterns.WORDS * sum(m for *_, m in there) == words - stays
    assert patterns.redistribution(patterns.PLANES, patterns.PLANES) == []
    near = patterns.neighbours(4)
    assert len(near) == 6 * 64
    assert all((v, u) in {(a, b) for _, a, b, _ in near} for _, u, v, _ in near)


def test_the_compiled_row_is_a_formula(programs: ModuleType) -> None:
    """A frame more than a message takes, and a slot for each further message of a node: exactly, in all columns."""
    cases = {"GS": (64, 2, 2), "TSCF": (1, 7, 6), "P3M 1": (16, 48, 16), "P3M 2, 3": (4, 64, 63), "P3M 4": (16, 26, 16),
             "P3M 5": (4, 7, 6)}  # fmt: skip
    printed = programs.table("6.2")["compiled"]
    assert {name: programs.theirs_compiled(*case) for name, case in cases.items()} == printed
    assert 60 * programs.theirs_compiled(128, 2, 1) == programs.table("6.6")["compiled"]["TOMCATV"]


@pytest.mark.parametrize("name", ["torus", "hypercube", "allxy", "all-to-all"])
def test_multi_hop_columns_come_out(programs: ModuleType, patterns: ModuleType, name: str) -> None:
    """With sizes of P3M for which no row was fitted; the two short patterns (TSCF, P3M 5) within a slot or an eighth."""
    made, traffics = logical(fabric(torus(8, 8)), name), patterns.patterns()
    for pattern, printed in programs.table("6.2")[f"multihop {name}"].items():
        slots = hop(made, 1, traffics[pattern]).slots
        short = pattern in ("TSCF", "P3M 5")
        assert slots == pytest.approx(printed, rel=0.125 if short else 0.015), pattern
    shift = hop(made, 1, traffics["TOMCATV, a shift"]).slots
    assert 60 * shift == pytest.approx(programs.table("6.6")[f"multihop {name}"]["TOMCATV"], rel=0.005)


def test_normalised_times_are_over_the_least_of_each_program(programs: ModuleType) -> None:
    times = {"a": {"p": 4.0, "q": 3.0}, "b": {"p": 2.0, "q": 9.0}}
    found = programs.normalised(times)
    assert found == {"a": {"p": 2.0, "q": 1.0}, "b": {"p": 1.0, "q": 3.0}}
    assert programs.means(found) == {"a": 1.5, "b": 2.0}
