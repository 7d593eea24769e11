"""Negotiated congestion: chains are ripped up and routed again at growing prices until no resource is used twice.

Takes a part, the words and chains that each demand is to get and a number of slots; gives chains without conflict or
says what stayed in conflict. After McMurchie and Ebeling 1995; only chains in conflict are routed again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from .occupancy import UNIT, Noise, Occupancy, best_starts
from .problem import Part
from .route import Chain, Route, even_starts, least_gap
from .timing import Branch, Pricing, shortest_way, tree_way
from .trees import grown_tree, path_tree


@dataclass
class Budget:
    """Work that may be spent, counted in prices looked up so that it is the same on every machine."""

    left: float
    whole: Budget | None = None
    """Budget that this one is a share of."""

    def spend(self, work: float) -> None:
        self.left -= work
        if self.whole is not None:
            self.whole.spend(work)

    @property
    def empty(self) -> bool:
        return self.left <= 0 or (self.whole is not None and self.whole.empty)

    def share(self, part: float) -> Budget:
        """A budget of ``part`` of what is left."""
        return Budget(self.left * part, self)


@dataclass(frozen=True)
class Task:
    """What to route: for each demand of the part its words per ``slots`` and the chains to split them into.

    ``reserve`` keeps slots for the reprogramming VFSM.
    """

    part: Part
    slots: int
    words: tuple[int, ...]
    chains: tuple[int, ...]
    reserve: bool


@dataclass
class Outcome:
    """``chains`` without conflict, or None and the demands and nodes that stayed in conflict."""

    chains: list[Chain] | None
    contested: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Limits:
    """Sizes of the hardware that routing must keep, and how a phase is left."""

    pipelines: int
    vfsms: int
    registers: int
    phase_change: bool


class Negotiation:
    """One attempt at a task."""

    def __init__(self, task: Task, limits: Limits, seed: int) -> None:
        self.task, self.limits = task, limits
        self.part = task.part
        self.noise = Noise(seed)
        self.occupancy = Occupancy(
            task.part,
            limits.pipelines,
            task.slots,
            limits.vfsms,
            reserve=task.reserve,
            phase_change=limits.phase_change,
        )
        self.demand_of = [d for d, count in enumerate(task.chains) for _ in range(count)]
        self.chains: list[Chain | None] = [None] * len(self.demand_of)
        self._ways: dict[tuple[int, int], list[Branch]] = {}

    def run(self, rounds: int, patience: int, budget: Budget) -> Outcome:
        """Negotiate for at most ``rounds``; give up after ``patience`` rounds without fewer conflicts."""
        occupancy = self.occupancy
        todo = self._order(range(len(self.chains)))
        fewest, waited = np.inf, 0
        for turn in range(rounds):
            for index in todo:
                if not self._reroute(index, turn, budget):
                    return Outcome(None, [self.demand_of[index]])
            occupancy.hold()
            conflicts = occupancy.conflicts()
            count = float(sum(table.sum() for table in conflicts))
            self.log = getattr(self, "log", []) + [int(count)]
            todo = self._order(self._contested())
            if not count and not todo:
                return self._checked()
            if count < fewest:
                fewest, waited = count, 0
            else:
                waited += 1
            if waited > patience or budget.empty:
                break
            occupancy.learn(conflicts, 2 * UNIT)
            occupancy.price = min(occupancy.price + occupancy.price // 10, 8 * UNIT)
        use, _, turns, numbers = occupancy.conflicts()
        nodes = np.nonzero(use.any((1, 2)) | turns.any((1, 2)) | numbers.any(1))[0].tolist()
        return Outcome(None, sorted({self.demand_of[index] for index in self._contested()}), nodes)

    def _contested(self) -> list[int]:
        conflicts = self.occupancy.conflicts()
        return [
            index
            for index, chain in enumerate(self.chains)
            if chain is None or self.occupancy.in_conflict(chain, conflicts)
        ]

    def _order(self, indices: Sequence[int] | range) -> list[int]:
        """Long ways first, otherwise at random."""
        order = self.noise.order(len(indices))
        ranked = [indices[i] for i in order]
        if all(chain is None for chain in self.chains):
            ranked.sort(key=lambda index: -self._weight(index))
        return ranked

    def _weight(self, index: int) -> int:
        demand = self.part.demands[self.demand_of[index]]
        return len(demand.path or ()) + len(demand.destinations) * 100

    def _reroute(self, index: int, turn: int, budget: Budget) -> bool:
        old = self.chains[index]
        occupancy = self.occupancy
        number = self.demand_of[index]
        words = self.task.words[number] // self.task.chains[number]
        if old is not None:
            occupancy.add(old, -1)
        patterns = [old.starts if old is not None else even_starts(words, self.task.slots)]
        if words > 1 and old is not None and turn % 3 == 0:
            patterns.append(even_starts(words, self.task.slots))
        best: tuple[float, Chain] | None = None
        routes = [] if old is None else [old.route]
        for pattern in patterns:
            routes.extend(self._routes(number, pattern, old, turn, budget))
        for route in routes:
            cost = occupancy.starts_cost(route)
            gap = route.gap(self.part)
            starts = best_starts(cost, words, gap)
            budget.spend(len(route.cells) * occupancy.slots + 100)
            if starts is None:
                continue
            total = float(cost[list(starts)].sum())
            if best is None or total < best[0]:
                best = total, Chain(number, route, starts)
        if best is None:
            self.chains[index] = None
            return False
        self.chains[index] = best[1]
        occupancy.add(best[1])
        return True

    def _routes(
        self, number: int, pattern: tuple[int, ...], old: Chain | None, turn: int, budget: Budget
    ) -> list[Route]:
        gap = least_gap(pattern, self.task.slots)
        found = []
        for way in self._candidates(number, old, turn):
            nodes = list(dict.fromkeys(branch.node for branch in way))
            pricing = Pricing(self.occupancy, self.part.demands[number], nodes, pattern, gap, self.noise)
            result = pricing.cheapest(way, delays=True)
            budget.spend(len(way) * self.occupancy.pipelines * self.occupancy.slots + 500)
            if result is not None:
                found.append(result)
        return found

    def _candidates(self, number: int, old: Chain | None, turn: int) -> list[list[Branch]]:
        demand = self.part.demands[number]
        if demand.path is not None:
            key = number, -1
            if key not in self._ways:
                self._ways[key] = tree_way(
                    self.part, demand.source, path_tree(self.part, demand), frozenset(demand.destinations)
                )
            return [self._ways[key]]
        if len(demand.destinations) == 1:
            slack = 2 if turn % 4 == 3 else 0
            key = number, slack
            if key not in self._ways:
                self._ways[key] = shortest_way(self.part, demand, slack)
            return [self._ways[key]] if self._ways[key] else []
        ways = []
        if old is not None:
            children = {visit.node: list(visit.links) for visit in old.route.visits}
            ways.append(tree_way(self.part, demand.source, children, frozenset(demand.destinations)))
        tree = grown_tree(self.part, demand, *self._tree_prices(demand.nodes))
        if tree is not None:
            ways.append(tree_way(self.part, demand.source, tree, frozenset(demand.destinations)))
        return ways

    def _tree_prices(self, nodes: Sequence[int]) -> tuple[list[float], list[float]]:
        occupancy = self.occupancy
        busy = (occupancy.use.sum((1, 2)) / (occupancy.pipelines * occupancy.slots)).tolist()
        history = occupancy.use_history.mean((1, 2)).tolist()
        wires = (occupancy.wire.sum(1) / occupancy.slots).tolist()
        noise = self.noise.numbers(self.part.nodes + len(self.part.links), 16).tolist()
        node_price = [
            UNIT + 4 * (b * occupancy.price + h) // 1 + n for b, h, n in zip(busy, history, noise, strict=False)
        ]
        link_price = [
            1.0 + 4 * (wires[wire] * occupancy.price) // 1 + n
            for wire, n in zip(self.part.wires, noise[self.part.nodes :], strict=True)
        ]
        return node_price, link_price

    def _checked(self) -> Outcome:
        """The chains, unless a node has too few interface registers for them."""
        chains = [chain for chain in self.chains if chain is not None]
        over = registers_over(self.part, chains, self.limits)
        if over:
            return Outcome(None, sorted({chain.demand for chain in chains}), over)
        return Outcome(chains)


def registers_over(part: Part, chains: Sequence[Chain], limits: Limits) -> list[int]:
    """Nodes at which ``chains`` need more interface registers than there are."""
    used = [0] * part.nodes
    for chain in chains:
        for node, _, _ in (*chain.route.reads_interface, *chain.route.delivers):
            used[node] += 1
    return [node for node, count in enumerate(used) if count > limits.registers - limits.pipelines]
