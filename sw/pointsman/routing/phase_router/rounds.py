"""Multicasts round one cycle from many sources at the same time: routes and slots by construction.

Takes the streams of a phase; gives a ``RoutedPhase`` where all of them go the same way round one cycle of links, but for streams
from neighbour to neighbour that find slots beside, and None otherwise, or where no such schedule is found; then the search has
to do. It does not check its answer.

Seen from a word, the slots of the other words stand still: a word that starts k nodes on and k slots later keeps its distance all
the way. A node sees k - 1 words of k streams, then starts its own. Its word of the last time has just ended, n slots after it
started, so it leaves a slot free that lies n behind the one that the new word takes; the source after it takes that one. So
starts are f, f + n, f + 2 n, … modulo a *round* of k + 1 slots or a few more, and a slot is always free. A word takes two
moves at a node, in two slots, and two pipelines share them; which of them takes which word is searched for at every node.
Neither a processor's word nor, in pipeline 0, that of the reprogramming VFSM may be read in the slot after a delivery in the
same pipeline. All find their places if n + 1 is a multiple of the round, or if n + 2 is and every other node is a source; a
stream then gets a word in k + 1 slots. Otherwise starts are multiples of n modulo the whole period, if these two have no common
divisor, with a few slots more.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import gcd

from numesh.codes import FIRST_FREE_VFSM, MoveType
from numesh.shape import NodeShape
from pointsman.network import Topology, torus
from pointsman.routing.streams import Place, RoutedChain, RoutedPhase, RoutedVfsm, Stream, accesses

SPARE = 4
"""Slots of a round, beside one for each stream, that are tried."""
ROUNDS = 4
"""Most rounds in a period."""
FULL = 0.75
"""Share of the slots that words must take: with less the search may find more."""
APART = 4
"""Slots between words of a stream, at least: its VFSMs run every other slot at most, and the processor needs time to read."""
ROOMY = 16
"""Slots of a schedule in which other phases find good routes, too."""
STEPS = 20_000
"""Choices of a pipeline at a node, before a round is given up."""


@dataclass(frozen=True)
class Visit:
    """The words of a stream at a node: the slots in which they are read, whether they come from the processor, go on, and are
    delivered."""

    stream: int
    node: int
    slots: tuple[int, ...]
    starts: bool
    onward: int | None
    delivered: bool

    @property
    def legs(self) -> int:
        return (self.onward is not None) + self.delivered


def route_rounds(
    streams: Sequence[Stream],
    topology: Topology,
    shape: NodeShape,
    period: int,
    forbidden: Collection[tuple[int, int, int]] = (),
) -> RoutedPhase | None:
    """Routes of streams that go round one cycle, in ``period`` slots; None where this construction is of no use. ``forbidden``:
    (node, port, slot) of link writes that must not be used."""
    began = time.perf_counter()
    beside = [number for number, stream in enumerate(streams) if _is_single_link(stream, topology)]
    around = [number for number in range(len(streams)) if number not in beside]
    if shape.pipelines < 2 or not around or not all(_is_plain(streams[number]) for number in around):
        return None
    if len({streams[number].weight for number in around}) > 1:
        return None  # all get equally many words
    if max(accesses(streams).values(), default=0) > shape.registers - shape.pipelines:
        return None
    chains: list[RoutedChain] = []
    for members in _cycles([streams[number] for number in around]):
        found = _one_cycle([streams[around[member]] for member in members], topology, period)
        if found is None:
            return None
        chains += (replace(chain, stream=around[members[chain.stream]]) for chain in found)
    words = max((len(chain.vfsms[0].slots) for chain in chains), default=0)
    for number in beside:
        added = _beside(number, streams[number], chains, words, topology, period)
        if added is None:
            return None
        chains.append(added)
    chains.sort(key=lambda chain: chain.stream)
    if any(vfsm.number >= shape.vfsms for chain in chains for vfsm in chain.vfsms):
        return None
    if not chains or (forbidden and _link_writes(chains) & set(forbidden)):
        return None
    return RoutedPhase(shape, topology, period, tuple(streams), tuple(chains), time.perf_counter() - began, ())


def _is_plain(stream: Stream) -> bool:
    """Is it a stream of a single chain on a given tree, of which load functions rewrite nothing?"""
    return stream.is_plain and bool(stream.tree) and stream.chains == 1 and stream.max_words is None


def _is_single_link(stream: Stream, topology: Topology) -> bool:
    """Is it a stream to a neighbour that leaves its way to the router?"""
    plain = stream.is_plain and not stream.tree and stream.max_words is None and not stream.all_chains
    near = {other for other, _ in topology.at_port[stream.source].values()}
    return plain and len(stream.destinations) == 1 and stream.destinations[0] in near


@dataclass
class _Used:
    """What chains use at a node, by pipeline: slots in which a VFSM runs, delivers a word, or reads one from the processor; and
    VFSMs."""

    running: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))
    delivering: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))
    injecting: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))
    last: list[int] = field(default_factory=lambda: [FIRST_FREE_VFSM - 1] * 2)

    def may_inject(self, pipeline: int, slot: int, period: int) -> bool:
        return slot not in self.running[pipeline] and (slot - 1) % period not in self.delivering[pipeline]

    def may_deliver(self, pipeline: int, slot: int, period: int) -> bool:
        return slot not in self.running[pipeline] and (slot + 1) % period not in self.injecting[pipeline]


def _used(node: int, chains: Sequence[RoutedChain]) -> _Used:
    found = _Used()
    for vfsm in (one for chain in chains for one in chain.vfsms if one.node == node):
        found.running[vfsm.pipeline].update(vfsm.slots)
        found.last[vfsm.pipeline] = max(found.last[vfsm.pipeline], vfsm.number)
        if vfsm.source.kind == "inject":
            found.injecting[vfsm.pipeline].update(vfsm.slots)
        if vfsm.destination.kind == "deliver":
            found.delivering[vfsm.pipeline].update(vfsm.slots)
    return found


def _beside(
    number: int, stream: Stream, chains: Sequence[RoutedChain], words: int, topology: Topology, period: int
) -> RoutedChain | None:
    """A chain over one link that takes ``words`` slots which the others leave, and leaves the reprogramming VFSM one; None if
    there are not so many."""
    source, end = stream.source, stream.destinations[0]
    port, entering = next((port, here) for port, (other, here) in topology.at_port[source].items() if other == end)
    sends, gets = _used(source, chains), _used(end, chains)
    crossing = {
        slot
        for chain in chains
        for vfsm in chain.vfsms
        if vfsm.node == source and vfsm.destination == Place("link", port)
        for slot in vfsm.slots
    }
    for out, into in ((a, b) for a in range(2) for b in range(2)):
        slots: list[int] = []
        for slot in range(period):
            after = (slot + 1) % period
            free = (
                slot not in crossing and sends.may_inject(out, slot, period) and gets.may_deliver(into, after, period)
            )
            apart = all(APART <= (slot - other) % period <= period - APART for other in slots)
            if free and apart and len(slots) < words:
                slots.append(slot)
        if len(slots) < words:
            continue
        later = tuple((slot + 1) % period for slot in slots)
        first = RoutedVfsm(
            source, out, sends.last[out] + 1, MoveType.MOVE, Place("inject"), Place("link", port), tuple(slots), -1
        )
        second = RoutedVfsm(
            end, into, gets.last[into] + 1, MoveType.MOVE, Place("link", entering), Place("deliver"), later, 0
        )
        made = RoutedChain(number, 0, (first, second))
        left = [_used(node, [*chains, made]) for node in (source, end)]
        if all(any(used.may_inject(0, slot, period) for slot in range(period)) for used in left):
            return made
    return None


def _cycles(streams: Sequence[Stream]) -> list[list[int]]:
    """Indices of streams that have nodes in common."""
    sets: list[tuple[set[int], list[int]]] = []
    for number, stream in enumerate(streams):
        nodes, members = {stream.source, *(v for _, v in stream.tree or ())}, [number]
        for other in [one for one in sets if one[0] & nodes]:
            sets.remove(other)
            nodes, members = nodes | other[0], other[1] + members
        sets.append((nodes, members))
    return [sorted(members) for _, members in sets]


def _one_cycle(streams: Sequence[Stream], topology: Topology, period: int) -> tuple[RoutedChain, ...] | None:
    ways = _ways(streams)
    if ways is None:
        return None
    for offsets in _offsets(len(streams), len(ways.order), period):
        visits = _visits(streams, ways, period, offsets)
        pipelines = None if visits is None else _pipelines(visits, period)
        if visits is not None and pipelines is not None:
            return _chains(streams, visits, pipelines, topology, period)
    return None


def _link_writes(chains: Sequence[RoutedChain]) -> set[tuple[int, int, int]]:
    """(node, port, slot) of all words that leave a node."""
    return {
        (vfsm.node, vfsm.destination.number, slot)
        for chain in chains
        for vfsm in chain.vfsms
        if vfsm.destination.kind == "link"
        for slot in vfsm.slots
    }


@lru_cache(maxsize=64)
def round_lengths(nodes: int, streams: int, shape: NodeShape, most: int) -> tuple[int, ...]:
    """Slots, at most ``most``, in which so many streams round a cycle of so many nodes get the most bandwidth, up to the first
    that leave other phases room: long messages suit them all, short ones the fewest."""
    if nodes < 3:
        return ()
    ring = torus(nodes)
    every = nodes // streams
    found = []
    for number in range(streams):
        way = [(number * every + hop) % nodes for hop in range(nodes)]
        found.append(Stream(str(number), way[0], tuple(way[1:]), tree=tuple(pairwise(way))))
    ranked = sorted(
        {
            (-Fraction(len(offsets[0]), period), period)
            for period in range(2, most + 1)
            for offsets in _offsets(streams, nodes, period)
        }
    )
    best: list[tuple[Fraction, int]] = []
    for rate, period in ranked:
        if best and (rate > best[0][0] or best[-1][1] >= ROOMY):
            break
        if route_rounds(found, ring, shape, period) is not None:
            best.append((rate, period))
    return tuple(period for _, period in best)


def _sizes(nodes: int, streams: int) -> list[int]:
    """Slots of a round, those first that leave the free slots where they are wanted, then the shorter."""
    sizes = range(streams + 1, streams + 1 + SPARE)
    good = [size for size in sizes if (nodes + 1) % size == 0]
    return good + [size for size in sizes if size not in good]


def _offsets(streams: int, nodes: int, period: int) -> Iterator[list[list[int]]]:
    """For each stream, in the order of their sources, the slots in which its words start, less the place of its source on the
    cycle."""
    turns = range(streams)
    sizes = _sizes(nodes, streams)
    for size in sizes:
        if period % size == 0 and 1 <= period // size <= ROUNDS and streams >= FULL * size:
            yield [[turn * nodes % size + size * again for again in range(period // size)] for turn in turns]
    if gcd(nodes, period) == 1:
        for size in sorted(sizes):
            if 1 <= (count := period // size) <= ROUNDS and streams * count >= FULL * period:
                yield [[nodes * (turn + size * again) % period for again in range(count)] for turn in turns]


@dataclass(frozen=True)
class _Ways:
    """``order``: nodes of the cycle. ``after``: the next of each node that sends on."""

    order: tuple[int, ...]
    after: dict[int, int]


def _ways(streams: Sequence[Stream]) -> _Ways | None:
    """The cycle that all streams go round, each as far as its last reader; None if they do not."""
    after: dict[int, int] = {}
    for stream in streams:
        assert stream.tree is not None
        at = stream.source
        for u, v in stream.tree:
            if u != at or after.setdefault(u, v) != v:
                return None
            at = v
        reached = {stream.source, *(v for _, v in stream.tree)}
        if not stream.tree or at not in stream.destinations or not set(stream.destinations) <= reached:
            return None
    if not streams or len({stream.source for stream in streams}) < len(streams):
        return None
    order = [streams[0].source]
    while order[-1] in after and after[order[-1]] != order[0] and len(order) <= len(after):
        order.append(after[order[-1]])
    if after.get(order[-1]) != order[0] or set(order) != set(after) or len(order) < 2:
        return None
    return _Ways(tuple(order), after)


def _visits(
    streams: Sequence[Stream], ways: _Ways, period: int, offsets: Sequence[Sequence[int]]
) -> dict[int, list[Visit]] | None:
    """By node what the streams do there, with starts that follow each other as above; None if two words meet on a link."""
    place = {node: k for k, node in enumerate(ways.order)}
    found: dict[int, list[Visit]] = {node: [] for node in ways.order}
    crossing: set[tuple[int, int]] = set()
    inward = sorted(range(len(streams)), key=lambda number: place[streams[number].source])
    for turn, number in enumerate(inward):
        stream = streams[number]
        assert stream.tree is not None
        starts = sorted((offset + place[stream.source]) % period for offset in offsets[turn])
        if any((b - a) % period < APART for a, b in pairwise((*starts, starts[0])) if len(starts) > 1):
            return None
        readers = set(stream.destinations)
        way = [stream.source, *(v for _, v in stream.tree)]
        for hop, node in enumerate(way):
            onward = way[hop + 1] if hop + 1 < len(way) else None
            slots = tuple((start + hop) % period for start in starts)
            for slot in slots if onward is not None else ():
                if (node, slot) in crossing:
                    return None
                crossing.add((node, slot))
            found[node].append(Visit(number, node, slots, hop == 0, onward, node in readers))
    return found


def _pipelines(visits: dict[int, list[Visit]], period: int) -> dict[tuple[int, int], int] | None:
    """By (node, stream) the pipeline of its VFSMs, 0 or 1; None if some node finds none."""
    found: dict[tuple[int, int], int] = {}
    for node, here in visits.items():
        # In the order in which they come, so that neighbours in time are chosen one after the other.
        ordered = sorted(here, key=lambda visit: visit.slots[0] % period)
        chosen = _choose(ordered, period)
        if chosen is None:
            return None
        found.update({(node, visit.stream): pipeline for visit, pipeline in zip(ordered, chosen, strict=True)})
    return found


def _choose(visits: Sequence[Visit], period: int) -> list[int] | None:
    """A pipeline for each visit by depth-first search."""
    steps = STEPS
    chosen: list[int] = []
    taken: list[set[int]] = [set(), set()]
    delivering: list[set[int]] = [set(), set()]
    reading: list[set[int]] = [set(), set()]
    tried = [0] * (len(visits) + 1)

    def cells(visit: Visit) -> set[int]:
        return {(slot + leg) % period for slot in visit.slots for leg in range(visit.legs)}

    def deliveries(visit: Visit) -> set[int]:
        return {(slot + visit.legs - 1) % period for slot in visit.slots} if visit.delivered else set()

    def fits(visit: Visit, pipeline: int) -> bool:
        if taken[pipeline] & cells(visit):
            return False
        if visit.starts and any((slot - 1) % period in delivering[pipeline] for slot in visit.slots):
            return False
        return not any((slot + 1) % period in reading[pipeline] for slot in deliveries(visit))

    def put(visit: Visit, pipeline: int, sign: bool) -> None:
        for into, what in (
            (taken, cells(visit)),
            (delivering, deliveries(visit)),
            (reading, set(visit.slots) if visit.starts else set()),
        ):
            into[pipeline] = into[pipeline] | what if sign else into[pipeline] - what

    while steps:
        steps -= 1
        at = len(chosen)
        if at == len(visits):
            # The reprogramming VFSM reads in pipeline 0.
            if any(s not in taken[0] and (s - 1) % period not in delivering[0] for s in range(period)):
                return chosen
        elif tried[at] < 2:
            pipeline = tried[at] if not chosen else (1 - chosen[-1] + tried[at]) % 2
            tried[at] += 1
            if fits(visits[at], pipeline):
                put(visits[at], pipeline, True)
                chosen.append(pipeline)
                tried[at + 1] = 0
            continue
        if not chosen:
            return None
        put(visits[len(chosen) - 1], chosen.pop(), False)
    return None


def _chains(
    streams: Sequence[Stream],
    visits: dict[int, list[Visit]],
    pipelines: dict[tuple[int, int], int],
    topology: Topology,
    period: int,
) -> tuple[RoutedChain, ...]:
    """The chains of VFSMs, numbered in the order of streams."""
    ports = {
        (node, other): (port, entering) for node in visits for port, (other, entering) in topology.at_port[node].items()
    }
    of = {(visit.stream, node): visit for node, here in visits.items() for visit in here}
    numbers: dict[tuple[int, int], int] = {}
    chains = []
    for number, stream in enumerate(streams):
        assert stream.tree is not None
        way = [stream.source, *(v for _, v in stream.tree)]
        vfsms: list[RoutedVfsm] = []
        sender = -1
        for before, node in pairwise((-1, *way)):
            visit = of[number, node]
            pipeline = pipelines[node, number]
            source = Place("inject") if before < 0 else Place("link", ports[before, node][1])
            kind, parent = MoveType.MOVE, sender
            targets = ([] if visit.onward is None else [Place("link", ports[node, visit.onward][0])]) + (
                [Place("deliver")] if visit.delivered else []
            )
            for leg, target in enumerate(targets):
                key = node, pipeline
                numbers[key] = numbers.get(key, FIRST_FREE_VFSM - 1) + 1
                slots = tuple((slot + leg) % period for slot in visit.slots)
                vfsms.append(RoutedVfsm(node, pipeline, numbers[key], kind, source, target, slots, parent))
                parent = len(vfsms) - 1
                if target.kind == "link":
                    sender = parent
                source, kind = target, MoveType.FORK
        chains.append(RoutedChain(number, 0, tuple(vfsms)))
    return tuple(chains)
