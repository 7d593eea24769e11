"""Where can everybody be while one node stands still in a phase? A game on whole phases, for the judge (Metcalf 1997, §5.3.4).

A node gets through an operator if all those can have begun with it without whom it cannot: these are found by the games of words
(`check_ends`), with each of the others standing still. It begins an operator when it has come to the phase and is through with
those that come before it, and is through with the phase when it is through with one that may be the last, and with what closes
it. What all nodes can reach together, with one of them staying where it is, is the most that neighbours can be apart. Knows
images, nothing of plans; the planner argues the other way round (``plan.conflicts.happens_before``: what must have happened).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pointsman.artifacts.images.images import Images

from .ends import Ends


@dataclass
class _Reached:
    """What nodes can reach while one of them stands still. Nodes are bits."""

    there: list[int]
    """By phase, nodes that can come to it."""
    begun: list[int]
    """By operator, nodes that can begin it in a phase to which they can come."""


@dataclass(frozen=True)
class _Way:
    """How a node gets through a phase."""

    before: tuple[tuple[int, tuple[int, ...]], ...]
    """Operators of the phase, and those that the node is through with before it begins them."""
    final: tuple[int, ...]
    """With one of these it is through before it leaves."""
    closing: int | None
    """What closes the phase for it."""
    needs: dict[int, int] = field(default_factory=dict)
    """By operator, nodes that have to begin it before this one gets through it; as far as that has been asked."""


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
        self._ways: dict[tuple[int, int], _Way] = {}

    def may_be(self, node: int, later: int, other: int, earlier: int) -> bool:
        """May ``node`` be in phase ``later``, come from ``earlier``, while ``other`` is in ``earlier`` still?"""
        return not self.known or bool(self._at(earlier, other).there[later] >> node & 1)

    def may_send(self, node: int, index: int, other: int, earlier: int) -> bool:
        """May words of ``node`` for an operator of a later phase be under way while ``other`` is in ``earlier`` still? Load
        functions may send before the node uses the operator, and what closes a phase belongs to none."""
        operator = self.images.operators[index]
        phase = self.images.phases[operator.phase]
        early = operator.synchronised or operator.remote or operator.gated or operator.stages > 1
        made = bool(operator.instances) or operator.online is not None or bool(operator.continues)
        if not self.known or early or made or phase.technique == "hijack" or index in (phase.barrier, phase.online):
            return True
        return bool(self._at(earlier, other).begun[index] >> node & 1)

    def _at(self, earlier: int, other: int) -> _Reached:
        key = earlier, other
        if key not in self._reached:
            self._reached[key] = self._play(earlier, other)
        return self._reached[key]

    def _play(self, earlier: int, other: int) -> _Reached:
        phases = self.images.phases
        found = _Reached([0] * len(phases), [0] * len(self.images.operators))
        first = set(phases[earlier].successors)
        # Phases in which a node has still something to begin, or to leave.
        waiting = {node: sorted(first) for node in self.nodes if node != other and first}
        for phase in first:
            found.there[phase] = sum(1 << node for node in waiting)
        left = [0] * len(phases)
        begun, there = found.begun, found.there
        going = True
        while going:
            going = False
            for node, mine in list(waiting.items()):
                bit = 1 << node
                stays = []
                for phase in mine:
                    way = self._ways.get((phase, node)) or self._way(phase, node)
                    still = phase == earlier
                    missing = False
                    for index, before in way.before:
                        if begun[index] & bit:
                            continue
                        if still or not before or all(self._is_through(begun, phase, i, node, way) for i in before):
                            begun[index] |= bit
                            going = True
                        else:
                            missing = True
                    if not left[phase] & bit:
                        if not still and not self._leaves(found, phase, node, way):
                            stays.append(phase)
                            continue
                        left[phase] |= bit
                        for successor in phases[phase].successors:
                            if not there[successor] & bit:
                                there[successor] |= bit
                                stays.append(successor)
                                going = True
                    if missing:
                        stays.append(phase)
                if stays:
                    waiting[node] = sorted(stays)
                else:
                    del waiting[node]
        return found

    def _way(self, phase: int, node: int) -> _Way:
        key = phase, node
        if key not in self._ways:
            ends, image = self.ends[phase], self.images.phases[phase]
            if ends is None:
                self._ways[key] = _Way(tuple((index, ()) for index in image.operators), (), None)
            else:
                meets = image.barrier is not None and node in ends.lanes[image.barrier]
                before = tuple((index, tuple(ends.first(index, node))) for index in image.operators)
                self._ways[key] = _Way(before, tuple(ends.final(node)), image.barrier if meets else None)
        return self._ways[key]

    def _is_through(self, begun: Sequence[int], phase: int, index: int, node: int, way: _Way) -> bool:
        """Can a node get through an operator?"""
        if not begun[index] >> node & 1:
            return False
        needs = way.needs.get(index)
        return not (self._needs(phase, index, node, way) if needs is None else needs) & ~begun[index]

    def _needs(self, phase: int, index: int, node: int, way: _Way) -> int:
        if index not in way.needs:
            ends = self.ends[phase]
            assert ends is not None
            way.needs[index] = sum(1 << one for one in ends.needed(index, node))
        return way.needs[index]

    def _leaves(self, found: _Reached, phase: int, node: int, way: _Way) -> bool:
        for index in way.final:
            if self._is_through(found.begun, phase, index, node, way):
                break
        else:
            if way.final:
                return False
        return way.closing is None or not self._needs(phase, way.closing, node, way) & ~found.there[phase]
