"""Errors by which a target refuses a program."""

from __future__ import annotations

from pointsman.errors import PointsmanError


class FitError(PointsmanError):
    """A program that needs more of the hardware than there is: VFSMs, registers, schedule memory, slots."""
