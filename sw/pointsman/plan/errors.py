"""The error of a program that has no plan."""

from __future__ import annotations

from pointsman.errors import PointsmanError


class PlanError(PointsmanError):
    """A program that cannot be planned on this network and shape."""
