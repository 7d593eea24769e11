"""The error that routers raise when streams cannot be served."""

from __future__ import annotations

from pointsman.errors import PointsmanError


class RoutingError(PointsmanError):
    """Streams that cannot be routed; the message names them and the resource that they lack."""
