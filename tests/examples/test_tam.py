"""The functional programs of examples/tam give what Python gives, with either kind of threads, on any number of nodes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pointsman.api.machines.threads import run_tam

EXAMPLES = Path(__file__).parents[2] / "examples/tam"
ALKANES = [1, 1, 1, 2, 3, 5, 9, 18, 35, 75, 159, 355, 802]
"""Isomers of the alkanes with 1 to 13 atoms of carbon (published counts)."""


def _random(seed: int) -> int:
    return (seed * 1103515245 + 12345) & 2147483647


def gamteb(particles: int, seed: int) -> int:
    absorbed = left = right = 0
    flying = [(k % 20, 1, 1024, _random(seed + 7919 * k)) for k in range(particles)]
    while flying:
        cell, way, weight, now = flying.pop()
        if cell < 0:
            left += weight
            continue
        if cell >= 40:
            right += weight
            continue
        now = _random(now)
        dense = 12 <= cell < 20
        if (now >> 16) % 100 >= (70 if dense else 30):
            flying.append((cell + way, way, weight, now))
            continue
        now = _random(now)
        dice = (now >> 16) % 100
        on, back = (cell + way, way), (cell - way, -way)
        if dice < 25 or (weight < 64 and dice < 60):
            absorbed += weight
        elif weight < 64:
            flying.append((*on, weight, now))
        elif dense and dice < 55:
            flying += [(*on, weight // 2, _random(now)), (*back, weight - weight // 2, _random(now + 1))]
        else:
            flying.append((*(on if dice < 70 else back), weight, now))
    assert absorbed + left + right == 1024 * particles
    return (absorbed << 40) + (left << 20) + right


def simple(n: int, steps: int) -> float:
    i, j = np.indices((n, n))
    rho, heat = 1 + ((i + 1) * (j + 2) % 5) / 8, 2 + ((3 * i + j) % 7) / 4

    def around(field: np.ndarray) -> np.ndarray:
        wide = np.pad(field, 1, mode="edge")
        return np.asarray(wide[:-2, 1:-1] + wide[2:, 1:-1] + wide[1:-1, :-2] + wide[1:-1, 2:] - 4 * field)

    for _ in range(steps):
        pressures = around(rho * heat)
        rho, heat = rho + 0.02 * pressures, heat + 0.05 * around(heat) + 0.01 * pressures / rho
    return float(heat.sum())


def speech(states: int, times: int) -> int:
    def emission(state: int, time: int) -> int:
        return (13 * state + 7 * ((time + 3) * (time + 1) % 11) + 5) % 17

    @cache
    def least(state: int, time: int) -> int:
        if time == 0:
            return emission(state, 0)
        return emission(state, time) + min(
            least(one, time - 1) + (1 if one == state else (5 * one + 3 * state) % 9) for one in range(states)
        )

    return min(least(state, times - 1) for state in range(states))


def matmul(n: int) -> float:
    i, j = np.indices((4 * n, 4 * n))
    return float((i * j - (i + j) @ (i - 2 * j)).sum())


CASES: list[tuple[str, list[Any], float]] = [
    ("gamteb", [7, 3], gamteb(7, 3)),
    ("gamteb", [1, 5], gamteb(1, 5)),
    ("simple", [3, 2], simple(3, 2)),
    ("simple", [1, 1], simple(1, 1)),
    ("speech", [4, 3], speech(4, 3)),
    ("speech", [1, 1], speech(1, 1)),
    ("matmul", [1], matmul(1)),
    ("matmul", [2], matmul(2)),
    ("quicksort", [9, 4], 8),
    *(("paraffins", [n], ALKANES[n - 1]) for n in (1, 2, 3, 8, 13)),
]


@pytest.mark.parametrize(("name", "arguments", "expected"), CASES)
def test_a_program_gives_what_python_gives(name: str, arguments: list[Any], expected: float) -> None:
    for threads, nodes, logp in (("operations", 3, "cm5,delay=200"), ("partitions", 8, "example")):
        done = run_tam(EXAMPLES / f"{name}.fun", arguments, nodes, threads=threads, logp=logp)  # type: ignore[arg-type]
        assert done.values["result"] == [pytest.approx(expected, rel=1e-12)]


@pytest.mark.parametrize("name", ["gamteb", "simple", "speech", "matmul", "quicksort", "paraffins"])
def test_large_threads_need_less_control_and_as_much_of_all_else(name: str) -> None:
    """Within frames that are freed, or not, when the program ends (von Eicken 1993, §6.2.2.1: 60 % on average)."""
    arguments = next(given for one, given, _ in reversed(CASES) if one == name and given != [1])
    one, large = (
        run_tam(EXAMPLES / f"{name}.fun", arguments, 4, threads=threads).values["instructions"]  # type: ignore[arg-type]
        for threads in ("operations", "partitions")
    )
    assert large.pop("control") < 0.7 * one.pop("control")
    assert {kind: pytest.approx(n, abs=4) for kind, n in one.items()} == large


@pytest.mark.parametrize(
    "target", ["packet", pytest.param("tdm", marks=pytest.mark.slow), pytest.param("numesh", marks=pytest.mark.slow)]
)
def test_a_program_runs_on_hardware(target: str) -> None:
    done = run_tam(EXAMPLES / "speech.fun", [2, 2], 2, target=target, engine="model")
    assert done.values["result"] == [speech(2, 2)]
