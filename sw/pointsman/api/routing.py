"""``pointsman.route``: streams to routes and slots, judged; the command ``route`` is this function."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pointsman.errors import PointsmanError

from .judged import judge_route

if TYPE_CHECKING:
    from pointsman.artifacts.routes.routes import RouteProblem, RouteResult


def route(
    streams: Path | str | RouteProblem,
    *,
    router: str = "numesh",
    length: int | None = None,
    seed: int = 0,
    effort: float = 1.0,
    time_limit: float | None = None,
    progress: bool = False,
) -> RouteResult:
    """Find routes and slots for streams on a network, and have them judged.

    Parameters
    ----------
    streams : path or RouteProblem
        What is to be carried; a path is that of a JSON file, as in docs/routing.md.
    router : str
        "numesh" (all rules of the node) or "ideal" (a word per link and slot, nothing else).
    length, seed, effort, time_limit, progress
        See `pointsman.routing.options.RouteOptions`.

    Raises
    ------
    PointsmanError
        If the file or an argument is wrong, or (as `pointsman.routing.ideal_router.explain.PeriodError`) if the streams do
        not fit into ``length`` slots.

    >>> import pointsman
    >>> from pointsman.artifacts.routes.routes import RouteProblem, RouteStream
    >>> from pointsman.network import mesh
    >>> pointsman.route(RouteProblem(mesh(3), (RouteStream(0, (2,)),)), router="ideal").period
    1
    """
    from pointsman.artifacts.routes.file import read_problem
    from pointsman.routing.options import RouteOptions
    from pointsman.routing.routers import ROUTERS

    if router not in ROUTERS:
        raise PointsmanError(f"the router must be one of {', '.join(ROUTERS)}, not {router!r}")
    if time_limit is not None and not 0 < time_limit < 1e9:
        raise PointsmanError(f"a time limit must be positive, not {time_limit:g} seconds")
    problem = read_problem(Path(streams)) if isinstance(streams, str | Path) else streams
    options = RouteOptions(length=length, seed=seed, effort=effort, time_limit=time_limit, progress=progress)
    result = ROUTERS[router](problem, options)
    judge_route(problem, result)
    return result
