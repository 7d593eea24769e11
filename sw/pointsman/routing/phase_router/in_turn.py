"""Short messages that processors pass on: their words get slots by when they are there.

Takes streams of a phase that are plain streams of a short message a period with a place in an order (``Stream.turn``); gives
their chains, alone or beside those of other streams, and None where some word finds no slots. It does not check its answer.

The words of a message take the same way, one after the other as far apart as processors need that have to read several such
messages (`Order.spread`); the message is gone on with when the words that are combined at once have been read (`Turn.item`). In
what follows a word is such a message.

A word of a reduction or of a barrier is written when a processor has read those of the level below, and a word that has missed
its slot waits for a period. So slots are given out in the order in which words are written (list scheduling): each word takes the
first slots on a shortest way that leads it through without waiting, and the processor that reads it goes on from there. That is
tried several times, with other choices between equals; a word that found no slots comes first in the next attempt, at
the time at which it would be written on an empty network. The attempt in which the last word is read first is taken.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import lru_cache
from heapq import heappop, heappush
from itertools import pairwise

from numesh.codes import ACCESS_TO_ACCESS, FIRST_FREE_VFSM, SHORTEST_TURN
from pointsman.routing.streams import RoutedPhase, Stream

from .branches import given_tree, longest_first
from .problem import Demand, NodeLimits, RoutingPart, Site, split
from .routes import Chain, NodeVisit, Route
from .turn_order import Order, Times, Turns, in_order, is_in_turn, turns_of

PlacedParts = list[tuple[Site, RoutingPart, list[Chain]]]
"""Chains of every part of a phase."""


ANY = 1 << 30
"""More hops than there are."""
TRIES, FEW_TRIES = 48, 8
"""Most attempts, for words alone in their phase and beside other streams …"""
PERIODS = 5
"""Most periods that a word of each stream takes, of the lengths that suit it."""
CROWDED = 0.2
"""Share of the moves of all routers from which on they are crowded …"""
LATER = 6
"""… and slots that a schedule of a single period may then have more than all words take on an empty network."""
URGENT = 4
"""Most words that come first."""
WORK = 10_000
"""… and about how many moves of routers they may place in all."""


def in_turn(
    streams: Sequence[Stream],
    parts: Sequence[tuple[RoutingPart, Site]],
    limits: NodeLimits,
    period: int,
    seed: int,
) -> PlacedParts | None:
    """Chains of every part in ``period`` slots, all of whose ``streams`` are of this kind; None where this is of no use. ``seed``
    turns all slots on by so many, as the first words may be written in any."""
    found = []
    for part, site in parts:
        shut = tuple(sorted((link, (slot - seed) % period) for link, slot in part.blocked))
        turned = replace(part, blocked=shut) if shut else part
        chains = _alone(turned, turns_of(streams, site), limits, period)
        if chains is None:
            return None
        placed = [
            Chain(one.demand, one.route, tuple((start + seed) % period for start in one.starts)) for one in chains
        ]
        found.append((site, part, placed))
    return found


def sooner(streams: Sequence[Stream], placed: PlacedParts, limits: NodeLimits, period: int) -> PlacedParts:
    """Chains of every part, where words that processors pass on have been given other slots beside the chains of the others if
    they come sooner with them."""
    found: PlacedParts = []
    known: dict[tuple[int, Turns], list[Chain]] = {}
    for site, part, chains in placed:
        turns = turns_of(streams, site)
        key = id(chains), turns
        if key not in known:
            known[key] = _beside(part, turns, limits, period, chains) if any(turns) else chains
        found.append((site, part, known[key]))
    return found


def last_read(streams: Sequence[Stream], placed: PlacedParts, limits: NodeLimits, period: int) -> int:
    """Cycle after the last word is read that processors pass on; the first are written in cycle 0."""
    last = 0
    for site, part, chains in placed:
        turns = turns_of(streams, site)
        if any(turns):
            slots = _Slots(part, limits, period)
            for chain in chains:
                slots.keep(chain.demand, chain.route, chain.starts)
            last = max(last, _end(Order(part, turns), slots)[0])
    return last


def renumbered(placed: PlacedParts, numbers: Sequence[int]) -> PlacedParts:
    """Chains of some streams of a phase, whose ``numbers`` in the phase are given."""
    return [
        (replace(site, streams=tuple(numbers[k] for k in site.streams)), part, chains) for site, part, chains in placed
    ]


@lru_cache(maxsize=256)
def _alone(part: RoutingPart, turns: Turns, limits: NodeLimits, period: int) -> tuple[Chain, ...] | None:
    ends, words = [0] * part.nodes, [0] * part.nodes
    for demand, place in zip(part.demands, turns, strict=True):
        for node in (demand.source, *demand.destinations):
            ends[node] += 1
            words[node] += place.words if place is not None else 1
    if max(ends) > limits.registers - limits.pipelines or max(words) > limits.pipelines * (period - 1):
        return None
    order, slots = Order(part, turns), _Slots(part, limits, period)
    if any(spread[-1] + SHORTEST_TURN > period for spread in order.spread.values()):
        return None
    best = _best(order, slots, None, TRIES)
    return None if best is None else tuple(Chain(k, *best.chains[k]) for k in range(len(turns)))


def _beside(part: RoutingPart, turns: Turns, limits: NodeLimits, period: int, chains: list[Chain]) -> list[Chain]:
    several = Counter(chain.demand for chain in chains)
    if any(turns[k] and count > 1 for k, count in several.items()):
        return chains  # its words go different ways
    order = Order(part, turns)
    before, slots = (_Slots(part, limits, period) for _ in range(2))
    for chain in chains:
        if turns[chain.demand]:
            before.keep(chain.demand, chain.route, chain.starts)
        else:
            slots.keep(chain.demand, chain.route, chain.starts)
    best = _best(order, slots, before, FEW_TRIES)
    if best is None or best is before:
        return chains
    return [Chain(one.demand, *best.chains[one.demand]) if turns[one.demand] else one for one in chains]


def _best(order: Order, free: _Slots, best: _Slots | None, tries: int) -> _Slots | None:
    """Slots with which the last word is read first: ``best``, or those of an attempt, in which words take slots that are
    ``free``."""
    least = ANY
    if best is not None:
        least, late = _end(order, best)
        if late is None:
            return best
    urgent: dict[int, int] = {}
    for attempt in range(min(tries, 1 + WORK // order.moves)):
        slots = free.copy(attempt)
        failed = _place(order, slots, urgent)
        if failed is not None:
            urgent = _first(failed, order.ideal[failed], urgent)
            continue
        end, late = _end(order, slots)
        if end < least:
            least, best = end, slots
        if late is None:
            break
        urgent = _first(*late, urgent)
    return best


def _first(k: int, written: int, urgent: Mapping[int, int]) -> dict[int, int]:
    """``urgent``, and before them another word, for which slots are kept that suit its being written in that cycle."""
    if len(urgent) >= URGENT:
        return {}
    return {k: written, **{one: cycle for one, cycle in urgent.items() if one != k}}


def _place(order: Order, slots: _Slots, urgent: Mapping[int, int]) -> int | None:
    """Give each word its slots: first those of ``urgent``, the others as they are written. Gives the number of a demand that
    found none; None: all have some."""
    for k, cycle in urgent.items():
        if not slots.place(k, cycle, order.spread[k]):
            return k
    waiting = {k: len(order.read[k]) + len(order.written[k]) for k in order.sequence}
    times = Times()
    ready: list[tuple[int, float, int]] = []

    def add(k: int) -> None:
        heappush(ready, (order.write(k, times), -order.tail[k] - slots.random.random(), k))

    for k in order.sequence:
        if not waiting[k]:
            add(k)
    while ready:
        cycle, _, k = heappop(ready)
        if k not in slots.chains and not slots.place(k, cycle, order.spread[k]):
            return k
        times.wrote[k], times.arrived[k] = cycle, slots.arrivals(k, cycle, order.item[k])
        for other in order.after[k]:
            waiting[other] -= 1
            if not waiting[other]:
                add(other)
    return None


def _end(order: Order, slots: _Slots) -> tuple[int, tuple[int, int] | None]:
    """Cycles until the last read, and of the words that it waited for the one that waited longest for its slot, with the
    cycle in which it was written; None if none did."""
    times = order.played(lambda k, cycle: slots.arrivals(k, cycle, order.item[k]))
    waited, late = 0, None
    node, cycles = order.last(times)
    some = order.ending[node]
    while some:
        k = max(some, key=lambda k: times.arrived[k][node])
        waits = slots.waits(k, times.wrote[k])
        if waits > waited:
            waited, late = waits, (k, times.wrote[k])
        some, node = order.read[k], order.part.demands[k].source
    return cycles, late


def lengths_in_turn(routed: RoutedPhase, most: int) -> list[int]:
    """Schedule lengths, at most ``most``, that suit the streams of a phase that are such: some of these periods, or a slot less
    each, are as long as all words take on an empty network; of crowded routers a single period, or as much longer as words may
    have to wait. None where there are none."""
    streams = in_order(routed.streams) or [stream for stream in routed.streams if is_in_turn(stream)]
    if not streams or routed.beside:
        return []
    cycles, moves = 0, 0
    for part, site in split(streams, routed.topology, routed.shape, ()):
        order = Order(part, turns_of(streams, site))
        last = max(spread[-1] - spread[order.item[k] - 1] for k, spread in order.spread.items())
        cycles, moves = max(cycles, order.shortest + last), moves + order.moves
    found = {-(-(cycles + 1) // periods) + more for periods in range(1, PERIODS + 1) for more in range(2)}
    if moves > CROWDED * cycles * len(routed.topology.working) * routed.shape.pipelines:
        found |= {cycles + more for more in range(LATER + 1)}
    return sorted(length for length in found if length <= most)


class _Slots:
    """What the words placed so far use: of each pipeline of a node, sets of slots as bits of a number."""

    def __init__(self, part: RoutingPart, limits: NodeLimits, period: int) -> None:
        self.part, self.limits, self.period = part, limits, period
        size = part.nodes * limits.pipelines
        self.random = random.Random(0)
        self.spread: tuple[int, ...] = (0,)
        """Slots from the first word to each word of the message that is being placed …"""
        self.known: dict[int, int] = {}
        """… and by their count, the slots in a row from each of these on …"""
        self.least = period
        """… and the fewest from one of them to the next, also round the end of the period."""
        self.running, self.delivering, self.injecting = [0] * size, [0] * size, [0] * size
        self.vfsms = [0] * size
        self.leaves = [limits.phase_change and at % limits.pipelines == 0 for at in range(size)]
        """Is a slot kept for the reprogramming VFSM?"""
        self.writing = [0] * len(part.links)
        """By wire, the slots in which it is written."""
        for link, slot in part.blocked:
            self.writing[part.wires[link]] |= self._mask(slot)
        self.chains: dict[int, tuple[Route, tuple[int, ...]]] = {}
        self.trees: dict[tuple[int, bool], dict[int, list[int]]] = {}
        """By demand, and whether later links come first: by node the links of its tree. Copies share them."""

    def copy(self, seed: int) -> _Slots:
        """These slots, to be given out with other choices between equals."""
        made = copy(self)
        made.random = random.Random(seed)
        for name in ("running", "delivering", "injecting", "vfsms", "writing", "chains"):
            setattr(made, name, copy(getattr(self, name)))
        return made

    def place(self, k: int, written: int, spread: tuple[int, ...]) -> bool:
        """Give the word of a demand, written in that cycle, the first slots that lead to its destinations."""
        demand = self.part.demands[k]
        if spread != self.spread:
            self.spread, self.known = spread, {}
        self.least = min([after - slot for slot, after in pairwise((*spread, spread[0] + self.period))])
        single = demand.tree is None and len(demand.destinations) == 1
        for start in range(written, written + self.period):
            visits = self._path(demand, start) if single else self._tree(k, start)
            if visits is not None:
                starts = sorted((start + slot) % self.period for slot in spread)
                self.keep(k, Route(demand, tuple(visits)), tuple(starts))
                return True
        return False

    def arrivals(self, k: int, written: int, item: int) -> dict[int, tuple[int, ...]]:
        """By destination the first cycles in which the first ``item`` words can be read."""
        route, starts = self.chains[k]
        begun: list[int] = []
        for word in range(item):
            ready = max(written + word, begun[-1] + 1) if begun else written
            begun.append(ready + min((slot - ready) % self.period for slot in starts))
        return {node: tuple([first + ACCESS_TO_ACCESS + slot for first in begun]) for node, _, slot in route.delivers}

    def waits(self, k: int, written: int) -> int:
        """Cycles that a word written in this cycle waits for its slot."""
        return min((slot - written) % self.period for slot in self.chains[k][1])

    def _mask(self, first: int, count: int = 1) -> int:
        """``count`` slots from ``first`` on."""
        first %= self.period
        bits = ((1 << count) - 1) << first
        return (bits | bits >> self.period) & ((1 << self.period) - 1)

    def _masks(self, first: int, count: int = 1) -> int:
        """As `_mask`, of all words of the message that is being placed."""
        bits = self.known.get(count)
        if bits is None:
            bits = 0
            for slot in self.spread:
                bits |= self._mask(slot, count)
            self.known[count] = bits
        return self._later(bits, first)

    def _later(self, bits: int, slots: int) -> int:
        """Slots that come so many later, round the period."""
        slots %= self.period
        return (bits << slots | bits >> self.period - slots) & ((1 << self.period) - 1)

    def keep(self, k: int, route: Route, starts: tuple[int, ...]) -> None:
        """Take the slots of a demand's chain."""
        self.chains[k] = route, starts
        places = self.limits.pipelines
        begun = 0
        for start in starts:
            begun |= 1 << start
        for table, cells in (
            (self.running, route.cells),
            (self.injecting, route.reads_interface),
            (self.delivering, route.delivers),
        ):
            for node, pipeline, slot in cells:
                table[node * places + pipeline] |= self._later(begun, slot)
        for node, pipeline, _ in route.cells:
            self.vfsms[node * places + pipeline] += 1
            if route.demand.rewritten:
                self.leaves[node * places + pipeline] = True
        for link, slot in route.writes:
            self.writing[self.part.wires[link]] |= self._later(begun, slot)

    def _pipeline(self, node: int, slot: int, links: Sequence[int], delivers: bool, injects: bool) -> int | None:
        """A pipeline that can take a word in ``slot``, write it to ``links`` from this slot on, and deliver it at last."""
        legs = len(links) + delivers
        if legs >= self.least:
            return None
        if any(self.writing[self.part.wires[link]] & self._masks(slot + leg) for leg, link in enumerate(links)):
            return None
        cells, last = self._masks(slot, legs), slot + legs - 1
        for pipeline in range(self.limits.pipelines):
            at = node * self.limits.pipelines + pipeline
            if self.running[at] & cells or self.vfsms[at] + legs + FIRST_FREE_VFSM > self.limits.vfsms:
                continue
            # A word from the processor is not read in the slot after a delivery.
            if injects and self.delivering[at] & self._masks(slot - 1):
                continue
            if delivers and self.injecting[at] & self._masks(last + 1):
                continue
            if self.leaves[at] and not self._may_leave(at, cells, last if delivers else None):
                continue
            return pipeline
        return None

    def _may_leave(self, at: int, cells: int, delivered: int | None) -> bool:
        """Is a slot left for the reprogramming VFSM?"""
        delivering = self.delivering[at] | (0 if delivered is None else self._masks(delivered))
        after = delivering << 1 | delivering >> self.period - 1
        return bool(~(self.running[at] | cells | after) & ((1 << self.period) - 1))

    def _path(self, demand: Demand, start: int) -> list[NodeVisit] | None:
        """A shortest way without waiting, by depth-first search."""
        part, (end,) = self.part, demand.destinations
        left = part.distances(end, demand.nodes, (demand.source,), to=True)
        if demand.source not in left:
            return None

        def onward(node: int) -> Iterator[int]:
            links = [link for link in part.leaving[node] if left.get(part.links[link][1], ANY) < left[node]]
            self.random.shuffle(links)
            return iter(links)

        nodes, choices = [demand.source], [onward(demand.source)]
        way: list[NodeVisit] = []
        dead: set[int] = set()
        while nodes:
            node, hop = nodes[-1], len(way)
            entered = way[-1].links[0] if way else -1
            link = next(choices[-1], -1)
            if node == end:
                pipeline = self._pipeline(node, start + hop, (), True, hop == 0)
                if pipeline is not None:
                    return [*way, NodeVisit(node, hop - 1, entered, pipeline, hop, 0, (), True)]
            elif link >= 0:
                if part.links[link][1] not in dead:
                    pipeline = self._pipeline(node, start + hop, (link,), False, hop == 0)
                    if pipeline is not None:
                        way.append(NodeVisit(node, hop - 1, entered, pipeline, hop, 0, (link,), False))
                        nodes.append(part.links[link][1])
                        choices.append(onward(nodes[-1]))
                continue
            dead.add(node)
            nodes.pop()
            choices.pop()
            del way[-1:]
        return None

    def _tree(self, k: int, start: int) -> list[NodeVisit] | None:
        """A tree without waiting, the prescribed one or of shortest ways; at a node the longest way comes first, the delivery
        last."""
        demand = self.part.demands[k]
        key = k, demand.tree is None and self.random.random() < 0.5
        if key not in self.trees:
            self.trees[key] = self._onward(demand, backwards=key[1])
        onward = self.trees[key]
        ends = set(demand.destinations)
        visits: list[NodeVisit] = []
        queue = [(demand.source, 0, -1, -1)]
        for node, slot, parent, entered in queue:
            links = onward[node]
            pipeline = self._pipeline(node, start + slot, links, node in ends, parent < 0)
            if pipeline is None:
                return None
            for leg, link in enumerate(links):
                queue.append((self.part.links[link][1], slot + leg + 1, len(visits), link))
            visits.append(NodeVisit(node, parent, entered, pipeline, slot, 0, tuple(links), node in ends))
        return visits if sum(visit.delivers for visit in visits) == len(ends) else None

    def _onward(self, demand: Demand, *, backwards: bool) -> dict[int, list[int]]:
        """By node the links that a word goes on by. ``backwards``: of equal ways, those over later links."""
        part, inside = self.part, set(demand.nodes)
        if demand.tree is not None:
            found = given_tree(part, demand)
        else:
            found, order = {}, [demand.source]
            seen = {demand.source}
            for node in order:
                for link in part.leaving[node][::-1] if backwards else part.leaving[node]:
                    other = part.links[link][1]
                    if other in inside and other not in seen:
                        seen.add(other)
                        order.append(other)
                        found.setdefault(node, []).append(link)
        return longest_first(part, demand, found)
