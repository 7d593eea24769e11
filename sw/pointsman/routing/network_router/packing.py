"""An attempt at a packing: routes and slots without conflict for a given period and given words of every stream.

Takes streams in the numbers of a network (``PackingStream``), the period and chains fixed beforehand; gives chains, or the number
of conflicts left. Non-goals: choosing period and words (``levels``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pointsman.routing.pathfinder.costs import NOISE, UNIT
from pointsman.routing.pathfinder.distances import hops_to
from pointsman.routing.pathfinder.rows import first_rows, grouped

from .arrays import (
    BUDGET_DONE,
    CONFLICTS_FEWEST,
    NEVER,
    OPERATION,
    PackingChains,
    PackingLinks,
    PackingScratch,
    PackingUse,
    make_scratch,
)
from .rip_up import mark, negotiate

GAINS = (1, 32, 4096, 4)
"""Growth of the price in percent per round, history added for a conflict, highest price, price of a node's excess. Tuned on
permutations of 16 and 64 nodes: slow growth from a low price to a high one settles tighter packings than fast growth."""
FIRST_PRICE = 16
STEP = 16
"""Rounds of negotiation between two checks of the time limit."""


@dataclass(frozen=True)
class PackingStream:
    """A stream to be packed. ``nodes``: nodes that it may use; None: all that are alive."""

    source: int
    destinations: tuple[int, ...]
    weight: float = 1.0
    nodes: frozenset[int] | None = None


@dataclass(frozen=True, eq=False)
class PackingProblem:
    """A network and the streams to be packed on it.

    Parameters
    ----------
    nodes, pipelines : int
        Number of nodes, and of pipelines per node.
    links : tuple of (int, int)
        Directed links, writer and reader.
    wires : tuple of int
        Resource of each link; the two directions of an aliased pair share one.
    room : int
        VFSMs of a pipeline for streams.
    registers : int
        Interface registers of a node for streams.
    alive : numpy.ndarray
        For each node, whether it may be used.
    streams : tuple of PackingStream
        Streams to be packed.
    cell_price : callable or None
        Price of (node, pipeline, slot), added to that of congestion; infinity forbids the slot (Metcalf 1997, §6.3.1).
    closed : tuple of (int, int)
        (link, slot) not to be used.
    """

    nodes: int
    pipelines: int
    links: tuple[tuple[int, int], ...]
    wires: tuple[int, ...]
    room: int
    registers: int
    alive: np.ndarray
    streams: tuple[PackingStream, ...]
    cell_price: Callable[[int, int, int], float] | None = None
    closed: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class PackedChain:
    """A placed chain: its operations as rows (see the package's docstring), and the slots in which its words start."""

    stream: int
    ops: np.ndarray
    starts: tuple[int, ...]


@dataclass
class PackingOutcome:
    """``chains`` without conflict; or None, and the number of ``conflicts`` left, their streams (``contested``), ``nodes``."""

    chains: list[PackedChain] | None
    conflicts: int = 0
    contested: list[int] = field(default_factory=list)
    nodes: list[int] = field(default_factory=list)


class PackingArrays:
    """Arrays of a problem that do not depend on the period."""

    def __init__(self, problem: PackingProblem) -> None:
        self.problem = problem
        nodes = problem.nodes
        writer = np.array([w for w, _ in problem.links], np.int32)
        reader = np.array([r for _, r in problem.links], np.int32)
        self.net = PackingLinks(
            writer,
            reader,
            np.array(problem.wires, np.int32),
            *grouped(writer, nodes),
            *grouped(reader, nodes),
        )
        self.wires = max(problem.wires, default=-1) + 1
        keeps: dict[frozenset[int] | None, int] = {}
        for stream in problem.streams:
            keeps.setdefault(stream.nodes, len(keeps))
        masks = np.zeros((max(1, len(keeps)), nodes), np.bool_)
        for keep, row in keeps.items():
            masks[row] = problem.alive
            if keep is not None:
                inside = np.zeros(nodes, np.bool_)
                inside[list(keep)] = True
                masks[row] &= inside
        self.mask_of = np.array([keeps[stream.nodes] for stream in problem.streams], np.int64)
        self.masks = masks
        # For streams with a single destination: distances to it through the nodes that the stream may use.
        rows: dict[tuple[int, int], int] = {}
        for index, stream in enumerate(problem.streams):
            if len(stream.destinations) == 1:
                rows.setdefault((int(self.mask_of[index]), stream.destinations[0]), len(rows))
        self.hops = np.full((len(rows), nodes), -1, np.int32) if rows else np.zeros((1, nodes), np.int32)
        queue = np.zeros(nodes, np.int32)
        for (mask, end), row in rows.items():
            hops_to(end, self.net.first_in, self.net.links_in, writer, masks[mask], queue, self.hops[row])
        self.hops_row = np.array(
            [rows.get((int(self.mask_of[i]), s.destinations[0]), 0) for i, s in enumerate(problem.streams)], np.int64
        )
        self.length = np.array(
            [
                self.hops[self.hops_row[i], s.source] if len(s.destinations) == 1 else nodes - 1
                for i, s in enumerate(problem.streams)
            ],
            np.int64,
        )
        self.first_end = first_rows([len(s.destinations) for s in problem.streams])
        self.ends = np.array([end for s in problem.streams for end in s.destinations], np.int32)
        self.allowed = masks[self.mask_of] if problem.streams else masks[:0]
        self._scratch: dict[tuple[int, int], PackingScratch] = {}

    def scratch(self, slots: int, slack: int) -> PackingScratch:
        """Work arrays for the search of a route, shared by all attempts with this period."""
        if (slots, slack) not in self._scratch:
            self._scratch.clear()
            longest = int(self.length.max(initial=0)) + slack
            self._scratch[slots, slack] = make_scratch(
                self.problem.nodes, len(self.problem.links), longest, self.problem.pipelines, slots
            )
        return self._scratch[slots, slack]


class PackingAttempt:
    """An attempt that can be continued: ``run`` negotiates, ``outcome`` gives chains or conflicts.

    Parameters
    ----------
    arrays : PackingArrays
        The problem.
    slots : int
        Period.
    words : sequence of int
        Words of each stream in a period; 0 leaves the stream out.
    chains : sequence of int
        Number of chains of each stream.
    hold : bool
        Keep a slot of every place in use for the reprogramming VFSM.
    seed : int
        Seed of the random numbers that break ties.
    slack : int
        Most hops of a path above the shortest.
    fixed : iterable of PackedChain
        Chains that stay as they are (continuing operators).
    """

    def __init__(
        self,
        arrays: PackingArrays,
        slots: int,
        words: Sequence[int],
        chains: Sequence[int],
        *,
        hold: bool = True,
        seed: int = 0,
        slack: int = 2,
        fixed: Iterable[PackedChain] = (),
    ) -> None:
        problem = arrays.problem
        self.arrays, self.slots, self.slack = arrays, slots, slack
        places = problem.nodes * problem.pipelines
        kept = list(fixed)
        counts: list[tuple[int, int]] = [(packed.stream, len(packed.starts)) for packed in kept]
        for stream, (count, split) in enumerate(zip(words, chains, strict=True)):
            counts.extend((stream, count // split + (part < count % split)) for part in range(split if count else 0))
        total = len(counts)
        longest = int(arrays.length.max(initial=0)) + slack
        most_ops = max([2 * (longest + 2), *(len(packed.ops) for packed in kept)])
        if any(len(stream.destinations) > 1 for stream in problem.streams):
            most_ops = max(most_ops, 3 * problem.nodes)
        self.chains = PackingChains(
            stream=np.array([stream for stream, _ in counts], np.int64),
            words=np.array([count for _, count in counts], np.int64),
            frozen=np.arange(total) < len(kept),
            n_ops=np.zeros(total, np.int64),
            ops=np.zeros((total, most_ops, OPERATION), np.int32),
            starts=np.zeros((total, max([1, *(count for _, count in counts)])), np.int64),
            source=np.array([stream.source for stream in problem.streams], np.int64),
            first_end=arrays.first_end,
            ends=arrays.ends,
            hops_row=arrays.hops_row,
        )

        def table(rows: int, length: int = slots) -> np.ndarray:
            return np.zeros((rows, length), np.int32)

        self.use = PackingUse(
            cells=table(places),
            cell_history=table(places),
            cell_fixed=table(places),
            cell_cost=table(places, 2 * slots),
            wires=table(max(1, arrays.wires)),
            wire_history=table(max(1, arrays.wires)),
            wire_fixed=table(max(1, arrays.wires)),
            wire_cost=table(max(1, arrays.wires), 2 * slots),
            reads=table(places),
            writes=table(places),
            turn_history=table(places),
            numbers=np.zeros(places, np.int32),
            node_cost=np.zeros(problem.nodes, np.int32),
            hold=np.repeat(problem.alive, problem.pipelines) if hold else np.zeros(places, np.bool_),
            held=np.full(places, -1, np.int32),
        )
        self._fix(problem)
        state = np.random.PCG64(seed).random_raw(1)
        self.state = (state >> np.uint64(2)).astype(np.int64) | 1
        random = np.random.PCG64(seed + 1).random_raw(1024 + slots)
        self.noise = ((random >> np.uint64(11)) % np.uint64(NOISE)).astype(np.int32)
        self.capacity = np.full(problem.nodes, problem.pipelines * slots - (1 if hold else 0), np.int64)
        self.price = np.array([FIRST_PRICE], np.int64)
        self.progress = np.array([0, 0, -1], np.int64)
        for index, packed in enumerate(kept):
            self.chains.n_ops[index] = len(packed.ops)
            self.chains.ops[index, : len(packed.ops)] = packed.ops
            self.chains.starts[index, : len(packed.starts)] = packed.starts
            starts = np.array(packed.starts, np.int64)
            mark(np.asarray(packed.ops, np.int32), starts, arrays.net, self.use, 0, 1)
        noise = np.random.PCG64(seed + 2).random_raw(total)
        order = np.lexsort((noise, -arrays.length[self.chains.stream]))
        order = order[~self.chains.frozen[order]]
        self.queue = np.zeros(max(1, total), np.int64)
        self.queue[: len(order)] = order
        self.count = len(order)
        self.conflicts = -1

    def _fix(self, problem: PackingProblem) -> None:
        for link, slot in problem.closed:
            self.use.wire_fixed[problem.wires[link], slot % self.slots] = NEVER
        if problem.cell_price is not None:
            for node in range(problem.nodes):
                for pipeline in range(problem.pipelines):
                    for slot in range(self.slots):
                        price = problem.cell_price(node, pipeline, slot)
                        cost = NEVER if price == float("inf") else int(min(price * UNIT, 1 << 20))
                        self.use.cell_fixed[node * problem.pipelines + pipeline, slot] = cost

    @property
    def work(self) -> int:
        """Work done so far: states × slots looked at, the same on every machine."""
        return int(self.progress[BUDGET_DONE])

    @property
    def fewest(self) -> int:
        """Fewest conflicts seen after a round; -1 before the first."""
        return int(self.progress[CONFLICTS_FEWEST])

    def run(self, rounds: int, patience: int, budget: int, stop: Callable[[], bool] | None = None) -> bool:
        """Negotiate for at most ``rounds``, ``patience`` of them without fewer conflicts, and ``budget``; True: settled."""
        waited, fewest = 0, self.fewest
        limit = self.work + budget
        while rounds > 0 and self.conflicts:
            turns = min(rounds, STEP)
            conflicts, self.count = negotiate(
                turns,
                patience,
                limit,
                True,
                self.arrays.problem.room,
                self.arrays.net,
                self.arrays.hops,
                self.arrays.allowed,
                self.slack,
                self.chains,
                self.use,
                self.capacity,
                np.array(GAINS, np.int64),
                self.noise,
                self.state,
                self.price,
                self.progress,
                self.queue,
                self.count,
                self.arrays.scratch(self.slots, self.slack),
            )
            self.conflicts = int(conflicts)
            rounds -= turns
            if self.conflicts < 0:
                break
            waited = 0 if fewest < 0 or self.fewest < fewest else waited + turns
            fewest = self.fewest
            if waited > patience or self.work > limit or (stop is not None and stop()):
                break
        return self.conflicts == 0

    def outcome(self) -> PackingOutcome:
        """The chains if there is no conflict left, else the conflicts."""
        chains, pipelines = self.chains, self.arrays.problem.pipelines
        if self.conflicts == 0:
            packed = []
            for index in range(len(chains.stream)):
                ops = chains.ops[index, : chains.n_ops[index]].copy()
                starts = tuple(sorted(chains.starts[index, : chains.words[index]].tolist()))
                packed.append(PackedChain(int(chains.stream[index]), ops, starts))
            return PackingOutcome(packed)
        if self.conflicts < 0:
            return PackingOutcome(None, 1, [int(chains.stream[-1 - self.conflicts])])
        queue = self.queue[: self.count]
        crowded = np.nonzero((self.use.cells > 1).any(1) | (self.use.numbers > self.arrays.problem.room))[0]
        return PackingOutcome(
            None,
            max(self.fewest, 1),
            sorted({int(chains.stream[chain]) for chain in queue}),
            sorted({int(place) // pipelines for place in crowded}),
        )
