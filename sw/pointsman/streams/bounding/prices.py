"""Bounds from prices: if links and nodes had these prices, what could be sold at most, and what do the streams cost at least?

Every set of prices that are not negative gives a valid bound (weak duality of the maximum concurrent flow), so prices may
come from floating point; here they are integers and the bound is an exact fraction.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from pointsman.streams.compiled import kernel

from ..route_types import RouteProblem
from .capacity import Capacity, demand_of

SCALE = 1 << 24
"""Prices are rounded to this many steps of the largest."""


@dataclass(frozen=True)
class Prices:
    """Whole-number prices: ``links`` in the order of ``problem.links``, ``nodes`` by number.

    ``shares`` splits what a multicast stream pays for a link, and for the node that writes it, among its destinations
    (rows, in their order): each destination pays its own cheapest way, and together they pay no more than the price.
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
    """The greatest number of times per slot that all demands can be served; None where these prices say nothing."""
    graph = PricedGraph(problem)
    income = Fraction(int(prices.links.sum()))
    node_prices = prices.nodes if capacity.node is not None else np.zeros(problem.nodes, np.int64)
    if capacity.node is not None:
        income += capacity.node * int(node_prices.sum())
    full = prices.links + node_prices[graph.tails]
    spent = Fraction(0)
    demands = demand_of(problem, capacity)
    from_source: dict[int, np.ndarray] = {}
    for index, stream in enumerate(problem.streams):
        if index in prices.shares and len(stream.destinations) > 1:
            split = sum(
                int(graph.cheapest(stream.source, share)[node])
                for share, node in zip(prices.shares[index], stream.destinations, strict=True)
            )
            whole = graph.cheapest(stream.source, full)
            cost = max(split, *(int(whole[node]) for node in stream.destinations))
        else:
            if stream.source not in from_source:
                from_source[stream.source] = graph.cheapest(stream.source, full)
            ways = from_source[stream.source]
            cost = max(int(ways[node]) for node in stream.destinations)
        cost += sum(int(node_prices[node]) for node in stream.destinations)
        spent += demands[index] * cost
    return income / spent if spent else None


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
        """Price of the cheapest way from ``source`` to every node; -1 where there is none."""
        return _cheapest(source, self.first, self.heads, prices.astype(np.int64))


@kernel
def _cheapest(source: int, first: np.ndarray, heads: np.ndarray, prices: np.ndarray) -> np.ndarray:
    """Dijkstra with a binary heap of (price, node)."""
    nodes = first.size - 1
    best = np.full(nodes, -1, np.int64)
    done = np.zeros(nodes, np.bool_)
    heap_price = np.empty(heads.size + 1, np.int64)
    heap_node = np.empty(heads.size + 1, np.int64)
    heap_price[0] = 0
    heap_node[0] = source
    size = 1
    best[source] = 0
    while size:
        price, node = heap_price[0], heap_node[0]
        size -= 1
        last_price, last_node = heap_price[size], heap_node[size]
        at = 0
        while True:
            child = 2 * at + 1
            if child >= size:
                break
            if child + 1 < size and heap_price[child + 1] < heap_price[child]:
                child += 1
            if heap_price[child] >= last_price:
                break
            heap_price[at] = heap_price[child]
            heap_node[at] = heap_node[child]
            at = child
        heap_price[at] = last_price
        heap_node[at] = last_node
        if done[node]:
            continue
        done[node] = True
        for link in range(first[node], first[node + 1]):
            after = heads[link]
            total = price + prices[link]
            if not done[after] and (best[after] < 0 or total < best[after]):
                best[after] = total
                at = size
                size += 1
                while at and heap_price[(at - 1) // 2] > total:
                    heap_price[at] = heap_price[(at - 1) // 2]
                    heap_node[at] = heap_node[(at - 1) // 2]
                    at = (at - 1) // 2
                heap_price[at] = total
                heap_node[at] = after
    return best
