"""Prices of links and nodes by multiplicative weights: for networks that are too large for the linear program.

In each round every demand takes its cheapest way, and what is loaded most becomes dearer (Garg and Könemann 1998 in spirit;
here with steps that shrink with the root of the round). Every set of prices met on the way gives a valid bound. Which is the
best is told by floating point while the demands take their ways; only that one is made exact.
"""

from __future__ import annotations

import numpy as np

from pointsman.artifacts.routes.routes import RouteProblem
from pointsman.kernels import kernel

from .capacity import Capacity, demand_of
from .dijkstra import settle
from .prices import PricedGraph, Prices, round_prices

ROUNDS = 300
LEAST_ROUNDS = 60
KEEP = 0.97
"""How much of the mean of former prices stays from round to round."""
SMALL = 2_000_000
"""Sources times links up to which the bound is computed in every round."""


def usual_rounds(problem: RouteProblem) -> int:
    """Rounds that improve the bound noticeably: fewer in large networks."""
    effort = len({stream.source for stream in problem.streams}) * len(problem.links)
    return int(np.clip(100_000_000 // max(1, effort), LEAST_ROUNDS, ROUNDS))


def link_prices(problem: RouteProblem, capacity: Capacity, *, rounds: int | None = None) -> Prices:
    """Prices that bound the throughput as well as ``rounds`` rounds allow (None: `usual_rounds`)."""
    graph = PricedGraph(problem)
    demands = np.array([float(demand) for demand in demand_of(problem, capacity)])
    node_capacity = 0.0 if capacity.node is None else max(float(capacity.node), 1e-9)
    source_of = np.array([stream.source for stream in problem.streams], np.int64)
    end_first = np.cumsum([0] + [len(stream.destinations) for stream in problem.streams])
    ends = np.array([node for stream in problem.streams for node in stream.destinations], np.int64)
    order = np.argsort(source_of, kind="stable")
    effort = len(np.unique(source_of)) * len(problem.links)
    if rounds is None:
        rounds = usual_rounds(problem)
    log_links, log_nodes = np.zeros(len(problem.links)), np.zeros(problem.nodes)
    mean_links, mean_nodes = np.zeros_like(log_links), np.zeros_like(log_nodes)
    best = mean_links, mean_nodes
    best_bound = np.inf

    def loads(links: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What links and nodes carry at these prices, which are kept if no others bound as well."""
        nonlocal best, best_bound
        load, node_load, paid = _loads(
            source_of,
            order,
            end_first,
            ends,
            demands,
            graph.first,
            graph.heads,
            graph.tails,
            graph.in_first,
            graph.in_links,
            links,
            nodes,
        )
        bound = (links.sum() + node_capacity * nodes.sum()) / max(paid, 1e-300)
        if bound < best_bound:
            best, best_bound = (links, nodes), bound
        return load, node_load

    for turn in range(rounds):
        top = log_links.max(initial=-np.inf)
        if node_capacity:
            top = max(top, log_nodes.max())
        links = np.exp(log_links - top)
        nodes = np.exp(log_nodes - top) if node_capacity else np.zeros(problem.nodes)
        income = links.sum() + node_capacity * nodes.sum()
        links, nodes = links / income, nodes / income
        mean_links = KEEP * mean_links + links
        mean_nodes = KEEP * mean_nodes + nodes
        if turn % (1 if effort < SMALL else 8) == 0 or turn == rounds - 1:
            loads(mean_links, mean_nodes)
        load, node_load = loads(links, nodes)
        node_part = node_load / node_capacity if node_capacity else np.zeros_like(node_load)
        most = max(load.max(initial=0.0), node_part.max(initial=0.0), 1e-12)
        step = 2.0 / np.sqrt(turn + 1.0)
        log_links += step * load / most
        log_nodes += step * node_part / most
    return round_prices(problem, *best)


@kernel
def _loads(
    source_of: np.ndarray,
    order: np.ndarray,
    end_first: np.ndarray,
    ends: np.ndarray,
    demands: np.ndarray,
    first: np.ndarray,
    heads: np.ndarray,
    tails: np.ndarray,
    in_first: np.ndarray,
    in_links: np.ndarray,
    links: np.ndarray,
    nodes: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, float]:
    """What each link and node carries if all demands take their cheapest ways, ties shared evenly on the way back; and what all
    demands pay, at least."""
    count = first.size - 1
    load = np.zeros(heads.size)
    node_load = np.zeros(count)
    price = np.empty(heads.size)
    for link in range(heads.size):
        price[link] = links[link] + nodes[tails[link]] + 1e-12
    best = np.empty(count)
    done = np.empty(count, np.bool_)
    sequence = np.empty(count, np.int64)
    flow = np.empty(count)
    last = -1
    reached = 0
    paid = 0.0
    for index in range(order.size + 1):
        stream = order[index] if index < order.size else -1
        source = source_of[stream] if stream >= 0 else -1
        if source != last and last >= 0:
            # Push what has come together at each node back to the source, farthest node first.
            for at in range(reached - 1, 0, -1):
                node = sequence[at]
                if flow[node] <= 0.0:
                    continue
                ways = 0
                for index_in in range(in_first[node], in_first[node + 1]):
                    link = in_links[index_in]
                    if best[tails[link]] + price[link] <= best[node] * (1 + 1e-9):
                        ways += 1
                for index_in in range(in_first[node], in_first[node + 1]):
                    link = in_links[index_in]
                    tail = tails[link]
                    if best[tail] + price[link] <= best[node] * (1 + 1e-9):
                        load[link] += flow[node] / ways
                        node_load[tail] += flow[node] / ways
                        flow[tail] += flow[node] / ways
        if stream < 0:
            break
        if source != last:
            best[:] = np.inf
            done[:] = False
            flow[:] = 0.0
            best[source] = 0.0
            reached = 0
            reached = settle(source, best, done, sequence, first, heads, price)
            last = source
        farthest = 0.0
        for at in range(end_first[stream], end_first[stream + 1]):
            farthest = max(farthest, best[ends[at]])
            paid += demands[stream] * nodes[ends[at]]
            share = demands[stream] / (end_first[stream + 1] - end_first[stream])
            flow[ends[at]] += share
            node_load[ends[at]] += demands[stream]
        paid += demands[stream] * farthest
    return load, node_load, paid
