"""Ways of words through the timetables of images: which links they cross in which slot, and when they arrive.

Takes images; gives for each promise the ways of its words. Follows VFSMs as the hardware does: a word in the read stage of
slot s crosses its link in slot s + 1, where a VFSM of the neighbour has its read stage; from a register or a buffer it goes on
two slots later at the earliest. Judges nothing: a way that breaks off is drawn as far as it goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from numesh.codes import FIRST_FREE_VFSM, Annotation, Codes, MoveType
from pointsman.artifacts.images.images import Images, NodePhase, Promise

from .document import Arrival, Step, Way

Vfsm = tuple[int, int]
"""Pipeline and number."""
STORED = 2
"""Slots from the read stage of a move to a register or buffer until the word can be read there."""


class NodeTable:
    """What a node's VFSMs do in a phase, for a choice of states of its operators."""

    def __init__(self, images: Images, codes: Codes, node: int, part: NodePhase, choice: Mapping[int, int]) -> None:
        self.codes = codes
        self.part = part
        self.slots: dict[Vfsm, list[int]] = {}
        for slot, row in enumerate(part.schedule):
            for pipeline, number in enumerate(row):
                if number >= FIRST_FREE_VFSM:
                    self.slots.setdefault((pipeline, number), []).append(slot)
        self.owner: dict[Vfsm, int] = {}
        """The operator that rewrites a VFSM."""
        self.annotations: dict[Vfsm, Annotation] = {(r.pipeline, r.vfsm): r.annotation for r in part.annotations}
        for index, view in images.nodes[node].operators:
            if part.phase in images.operators[index].phases:
                role = view.roles[view.role_of[choice.get(index, 0)]]
                for rewrite in role.rewrites:
                    self.annotations[rewrite.pipeline, rewrite.vfsm] = rewrite.annotation
                    self.owner[rewrite.pipeline, rewrite.vfsm] = index

    @cached_property
    def reads(self) -> dict[tuple[int, int], Vfsm]:
        """By port and slot, the VFSM that reads the link."""
        found: dict[tuple[int, int], Vfsm] = {}
        for vfsm, slots in self.slots.items():
            annotation = self.annotations.get(vfsm)
            if annotation is None or annotation.type == MoveType.FORK:
                continue
            if self.codes.is_neighbour(annotation.source):
                found.update(((annotation.source, slot), vfsm) for slot in slots)
        return found

    @cached_property
    def takers(self) -> dict[tuple[int, int], Vfsm]:
        """By pipeline and code of a register (pipeline -1) or a buffer, the VFSM that takes the words there."""
        found: dict[tuple[int, int], Vfsm] = {}
        codes = self.codes
        for vfsm in self.slots:
            annotation = self.annotations.get(vfsm)
            if annotation is None or annotation.destination == codes.nop:
                continue
            if codes.is_register(annotation.source):
                found[-1, annotation.source] = vfsm
            elif codes.is_buffer(annotation.source):
                found[vfsm[0], annotation.source] = vfsm
            if annotation.destination != codes.buffer(vfsm[1]):
                found.setdefault((vfsm[0], codes.buffer(vfsm[1])), vfsm)
        return found

    def fork_leg(self, vfsm: Vfsm, slot: int) -> Vfsm | None:
        """The second leg that takes the same word in the next slot."""
        leg = (vfsm[0], self.part.schedule[slot][vfsm[0]])
        annotation = self.annotations.get(leg)
        if annotation is None or annotation.type != MoveType.FORK or leg not in self.slots:
            return None
        return leg if annotation.source == self.annotations[vfsm].destination else None


class Ways:
    """Finds ways, and keeps the tables of nodes that it has looked at.

    Parameters
    ----------
    links : mapping of (int, int) to int
        Number of the link from a node to another.
    """

    def __init__(self, images: Images, links: Mapping[tuple[int, int], int]) -> None:
        self.images = images
        self.codes = Codes(images.shape)
        self.links = links
        self.parts = [{part.phase: part for part in node.phases} for node in images.nodes]
        self._tables: dict[tuple[int, int, tuple[int, int]], NodeTable | None] = {}

    def table(self, phase: int, node: int, choice: tuple[int, int]) -> NodeTable | None:
        """What a node does in a phase while operator ``choice[0]`` is in state ``choice[1]`` and all others in state 0."""
        key = phase, node, choice
        if key not in self._tables:
            part = self.parts[node].get(phase)
            self._tables[key] = (
                None if part is None else NodeTable(self.images, self.codes, node, part, dict((choice,)))
            )
        return self._tables[key]

    def of(self, promise: Promise) -> list[Way]:
        """A way for each word of a period, in the order of their slots; empty if nothing reads the source's register."""
        choice = promise.operator, promise.values[0] if promise.values else 0
        table = self.table(promise.phase, promise.source, choice)
        if table is None:
            return []
        first = table.takers.get((-1, self.codes.register(promise.register)))
        if first is None:
            return []
        return [self._way(promise, choice, first, slot) for slot in table.slots[first]]

    def _way(self, promise: Promise, choice: tuple[int, int], first: Vfsm, start: int) -> Way:
        period, codes = self.images.period, self.codes
        ends = {end: number for number, end in enumerate(promise.destinations)}
        steps: list[Step] = []
        arrivals: list[Arrival] = []
        seen: set[tuple[int, Vfsm]] = set()
        waiting = [(promise.source, first, start, -1)]
        while waiting:
            node, vfsm, time, before = waiting.pop()
            table = self.table(promise.phase, node, choice)
            if table is None or (node, vfsm) in seen:
                continue
            seen.add((node, vfsm))
            destination = table.annotations[vfsm].destination
            if codes.is_neighbour(destination):
                leg = table.fork_leg(vfsm, (time + 1) % period)
                if leg is not None:
                    waiting.append((node, leg, time + 1, before))
                end = self.images.topology.at_port[node].get(destination)
                if end is None:
                    continue
                steps.append((self.links[node, end[0]], time + 1 - start, before))
                far = self.table(promise.phase, end[0], choice)
                reader = far.reads.get((end[1], (time + 1) % period)) if far else None
                if reader is not None:
                    waiting.append((end[0], reader, time + 1, len(steps) - 1))
                continue
            if codes.is_register(destination):
                number = ends.get((node, destination - codes.first_register))
                if number is not None:
                    arrivals.append((number, time + STORED - start, before))
            key = (-1 if codes.is_register(destination) else vfsm[0], destination)
            taker = table.takers.get(key)
            if taker is not None:
                waiting.append((node, taker, following(table.slots[taker], time + STORED, period), before))
        return Way(start, steps, arrivals)


def following(slots: list[int], time: int, period: int) -> int:
    """First time from ``time`` on that falls on one of ``slots``."""
    return time + min((slot - time) % period for slot in slots)
