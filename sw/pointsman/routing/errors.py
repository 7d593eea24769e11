"""What a router raises when streams cannot be served."""

from __future__ import annotations

from pointsman.errors import PointsmanError


class RoutingError(PointsmanError):
    """Streams that cannot be routed: which ones, and what they lack."""
