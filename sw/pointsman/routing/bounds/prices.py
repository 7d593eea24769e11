"""Bounds from prices of links and nodes: (price of all capacity per slot) / (least price of serving all demands once).

Every set of prices that are not negative gives a valid bound (weak duality of the maximum concurrent flow), so prices may
come from floating point; here they are integers and the bound is an exact fraction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from pointsman.artifacts.routes.routes import RouteProblem

from .capacity import Capacity, demand_of
from .dijkstra import settle

SCALE = 1 << 24
"""Prices are rounded to integers such that the largest price is SCALE."""
UNREACHED = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Prices:
    """Whole-number prices: ``links`` in the order of ``problem.links``, ``nodes`` by number.

    ``shares`` splits the price of a link, plus that of the node that writes it, among the destinations of a multicast stream
    (a row each): each destination pays for its own cheapest path, and all rows together are at most the price.
    """

    links: np.ndarray
    nodes: np.ndarray
    shares: Mapping[int, np.ndarray]


def round_prices(
    problem: RouteProblem, links: np.ndarray, nodes: np.ndarray, shares: Mapping[int, np.ndarray] | None = None
) -> Prices:
    """Prices from floating point: rounded, negative ones dropped, and raised where shares would exceed them."""
    most = max(float(links.max(initial=0.0)), float(nodes.max(initial=0.0)), 1e-300)
    factor = SCALE / most
    whole_links = np.maximum(np.rint(links * factor), 0).astype(np.int64)
    whole_nodes = np.maximum(np.rint(nodes * factor), 0).astype(np.int64)
    split = {stream: np.maximum(np.rint(rows * factor), 0).astype(np.int64) for stream, rows in (shares or {}).items()}
    tails = np.array(problem.links, np.int64).reshape(-1, 2)[:, 0]
    for rows in split.values():
        whole_links = np.maximum(whole_links, rows.sum(axis=0) - whole_nodes[tails])
    return Prices(whole_links, whole_nodes, split)


def throughput_bound(problem: RouteProblem, capacity: Capacity, prices: Prices) -> Fraction | None:
    """Greatest number of times per slot that all demands can be served; None if demands cost nothing at these prices."""
    graph = PricedGraph(problem)
    income = Fraction(int(prices.links.sum()))
    node_prices = prices.nodes if capacity.node is not None else np.zeros(problem.nodes, np.int64)
    if capacity.node is not None:
        income += capacity.node * int(node_prices.sum())
    full = prices.links + node_prices[graph.tails]
    counts = np.array([len(stream.destinations) for stream in problem.streams], np.int64)
    first = np.cumsum(counts) - counts
    ends = np.array([node for stream in problem.streams for node in stream.destinations], np.int64)
    sources = np.repeat([stream.source for stream in problem.streams], counts)
    ways = np.zeros(len(ends), np.int64)
    for source in np.unique(sources):
        here = sources == source
        ways[here] = graph.cheapest(int(source), full)[ends[here]]
    costs = np.maximum.reduceat(ways, first)
    for index, shares in prices.shares.items():
        stream = problem.streams[index]
        if len(stream.destinations) > 1:
            split = sum(
                int(graph.cheapest(stream.source, share)[node])
                for share, node in zip(shares, stream.destinations, strict=True)
            )
            costs[index] = max(split, int(costs[index]))
    costs += np.add.reduceat(node_prices[ends], first)
    demands = demand_of(problem, capacity)
    parts = lcm(*{demand.denominator for demand in demands})
    # Whole numbers of any size: prices and demands may come to more than 64 bits together.
    paid = sum(int(demand * parts) * cost for demand, cost in zip(demands, costs.tolist(), strict=True))
    return income * parts / paid if paid else None


class PricedGraph:
    """The network's links sorted by the node that they leave."""

    def __init__(self, problem: RouteProblem) -> None:
        pairs = np.array(problem.links, np.int64).reshape(-1, 2)
        self.tails = pairs[:, 0]
        self.heads = pairs[:, 1]
        self.first = np.searchsorted(self.tails, np.arange(problem.nodes + 1)).astype(np.int64)
        self.in_links = np.argsort(self.heads, kind="stable").astype(np.int64)
        self.in_first = np.searchsorted(self.heads[self.in_links], np.arange(problem.nodes + 1)).astype(np.int64)

    def cheapest(self, source: int, prices: np.ndarray) -> np.ndarray:
        """Price of the cheapest path from ``source`` to every node; -1 where there is none."""
        nodes = self.first.size - 1
        best = np.full(nodes, UNREACHED, np.int64)
        best[source] = 0
        done, sequence = np.zeros(nodes, np.bool_), np.empty(nodes, np.int64)
        settle(source, best, done, sequence, self.first, self.heads, prices.astype(np.int64))
        best[best == UNREACHED] = -1
        return best
