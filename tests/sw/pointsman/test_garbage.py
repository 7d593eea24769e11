"""Fewer searches for cyclic garbage while something is compiled."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from pointsman.garbage import OBJECTS, seldom_collected


@pytest.fixture(autouse=True)
def _thresholds() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_threshold_is_high_in_calls_and_as_before_after_the_last() -> None:
    gc.set_threshold(500, 7, 9)

    @seldom_collected
    def inner() -> tuple[int, int, int]:
        return gc.get_threshold()

    @seldom_collected
    def outer() -> list[tuple[int, int, int]]:
        return [inner(), gc.get_threshold()]

    assert outer() == [(OBJECTS, 7, 9)] * 2
    assert gc.get_threshold() == (500, 7, 9)


def test_threshold_comes_back_after_an_error() -> None:
    gc.set_threshold(500, 7, 9)

    @seldom_collected
    def refuse() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        refuse()
    assert gc.get_threshold() == (500, 7, 9)


@pytest.mark.parametrize("before", [(0, 10, 10), (OBJECTS + 1, 10, 10)])
def test_collector_that_is_off_or_seldom_looks_is_left_alone(before: tuple[int, int, int]) -> None:
    gc.set_threshold(*before)
    assert seldom_collected(gc.get_threshold)() == before
    assert gc.get_threshold() == before
