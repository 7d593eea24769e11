"""Program -> cycles that an operator, or operators together, take at least on a network of any of the targets.

No route, schedule or implementation is assumed, only what the hardware cannot exceed (`Hardware`):

*Port*: a processor makes one access to its router a cycle. A node that has to write w and to read r words of a message
spends w + r cycles in its I/O functions. On scheduled routers no word is read in the first `ACCESS_TO_ACCESS` + 1 cycles, as none
has come yet, so r words take r + 4 cycles at least.

*Ports*: all processors together make an access a cycle each. Words of several nodes are combined by processors. Until one of n
nodes has the sum of all, n - 1 words have been read, each of which brings one node what another one had; if all are to have it,
each of the others reads once more after that (2 n - 2 one-way calls: Harary and Schwenk 1974). Whoever is read has written, at
least once each: n - 1 nodes, or all. So a message of m words takes 2 (n - 1) m accesses for a reduction, (3 n - 2) m for an
allreduce. Where routers fork no words, each word that is read was written for this reader.

*At the end* (scheduled routers): a word that is read was written four cycles before at least, so in the last cycles of a
reduction only the destination's accesses are of use; each word that it reads there has one other processor write it, which may
have read until then, and so on back: N(i) = N(i - 1) + N(i - 5) processors in the i-th cycle before the end, and 1 up to N(4). A
reduction takes as many cycles as make up its 2 (n - 1) m accesses in this way. That holds of messages to one node that share the
network with nothing.

*Cut*: a link carries one word a cycle in each direction. If of every message w words have to get from the nodes S to the
others, and k links lead from S to them, w / k cycles pass while words are under way. A word for several nodes may be forked, so
it has to cross once; messages that are combined may be combined before they cross, so m words have to cross. A switch has a link
into it and a link out of it for each node, which carry slot_words words a slot.

*Links*: a word crosses at least as many links as its destination is away; all links together carry a word a cycle each. A word
for several nodes crosses at least one link for each of them, since a node gets it by a link of its own; words of several nodes
that are combined, one for each of these.

*Moves* (scheduled routers): each link crossed and each delivery is a move of a router, which makes as many a cycle as it has
pipelines, or half as many as it has virtual finite state machines (VFSMs) if that is less: each moves a word every other slot at
most (Metcalf 1997, §7.1.2).

*Latency* (scheduled routers): a word is read `ACCESS_TO_ACCESS` cycles and one for each link after it was written, so m
words to a node d links away take m + 3 + d cycles. Where processors combine, a node can know after t cycles of the words of
k(t) = k(t - 1) + k(t - 5) nodes, the latter by its last read (as in Karp and others 1993, of broadcasts); the first that knows of
all has m - 1 more words to read. This is of one message: others may follow while it is under way.

The first bound is of each node's own cycles; the others are of the time from the beginning of the first I/O function of a message
to the end of the last, at any node: all its words move in between. So all are bounds of that time (summed over messages, with
overlaps counted once). Words, and so bounds, of operators in one phase add up resource by resource.

Of run-time values every resource gets the least over all values that the program allows, each on its own. Left out: loading,
changes of phase, headers of messages, and slots that cannot be used; a bound is therefore reached closely by long
messages only. ``barrier`` moves no words, and operators with ``:valid`` and permutations of run-time values have no bound here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise, product
from math import ceil

import numpy as np

from numesh.codes import ACCESS_TO_ACCESS, FIRST_FREE_VFSM
from numesh.shape import NodeShape
from pointsman.network import Topology
from pointsman.operators.api.operands import operand, runtime_values
from pointsman.program.program import Operator

MOST_VALUES = 256
"""Run-time values of an operator beyond which it has no bound."""


@dataclass(frozen=True)
class LowerBound:
    """``cycles`` at least; ``kind``: port, ports, cut, links, moves or latency; ``text``: the argument in words."""

    cycles: float
    kind: str
    text: str


@dataclass(frozen=True)
class Flow:
    """Words that have to get from ``senders`` to ``receivers``. Those of several senders may be combined on their way,
    those
    for several receivers forked. ``ordered``: both lists are the same, and a receiver needs words of senders before
    it."""

    senders: tuple[int, ...]
    receivers: tuple[int, ...]
    ordered: bool = False


@dataclass(frozen=True)
class Demand:
    """What one message of an operator needs at least, in words.

    ``accesses``: of each node's processor, ``reads`` of them; ``crossing``: over each of `Cuts`; ``hops``: links crossed by all
    words; ``deliveries``: words read; ``writes``: words written where routers fork. ``calls``: I/O calls of a node for the
    message; 0 where that depends on run-time values. ``latency``: cycles of one message, from its first access to its last, on
    scheduled routers. ``reduces``: all words are combined for one node, whichever it is.
    """

    accesses: np.ndarray
    crossing: np.ndarray
    hops: float
    deliveries: float
    calls: np.ndarray
    reads: np.ndarray
    writes: float = 0.0
    latency: float = 0.0
    reduces: bool = False


@dataclass(frozen=True)
class Hardware:
    """What bounds assume of the hardware.

    Parameters
    ----------
    moves : float or None
        Words that a router moves a cycle; None: no less than its links.
    forks : bool
        One word that was written can be read at several nodes.
    word_cycles : float
        Cycles from word to word on a link.
    latency : bool
        Words take `ACCESS_TO_ACCESS` cycles and one for each link.
    """

    moves: float | None = None
    forks: bool = True
    word_cycles: float = 1.0
    latency: bool = False


class Cuts:
    """Sets of nodes with the number of links that lead out of each: boxes at the corners of a mesh, else what is near
    a node, and
    single nodes; each with its complement.

    ``switch``: the nodes are not joined to each other but to a switch, each by a link to it and a link from it; then sets are
    single nodes and their complements.
    """

    def __init__(self, topology: Topology, *, switch: bool = False) -> None:
        self.topology = topology
        if switch:
            nodes = topology.nodes
            self.pairs = np.array([(node, node) for node in range(nodes)], np.int64).reshape(-1, 2)
            self.distances = 1 - np.eye(nodes, dtype=np.int64)
            single = np.eye(nodes, dtype=bool) if nodes > 1 else np.zeros((0, 1), bool)
            self.masks = np.concatenate([single, ~single])
            self.names = [f"{which} {node}" for which in ("node", "all but node") for node in range(len(single))]
            self.width = np.ones(len(self.masks), np.int64)
            return
        pairs = [(link.node, link.other) for link in topology.links]
        self.pairs = np.array([*pairs, *((v, u) for u, v in pairs)], np.int64).reshape(-1, 2)
        sides = {name: mask for name, mask in self._sides() if mask.any() and not mask.all()}
        self.names = [*sides, *(f"all but {name}" for name in sides)]
        masks = np.array(list(sides.values()), bool).reshape(-1, topology.nodes)
        self.masks = np.concatenate([masks, ~masks])
        inside = self.masks
        self.width = (inside[:, self.pairs[:, 0]] & ~inside[:, self.pairs[:, 1]]).sum(axis=1)

    @cached_property
    def distances(self) -> np.ndarray:
        """Links from node to node; a large number where there is no way."""
        nodes = self.topology.nodes
        after: list[list[int]] = [[] for _ in range(nodes)]
        for u, v in self.pairs:
            after[u].append(int(v))
        far = np.full((nodes, nodes), 1 << 30, np.int64)
        for source in range(nodes):
            far[source, source] = 0
            reached = [source]
            for node in reached:
                for other in after[node]:
                    if far[source, other] > far[source, node] + 1:
                        far[source, other] = far[source, node] + 1
                        reached.append(other)
        return far

    def _sides(self) -> Iterable[tuple[str, np.ndarray]]:
        topology = self.topology
        nodes = np.arange(topology.nodes)
        for node in nodes:
            yield f"node {node}", nodes == node
        if topology.has_coordinates:
            places = np.array([topology.coordinates(int(node)) for node in nodes], np.int64)
            ranges = [
                [*((0, high) for high in range(1, size + 1)), *((low, size) for low in range(1, size))]
                for size in topology.size
            ]
            for box in product(*ranges):
                inside = np.ones(topology.nodes, bool)
                named = []
                for axis, (low, high) in enumerate(box):
                    inside &= (places[:, axis] >= low) & (places[:, axis] < high)
                    if high - low < topology.size[axis]:
                        named.append(f"{'xyz'[axis]} = {low}" + (f"..{high - 1}" if high - low > 1 else ""))
                if named:
                    yield f"the nodes with {' and '.join(named)}", inside
        else:
            for middle in range(0, topology.nodes, max(1, topology.nodes // 32)):
                for radius in range(1, topology.nodes):
                    near = self.distances[middle] <= radius
                    if near.sum() * 2 > topology.nodes:
                        break
                    yield f"the nodes within {radius} links of {middle}", near


def demand(operator: Operator, cuts: Cuts) -> Demand | None:
    """What a message of an operator needs at least, all its instances together; None if nothing can be said."""
    if operator.valid is not None or operator.kind in ("barrier", "collect"):
        return None
    values = runtime_values(operator) if operator.instances else ()
    if len(values) > MOST_VALUES:
        return None
    total: Demand | None = None
    for instance in range(len(operator.instances)):
        of_values = []
        for value in values:
            flows = _flows(operator, instance, value)
            if flows is None:
                return None
            nodes = operator.instances[instance].nodes
            of_values.append(_needs(flows, operator.m, cuts, nodes, functional=operator.flow == "functional"))
        if not of_values:
            return None
        least = Demand(
            np.min([one.accesses for one in of_values], axis=0),
            np.min([one.crossing for one in of_values], axis=0),
            min(one.hops for one in of_values),
            min(one.deliveries for one in of_values),
            _agreed([one.calls for one in of_values]),
            np.min([one.reads for one in of_values], axis=0),
            min(one.writes for one in of_values),
            min(one.latency for one in of_values),
        )
        total = least if total is None else _added([(total, 1), (least, 1)])
    if operator.kind == "reduce" and total is not None and len(operator.instances) == len(values) == 1:
        total = replace(total, reduces=True)
    return total


def lower_bound(needs: Iterable[tuple[Demand, float]], cuts: Cuts, hardware: Hardware) -> LowerBound:
    """The greatest of the bounds for operators, given as (demand of a message, number of messages), that share a network."""
    given = [(need, times) for need, times in needs if times]
    needed = _added(given)
    if needed is None:
        return LowerBound(0.0, "none", "no word has to move")
    node, nodes = int(np.argmax(needed.accesses)), len(cuts.topology.working)
    found = [
        LowerBound(
            float(needed.accesses[node]),
            "port",
            f"the processor of node {node} moves {_words(needed.accesses[node])}, one a cycle",
        )
    ]
    writes, why = (needed.writes, "") if hardware.forks else (needed.deliveries, ", and nothing is forked")
    text = f"{nodes} processors write {_words(writes)} and read {_words(needed.deliveries)}{why}"
    found.append(LowerBound((writes + needed.deliveries) / nodes, "ports", text))
    if hardware.latency and len(given) == 1 and given[0][0].reduces:
        text += ", in the last cycles fewer and fewer of them"
        found.append(LowerBound(_to_the_end(writes + needed.deliveries, nodes), "ports", text))
    wide = cuts.width > 0
    if wide.any():
        times = np.where(wide, needed.crossing / np.maximum(cuts.width, 1), 0.0) * hardware.word_cycles
        cut = int(np.argmax(times))
        links = f"{cuts.width[cut]} link{'s' if cuts.width[cut] > 1 else ''}"
        text = f"{_words(needed.crossing[cut])} leave {cuts.names[cut]} by {links}"
        if hardware.word_cycles != 1:
            text += f", a word every {hardware.word_cycles:.3g} cycles"
        found.append(LowerBound(float(times[cut]), "cut", text))
        links_all = len(cuts.pairs)
        found.append(
            LowerBound(
                needed.hops / links_all * hardware.word_cycles,
                "links",
                f"{_words(needed.hops)} cross a link, counted at each, and there are {links_all} links",
            )
        )
    if hardware.moves is not None:
        moves = (needed.hops + needed.deliveries) / (nodes * hardware.moves)
        text = f"routers make {needed.hops + needed.deliveries:,.0f} moves, each {hardware.moves:g} a cycle"
        found.append(LowerBound(moves, "moves", text))
    if hardware.latency and needed.latency:
        text = "of a message, from its first access to its last, words are under way or wait for each other"
        found.append(LowerBound(needed.latency, "latency", text))
    if hardware.latency and needed.reads.any():
        reader, idle = int(np.argmax(needed.reads)), ACCESS_TO_ACCESS + 1
        text = (
            f"the processor of node {reader} reads {_words(needed.reads[reader])}, and none in the first {idle} cycles"
        )
        found.append(LowerBound(float(needed.reads[reader]) + idle, "port", text))
    return max(found, key=lambda one: one.cycles)


def scheduled(shape: NodeShape) -> Hardware:
    """Scheduled routers of a shape."""
    free = shape.vfsms - FIRST_FREE_VFSM
    return Hardware(moves=shape.pipelines * min(1.0, free / 2), latency=True)


def program_bounds(
    operators: Iterable[Operator], messages: Mapping[str, float], topology: Topology, hardware: Hardware
) -> dict[str, LowerBound]:
    """By label, the least cycles of operators of which so many messages are sent; those without a bound are left
    out."""
    cuts = Cuts(topology)
    found = {}
    for operator in operators:
        needs = demand(operator, cuts)
        if needs is not None and messages.get(operator.label):
            found[operator.label] = lower_bound([(needs, messages[operator.label])], cuts, hardware)
    return found


# -- flows of each kind of operator --------------------------------------------------------------------------------


def _flows(operator: Operator, instance: int, value: tuple[int, ...]) -> list[Flow] | None:
    """The flows of a message, in positions of the instance."""
    positions = range(len(operator.instances[instance].nodes))
    everyone = tuple(positions)

    def end(name: str) -> int:
        return operand(operator, instance, name, value)

    match operator.kind:
        case "broadcast":
            source = end("source")
            return [Flow((source,), tuple(k for k in positions if k != source))]
        case "spread":
            return [Flow((end("source"),), (k,)) for k in positions if k != end("source")]
        case "gather":
            return [Flow((k,), (end("destination"),)) for k in positions if k != end("destination")]
        case "seqread":
            return [Flow((k,), (end("destination"),)) for k in _chain(operator, instance, "sources")]
        case "seqwrite":
            return [Flow((end("source"),), (k,)) for k in _chain(operator, instance, "destinations")]
        case "stream":
            return [Flow((end("source"),), (end("destination"),))]
        case "reduce":
            destination = end("destination")
            return [Flow(tuple(k for k in positions if k != destination), (destination,))]
        case "allreduce":
            return [Flow(everyone, everyone)]
        case "prefix":
            return [Flow(everyone, everyone, ordered=True)]
        case "cshift":
            return [Flow((k,), ((k + end("distance")) % len(positions),)) for k in positions]
        case "eoshift":
            return [Flow((k,), (k + end("distance"),)) for k in positions if k + end("distance") in positions]
        case "permute":
            permutation = operator.instances[instance].operand("permutation")
            if not isinstance(permutation, tuple):
                return None
            return [Flow((k,), (to,)) for k, to in enumerate(permutation)]
    return None


def _chain(operator: Operator, instance: int, name: str) -> tuple[int, ...]:
    chain = operator.instances[instance].operand(name)
    assert isinstance(chain, tuple)
    return chain


def _needs(flows: list[Flow], m: int, cuts: Cuts, nodes: tuple[int, ...], *, functional: bool) -> Demand:
    """What flows of an instance on ``nodes`` need, ``m`` words each."""
    accesses, reads_of = np.zeros(cuts.topology.nodes), np.zeros(cuts.topology.nodes)
    calls = np.zeros(cuts.topology.nodes, np.int64)
    crossing = np.zeros(len(cuts.masks))
    hops = deliveries = writes = latency = 0.0
    for flow in flows:
        senders = [nodes[k] for k in flow.senders]
        receivers = [nodes[k] for k in flow.receivers]
        if flow.ordered:
            senders, receivers = senders[:-1], receivers[1:]
        if not functional:
            np.add.at(calls, [*senders, *receivers], 1)
        if not receivers or not senders or len({*senders, *receivers}) == 1:
            continue  # a node that sends to itself
        np.add.at(accesses, [*senders, *receivers], m)
        np.add.at(reads_of, receivers, m)
        # Combined on the way: each sender but the last receiver's own words is read once by somebody who combines.
        combined = 0 if flow.ordered or len(senders) == 1 else len({*senders, *receivers}) - 1
        reads = max(len(receivers), combined + len(receivers) - 1)
        latency = max(latency, _told_of(combined + 1) + m - 1, m + ACCESS_TO_ACCESS + _farthest(flow, nodes, cuts))
        deliveries += m * reads
        writes += m * len(senders)
        inside = cuts.masks
        if flow.ordered:
            order = np.array([nodes[k] for k in flow.senders])
            crossing += m * _any_before(inside[:, order])
            hops += m * len(receivers)
        else:
            crossing += m * (inside[:, senders].any(axis=1) & ~inside[:, receivers].all(axis=1))
            far = int(cuts.distances[senders[0], receivers].max()) if len(senders) == 1 else 0
            hops += m * max(far, len(senders), len(receivers))
    if functional:
        calls[list(nodes)] = 1
    return Demand(accesses, crossing, hops, deliveries, calls, reads_of, writes, latency)


def _farthest(flow: Flow, nodes: tuple[int, ...], cuts: Cuts) -> int:
    """Links from a sender to a receiver of its words, where most."""
    far = cuts.distances[np.ix_([nodes[k] for k in flow.senders], [nodes[k] for k in flow.receivers])]
    return int((np.triu(far, 1) if flow.ordered else far).max())


def _told_of(nodes: int) -> int:
    """Cycles until a node can know of as many nodes, each of which accesses its router once a cycle; for one node those until
    it could read."""
    known = [1] * (ACCESS_TO_ACCESS + 2)  # at the end of each cycle, of the one before the first on
    while known[-1] < nodes:
        known.append(known[-1] + known[-ACCESS_TO_ACCESS - 2])
    return len(known) - 1


def _to_the_end(accesses: float, nodes: int) -> float:
    """Cycles of as many accesses that lead to one node's last: in the i-th cycle before the end those of as many processors can
    be of use as could know, after i cycles, what a node knew at first."""
    active = [1] * (ACCESS_TO_ACCESS + 2)  # of the cycles before the end, of that behind the last one on
    left, cycle = accesses, 0
    while left > 0:
        cycle += 1
        if cycle == len(active):
            active.append(active[-1] + active[-ACCESS_TO_ACCESS - 2])
        if active[cycle] >= nodes:
            return cycle - 1 + left / nodes
        left -= active[cycle]
    return cycle


def _any_before(inside: np.ndarray) -> np.ndarray:
    """For each row, is there a node inside that comes before a node outside?"""
    rest_inside = np.logical_and.accumulate(inside[:, :0:-1], axis=1)[:, ::-1]
    return np.asarray((inside[:, :-1] & ~rest_inside).any(axis=1))


def _agreed(calls: list[np.ndarray]) -> np.ndarray:
    """Calls of each node where all agree, else 0."""
    same = np.ones(len(calls[0]), bool)
    for one, other in pairwise(calls):
        same &= one == other
    return np.where(same, calls[0], 0)


def _added(needs: list[tuple[Demand, float]]) -> Demand | None:
    if not needs:
        return None
    return Demand(
        sum((times * one.accesses for one, times in needs), np.zeros(len(needs[0][0].accesses))),
        sum((times * one.crossing for one, times in needs), np.zeros(len(needs[0][0].crossing))),
        sum(times * one.hops for one, times in needs),
        sum(times * one.deliveries for one, times in needs),
        sum((one.calls for one, _ in needs), np.zeros(len(needs[0][0].calls), np.int64)),
        sum((times * one.reads for one, times in needs), np.zeros(len(needs[0][0].reads))),
        sum(times * one.writes for one, times in needs),
        max(one.latency if times else 0.0 for one, times in needs),
    )


def _words(count: float) -> str:
    return f"{ceil(count):,} word{'' if ceil(count) == 1 else 's'}"
