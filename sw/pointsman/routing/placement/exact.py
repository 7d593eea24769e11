"""The placement of least cost of all, by branch and bound, where the work that is allowed suffices.

Tasks are placed one after the other, those that exchange most with what is placed first. The cost of the flows whose tasks are
all placed, and the least that the others can add, bound what a branch can reach: loads only grow, and a sum of squares is never
below the squares of the parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pointsman.artifacts.flows.flows import FlowSet

from .cost import LATE, PlacementCost, asked, late

WORK = 30_000
"""Tasks that may be put on nodes, about 20 microseconds each for every flow of the task."""


@dataclass
class _Branches:
    """The search; ``best`` is the cheapest placement so far, ``left`` the work that may still be done."""

    cost: PlacementCost
    order: list[int]
    closes: list[np.ndarray]
    """Flows that are placed with each task of ``order``, because their other tasks come before."""
    rest: list[float]
    """Least cost of the flows that come after."""
    free: list[int]
    best: tuple[float, list[int]]
    left: int

    def visit(self, level: int, at: list[int], used: set[int]) -> bool:
        """Try all nodes for the task ``level`` and those after it. False: the work is used up."""
        if level == len(self.order):
            price = self.cost.cost
            if price < self.best[0] - 1e-9:
                self.best = price, list(at)
            return True
        task = self.order[level]
        trials = []
        for node in self.free:
            if node in used:
                continue
            if self.left <= 0:
                return False
            self.left -= 1
            at[task] = node
            self.cost.put(self.closes[level], at)
            trials.append((self.cost.cost, node))
            self.cost.take(self.closes[level])
        for price, node in sorted(trials):
            if price + self.rest[level] >= self.best[0] - 1e-9:
                break
            at[task] = node
            self.cost.put(self.closes[level], at)
            done = self.visit(level + 1, at, used | {node})
            self.cost.take(self.closes[level])
            if not done:
                return False
        at[task] = -1
        return True


def least_of_all(
    flows: FlowSet,
    cost: PlacementCost,
    at: list[int],
    free: list[int],
    known: tuple[float, list[int]],
    work: int = WORK,
) -> tuple[list[int], bool]:
    """The cheapest placement that was found, and whether it is proved that none is cheaper.

    ``at`` has the nodes of tasks that are fixed, -1 for others; ``free`` the nodes for these; ``known`` is a placement with its
    cost, from which the search begins.
    """
    fixed = [task for task, node in enumerate(at) if node >= 0]
    order = _order(flows, fixed, [task for task, node in enumerate(at) if node < 0])
    rank = {task: level for level, task in enumerate(order)}
    closes: list[list[int]] = [[] for _ in order]
    first: list[int] = []
    for index, flow in enumerate(flows.flows):
        last = max((rank.get(task, -1) for task in (flow.source, *flow.destinations)), default=-1)
        (first if last < 0 else closes[last]).append(index)
    # A flow to d others uses d links at least, each with its own square.
    least = []
    for flow in flows.flows:
        rate = asked(flow, 1)
        least.append(len(flow.destinations) * (rate + rate * rate) + LATE * late(flow, 1))
    rest = [sum(least[index] for later in closes[level + 1 :] for index in later) for level in range(len(order))]
    cost.clear()
    cost.put(np.array(first, np.int64), at)
    search = _Branches(cost, order, [np.array(one, np.int64) for one in closes], rest, free, known, work)
    proved = search.visit(0, list(at), set())
    return search.best[1], proved


def _order(flows: FlowSet, placed: list[int], others: list[int]) -> list[int]:
    """Tasks to be placed, each time the one that exchanges most words with those before; then the one that exchanges most."""
    between: dict[tuple[int, int], float] = {}
    total = dict.fromkeys([*placed, *others], 0.0)
    for flow in flows.flows:
        for one in flow.destinations:
            for a, b in ((flow.source, one), (one, flow.source)):
                between[a, b] = between.get((a, b), 0.0) + flow.bandwidth
                total[a] += flow.bandwidth
    near = dict.fromkeys(others, 0.0)
    for task in placed:
        for other in others:
            near[other] += between.get((task, other), 0.0)
    order = []
    while near:
        chosen = max(near, key=lambda task: (near[task], total[task], -task))
        del near[chosen]
        order.append(chosen)
        for other in near:
            near[other] += between.get((chosen, other), 0.0)
    return order
