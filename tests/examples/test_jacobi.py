"""Jacobi's method with communications written by hand."""

from __future__ import annotations

import pytest

from pointsman.errors import PointsmanError
from pointsman.network import mesh


@pytest.mark.parametrize(("width", "height"), [(1, 1), (2, 1), (4, 2), (3, 3)])
def test_it_is_right_by_its_meaning(example, width: int, height: int) -> None:
    application, results = example.meant(mesh(width, height), "--size", "12", "--steps", "3")
    assert application.check(results) == "the square of 12 rows equals that of a single processor"


def test_it_runs_where_the_exchange_has_several_phases(example) -> None:
    assert example.run(mesh(2, 2), "model").correct


def test_wrong_sizes(example) -> None:
    with pytest.raises(PointsmanError, match="a square of 10 rows does not divide into the blocks of"):
        example.made(mesh(4, 2), "--size", "10")
