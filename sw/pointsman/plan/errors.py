"""The error for a program that cannot be planned."""

from __future__ import annotations

from pointsman.errors import PointsmanError


class PlanError(PointsmanError):
    """A program that cannot be planned on this network and shape."""
