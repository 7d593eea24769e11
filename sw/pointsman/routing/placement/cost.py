"""What a placement costs: latency limits that cannot be kept, overloaded ports and links, and words times links.

Flows take fixed shortest ways, spread by their ends; so the cost of a move is that of the flows that move. The router, which
is free in its ways, has
the last word.
"""

from __future__ import annotations

import numpy as np

from pointsman.artifacts.flows.flows import FlowSet
from pointsman.artifacts.routes.routes import RouteProblem

LATE = 1000.0
"""Price of a link too many on the way of a flow with a limit of latency."""
FULL = 100.0
"""Price of the square of a link's load above 1 word a slot; below, the square itself is small beside words times links."""


class PlacementCost:
    """Costs of placements of a set of flows on a network; keeps the loads of the placement that it is at."""

    def __init__(self, flows: FlowSet, net: RouteProblem) -> None:
        self.flows = flows.flows
        self.net = net
        self.links = {link: at for at, link in enumerate(net.links)}
        self.of_task: list[list[int]] = [[] for _ in flows.tasks]
        for index, flow in enumerate(self.flows):
            for task in {flow.source, *flow.destinations}:
                self.of_task[task].append(index)
        self._trees: dict[int, list[int]] = {}
        self._hops: dict[int, list[int]] = {}
        self.load = np.zeros(len(self.links))
        self.placed: dict[int, tuple[float, list[int]]] = {}
        self.fixed = 0.0

    def place_all(self, at: list[int]) -> float:
        """Cost of the placement ``at`` (node of each task), which is kept as the present one."""
        self.load[:] = 0.0
        self.placed = {}
        self.fixed = 0.0
        self._put(range(len(self.flows)), at)
        return self.cost

    @property
    def cost(self) -> float:
        over = np.maximum(self.load - 1.0, 0.0)
        return self.fixed + float((self.load**2).sum()) + FULL * float(over.sum())

    def move(self, tasks: tuple[int, ...], at: list[int]) -> float:
        """Cost once ``tasks`` are where ``at`` says; the others are where they were."""
        touched = sorted({flow for task in tasks for flow in self.of_task[task]})
        for index in touched:
            price, links = self.placed.pop(index)
            self.fixed -= price
            self.load[links] -= self.flows[index].bandwidth
        self._put(touched, at)
        return self.cost

    def _put(self, indices: range | list[int], at: list[int]) -> None:
        for index in indices:
            flow = self.flows[index]
            source = at[flow.source]
            ends = [at[task] for task in flow.destinations]
            links = self._ways(source, ends)
            far = max(self._hops[source][end] for end in ends)
            # A word that has just missed its slot waits for the next: the gap of a stream, about 1 / bandwidth slots.
            late = 0.0 if flow.latency is None else max(0.0, far + 1 / flow.bandwidth - flow.latency)
            price = flow.bandwidth * len(links) + LATE * late
            self.placed[index] = price, links
            self.fixed += price
            self.load[links] += flow.bandwidth

    def _ways(self, source: int, ends: list[int]) -> list[int]:
        """Links of a tree of shortest ways, each once."""
        if source not in self._trees:
            self._hops[source] = self.net.distances(source)
            self._trees[source] = self._tree(source)
        before = self._trees[source]
        used: set[int] = set()
        for end in ends:
            node = end
            while node != source:
                link = self.links[before[node], node]
                if link in used:
                    break
                used.add(link)
                node = before[node]
        return sorted(used)

    def _tree(self, source: int) -> list[int]:
        """For each node the one before it on a shortest way from ``source``; of several another one for each pair of ends."""
        hops = self._hops[source]
        choices: list[list[int]] = [[] for _ in range(self.net.nodes)]
        for u, v in self.net.links:
            if hops[u] >= 0 and hops[v] == hops[u] + 1:
                choices[v].append(u)
        return [found[(source + node) % len(found)] if found else -1 for node, found in enumerate(choices)]
