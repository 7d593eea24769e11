"""Random programs that fit together: chains of VFSMs over the links of a mesh, slot by slot."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from numesh.codes import (
    FIRST_FREE_VFSM,
    LOOKAHEAD,
    NOP_VFSM,
    REPROGRAM_VFSM,
    Annotation,
    Codes,
    MoveType,
    ScheduleEntry,
)
from pointsman.network import Topology

from .traffic import RandomProgram, Words

_DEPTH = 4
"""Links that a word crosses, at most."""


class Timetable:
    """Random schedules, with the same period, of all nodes of a mesh.

    For a VFSM that writes a link in a slot, a VFSM at the other end reads it in the next slot. No place in a schedule, no
    link and no VFSM is used twice. All nodes must start in the same cycle.
    """

    def __init__(self, codes: Codes, topology: Topology, random: Random) -> None:
        self.codes = codes
        self.topology = topology
        self.random = random
        self.period = random.randint(4, 12)
        pipelines = range(codes.shape.pipelines)
        self.rows: list[list[list[int]]] = [[[-1] * self.period for _ in pipelines] for _ in range(topology.nodes)]
        self.annotations: list[list[dict[int, Annotation]]] = [[{} for _ in pipelines] for _ in range(topology.nodes)]
        self._links: set[tuple[int, int, int]] = set()
        for _ in range(random.randint(topology.nodes, 5 * topology.nodes)):
            node, slot = random.randrange(topology.nodes), random.randrange(self.period)
            p = self._free(node, slot)
            if p is None:
                continue
            source = self._source(node, p)
            if self.rows[node][p][slot] < 0 and self._room(node, p):
                kind = random.choice((MoveType.MOVE, MoveType.MOVE, MoveType.COPY, MoveType.BLIND))
                self._place(node, slot, p, kind, source, _DEPTH)
        for p in pipelines:
            for rows in self.rows:
                rows[p] = [self._idle() if vfsm < 0 else vfsm for vfsm in rows[p]]

    def program(self, node: int, words: Words) -> RandomProgram:
        """The program that ``node`` has to load."""
        program = RandomProgram(self.codes, words, self.random)
        program.annotations = self.annotations[node]
        program.crowds = [list(legs) or [FIRST_FREE_VFSM] for legs in program.annotations]
        program.registers = list(range(self.codes.shape.registers))
        program.first, program.entries = LOOKAHEAD, self.period
        program.schedule = {
            LOOKAHEAD + i: ScheduleEntry(row, LOOKAHEAD + (i + LOOKAHEAD) % self.period)
            for i, row in enumerate(zip(*self.rows[node], strict=True))
        }
        return program

    def _place(self, node: int, slot: int, p: int, kind: MoveType, source: int, depth: int) -> None:
        """Give the VFSM of this place a source and a destination, and go on at the other end of a link."""
        legs, random = self.annotations[node][p], self.random
        vfsm = FIRST_FREE_VFSM + len(legs)
        after = (slot + 1) % self.period
        self.rows[node][p][slot] = vfsm
        legs[vfsm] = Annotation(kind, source, self.codes.nop)  # until the destination is known
        ways = []
        for d, (other, port) in self.topology.at_port[node].items():
            q = self._free(other, after)
            if (node, d, slot) not in self._links and q is not None:
                ways.append((d, other, port, q))
        if depth == 0 or not ways or random.random() < 0.1:
            legs[vfsm] = Annotation(kind, source, self._sink(node, p))
            return
        d, other, port, q = random.choice(ways)
        legs[vfsm] = Annotation(kind, source, d)
        self._links.add((node, d, slot))
        follower = random.choice((MoveType.MOVE, MoveType.MOVE, MoveType.COPY, MoveType.BLIND))
        self._place(other, after, q, follower, port, depth - 1)
        if self.rows[node][p][after] < 0 and random.random() < 0.5 and self._room(node, p):
            legs[vfsm] = replace(legs[vfsm], forked=random.random() < 0.7)
            self._place(node, after, p, MoveType.FORK, d, depth - 1)

    def _free(self, node: int, slot: int) -> int | None:
        """A pipeline of ``node`` with nothing to do in ``slot``."""
        free = [p for p, row in enumerate(self.rows[node]) if row[slot] < 0 and self._room(node, p)]
        return self.random.choice(free) if free else None

    def _room(self, node: int, p: int) -> bool:
        return FIRST_FREE_VFSM + len(self.annotations[node][p]) < self.codes.shape.vfsms

    def _source(self, node: int, p: int) -> int:
        choice = self.random.random()
        if choice < 0.25:
            return self._fed_buffer(node, p)
        if choice < 0.3:
            return self._loose_end(node)
        return self.codes.null if choice < 0.5 else self._register()

    def _fed_buffer(self, node: int, p: int) -> int:
        """A buffer that some VFSM of the same pipeline fills, if there is a slot for one."""
        buffer = self.codes.buffer(self.random.randrange(FIRST_FREE_VFSM, self.codes.shape.vfsms))
        free = [slot for slot, vfsm in enumerate(self.rows[node][p]) if vfsm < 0]
        legs = self.annotations[node][p]
        if len(free) > 1 and self._room(node, p):
            feeder = FIRST_FREE_VFSM + len(legs)
            self.rows[node][p][free[0]] = feeder
            legs[feeder] = Annotation(MoveType.MOVE, self.codes.null, buffer)
        return buffer

    def _sink(self, node: int, p: int) -> int:
        if self.random.random() < 0.1:
            return self._loose_end(node)
        buffer = self.codes.buffer(self.random.choice(list(self.annotations[node][p])))
        return self.random.choice((self._register(), self._register(), buffer, self.codes.null))

    def _loose_end(self, node: int) -> int:
        """A port without a link, where nothing ever moves."""
        ports = range(self.codes.shape.neighbours)
        return self.random.choice([d for d in ports if d not in self.topology.at_port[node]] or [self.codes.nop])

    def _register(self) -> int:
        return self.codes.register(self.random.randrange(self.codes.shape.registers))

    def _idle(self) -> int:
        return self.random.choice((NOP_VFSM, NOP_VFSM, REPROGRAM_VFSM))
