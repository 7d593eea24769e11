"""A part of the problem as the arrays that the kernels work on, made once for a part and used by all attempts.

Takes a ``RoutingPart``; gives links, demands and their branchings as arrays, and empty tables for chains and for the slots that
they use. Leaves alone how many words each demand gets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pointsman.routing.pathfinder.rows import first_rows

from .branches import Branching, branches_of_paths, branches_of_tree, given_tree
from .fixed_routes import FixedVfsm
from .problem import NodeLimits, RoutingPart, kept
from .rip_up import Demands, PartChains, PartLinks, PartUse

PRICE = 1 << 12
"""History cost of slots and links that fixed routes hold: so high that no chain will want them."""


@dataclass(frozen=True)
class PartArrays:
    """``most_visits`` and ``most_ops``: most rows for visits and VFSMs in the route of each demand."""

    network: PartLinks
    demands: Demands
    most_visits: np.ndarray
    most_ops: np.ndarray
    freed: tuple[frozenset[tuple[int, int]], ...] = ()
    """Different sets of blocked (link, slot) that some demands may use all the same; ``Demands.kind`` - 1 is an index of them."""
    _blocked: dict[int, PartLinks] = field(default_factory=dict)

    @classmethod
    def of(cls, part: RoutingPart) -> PartArrays:
        conditions = len(part.conditions)
        clash = np.zeros((conditions, conditions), np.int64)
        for condition, others in enumerate(part.clashes):
            clash[condition, list(others)] = 1
        leaving = part.leaving
        network = PartLinks(
            wires=np.array(part.wires, np.int64),
            link_to=np.array([to for _, to in part.links], np.int64),
            first_link=_first(leaving),
            links_from=np.array([link for links in leaving for link in links], np.int64),
            most_links=max(map(len, leaving), default=0),
            blocked=np.zeros((1, len(part.links), 1), np.bool_),
            any_blocked=False,
            clash=clash,
        )
        allowed = np.zeros((len(part.demands), part.nodes), np.bool_)
        for row, demand in zip(allowed, part.demands, strict=True):
            row[list(demand.nodes)] = True
        numbers, branchings = _branchings(part)
        branches = [len(branchings[number].branches) if number >= 0 else 0 for number, _ in numbers]
        longer = [len(branchings[number].branches) if number >= 0 else 0 for _, number in numbers]
        nodes = [len(d.nodes) + 1 for d in part.demands]
        most_visits = np.maximum(np.maximum(branches, longer), nodes)
        freed = tuple(dict.fromkeys(frozenset(d.freed) for d in part.demands if d.freed))
        kinds = {one: 1 + i for i, one in enumerate(freed)}
        demands = Demands(
            source=np.array([d.source for d in part.demands], np.int64),
            first_end=_first([d.destinations for d in part.demands]),
            ends=np.array([end for d in part.demands for end in d.destinations], np.int64),
            allowed=allowed,
            reads=np.array([d.reads for d in part.demands], np.int64),
            delivers=np.array([d.delivers for d in part.demands], np.int64),
            anywhere=np.array([d.injects_anywhere for d in part.demands], np.bool_),
            joins=np.array([d.joins for d in part.demands], np.bool_),
            clashing=np.array([d.delivers in part.clashes[d.reads] for d in part.demands], np.bool_),
            rewritten=np.array([d.rewritten for d in part.demands], np.bool_),
            kind=np.array([kinds[frozenset(d.freed)] if d.freed else 0 for d in part.demands], np.int64),
            branching=np.array([number for number, _ in numbers], np.int64),
            longer=np.array([number for _, number in numbers], np.int64),
            first_branch=_first([one.branches for one in branchings]),
            branches=np.concatenate([np.zeros((0, 6), np.int64), *(one.branches for one in branchings)]),
            first_onward=_first([one.onward for one in branchings]),
            onward=np.concatenate([np.zeros((0, 2), np.int64), *(one.onward for one in branchings)]),
        )
        # A visit has at most a wait, a delivery, and a leg for each onward visit.
        return cls(network, demands, most_visits, 3 * most_visits, freed)

    def blocked(self, part: RoutingPart, slots: int) -> PartLinks:
        """The network with a table of the (link, slot) that must not be used, for each ``Demands.kind``."""
        if slots not in self._blocked:
            self._blocked[slots] = self._with_blocked(part, slots)
        return self._blocked[slots]

    def _with_blocked(self, part: RoutingPart, slots: int) -> PartLinks:
        table = np.zeros((1 + len(self.freed), len(part.links), slots), np.bool_)
        for kind, freed in enumerate(((), *self.freed)):
            pairs = [pair for pair in part.blocked if pair not in freed] if freed else part.blocked
            links, at = np.array(list(pairs), np.int64).reshape(-1, 2).T
            table[kind, links, at % slots] = True
        return self.network._replace(blocked=table, any_blocked=bool(part.blocked))

    def chains(self, words: Sequence[int], counts: Sequence[int]) -> PartChains:
        """Chains without routes: for each demand ``counts`` chains, with ``words`` words together."""
        demand = np.repeat(np.arange(len(counts)), counts)
        each = (np.array(words, np.int64) // np.array(counts, np.int64))[demand]
        first_visit, first_op = first_rows(self.most_visits[demand]), first_rows(self.most_ops[demand])
        first_start = first_rows(each)
        return PartChains(
            demand=demand,
            words=each,
            first_visit=first_visit,
            n_visits=np.zeros(len(demand), np.int64),
            visits=np.zeros((first_visit[-1], 9), np.int64),
            first_op=first_op,
            n_ops=np.zeros(len(demand), np.int64),
            ops=np.zeros((first_op[-1], 6), np.int64),
            gap=np.zeros(len(demand), np.int64),
            first_start=first_start,
            starts=np.zeros(first_start[-1], np.int64),
        )


def arrays_of(part: RoutingPart) -> PartArrays:
    """`PartArrays.of`, made once: no attempt writes to these arrays."""
    return kept(part, "arrays", lambda: PartArrays.of(part))


def nothing_used(part: RoutingPart, limits: NodeLimits, slots: int) -> PartUse:
    """Empty tables of use, history and cost for ``slots`` slots."""
    places, conditions = part.nodes * limits.pipelines, len(part.conditions)
    wires = max(part.wires, default=0) + 1
    readers, readers_met, writers, writers_met = np.zeros((4, conditions, places, slots), np.int64)
    return PartUse(
        cells=np.zeros((places, slots), np.int64),
        wires=np.zeros((wires, slots), np.int64),
        readers=readers,
        readers_met=readers_met,
        writers=writers,
        writers_met=writers_met,
        numbers=np.zeros(places, np.int64),
        held=np.full(places, -1, np.int64),
        cell_history=np.zeros((places, slots), np.int64),
        wire_history=np.zeros((wires, slots), np.int64),
        turn_history=np.zeros((places, slots), np.int64),
        cell_cost=np.zeros((places, slots), np.int64),
        place_cost=np.zeros(places, np.int64),
        wire_cost=np.zeros((wires, slots), np.int64),
        whole_cost=np.zeros(wires, np.int64),
    )


def count_in(rows: Sequence[FixedVfsm], use: PartUse, pipelines: int, slots: int) -> None:
    """Count the VFSMs of fixed routes into the tables of a negotiation of ``slots`` slots. Their accesses to the interface are
    unconditional (condition 0), so they meet accesses under every condition."""
    for one in rows:
        place = one.node * pipelines + one.pipeline
        use.numbers[place] += 1
        for slot in sorted({slot % slots for slot in one.slots}):
            use.cells[place, slot] = 1
            use.cell_history[place, slot] = PRICE
            if one.wire >= 0:
                use.wires[one.wire, slot] = 1
                use.wire_history[one.wire, slot] = PRICE
            if one.reads:
                use.readers[0, place, slot] = 1
                use.readers_met[:, place, slot] = 1
                use.turn_history[place, slot - 1] = PRICE
            if one.writes:
                use.writers[0, place, slot] = 1
                use.writers_met[:, place, slot] = 1
                use.turn_history[place, slot] = PRICE


def _branchings(part: RoutingPart) -> tuple[list[tuple[int, int]], list[Branching]]:
    """All branchings, and for each demand the numbers of its shortest and of a longer branching (-1: a tree is grown)."""
    branchings: list[Branching] = []
    known: dict[object, tuple[int, int]] = {}
    numbers = []
    for demand in part.demands:
        if demand.tree is None and len(demand.destinations) > 1:
            numbers.append((-1, -1))
            continue
        key = demand.tree or (), demand.source, demand.nodes, demand.destinations
        if key not in known:
            if demand.tree is not None:
                tree = given_tree(part, demand)
                branchings.append(branches_of_tree(part, demand.source, tree, demand.destinations))
                known[key] = len(branchings) - 1, len(branchings) - 1
            else:
                for slack in (0, 2):
                    paths = branches_of_paths(part, demand, slack)
                    assert paths is not None
                    branchings.append(paths)
                known[key] = len(branchings) - 2, len(branchings) - 1
        numbers.append(known[key])
    return numbers, branchings


def _first(groups: Sequence[Sequence[object] | np.ndarray]) -> np.ndarray:
    return first_rows([len(group) for group in groups])
