"""Where can everybody be while one node stands still in a phase? A game on whole phases, for the judge (Metcalf 1997, §5.3.4).

A node gets through an operator if all those can have begun with it without whom it cannot: these are found by the games of words
(`check_ends`), with each of the others standing still. It begins an operator when it has come to the phase and is through with
those that come before it, and is through with the phase when it is through with one that may be the last, and with what closes
it. What all nodes can reach together, with one of them staying where it is, is the most that neighbours can be apart. Knows
images, nothing of plans; the planner argues the other way round (``plan.dependencies``: what must have happened).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pointsman.images.image import Images

from .check_ends import Ends


@dataclass
class _Reached:
    """What nodes can reach while one of them stands still."""

    phases: list[set[int]]
    """By node, phases to which it can come."""
    begun: set[tuple[int, int]] = field(default_factory=set)
    """Nodes, and operators that they can begin in a phase to which they can come."""


class Skew:
    """Asked for one phase and node, it plays the game once: nodes x operators x those that a node waits for, a few times.

    Parameters
    ----------
    ends : sequence of Ends or None
        By phase; None where nobody goes on.
    """

    def __init__(self, images: Images, ends: Sequence[Ends | None]) -> None:
        self.images = images
        self.ends = ends
        self.nodes = range(images.topology.nodes)
        # With threads each node has ways of its own through the phases; there nothing is claimed.
        self.known = not any(image.ways for image in images.nodes)
        self._reached: dict[tuple[int, int], _Reached] = {}

    def may_be(self, node: int, later: int, other: int, earlier: int) -> bool:
        """May ``node`` be in phase ``later``, come from ``earlier``, while ``other`` is in ``earlier`` still?"""
        return not self.known or later in self._at(earlier, other).phases[node]

    def may_send(self, node: int, index: int, other: int, earlier: int) -> bool:
        """May words of ``node`` for an operator of a later phase be under way while ``other`` is in ``earlier`` still? Load
        functions may send before the node uses the operator, and what closes a phase belongs to none."""
        operator = self.images.operators[index]
        phase = self.images.phases[operator.phase]
        early = operator.synchronised or operator.remote or operator.gated or operator.stages > 1
        made = bool(operator.instances) or operator.online is not None or bool(operator.continues)
        if not self.known or early or made or phase.technique == "hijack" or index in (phase.barrier, phase.online):
            return True
        return (node, index) in self._at(earlier, other).begun

    def _at(self, earlier: int, other: int) -> _Reached:
        key = earlier, other
        if key not in self._reached:
            self._reached[key] = self._play(earlier, other)
        return self._reached[key]

    def _play(self, earlier: int, other: int) -> _Reached:
        phases = self.images.phases
        found = _Reached([set() for _ in self.nodes])
        through: set[tuple[int, int]] = set()
        for node in self.nodes:
            if node != other:
                found.phases[node] |= set(phases[earlier].successors)
        going = True
        while going:
            before = sum(map(len, found.phases)) + len(found.begun)
            for node in self.nodes:
                if node == other:
                    continue
                for phase in sorted(found.phases[node]):
                    for index in phases[phase].operators:
                        if (node, index) not in found.begun and self._begins(found, node, phase, index, earlier):
                            found.begun.add((node, index))
                    if (node, phase) not in through and self._leaves(found, node, phase, earlier, other):
                        through.add((node, phase))
                        found.phases[node] |= set(phases[phase].successors)
            going = before < sum(map(len, found.phases)) + len(found.begun)
        return found

    def _begins(self, found: _Reached, node: int, phase: int, index: int, earlier: int) -> bool:
        """Can a node that has come to a phase begin an operator of it?"""
        ends = self.ends[phase]
        return ends is None or all(
            self._is_through(found, ends, node, one, phase == earlier) for one in ends.first(index, node)
        )

    def _is_through(self, found: _Reached, ends: Ends, node: int, index: int, anybody: bool) -> bool:
        """Can a node get through an operator? ``anybody``: of the phase in which somebody stands still."""
        if anybody:
            return True
        return (node, index) in found.begun and all((one, index) in found.begun for one in ends.needed(index, node))

    def _leaves(self, found: _Reached, node: int, phase: int, earlier: int, other: int) -> bool:
        ends = self.ends[phase]
        if ends is None or phase == earlier:
            return True
        final = ends.final(node)
        if final and not any(self._is_through(found, ends, node, one, False) for one in final):
            return False
        closing = self.images.phases[phase].barrier
        needed = ends.needed(closing, node) if closing is not None and node in ends.lanes[closing] else ()
        return all(one != other and phase in found.phases[one] for one in needed)
