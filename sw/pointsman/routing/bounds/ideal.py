"""Least periods that streams need in the ideal model, tightest first, each with its reason."""

from __future__ import annotations

from pointsman.artifacts.routes.routes import Bound, RouteProblem

from .capacity import Capacity
from .counting import Limit, least_period, limits, possible_period
from .flooding import FLOODING, gathered_period
from .linear_program import MAX_COLUMNS, max_concurrent_flow
from .parity import parity_period
from .prices import throughput_bound
from .subgradient import LEAST_ROUNDS, link_prices, usual_rounds

MAX_LINEAR_NODES = 256
LINEAR = "linear program"
CELLS_PER_SECOND = 600_000_000
"""Cells that the router visits in a second, about."""
IDEAL = Capacity(None)
PARITY = "ports would be busy in every slot of an even period, and arrivals of a word have a fixed parity at each node"


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
    even = parity_period(problem)
    if even is not None and even > found[0].value:
        found.insert(0, Bound(even, "parity", PARITY))
    flooding = gathered_period(problem)
    if flooding is not None and flooding > found[0].value:
        found.insert(0, Bound(flooding, "flooding", FLOODING))
    return found


def flow_work(problem: RouteProblem) -> int:
    """What :func:`flow_bound` takes, about, in the cells that a router visits in the same time.

    Measured: a flow of unicast streams takes 34 µs; with multicast streams, which have a flow for each destination and rows that
    join these, 11,520 flows take 1.1 s, and the time grows with their number to the power of 2.3.
    """
    flows, several = _flows(problem)
    if not is_linear(problem):
        return LEAST_ROUNDS * _round_work(problem)
    joined = 1.1 * (several * len(problem.links) / 11_520) ** 2.3
    return int(CELLS_PER_SECOND * (3.4e-5 * flows * len(problem.links) + joined))


def _round_work(problem: RouteProblem) -> int:
    """Of a round in which prices are found by subgradients. Measured: 225 sources, 900 links and 5,000 streams take 14 ms, 15,000
    streams 17 ms."""
    sources, _ = _flows(problem)
    return int(CELLS_PER_SECOND * (7e-8 * sources * len(problem.links) + 2e-7 * len(problem.streams)))


def flow_bound(problem: RouteProblem, work: int | None = None, *, times: int = 1) -> Bound | None:
    """The bound of the linear program, for ``times`` as many words; for large networks that of link prices found by
    subgradients, in as many rounds as ``work`` permits (None: the usual ones)."""
    if is_linear(problem):
        throughput = max_concurrent_flow(problem).throughput / times
        return Bound(least_period(throughput), LINEAR, f"maximum concurrent flow: {float(1 / throughput):.6g} slots")
    rounds = usual_rounds(problem)
    if work is not None:
        rounds = min(rounds, max(LEAST_ROUNDS, work // _round_work(problem)))
    prices = link_prices(problem, IDEAL, rounds=rounds)
    priced = throughput_bound(problem, IDEAL, prices)
    if priced is None:
        return None
    priced /= times
    return Bound(least_period(priced), "link and node prices", f"prices of links: {float(1 / priced):.6g} slots")


def _flows(problem: RouteProblem) -> tuple[int, int]:
    """Sources, and destinations of multicast streams: flows of the linear program."""
    several = sum(len(stream.destinations) for stream in problem.streams if len(stream.destinations) > 1)
    return len({stream.source for stream in problem.streams}), several


def is_linear(problem: RouteProblem) -> bool:
    """Is the linear program small enough to be solved?"""
    return problem.nodes <= MAX_LINEAR_NODES and sum(_flows(problem)) * len(problem.links) <= MAX_COLUMNS // 8


def _bound(limit: Limit) -> Bound:
    assert limit.throughput is not None
    return Bound(least_period(limit.throughput), limit.kind, limit.text, limit.nodes, limit.links)
