"""Chains placed by an attempt, kept as arrays; made into ``Chain``\\ s only for the attempt that a search keeps.

A search makes hundreds of attempts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pointsman.routing.pathfinder.rows import first_rows

from .fixed_routes import registers_held
from .problem import NodeLimits, RoutingPart
from .rip_up import PartChains
from .routes import Chain, NodeVisit, Route


@dataclass(frozen=True)
class Placed:
    """Chains of a part, all with a route, in ``slots`` slots. ``rows`` is a copy of the used rows only."""

    part: RoutingPart
    slots: int
    rows: PartChains

    @classmethod
    def of(cls, part: RoutingPart, slots: int, chains: PartChains) -> Placed:
        """A copy of a negotiation's arrays without their unused rows."""
        visits = _rows(chains.first_visit, chains.n_visits)
        ops = _rows(chains.first_op, chains.n_ops)
        return cls(
            part,
            slots,
            chains._replace(
                first_visit=first_rows(chains.n_visits),
                visits=chains.visits[visits],
                first_op=first_rows(chains.n_ops),
                ops=chains.ops[ops],
            ),
        )

    def chains(self) -> list[Chain]:
        """The chains, in order."""
        rows = self.rows
        visits = rows.visits.tolist()
        legs, starts = rows.ops[:, 3].tolist(), rows.starts.tolist()
        firsts = (rows.first_visit, rows.n_visits, rows.first_op, rows.first_start, rows.words)
        found = []
        for demand, visit, count, op, start, words in zip(
            rows.demand.tolist(), *(one.tolist() for one in firsts), strict=False
        ):
            own = tuple(
                [
                    NodeVisit(
                        node,
                        before,
                        link,
                        pipeline,
                        slot,
                        wait,
                        tuple(legs[op + row : op + row + links]),
                        bool(delivers),
                    )
                    for node, before, link, pipeline, slot, wait, delivers, row, links in visits[visit : visit + count]
                ]
            )
            own_starts = tuple(sorted(starts[start : start + words]))
            found.append(Chain(demand, Route(self.part.demands[demand], own), own_starts))
        return found

    def write(self, chains: PartChains, slots: int) -> np.ndarray:
        """Copy routes and starts to ``chains`` of the same demands that have equally many words per slot. ``slots`` is a multiple
        of ``self.slots``. Tells which chains got a route."""
        rows, turns = self.rows, slots // self.slots
        demands = len(self.part.demands)
        mine, theirs = (np.bincount(of.demand, minlength=demands) for of in (rows, chains))
        # The chains of a demand are consecutive and have equally many words.
        first, first_there = np.cumsum(mine) - mine, np.cumsum(theirs) - theirs
        same = (mine == theirs) & (turns * rows.words[first] == chains.words[first_there])
        which = same[chains.demand]
        to = np.flatnonzero(which)
        demand = chains.demand[to]
        at = first[demand] + to - first_there[demand]
        chains.n_visits[to], chains.n_ops[to], chains.gap[to] = rows.n_visits[at], rows.n_ops[at], rows.gap[at]
        visits, ops, words = rows.n_visits[at], rows.n_ops[at], rows.words[at]
        chains.visits[_rows(chains.first_visit[to], visits)] = rows.visits[_rows(rows.first_visit[at], visits)]
        chains.ops[_rows(chains.first_op[to], ops)] = rows.ops[_rows(rows.first_op[at], ops)]
        starts = rows.starts[_rows(rows.first_start[at], words)]
        for turn in range(turns):
            chains.starts[_rows(chains.first_start[to] + turn * words, words)] = starts + turn * self.slots
        return which

    def registers_over(self, anywhere: np.ndarray, joins: np.ndarray, limits: NodeLimits) -> list[int]:
        """Nodes at which the chains need more interface registers than there are. ``anywhere``: demands whose forwarding VFSMs
        may all be rewritten to read the interface; ``joins``: demands that deliver into registers of others."""
        visits = self.rows.visits
        may, own = (np.repeat(some[self.rows.demand], self.rows.n_visits) for some in (anywhere, ~joins))
        reads = (visits[:, 1] < 0) | (may & (visits[:, 8] > 0))
        used = np.array(registers_held(self.part.fixed, self.part.nodes), np.int64)
        np.add.at(used, visits[:, 0], reads + (own & (visits[:, 6] > 0)))
        return [int(node) for node in np.flatnonzero(used > limits.registers - limits.pipelines)]


def _rows(first: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Row numbers of all chains: for each chain ``count`` numbers from ``first``."""
    ends = np.cumsum(count)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(first[: len(count)] - (ends - count), count)
