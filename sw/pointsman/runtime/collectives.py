"""All-gather, reduce-scatter and all-to-all for applications: operators of COP, and what each node calls.

``parts()`` stands in the application's program, ``carried_out`` is awaited by every node. What both take is set by the accesses
of a processor, one a cycle.

*All-gather* of a message of m words from each of n nodes. Every node has to write one message and to read n - 1, n m accesses.
Broadcasts from all nodes at the same time come to that, as routers fork words; but a node needs an interface register for each
of them. So every second node of a cycle hands its message to the node before it, which broadcasts its own message meanwhile and
that of the other after it: (n + 1) m accesses, with half as many broadcasts. Larger networks are tiled by boxes of b nodes with
a cycle through all of them. First each node exchanges messages with the nodes at its place in the other n / b boxes, by
broadcasts at the same time; then the nodes of a box broadcast what they have: (n + 2 n / b) m accesses. Boxes are long, so that
words between them go straight. Many boxes exchange in a ring, of which the accesses are (2 (n / b - 1) + n + n / b) m. Short
messages go both ways round a cycle through all nodes, each half way: 2 (n - 1) m accesses in n / 2 steps, but three or four slots
do for the schedule, and less has to be loaded.

*Reduce-scatter*, parts of m words: partial sums go round a cycle through all nodes, and each node adds its own words to what it
passes on: n - 1 messages written and n - 1 read, 2 (n - 1) m accesses, the least that is possible. Short parts go round both
ways, with as many accesses in half the steps. The function has to commute.

*All-to-all*, messages of m words: a shift for each distance, several at the same time, so that processors are seldom idle and
phases change seldom: 2 (n - 1) m accesses. A node needs two interface registers for each shift of a group. Where a phase ends,
words go over the streams of its shifts to tell that all are done, so distances that come back (d and n - d) are in the same
group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from math import ceil, prod

import numpy as np

from pointsman.artifacts.routes.routes import RouteProblem
from pointsman.cop import Part, Parts, broadcast, cshift, eoshift, loop, parallel, phase, sequential, subset
from pointsman.network import Topology, mesh
from pointsman.operators.scheduled.shift import StrShiftRound
from pointsman.operators.trees.cycles import cycle_of
from pointsman.operators.trees.multicast_trees import back_and_forth
from pointsman.routing.phase_router.packed import MOST_STREAMS

from .api.node import Node

AT_ONCE = 12
"""Broadcasts at the same time, at most: a node needs a register for each, and of 16 two belong to the pipelines."""
EXCHANGED = 6
"""Boxes between which messages are broadcast at the same time, at most; with more they go round in a ring."""
PAIRED = (16, 20, 24)
"""Nodes of a cycle of which every second one broadcasts: with these numbers, rounds of their words leave no slot more unused than
others do (`pointsman.routing.phase_router.rounds`)."""

FEW = 8
"""Words of the messages of an all-gather, at most, that go both ways round a cycle: more accesses, and a shorter schedule."""
FEWER = 2
"""Words of the parts of a reduce-scatter, at most, that go both ways: what they take is set by the number of steps."""

SHIFTS = 7
"""Shifts at the same time, at most: a node needs two registers for each, and of 16 two belong to the pipelines."""

FILLED = 0.94
"""Share of the slots of two pipelines that a packing of single words uses, about."""


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
        self.around = _BothWays(label, topology, words) if words <= FEW and len(self.nodes) > AT_ONCE else None
        """How short messages go to all nodes; None: others do otherwise."""
        boxes = boxes_of(topology)
        around = all(len(cycle_of(box, topology)) == len(box) for box in boxes)
        self.way = "str_bcast_round" if around else None
        """Implementation on scheduled routers; None: the compiler chooses."""
        if around:  # boxes are alike, so the same places make a cycle in each
            order = [boxes[0].index(node) for node in cycle_of(boxes[0], topology)]
            boxes = [tuple(box[place] for place in order) for box in boxes]
        self.boxes: list[tuple[int, ...]] = boxes
        self.box = {node: box for box in self.boxes for node in box}
        self.ring = len(boxes) > EXCHANGED
        """Do messages go from box to box in a ring?"""
        self.every = 1 if len(boxes[0]) <= AT_ONCE else 2
        """Of so many nodes of a box, one after the other, the first broadcasts."""

    def parts(self) -> Parts:
        """The operators: shifts between boxes in a loop, and broadcasts in boxes; or shifts both ways round all nodes. A single
        node gets an operator as well, as every program has one."""
        if self.around is not None:
            return self.around.parts()
        found: list[Part] = []
        across, wide = len(self.boxes), len(self.boxes[0])
        if across > 1:
            alike = [list(nodes) for nodes in zip(*self.boxes, strict=True)]
            if self.ring:
                steps = loop(f"{self.label}_steps", across - 1, cshift(f"{self.label}_on", 1, m=self.words))
                found.append(subset(alike, steps))
            else:
                exchange = [broadcast(f"{self.label}_from{k}", k, m=self.words) for k in range(across)]
                found.append(subset(alike, phase(parallel(*exchange))))
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
        if self.around is not None:
            return await self._passed_on(node, message)
        cop, box = node.cop, self.box[node.number]
        across, own = len(self.boxes), box.index(node.number)
        number = self.boxes.index(box)
        passed = np.array(message, np.int32)
        held = {number: passed}
        """By box, the message of the node at this place."""
        if self.ring and across > 1:
            await getattr(cop, f"{self.label}_steps_load")()
            await getattr(cop, f"{self.label}_on_load")()
            for step in range(1, across):
                passed = await getattr(cop, f"{self.label}_on_func")(passed)
                held[(number - step) % across] = passed
        elif across > 1:
            others = [k for k in range(across) if k != number]
            for k in range(across):
                await getattr(cop, f"{self.label}_from{k}_load")()
            write = getattr(cop, f"{self.label}_from{number}_write")(passed)
            reads = (getattr(cop, f"{self.label}_from{k}_read")() for k in others)
            read = await node.together(write, *reads)
            held.update(zip(others, read[1:], strict=True))
        mine = np.concatenate([held[k] for k in range(across)])
        of_place = {own: mine}
        if len(box) > 1:
            await self._broadcast(node, own, of_place)
        gathered: dict[int, np.ndarray] = {}
        for place, words in of_place.items():
            for k, part in enumerate(np.reshape(words, (across, self.words))):
                gathered[self.boxes[k][place]] = part
        return np.array([gathered[node] for node in self.nodes])

    async def _passed_on(self, node: Node, message: np.ndarray) -> np.ndarray:
        """As `carried_out`, by shifts: each message goes half way round in each direction."""
        assert self.around is not None
        ring = self.around.ring
        at, count = ring.index(node.number), len(ring)
        forwards = backwards = np.array(message, np.int32)
        gathered = {node.number: forwards}
        await self.around.load(node)
        for step in range(1, count // 2 + 1):
            forwards, backwards = await self.around.shifted(node, step, forwards, backwards)
            gathered[ring[at - step]] = forwards
            if step <= (count - 1) // 2:
                gathered[ring[(at + step) % count]] = backwards
        return np.array([gathered[number] for number in self.nodes])

    async def _broadcast(self, node: Node, own: int, of_place: dict[int, np.ndarray]) -> None:
        """Add what the other places of the box have to ``of_place``."""
        cop, every, handed = node.cop, self.every, f"{self.label}_handed"
        first = own - own % every
        others = [place for place in range(0, len(self.box[node.number]), every) if place != own]
        for place in range(0, len(self.box[node.number]), every):
            await getattr(cop, f"{self.label}{place}_load")()
        if every > 1:
            await getattr(cop, f"{handed}_load")()
        for step in range(every):
            calls = []
            if own == first:
                calls.append(getattr(cop, f"{self.label}{own}_write")(of_place[own + step]))
            if every > 1 and step == 0:
                calls.append(getattr(cop, f"{handed}_func")(of_place[own]))
            reads = len(calls)
            calls += [getattr(cop, f"{self.label}{place}_read")() for place in others]
            read = await node.together(*calls)
            if every > 1 and step == 0 and own == first:
                of_place[own + 1] = read[1]
            of_place.update(zip((place + step for place in others), read[reads:], strict=True))


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
        self.nodes = topology.working
        self.ring = ring_of(topology)
        self.both = _BothWays(label, topology, words) if words <= FEWER and len(self.ring) > 2 else None
        """How short parts go round; None: others go one way."""

    def parts(self) -> Parts:
        """The operators: in a loop, everyone sends to the next on the ring, short parts also to the one before."""
        if len(self.ring) < 2:
            return cshift(self.label, 0, m=self.words)  # as every program has an operator
        if self.both is not None:
            return self.both.parts()
        steps = loop(f"{self.label}_steps", len(self.ring) - 1, cshift(self.label, 1, m=self.words))
        return subset(list(self.ring), steps)

    async def carried_out(self, node: Node, vector: np.ndarray) -> np.ndarray:
        """The node's part, combined; ``vector`` has a row of words for each node, in the order of their numbers."""
        rows = dict(zip(self.nodes, np.array(vector, np.int32).reshape(len(self.nodes), self.words), strict=True))
        ring, at = self.ring, self.ring.index(node.number)
        if self.both is not None:
            return await self._both_ways(node, rows)
        cop = node.cop
        if len(ring) > 1:
            await getattr(cop, f"{self.label}_steps_load")()
            await getattr(cop, f"{self.label}_load")()
        passed = rows[ring[at - 1]]
        for step in range(2, len(ring) + 1):
            passed = self.function(await getattr(cop, f"{self.label}_func")(passed), rows[ring[at - step]])
        return passed

    async def _both_ways(self, node: Node, rows: Mapping[int, np.ndarray]) -> np.ndarray:
        """As `carried_out`: the sum over one half of the ring comes forwards, that over the other half backwards."""
        assert self.both is not None
        ring, at, count = self.ring, self.ring.index(node.number), len(self.ring)
        there, back = count // 2, (count - 1) // 2
        forwards, backwards = rows[ring[(at + there) % count]], rows[ring[at - back]]
        await self.both.load(node)
        for step in range(1, there + 1):
            forwards, backwards = await self.both.shifted(node, step, forwards, backwards)
            forwards = self.function(forwards, rows[ring[(at + there - step) % count]])
            if step < back:
                backwards = self.function(backwards, rows[ring[at - back + step]])
        return self.function(forwards, backwards)


class _BothWays:
    """Shifts to the next node on a ring and to the one before, of ``words`` words, at the same time, over and over."""

    def __init__(self, label: str, topology: Topology, words: int) -> None:
        self.label, self.words, self.ring = label, words, ring_of(topology)

    def parts(self) -> Parts:
        """The operators, half as many times as there are nodes."""
        names = {self.label: 1, f"{self.label}_back": -1}
        shifts = [cshift(name, distance, m=self.words, impl=StrShiftRound.name) for name, distance in names.items()]
        return subset(list(self.ring), loop(f"{self.label}_steps", len(self.ring) // 2, phase(parallel(*shifts))))

    async def load(self, node: Node) -> None:
        """The load functions, once before all steps."""
        for name in ("_steps", "", "_back"):
            await getattr(node.cop, f"{self.label}{name}_load")()

    async def shifted(
        self, node: Node, step: int, forwards: np.ndarray, backwards: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """What comes from the node before and from the next one at a step, of which the first is 1. In the last step round an
        even number of nodes, of which one is opposite, nothing goes back, and ``backwards`` is what it was."""
        calls = [getattr(node.cop, f"{self.label}_func")(forwards)]
        if step <= (len(self.ring) - 1) // 2:
            calls.append(getattr(node.cop, f"{self.label}_back_func")(backwards))
        came = await node.together(*calls)
        return came[0], came[1] if len(came) > 1 else backwards


def ring_of(topology: Topology) -> tuple[int, ...]:
    """All nodes along a cycle if there is one, else near each other."""
    found = cycle_of(topology.working, topology)
    return tuple(found if len(found) == len(topology.working) else back_and_forth(topology.working, topology))


class AllToAll:
    """Every node has a message for every other one.

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
        self.groups: list[tuple[int, ...]] = shifts_at_once(topology)
        """Distances by number of the node, those at the same time together."""

    def parts(self) -> Parts:
        """The operators: shifts, in groups."""
        if len(self.nodes) < 2:
            return cshift(f"{self.label}0", 0, m=self.words)  # as every program has an operator
        found: list[Part] = []
        for group in self.groups:
            way = StrShiftRound.name if len(group) > 1 else None
            shifts = [cshift(f"{self.label}{distance}", distance, m=self.words, impl=way) for distance in group]
            found.append(phase(parallel(*shifts)) if len(shifts) > 1 else shifts[0])
        return subset(list(self.nodes), sequential(*found))

    async def carried_out(self, node: Node, messages: np.ndarray) -> np.ndarray:
        """What came, a row from each node in the order of their numbers. ``messages`` has a row for each node; that of the node
        itself is its own."""
        at, count, cop = self.nodes.index(node.number), len(self.nodes), node.cop
        rows = np.array(messages, np.int32).reshape(count, self.words)
        came = rows.copy()
        for group in self.groups:
            for distance in group:
                await getattr(cop, f"{self.label}{distance}_load")()
            read = await node.together(
                *(getattr(cop, f"{self.label}{distance}_func")(rows[(at + distance) % count]) for distance in group)
            )
            for distance, words in zip(group, read, strict=True):
                came[(at - distance) % count] = words
        return came


def shifts_at_once(topology: Topology) -> list[tuple[int, ...]]:
    """All distances between n working nodes, 1 to n - 1, in groups of about the same size that load links and routers about
    alike; each distance by itself where a group would have more streams than can be packed."""
    count = len(topology.working)
    distances = range(1, count)
    if count < 2 or count * min(SHIFTS, count - 1) > MOST_STREAMS:
        return [(distance,) for distance in distances]
    network = RouteProblem(topology, (), dead_nodes=topology.dead)
    away = [[hops[other] for other in topology.working] for hops in map(network.distances, topology.working)]
    hops = {d: sum(away[at][(at + d) % count] for at in range(count)) / count for d in distances}
    number = -(-len(distances) // SHIFTS)
    room = [len(distances) // number + (k < len(distances) % number) for k in range(number)]
    groups: list[list[int]] = [[] for _ in room]
    pairs = sorted({tuple(sorted({d, count - d})) for d in distances}, key=lambda pair: (-len(pair), -hops[pair[0]]))

    def carried(k: int) -> float:
        return sum(hops[d] for d in groups[k])

    for pair in pairs:
        fitting = [k for k in range(number) if len(groups[k]) + len(pair) <= room[k]]
        if fitting:
            groups[min(fitting, key=carried)] += pair
            continue
        for distance in pair:
            groups[min((k for k in range(number) if len(groups[k]) < room[k]), key=carried)].append(distance)
    _exchange(groups, hops, count)
    # No words tell of the end of the last phase, so the group in which they would take longest comes last.
    groups.sort(key=lambda group: _depth(group, count))
    return [tuple(group) for group in groups]


def _exchange(groups: list[list[int]], hops: dict[int, float], count: int) -> None:
    """Exchange pairs of opposite distances between groups as long as that makes schedules shorter, or the trees of their
    streams less deep."""

    def worth() -> tuple[float, int, float]:
        loads = [sum(hops[d] for d in group) + len(group) for group in groups]
        depths = sorted(_depth(group, count) for group in groups)
        return max(ceil(load / 2 / FILLED) for load in loads), sum(depths[:-1]), max(loads)

    best = worth()
    places = [(k, pair) for k, group in enumerate(groups) for pair in {tuple(sorted((d, count - d))) for d in group}]
    whole = [(k, pair) for k, pair in sorted(places) if pair[0] != pair[1] and set(pair) <= set(groups[k])]
    improved = True
    while improved:
        improved = False
        for one, other in combinations(range(len(whole)), 2):
            (a, first), (b, second) = whole[one], whole[other]
            if a == b:
                continue
            before = [list(groups[a]), list(groups[b])]
            groups[a] = [d for d in groups[a] if d not in first] + list(second)
            groups[b] = [d for d in groups[b] if d not in second] + list(first)
            found = worth()
            if found < best:
                best, improved = found, True
                whole[one], whole[other] = (b, first), (a, second)
            else:
                groups[a], groups[b] = before


def _depth(group: Sequence[int], count: int) -> int:
    """Shifts, there and back, by which words come from a node to all others; as many as there are nodes if they do not."""
    both = [d for d in group if count - d in group]
    level = {0: 0}
    queue = [0]
    for at in queue:
        for distance in both:
            to = (at + distance) % count
            if to not in level:
                level[to] = level[at] + 1
                queue.append(to)
    return max(level.values()) if len(level) == count else count


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
    box = max(sides, key=lambda box: (prod(box), max(box)))
    found: dict[tuple[int, ...], list[int]] = {}
    for node in nodes:
        at = topology.coordinates(node)
        found.setdefault(tuple(k // side for k, side in zip(at, box, strict=True)), []).append(node)
    places = mesh(*(size // side for size, side in zip(topology.size, box, strict=True)))
    return [tuple(found[places.coordinates(place)]) for place in back_and_forth(tuple(range(places.nodes)), places)]


def _has_cycle(box: tuple[int, ...]) -> bool:
    """Does a cycle go through all nodes of a mesh of this size?"""
    return prod(box) % 2 == 0 and sum(side > 1 for side in box) > 1
