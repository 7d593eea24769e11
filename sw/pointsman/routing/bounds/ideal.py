"""Least periods that streams need in the ideal model, tightest first, each with its reason."""

from __future__ import annotations

from pointsman.artifacts.routes.routes import Bound, RouteProblem

from .capacity import Capacity
from .counting import Limit, least_period, limits, possible_period
from .linear_program import MAX_COLUMNS, max_concurrent_flow
from .prices import throughput_bound
from .subgradient import link_prices

MAX_LINEAR_NODES = 256
IDEAL = Capacity(None)


def counted_bounds(problem: RouteProblem) -> list[Bound]:
    """Bounds by ports, all links together, cuts, and counting modulo the period; tightest first."""
    found = [_bound(limit) for limit in limits(problem, IDEAL)]
    found.sort(key=lambda bound: -bound.value)
    if not found:
        return []
    period = int(found[0].value)
    first = period
    while not possible_period(problem, period):
        period += 1
    if period > first:
        text = f"with {first} slots all ports are always busy, and no number of links crossed fits the slots modulo {first}"
        found.insert(0, Bound(period, "counting", text))
    return found


def flow_bound(problem: RouteProblem) -> Bound | None:
    """The bound of the linear program; for large networks that of link prices found by subgradients."""
    flows = len({stream.source for stream in problem.streams})
    several = sum(len(stream.destinations) for stream in problem.streams if len(stream.destinations) > 1)
    if problem.nodes <= MAX_LINEAR_NODES and (flows + several) * len(problem.links) <= MAX_COLUMNS // 8:
        throughput = max_concurrent_flow(problem).throughput
        return Bound(
            least_period(throughput), "linear program", f"maximum concurrent flow: {float(1 / throughput):.6g} slots"
        )
    prices = link_prices(problem, IDEAL)
    priced = throughput_bound(problem, IDEAL, prices)
    if priced is None:
        return None
    return Bound(least_period(priced), "link and node prices", f"prices of links: {float(1 / priced):.6g} slots")


def _bound(limit: Limit) -> Bound:
    assert limit.throughput is not None
    return Bound(least_period(limit.throughput), limit.kind, limit.text, limit.nodes, limit.links)
