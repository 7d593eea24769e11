"""Negotiated congestion: chains are ripped up and routed again at growing prices until no resource is used twice.

Takes a part, the words and chains that each demand is to get and a number of slots; gives chains without conflict or
says what stayed in conflict. After McMurchie and Ebeling 1995; only chains in conflict are routed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from .bounds import Need
from .kernels import LONGEST_WAIT, NEVER, UNIT, Kernels
from .occupancy import Noise, Occupancy, Strand
from .problem import Limits, Part
from .route import Chain, Route, Visit, even_starts, least_gap
from .trees import grown_tree, path_tree
from .ways import Way, shortest_way, tree_way


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


class Negotiation:
    """One attempt at a task."""

    def __init__(self, task: Task, needs: Sequence[Need], limits: Limits, kernels: Kernels, seed: int) -> None:
        self.task, self.needs, self.limits, self.kernels = task, needs, limits, kernels
        self.part = task.part
        self.noise = Noise(seed)
        self.occupancy = Occupancy(task.part, limits.pipelines, task.slots, limits.vfsms - 2, kernels)
        self.demand_of = [d for d, count in enumerate(task.chains) for _ in range(count)]
        self.strands: list[Strand | None] = [None] * len(self.demand_of)
        self._ways: dict[tuple[int, int], Way | None] = {}

    def run(self, rounds: int, patience: int, budget: Budget) -> Outcome:
        """Negotiate for at most ``rounds``; give up after ``patience`` rounds without fewer conflicts."""
        occupancy = self.occupancy
        todo = self._longest_first()
        fewest, waited = -1, 0
        for turn in range(rounds):
            for index in todo:
                if not self._reroute(index, turn, budget):
                    return Outcome(None, [self.demand_of[index]])
            occupancy.hold(self._held_places())
            todo = self._contested()
            count = int(sum(table.sum() for table in occupancy.conflicts()))
            if not count:
                return self._settled()
            waited = 0 if fewest < 0 or count < fewest else waited + 1
            fewest = count if fewest < 0 else min(count, fewest)
            if waited > patience or budget.empty:
                break
            occupancy.learn()
        use, _, turns, numbers = occupancy.conflicts()
        places = np.nonzero(use.any(1) | turns.any(1) | (numbers > 0))[0]
        nodes = sorted({int(place) // self.limits.pipelines for place in places})
        return Outcome(None, sorted({self.demand_of[index] for index in todo}), nodes)

    def _longest_first(self) -> list[int]:
        order = self.noise.order(len(self.demand_of))
        return sorted(order, key=lambda index: -self.needs[self.demand_of[index]].total)

    def _contested(self) -> list[int]:
        """Chains in conflict, in random order."""
        order = self.noise.order(len(self.strands))
        return [i for i in order if (strand := self.strands[i]) is not None and self.occupancy.contested(strand)]

    def _held_places(self) -> set[int]:
        """Places that must keep a slot for the reprogramming VFSM."""
        if not self.task.reserve:
            return set()
        return places_to_hold(self.part, [strand for strand in self.strands if strand is not None], self.limits)

    def _reroute(self, index: int, turn: int, budget: Budget) -> bool:
        """Rip chain ``index`` up and place it again as cheaply as can be; False if there is no way at all."""
        old = self.strands[index]
        number = self.demand_of[index]
        words, slots = self.task.words[number] // self.task.chains[number], self.task.slots
        if old is not None:
            self.occupancy.mark(old, -1)
        even = np.array(even_starts(words, slots), np.int64)
        patterns = [even if old is None else old.starts]
        if words > 1 and old is not None and turn % 3 == 0:
            patterns.append(even)
        best, least = None, NEVER
        for route in self._routes(number, patterns, old, turn, budget):
            cost, starts = self._choose_starts(number, route, words)
            budget.spend(len(route[1]) * slots + 200)
            if cost < least:
                best, least = Strand(number, *route, starts), cost
        self.strands[index] = best
        if best is not None:
            self.occupancy.mark(best, 1)
        return best is not None

    def _routes(
        self, number: int, patterns: Sequence[np.ndarray], old: Strand | None, turn: int, budget: Budget
    ) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
        """The old route and new ones: (visits, operations, gap)."""
        if old is not None:
            yield old.visits, old.ops, old.gap
        occupancy, demand = self.occupancy, self.part.demands[number]
        ways = self._candidates(number, old, turn)
        for pattern in patterns:
            gap = least_gap(pattern.tolist(), self.task.slots)
            for way, seed in zip(ways, self.noise.below(1 << 31, len(ways)), strict=True):
                route = self.kernels.cheapest(
                    way.branches,
                    way.onward,
                    occupancy.wires,
                    occupancy.use,
                    occupancy.use_history,
                    occupancy.wire_use,
                    occupancy.wire_history,
                    occupancy.writers_met[demand.reads],
                    occupancy.readers_met[demand.delivers],
                    occupancy.turn_history,
                    occupancy.numbers,
                    occupancy.blocked,
                    pattern,
                    gap,
                    self.limits.pipelines,
                    occupancy.room,
                    occupancy.price,
                    seed,
                    demand.injects_anywhere,
                    demand.delivers in self.part.clashes[demand.reads],
                )
                cells = way.branches.shape[0] * self.limits.pipelines * self.task.slots
                budget.spend(cells * (len(pattern) + min(gap, LONGEST_WAIT)) + 200)
                if len(route[0]):
                    yield route

    def _choose_starts(
        self, number: int, route: tuple[np.ndarray, np.ndarray, int], words: int
    ) -> tuple[int, np.ndarray]:
        occupancy, demand = self.occupancy, self.part.demands[number]
        cost, starts = self.kernels.choose_starts(
            route[1],
            occupancy.use,
            occupancy.use_history,
            occupancy.wire_use,
            occupancy.wire_history,
            occupancy.writers_met[demand.reads],
            occupancy.readers_met[demand.delivers],
            occupancy.turn_history,
            occupancy.numbers,
            occupancy.blocked,
            words,
            route[2],
            occupancy.room,
            occupancy.price,
        )
        return int(cost), starts

    def _candidates(self, number: int, old: Strand | None, turn: int) -> list[Way]:
        """Ways to try for a chain of demand ``number``."""
        demand = self.part.demands[number]
        if demand.path is not None:
            return self._kept(number, -1, lambda: self._path_way(number))
        if len(demand.destinations) == 1:
            # Now and then two hops more than need be.
            slack = 2 if turn % 4 == 3 else 0
            return self._kept(number, slack, lambda: shortest_way(self.part, demand, slack))
        ways = []
        if old is not None:
            ways.append(tree_way(self.part, demand.source, _children(old), demand.destinations))
        tree = grown_tree(self.part, demand, *self._tree_prices())
        if tree is not None:
            ways.append(tree_way(self.part, demand.source, tree, demand.destinations))
        return ways

    def _path_way(self, number: int) -> Way | None:
        demand = self.part.demands[number]
        return tree_way(self.part, demand.source, path_tree(self.part, demand), demand.destinations)

    def _kept(self, number: int, kind: int, make: Callable[[], Way | None]) -> list[Way]:
        if (number, kind) not in self._ways:
            self._ways[number, kind] = make()
        way = self._ways[number, kind]
        return [] if way is None else [way]

    def _tree_prices(self) -> tuple[list[int], list[int]]:
        """Prices by node and by link, without regard to slots."""
        occupancy = self.occupancy
        nodes = (occupancy.price * occupancy.use + occupancy.use_history).reshape(self.part.nodes, -1)
        wires = occupancy.price * occupancy.wire_use + occupancy.wire_history
        nodes, wires = 4 * nodes.sum(1) // nodes.shape[1], 4 * wires.sum(1) // wires.shape[1]
        noise = self.noise.below(16, self.part.nodes + len(self.part.links))
        node_price = [UNIT + int(price) + n for price, n in zip(nodes, noise, strict=False)]
        link_price = [
            1 + int(wires[wire]) + n for wire, n in zip(self.part.wires, noise[self.part.nodes :], strict=True)
        ]
        return node_price, link_price

    def _settled(self) -> Outcome:
        """The chains, unless a node has too few interface registers for them."""
        chains = [
            Chain(strand.demand, as_route(self.part, strand), tuple(sorted(strand.starts.tolist())))
            for strand in self.strands
            if strand is not None
        ]
        over = registers_over(self.part, chains, self.limits)
        if over:
            return Outcome(None, sorted({chain.demand for chain in chains}), over)
        return Outcome(chains)


def as_route(part: Part, strand: Strand) -> Route:
    """The route of ``strand``."""
    visits = []
    for node, parent, link, pipeline, slot, wait, delivers, first, count in strand.visits.tolist():
        links = tuple(strand.ops[first : first + count, 3].tolist())
        visits.append(Visit(node, parent, link, pipeline, slot, wait, links, bool(delivers)))
    return Route(part.demands[strand.demand], tuple(visits))


def _children(strand: Strand) -> dict[int, list[int]]:
    """Links that leave each node, in order."""
    rows = strand.visits[:, [0, 7, 8]].tolist()
    return {node: strand.ops[first : first + count, 3].tolist() for node, first, count in rows}


def places_to_hold(part: Part, strands: Sequence[Strand], limits: Limits) -> set[int]:
    """Places at which ``strands`` ask for a slot for the reprogramming VFSM."""
    places: set[int] = set()
    for strand in strands:
        used = set(strand.ops[:, 0].tolist())
        if limits.phase_change:
            places.update(place - place % limits.pipelines for place in used)
        if part.demands[strand.demand].rewritten:
            places |= used
    return places


def registers_over(part: Part, chains: Sequence[Chain], limits: Limits) -> list[int]:
    """Nodes at which ``chains`` need more interface registers than there are."""
    used = [0] * part.nodes
    for chain in chains:
        for node, _, _ in (*chain.route.reads_interface, *chain.route.delivers):
            used[node] += 1
    return [node for node, count in enumerate(used) if count > limits.registers - limits.pipelines]
