"""Slots of channels with given paths, beside streams that are routed already: the second half of ``frames``.

A channel is a *line*: a VFSM that injects in pipeline 0 of its first node, VFSMs that pass words on, and a VFSM that delivers in
pipeline 1 of its last node. A word sent in slot s uses the line's *cells*: at its i-th node a VFSM's slot, and the link written,
in slot s + i. No cell may be used by two channels.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from numesh.codes import FIRST_FREE_VFSM, MoveType
from pointsman.network import Topology
from pointsman.routing.streams import Place, RoutedChain, RoutedPhase, RoutedVfsm, Stream

LEAST_FRAME = 2
"""Least slots between words of a channel: a VFSM cannot take words in two consecutive slots."""
SEND, RECEIVE = 0, 1
"""Pipelines that inject and that deliver."""
LINKS = 1 << 10
"""A cell's kind is the number of a pipeline, or for a link LINKS + the number of its port."""
TURNS = 400
"""Most steps of `Filling.fill`, per channel."""

Cell = tuple[int, int, int]
"""(node, kind, slot)."""


@dataclass(frozen=True)
class Line:
    """A channel: its nodes, the pipelines of its VFSMs, and the ports by which words leave and enter these nodes."""

    nodes: tuple[int, ...]
    pipelines: tuple[int, ...]
    out: tuple[int, ...]
    back: tuple[int, ...]

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """(node, kind, slots after the word is sent) of each cell that a word uses."""
        vfsms = [(node, pipeline, i) for i, (node, pipeline) in enumerate(zip(self.nodes, self.pipelines, strict=True))]
        links = [(node, LINKS + port, i) for i, (node, port) in enumerate(zip(self.nodes[:-1], self.out, strict=True))]
        return (*vfsms, *links)


def lines_of(channels: Sequence[Stream], topology: Topology) -> list[Line]:
    """The lines of channels. At nodes in between, the VFSM runs in the pipeline with fewer VFSMs."""
    load: dict[tuple[int, int], int] = defaultdict(int)
    for stream in channels:
        assert stream.path is not None
        load[stream.path[0], SEND] += 1
        load[stream.path[-1], RECEIVE] += 1
    found = []
    for stream in channels:
        assert stream.path is not None
        pipelines = [SEND]
        for node in stream.path[1:-1]:
            pipelines.append(min((SEND, RECEIVE), key=lambda pipeline: (load[node, pipeline], -pipeline)))
            load[node, pipelines[-1]] += 1
        out, back = [], []
        for a, b in pairwise(stream.path):
            port, other = next((port, back) for port, (to, back) in sorted(topology.at_port[a].items()) if to == b)
            out.append(port)
            back.append(other)
        found.append(Line(stream.path, (*pipelines, RECEIVE), tuple(out), tuple(back)))
    return found


class Filling:
    """Slots of channels in a period, beside those of the routed streams ``rest``.

    Parameters
    ----------
    weights : sequence of float
        Bandwidth that each channel should have, relative to the others.
    """

    def __init__(self, rest: RoutedPhase, weights: Sequence[float], lines: Sequence[Line], period: int) -> None:
        self.weights, self.lines, self.period = weights, lines, period
        self.nodes = rest.topology.nodes
        size = self.nodes, rest.shape.pipelines, period
        self.used, self.injects, self.delivers = np.zeros((3, *size), np.bool_)
        self.links: set[Cell] = set()
        """Cells of links that ``rest`` writes."""
        self.holder: dict[Cell, int] = {}
        self.numbers: dict[tuple[int, int], int] = {}
        self.slots: list[list[int]] = [[] for _ in lines]
        for chain in rest.chains:
            for vfsm in chain.vfsms:
                at = vfsm.node, vfsm.pipeline
                self.numbers[at] = max(self.numbers.get(at, 0), vfsm.number)
                for slot in vfsm.slots:
                    self.used[(*at, slot)] = True
                    self.injects[(*at, slot)] |= vfsm.source.kind in ("inject", "register")
                    self.delivers[(*at, slot)] |= vfsm.destination.kind in ("deliver", "register")
                    if vfsm.destination.kind == "link":
                        self.links.add((vfsm.node, LINKS + vfsm.destination.number, slot))
        self.can: list[list[bool]] = []
        """By channel and slot: does ``rest`` leave free all cells of a word that the channel sends in this slot?"""

    def reserve(self) -> bool:
        """Keep a slot for the reprogramming VFSM in pipeline 0 of every node; False if some node has no free slot."""
        for node in range(self.nodes):
            free = ~self.used[node, SEND] & ~np.roll(self.delivers[node, SEND], 1)
            if not free.any():
                return False
            slot = int(np.argmax(free))
            self.used[node, SEND, slot] = self.injects[node, SEND, slot] = True
        self.can = [[self._left(line, slot) for slot in range(self.period)] for line in self.lines]
        return True

    def put(self, wanted: Sequence[Iterable[int]]) -> None:
        """Give each channel those of its ``wanted`` slots that are free."""
        for channel, slots in enumerate(wanted):
            for slot in slots:
                at = slot % self.period
                if (
                    self.can[channel][at]
                    and not self._holders(channel, at)
                    and self._distance(channel, at) >= LEAST_FRAME
                ):
                    self._take(channel, at)

    def fill(self) -> None:
        """Give words to the channels with the smallest shares, from free slots or from channels with larger shares."""
        idle: set[int] = set()
        """Channels that found no slot since a channel last lost a word."""
        for _ in range(TURNS * len(self.lines)):
            order = sorted(set(range(len(self.lines))) - idle, key=lambda c: (self._share(c), c))
            for channel in order:
                losers = self._grow(channel)
                if losers is not None:
                    if losers:
                        idle.clear()
                    break
                idle.add(channel)
            else:
                break

    def even_out(self) -> None:
        """Move words to free slots as long as the gaps between words of their channel become more even."""
        for channel in range(len(self.lines)):
            while self._move(channel):
                pass

    def least(self) -> float:
        """The smallest share (words / weight) of all channels."""
        return min(map(self._share, range(len(self.lines))))

    def rank(self) -> tuple[float, float]:
        """Quality, larger is better: (smallest share, minus the sum of squared gaps)."""
        return self.least(), -sum(map(self._unevenness, range(len(self.lines))))

    def _share(self, channel: int) -> float:
        return len(self.slots[channel]) / self.weights[channel]

    def _unevenness(self, channel: int) -> int:
        slots = sorted(self.slots[channel])
        return sum(((b - a) % self.period or self.period) ** 2 for a, b in pairwise([*slots, *slots[:1]]))

    def _grow(self, channel: int) -> set[int] | None:
        """Give ``channel`` another word, in free cells or in cells of channels whose shares afterwards are still no smaller
        than its own. Gives the channels that lost a word; None if there is no such slot."""
        best: tuple[int, int, int] | None = None
        after = (len(self.slots[channel]) + 1) / self.weights[channel]
        for slot in range(self.period):
            if not self.can[channel][slot]:
                continue
            distance = self._distance(channel, slot)
            if distance < LEAST_FRAME:
                continue
            losers = self._holders(channel, slot)
            if any((len(self.slots[c]) - 1) / self.weights[c] < after for c in losers):
                continue
            key = -len(losers), distance, -slot
            if best is None or key > best:
                best = key
        if best is None:
            return None
        slot = -best[2]
        losers = self._holders(channel, slot)
        for cell in self._cells(channel, slot):
            if cell in self.holder:
                loser = self.holder[cell]
                self._drop(loser, next(s for s in self.slots[loser] if cell in self._cells(loser, s)))
        self._take(channel, slot)
        return losers

    def _move(self, channel: int) -> bool:
        """Move a word of ``channel`` to a free slot that makes its gaps more even; False if there is none."""
        now = self._unevenness(channel)
        for slot in sorted(self.slots[channel]):
            self._drop(channel, slot)
            found = slot
            for other in range(self.period):
                if not self.can[channel][other] or self._distance(channel, other) < LEAST_FRAME:
                    continue
                self.slots[channel].append(other)
                if self._unevenness(channel) < now and not self._holders(channel, other):
                    now, found = self._unevenness(channel), other
                self.slots[channel].pop()
            self._take(channel, found)
            if found != slot:
                return True
        return False

    def _cells(self, channel: int, slot: int) -> list[Cell]:
        return [(node, kind, (slot + at) % self.period) for node, kind, at in self.lines[channel].cells]

    def _holders(self, channel: int, slot: int) -> set[int]:
        """Channels that have cells which ``channel`` needs for a word sent in ``slot``."""
        holder, period = self.holder, self.period
        return {
            holder[cell]
            for node, kind, at in self.lines[channel].cells
            if (cell := (node, kind, (slot + at) % period)) in holder
        }

    def _distance(self, channel: int, slot: int) -> int:
        """Slots from ``slot`` to the nearest slot of ``channel``."""
        nearest = period = self.period
        for other in self.slots[channel]:
            gap = abs(slot - other)
            nearest = min(nearest, gap, period - gap)
        return nearest

    def _left(self, line: Line, slot: int) -> bool:
        """Does ``rest`` leave the cells of a word sent in ``slot`` free? In a pipeline no delivery may come in the slot before an
        injection."""
        u, v = line.nodes[0], line.nodes[-1]
        for node, kind, at in line.cells:
            there = (slot + at) % self.period
            if (node, kind, there) in self.links or (kind < LINKS and self.used[node, kind, there]):
                return False
        last = slot + len(line.nodes)
        return not (self.delivers[u, SEND, (slot - 1) % self.period] or self.injects[v, RECEIVE, last % self.period])

    def _take(self, channel: int, slot: int) -> None:
        for cell in self._cells(channel, slot):
            self.holder[cell] = channel
        self.slots[channel].append(slot)

    def _drop(self, channel: int, slot: int) -> None:
        for cell in self._cells(channel, slot):
            del self.holder[cell]
        self.slots[channel].remove(slot)

    def chains(self, first: int, doubled: Collection[int] = ()) -> list[RoutedChain]:
        """The routed channels; the first has index ``first`` among the streams of the phase. Channels in ``doubled`` have two
        chains that take turns."""
        found = []
        for k, line in enumerate(self.lines):
            turns = 2 if k in doubled and len(self.slots[k]) > 1 else 1
            for turn in range(turns):
                slots = tuple(sorted(self.slots[k])[turn::turns])
                found.append(RoutedChain(first + k, turn, self._vfsms(line, slots)))
        return found

    def _vfsms(self, line: Line, slots: Sequence[int]) -> tuple[RoutedVfsm, ...]:
        sources = [Place("inject"), *(Place("link", port) for port in line.back)]
        destinations = [*(Place("link", port) for port in line.out), Place("deliver")]
        return tuple(
            RoutedVfsm(
                node,
                pipeline,
                self._number(node, pipeline),
                MoveType.MOVE,
                sources[i],
                destinations[i],
                tuple((slot + i) % self.period for slot in slots),
                i - 1,
            )
            for i, (node, pipeline) in enumerate(zip(line.nodes, line.pipelines, strict=True))
        )

    def _number(self, node: int, pipeline: int) -> int:
        at = node, pipeline
        self.numbers[at] = self.numbers.get(at, FIRST_FREE_VFSM - 1) + 1
        return self.numbers[at]
