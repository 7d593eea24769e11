"""A phase's own streams as the barrier that closes it (Metcalf 1997, §5.2.3, "Hijack Synchronization"; there not built).

A node that has done its I/O may use any stream of the phase that begins or ends at its processor. Takes the routed
streams of a phase and the parts whose nodes have to meet. Gives, for each part, a root from which streams lead to all
nodes, and the shortest message that no node can finish before all have begun: each node takes it from a stream and
passes it on to others. Where streams lead both ways, a word up a tree from every node and a word down are quicker, as the
message has to fill all streams of its tree. So a barrier needs no slots of its own.

All nodes are in their load functions when they pass this message on, so they are done within a known time, as after a
barrier; and all words of operators precede it in the streams, so none of them is left.

Streams whose VFSMs load functions rewrite, or that lead from stream to stream in the router, are not suitable.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from numesh.codes import ACCESS_TO_ACCESS
from pointsman.artifacts.images.images import LaneImage
from pointsman.operators import Context, Implementation, Metric, RoleDraft, Wiring
from pointsman.operators.api.loading import Loading
from pointsman.plan.plan import PlannedOperator
from pointsman.program.program import Operator
from pointsman.routing.streams import RoutedPhase, Stream

from .marked_graph import MarkedGraph, Termination, operator_graph, termination

LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48, 64)
"""Lengths of the message, in words, that are tried."""
HOP = 8
"""Cycles of a word from processor to processor over a stream of some links, besides its wait for a slot, about."""
LEAST_HOP = ACCESS_TO_ACCESS + 1
"""Least such cycles, over a single link."""
WINDOW = 4
"""Most words by which the streams that a node writes may be apart."""


class Hijack(Implementation):
    """Stands for the streams that close a phase; no operator of a program is done by it."""

    name = "hijack"
    kinds = ("barrier",)

    def metric(self, operator: Operator, context: Context) -> Metric | None:
        return None

    def streams(self, operator: Operator, context: Context) -> list[Stream]:
        return []

    def gen_io(
        self, operator: Operator, wiring: Wiring, instance: int, node: int, values: tuple[int, ...]
    ) -> RoleDraft:
        raise AssertionError("its roles are made together")


@dataclass(frozen=True)
class Hijacked:
    """Streams that close a phase."""

    planned: PlannedOperator
    words: int
    """Words of the longest message."""
    cycles: float
    """Cycles from the last node's entry until all are done, about."""
    spread: int
    """Most cycles from the first node that is done to the last, delays included."""


def hijack(
    barrier: Operator, planned: Sequence[PlannedOperator], routed: RoutedPhase, wiring: Wiring
) -> Hijacked | None:
    """Streams of a phase that can stand for ``barrier``; None if there are none. Time: nodes x streams, for each part."""
    suitable = _suitable(planned, routed)
    roles: dict[int, tuple[RoleDraft, ...]] = {}
    delays: dict[int, tuple[int, ...]] = {}
    words, cycles, spread = 0, 0.0, 0
    drain = max(one.drain for one in planned)
    for instance in barrier.instances:
        ways = (
            _down(instance.nodes, suitable, routed, wiring, drain),
            _up_and_down(instance.nodes, suitable, routed, wiring, drain),
        )
        best = min((way for way in ways if way is not None), key=lambda way: way.cycles + way.spread, default=None)
        if best is None:
            return None
        for node in instance.nodes:
            roles[node] = (RoleDraft("func", best.lanes[node]),)
            delays[node] = (best.delays[node],)
        words, cycles, spread = max(words, best.words), max(cycles, best.cycles), max(spread, best.spread)
    operator = replace(barrier, m=max(words, 1))
    return Hijacked(PlannedOperator(operator, Hijack(), ((),), roles, delays, True, ()), words, cycles, spread)


@dataclass(frozen=True)
class _Way:
    """Words over streams that tell all nodes of a part that all have begun: how many, the lanes of each node, its cycles from the
    end of these to when it leaves, most cycles from the first node that leaves to the last, and about how many cycles the words
    take."""

    words: int
    lanes: dict[int, tuple[LaneImage, ...]]
    delays: dict[int, int]
    spread: int
    cycles: float


def _down(
    nodes: Sequence[int], suitable: Sequence[int], routed: RoutedPhase, wiring: Wiring, drain: int
) -> _Way | None:
    """A message down a tree, so long that no node can finish it before all have begun; None if there is none."""
    tree = _tree(frozenset(nodes), suitable, routed)
    if tree is None:
        return None
    found = _shortest(nodes, tree, routed, wiring)
    if found is None:
        return None
    length, lanes, end = found
    slowest = min(routed.words(stream) for stream in tree)
    cycles = length * routed.period / slowest + routed.period / 2 * _depth(tree, routed)
    delays = {node: max(drain, end.delays[node]) for node in nodes}
    spread = end.spread + max(delays.values()) - min(delays.values())
    return _Way(length, lanes, delays, spread, cycles)


def _up_and_down(
    nodes: Sequence[int], suitable: Sequence[int], routed: RoutedPhase, wiring: Wiring, drain: int
) -> _Way | None:
    """A word of each node up a tree, then a word down, where streams lead both ways; None if they do not."""
    part = frozenset(nodes)
    to: dict[int, dict[int, int]] = {}
    for number in sorted(_inside(part, suitable, routed)):
        stream = routed.streams[number]
        if len(stream.destinations) == 1:
            to.setdefault(stream.source, {}).setdefault(stream.destinations[0], number)
    both = {node: [other for other in sorted(ends) if node in to.get(other, {})] for node, ends in to.items()}
    if len(_breadth_first(nodes[0], both)[0]) < len(part):
        return None  # nor from any other root, as both ends of each pair lead to the other
    parents, levels = min((_breadth_first(root, both) for root in nodes), key=lambda found: sum(found[1].values()))
    lanes: dict[int, tuple[LaneImage, ...]] = {}
    for node in nodes:
        children = [child for child in nodes if parents[child] == node != child]
        above = parents[node]
        turns = [(to[child][node], False) for child in children]
        if above != node:
            turns += [(to[node][above], True), (to[above][node], False)]
        turns += [(to[node][child], True) for child in children]
        lanes[node] = tuple(
            LaneImage(
                write,
                wiring.registers(routed.streams[number].name, node, "inject" if write else "deliver"),
                1,
                "token",
                after=turn - 1 if turn else None,
            )
            for turn, (number, write) in enumerate(turns)
        )
    pairs = [(child, parent) for child, parent in parents.items() if child != parent]
    tree = [number for child, parent in pairs for number in (to[child][parent], to[parent][child])]
    graph = operator_graph(wiring, lanes, {}, tree, in_turn=True)
    end = termination(graph, lanes, 1, nodes, spread=True)
    if not end.message_bound:
        return None
    root = next(node for node in nodes if levels[node] == 0)
    delays, spread = _from_the_turn(end, graph, lanes, root, levels, drain)
    return _Way(1, lanes, delays, spread, 2 * max(levels.values()) * (routed.period / 2 + HOP))


def _from_the_turn(
    end: Termination,
    graph: MarkedGraph,
    lanes: Mapping[int, Sequence[LaneImage]],
    root: int,
    levels: Mapping[int, int],
    drain: int,
) -> tuple[dict[int, int], int]:
    """Cycles that each node waits when it is done, and most cycles from the first node that has waited to the last.

    Counted from the moment in which the root has read all words that go up: then there are bounds on both sides for every node,
    where `termination` counts from any node that is done and knows little of the others. Nodes that are done early wait until the
    last one leaves, at the latest, as they would have to settle for as long otherwise.
    """
    read = [turn for turn, lane in enumerate(lanes[root]) if not lane.write]
    latest = graph.finish_times(graph.progress([("lane", root, read[-1], 0)], 1), 1)
    done, clear = dict.fromkeys(levels, 0), dict.fromkeys(levels, 0)
    for actor, cycle in latest.items():
        node = graph.node_of[actor]
        if node in levels:
            clear[node] = max(clear[node], cycle)
            if actor[0] == "lane":
                done[node] = max(done[node], cycle)
    soonest = {node: level * LEAST_HOP for node, level in levels.items()}
    delays = {node: max(drain, min(end.delays[node], max(0, clear[node] - soonest[node]))) for node in levels}
    leaves = max(done[node] + delays[node] for node in levels)
    delays = {node: max(delay, leaves - done[node]) for node, delay in delays.items()}
    return delays, leaves - min(soonest[node] + delay for node, delay in delays.items())


def _breadth_first(root: int, near: Mapping[int, Sequence[int]]) -> tuple[dict[int, int], dict[int, int]]:
    """The parent of each node that is reached from ``root``, whose parent is itself, and how far it is from the root."""
    parents, levels = {root: root}, {root: 0}
    queue = [root]
    for node in queue:
        for other in near.get(node, ()):
            if other not in parents:
                parents[other], levels[other] = node, levels[node] + 1
                queue.append(other)
    return parents, levels


def _suitable(planned: Iterable[PlannedOperator], routed: RoutedPhase) -> list[int]:
    """Streams that carry words from processor to processor in every state of their operators."""
    onward = {stream.into for stream in routed.streams if stream.into is not None}
    found = [
        number
        for one in planned
        if one.values == ((),) and one.stages == 1 and one.implementation.loading is not Loading.ONLINE
        if not any(draft.settings for drafts in one.distinct_roles for draft in drafts)
        for number in one.streams
        for stream in (routed.streams[number],)
        if stream.into is None and stream.name not in onward and not stream.rewritten and not stream.injects_anywhere
    ]
    # Several operators may have a stream together.
    return list(dict.fromkeys(found))


def _tree(part: frozenset[int], suitable: Iterable[int], routed: RoutedPhase) -> list[int] | None:
    """Streams that lead from a root to all nodes of a part, in the order in which words pass; None if there are none. Chosen: a
    tree whose slowest stream is quickest (the first-order cost of §5.2.3), and of these one with the least depth."""
    inside = _inside(part, suitable, routed)
    reached_by: dict[int, list[int]] = {}
    for stream in sorted(inside, key=lambda s: (-routed.words(s), -len(routed.streams[s].destinations), s)):
        reached_by.setdefault(routed.streams[stream].source, []).append(stream)
    for slowest in sorted({routed.words(s) for s in inside}, reverse=True):
        best: tuple[int, list[int]] | None = None
        for root in sorted(part):
            depth = {root: 0}
            tree: list[int] = []
            queue = [root]
            for node in queue:
                for stream in reached_by.get(node, ()):
                    fresh = [d for d in routed.streams[stream].destinations if d not in depth]
                    if fresh and routed.words(stream) >= slowest:
                        tree.append(stream)
                        depth |= dict.fromkeys(fresh, depth[node] + 1)
                        queue += fresh
            if depth.keys() == part and (best is None or max(depth.values()) < best[0]):
                best = max(depth.values()), tree
        if best is not None:
            return best[1]
    return None


def _inside(part: frozenset[int], suitable: Iterable[int], routed: RoutedPhase) -> list[int]:
    """Those of the suitable streams whose words pass nodes of a part only."""
    passed: dict[int, set[int]] = {}
    for chain in routed.chains:
        passed.setdefault(chain.stream, set()).update(vfsm.node for vfsm in chain.vfsms)
    return [s for s in suitable if s in passed and passed[s] <= part]


def _depth(tree: Iterable[int], routed: RoutedPhase) -> int:
    depth: dict[int, int] = {}
    for number in tree:
        stream = routed.streams[number]
        for node in stream.destinations:
            depth.setdefault(node, depth.get(stream.source, 0) + 1)
    return max(depth.values(), default=0)


def _shortest(
    nodes: Sequence[int], tree: Sequence[int], routed: RoutedPhase, wiring: Wiring
) -> tuple[int, dict[int, tuple[LaneImage, ...]], Termination] | None:
    """Length of the shortest message along a tree that no node can finish before all have begun, with lanes by node;
    None if no length of LENGTHS will do."""
    lanes = {node: _lanes(node, tree, routed, wiring, LENGTHS[0]) for node in nodes}
    graph = operator_graph(wiring, lanes, {}, tree)  # the same for all lengths

    def is_bound(length: int) -> bool:
        return termination(graph, lanes, length, nodes, spread=False).message_bound

    # What has happened when a node has moved all words of a message has also happened when it has moved those of a longer one.
    place = bisect_left(LENGTHS, True, key=is_bound)
    if place == len(LENGTHS):
        return None
    length = LENGTHS[place]
    lanes = {node: _lanes(node, tree, routed, wiring, length) for node in nodes}
    return length, lanes, termination(graph, lanes, length, nodes, spread=True)


def _lanes(node: int, tree: Sequence[int], routed: RoutedPhase, wiring: Wiring, length: int) -> tuple[LaneImage, ...]:
    """A node passes on the words of the first stream of the tree that reaches it; words of its other streams it only reads."""
    reads = [s for s in tree if node in routed.streams[s].destinations]
    writes = [s for s in tree if routed.streams[s].source == node]
    root = bool(tree) and routed.streams[tree[0]].source == node
    lanes = [
        LaneImage(False, wiring.registers(routed.streams[s].name, node, "deliver"), length, "token") for s in reads
    ]
    count = len(lanes)
    after = None if root or not reads else 0
    for k, s in enumerate(writes):
        # Without a window a stream could run far ahead of the others.
        pair = (count + (k + 1) % len(writes)) if len(writes) > 1 else None
        lanes.append(
            LaneImage(
                True,
                wiring.registers(routed.streams[s].name, node, "inject"),
                length,
                "token",
                after=after,
                pair=pair,
                window=None if pair is None else WINDOW,
            )
        )
    if after == 0 and writes:
        lanes[0] = replace(lanes[0], pair=count, window=WINDOW)
    return tuple(lanes)
