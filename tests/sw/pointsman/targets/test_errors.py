"""What a target refuses is an error of the user's program."""

from __future__ import annotations

from pointsman.errors import PointsmanError
from pointsman.targets import numesh
from pointsman.targets.errors import FitError


def test_what_does_not_fit_is_an_error_of_the_users_program() -> None:
    assert numesh.FitError is FitError
    assert issubclass(FitError, PointsmanError)
