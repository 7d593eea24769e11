"""Fewer searches for cyclic garbage while something is compiled."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from pointsman.garbage import OBJECTS, seldom_collected


@pytest.fixture(autouse=True)
def _thresholds() -> Iterator[None]:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    gc.unfreeze()
    yield
    gc.set_threshold(*before)
    if frozen:
        gc.freeze()


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


class _Ring:
    """An object that only the collector can free."""

    def __init__(self) -> None:
        self.itself = self


@seldom_collected
def _rings(count: int) -> list[_Ring]:
    return [_Ring() for _ in range(count)]


@pytest.fixture
def passes() -> Iterator[list[int]]:
    """The generation of each pass of the collector."""
    found: list[int] = []

    def note(phase: str, told: dict[str, int]) -> None:
        if phase == "start":
            found.append(told["generation"])

    gc.collect()
    gc.callbacks.append(note)
    yield found
    gc.callbacks.remove(note)


def test_what_a_call_leaves_is_not_looked_through_at_once(passes: list[int]) -> None:
    gc.set_threshold(2000, 10, 10)
    kept = _rings(5000)
    few = [_Ring() for _ in range(500)]
    assert not passes
    many = [_Ring() for _ in range(2000)]
    assert set(passes) == {0}, "afterwards it looks as often as before"
    assert len(kept) + len(few) + len(many) == 7500


def test_after_enough_objects_all_are_looked_through(passes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pointsman.garbage.OBJECTS", 50_000)
    gc.set_threshold(2000, 10, 10)
    gone = weakref.ref(_rings(5000)[0])
    assert gone() is not None
    assert not passes
    while 2 not in passes:
        assert gone() is not None
        _rings(5000)
    assert gone() is None
    assert passes == [2]


def test_objects_that_somebody_has_frozen_stay_so() -> None:
    gc.set_threshold(2000, 10, 10)
    gc.freeze()
    try:
        assert len(_rings(5000)) == 5000
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


def test_a_collector_that_is_off_looks_through_nothing(passes: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pointsman.garbage.OBJECTS", 10_000)
    gc.set_threshold(2000, 10, 10)
    gc.disable()
    try:
        assert len(_rings(9000)) == 9000
    finally:
        gc.enable()
    assert not passes
