"""The routers of whole networks by name, all with the same signature: streams and options to routes, slots and bounds.

To add a router, write ``(RouteProblem, RouteOptions) -> RouteResult`` and name it here: ``pointsman route`` offers it, and the
laws of all routers are tested on it. It raises ``PeriodError`` when the streams do not fit into the length that was asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pointsman.artifacts.routes.routes import RouteProblem, RouteResult

    from .options import RouteOptions


def numesh(problem: RouteProblem, options: RouteOptions) -> RouteResult:
    """Keeps all rules of the NuMesh node (pipelines, VFSMs, registers) and makes the smallest bandwidth / weight large."""
    from .network_router.router import route_streams

    return route_streams(problem, options)


def ideal(problem: RouteProblem, options: RouteOptions) -> RouteResult:
    """Keeps a single rule, a word per link and slot, and makes the period short."""
    from .collectives.streams import route_all_gather
    from .ideal_router.router import route_ideal

    return route_all_gather(problem, options) or route_ideal(problem, options)


ROUTERS: dict[str, Callable[[RouteProblem, RouteOptions], RouteResult]] = {"numesh": numesh, "ideal": ideal}
