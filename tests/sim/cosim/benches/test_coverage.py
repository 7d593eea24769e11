from __future__ import annotations

import pytest

from cosim.benches.coverage import Coverage, CoverageError


def test_coverage_is_full_when_every_bin_within_reach_was_hit() -> None:
    coverage = Coverage()
    coverage.group("colour", ["red", "green", "blue"], {"blue": "the paint is out"})
    coverage.hit("colour", "red")
    assert not coverage.full
    assert coverage.groups["colour"].missing == ["green"]
    coverage.hit("colour", "green")
    coverage.hit("colour", "green")
    assert coverage.full
    assert coverage.as_dict() == {
        "colour": {"hits": {"red": 1, "green": 2}, "unreachable": {"blue": "the paint is out"}}
    }


def test_group_declared_later_must_be_covered_too() -> None:
    coverage = Coverage()
    coverage.group("first", ["a"])
    coverage.hit("first", "a")
    coverage.group("second", ["b"])
    assert not coverage.full


def test_hit_of_a_bin_said_to_be_out_of_reach_is_an_error_with_the_reason() -> None:
    coverage = Coverage()
    coverage.group("colour", ["red"], {"blue": "the paint is out"})
    message = r"^colour: blue has happened, but it was said to be out of reach: the paint is out$"
    with pytest.raises(CoverageError, match=message):
        coverage.hit("colour", "blue")


def test_hit_of_an_undeclared_bin_is_an_error() -> None:
    coverage = Coverage()
    coverage.group("colour", ["red"])
    with pytest.raises(CoverageError, match=r"^colour: black has happened, but no such bin was declared$"):
        coverage.hit("colour", "black")


@pytest.mark.parametrize("bins", [[], ["a"]])
def test_group_without_reachable_bins_is_refused(bins: list[str]) -> None:
    with pytest.raises(ValueError, match="must be new and must have bins"):
        Coverage().group("empty", bins, dict.fromkeys(bins, "never"))
