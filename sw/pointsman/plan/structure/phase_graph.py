"""The graph of a program's phases, which tells which phase may come after which, and the walks over it that the planner needs.

Phases are numbered from 0; START stands before the first and END after the last. The graph with edges START → 0, 0 → 1,
1 → {0, END} is a loop of two phases: 0 and 1 are both `later` than 0, and from 0 a node that has a part only in 0 comes
next to 0 again, by way of 1 (`next_among`). Takes successors by phase; leaves alone: which nodes have a part in which
phase. The judge walks by itself (``verify.phases.phase_order``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

START, END = -1, -2
"""Stand-ins for before the first and after the last phase."""

Distances = Mapping[int, Mapping[int, int]]
"""By phase and later phase, the least number of changes of phase between them."""


class PhaseGraph:
    """Phases and the edges between them, for all nodes together or for those that take the same ways.

    Parameters
    ----------
    successors : mapping
        By phase, START included, the phases that may come next; END is a member where the program may end.
    seldom : frozenset of int
        Phases that a program may well not run: not those of loops, which may have no round, but mostly have some.
    """

    def __init__(self, successors: Mapping[int, frozenset[int]], seldom: frozenset[int] = frozenset()) -> None:
        self.successors = successors
        self.seldom = seldom
        self._later: dict[int, frozenset[int]] = {}

    def reached(
        self, first: Iterable[int], through: Callable[[int], bool] | None = None, without: int | None = None
    ) -> set[int]:
        """``first``, and the phases, or END, that can come after these.

        Parameters
        ----------
        through : callable or None
            Tells from which phases the walk goes on; None: from all.
        without : int or None
            A phase that the walk avoids.
        """
        found: set[int] = set()
        stack = list(first)
        while stack:
            place = stack.pop()
            if place in found or place == without:
                continue
            found.add(place)
            if place >= 0 and (through is None or through(place)):
                stack += self.successors[place]
        return found

    def later(self, phase: int) -> frozenset[int]:
        """Phases that may run at any time after ``phase``; itself too if a loop leads back."""
        if phase not in self._later:
            self._later[phase] = frozenset(self.reached(self.successors[phase]) - {END})
        return self._later[phase]

    def next_among(self, phase: int, members: Iterable[int]) -> dict[int, tuple[int, ...]]:
        """Those of ``members`` (or END) that may come next after ``phase`` for a node that only has a part in
        ``members``, with the phases passed on the way, none of them in ``members``; the shortest way for each."""
        inside = frozenset(members)
        found: dict[int, tuple[int, ...]] = {}
        queue: list[tuple[int, tuple[int, ...]]] = [(place, ()) for place in sorted(self.successors[phase])]
        seen = set()
        for place, way in queue:
            if place in seen:
                continue
            seen.add(place)
            if place == END or place in inside:
                found[place] = way
            else:
                queue += [(after, (*way, place)) for after in sorted(self.successors[place])]
        return found

    @cached_property
    def distances(self) -> Distances:
        """By phase and later phase, changes of phase on the shortest way; phases that cannot be reached are missing."""
        found = {}
        for start in self.successors:
            if start < 0:
                continue
            steps: dict[int, int] = {}
            queue = deque((after, 1) for after in sorted(self.successors[start]))
            while queue:
                phase, step = queue.popleft()
                if phase >= 0 and phase not in steps:
                    steps[phase] = step
                    queue.extend((after, step + 1) for after in sorted(self.successors[phase]))
            found[start] = steps
        return found

    @cached_property
    def optional(self) -> frozenset[int]:
        """Phases without which the program can come from its beginning to its end."""
        first = self.successors[START]
        return frozenset(p for p in self.successors if p >= 0 and END in self.reached(first, without=p))
