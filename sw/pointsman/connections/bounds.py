"""Lower bounds of the multiplexing degree.

With fixed ways: the busiest link or port. With free ways: ports, links together, and cuts (``streams.bounding``), which hold for
any ways. Nothing here depends on how a scheduler works.
"""

from __future__ import annotations

from math import ceil

from pointsman.streams.bounding.ideal import IDEAL
from pointsman.streams.bounding.simple import limits
from pointsman.streams.route_file import make_problem
from pointsman.streams.route_types import RouteStream

from .conflicts import Conflicts, load_bound
from .types import Bound, ConnectionProblem


def bounds_of(conflicts: Conflicts) -> tuple[Bound, ...]:
    """Bounds of a problem, tightest first."""
    problem = conflicts.problem
    if problem.routing == "free" and problem.network.kind != "crossbar" and problem.connections:
        return tuple(sorted(_counted(problem), key=lambda bound: -bound.value))
    return (load_bound(conflicts),)


def _counted(problem: ConnectionProblem) -> list[Bound]:
    streams = [RouteStream(source, (destination,)) for source, destination in problem.connections]
    found = []
    for limit in limits(make_problem(problem.network.topology, streams), IDEAL):
        assert limit.throughput is not None
        found.append(Bound(ceil(1 / limit.throughput), limit.kind, limit.text))
    return found
