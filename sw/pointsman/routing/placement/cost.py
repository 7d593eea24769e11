"""What a placement costs: latency limits that cannot be kept, overloaded ports and links, and words times links.

Flows take fixed shortest ways, spread by their ends; so the cost of a move is that of the flows that move. The router, which
is free in its ways, has the last word. A flow with a limit is counted with the bandwidth that its limit asks for there
(`asked`), so that a long way is dear before it is impossible.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np

from pointsman.artifacts.flows.flows import Flow, FlowSet
from pointsman.artifacts.routes.routes import RouteProblem

LATE = 1000.0
"""Price of a link too many on the way of a flow with a limit of latency."""
FULL = 100.0
"""Price of the square of a link's load above 1 word a slot; below, the square itself is small beside words times links."""

NEAR = 1e-6
"""Price of a link for a flow of best effort: so little that it only chooses among placements that are equal for the others."""
WAYS = 1 << 16
"""Pairs of a source and its ends whose ways are kept."""


def asked(flow: Flow, hops: int) -> float:
    """Words a slot that ``flow`` needs if its farthest destination is ``hops`` links away, at most 1: its bandwidth, or more if
    its slots must be closer. A word that has just missed a slot waits for the next, 1 / bandwidth slots with even gaps."""
    if flow.latency is None:
        return flow.bandwidth
    return max(flow.bandwidth, 1.0 / max(1.0, flow.latency - hops))


def late(flow: Flow, hops: int) -> float:
    """Slots above the limit that a word of ``flow`` takes at least, on a way of ``hops`` links."""
    return 0.0 if flow.latency is None else max(0.0, hops + 1.0 - flow.latency)


def sooner(flows: FlowSet, slots: int) -> FlowSet:
    """The flows with limits of latency that are ``slots`` less."""
    if not slots:
        return flows
    return FlowSet(
        flows.tasks,
        tuple(flow if flow.latency is None else replace(flow, latency=flow.latency - slots) for flow in flows.flows),
    )


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
        self._ways = lru_cache(WAYS)(self._found_ways)
        self.load = np.zeros(len(self.links))
        self.placed: dict[int, tuple[float, float, np.ndarray]] = {}
        self.fixed = 0.0
        self._before: list[tuple[int, tuple[float, float, np.ndarray]]] = []
        """Flows of the last move, with what they were placed as before it."""

    def place_all(self, at: list[int]) -> float:
        """Cost of the placement ``at`` (node of each task), which is kept as the present one."""
        self.clear()
        self.put(range(len(self.flows)), at)
        return self.cost

    def clear(self) -> None:
        """No flow is placed."""
        self.load[:] = 0.0
        self.placed = {}
        self.fixed = 0.0

    @property
    def cost(self) -> float:
        over = np.maximum(self.load - 1.0, 0.0)
        return self.fixed + float((self.load**2).sum()) + FULL * float(over.sum())

    def move(self, tasks: tuple[int, ...], at: list[int]) -> float:
        """Cost once ``tasks`` are where ``at`` says; the others are where they were."""
        touched = sorted({flow for task in tasks for flow in self.of_task[task]})
        self._before = [(index, self.placed[index]) for index in touched]
        self.take(touched)
        self.put(touched, at)
        return self.cost

    def undo(self) -> None:
        """Go back to the placement before the last move."""
        self.take([index for index, _ in self._before])
        for index, placed in self._before:
            self._add(index, placed)

    def take(self, indices: list[int]) -> None:
        """Take flows out that were placed."""
        for index in indices:
            price, rate, links = self.placed.pop(index)
            self.fixed -= price
            self.load[links] -= rate

    def put(self, indices: range | list[int], at: list[int]) -> None:
        """Place flows that are not placed; ``at`` has the nodes of their tasks."""
        for index in indices:
            flow = self.flows[index]
            source = at[flow.source]
            links, far = self._ways(source, tuple([at[task] for task in flow.destinations]))
            rate = asked(flow, far)
            price = max(rate, NEAR) * len(links)
            if flow.latency is not None:
                price += LATE * late(flow, far)
            self._add(index, (price, rate, links))

    def _add(self, index: int, placed: tuple[float, float, np.ndarray]) -> None:
        self.placed[index] = placed
        price, rate, links = placed
        self.fixed += price
        self.load[links] += rate

    def hops(self, source: int) -> list[int]:
        """Links from ``source`` to each node."""
        if source not in self._trees:
            self._hops[source] = self.net.distances(source)
            self._trees[source] = self._tree(source)
        return self._hops[source]

    def _found_ways(self, source: int, ends: tuple[int, ...]) -> tuple[np.ndarray, int]:
        """Links of a tree of shortest ways, each once, and the number of links to the farthest end."""
        far = max(map(self.hops(source).__getitem__, ends))
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
        return np.array(sorted(used), np.intp), far

    def _tree(self, source: int) -> list[int]:
        """For each node the one before it on a shortest way from ``source``; of several another one for each pair of ends."""
        hops = self._hops[source]
        choices: list[list[int]] = [[] for _ in range(self.net.nodes)]
        for u, v in self.net.links:
            if hops[u] >= 0 and hops[v] == hops[u] + 1:
                choices[v].append(u)
        return [found[(source + node) % len(found)] if found else -1 for node, found in enumerate(choices)]
