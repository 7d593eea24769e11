"""``pointsman.route``: streams to routes and slots, judged; the command ``route`` is this function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pointsman.errors import PointsmanError

from .judged import judge_collective, judge_route
from .options import check_numbers, network_from

if TYPE_CHECKING:
    import networkx

    from pointsman.artifacts.routes.collectives import CollectiveProblem, CollectiveResult
    from pointsman.artifacts.routes.routes import RouteProblem, RouteResult
    from pointsman.network import Topology
    from pointsman.routing.options import RouteOptions


def route(
    streams: Path | str | Mapping[str, Any] | RouteProblem | CollectiveProblem,
    *,
    router: str = "numesh",
    length: int | None = None,
    seed: int = 0,
    effort: float = 1.0,
    time_limit: float | None = None,
    progress: bool = False,
) -> RouteResult | CollectiveResult:
    """Find routes and slots for streams on a network, and have them judged.

    Parameters
    ----------
    streams : path, mapping, RouteProblem or CollectiveProblem
        What is to be carried; a path is that of a JSON file, as in docs/routing.md, a mapping is what such a file has.
    router : str
        "numesh" (all rules of the node) or "ideal" (a word per link and slot, nothing else).
    length, seed, effort, time_limit, progress
        See `pointsman.routing.options.RouteOptions`.

    Returns
    -------
    RouteResult or CollectiveResult
        The latter for a collective and the router "ideal".

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
    from pointsman.artifacts.routes.collectives import COMBINING, CollectiveProblem
    from pointsman.artifacts.routes.file import check_streams, read_wanted
    from pointsman.artifacts.routes.routes import RouteProblem
    from pointsman.routing.options import RouteOptions
    from pointsman.routing.routers import ROUTERS

    if router not in ROUTERS:
        raise PointsmanError(f"the router must be one of {', '.join(ROUTERS)}, not {router!r}")
    check_numbers(whole={"length": length, "seed": seed}, real={"effort": effort, "time_limit": time_limit})
    if time_limit is not None and not 0 < time_limit < 1e9:
        raise PointsmanError(f"a time limit must be positive, not {time_limit:g} seconds")
    if isinstance(streams, Mapping):
        problem = read_wanted(streams)
    else:
        problem = read_wanted(Path(streams)) if isinstance(streams, str | Path) else streams
    if isinstance(problem, RouteProblem):
        check_streams(problem)
    elif not isinstance(problem, CollectiveProblem):
        raise PointsmanError(
            "streams must be the path of a file, its values in a mapping, a RouteProblem or a CollectiveProblem, "
            f"not {type(problem).__name__}"
        )
    options = RouteOptions(length=length, seed=seed, effort=effort, time_limit=time_limit, progress=progress)
    if isinstance(problem, CollectiveProblem):
        if router == "ideal":
            return _collective(problem, options)
        if problem.kind in COMBINING:
            raise PointsmanError(
                f"the router numesh carries words, and {problem.kind} combines them",
                hint="--router ideal, or an operator of a COP program",
            )
        problem = replace(problem.net, streams=problem.streams())
    result = ROUTERS[router](problem, options)
    judge_route(problem, result)
    return result


def collective(
    kind: str,
    topology: Topology | networkx.Graph | str,
    *,
    words: int = 1,
    root: int = 0,
    ordered: bool = False,
    length: int | None = None,
    seed: int = 0,
    effort: float = 1.0,
) -> CollectiveResult:
    """Schedule a collective on all working nodes of a network in the ideal model, and have it judged.

    Parameters
    ----------
    kind : str
        "broadcast", "all-gather", "gather", "scatter", "reduce", "reduce-scatter", "all-reduce", "all-to-all", "halo", "shift" or
        "reversal".
    topology : Topology, networkx.Graph or str
        The network, perhaps with faults; text as in `pointsman.run`.
    words, root, ordered
        See `pointsman.artifacts.routes.collectives.CollectiveProblem`.
    length, seed, effort
        See `pointsman.routing.options.RouteOptions`.

    Raises
    ------
    PointsmanError
        If an argument is wrong, or there is no schedule of this ``length``.

    >>> from pointsman.api.routing import collective
    >>> from pointsman.network import mesh
    >>> collective("all-gather", mesh(4, 4)).period
    15
    """
    from pointsman.artifacts.routes.file import make_collective, make_problem
    from pointsman.routing.options import RouteOptions

    topology = network_from(topology)
    net = make_problem(topology, [], dead_nodes=sorted(topology.dead))
    wanted = make_collective(net, kind, words=words, root=root, ordered=ordered)
    return _collective(wanted, RouteOptions(length=length, seed=seed, effort=effort))


def _collective(problem: CollectiveProblem, options: RouteOptions) -> CollectiveResult:
    from pointsman.routing.collectives.router import route_collective

    result = route_collective(problem, options)
    judge_collective(result)
    return result
