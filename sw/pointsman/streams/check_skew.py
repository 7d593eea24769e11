"""Where can everybody be while one node stands still in a phase? A game on whole phases, for the judge (Metcalf 1997, §5.3.4).

A node gets through a phase if all those can have begun with it without whom it cannot: these are found by the games of words
(`check_ends`), with each of the others standing still. What all nodes can reach together, with one of them staying where it
is, is the most that neighbours can be apart. Knows images, nothing of plans; the planner argues the other way round
(``plan.dependencies``: what must have happened).
"""

from __future__ import annotations

from collections.abc import Sequence

from pointsman.images.image import Images

from .check_ends import Ends


class Skew:
    """Asked for one phase and node, it plays the game of phases once: nodes x phases x those that a node waits for, a few times.

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
        self._waits: dict[tuple[int, int], frozenset[int]] = {}
        self._reached: dict[tuple[int, int], list[set[int]]] = {}

    def may_be(self, node: int, later: int, other: int, earlier: int) -> bool:
        """May ``node`` be in phase ``later``, come from ``earlier``, while ``other`` is in ``earlier`` still?"""
        if not self.known:
            return True
        key = earlier, other
        if key not in self._reached:
            self._reached[key] = self._play(earlier, other)
        return later in self._reached[key][node]

    def waits_for(self, phase: int, node: int) -> frozenset[int]:
        """Without whose beginning a node does not get through a phase."""
        if (phase, node) not in self._waits:
            ends = self.ends[phase]
            self._waits[phase, node] = frozenset() if ends is None else ends.waits_for(node)
        return self._waits[phase, node]

    def _play(self, earlier: int, other: int) -> list[set[int]]:
        phases = self.images.phases
        reached: list[set[int]] = [set() for _ in self.nodes]
        through: set[tuple[int, int]] = set()
        going = True

        def go_on(node: int, phase: int) -> bool:
            through.add((node, phase))
            before = len(reached[node])
            reached[node] |= set(phases[phase].successors)
            return len(reached[node]) > before

        def may_begin(node: int, phase: int) -> bool:
            return phase == earlier or (node != other and phase in reached[node])

        for node in self.nodes:
            if node != other:
                go_on(node, earlier)
        while going:
            going = False
            for node in self.nodes:
                for phase in sorted(reached[node]):
                    if node == other or (node, phase) in through:
                        continue
                    if all(may_begin(one, phase) for one in self.waits_for(phase, node)):
                        going |= go_on(node, phase)
        return reached
