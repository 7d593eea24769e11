"""Many streams of a word a period each: routes and slots from the packing that whole networks have.

Takes the streams of a phase, of which some are ``packed``; gives a ``RoutedPhase`` if all are plain streams of a single word a
period, and None otherwise, or where no packing is found: then the search has to do. It does not check its answer.

Several shifts at the same time fill nearly all slots of all nodes. The negotiation of `pointsman.routing.network_router` is made
for that, where the one of this folder is made for few streams with conditions: most sets of five shifts on 4x4, eighty streams,
find room in 11 slots within a second.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache

from numesh.shape import NodeShape
from pointsman.artifacts.routes.routes import RouteProblem, RouteStream
from pointsman.network import Topology
from pointsman.routing.network_router.moves import assemble_phase
from pointsman.routing.network_router.packing import PackingArrays, PackingAttempt
from pointsman.routing.network_router.router import packing_problem
from pointsman.routing.options import RouteConstraints
from pointsman.routing.streams import RoutedChain, RoutedPhase, Stream, accesses

MOST_STREAMS = 200
"""More streams take too long."""
TRIES, ROUNDS, PATIENCE = 24, 1000, 200
"""Most attempts at a packing, and the rounds, and rounds without fewer conflicts, of each."""
BUDGET = 2_400_000_000
"""Work of all attempts."""
SPARE = 3
"""Slots above the fewest possible that are tried."""
End = tuple[int, tuple[int, ...], frozenset[int] | None]
"""Source and destinations of a stream, and the nodes that it may use."""


def route_packed(
    streams: Sequence[Stream],
    topology: Topology,
    shape: NodeShape,
    period: int,
    forbidden: Collection[tuple[int, int, int]] = (),
    seed: int = 0,
) -> RoutedPhase | None:
    """Routes of streams of a word a period each, in ``period`` slots; None where there are other streams, or none are found, or a
    processor has more accesses than cycles in a period, so that no packing is called for. ``forbidden``: (node, port, slot) of
    link writes that must not be used."""
    began = time.perf_counter()
    if not all(_is_single(stream) for stream in streams):
        return None
    if max(accesses(streams).values(), default=0) > period:
        return None
    ends = tuple((stream.source, stream.destinations, stream.keep_in) for stream in streams)
    chains = _chains(ends, topology, shape, period, frozenset(forbidden), seed)
    if chains is None:
        return None
    return RoutedPhase(shape, topology, period, tuple(streams), chains, time.perf_counter() - began, ())


def packed_length(pairs: Sequence[tuple[int, int]], topology: Topology, shape: NodeShape, most: int) -> int | None:
    """Fewest slots, at most ``most``, found to suffice for a word from the first to the second node of each pair; None: none are
    found."""
    ends = tuple((source, (end,), None) for source, end in pairs)
    for period in range(_fewest(pairs, topology, shape), most + 1)[: SPARE + 1]:
        if _chains(ends, topology, shape, period, frozenset(), 0) is not None:
            return period
    return None


def _fewest(pairs: Sequence[tuple[int, int]], topology: Topology, shape: NodeShape) -> int:
    """Slots below which there are too few moves in all nodes, or too few cycles of a processor, for a word of each pair."""
    network = RouteProblem(topology, (), dead_nodes=topology.dead)
    away = {source: network.distances(source) for source, _ in pairs}
    moves = sum(away[source][end] + 1 for source, end in pairs)
    used = Counter(node for pair in pairs for node in pair)
    return max(2, 1 - -moves // (shape.pipelines * len(topology.working)), max(used.values(), default=0))


def _is_single(stream: Stream) -> bool:
    """Is it a stream of a word a period, whose way is the router's choice and of which load functions rewrite nothing?"""
    return stream.is_plain and not stream.tree and stream.max_words == 1 and bool(stream.destinations)


@lru_cache(maxsize=256)
def _chains(
    ends: tuple[End, ...],
    topology: Topology,
    shape: NodeShape,
    period: int,
    forbidden: frozenset[tuple[int, int, int]],
    seed: int,
) -> tuple[RoutedChain, ...] | None:
    if len(ends) > MOST_STREAMS or any(source in destinations for source, destinations, _ in ends):
        return None
    used = [0] * topology.nodes
    for source, destinations, _ in ends:
        for node in (source, *destinations):
            used[node] += 1
    if max(used) > min(shape.registers - shape.pipelines, shape.pipelines * (period - 1)):
        return None
    problem = RouteProblem(
        topology, tuple(RouteStream(source, to) for source, to, _ in ends), dead_nodes=topology.dead, shape=shape
    )
    inside = {number: nodes for number, (_, _, nodes) in enumerate(ends) if nodes is not None}
    closed = tuple(_closed(problem, topology, forbidden))
    arrays = PackingArrays(packing_problem(problem, RouteConstraints(keep_in=inside), closed))
    single = [1] * len(ends)
    left = BUDGET
    for attempt in range(TRIES):
        packing = PackingAttempt(arrays, period, single, single, seed=1000 * seed + attempt)
        packing.run(ROUNDS, PATIENCE, left)
        left -= packing.work
        found = packing.outcome().chains
        if found is not None:
            return assemble_phase(problem, period, found).chains
        if left <= 0:
            break
    return None


def _closed(
    problem: RouteProblem, topology: Topology, forbidden: Collection[tuple[int, int, int]]
) -> Iterator[tuple[int, int]]:
    """(link, slot) of the packing problem for link writes that must not be used."""
    number = {link: k for k, link in enumerate(problem.links)}
    for node, port, slot in sorted(forbidden):
        if port in topology.at_port[node]:
            yield number[node, topology.at_port[node][port][0]], slot
