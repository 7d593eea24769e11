"""``pointsman.api.place``: tasks to nodes, their flows to streams, routed and judged; the command ``place`` is this."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, gcd
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .routing import route

if TYPE_CHECKING:
    from pointsman.artifacts.routes.routes import RouteResult
    from pointsman.network import Topology
    from pointsman.routing.placement.report import FlowReport

WORDS = 64
"""Words of a flow of bandwidth 1 in the ideal model, before common factors are taken out."""


@dataclass(frozen=True)
class Placed:
    """Tasks on nodes, the streams between them, and what each flow gets.

    ``streams`` is the input of ``pointsman route``, with ``places``; ``result`` the routed streams.
    """

    places: dict[str, int]
    streams: dict[str, Any]
    result: RouteResult
    flows: tuple[FlowReport, ...]
    method: str

    def as_dict(self) -> dict[str, Any]:
        """The file that ``pointsman place --json`` writes."""
        return {
            "places": self.places,
            "method": self.method,
            "router": self.result.router,
            "period": self.result.period,
            "holds": all(flow.holds for flow in self.flows),
            "failing": sum(not flow.holds for flow in self.flows),
            "flows": [
                {
                    "name": flow.name,
                    "demanded": flow.demanded,
                    "given": flow.given,
                    "worst_latency": flow.worst_latency,
                    "limit": flow.limit,
                    "slack": flow.slack,
                    "holds": flow.holds,
                }
                for flow in self.flows
            ],
            "seconds": self.result.seconds,
        }


def place(
    flows: Path | str, topology: Topology, *, router: str = "numesh", seed: int = 0, effort: float = 1.0
) -> Placed:
    """Place the tasks of a file of flows on the nodes of a network, route the flows and have the routes judged.

    Parameters
    ----------
    flows : path
        A TOML or JSON file, as in docs/placement.md.
    topology : Topology
        The network, perhaps with faults.
    router, seed, effort
        As in `route`; the effort is also that of the placement.

    Raises
    ------
    PointsmanError
        If the file or an argument is wrong, or there are more tasks than nodes.
    """
    from pointsman.artifacts.flows.file import read_flows
    from pointsman.artifacts.routes.file import make_problem
    from pointsman.artifacts.routes.routes import RouteResult, RouteStream
    from pointsman.errors import PointsmanError
    from pointsman.routing.placement.report import flow_reports
    from pointsman.routing.placement.search import place_tasks

    read = read_flows(Path(flows))
    net = make_problem(topology, [], dead_nodes=sorted(topology.dead))
    try:
        at, method = place_tasks(read, net, seed=seed, effort=effort)
    except PointsmanError as error:
        raise PointsmanError(f"{flows}: {error.message}", hint=error.hint) from None
    words = [max(1, ceil(WORDS * flow.bandwidth)) for flow in read.flows]
    factor = gcd(*words) if words else 1
    streams = [
        RouteStream(at[flow.source], tuple(at[task] for task in flow.destinations), flow.bandwidth, count // factor)
        for flow, count in zip(read.flows, words, strict=True)
    ]
    problem = make_problem(topology, streams, dead_nodes=sorted(topology.dead))
    result = route(problem, router=router, seed=seed, effort=effort)
    assert isinstance(result, RouteResult)
    places = {task.name: node for task, node in zip(read.tasks, at, strict=True)}
    return Placed(places, _file(topology, streams, places), result, tuple(flow_reports(read, result)), method)


def _file(topology: Topology, streams: list[Any], places: dict[str, int]) -> dict[str, Any]:
    """The input of ``pointsman route``."""
    if topology.regular:
        network: dict[str, Any] = {"kind": topology.kind, "size": list(topology.size)}
    else:
        both = sorted({pair for link in topology.links for pair in ((link.node, link.other), (link.other, link.node))})
        network = {"kind": "graph", "nodes": topology.nodes, "links": both}
    return {
        "topology": network,
        "faults": {"nodes": sorted(topology.dead)},
        "places": places,
        "streams": [
            {
                "source": stream.source,
                "destinations": list(stream.destinations),
                "weight": stream.weight,
                "words": stream.words,
            }
            for stream in streams
        ],
    }
