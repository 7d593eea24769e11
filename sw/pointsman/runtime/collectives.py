"""All-gather and reduce-scatter for applications: operators of COP, and what each node calls.

``parts()`` stands in the application's program, ``carried_out`` is awaited by every node. What both take is set by the accesses
of a processor, one a cycle.

*All-gather* of a message of m words from each of n nodes. Every node has to write one message and to read n - 1, n m accesses.
Broadcasts from all nodes at the same time come to that, as routers fork words; but a node needs an interface register for each
of them. So every second node of a cycle hands its message to the node before it, which broadcasts its own message meanwhile and
that of the other after it: (n + 1) m accesses, with half as many broadcasts. Larger networks are tiled by boxes of b nodes with a
cycle through all of them. First each node exchanges messages with the nodes at its place in the other n / b boxes, in a ring,
then the nodes of a box broadcast what they have: (2 (n / b - 1) + n + n / b) m accesses.

*Reduce-scatter*, parts of m words: partial sums go round a cycle through all nodes, and each node adds its own words to what it
passes on: n - 1 messages written and n - 1 read, 2 (n - 1) m accesses, the least that is possible. The function has to commute.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from math import prod

import numpy as np

from pointsman.cop import Part, Parts, broadcast, cshift, eoshift, loop, parallel, phase, sequential, subset
from pointsman.network import Topology, mesh
from pointsman.operators.trees.cycles import cycle_of
from pointsman.operators.trees.multicast_trees import back_and_forth

from .api.node import Node

AT_ONCE = 12
"""Broadcasts at the same time, at most: a node needs a register for each, and of 16 two belong to the pipelines."""
PAIRED = (16, 20, 24)
"""Nodes of a cycle of which every second one broadcasts: with these numbers, rounds of their words leave no slot more unused than
others do (`pointsman.routing.phase_router.rounds`)."""


class AllGather:
    """Every node gets the messages of all.

    Parameters
    ----------
    label : str
        Begins the labels of its operators.
    topology : Topology
        The network; all working nodes take part.
    words : int
        Words of a message, int32.
    """

    def __init__(self, label: str, topology: Topology, words: int) -> None:
        self.label, self.words = label, words
        self.nodes: tuple[int, ...] = topology.working
        boxes = boxes_of(topology)
        around = all(len(cycle_of(box, topology)) == len(box) for box in boxes)
        self.way = "str_bcast_round" if around else None
        """Implementation on scheduled routers; None: the compiler chooses."""
        if around:  # boxes are alike, so the same places make a cycle in each
            order = [boxes[0].index(node) for node in cycle_of(boxes[0], topology)]
            boxes = [tuple(box[place] for place in order) for box in boxes]
        self.boxes: list[tuple[int, ...]] = boxes
        self.box = {node: box for box in self.boxes for node in box}
        self.every = 1 if len(boxes[0]) <= AT_ONCE else 2
        """Of so many nodes of a box, one after the other, the first broadcasts."""

    def parts(self) -> Parts:
        """The operators: shifts between boxes in a loop, and broadcasts in boxes. A single node gets an operator as well, as
        every program has one."""
        found: list[Part] = []
        across, wide = len(self.boxes), len(self.boxes[0])
        if across > 1:
            alike = [list(nodes) for nodes in zip(*self.boxes, strict=True)]
            found.append(
                subset(alike, loop(f"{self.label}_steps", across - 1, cshift(f"{self.label}_on", 1, m=self.words)))
            )
        if wide > 1 or across == 1:
            boxes, m = [list(box) for box in self.boxes], across * self.words
            within = [
                subset(boxes, broadcast(f"{self.label}{place}", place, m=m, c=self.every, impl=self.way))
                for place in range(0, wide, self.every)
            ]
            if self.every > 1:
                pairs = [list(box[place : place + 2]) for box in self.boxes for place in range(0, wide, 2)]
                within.append(subset(pairs, eoshift(f"{self.label}_handed", -1, m=m)))
            found.append(phase(parallel(*within)))
        return sequential(*found)

    async def carried_out(self, node: Node, message: np.ndarray) -> np.ndarray:
        """The messages of all nodes, a row each in the order of their numbers; ``message`` is that of ``node``."""
        cop, box = node.cop, self.box[node.number]
        across, own = len(self.boxes), box.index(node.number)
        passed = np.array(message, np.int32)
        held = [passed]
        if across > 1:
            await getattr(cop, f"{self.label}_steps_load")()
            await getattr(cop, f"{self.label}_on_load")()
        for _ in range(across - 1):
            passed = await getattr(cop, f"{self.label}_on_func")(passed)
            held.append(passed)
        mine = np.concatenate(held)
        of_place = {own: mine}
        if len(box) > 1:
            await self._broadcast(node, own, of_place)
        number = self.boxes.index(box)
        gathered: dict[int, np.ndarray] = {}
        for place, words in of_place.items():
            for step, part in enumerate(np.reshape(words, (across, self.words))):
                gathered[self.boxes[number - step][place]] = part
        return np.array([gathered[node] for node in self.nodes])

    async def _broadcast(self, node: Node, own: int, of_place: dict[int, np.ndarray]) -> None:
        """Add what the other places of the box have to ``of_place``."""
        cop, every, handed = node.cop, self.every, f"{self.label}_handed"
        first = own - own % every
        others = [place for place in range(0, len(self.box[node.number]), every) if place != own]
        for place in range(0, len(self.box[node.number]), every):
            await getattr(cop, f"{self.label}{place}_load")()
        if every > 1:
            await getattr(cop, f"{handed}_load")()
        for turn in range(every):
            calls = []
            if own == first:
                calls.append(getattr(cop, f"{self.label}{own}_write")(of_place[own + turn]))
            if every > 1 and turn == 0:
                calls.append(getattr(cop, f"{handed}_func")(of_place[own]))
            reads = len(calls)
            calls += [getattr(cop, f"{self.label}{place}_read")() for place in others]
            read = await node.together(*calls)
            if every > 1 and turn == 0 and own == first:
                of_place[own + 1] = read[1]
            of_place.update(zip((place + turn for place in others), read[reads:], strict=True))


class ReduceScatter:
    """Of a vector of as many parts as nodes, each node gets its part, combined over the vectors of all.

    Parameters
    ----------
    label : str
        Of its operator; that of its loop is ``label`` and "_steps".
    topology : Topology
        The network; all working nodes take part.
    words : int
        Words of a part, int32.
    function : callable
        Combines two arrays; it must be associative and commute.
    """

    def __init__(
        self,
        label: str,
        topology: Topology,
        words: int,
        function: Callable[[np.ndarray, np.ndarray], np.ndarray] = np.add,
    ) -> None:
        self.label, self.words, self.function = label, words, function
        nodes = topology.working
        found = cycle_of(nodes, topology)
        self.ring: Sequence[int] = found if len(found) == len(nodes) else back_and_forth(topology.working, topology)
        self.nodes = nodes

    def parts(self) -> Parts:
        """The operators: in a loop, everyone sends to the next on the ring."""
        if len(self.ring) < 2:
            return cshift(self.label, 0, m=self.words)  # as every program has an operator
        steps = loop(f"{self.label}_steps", len(self.ring) - 1, cshift(self.label, 1, m=self.words))
        return subset(list(self.ring), steps)

    async def carried_out(self, node: Node, vector: np.ndarray) -> np.ndarray:
        """The node's part, combined; ``vector`` has a row of words for each node, in the order of their numbers."""
        rows = dict(zip(self.nodes, np.array(vector, np.int32).reshape(len(self.nodes), self.words), strict=True))
        ring, at = self.ring, self.ring.index(node.number)
        cop = node.cop
        if len(ring) > 1:
            await getattr(cop, f"{self.label}_steps_load")()
            await getattr(cop, f"{self.label}_load")()
        passed = rows[ring[at - 1]]
        for step in range(2, len(ring) + 1):
            passed = self.function(await getattr(cop, f"{self.label}_func")(passed), rows[ring[at - step]])
        return passed


def boxes_of(topology: Topology) -> list[tuple[int, ...]]:
    """The nodes in boxes of equal size, each of at most `AT_ONCE` or of `PAIRED` nodes with a cycle through them, as large as can
    be. Where there are no such boxes: all nodes in one, if they are few, or each by itself in a ring."""
    nodes = topology.working
    cycle = cycle_of(nodes, topology)
    if len(nodes) <= AT_ONCE or (len(nodes) in PAIRED and len(cycle) == len(nodes)):
        return [nodes]
    sides: list[tuple[int, ...]] = []
    if topology.regular and not topology.dead:
        divisors = ([k for k in range(1, size + 1) if size % k == 0] for size in topology.size)
        sides = [
            box
            for box in product(*divisors)
            if (prod(box) <= AT_ONCE or prod(box) in PAIRED) and _has_cycle(box) and prod(box) < len(nodes)
        ]
    if not sides:
        return [(node,) for node in (cycle if len(cycle) == len(nodes) else back_and_forth(topology.working, topology))]
    box = max(sides, key=lambda box: (prod(box), -max(box)))
    found: dict[tuple[int, ...], list[int]] = {}
    for node in nodes:
        at = topology.coordinates(node)
        found.setdefault(tuple(k // side for k, side in zip(at, box, strict=True)), []).append(node)
    places = mesh(*(size // side for size, side in zip(topology.size, box, strict=True)))
    return [tuple(found[places.coordinates(place)]) for place in back_and_forth(tuple(range(places.nodes)), places)]


def _has_cycle(box: tuple[int, ...]) -> bool:
    """Does a cycle go through all nodes of a mesh of this size?"""
    return prod(box) % 2 == 0 and sum(side > 1 for side in box) > 1
