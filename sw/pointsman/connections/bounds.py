"""Lower bounds of the multiplexing degree.

With fixed paths: the load of the busiest link or port. With free paths: ports, all links together, and cuts
(``routing.bounds``), which hold for any paths. No bound depends on how a scheduler works.
"""

from __future__ import annotations

from math import ceil

from pointsman.artifacts.configurations.configurations import ConfigurationBound, ConnectionProblem
from pointsman.artifacts.routes.file import make_problem
from pointsman.artifacts.routes.routes import RouteStream
from pointsman.routing.bounds.counting import limits
from pointsman.routing.bounds.ideal import IDEAL

from .conflicts import Conflicts, load_bound


def bounds_of(conflicts: Conflicts) -> tuple[ConfigurationBound, ...]:
    """Bounds of a problem, tightest first."""
    problem = conflicts.problem
    if problem.routing == "free" and problem.network.kind != "crossbar" and problem.connections:
        return tuple(sorted(_counted(problem), key=lambda bound: -bound.value))
    return (load_bound(conflicts),)


def _counted(problem: ConnectionProblem) -> list[ConfigurationBound]:
    streams = [RouteStream(source, (destination,)) for source, destination in problem.connections]
    found = []
    for limit in limits(make_problem(problem.network.topology, streams), IDEAL):
        assert limit.throughput is not None
        found.append(ConfigurationBound(ceil(1 / limit.throughput), limit.kind, limit.text))
    return found
