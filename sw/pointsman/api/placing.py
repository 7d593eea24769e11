"""``pointsman.api.place``: tasks to nodes, their flows to streams, routed and judged; the command ``place`` is this."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .judged import judge_route
from .options import network_from

if TYPE_CHECKING:
    import networkx

    from pointsman.artifacts.routes.routes import RouteResult
    from pointsman.network import Topology
    from pointsman.routing.placement.report import FlowReport


@dataclass(frozen=True)
class Placed:
    """Tasks on nodes, the streams between them, and what each flow gets.

    ``streams`` is the input of ``pointsman route``, with ``places``; ``result`` the routed streams. ``index[k]`` is the
    stream of flow k; None if it is of best effort, or given up, and gets nothing. ``most_limits``: limits
    of latency that any placement holds at most. ``accesses``: by task, words a cycle that its flows demand at its node's port,
    sent and taken; a processor makes one access a cycle, and routers have room for more.
    """

    places: dict[str, int]
    streams: dict[str, Any] = field(repr=False)
    result: RouteResult
    flows: tuple[FlowReport, ...] = field(repr=False)
    method: str
    index: tuple[int | None, ...] = field(repr=False)
    most_limits: int
    accesses: dict[str, float] = field(repr=False)

    @property
    def limits(self) -> int:
        """Flows with a limit of latency."""
        return sum(flow.limit is not None for flow in self.flows)

    @property
    def limits_held(self) -> int:
        """Flows that keep their limit of latency."""
        return sum(flow.slack is not None and flow.slack >= 0 for flow in self.flows)

    @property
    def least_slack(self) -> float | None:
        """The least slack of all flows with a limit of latency; None if there is none."""
        return min((flow.slack for flow in self.flows if flow.slack is not None), default=None)

    @property
    def busiest_link(self) -> float:
        """Words a slot on the link that carries most."""
        loads: dict[tuple[int, int], int] = {}
        for stream in self.result.streams:
            for word in stream.words:
                for before, _, after, _, _ in word:
                    if before is not None and after is not None and before != after:
                        loads[before, after] = loads.get((before, after), 0) + 1
        return max(loads.values(), default=0) / self.result.period

    def as_dict(self) -> dict[str, Any]:
        """The file that ``pointsman place --json`` writes."""
        return {
            "places": self.places,
            "method": self.method,
            "router": self.result.router,
            "period": self.result.period,
            "holds": all(flow.holds for flow in self.flows),
            "failing": sum(not flow.holds for flow in self.flows),
            "least_slack": self.least_slack,
            "limits": {"given": self.limits, "held": self.limits_held, "at_most": self.most_limits},
            "busiest_link": self.busiest_link,
            "busiest_port": max(self.accesses.values(), default=0.0),
            "flows": [
                {
                    "name": flow.name,
                    "demanded": flow.demanded,
                    "given": flow.given,
                    "worst_latency": flow.worst_latency,
                    "limit": flow.limit,
                    "slack": flow.slack,
                    "holds": flow.holds,
                    "stream": stream,
                }
                for flow, stream in zip(self.flows, self.index, strict=True)
            ],
            "streams": [
                {
                    "source": stream["source"],
                    "destinations": stream["destinations"],
                    "bandwidth": routed.bandwidth,
                    "words": routed.words,
                }
                for stream, routed in zip(self.streams["streams"], self.result.streams, strict=True)
            ],
            "seconds": self.result.seconds,
        }


def place(
    flows: Path | str,
    topology: Topology | networkx.Graph | str,
    *,
    router: str = "numesh",
    seed: int = 0,
    effort: float = 1.0,
) -> Placed:
    """Place the tasks of a file of flows on the nodes of a network, route the flows and have the routes judged.

    Parameters
    ----------
    flows : path
        A TOML or JSON file, as in docs/placement.md.
    topology : Topology, networkx.Graph or str
        The network, perhaps with faults; text as in `pointsman.run`.
    router, seed, effort
        As in `route`; the effort is also that of the placement.

    Raises
    ------
    PointsmanError
        If the file or an argument is wrong, or there are more tasks than nodes.
    """
    from pointsman.artifacts.flows.file import read_flows
    from pointsman.artifacts.routes.file import make_problem
    from pointsman.errors import PointsmanError
    from pointsman.routing.options import RouteOptions
    from pointsman.routing.placement.at_most import most_limits, room_of, slots_beyond
    from pointsman.routing.placement.improve import place_and_route
    from pointsman.routing.routers import ROUTERS

    if router not in ROUTERS:
        raise PointsmanError(f"the router must be one of {', '.join(ROUTERS)}, not {router!r}")
    read = read_flows(Path(flows))
    topology = network_from(topology)
    net = make_problem(topology, [], dead_nodes=sorted(topology.dead))
    try:
        at, routes, method = place_and_route(read, net, ROUTERS[router], RouteOptions(seed=seed, effort=effort))
    except PointsmanError as error:
        raise PointsmanError(f"{flows}: {error.message}", hint=error.hint) from None
    judge_route(routes.problem, routes.result)
    places = {task.name: node for task, node in zip(read.tasks, at, strict=True)}
    streams = _file(topology, list(routes.problem.streams), places)
    how = ROUTERS[router]
    most = most_limits(read, net, slots_beyond(how), room_of(net, how).words)
    accesses = dict.fromkeys(places, 0.0)
    for flow in read.flows:
        for task in (flow.source, *flow.destinations):
            accesses[read.tasks[task].name] += flow.bandwidth
    return Placed(places, streams, routes.result, routes.reports, method, routes.index, most, accesses)


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
