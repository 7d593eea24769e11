"""Errors for programs that cannot be planned."""

from __future__ import annotations

from pointsman.errors import PointsmanError


class PlanError(PointsmanError):
    """A program that cannot be planned on this network and shape."""


class MembershipError(PlanError):
    """A division in which ``node`` could not tell when to go through ``phase``: other routes, or another division, may do.

    Parameters
    ----------
    phase : int
        Index of the phase in the division.
    node : int
    """

    def __init__(self, message: str, *, hint: str | None = None, phase: int, node: int) -> None:
        super().__init__(message, hint=hint)
        self.phase = phase
        self.node = node
