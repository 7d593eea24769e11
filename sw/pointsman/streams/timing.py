"""The cheapest way of one chain at the present prices: pipelines, slots and waits, exactly, by dynamic programming.

A *way* says where a word may go from each node: for a tree every branch (costs add up), for one destination every
link on the shortest paths to it (the cheapest counts). Prices are those of all words of the chain together: with the
words at starts X, the price of a slot s is the sum over X of the prices of s + x. So a chain of many words is routed
as one word.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import permutations

import numpy as np

from .occupancy import NEVER, Noise, Occupancy
from .problem import Demand, Part
from .route import Route, Visit, visit_gap

WAIT_COST = 4.0
"""Price of each slot of a wait, besides its VFSM."""
LONGEST_WAIT = 16
"""Slots; longer ones are not looked for."""


def _empty() -> np.ndarray:
    return np.zeros(0)


@dataclass
class Branch:
    """A node of a way, with the branches to go on to: all of them (a tree) or one of them (``choose``)."""

    node: int
    onward: list[tuple[int, Branch]] = field(default_factory=list)
    """(link, branch at its end)."""
    delivers: bool = False
    choose: bool = False
    source: bool = False

    @property
    def legs(self) -> int:
        """VFSMs that a word needs here, without waiting."""
        return (min(len(self.onward), 1) if self.choose else len(self.onward)) + self.delivers

    # Found by ``Pricing``:
    down: np.ndarray = field(default_factory=_empty, repr=False)
    """Cost of everything from here on, by arrival slot."""
    onset: np.ndarray = field(default_factory=_empty, repr=False)
    """The same without a wait, by (pipeline, slot of the first leg)."""
    choice: np.ndarray = field(default_factory=_empty, repr=False)
    """Index into ``orders`` by slot of the first leg."""
    orders: tuple[tuple[int, ...], ...] = ()
    waiting: np.ndarray | None = field(default=None, repr=False)
    """Cost with the best wait, by (pipeline, arrival slot); None where no wait is possible."""


def tree_way(part: Part, root: int, children: dict[int, list[int]], ends: frozenset[int]) -> list[Branch]:
    """The way of a tree: ``children`` gives the links that leave each node. Parents come first."""
    way = [Branch(root, source=True, delivers=root in ends)]
    for branch in way:
        for link in children.get(branch.node, ()):
            node = part.links[link][1]
            child = Branch(node, delivers=node in ends)
            branch.onward.append((link, child))
            way.append(child)
    return way


def shortest_way(part: Part, demand: Demand, slack: int = 0) -> list[Branch]:
    """The way of all paths to the one destination with at most ``slack`` hops more than the shortest.

    A branch stands for a node and the hops that are left, so that every walk ends in time; empty if there is no path.
    """
    (end,) = demand.destinations
    if end == demand.source:
        return [Branch(end, source=True, delivers=True)]
    left = part.distances(end, frozenset(demand.nodes), to=True)
    if demand.source not in left:
        return []
    layers: list[dict[int, Branch]] = [{} for _ in range(left[demand.source] + slack + 1)]
    roots: list[tuple[int, Branch]] = []
    for hops in range(left[demand.source], len(layers)):
        root = Branch(demand.source, source=True, choose=True)
        roots.append((hops, root))
        fringe = {demand.source: root}
        for rest in range(hops - 1, -1, -1):
            after: dict[int, Branch] = {}
            for node, branch in fringe.items():
                for link in part.leaving[node]:
                    other = part.links[link][1]
                    if left.get(other, rest + 1) > rest or other == demand.source or (other == end and rest):
                        continue
                    if other not in layers[rest]:
                        after[other] = layers[rest][other] = Branch(other, choose=rest > 0, delivers=rest == 0)
                    branch.onward.append((link, layers[rest][other]))
            fringe = after
    way = [(rest, branch) for rest, layer in enumerate(layers) for branch in layer.values()]
    return [branch for _, branch in sorted(way + roots, key=lambda item: -item[0])]


class Pricing:
    """Prices for one chain of ``demand`` with words at ``pattern``, and the cheapest route at these prices."""

    def __init__(
        self,
        occupancy: Occupancy,
        demand: Demand,
        way_nodes: list[int],
        pattern: tuple[int, ...],
        gap: int,
        noise: Noise,
    ) -> None:
        self.part, self.demand, self.gap = occupancy.part, demand, gap
        self.slots = slots = occupancy.slots
        nodes = np.array(way_nodes, np.intp)
        self.row = {node: row for row, node in enumerate(way_nodes)}
        links = [link for node in way_nodes for link in self.part.leaving[node]]
        self.link_row = {link: row for row, link in enumerate(links)}
        vfsm = occupancy.vfsm_cost(nodes)
        vfsm += noise.numbers(vfsm.size, 4).reshape(vfsm.shape)
        index = np.array(links, np.intp)
        wires = np.array([self.part.wires[link] for link in links], np.intp)
        wire = occupancy.wire_cost(index, wires)
        inject = occupancy.inject_cost(demand, nodes)
        deliver = occupancy.deliver_cost(demand, nodes)
        if len(pattern) > 1:
            fold = np.zeros((slots, slots))
            for start in pattern:
                fold[(np.arange(slots) + start) % slots, np.arange(slots)] += 1
            vfsm, wire, inject, deliver = vfsm @ fold, wire @ fold, inject @ fold, deliver @ fold
        self.vfsm, self.wire, self.inject, self.deliver = map(_twice, (vfsm, wire, inject, deliver))
        waits = np.arange(2, min(gap, LONGEST_WAIT) + 1)
        self.wait_cost = WAIT_COST * len(pattern) * waits
        self.later = (np.arange(slots)[:, None] + waits) % slots

    def cheapest(self, way: list[Branch], *, delays: bool) -> Route | None:
        """The cheapest route on ``way`` (parents first); None if none is possible."""
        for branch in reversed(way):
            self._price(branch, delays and not self.demand.injects_anywhere)
        best: tuple[float, Branch] | None = None
        for root in way:
            if root.source and (best is None or root.down.min() < best[0]):
                best = float(root.down.min()), root
        if best is None or best[0] >= NEVER:
            return None
        root = best[1]
        start = int(root.down.argmin())
        visits: list[Visit] = []
        todo = [(root, -1, -1, start, 0)]
        for branch, parent, link, slot, offset in todo:
            pipeline, wait = self._settle(branch, slot)
            onset = (slot + wait) % self.slots
            order = branch.orders[int(branch.choice[onset])]
            links = tuple(branch.onward[i][0] for i in order)
            for leg, index in enumerate(order):
                to = branch.onward[index][1]
                todo.append((to, len(visits), links[leg], (onset + leg + 1) % self.slots, offset + wait + leg + 1))
            visits.append(Visit(branch.node, parent, link, pipeline, offset, wait, links, branch.delivers))
        if len({visit.node for visit in visits}) < len(visits):
            return None
        return Route(self.demand, tuple(visits))

    def _price(self, branch: Branch, delays: bool) -> None:
        row = self.row[branch.node]
        slots = self.slots
        legs = branch.legs
        count = legs - branch.delivers
        injects = branch.source or (self.demand.injects_anywhere and count > 0)
        need = visit_gap(self.part, self.demand, legs, 0, branch.delivers, injects)
        if need > self.gap or (count == 0 and not branch.delivers):
            branch.down = np.full(2 * slots, NEVER)
            branch.onset = np.full((len(self.vfsm[row]), slots), NEVER)
            branch.choice, branch.orders = np.zeros(slots, np.intp), (tuple(range(count)),)
            return
        vfsm = self.vfsm[row]
        onset = sum(vfsm[:, leg % slots : leg % slots + slots] for leg in range(legs))
        if injects:
            onset = onset + self.inject[row][:, :slots]
        if branch.delivers:
            leg = count % slots
            onset = onset + self.deliver[row][:, leg : leg + slots]
        if branch.onward:
            branch.orders = _orders(len(branch.onward), branch.choose)
            after = np.stack([self._after(branch, order) for order in branch.orders])
            branch.choice = after.argmin(0)
            onset = onset + after[branch.choice, np.arange(slots)]
        else:
            branch.choice, branch.orders = np.zeros(slots, np.intp), ((),)
        branch.onset = onset
        down = onset.min(0)
        longest = min(self.gap - legs, LONGEST_WAIT) if delays and not branch.source else 0
        branch.waiting = None
        if longest >= 2:
            # By (pipeline, arrival slot, wait - 2): into the buffer now, on ``wait`` slots later.
            ahead = onset[:, self.later[:, : longest - 1]] + self.wait_cost[: longest - 1]
            branch.waiting = ahead.min(2) + vfsm[:, :slots]
            down = np.minimum(down, branch.waiting.min(0))
        branch.down = _twice(down)

    def _after(self, branch: Branch, order: tuple[int, ...]) -> np.ndarray:
        slots = self.slots
        total = np.zeros(slots)
        for leg, index in enumerate(order):
            link, child = branch.onward[index]
            wire = self.wire[self.link_row[link]]
            begin, then = leg % slots, (leg + 1) % slots
            total = total + wire[begin : begin + slots] + child.down[then : then + slots]
        return total

    def _settle(self, branch: Branch, slot: int) -> tuple[int, int]:
        """Pipeline and wait of a word that arrives in ``slot``."""
        now = branch.onset[:, slot]
        pipeline = int(now.argmin())
        if branch.waiting is None or branch.waiting[:, slot].min() >= now[pipeline]:
            return pipeline, 0
        pipeline = int(branch.waiting[:, slot].argmin())
        longest = min(self.gap - branch.legs, LONGEST_WAIT)
        later = branch.onset[pipeline, self.later[slot, : longest - 1]]
        return pipeline, 2 + int((later + self.wait_cost[: longest - 1]).argmin())


def _twice(table: np.ndarray) -> np.ndarray:
    """``table`` twice along its last axis, so that a shift round the period is a slice."""
    return np.concatenate((table, table), axis=-1)


def _orders(count: int, choose: bool) -> tuple[tuple[int, ...], ...]:
    if choose:
        return tuple((index,) for index in range(count))
    if count <= 3:
        return tuple(permutations(range(count)))
    return tuple(tuple((first + step) % count for step in range(count)) for first in range(count))
