"""``pointsman.api.guarantee``: flows to a network of its own with guaranteed bandwidth and latency; ``pointsman noc`` is this."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import networkx

    from pointsman.artifacts.flows.flows import FlowSet
    from pointsman.artifacts.routes.routes import RouteProblem
    from pointsman.network import Topology
    from pointsman.noc.search import GuaranteedNetwork

WIDTHS = (32, 64)
"""Bits of a word that AXI4-Streams here can have."""


def guarantee(
    flows: Path | str,
    topology: Topology | networkx.Graph | str,
    *,
    width: int = 32,
    pipelines: int = 2,
    seed: int = 0,
    effort: float = 1.0,
) -> GuaranteedNetwork:
    """Place the tasks of a file of flows and find a timetable that keeps every demand; the judge sees the routers' images.

    Parameters
    ----------
    flows : path
        A TOML or JSON file, as in docs/placement.md.
    topology : Topology, networkx.Graph or str
        The network, perhaps with faults; text as in `pointsman.run`.
    width, pipelines : int
        Bits of a word, 32 or 64, and pipelines of a router.
    seed, effort
        Of placement and search. Same seed, same answer.

    Raises
    ------
    PointsmanError
        If the file or an argument is wrong, or a demand cannot be kept, with the reason.
    """
    from pointsman.artifacts.flows.file import read_flows
    from pointsman.artifacts.routes.file import make_problem
    from pointsman.artifacts.routes.routes import shape_for
    from pointsman.errors import PointsmanError
    from pointsman.noc.search import guarantee as found_for

    from .judged import judge_timetable
    from .options import network_from

    if width not in WIDTHS:
        raise PointsmanError(f"words must have 32 or 64 bits, not {width}")
    read = read_flows(Path(flows))
    topology = network_from(topology)
    shape = shape_for(topology, width=width, pipelines=pipelines)
    net = make_problem(topology, [], dead_nodes=sorted(topology.dead), shape=shape)
    try:
        network = found_for(read, net, _placements(read, net, seed, effort), seed=seed, effort=effort)
    except PointsmanError as error:
        raise PointsmanError(f"{flows}: {error.message}", hint=error.hint) from None
    judge_timetable(network.images)
    return network


def _placements(flows: FlowSet, net: RouteProblem, seed: int, effort: float) -> Iterator[tuple[int, ...]]:
    """Placements by their estimated cost; then, if none of these will do, the one that `place` chooses for what becomes of the
    flows and their limits when they are routed."""
    from pointsman.routing.errors import RoutingError
    from pointsman.routing.options import RouteOptions
    from pointsman.routing.placement.improve import place_and_route
    from pointsman.routing.placement.search import place_tasks
    from pointsman.routing.routers import ROUTERS

    choices = place_tasks(flows, net, seed=seed, effort=effort).choices
    yield from choices
    try:
        at, _, _ = place_and_route(flows, net, ROUTERS["numesh"], RouteOptions(seed=seed, effort=effort))
    except RoutingError:
        return
    if at not in choices:
        yield at
