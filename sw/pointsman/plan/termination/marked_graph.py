"""How far all nodes of an operator must be when one node's I/O function returns, and how many cycles the words still
under way can take (Metcalf 1997, §5.2.1).

An operator in flight is a marked graph: its actors are the lanes of the processors and the VFSMs of the chains; event
(a, k) is actor a moving word k. An edge says that (a, k) cannot happen before (b, k - lag), and comes at most
``delay`` cycles after it when nothing else holds it back. Read backwards, the edges tell what must have happened when a
node's I/O function returns. Read forwards from there, they bound when the last word leaves each router.

Takes: lanes, settings and routed chains of one instance for one run-time value. Gives: whether the operator is
message-bound, whether it is processor-bound (leaves no word behind), and each node's delay in cycles. Non-goals:
operators whose lanes move different numbers of words, or take several calls.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from numesh.codes import SHORTEST_RELAY, SHORTEST_STAY
from pointsman.artifacts.images.images import LaneImage
from pointsman.operators.api.roles import VfsmSetting
from pointsman.operators.api.wiring import Wiring
from pointsman.routing.streams import RoutedVfsm, largest_gap

from .marked_graph_kernel import Graph, leave

Actor = tuple[Literal["lane", "in", "out"], int, int, int]
"""("lane", node, lane, 0); ("in", stream, chain, VFSM): the VFSM takes a word from a register or a buffer; ("out",
stream, chain, VFSM): it passes a word on."""


class Edge(NamedTuple):
    """Event (to, k) depends on event (frm, k - lag)."""

    frm: Actor
    to: Actor
    lag: int
    delay: int
    whole: bool = False
    """``to`` moves nothing before ``frm`` has moved everything."""


class MarkedGraph:
    """Actors and edges of one operator instance in flight."""

    def __init__(self) -> None:
        self.edges: list[Edge] = []
        self.actors: list[Actor] = []
        self.node_of: dict[Actor, int] = {}
        self.stride: dict[Actor, tuple[int, int]] = {}
        """(n, c): the actor moves words k with k mod n == c only."""
        self._arrays: dict[tuple[int, ...], Graph] = {}

    def add(self, actor: Actor, node: int, stride: tuple[int, int]) -> None:
        self.actors.append(actor)
        self.node_of[actor] = node
        self.stride[actor] = stride

    def join(self, frm: Actor, to: Actor, lag: int, delay: int, *, whole: bool = False) -> None:
        self.edges.append(Edge(frm, to, lag, delay, whole))

    def last_word(self, actor: Actor, words: int) -> int:
        """Highest word below ``words`` that the actor moves, -1 if none."""
        n, c = self.stride[actor]
        last = words - 1
        return last - (last - c) % n if last >= c else -1

    def progress(self, done: Sequence[Actor], words: int) -> dict[Actor, int]:
        """By actor, the least number of words that it must have passed when the actors ``done`` have moved all ``words``."""
        passed = dict.fromkeys(self.actors, 0)
        before = defaultdict(list)
        for edge in self.edges:
            before[edge.to].append(edge)
        queue = []
        for actor in done:
            passed[actor] = words
            queue.append(actor)
        while queue:
            actor = queue.pop()
            # This word has been moved, and so all events that it depends on have happened.
            last = self.last_word(actor, passed[actor])
            for edge in before[actor]:
                known = last - edge.lag + 1 if last >= edge.lag else 0
                if edge.whole:
                    known = words if passed[actor] else 0
                if known > passed[edge.frm]:
                    passed[edge.frm] = known
                    queue.append(edge.frm)
        return passed

    def finish_times(self, passed: Mapping[Actor, int], words: int) -> dict[Actor, int]:
        """Latest cycle, counted from the state ``passed``, at which each actor moves its last word. In plain Python, as
        a model for the tests of the compiled ``marked_graph_kernel``."""
        first = min(passed.values(), default=0)
        time: dict[tuple[Actor, int], int] = {}
        after = defaultdict(list)
        for edge in self.edges:
            after[edge.to].append(edge)
        order = self._order(after)
        for k in range(first, words):
            for actor in order:
                n, c = self.stride[actor]
                if k % n != c:
                    continue
                if k < passed[actor]:
                    continue
                latest = 0
                for edge in after[actor]:
                    if edge.whole:
                        continue  # `termination` asks only about states in which these have happened
                    m = self.last_word(edge.frm, k - edge.lag + 1)
                    if m >= 0:
                        latest = max(latest, time.get((edge.frm, m), 0) + edge.delay)
                time[actor, k] = latest
        return {actor: time.get((actor, self.last_word(actor, words)), 0) for actor in self.actors}

    def arrays(self, nodes: Sequence[int], words: int) -> tuple[Graph, int]:
        """The finished graph as arrays, for questions about ``nodes``; and the most words over which an edge looks back, strides
        added."""
        graph = self._arrays.get(tuple(nodes))
        if graph is None:
            graph = self._arrays[tuple(nodes)] = self._as_arrays(nodes)
        lag = np.minimum(graph.lag, words)
        return graph._replace(lag=lag), int(lag.max(initial=0) + graph.stride[:, 0].max(initial=1) + 1)

    def _as_arrays(self, nodes: Sequence[int]) -> Graph:
        place = {node: i for i, node in enumerate(nodes)}
        number = {actor: i for i, actor in enumerate(self.actors)}
        after = defaultdict(list)
        for edge in self.edges:
            after[edge.to].append(edge)
        rows = [
            (number[edge.frm], edge.lag, edge.delay, edge.whole) for actor in self.actors for edge in after[actor]
        ]
        table = np.array(rows, np.int64).reshape(-1, 4)
        return Graph(
            stride=np.array([self.stride[actor] for actor in self.actors], np.int64).reshape(-1, 2),
            place=np.array([place.get(self.node_of[actor], -1) for actor in self.actors], np.int64),
            lane=np.array([actor[0] == "lane" for actor in self.actors], np.bool_),
            first_edge=np.cumsum([0, *(len(after[actor]) for actor in self.actors)]).astype(np.int64),
            edge_from=table[:, 0].copy(),
            lag=table[:, 1].copy(),
            delay=table[:, 2].copy(),
            whole=table[:, 3].astype(np.bool_),
            order=np.array([number[actor] for actor in self._order(after)], np.int64),
        )

    def _order(self, after: Mapping[Actor, list[Edge]]) -> list[Actor]:
        """Actors such that edges without lag point forwards; actors that wait for each other in a circle are missing."""
        waiting = {actor: sum(edge.lag == 0 and not edge.whole for edge in after[actor]) for actor in self.actors}
        following = defaultdict(list)
        for edge in self.edges:
            if edge.lag == 0 and not edge.whole:
                following[edge.frm].append(edge.to)
        ready = [actor for actor in self.actors if waiting[actor] == 0]
        order = []
        for actor in ready:
            order.append(actor)
            for other in following[actor]:
                waiting[other] -= 1
                if waiting[other] == 0:
                    ready.append(other)
        return order


def operator_graph(
    wiring: Wiring,
    lanes: Mapping[int, tuple[LaneImage, ...]],
    settings: Mapping[int, tuple[VfsmSetting, ...]],
    streams: Sequence[int],
    *,
    in_turn: bool = False,
) -> MarkedGraph:
    """The marked graph of one instance for one value.

    Parameters
    ----------
    lanes : mapping
        Lanes of each node of the instance.
    settings : mapping
        By node, rewritten VFSMs; all others stand as routed.
    streams : sequence of int
        Streams of the instance.
    in_turn : bool
        Each lane of a node has a word, and follows the one before it: so one is ready at a time.
    """
    graph = MarkedGraph()
    standing = {
        (s.stream, s.chain, s.vfsm.node, s.vfsm.pipeline, s.vfsm.number): s.vfsm
        for group in settings.values()
        for s in group
    }
    by_register: dict[tuple[int, int], Actor] = {}
    for node, own in lanes.items():
        for i, lane in enumerate(own):
            actor: Actor = ("lane", node, i, 0)
            graph.add(actor, node, (1, 0))
            for register in lane.registers:
                by_register[node, register] = actor
    for node, own in lanes.items():
        # The processor makes one access a cycle, for the first lane that is ready. A lane moves a word at most every second
        # cycle, so a ready lane waits at most two cycles for each lane of its node.
        busy = 2 if in_turn else 2 * len(own)
        for i, lane in enumerate(own):
            actor = ("lane", node, i, 0)
            graph.join(actor, actor, 1, busy)
            if lane.after is not None:
                graph.join(("lane", node, lane.after, 0), actor, 0, busy, whole=lane.after_all)
            for j, other in enumerate(own):
                if other.step < lane.step:
                    graph.join(("lane", node, j, 0), actor, 0, busy, whole=True)
            if lane.pair is not None and lane.window is not None:
                graph.join(("lane", node, lane.pair, 0), actor, lane.window, busy)

    for stream in streams:
        chains = wiring.routed.chains_of(stream)
        for routed in chains:
            vfsms = [standing.get((stream, routed.chain, v.node, v.pipeline, v.number), v) for v in routed.vfsms]
            _join_chain(graph, _Chain(stream, routed.chain, vfsms, len(chains), wiring, by_register))
    return graph


@dataclass(frozen=True)
class _Chain:
    """A chain of VFSMs as it stands for one value."""

    stream: int
    chain: int
    vfsms: Sequence[RoutedVfsm]
    count: int
    """Chains of its stream; words take them in turn."""
    wiring: Wiring
    by_register: Mapping[tuple[int, int], Actor]
    """By node and register, the lane that uses it."""

    def actor(self, end: Literal["in", "out"], index: int) -> Actor:
        return end, self.stream, self.chain, index

    def turn(self, index: int) -> int:
        """Most cycles until the next slot of a VFSM, and until its word is in the buffer or register that it goes to."""
        return largest_gap(self.vfsms[index].slots, self.wiring.routed.period) + max(SHORTEST_STAY, SHORTEST_RELAY)

    def lane_at(self, node: int, end: Literal["inject", "deliver"]) -> Actor | None:
        """The lane that writes to the chain or reads from it at a node, if there is one."""
        return self.by_register.get((node, self.wiring.register(node, self.stream, self.chain, end)))


def _join_chain(graph: MarkedGraph, chain: _Chain) -> None:
    """Actors and edges of the VFSMs that words can reach."""
    written = {v.node for v in chain.vfsms if v.source.kind == "inject" and chain.lane_at(v.node, "inject")}
    fed = [i for i, reached in enumerate(_fed(chain.vfsms, written)) if reached]
    for i in fed:
        vfsm = chain.vfsms[i]
        graph.add(chain.actor("out", i), vfsm.node, (chain.count, chain.chain))
        if vfsm.source.kind in ("inject", "buffer"):
            graph.add(chain.actor("in", i), vfsm.node, (chain.count, chain.chain))
    for i in fed:
        _join_vfsm(graph, chain, i)


def _fed(vfsms: Sequence[RoutedVfsm], written: Collection[int]) -> list[bool]:
    """Which VFSMs of a chain words can reach, as the chain stands; ``written``: nodes where a lane writes into it."""
    fed: list[bool] = []
    for vfsm in vfsms:
        if vfsm.source.kind == "inject":
            fed.append(vfsm.node in written)
        elif vfsm.source.kind in ("nop", "null") or vfsm.parent < 0:
            fed.append(False)
        else:
            fed.append(fed[vfsm.parent])
    return fed


def _join_vfsm(graph: MarkedGraph, chain: _Chain, index: int) -> None:
    vfsm, count = chain.vfsms[index], chain.count
    out, turn = chain.actor("out", index), chain.turn(index)
    graph.join(out, out, count, turn)
    if vfsm.source.kind in ("inject", "buffer"):
        taken = chain.actor("in", index)
        graph.join(taken, out, 0, 1)
        graph.join(taken, taken, count, turn)
        graph.join(out, taken, count, turn)  # its own buffer must be empty
        if vfsm.source.kind == "inject":
            writer = chain.lane_at(vfsm.node, "inject")
            if writer is not None:
                graph.join(writer, taken, 0, turn)
                graph.join(taken, writer, count, 2)  # the register is free again
        else:
            above = chain.actor("out", vfsm.parent)
            graph.join(above, taken, 0, turn)
            graph.join(taken, above, count, turn)
    else:
        # The source is a link or the leg before it in a fork: the word arrives as the VFSM before it writes.
        above = chain.actor("out", vfsm.parent)
        graph.join(above, out, 0, 1)
        graph.join(out, above, count, chain.turn(vfsm.parent))  # it refuses while its buffer is full
    if vfsm.destination.kind == "deliver":
        reader = chain.lane_at(vfsm.node, "deliver")
        if reader is not None:
            graph.join(out, reader, 0, 2)
            graph.join(reader, out, count, turn)


@dataclass(frozen=True)
class Termination:
    """What the graph tells about one instance and run-time value."""

    message_bound: bool
    delays: Mapping[int, int]
    """By node, cycles from the end of its I/O function until its router is clear of the operator."""
    clear: bool = False
    """Is the operator processor-bound: no word of it is left in the router of a node that is done?"""
    spread: int = 0
    """If message-bound and asked for: cycles from the end of the first node's I/O function to that of the last, at most."""


def termination(
    graph: MarkedGraph,
    lanes: Mapping[int, tuple[LaneImage, ...]],
    words: int,
    nodes: Sequence[int],
    *,
    spread: bool = False,
) -> Termination:
    """Is the operator message-bound at every node of ``nodes``, with which delays, and is it processor-bound?

    Message-bound: when any node is done, every node has moved a word, so all are inside their I/O functions and will go
    through with them (§5.2.1), and no lane still waits until another has moved all its words (in between a processor
    may compute). Processor-bound: when a node is done, all actors of its router are. ``spread``: find `Termination.spread`, too,
    which takes far longer on large networks.
    """
    arrays, window = graph.arrays(nodes, words)
    delays = np.zeros(len(nodes), np.int64)
    bound, clear, apart = leave(arrays, len(nodes), words, window, spread, delays)
    if apart < 0:
        raise ValueError("an operator's words wait for each other in a circle")
    found = dict(zip(nodes, delays.tolist(), strict=True)) if bound else {}
    return Termination(bool(bound), found, bool(clear), int(apart))
