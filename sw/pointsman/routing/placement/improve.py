"""Tasks placed and their flows routed: the placement is chosen by what the router makes of it, not by its estimate alone."""

from __future__ import annotations

from itertools import product

from pointsman.artifacts.flows.flows import FlowSet
from pointsman.artifacts.routes.routes import RouteProblem
from pointsman.routing.errors import RoutingError
from pointsman.routing.options import RouteOptions

from .at_most import most_flows, most_limits, room_of, slots_beyond
from .cost import PlacementCost, sooner
from .limits import ROUNDS, FlowRoutes, Router, route_flows
from .search import place_tasks

FLOWS = 4000
"""Flows that are routed at most, over all placements and rounds (all of them twice, in any case)."""
SWAPS = 6
"""Placements that are routed, beside those of the search, while flows fail: two tasks exchanged, or one moved."""


def place_and_route(
    flows: FlowSet, net: RouteProblem, router: Router, options: RouteOptions
) -> tuple[tuple[int, ...], FlowRoutes, str]:
    """The node of each task, the routes of the flows, and how the placement was found. Placements are routed, the cheapest first,
    until one holds as many flows as any can; then exchanges of tasks of flows that fail are, and of all the best is taken. Where
    flows lack bandwidth, some are given up for the others.

    Raises
    ------
    PointsmanError
        If there are more tasks than nodes, or the router finds no schedule for any placement.
    """
    routings = max(1, int(FLOWS * options.effort) // max(1, len(flows.flows)))
    beyond, room = slots_beyond(router), room_of(net, router)
    counted = sooner(flows, beyond)
    places = place_tasks(counted, net, seed=options.seed, effort=options.effort)
    fewest = max(
        sum(flow.latency is not None for flow in flows.flows) - most_limits(flows, net, beyond, room.words),
        sum(flow.bandwidth > 0 for flow in flows.flows) - most_flows(flows, room),
    )
    best: tuple[tuple[int, float], tuple[int, ...], FlowRoutes] | None = None
    seen: set[tuple[int, ...]] = set()
    failure: RoutingError | None = None

    def attempt(at: tuple[int, ...]) -> bool:
        """Route ``at``; True once no more flows fail than in any placement."""
        nonlocal best, failure, routings
        seen.add(at)
        try:
            routes = route_flows(flows, net, at, router, options, min(ROUNDS, max(2, routings)))
        except RoutingError as error:
            failure = failure or error
            routings -= 1
            return False
        routings -= routes.rounds
        if best is None or routes.missing < best[0]:
            best = routes.missing, at, routes
        return routes.missing[0] <= fewest

    def lacking_at_the_node(routes: FlowRoutes) -> bool:
        """Do flows lack bandwidth at the node's ports? Exchanges of tasks do not help these, and take long."""
        return beyond > 0 and any(flow.given < flow.demanded for flow in routes.reports)

    swaps = 0
    if not any(attempt(at) for at in places.choices if routings > 0 or best is None) and best is not None:
        while not lacking_at_the_node(best[2]) and swaps < int(SWAPS * options.effort) and routings > 0:
            at = _neighbour(counted, net, best[1], best[2], seen)
            if at is None:
                break
            swaps += 1
            if attempt(at):
                break
    if best is None:
        assert failure is not None
        raise failure
    method = places.method if best[1] == places.choices[0] else f"{places.method}, then by what the router made of them"
    return best[1], best[2], method


def _neighbour(
    flows: FlowSet, net: RouteProblem, at: tuple[int, ...], routes: FlowRoutes, seen: set[tuple[int, ...]]
) -> tuple[int, ...] | None:
    """The placement of least estimated cost that moves a task of a flow that fails, or exchanges it with another."""
    failing = [flow for flow, report in zip(flows.flows, routes.reports, strict=True) if not report.holds]
    tasks = {task for flow in failing for task in (flow.source, *flow.destinations) if flows.tasks[task].at is None}
    there = {node: task for task, node in enumerate(at)}
    cost = PlacementCost(flows, net)
    cost.place_all(list(at))
    found: tuple[float, tuple[int, ...]] | None = None
    for task, node in product(sorted(tasks), range(net.nodes)):
        other = there.get(node, -1)
        if node in net.dead_nodes or other == task or (other >= 0 and flows.tasks[other].at is not None):
            continue
        moved = (task,) if other < 0 else (task, other)
        trial = list(at)
        trial[task] = node
        if other >= 0:
            trial[other] = at[task]
        if tuple(trial) in seen:
            continue
        price = cost.move(moved, trial)
        if found is None or price < found[0]:
            found = price, tuple(trial)
        cost.undo()
    return None if found is None else found[1]
