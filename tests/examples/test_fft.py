"""The fast Fourier transform: by its meaning on every mesh, on the cycle model and on the RTL."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.network import mesh
from pointsman.plan.plan import Plan
from pointsman.runtime import WrongAnswer


@pytest.mark.parametrize("by", ["transposition", "exchange"])
@pytest.mark.parametrize("size", [(1,), (2, 1), (4, 2), (2, 2, 2), (4, 4)], ids=str)
@pytest.mark.parametrize("points", [16, 32])
def test_spectrum_and_filtered_signal_are_those_of_numpy(example, size: tuple[int, ...], points: int, by: str) -> None:
    application, results = example.meant(mesh(*size), "--points", str(points), "--by", by)
    assert application.check(results).startswith(f"the spectrum of {application.n} points")


def test_exchange_needs_one_point_a_node(example) -> None:
    application, results = example.meant(mesh(4, 2), "--points", "1", "--by", "exchange")
    assert application.check(results).startswith("the spectrum of 8 points")


def test_blocks_in_the_wrong_places_are_seen(example) -> None:
    application, results = example.meant(mesh(2, 2), "--points", "8")
    (first, filtered), *rest = results
    with pytest.raises(WrongAnswer, match=r"^the spectrum differs from numpy's by"):
        application.check([(np.roll(first, 1), filtered), *rest])
    with pytest.raises(WrongAnswer, match=r"^the filtered signal differs from numpy's by"):
        application.check([(first, np.roll(filtered, 1)), *rest])


def plan_that_ran(example, engine: str, by: str, *size: int) -> Plan:
    plan, result = example.planned(mesh(*size), engine, "--points", "16", "--by", by, period=16)
    assert result.correct, result.answer
    return plan


@pytest.mark.parametrize("size", [(2, 2), (4, 2), pytest.param((4, 4), marks=pytest.mark.slow)], ids=str)
def test_each_distance_is_a_subphase_that_the_application_chooses(example, size: tuple[int, ...]) -> None:
    plan = plan_that_ran(example, "model", "transposition", *size)
    nodes = prod(size)
    assert [phase.operators[0].implementation.name for phase in plan.phases] == ["sch_shift"] * (nodes - 1)
    assert [one.value for one in plan.structure.phases] == [(distance,) for distance in range(1, nodes)]


def test_two_nodes_have_one_distance(example) -> None:
    assert len(plan_that_ran(example, "model", "transposition", 2, 1).phases) == 1


def test_stages_are_phases_that_the_application_chooses(example) -> None:
    plan = plan_that_ran(example, "model", "exchange", 2, 2)
    assert [phase.name for phase in plan.phases] == ["x0", "x1", "order"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(2, 2), (4, 2), (4, 4)], ids=str)
def test_transposition_on_the_rtl(example, size: tuple[int, ...]) -> None:
    plan_that_ran(example, "verilated", "transposition", *size)


@pytest.mark.slow
def test_sixty_four_nodes_have_a_schedule_for_each_distance(example) -> None:
    plan, result = example.planned(mesh(8, 8), "model", "--points", "64")
    assert result.correct, result.answer
    assert len(plan.phases) == 63


@pytest.mark.slow
def test_exchange_among_sixteen_nodes_on_the_rtl(example) -> None:
    plan_that_ran(example, "verilated", "exchange", 4, 4)


def test_other_numbers_of_nodes_are_refused(example) -> None:
    with pytest.raises(PointsmanError, match=r"^a mesh of so many nodes must be a power of two, not 6$"):
        example.made(mesh(3, 2))
    with pytest.raises(PointsmanError, match=r"^--points must be a power of two, not 12$"):
        example.made(mesh(2, 2), "--points", "12")
    message = r"^by transposition each node needs a point for each of the 16 nodes, not --points 8\n"
    with pytest.raises(PointsmanError, match=message):
        example.made(mesh(4, 4), "--points", "8")
