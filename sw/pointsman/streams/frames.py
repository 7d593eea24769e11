"""Streams of one hop, in frames: every channel of a phase once every few slots, as evenly as can be.

Online messages need channels to all neighbours at once, and a word of a channel waits for its slot at every hop, so even slots
count for as much as many. Takes the streams of a phase, those of one hop among them, and gives a ``RoutedPhase``; None where
frames do not apply, and then ``router`` has to do.

Method: a node sends in pipeline 0 and receives in pipeline 1, so no delivery meets an injection. Channels are coloured so that no
two with one source, or with one target, have one colour; as many colours as the busiest node has channels are enough (König
1916). A frame has a slot for each colour, and frames fill the period. Words that meet the other streams of the phase, which are
routed before, are left out; then channels with too small a share get words from those with more, and words move to
where they make gaps more even.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from numesh.codes import FIRST_FREE_VFSM, MoveType
from numesh.shape import NodeShape
from pointsman.network import Topology

from .router import route_phase
from .stream import Place, RoutedChain, RoutedPhase, RoutedVfsm, Stream

LEAST_FRAME = 2
"""A VFSM that ran in the slot before does not take another word yet."""
SEND, RECEIVE = 0, 1
"""Pipelines."""
TURNS = 400
"""Most words that change hands, for each channel."""


def coloured(ends: Sequence[tuple[int, int]]) -> list[int]:
    """A colour for each edge (source, target) such that neither two of one source nor two of one target have the same.

    Uses as many colours as the largest number of edges at one end; O(edges × nodes).
    """
    sides: tuple[dict[int, dict[int, int]], dict[int, dict[int, int]]] = (defaultdict(dict), defaultdict(dict))
    colours = [0] * len(ends)
    for edge, (source, target) in enumerate(ends):
        a, b = _lowest_free(sides[0][source]), _lowest_free(sides[1][target])
        if a != b:
            # Swap the colours a and b along the path that begins at the target with a; it cannot end at the source.
            path, side, node, colour = [], 1, target, a
            while colour in sides[side][node]:
                found = sides[side][node][colour]
                path.append(found)
                side = 1 - side
                node = ends[found][side]
                colour = a + b - colour
            for found in path:
                for side in (0, 1):
                    del sides[side][ends[found][side]][colours[found]]
            for found in path:
                colours[found] = a + b - colours[found]
                for side in (0, 1):
                    sides[side][ends[found][side]][colours[found]] = found
        colours[edge] = a
        sides[0][source][a] = sides[1][target][a] = edge
    return colours


def _lowest_free(used: Collection[int]) -> int:
    return next(colour for colour in range(len(used) + 1) if colour not in used)


def route_frames(
    streams: Sequence[Stream], hops: range, topology: Topology, shape: NodeShape, *, period: int, seed: int = 0
) -> RoutedPhase | None:
    """Route a phase whose streams ``hops`` go to neighbours.

    Parameters
    ----------
    hops : range
        Indices of the streams that are to be in frames.

    Returns
    -------
    RoutedPhase or None
        None if one of ``hops`` is longer than a hop, if there are too few pipelines or VFSMs, or not all have a word.

    Raises
    ------
    RoutingError
        If the other streams alone cannot be routed.
    """
    channels = [streams[i] for i in hops]
    if not channels or shape.pipelines < 2 or any(s.path is None or len(s.path) != 2 for s in channels):
        return None
    ends = [(stream.source, stream.destinations[0]) for stream in channels]
    colours = coloured(ends)
    frame = max(LEAST_FRAME, max(colours) + 1)
    others = [i for i in range(len(streams)) if i not in hops]
    rest = sorted_out(route_phase([streams[i] for i in others], topology, shape, period=period, seed=seed))
    best: _Filling | None = None
    for offset in range(frame):
        one = _Filling(rest, channels, ends, topology, period)
        if not one.reserve():
            return None
        one.fill([range(offset + colour, offset + colour + period // frame * frame, frame) for colour in colours])
        if one.least() and (best is None or one.rank() > best.rank()):
            best = one
    if best is not None:
        best.even_out()
    if best is None or max(best.numbers.values(), default=0) + frame >= shape.vfsms:
        return None
    chains = [RoutedChain(others[one.stream], one.chain, one.vfsms) for one in rest.chains] + best.chains(hops.start)
    chains.sort(key=lambda one: (one.stream, one.chain))
    return RoutedPhase(shape, topology, period, tuple(streams), tuple(chains), rest.seconds)


def sorted_out(routed: RoutedPhase) -> RoutedPhase:
    """The same phase, with VFSMs that inject in the pipeline of sends and others in that of receipts, where they have room.

    A delivery must not stand before an injection in one pipeline, so apart they leave more slots to others.
    """
    period = routed.period
    holds: dict[tuple[int, int, int], tuple[bool, bool]] = {}
    """Injects, delivers, by (node, pipeline, slot)."""
    for chain in routed.chains:
        for vfsm in chain.vfsms:
            for slot in vfsm.slots:
                holds[vfsm.node, vfsm.pipeline, slot] = _accesses(vfsm)
    pipelines: dict[tuple[int, int], int] = {}
    for c, chain in enumerate(routed.chains):
        for group in _visits(chain):
            first = chain.vfsms[group[0]]
            wanted = SEND if any(_accesses(chain.vfsms[i])[0] for i in group) else RECEIVE
            cells = {(slot, _accesses(chain.vfsms[i])) for i in group for slot in chain.vfsms[i].slots}
            fits = all(
                (first.node, wanted, slot) not in holds
                and not (injects and holds.get((first.node, wanted, (slot - 1) % period), (False, False))[1])
                and not (delivers and holds.get((first.node, wanted, (slot + 1) % period), (False, False))[0])
                for slot, (injects, delivers) in cells
            )
            then = {
                slot: accesses for (node, pipe, slot), accesses in holds.items() if (node, pipe) == (first.node, wanted)
            }
            then |= dict(cells)
            # One slot has to stay for reprogramming, which must not follow a delivery.
            spare = any(s not in then and not then.get((s - 1) % period, (False, False))[1] for s in range(period))
            if first.pipeline != wanted and fits and spare:
                for slot, accesses in cells:
                    del holds[first.node, first.pipeline, slot]
                    holds[first.node, wanted, slot] = accesses
                pipelines.update(((c, i), wanted) for i in group)
    return _renumbered(routed, pipelines)


def _accesses(vfsm: RoutedVfsm) -> tuple[bool, bool]:
    return vfsm.source.kind in ("inject", "register"), vfsm.destination.kind in ("deliver", "register")


def _visits(chain: RoutedChain) -> list[list[int]]:
    """VFSMs that must stay in one pipeline: the legs of a fork, and a delay with what reads its buffer."""
    groups: list[list[int]] = []
    of: dict[int, list[int]] = {}
    for i, vfsm in enumerate(chain.vfsms):
        if vfsm.parent >= 0 and chain.vfsms[vfsm.parent].node == vfsm.node:
            of[i] = of[vfsm.parent]
        else:
            of[i] = []
            groups.append(of[i])
        of[i].append(i)
    return groups


def _renumbered(routed: RoutedPhase, pipelines: Mapping[tuple[int, int], int]) -> RoutedPhase:
    """With the VFSMs (chain, index) of ``pipelines`` there, and numbers to fit."""
    numbers: dict[tuple[int, int], int] = {}
    chains = []
    for c, chain in enumerate(routed.chains):
        new_of: dict[tuple[int, int, int], int] = {}
        placed = []
        for i, vfsm in enumerate(chain.vfsms):
            pipeline = pipelines.get((c, i), vfsm.pipeline)
            at = vfsm.node, pipeline
            number = numbers[at] = numbers.get(at, FIRST_FREE_VFSM - 1) + 1
            new_of[vfsm.node, vfsm.pipeline, vfsm.number] = number
            placed.append((pipeline, number))
        vfsms = []
        for vfsm, (pipeline, number) in zip(chain.vfsms, placed, strict=True):
            ends = [
                Place("buffer", new_of[vfsm.node, vfsm.pipeline, end.number]) if end.kind == "buffer" else end
                for end in (vfsm.source, vfsm.destination)
            ]
            vfsms.append(replace(vfsm, pipeline=pipeline, number=number, source=ends[0], destination=ends[1]))
        chains.append(replace(chain, vfsms=tuple(vfsms)))
    return replace(routed, chains=tuple(chains))


class _Filling:
    """Slots of channels beside what is routed already."""

    def __init__(
        self,
        rest: RoutedPhase,
        channels: Sequence[Stream],
        ends: Sequence[tuple[int, int]],
        topology: Topology,
        period: int,
    ) -> None:
        self.channels, self.ends, self.period, self.topology = channels, ends, period, topology
        size = topology.nodes, rest.shape.pipelines, period
        self.used, self.injects, self.delivers = np.zeros((3, *size), np.bool_)
        self.links: set[tuple[int, int, int]] = set()
        """(node, port, slot) that are written."""
        self.sender: dict[tuple[int, int], int] = {}
        self.receiver: dict[tuple[int, int], int] = {}
        """Channel by node and slot of its VFSM."""
        self.numbers: dict[tuple[int, int], int] = {}
        self.slots: list[list[int]] = [[] for _ in channels]
        for chain in rest.chains:
            for vfsm in chain.vfsms:
                at = vfsm.node, vfsm.pipeline
                self.numbers[at] = max(self.numbers.get(at, 0), vfsm.number)
                for slot in vfsm.slots:
                    self.used[(*at, slot)] = True
                    self.injects[(*at, slot)] |= vfsm.source.kind in ("inject", "register")
                    self.delivers[(*at, slot)] |= vfsm.destination.kind in ("deliver", "register")
                    if vfsm.destination.kind == "link":
                        self.links.add((vfsm.node, vfsm.destination.number, slot))
        self.ports = [
            next((port, back) for port, (other, back) in sorted(topology.at_port[u].items()) if other == v)
            for u, v in ends
        ]

    def reserve(self) -> bool:
        """Keep a slot for the reprogramming VFSM in pipeline 0 of every node; False if one has none."""
        for node in range(self.topology.nodes):
            free = ~self.used[node, SEND] & ~np.roll(self.delivers[node, SEND], 1)
            if not free.any():
                return False
            slot = int(np.argmax(free))
            self.used[node, SEND, slot] = self.injects[node, SEND, slot] = True
        return True

    def fill(self, wanted: Sequence[Iterable[int]]) -> None:
        """Give the channels these slots where they can have them, then words to those with the smallest share."""
        for channel, slots in enumerate(wanted):
            for slot in slots:
                if self._free(channel, slot % self.period):
                    self._take(channel, slot % self.period)
        for _ in range(TURNS * len(self.channels)):
            order = sorted(range(len(self.channels)), key=lambda c: (self._share(c), c))
            if not any(self._grow(channel) for channel in order):
                break

    def even_out(self) -> None:
        """Move words to where gaps become more even."""
        for channel in range(len(self.channels)):
            while self._move(channel):
                pass

    def least(self) -> float:
        """The smallest share: words over weight."""
        return min(map(self._share, range(len(self.channels))))

    def rank(self) -> tuple[float, float]:
        """How good it is: the smallest share, then even gaps."""
        return self.least(), -sum(map(self._unevenness, range(len(self.channels))))

    def _share(self, channel: int) -> float:
        return len(self.slots[channel]) / self.channels[channel].weight

    def _unevenness(self, channel: int) -> int:
        slots = sorted(self.slots[channel])
        return sum(((b - a) % self.period or self.period) ** 2 for a, b in pairwise([*slots, *slots[:1]]))

    def _grow(self, channel: int) -> bool:
        """Another word for a channel: in a free slot, or in that of channels whose share stays above this one's then."""
        best: tuple[int, int, int] | None = None
        after = (len(self.slots[channel]) + 1) / self.channels[channel].weight
        for slot in range(self.period):
            if self._distance(channel, slot) < LEAST_FRAME or not self._free(channel, slot, others=True):
                continue
            losers = self._holders(channel, slot)
            if any((len(self.slots[c]) - 1) / self.channels[c].weight < after for c in losers):
                continue
            key = -len(losers), self._distance(channel, slot), -slot
            if best is None or key > best:
                best = key
        if best is None:
            return False
        slot = -best[2]
        for loser in self._holders(channel, slot):
            self._drop(loser, next(s for s in self.slots[loser] if self._meets(channel, slot, loser, s)))
        self._take(channel, slot)
        return True

    def _move(self, channel: int) -> bool:
        """Move one word to a free slot if gaps become more even."""
        now = self._unevenness(channel)
        for slot in sorted(self.slots[channel]):
            self._drop(channel, slot)
            found = slot
            for other in range(self.period):
                if self._free(channel, other):
                    self.slots[channel].append(other)
                    if self._unevenness(channel) < now:
                        now, found = self._unevenness(channel), other
                    self.slots[channel].pop()
            self._take(channel, found)
            if found != slot:
                return True
        return False

    def _holders(self, channel: int, slot: int) -> set[int]:
        """Channels whose words stand where this one would have a word in ``slot``."""
        u, v = self.ends[channel]
        found = {self.sender.get((u, slot), -1), self.receiver.get((v, (slot + 1) % self.period), -1)}
        return found - {-1}

    def _meets(self, channel: int, slot: int, other: int, its: int) -> bool:
        return its == slot and (
            self.ends[channel][0] == self.ends[other][0] or self.ends[channel][1] == self.ends[other][1]
        )

    def _distance(self, channel: int, slot: int) -> int:
        """Slots to the nearest one that the channel has."""
        apart = ((slot - other) % self.period for other in self.slots[channel])
        return min((min(gap, self.period - gap) for gap in apart), default=self.period)

    def _free(self, channel: int, slot: int, *, others: bool = False) -> bool:
        """Can a channel have a word in a slot? ``others``: if other channels leave it."""
        (u, v), (port, _) = self.ends[channel], self.ports[channel]
        before, after, then = (slot - 1) % self.period, (slot + 1) % self.period, (slot + 2) % self.period
        if self.used[u, SEND, slot] or self.used[v, RECEIVE, after] or (u, port, slot) in self.links:
            return False
        if self.delivers[u, SEND, before] or self.injects[v, RECEIVE, then]:
            return False
        return others or not (self._holders(channel, slot) or self._distance(channel, slot) < LEAST_FRAME)

    def _take(self, channel: int, slot: int) -> None:
        u, v = self.ends[channel]
        self.sender[u, slot] = self.receiver[v, (slot + 1) % self.period] = channel
        self.slots[channel].append(slot)

    def _drop(self, channel: int, slot: int) -> None:
        u, v = self.ends[channel]
        del self.sender[u, slot], self.receiver[v, (slot + 1) % self.period]
        self.slots[channel].remove(slot)

    def chains(self, first: int) -> list[RoutedChain]:
        """The routed channels; the first has index ``first`` among the streams of the phase."""
        found = []
        for k, ((u, v), (port, back)) in enumerate(zip(self.ends, self.ports, strict=True)):
            slots = tuple(sorted(self.slots[k]))
            after = tuple((slot + 1) % self.period for slot in slots)
            sends = RoutedVfsm(
                u, SEND, self._number(u, SEND), MoveType.MOVE, Place("inject"), Place("link", port), slots, -1
            )
            receives = RoutedVfsm(
                v, RECEIVE, self._number(v, RECEIVE), MoveType.MOVE, Place("link", back), Place("deliver"), after, 0
            )
            found.append(RoutedChain(first + k, 0, (sends, receives)))
        return found

    def _number(self, node: int, pipeline: int) -> int:
        at = node, pipeline
        self.numbers[at] = self.numbers.get(at, FIRST_FREE_VFSM - 1) + 1
        return self.numbers[at]
