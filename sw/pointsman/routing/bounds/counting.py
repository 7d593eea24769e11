"""Bounds by counting: ports, all links together, cuts along coordinates and round nodes, and slots modulo the period.

Each is an exact fraction, in the unit of :mod:`.prices`: how often per slot all demands can be served at most.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

import numpy as np

from pointsman.artifacts.routes.routes import RouteProblem

from .bridges import bridges_of
from .capacity import Capacity, demand_of

MOST_BRIDGES = 256
"""Bridges whose sides are tried as cuts, those that divide the nodes most evenly."""


@dataclass(frozen=True)
class Limit:
    """A resource with ``supply`` units per slot, of which serving all demands once takes ``need`` units."""

    kind: str
    text: str
    need: Fraction
    supply: Fraction
    nodes: tuple[int, ...] = ()
    links: tuple[tuple[int, int], ...] = ()
    streams: tuple[int, ...] = ()

    @property
    def throughput(self) -> Fraction | None:
        """Greatest number of times per slot that all demands can be served; None if they do not need the resource."""
        return self.supply / self.need if self.need else None


def least_links(problem: RouteProblem) -> list[int]:
    """For each stream, the least links that a word crosses."""
    hops: dict[int, list[int]] = {}
    answer = []
    for stream in problem.streams:
        if stream.source not in hops:
            hops[stream.source] = problem.distances(stream.source)
        answer.append(max(len(stream.destinations), max(hops[stream.source][node] for node in stream.destinations)))
    return answer


def limits(problem: RouteProblem, capacity: Capacity) -> list[Limit]:
    """The tightest limit of each kind."""
    found = [*_ports(problem, capacity), _hop_capacity(problem, capacity), *_cuts(problem, capacity)]
    return [limit for limit in found if limit.throughput is not None]


def _ports(problem: RouteProblem, capacity: Capacity) -> Iterator[Limit]:
    demands = demand_of(problem, capacity)
    sends: dict[int, list[int]] = {}
    receives: dict[int, list[int]] = {}
    for index, stream in enumerate(problem.streams):
        sends.setdefault(stream.source, []).append(index)
        for node in stream.destinations:
            receives.setdefault(node, []).append(index)
    supply = Fraction(1) if capacity.node is None else capacity.node
    for kind, table, verb in (("injection", sends, "injects"), ("ejection", receives, "takes")):
        needs = {node: sum((demands[index] for index in streams), Fraction(0)) for node, streams in table.items()}
        if not needs:
            continue
        node = max(needs, key=lambda n: (needs[n], -n))
        text = f"node {node} {verb} {_text(needs[node])}, {_text(supply)} a slot"
        yield Limit(kind, text, needs[node], supply, (node,), (), tuple(table[node]))


def _hop_capacity(problem: RouteProblem, capacity: Capacity) -> Limit:
    demands = demand_of(problem, capacity)
    links = least_links(problem)
    need = sum((demand * count for demand, count in zip(demands, links, strict=True)), Fraction(0))
    supply = Fraction(len(problem.links))
    what = f"all words together cross {_text(need)} links at least, and there are {len(problem.links)}"
    if capacity.node is not None:
        need_moves = need + sum(
            (demand * len(s.destinations) for demand, s in zip(demands, problem.streams, strict=True)), Fraction(0)
        )
        moves = capacity.node * (problem.nodes - len(problem.dead_nodes))
        if need_moves and (not need or moves / need_moves < supply / need):
            need, supply = need_moves, moves
            what = f"all words together need {_text(need)} moves at least, and nodes make {_text(supply)} a slot"
    return Limit("hop capacity", what, need, supply)


def _cuts(problem: RouteProblem, capacity: Capacity) -> Iterator[Limit]:
    """The tightest cut of those tried, if any has words to carry."""
    demands = demand_of(problem, capacity)
    weights = np.array([float(demand) for demand in demands])
    sources = np.array([stream.source for stream in problem.streams], np.int64)
    counts = np.array([len(stream.destinations) for stream in problem.streams], np.int64)
    ends = np.array([node for stream in problem.streams for node in stream.destinations], np.int64)
    first = np.cumsum(counts) - counts
    pairs = np.array(problem.links, np.int64).reshape(-1, 2)
    best: tuple[float, str, np.ndarray] | None = None
    for name, inside in sides(problem):
        width = int((inside[pairs[:, 0]] & ~inside[pairs[:, 1]]).sum())
        crossing = inside[sources] & (np.add.reduceat(inside[ends].astype(np.int64), first) < counts)
        need = float(weights[crossing].sum())
        if need and width and (best is None or need / width > best[0] * (1 + 1e-12)):
            best = (need / width, name, inside)
    if best is None:
        return
    _, name, inside = best
    leaving = tuple((u, v) for u, v in problem.links if inside[u] and not inside[v])
    streams = tuple(
        index
        for index, stream in enumerate(problem.streams)
        if inside[stream.source] and not all(inside[node] for node in stream.destinations)
    )
    need_exact = sum((demands[index] for index in streams), Fraction(0))
    text = f"{_text(need_exact)} words leave {name} by {len(leaving)} link{'s' * (len(leaving) != 1)}"
    yield Limit("cut", text, need_exact, Fraction(len(leaving)), (), leaving, streams)


def sides(problem: RouteProblem, ends: Sequence[int] | None = None) -> Iterator[tuple[str, np.ndarray]]:
    """Sets of nodes for cuts, each as (name, mask): slabs, single nodes, balls, sides of bridges, and their complements.

    ``ends``: nodes that send and receive; those of the streams if not given.
    """
    topology = problem.topology
    if topology.kind in ("mesh", "torus"):
        places = np.array([topology.coordinates(node) for node in range(topology.nodes)], np.int64)
        for axis, extent in enumerate(topology.size):
            for low in range(extent if topology.kind == "torus" else 1):
                for high in range(low + 1, extent + (low > 0)):
                    within = (low <= places[:, axis]) & (places[:, axis] < high)
                    span = f"{'xyz'[axis]} = {low}..{high - 1}"
                    yield f"the nodes {span}", within
                    yield f"the nodes but {span}", ~within
    if ends is None:
        ends = sorted({stream.source for stream in problem.streams} | {s.destinations[0] for s in problem.streams})
    for node in ends[:: max(1, len(ends) // 64)]:
        alone = np.arange(problem.nodes) == node
        yield f"node {node}", alone
        yield f"the nodes but {node}", ~alone
    for node in ends[:: max(1, len(ends) // 8)]:
        hops = np.array(problem.distances(node))
        for radius in range(1, int(hops.max())):
            ball = (hops >= 0) & (hops <= radius)
            yield f"the nodes within {radius} link{'s' * (radius != 1)} of {node}", ball
            yield f"the nodes further than {radius} link{'s' * (radius != 1)} from {node}", ~ball
    found = bridges_of(problem)
    half = len(found.order) / 2
    for bridge in sorted(found.bridges, key=lambda one: abs(len(one.beyond) - half))[:MOST_BRIDGES]:
        beyond = np.zeros(problem.nodes, np.bool_)
        beyond[list(found.order[bridge.beyond.start : bridge.beyond.stop])] = True
        link = f"the link between {bridge.near} and {bridge.far}"
        yield f"the nodes beyond {link}", beyond
        yield f"the nodes before {link}", ~beyond


def possible_period(problem: RouteProblem, period: int, *, members: int = 1, detours: bool = True) -> bool:
    """Does counting slots modulo ``period`` permit a schedule (ideal model without buffers)?

    ``members``: size of a symmetry group under which the schedule is invariant, whose members shift no slots and fix no node.
    ``detours``: may words take paths that are not the shortest?

    If every port in use is busy in all slots, the sum of arrival slots minus start slots over all words is known modulo the
    period; for each word this difference is the number of links crossed. So the total of links crossed is known modulo the
    period, and must lie between the least total and the capacity of the links.
    """
    if problem.buffers or any(len(stream.destinations) > 1 for stream in problem.streams):
        return True
    sends: dict[int, int] = {}
    receives: dict[int, int] = {}
    words = 0
    for stream in problem.streams:
        sends[stream.source] = sends.get(stream.source, 0) + stream.words
        receives[stream.destinations[0]] = receives.get(stream.destinations[0], 0) + stream.words
        words += stream.words
    if any(count != period for count in (*sends.values(), *receives.values())):
        return True
    # A word that starts in slot s and crosses k links arrives in slot s + k.
    slots = period * (period - 1) // 2
    residue = (len(receives) - len(sends)) // members * slots % period
    least = sum(count * stream.words for count, stream in zip(least_links(problem), problem.streams, strict=True))
    low = least // members
    high = len(problem.links) * period // members if detours else low
    step = 2 if two_coloured(problem) else 1
    return any(total % period == residue for total in range(low, min(high, low + 2 * period * step) + 1, step))


def two_coloured(problem: RouteProblem) -> bool:
    """Can the nodes have two colours such that every link joins different ones?"""
    colour = [-1] * problem.nodes
    both: list[set[int]] = [set() for _ in range(problem.nodes)]
    for u, v in problem.links:
        both[u].add(v)
        both[v].add(u)
    for begin in range(problem.nodes):
        if colour[begin] >= 0:
            continue
        colour[begin] = 0
        queue = [begin]
        for node in queue:
            for after in both[node]:
                if colour[after] < 0:
                    colour[after] = 1 - colour[node]
                    queue.append(after)
                elif colour[after] == colour[node]:
                    return False
    return True


def least_period(throughput: Fraction) -> int:
    """Least whole number of slots for ``throughput``, the times per slot that all demands can be served."""
    return max(1, ceil(1 / throughput))


def _text(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{float(value):.4g}"


__all__: Sequence[str] = ("Limit", "least_links", "least_period", "limits", "possible_period", "sides", "two_coloured")
