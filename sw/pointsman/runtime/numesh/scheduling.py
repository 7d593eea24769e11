"""Schedules made at run time for shifts and permutations: a stream from each node to its partner (Metcalf 1997, §4.1.1,
"Run-Time Operator-Specific Scheduling").

From the same values every node works out the same schedule for all nodes of its instance and puts its own part into its router.
The compiler prepares a phase with placeholder streams from each node to the next in the subset: they reserve interface registers,
and the streams made here replace them. Everything else in the phase, such as barriers, stays in its slots.

This serves general run-time scheduling too (§4.1.1, "General Run-Time Scheduling"): where ``:impl`` asks for it in a phase with
other operators, their slots, links, registers and VFSMs are fixed as well, in every state that load functions give them, and
their words wait in the routers while a node loads its new part. Only free slots are used: cap the other operators with ``:b``.

Takes images, the operator and (from, to) pairs. Gives the parts of the instance's nodes, and promises of the new streams, by
which the judge can prove this schedule like any other. Paths follow dimension order, without delays; the longest paths are
placed first. Non-goals: several operators that make schedules in the same phase, faults.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, replace

from numesh.codes import FIRST_FREE_VFSM, REPROGRAM_VFSM, Annotation, Codes, MoveType
from pointsman.artifacts.images.images import SYNC, Images, NodePhase, Promise, Rewrite
from pointsman.errors import PointsmanError

CYCLES_A_PROBE = 12
"""Cycles that a processor is assumed to need to test a node, slot and pipeline."""
ORDERS = 8
"""Orders of streams that are tried."""

Moves = tuple[tuple[int, int], ...]
"""(from, to) for each node that sends to another."""


@dataclass(frozen=True)
class Schedule:
    """A schedule for an instance.

    ``parts`` by node; ``promises`` of the streams; ``cycles`` that a processor needs to compute it.
    """

    parts: Mapping[int, NodePhase]
    promises: tuple[Promise, ...]
    cycles: int


def schedule_moves(images: Images, operator: int, instance: int, moves: Moves) -> Schedule:
    """Schedule ``moves`` in the phase of ``operator``.

    Complexity: O(moves · path · period · pipelines) for each order tried.

    Raises
    ------
    PointsmanError
        If in none of ``ORDERS`` orders every stream gets a slot.
    """
    probes = 0
    for attempt in range(ORDERS):
        maker = _Maker(images, operator, instance)
        order = sorted(moves, key=lambda move: (-len(maker.path(*move)), move))
        if attempt:
            random.Random(attempt).shuffle(order)
        placed = maker.place(order)
        probes += maker.probes
        if placed:
            return Schedule(maker.parts(), maker.promises(), probes * CYCLES_A_PROBE)
    image = images.operators[operator]
    raise PointsmanError(
        f"{image.source}: operator '{image.label}': no slots found for {len(moves)} streams in {images.period} slots",
        hint="use a longer schedule, or another implementation",
    )


def scheduled_images(images: Images, operator: int, made: Mapping[int, Schedule]) -> Images:
    """``images`` with the schedules that were made at run time for an operator's instances, for the judge."""
    phase = images.operators[operator].phase
    nodes = list(images.nodes)
    members: set[int] = set()
    for schedule in made.values():
        members |= set(schedule.parts)
        for node, part in schedule.parts.items():
            phases = tuple(part if one.phase == phase else one for one in nodes[node].phases)
            nodes[node] = replace(nodes[node], phases=phases)
    gone = {p for p in images.promises if _replaced(images, operator, p) and p.source in members}
    # Lanes of the processors that no stream serves are left out.
    ends = {(p.source, p.register) for schedule in made.values() for p in schedule.promises}
    ends |= {end for schedule in made.values() for p in schedule.promises for end in p.destinations}
    for node in members:
        operators = []
        for index, here in nodes[node].operators:
            if index == operator:
                roles = tuple(
                    replace(
                        role,
                        lanes=tuple(
                            lane
                            for lane in role.lanes
                            if lane.turn == SYNC or any((node, register) in ends for register in lane.registers)
                        ),
                    )
                    for role in here.roles
                )
                here = replace(here, roles=roles)
            operators.append((index, here))
        nodes[node] = replace(nodes[node], operators=tuple(operators))
    promises = tuple(p for p in images.promises if p not in gone)
    promises += tuple(p for schedule in made.values() for p in schedule.promises)
    return replace(images, nodes=tuple(nodes), promises=promises)


def _replaced(images: Images, operator: int, promise: Promise) -> bool:
    """Is the promise that of a placeholder stream of the operator, and not of its barrier?"""
    if promise.operator != operator:
        return False
    image = dict(images.nodes[promise.source].operators)[operator]
    return any(
        lane.write and lane.turn != SYNC and promise.register in lane.registers
        for role in image.roles
        for lane in role.lanes
    )


@dataclass
class _Hop:
    node: int
    pipeline: int
    vfsm: int
    source: int
    destination: int
    slots: list[int]


class _Maker:
    def __init__(self, images: Images, operator: int, instance: int) -> None:
        self.images = images
        self.operator = operator
        self.image = images.operators[operator]
        self.phase = self.image.phase
        self.nodes = self.image.instances[instance]
        self.codes = Codes(images.shape)
        self.topology = images.topology
        self.period = images.period
        self.pipelines = range(images.shape.pipelines)
        self.probes = 0
        self.rows: dict[int, list[list[int]]] = {}
        self.annotations: dict[int, dict[tuple[int, int], Annotation]] = {}
        self.kept_slot: dict[tuple[int, int], int] = {}
        self.streams: list[tuple[tuple[int, int], list[_Hop]]] = []
        for node in self.nodes:
            part = next(one for one in images.nodes[node].phases if one.phase == self.phase)
            self.rows[node] = [list(row) for row in part.schedule]
            self.annotations[node] = {(r.pipeline, r.vfsm): r.annotation for r in part.annotations}
            for p in self.pipelines:
                own = [slot for slot, row in enumerate(part.schedule) if row[p] == REPROGRAM_VFSM]
                if own:
                    self.kept_slot[node, p] = own[0]
        self.taken = {
            node: {
                (r.pipeline, r.vfsm)
                for one in images.nodes[node].phases
                if one.phase != self.phase
                for r in one.annotations
            }
            for node in self.nodes
        }
        self.rewritten: dict[int, dict[tuple[int, int], list[Annotation]]] = {
            node: self._rewritten(node) for node in self.nodes
        }
        """By node and VFSM, the annotations that load functions of the phase's operators may give it."""
        self._clear()
        self.links = {
            (node, a.destination, slot)
            for node in self.nodes
            for (p, v) in self.annotations[node]
            for a in self._may_be(node, (p, v))
            if self.codes.is_neighbour(a.destination)
            for slot, row in enumerate(self.rows[node])
            if row[p] == v
        }

    # -- what stands already -------------------------------------------------------------------------------------

    def _clear(self) -> None:
        """Remove the placeholder streams from the schedule, and VFSM 1 (reprogramming) from all slots but its kept slot."""
        for promise in self.images.promises:
            if promise.source in self.rows and _replaced(self.images, self.operator, promise):
                node, code = promise.source, self.codes.register(promise.register)
                here: tuple[int, tuple[int, int]] | None = node, self._reading(node, code)
                while here is not None:
                    here = self._remove(*here)
        for node, rows in self.rows.items():
            for slot, row in enumerate(rows):
                for p in self.pipelines:
                    if row[p] == REPROGRAM_VFSM and self.kept_slot.get((node, p)) != slot:
                        row[p] = 0

    def _rewritten(self, node: int) -> dict[tuple[int, int], list[Annotation]]:
        found: dict[tuple[int, int], list[Annotation]] = {}
        for index, here in self.images.nodes[node].operators:
            if self.images.operators[index].phase != self.phase:
                continue
            for rewrite in (r for role in here.roles for r in role.rewrites):
                found.setdefault((rewrite.pipeline, rewrite.vfsm), []).append(rewrite.annotation)
        return found

    def _may_be(self, node: int, vfsm: tuple[int, int]) -> list[Annotation]:
        """All annotations that a VFSM of the phase may have."""
        return [self.annotations[node][vfsm], *self.rewritten[node].get(vfsm, ())]

    def _reading(self, node: int, code: int) -> tuple[int, int]:
        return next(vfsm for vfsm, a in self.annotations[node].items() if a.source == code)

    def _takes(self, node: int, vfsm: tuple[int, int], port: int) -> bool:
        """Does the VFSM read from link ``port``? A fork's second leg (FORK) names a source too, but does not read it."""
        annotation = self.annotations[node][vfsm]
        return annotation.source == port and annotation.type != MoveType.FORK

    def _remove(self, node: int, vfsm: tuple[int, int]) -> tuple[int, tuple[int, int]] | None:
        """Remove a VFSM; gives the VFSM that its words reach next, with its node, or None."""
        annotation = self.annotations[node].pop(vfsm)
        following: tuple[int, tuple[int, int]] | None = None
        for slot, row in enumerate(self.rows[node]):
            if row[vfsm[0]] != vfsm[1]:
                continue
            row[vfsm[0]] = 0
            if self.codes.is_neighbour(annotation.destination) and following is None:
                other, port = self.topology.at_port[node][annotation.destination]
                after = self.rows[other][(slot + 1) % self.period]
                following = next(
                    (
                        (other, (p, after[p]))
                        for p in self.pipelines
                        if after[p] >= FIRST_FREE_VFSM and self._takes(other, (p, after[p]), port)
                    ),
                    None,
                )
        if following is None:
            # A delay: another VFSM of the pipeline empties this VFSM's buffer, or a buffer that it fills.
            buffers = {self.codes.buffer(vfsm[1]), annotation.destination}
            for other_vfsm, a in self.annotations[node].items():
                filled = self.codes.buffer(other_vfsm[1]) == annotation.destination
                if other_vfsm[0] == vfsm[0] and (filled or (self.codes.is_buffer(a.source) and a.source in buffers)):
                    return node, other_vfsm
        return following

    # -- placing -------------------------------------------------------------------------------------------------

    def path(self, source: int, destination: int) -> list[int]:
        """Nodes from ``source`` to ``destination`` in dimension order, x first."""
        place, end = list(self.topology.coordinates(source)), self.topology.coordinates(destination)
        way = [source]
        for axis in range(len(place)):
            while place[axis] != end[axis]:
                place[axis] += 1 if end[axis] > place[axis] else -1
                way.append(self.topology.node_at(*place))
        return way

    def place(self, order: list[tuple[int, int]]) -> bool:
        """Give each stream a word a period, then more as long as there is room."""
        for move in order:
            hops = self._first(move)
            if hops is None:
                return False
            self.streams.append((move, hops))
        growing = list(self.streams)
        while growing:
            growing = [one for one in growing if self._more(one[1])]
        return True

    def _registers(self, node: int) -> tuple[int, int]:
        """The registers that the processor writes and reads."""
        role = dict(self.images.nodes[node].operators)[self.operator].roles[0]
        out = next(lane.registers[0] for lane in role.lanes if lane.write and lane.turn != SYNC)
        into = next(lane.registers[0] for lane in role.lanes if not lane.write and lane.turn != SYNC)
        return out, into

    def _first(self, move: tuple[int, int]) -> list[_Hop] | None:
        way = self.path(*move)
        for start in range(self.period):
            hops: list[_Hop] = []
            for i, node in enumerate(way):
                slot = (start + i) % self.period
                hop = self._hop(way, i, node, slot)
                if hop is None:
                    break
                hops.append(hop)
            if len(hops) == len(way):
                for hop in hops:
                    self._take(hop, hop.slots[0])
                return hops
        return None

    def _hop(self, way: list[int], i: int, node: int, slot: int) -> _Hop | None:
        source = self._port(node, way[i - 1]) if i else self.codes.register(self._registers(node)[0])
        last = i == len(way) - 1
        destination = self.codes.register(self._registers(node)[1]) if last else self._port(node, way[i + 1])
        if (node, destination, slot) in self.links:
            self.probes += 1
            return None
        for p in self.pipelines:
            self.probes += 1
            vfsm = self._free_number(node, p)
            if vfsm is not None and self._fits(node, p, slot, source, destination, vfsm):
                return _Hop(node, p, vfsm, source, destination, [slot])
        return None

    def _port(self, node: int, other: int) -> int:
        return next(port for port, (far, _) in self.topology.at_port[node].items() if far == other)

    def _free_number(self, node: int, pipeline: int) -> int | None:
        used = {v for p, v in self.taken[node] | set(self.annotations[node]) if p == pipeline}
        return next((v for v in range(FIRST_FREE_VFSM, self.images.shape.vfsms) if v not in used), None)

    def _fits(self, node: int, p: int, slot: int, source: int, destination: int, vfsm: int) -> bool:
        rows = self.rows[node]
        before, after = rows[slot - 1][p], rows[(slot + 1) % self.period][p]
        if rows[slot][p] or before == vfsm or after == vfsm:
            return False
        if self.codes.is_register(source) and before >= FIRST_FREE_VFSM:
            if any(self.codes.is_register(a.destination) for a in self._may_be(node, (p, before))):
                return False
        if self.codes.is_register(destination):
            if after == REPROGRAM_VFSM:
                return False
            if after >= FIRST_FREE_VFSM:
                if any(self.codes.is_register(a.source) for a in self._may_be(node, (p, after))):
                    return False
        # A fork's legs are in consecutive slots; both are taken, so no VFSM can come between them.
        return True

    def _take(self, hop: _Hop, slot: int) -> None:
        self.rows[hop.node][slot][hop.pipeline] = hop.vfsm
        self.annotations[hop.node][hop.pipeline, hop.vfsm] = Annotation(
            MoveType.MOVE, hop.source, hop.destination, False
        )
        if self.codes.is_neighbour(hop.destination):
            self.links.add((hop.node, hop.destination, slot))

    def _more(self, hops: list[_Hop]) -> bool:
        """Give a stream another word a period, over the same VFSMs; False if no slots are free for it."""
        for start in range(self.period):
            slots = [(start + i) % self.period for i in range(len(hops))]
            free = True
            for hop, slot in zip(hops, slots, strict=True):
                self.probes += 1
                if (hop.node, hop.destination, slot) in self.links or not self._fits(
                    hop.node, hop.pipeline, slot, hop.source, hop.destination, hop.vfsm
                ):
                    free = False
                    break
            if free:
                for hop, slot in zip(hops, slots, strict=True):
                    hop.slots.append(slot)
                    self._take(hop, slot)
                return True
        return False

    # -- what comes out ------------------------------------------------------------------------------------------

    def parts(self) -> dict[int, NodePhase]:
        found = {}
        for node in self.nodes:
            part = next(one for one in self.images.nodes[node].phases if one.phase == self.phase)
            annotations = tuple(Rewrite(p, v, a) for (p, v), a in sorted(self.annotations[node].items()))
            found[node] = replace(part, schedule=tuple(tuple(row) for row in self.rows[node]), annotations=annotations)
        return found

    def promises(self) -> tuple[Promise, ...]:
        return tuple(
            Promise(
                self.operator,
                self.phase,
                f"{self.image.label}.{source}-{destination}",
                tuple(range(self.image.states)),
                source,
                self._registers(source)[0],
                ((destination, self._registers(destination)[1]),),
                len(hops[0].slots),
            )
            for (source, destination), hops in self.streams
        )
