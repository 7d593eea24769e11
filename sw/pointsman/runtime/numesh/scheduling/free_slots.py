"""Free slots of the nodes in a phase, as bit masks: bit s is slot s of the period.

A processor that looks for a stream's first slot rotates the mask of each hop by the hops before it and takes what all have in
common; so a hop costs a few operations, however many slots there are.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from numesh.codes import SHORTEST_TURN


@dataclass
class Hop:
    """A stream's move at ``node``, from ``source`` to ``destination`` (codes of links or interface registers).

    ``injects``, ``delivers``: is its source, or its destination, a register? ``pipeline`` and ``vfsm`` are -1 until it is placed;
    ``own`` is the mask of its slots.
    """

    node: int
    source: int
    destination: int
    injects: bool
    delivers: bool
    pipeline: int = -1
    vfsm: int = -1
    own: int = 0


@dataclass
class FreeSlots:
    """Slots of ``period`` that are taken at nodes with ``pipelines``; ``numbers`` has the free VFSM numbers of each node and
    pipeline, the next one last. ``tests`` counts the masks that were looked at or changed."""

    period: int
    pipelines: int
    numbers: dict[tuple[int, int], list[int]]
    busy: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    """By node and pipeline, slots in which a VFSM runs."""
    reads: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    """Of these, slots in which it may read an interface register, or reprograms the router."""
    delivers: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    """Slots in which it may write a register."""
    links: dict[tuple[int, int], int] = field(default_factory=lambda: defaultdict(int))
    """By node and port, slots in which a link is written."""
    tests: int = 0

    def copy(self) -> FreeSlots:
        """A copy that can be changed alone."""
        found = FreeSlots(self.period, self.pipelines, {place: list(left) for place, left in self.numbers.items()})
        found.busy.update(self.busy)
        found.reads.update(self.reads)
        found.delivers.update(self.delivers)
        found.links.update(self.links)
        return found

    def place(self, hops: list[Hop]) -> bool:
        """Give a stream its first word a period: a slot, a pipeline and a VFSM for each hop; False if there are none."""
        free = [[self._free(hop, p) for p in range(self.pipelines)] for hop in hops]
        start = self._first(sum_of(masks) for masks in free)
        if start is None:
            return False
        for i, (hop, masks) in enumerate(zip(hops, free, strict=True)):
            slot = 1 << (start + i) % self.period
            hop.pipeline = next(p for p, mask in enumerate(masks) if mask & slot)
            hop.vfsm = self.numbers[hop.node, hop.pipeline].pop()
            self._take(hop, slot)
        return True

    def more(self, hops: list[Hop]) -> bool:
        """Give a stream another word a period, over the same VFSMs; False if no slots are free for it."""
        start = self._first(self._free(hop, hop.pipeline) & ~self._near(hop.own) for hop in hops)
        if start is None:
            return False
        for i, hop in enumerate(hops):
            self._take(hop, 1 << (start + i) % self.period)
        return True

    def _first(self, free: Iterable[int]) -> int | None:
        """First slot of a word whose hops may take place in the slots of these masks, one slot after the other."""
        common = (1 << self.period) - 1
        for i, mask in enumerate(free):
            common &= self._turned(mask, -i)
        return (common & -common).bit_length() - 1 if common else None

    def _free(self, hop: Hop, pipeline: int) -> int:
        """Slots in which the hop may take place. Between a delivery and a reading of a register a slot must pass."""
        place = hop.node, pipeline
        self.tests += 1
        if hop.pipeline < 0 and not self.numbers[place]:
            return 0
        taken = self.busy[place]
        if hop.injects:
            taken |= self._turned(self.delivers[place], 1)
        if hop.delivers:
            taken |= self._turned(self.reads[place], -1)
        else:
            self.tests += 1
            taken |= self.links[hop.node, hop.destination]
        return ~taken & ((1 << self.period) - 1)

    def _take(self, hop: Hop, slot: int) -> None:
        place = hop.node, hop.pipeline
        self.tests += 1
        hop.own |= slot
        self.busy[place] |= slot
        if hop.injects:
            self.reads[place] |= slot
        if hop.delivers:
            self.delivers[place] |= slot
        else:
            self.links[hop.node, hop.destination] |= slot

    def _near(self, own: int) -> int:
        """Slots too near to those of a VFSM for another turn of it."""
        near = 0
        for distance in range(1, SHORTEST_TURN):
            near |= self._turned(own, distance) | self._turned(own, -distance)
        return near

    def _turned(self, mask: int, by: int) -> int:
        """The mask with every slot ``by`` slots later, in the circle of the period."""
        by %= self.period
        return (mask << by | mask >> (self.period - by)) & ((1 << self.period) - 1)


def sum_of(masks: Iterable[int]) -> int:
    """Slots that are in any of the masks."""
    found = 0
    for mask in masks:
        found |= mask
    return found
