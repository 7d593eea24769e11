"""What stands in a phase in which an operator makes its schedule at run time: slots, links and VFSMs of all others.

The placeholder streams of the operator are taken out, and VFSM 1 (reprogramming) from all slots but its kept slot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from numesh.codes import FIRST_FREE_VFSM, REPROGRAM_VFSM, Annotation, Codes, MoveType
from pointsman.artifacts.images.images import SYNC, Images, NodePhase, Promise, Rewrite
from pointsman.network.dimension_order import shortest_ways

from .free_slots import FreeSlots, Hop


def placeholder(images: Images, operator: int, promise: Promise) -> bool:
    """Is the promise that of a placeholder stream of the operator, and not of its barrier?"""
    if promise.operator != operator:
        return False
    image = dict(images.nodes[promise.source].operators)[operator]
    return any(
        lane.write and lane.turn != SYNC and promise.register in lane.registers
        for role in image.roles
        for lane in role.lanes
    )


@dataclass(frozen=True, eq=False)
class Standing:
    """An instance of ``operator`` before its schedule is made.

    ``nodes`` of the instance in order; their ``parts`` as compiled, and as ``kept`` without placeholder streams; ``free`` slots.
    """

    images: Images
    operator: int
    nodes: tuple[int, ...]
    parts: Mapping[int, NodePhase]
    kept: Mapping[int, NodePhase]
    free: FreeSlots
    ends: Mapping[int, tuple[int, int]]
    """By node, the registers that its processor writes and reads."""

    @classmethod
    def of(cls, images: Images, operator: int, instance: int) -> Standing:
        """What stands around an instance in the images."""
        phase = images.operators[operator].phase
        nodes = images.operators[operator].instances[instance]
        parts = {node: next(p for p in images.nodes[node].phases if p.phase == phase) for node in nodes}
        cleared = _Cleared(images, operator, parts)
        ends = {node: _ends(images, operator, node) for node in nodes} if len(nodes) > 1 else {}
        return cls(images, operator, nodes, parts, cleared.parts(), cleared.free(), ends)

    def registers(self, node: int) -> tuple[int, int]:
        """The registers that the processor writes and reads."""
        return self.ends[node]

    def paths(self, source: int, destination: int) -> Iterator[tuple[int, ...]]:
        """Ways from ``source`` to ``destination``, as nodes, which cross the dimensions one after the other."""
        return shortest_ways(self.images.topology, source, destination)

    def hops(self, way: Sequence[int]) -> list[Hop]:
        """The moves of a stream along ``way``, not yet placed."""
        codes = Codes(self.images.shape)
        ports = self.images.topology.at_port
        found = []
        for i, node in enumerate(way):
            first, last = i == 0, i == len(way) - 1
            source = codes.register(self.ends[node][0]) if first else _port(ports[node], way[i - 1])
            destination = codes.register(self.ends[node][1]) if last else _port(ports[node], way[i + 1])
            found.append(Hop(node, source, destination, first, last))
        return found


def _port(ports: Mapping[int, tuple[int, int]], other: int) -> int:
    return next(port for port, (far, _) in ports.items() if far == other)


def _ends(images: Images, operator: int, node: int) -> tuple[int, int]:
    role = dict(images.nodes[node].operators)[operator].roles[0]
    out = next(lane.registers[0] for lane in role.lanes if lane.write and lane.turn != SYNC)
    into = next(lane.registers[0] for lane in role.lanes if not lane.write and lane.turn != SYNC)
    return out, into


class _Cleared:
    """Schedules and annotations of the nodes of an instance, from which the placeholder streams are taken out."""

    def __init__(self, images: Images, operator: int, parts: Mapping[int, NodePhase]) -> None:
        self.images, self.compiled = images, parts
        self.phase = images.operators[operator].phase
        self.codes = Codes(images.shape)
        self.rows = {node: [list(row) for row in part.schedule] for node, part in parts.items()}
        self.annotations = {
            node: {(r.pipeline, r.vfsm): r.annotation for r in part.annotations} for node, part in parts.items()
        }
        for promise in images.promises:
            if promise.source in parts and placeholder(images, operator, promise):
                node, code = promise.source, self.codes.register(promise.register)
                here: tuple[int, tuple[int, int]] | None = node, self._reading(node, code)
                while here is not None:
                    here = self._remove(*here)
        for rows in self.rows.values():
            for p in range(images.shape.pipelines):
                own = [slot for slot, row in enumerate(rows) if row[p] == REPROGRAM_VFSM]
                for slot in own[1:]:
                    rows[slot][p] = 0

    def parts(self) -> dict[int, NodePhase]:
        return {
            node: replace(
                part,
                schedule=tuple(tuple(row) for row in self.rows[node]),
                annotations=tuple(Rewrite(p, v, a) for (p, v), a in sorted(self.annotations[node].items())),
            )
            for node, part in self.compiled.items()
        }

    def free(self) -> FreeSlots:
        """Slots and VFSM numbers that nothing uses. A VFSM counts as all that load functions may make of it, and a number is used
        too if its buffer is: made streams go from links and registers to links and registers, so the distances of turns at a
        buffer (`numesh.codes.SHORTEST_STAY`, `numesh.codes.SHORTEST_RETURN`) stay as they were compiled.
        """
        shape = self.images.shape
        found = FreeSlots(self.images.period, shape.pipelines, {})
        for node, rows in self.rows.items():
            others = [one for one in self.images.nodes[node].phases if one.phase != self.phase]
            used = {(r.pipeline, r.vfsm) for one in others for r in one.annotations} | set(self.annotations[node])
            rewritten = self._rewritten(node)
            standing = [(r.pipeline, r.annotation) for one in others for r in one.annotations]
            standing += [(p, a) for (p, _), a in self.annotations[node].items()]
            standing += [(p, a) for (p, _), may_be in rewritten.items() for a in may_be]
            used |= {
                (p, code - self.codes.first_buffer)
                for p, a in standing
                for code in (a.source, a.destination)
                if self.codes.is_buffer(code)
            }
            for p in range(shape.pipelines):
                found.numbers[node, p] = [
                    v for v in range(shape.vfsms - 1, FIRST_FREE_VFSM - 1, -1) if (p, v) not in used
                ]
            for (slot, row), p in product(enumerate(rows), range(shape.pipelines)):
                self._count(found, node, p, slot, row[p], rewritten)
        return found

    def _count(
        self,
        free: FreeSlots,
        node: int,
        p: int,
        slot: int,
        vfsm: int,
        rewritten: Mapping[tuple[int, int], list[Annotation]],
    ) -> None:
        """Count what VFSM ``vfsm`` of pipeline ``p`` takes in a slot."""
        if not vfsm:
            return
        bit = 1 << slot
        free.busy[node, p] |= bit
        if vfsm < FIRST_FREE_VFSM:
            free.reads[node, p] |= bit
            return
        for may_be in (self.annotations[node][p, vfsm], *rewritten.get((p, vfsm), ())):
            if self.codes.is_register(may_be.source):
                free.reads[node, p] |= bit
            if self.codes.is_register(may_be.destination):
                free.delivers[node, p] |= bit
            if self.codes.is_neighbour(may_be.destination):
                free.links[node, may_be.destination] |= bit

    def _rewritten(self, node: int) -> dict[tuple[int, int], list[Annotation]]:
        """By VFSM, the annotations that load functions of the phase's operators may give it."""
        found: dict[tuple[int, int], list[Annotation]] = {}
        for index, here in self.images.nodes[node].operators:
            if self.images.operators[index].phase != self.phase:
                continue
            for rewrite in (r for role in here.roles for r in role.rewrites):
                found.setdefault((rewrite.pipeline, rewrite.vfsm), []).append(rewrite.annotation)
        return found

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
                other, port = self.images.topology.at_port[node][annotation.destination]
                after = self.rows[other][(slot + 1) % self.images.period]
                following = next(
                    (
                        (other, (p, after[p]))
                        for p in range(self.images.shape.pipelines)
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
