"""What a target refuses is an error of the user's program."""

from __future__ import annotations

from pointsman.errors import PointsmanError
from pointsman.targets import numesh, tdm
from pointsman.targets.errors import FitError


def test_all_targets_refuse_with_the_same_error() -> None:
    assert numesh.FitError is tdm.FitError is FitError
    assert issubclass(FitError, PointsmanError)
