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

from . import slot_kernels
from .slot_kernels import SlotArrays

LEAST_FRAME = 2
"""Least slots between words of a channel: a VFSM cannot take words in two consecutive slots."""
SEND, RECEIVE = 0, 1
"""Pipelines that inject and that deliver."""
LINKS = 1 << 10
"""A cell's kind is the number of a pipeline, or for a link LINKS + the number of its port."""
TURNS = 400
"""Most words that `Filling.fill` gives, per channel."""

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


def _arrays(lines: Sequence[Line], weights: Sequence[float], period: int) -> SlotArrays:
    """Channels without words, before it is known which slots they can have."""
    places: dict[tuple[int, int], int] = {}
    cells = [(places.setdefault((node, kind), len(places)), at) for line in lines for node, kind, at in line.cells]
    place, at = np.array(cells, np.int64).reshape(-1, 2).T
    return SlotArrays(
        first=np.cumsum([0, *(len(line.cells) for line in lines)], dtype=np.int64),
        place=np.ascontiguousarray(place),
        at=np.ascontiguousarray(at),
        weights=np.array(weights, np.float64),
        can=np.zeros((len(lines), period), np.bool_),
        has=np.zeros((len(lines), period), np.bool_),
        words=np.zeros(len(lines), np.int64),
        holder=np.full((len(places), period), slot_kernels.FREE, np.int64),
    )


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
        self.numbers: dict[tuple[int, int], int] = {}
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
        self.arrays = _arrays(lines, weights, period)

    def reserve(self) -> bool:
        """Keep a slot for the reprogramming VFSM in pipeline 0 of every node; False if some node has no free slot."""
        for node in range(self.nodes):
            free = ~self.used[node, SEND] & ~np.roll(self.delivers[node, SEND], 1)
            if not free.any():
                return False
            slot = int(np.argmax(free))
            self.used[node, SEND, slot] = self.injects[node, SEND, slot] = True
        can = [[self._left(line, slot) for slot in range(self.period)] for line in self.lines]
        self.arrays.can[:] = np.reshape(can, self.arrays.can.shape)
        return True

    def put(self, wanted: Sequence[Iterable[int]]) -> None:
        """Give each channel those of its ``wanted`` slots that are free."""
        pairs = [(channel, slot % self.period) for channel, slots in enumerate(wanted) for slot in slots]
        channels, slots = np.ascontiguousarray(np.array(pairs, np.int64).reshape(-1, 2).T)
        slot_kernels.put(self.arrays, channels, slots, LEAST_FRAME)

    def fill(self) -> None:
        """Give words to the channels with the smallest shares, from free slots or from channels with larger shares.

        A word goes to free cells, or to cells of channels whose shares afterwards are still no smaller than that of the channel
        that gets it: to as few of these as possible, then as far from the channel's other words as possible.
        """
        slot_kernels.fill(self.arrays, LEAST_FRAME, TURNS * len(self.lines))

    def even_out(self) -> None:
        """Move words to free slots as long as the gaps between words of their channel become more even."""
        slot_kernels.even_out(self.arrays, LEAST_FRAME)

    @property
    def slots(self) -> list[list[int]]:
        """Slots in which each channel sends, ascending."""
        return [np.flatnonzero(row).tolist() for row in self.arrays.has]

    def least(self) -> float:
        """The smallest share (words / weight) of all channels."""
        return float((self.arrays.words / self.arrays.weights).min())

    def rank(self) -> tuple[float, float]:
        """Quality, larger is better: (smallest share, minus the sum of squared gaps)."""
        return self.least(), -sum(slot_kernels.unevenness(self.arrays, c) for c in range(len(self.lines)))

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

    def chains(self, first: int, doubled: Collection[int] = ()) -> list[RoutedChain]:
        """The routed channels; the first has index ``first`` among the streams of the phase. Channels in ``doubled`` have two
        chains that take turns."""
        found = []
        for k, (line, slots) in enumerate(zip(self.lines, self.slots, strict=True)):
            turns = 2 if k in doubled and len(slots) > 1 else 1
            for turn in range(turns):
                found.append(RoutedChain(first + k, turn, self._vfsms(line, tuple(slots[turn::turns]))))
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
