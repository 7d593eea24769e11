"""A second schedule for a routed phase: the same streams over the same VFSMs, with other slots.

Takes a ``RoutedPhase`` in which every stream with ``subphase`` has a single word per period, and link writes not to be used.
Gives the phase with two schedules: in the first, streams of subphase 1 get as many of the free slots as they can use, in the
second those of subphase 2. Routes, VFSMs and the original slots are in both.

A node may change between the schedules at any time, whatever its neighbours do, because

- a waiting word is in a VFSM that both schedules run;
- in each slot a link carries words of a single chain only, whichever schedules its two nodes run;
- the original slots are in both schedules, so that no stream ever stops.

Complexity: O(chains · words · period · VFSMs of a chain).
Leaves alone which routes there are, and streams whose VFSMs load functions rewrite.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from numesh.codes import FIRST_FREE_VFSM, SHORTEST_RETURN, SHORTEST_TURN

from .streams import RoutedChain, RoutedPhase, RoutedVfsm

Cell = tuple[int, int, int]
"""Node, pipeline and slot of a VFSM; or node, port and slot of a word on a link."""
COMMANDS = 8
"""At least 1 in COMMANDS slots of pipeline 0 is left to VFSM 1, the reprogramming VFSM."""


def with_subphases(routed: RoutedPhase, forbidden: Collection[Cell] = ()) -> RoutedPhase:
    """The phase with a second schedule if any of its streams has a ``subphase``; otherwise unchanged.

    Parameters
    ----------
    forbidden : collection of (node, port, slot)
        Link writes not to be used.
    """
    if not any(stream.subphase for stream in routed.streams):
        return routed
    routed = _spread(routed)
    owners: dict[Cell, int] = {}
    for number, chain in enumerate(routed.chains):
        for vfsm in chain.vfsms:
            if vfsm.destination.kind == "link":
                owners.update(((vfsm.node, vfsm.destination.number, slot), number) for slot in vfsm.slots)
    made = [_Schedule(routed, owners, frozenset(forbidden)).filled(subphase) for subphase in (1, 2)]
    return replace(routed, chains=made[0], second=made[1])


def _spread(routed: RoutedPhase) -> RoutedPhase:
    """The phase with the streams of each subphase balanced over the pipelines of each node, preferably with injections and
    deliveries in different pipelines. (Routing with a single word per period had no reason to balance them.)"""
    subphase = [routed.streams[chain.stream].subphase for chain in routed.chains]
    cells = {
        (vfsm.node, vfsm.pipeline, slot): vfsm for chain in routed.chains for vfsm in chain.vfsms for slot in vfsm.slots
    }
    parts: dict[int, list[tuple[int, list[RoutedVfsm]]]] = {}
    for number, chain in enumerate(routed.chains):
        here: dict[int, list[RoutedVfsm]] = {}
        for vfsm in chain.vfsms:
            here.setdefault(vfsm.node, []).append(vfsm)
        for node, vfsms in here.items():
            parts.setdefault(node, []).append((number, vfsms))
    moved: dict[tuple[int, int], int] = {}
    for node, own in parts.items():
        load: Counter[tuple[int, int]] = Counter()
        reads: set[tuple[int, int]] = set()
        writes: set[tuple[int, int]] = set()
        for number, vfsms in sorted(own, key=lambda part: -len(part[1])):
            group, at = subphase[number], vfsms[0].pipeline
            if len({vfsm.pipeline for vfsm in vfsms}) > 1:
                continue
            reading, writing = any(map(_reads, vfsms)), any(map(_writes, vfsms))
            choices = []
            for pipeline in range(routed.shape.pipelines):
                mixed = (reading and (group, pipeline) in writes) + (writing and (group, pipeline) in reads)
                choices.append((load[group, pipeline] + mixed, pipeline != at, pipeline))
            for _, _, pipeline in sorted(choices):
                if pipeline == at or (group and _movable(vfsms, pipeline, cells, routed)):
                    break
            for vfsm in vfsms:
                for slot in vfsm.slots:
                    del cells[node, vfsm.pipeline, slot]
                    cells[node, pipeline, slot] = vfsm
            moved[number, node] = pipeline
            load[group, pipeline] += len(vfsms)
            reads |= {(group, pipeline)} if reading else set()
            writes |= {(group, pipeline)} if writing else set()
    return _renumbered(routed, moved)


def _movable(vfsms: list[RoutedVfsm], pipeline: int, cells: Mapping[Cell, RoutedVfsm], routed: RoutedPhase) -> bool:
    """Can ``vfsms``, all those of a chain at a node, run in ``pipeline`` with the slots that they have?"""
    if any("buffer" in (vfsm.source.kind, vfsm.destination.kind) for vfsm in vfsms):
        return False
    for vfsm in vfsms:
        for slot in vfsm.slots:
            before = cells.get((vfsm.node, pipeline, (slot - 1) % routed.period))
            after = cells.get((vfsm.node, pipeline, (slot + 1) % routed.period))
            if (vfsm.node, pipeline, slot) in cells or _fills(before, vfsm):
                return False
            if _reads(vfsm) and before is not None and _writes(before):
                return False
            if _writes(vfsm) and after is not None and _reads(after):
                return False
    own = {(vfsm.node, pipeline, slot): vfsm for vfsm in vfsms for slot in vfsm.slots}
    return pipeline != 0 or _commands(lambda *cell: own.get(cell) or cells.get(cell), vfsms[0].node, routed.period)


def _renumbered(routed: RoutedPhase, moved: Mapping[tuple[int, int], int]) -> RoutedPhase:
    """The phase with VFSMs moved to the pipelines of ``moved`` ((chain, node): pipeline), and numbered without gaps."""
    numbers: dict[Cell, dict[int, int]] = {}
    top: Counter[tuple[int, int]] = Counter()
    chains = []
    for c, chain in enumerate(routed.chains):
        for vfsm in chain.vfsms:
            pipeline = moved.get((c, vfsm.node), vfsm.pipeline)
            new = numbers.setdefault((c, vfsm.node, pipeline), {})
            if vfsm.number not in new:
                new[vfsm.number] = FIRST_FREE_VFSM + top[vfsm.node, pipeline]
                top[vfsm.node, pipeline] += 1
    for c, chain in enumerate(routed.chains):
        vfsms = []
        for vfsm in chain.vfsms:
            pipeline = moved.get((c, vfsm.node), vfsm.pipeline)
            new = numbers[c, vfsm.node, pipeline]
            ends = [
                place._replace(number=new[place.number]) if place.kind == "buffer" else place
                for place in (vfsm.source, vfsm.destination)
            ]
            vfsms.append(vfsm._replace(pipeline=pipeline, number=new[vfsm.number], source=ends[0], destination=ends[1]))
        chains.append(replace(chain, vfsms=tuple(vfsms)))
    return replace(routed, chains=tuple(chains))


class _Schedule:
    """A schedule being filled. ``owners``: the chain that has each (node, port, slot), in any schedule of the phase."""

    def __init__(self, routed: RoutedPhase, owners: dict[Cell, int], forbidden: frozenset[Cell]) -> None:
        self.routed = routed
        self.period = routed.period
        self.owners = owners
        self.forbidden = forbidden
        self.cells: dict[Cell, RoutedVfsm] = {}
        self.links: set[Cell] = set()
        self.shifts: list[list[int]] = []
        """For each chain, the slots from its first word to each of its words."""
        for number, chain in enumerate(routed.chains):
            first = chain.vfsms[0].slots
            self.shifts.append([])
            for slot in first:
                self._put(number, (slot - first[0]) % self.period)

    def filled(self, subphase: int) -> tuple[RoutedChain, ...]:
        """The chains; those of ``subphase`` get words in turn as long as there is room."""
        chains = self.routed.chains
        open_chains = [
            number
            for number, chain in enumerate(chains)
            if self.routed.streams[chain.stream].subphase == subphase and chain.words == 1
        ]
        while open_chains:
            open_chains = [number for number in open_chains if self._add(number)]
        return tuple(
            replace(chain, vfsms=tuple(self._shifted(vfsm, self.shifts[number]) for vfsm in chain.vfsms))
            if len(self.shifts[number]) != chain.words
            else chain
            for number, chain in enumerate(chains)
        )

    def _shifted(self, vfsm: RoutedVfsm, shifts: list[int]) -> RoutedVfsm:
        return vfsm._replace(slots=tuple((vfsm.slots[0] + shift) % self.period for shift in sorted(shifts)))

    def _add(self, number: int) -> bool:
        """Give a chain another word, as far as possible from its other words; False if there is no room."""
        chain = self.routed.chains[number]
        # Who takes a word out of a buffer lets the next one in some slots later.
        apart = max(
            SHORTEST_TURN,
            *(
                self._hop(chain, vfsm) + (SHORTEST_RETURN if vfsm.source.kind == "buffer" else 1)
                for vfsm in chain.vfsms
            ),
        )
        best: tuple[int, int] | None = None
        for shift in range(1, self.period):
            near = min(
                min((shift - other) % self.period, (other - shift) % self.period) for other in self.shifts[number]
            )
            if near >= apart and (best is None or near > best[0]) and self._fits(number, shift):
                best = near, shift
        if best is None:
            return False
        self._put(number, best[1])
        return True

    def _hop(self, chain: RoutedChain, vfsm: RoutedVfsm) -> int:
        """Slots from the parent VFSM to ``vfsm``; 0 at the source."""
        return (vfsm.slots[0] - chain.vfsms[vfsm.parent].slots[0]) % self.period if vfsm.parent >= 0 else 0

    def _put(self, number: int, shift: int) -> None:
        self.shifts[number].append(shift)
        for vfsm in self.routed.chains[number].vfsms:
            slot = (vfsm.slots[0] + shift) % self.period
            self.cells[vfsm.node, vfsm.pipeline, slot] = vfsm
            if vfsm.destination.kind == "link":
                link = (vfsm.node, vfsm.destination.number, slot)
                self.links.add(link)
                self.owners[link] = number

    def _fits(self, number: int, shift: int) -> bool:
        """Would another word of this chain keep the rules of the node (Metcalf 1997, §7.1.1, §7.1.4)?"""
        wanted = {
            (vfsm.node, vfsm.pipeline, (vfsm.slots[0] + shift) % self.period): vfsm
            for vfsm in self.routed.chains[number].vfsms
        }
        if len(wanted) < len(self.routed.chains[number].vfsms) or not self.cells.keys().isdisjoint(wanted):
            return False

        def at(*cell: int) -> RoutedVfsm | None:
            place = cell[0], cell[1], cell[2] % self.period
            return wanted.get(place) or self.cells.get(place)

        for (node, pipeline, slot), vfsm in wanted.items():
            before, after = at(node, pipeline, slot - 1), at(node, pipeline, slot + 1)
            if _reads(vfsm) and before is not None and _writes(before):
                return False
            if _writes(vfsm) and after is not None and _reads(after):
                return False
            # A buffer must not be written in the slot before its own VFSM runs.
            if _fills(vfsm, after) or _fills(before, vfsm):
                return False
            if vfsm.destination.kind == "link" and not self._free(number, (node, vfsm.destination.number, slot)):
                return False
        nodes = {node for node, pipeline, _ in wanted if pipeline == 0}
        return all(_commands(at, node, self.period) for node in nodes)

    def _free(self, number: int, link: Cell) -> bool:
        if link in self.forbidden or link in self.links or self.owners.get(link, number) != number:
            return False
        if not self.routed.shape.aliased_handshake:
            return True
        node, port, slot = link
        back = (*self.routed.topology.at_port[node][port], slot)
        return back not in self.owners and back not in self.forbidden


def _commands(at: Callable[..., RoutedVfsm | None], node: int, period: int) -> bool:
    """Has ``node`` enough free slots for its reprogramming VFSM, which changes the schedule? ``at``: VFSM by cell."""
    left = 0
    for slot in range(period):
        before = at(node, 0, (slot - 1) % period)
        left += at(node, 0, slot) is None and not (before is not None and _writes(before))
    return left >= max(1, period // COMMANDS)


def _reads(vfsm: RoutedVfsm) -> bool:
    return vfsm.source.kind in ("inject", "register")


def _writes(vfsm: RoutedVfsm) -> bool:
    return vfsm.destination.kind in ("deliver", "register")


def _fills(vfsm: RoutedVfsm | None, after: RoutedVfsm | None) -> bool:
    """Does ``vfsm`` write the buffer of ``after``, another VFSM, which runs in the next slot?"""
    if vfsm is None or after is None or vfsm.destination.kind != "buffer":
        return False
    return vfsm.destination.number == after.number != vfsm.number
