"""An attempt to give each word its slots, and each of its accesses a cycle of the processor."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from copy import copy
from typing import NamedTuple

from pointsman.routing.pace import REFILL, Moment, in_pace, latest_read, periods_on

from ..problem import NodeLimits
from ..routes import NodeVisit, Route
from .order import Way, WordOrder

PATIENCE = 25
"""Rounds without gain after which an attempt ends if all processors keep pace."""
AGAIN = 4
"""Words that may be placed then, for each of these words."""
SPARE = 2
"""Cycles before a word has to be read in which it should be."""
OTHERS = 40.0
"""Costs of a place that cannot be had, over that of a cycle that a word is late …"""
OTHER = 8.0
"""… of the place of a word, which has to be placed again …"""
ONCE_MORE = 2.0
"""… for each time that it has been …"""
LEFT = 2.0, 8.0
"""… of the last slot of a router for the reprogramming VFSM, first and when words are placed again …"""
MOVED = 0.5
"""… and of the cycle of a read that can be made in another."""
ENOUGH = 0.3
"""Costs of a place for which no other is looked for."""
UNPACED = 4
"""Cycles that the last word may come later if a processor more keeps pace."""
BESIDE, UNPACED_FIRST, MULTICAST = 0.25, 0.6, 0.15
"""Shares: of words beside those that are placed again, those that are, too; of rounds, those for a processor that does not keep
pace; and those in which a multicast is placed again."""


class _Placed(NamedTuple):
    """Where a word is: the cycle in which it is written, its first slot, its way, the pipeline of each visit, and by destination
    the cycle in which it is read (of a multicast they are in the tables only)."""

    written: int
    start: int
    way: Way
    pipelines: tuple[int, ...]
    reads: dict[int, int]


FREE = -1
TABLES = ("wire", "cell", "busy", "enters", "leaves", "access", "at")
"""Attributes of an attempt with what is given out."""


class PacedAttempt:
    """Places given out so far. ``slack``: cycles that multicasts start later than on an empty network."""

    def __init__(self, order: WordOrder, limits: NodeLimits, slack: int) -> None:
        part, period = order.part, order.period
        self.order, self.limits, self.period, self.slack = order, limits, period, slack
        self.random = random.Random(slack)
        self.full = (1 << period) - 1
        self.latest = latest_read(period) - SPARE
        """Cycles after which a word is read, at most."""
        longest = max(order.tail) + slack
        self.due = [longest - tail for tail in order.tail]
        """By demand, the cycle in which its word should be written at the latest."""
        self.wire = [FREE] * (len(part.links) * period)
        self.cell = [FREE] * (part.nodes * limits.pipelines * period)
        """Demands whose words take these slots of wires and pipelines …"""
        size = part.nodes * limits.pipelines
        self.busy, self.enters, self.leaves = [0] * size, [0] * size, [0] * size
        """By pipeline, as bits: the slots that are taken, and of these those of words from the processor, and to it …"""
        self.access = [FREE] * (part.nodes * period)
        """… and cycles of processors."""
        self.at: dict[int, _Placed] = {}
        self.times = [0] * len(self.due)
        self.waiting = set(range(len(self.due)))
        self.work = 0
        self.left = LEFT[0]

    def place(self, most: int) -> bool:
        """Place all words that wait; False after ``most``."""
        order = self.order
        while self.waiting:
            most -= 1
            if most < 0:
                return False
            self.work += 1
            k = min(
                self.waiting,
                key=lambda k: (k not in order.multicasts, self.due[k] + self.random.random(), k),
            )
            self._put(k)
            onward = order.after[k]
            if k in self.at and onward in self.at and self._ready(onward) > self.at[onward].written:
                if onward in order.multicasts:
                    self._turn_on(onward)
                else:
                    self._remove(onward)
        for k in order.multicasts:
            self._turn_on(k)
        return True

    def improve(self, rounds: int) -> None:
        """Place some words again, and again."""
        best, self.left = self.score(), LEFT[1]
        idle = 0
        for _ in range(rounds):
            idle += 1
            if idle > PATIENCE and not best[0]:
                break
            before = {name: copy(getattr(self, name)) for name in TABLES}
            again = self._again()
            for k in again:
                self._remove(k)
            self.times = [0] * len(self.due)
            score = self.score() if self.place(AGAIN * len(again) + len(self.due) // 4) else None
            if score is None or sum(score) > sum(best):
                for name, table in before.items():
                    setattr(self, name, table)
                self.waiting = set()
            else:
                idle = idle if sum(score) == sum(best) else 0
                best = score

    def score(self) -> tuple[int, int, int]:
        """Weighted: processors that do not keep pace, the cycle after the last read, and how late words for multicasts are."""
        order = self.order
        first = min(one.written for one in self.at.values())
        last = max(one.start + max(one.way.arrivals.values()) for one in self.at.values()) - first
        late = sum(max(0, self._ready(k) - self.due[k] - first) for k in order.multicasts)
        return 10 * UNPACED * len(self._unpaced()), 10 * last, late

    def routes(self) -> tuple[tuple[Route, int], ...]:
        """By demand its route and the slot in which words start."""
        found = []
        first = [self._leaving(node) or 0 for node in range(self.order.part.nodes)]  # and it becomes the first pipeline
        for k, demand in enumerate(self.order.part.demands):
            one = self.at[k]
            visits = [
                visit._replace(pipeline=(at - first[visit.node]) % self.limits.pipelines)
                for visit, at in zip(one.way.visits, one.pipelines, strict=True)
            ]
            found.append((Route(demand, tuple(visits)), one.start % self.period))
        return tuple(found)

    def _unpaced(self) -> list[int]:
        """Nodes whose processors do not keep pace, or whose routers have no slot for the reprogramming VFSM."""
        left = {k: one.start for k, one in self.at.items()}
        comes = {k: one.start + max(one.way.arrivals.values()) for k, one in self.at.items()}
        later = periods_on(self.period, self.order.after, left, comes)
        return [
            node
            for node, lanes in enumerate(self.order.lanes)
            if lanes and (in_pace(self.period, self._moments(node, later)) is None or self._leaving(node) is None)
        ]

    def _moments(self, node: int, later: Mapping[int, int]) -> tuple[tuple[Moment, ...], ...]:
        """By operator and part when words come or leave, that of each demand ``later`` by so much."""

        def moment(k: int, write: bool) -> Moment:
            return write, later[k] + self.at[k].start + (0 if write else self.at[k].way.arrivals[node])

        return tuple(
            (
                *sorted(moment(k, False) for k in combined),
                *(moment(k, True) for k in written),
                *(moment(k, False) for k in read),
            )
            for combined, written, read in self.order.lanes[node]
        )

    def _leaving(self, node: int) -> int | None:
        """A pipeline that has a slot left for the reprogramming VFSM, or any if there need be none."""
        first = node * self.limits.pipelines
        for pipeline in range(self.limits.pipelines):
            if not self.limits.phase_change or self._has_left(
                self.busy[first + pipeline], self.leaves[first + pipeline]
            ):
                return pipeline
        return None

    def _has_left(self, busy: int, leaves: int) -> bool:
        """Is there a slot for the reprogramming VFSM, free and not after a delivery?"""
        return busy | self._turned(leaves, 1) != self.full

    def _turned(self, bits: int, slots: int) -> int:
        """Bits of slots that are so many later."""
        return (bits << slots | bits >> self.period - slots) & self.full

    def _again(self) -> set[int]:
        """Words to be placed again: those on the longest way to a multicast, or of a processor that does not keep pace."""
        order, demands, draw = self.order, self.order.part.demands, self.random.random
        unpaced = self._unpaced()
        if unpaced and draw() < UNPACED_FIRST:
            nodes = {self.random.choice(unpaced)}
            found = {
                k
                for k in self.at
                if k not in order.multicasts and nodes & {demands[k].source, *demands[k].destinations}
            }
        else:
            ends = (k for k in self.at if order.after[k] is None)
            k = max(ends, key=lambda k: (self.at[k].start + max(self.at[k].way.arrivals.values()), self._ready(k), k))
            found = {k} if k not in order.multicasts or draw() < MULTICAST else set()
            while order.read[k]:
                node = demands[k].source
                k = max(order.read[k], key=lambda j: self.at[j].reads[node] + 2 * draw())
                found.add(k)
            nodes = {
                node
                for k in found
                if k not in order.multicasts
                for node in (demands[k].source, *demands[k].destinations)
            }
        for k in sorted(self.at):
            beside = k not in found and k not in order.multicasts
            if beside and not nodes.isdisjoint((demands[k].source, *demands[k].destinations)) and draw() < BESIDE:
                found.add(k)
        return found

    def _ready(self, k: int) -> int:
        """The cycle in which a word can be written; as far as words that it waits for have no place, on an empty network."""
        node = self.order.part.demands[k].source
        found = 0
        for j in self.order.read[k]:
            if j in self.at:
                found = max(found, self.at[j].reads[node] + 1)
            else:
                found = max(found, self.due[j] - self.slack + self.order.tail[j] - self.order.tail[k])
        return found

    def _turn_on(self, k: int) -> None:
        """Have a multicast start in the first period in which its word is there."""
        one = self.at[k]
        more = -(-(self._ready(k) - one.written) // self.period) * self.period
        self.at[k] = one._replace(written=one.written + more, start=one.start + more)

    def _put(self, k: int) -> None:
        """Give a word the cheapest place, and take it from others."""
        begin = self._ready(k)
        if k in self.order.multicasts and not all(j in self.at for j in self.order.read[k]):
            begin = max(begin, self.due[k])
        best = None
        for start in range(begin, begin + self.period):
            ways = self.order.ways[k]
            turn = int(self.random.random() * len(ways))
            for way in (*ways[turn:], *ways[:turn]):
                one = self._option(k, start, begin, way)
                if best is None or one[0] < best[0]:
                    best = one
            if best is not None and best[0] < ENOUGH:
                break
        assert best is not None
        _, placed, taken = best
        moved = self._take_from(k, taken)
        self._fill(k, placed, k)
        self.at[k] = placed
        self.waiting.discard(k)
        self.times[k] += 1
        if k in self.order.multicasts:
            moved = [(j, node) for j, node in moved if j != k] + [(k, node) for node in placed.way.arrivals]
        for j, node in moved:
            if j in self.at:
                self._read_anew(j, node)

    def _option(self, k: int, start: int, begin: int, way: Way) -> tuple[float, _Placed, set[tuple[int, int]]]:
        """Costs of a place, the place, and by whom it is taken: demands with FREE, or with the node where the word is read."""
        period, order, draw = self.period, self.order, self.random.random
        taken: set[tuple[int, int]] = set()
        for wire, slot in way.writes:
            owner = self.wire[wire * period + (start + slot) % period]
            if owner != FREE:
                taken.add((owner, FREE))
        pipelines, costs = [], 0.0
        for visit in way.visits:
            at, owners, left = self._pipeline(visit, start, taken)
            pipelines.append(at)
            taken |= owners
            costs += left
        source = order.part.demands[k].source
        written = self._cycle(source, range(max(begin, start - period + REFILL), start + 1), taken)
        reads: dict[int, int] = {}
        late = start - self.due[k]
        if k not in order.multicasts:
            for node, after in way.arrivals.items():
                cycles = range(start + after, start + after + self.latest + 1)
                reads[node] = self._cycle(node, cycles, taken)
                late = reads[node] + 1 - self.due[k] - order.tail[k]
                onward = order.after[k]
                late += 0 if onward is None else order.tail[onward]
        costs += sum(self._price(owner, node) for owner, node in taken)
        costs += max(0, late) + 0.7 * draw()
        return costs, _Placed(written, start, way, tuple(pipelines), reads), taken

    def _pipeline(
        self, visit: NodeVisit, start: int, taken: set[tuple[int, int]]
    ) -> tuple[int, set[tuple[int, int]], float]:
        """The pipeline of a visit in which the fewest others are, these, and the costs if it takes the last slot for the
        reprogramming VFSM."""
        period, change = self.period, self.limits.phase_change
        first, end = start + visit.slot, start + visit.slot + visit.legs
        cells = self._turned((1 << visit.legs) - 1, first % period)
        # A word from the processor is not read in the slot after a delivery.
        before = 1 << (first - 1) % period if visit.parent < 0 else 0
        last, after = (1 << (end - 1) % period, 1 << end % period) if visit.delivers else (0, 0)
        base, best = visit.node * self.limits.pipelines, None
        left = (
            [self._has_left(self.busy[at], self.leaves[at]) for at in range(base, base + self.limits.pipelines)]
            if change
            else []
        )
        for pipeline in range(self.limits.pipelines):
            at = base + pipeline
            price = 0.0
            if change and sum(left) == left[pipeline]:
                price = 0.0 if self._has_left(self.busy[at] | cells, self.leaves[at] | last) else self.left
            others: set[tuple[int, int]] = set()
            if self.busy[at] & cells or self.leaves[at] & before or self.enters[at] & after:
                slots = [*range(first, end), *([first - 1] if self.leaves[at] & before else [])]
                slots += [end] if self.enters[at] & after else []
                owners = {self.cell[at * period + slot % period] for slot in slots}
                others = {(owner, FREE) for owner in owners if owner != FREE}
            key = OTHER * len(others - taken) + price + self.random.random()
            if best is None or key < best[0]:
                best = key, pipeline, others, price
        assert best is not None
        return best[1:]

    def _cycle(self, node: int, cycles: Iterable[int], taken: set[tuple[int, int]]) -> int:
        """The first of these cycles that a processor has free, or that costs least; the other owner is added to ``taken``."""
        best = None
        for cycle in cycles:
            owner = self.access[node * self.period + cycle % self.period]
            if owner == FREE:
                return cycle
            read = node if owner in self.order.multicasts and self.order.part.demands[owner].source != node else FREE
            price = self._price(owner, read)
            if best is None or price < best[0]:
                best = price, cycle, (owner, read)
        assert best is not None
        taken.add(best[2])
        return best[1]

    def _price(self, owner: int, node: int) -> float:
        if node != FREE:
            return MOVED if any(self._is_free(node, cycle) for cycle in self._window(owner, node)) else OTHERS
        return OTHERS if owner in self.order.multicasts else OTHER + ONCE_MORE * self.times[owner]

    def _is_free(self, node: int, cycle: int) -> bool:
        return self.access[node * self.period + cycle % self.period] == FREE

    def _window(self, k: int, node: int) -> range:
        """Cycles in which a word of a multicast may be read."""
        comes = self.at[k].start + self.at[k].way.arrivals[node]
        return range(comes, comes + self.latest + 1)

    def _take_from(self, k: int, taken: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Take their places from others; gives reads of multicasts to be made in other cycles."""
        moved = []
        for owner, node in sorted(taken):
            if node == FREE and owner in self.at:
                self._remove(owner)
            elif node != FREE and owner in self.at:
                self._drop_read(owner, node)
                moved.append((owner, node))
        return moved

    def _drop_read(self, k: int, node: int) -> None:
        for at in range(node * self.period, (node + 1) * self.period):
            if self.access[at] == k:
                self.access[at] = FREE

    def _read_anew(self, k: int, node: int) -> None:
        """Give a read of a multicast a free cycle, or that of a word that is placed again."""
        window = list(self._window(k, node))
        free = [cycle for cycle in window if self._is_free(node, cycle)]
        for cycle in free or window:
            at = node * self.period + cycle % self.period
            owner = self.access[at]
            if owner == FREE or owner not in self.order.multicasts:
                if owner != FREE:
                    self._remove(owner)
                self.access[at] = k
                return
        for cycle in window:
            at = node * self.period + cycle % self.period
            owner = self.access[at]
            others = [] if self.order.part.demands[owner].source == node else self._window(owner, node)
            for other in others:
                if self._is_free(node, other):
                    self.access[node * self.period + other % self.period] = owner
                    self.access[at] = k
                    return
        self._remove(k)

    def _remove(self, k: int) -> None:
        one = self.at.pop(k)
        self._fill(k, one, FREE)
        if k in self.order.multicasts:
            for node in one.way.arrivals:
                self._drop_read(k, node)
        self.waiting.add(k)

    def _fill(self, k: int, one: _Placed, owner: int) -> None:
        """Put ``owner`` into the places of demand ``k``."""
        period = self.period
        for wire, slot in one.way.writes:
            self.wire[wire * period + (one.start + slot) % period] = owner
        for visit, pipeline in zip(one.way.visits, one.pipelines, strict=True):
            base = (visit.node * self.limits.pipelines + pipeline) * period
            first, last = one.start + visit.slot, one.start + visit.slot + visit.legs - 1
            for slot in range(first, last + 1):
                self.cell[base + slot % period] = owner
            at = visit.node * self.limits.pipelines + pipeline
            self.busy[at] ^= self._turned((1 << visit.legs) - 1, first % period)
            if visit.parent < 0:
                self.enters[at] ^= 1 << first % period
            if visit.delivers:
                self.leaves[at] ^= 1 << last % period
        self.access[self.order.part.demands[k].source * period + one.written % period] = owner
        for node, cycle in one.reads.items():
            self.access[node * period + cycle % period] = owner
