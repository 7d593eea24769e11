"""Where phases end in a program without threads: dynamic programming over the places (Metcalf 1997, §6.2.4).

Without threads a phase is a stretch of the walk through the program between two places, and these two places tell how often it
is left. So the best division follows from the costs of all stretches. With n places there are n²/2, too many to cost each when n
is large; so at first only every 2^k-th place is used, then twice as many, and so on until all places are used or the budget is
spent. Each such level gives a division, whose cost prunes the next level, and a bound: a phase of any division contains a
stretch between two places of the level, and each operator from there to the next place costs at least its cost alone.

Takes the steps of ``walk``; gives the places taken, their cost, a bound, and the number of stretches costed. Leaves
alone: threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from pointsman.plan.structure.phase_tree import Break
from pointsman.program.program import Operator

if TYPE_CHECKING:
    from .walk import Operators, PhaseCosts, WalkStep

FIRST = 12
"""Most stretches between neighbouring places at the first level, about."""
SELDOM = 1e-9
"""Exits of a phase that is left at all: it needs room for a barrier, at no cost."""


class _SpentError(Exception):
    """The budget is spent."""


@dataclass(frozen=True)
class LineDivision:
    """A division; infinite ``cost`` if none is possible. ``nodes``: stretches that were costed."""

    ends: frozenset[Break]
    cost: float
    bound: float
    nodes: int


@dataclass(frozen=True)
class _Place:
    """Where a phase may end, or has to (``forced``); the beginning and the end of the program have no ``place``."""

    number: int
    """Number of operators before it on the walk."""
    place: Break | None
    forced: bool
    times: float
    loops: tuple[int, ...]
    """Loops around it, by the numbers of their steps."""
    context: tuple[Operator, ...]
    """Operators that are in every phase which begins here."""


def without_threads(steps: Sequence[WalkStep]) -> bool:
    """Has this walk no threads, so that `divide` can divide it?"""
    return all(step.kind != "threads" for step in steps)


def divide(steps: Sequence[WalkStep], costs: PhaseCosts, *, budget: int, most: int | None) -> LineDivision:
    """The best division, or the best found until ``budget`` stretches are costed. ``most``: most phases; None: any number."""
    line = _Line(steps, costs, budget, most)
    best: tuple[float, frozenset[Break]] = inf, frozenset()
    bound = line.alone(0, len(line.operators))
    apart = 1
    while len(line.places) > FIRST * apart:
        apart *= 2
    while apart:
        points = line.every(apart)
        try:
            found = line.divided(points, best[0])
            best = min(best, found, key=lambda one: one[0])
            bound = max(bound, min(best[0], best[0] if apart == 1 else line.bound(points, best[0])))
        except _SpentError:
            break
        if bound >= best[0] < inf:
            break
        apart //= 2
    cost, ends = best
    return LineDivision(ends, cost, min(bound, cost), line.nodes)


class _Line:
    """The walk as operators in a row, with places between them."""

    def __init__(self, steps: Sequence[WalkStep], costs: PhaseCosts, budget: int, most: int | None) -> None:
        self.costs, self.budget, self.most = costs, budget, most
        self.nodes = 0
        self.operators: list[Operator] = []
        self.places: list[_Place] = [_Place(0, None, True, 0.0, (), ())]
        self.loop_ends: list[tuple[int, int, float]] = []
        """(operators before it, the loop, times) of each end of a loop."""
        self.lasting: set[str] = set()
        """Labels of operators that continue through the phases beside them."""
        self.known: dict[tuple[int, int], tuple[Operator, ...]] = {}
        self.costed: set[tuple[int, int]] = set()
        self._walk(steps)
        self.places.append(_Place(len(self.operators), None, True, 0.0, (), ()))

    def _walk(self, steps: Sequence[WalkStep]) -> None:
        loops: list[int] = []
        contexts: list[Operators] = []
        sealed = False
        for number, step in enumerate(steps):
            if step.kind == "operators":
                self.operators += step.operators
                sealed = step.must
            elif step.kind == "loop":
                loops.append(number)
            elif step.kind == "loop ends":
                self.loop_ends.append((len(self.operators), loops[-1], step.times))
                loops.pop()
            elif step.kind == "context":
                contexts.append(step.operators)
                self.lasting |= {operator.label for operator in step.operators}
            elif step.kind == "no context":
                contexts.pop()
            elif step.kind == "gap" and (step.may or step.must or sealed):
                forced = step.must or sealed
                around = tuple({o.label: o for context in contexts for o in context}.values())
                place = step.place if step.may else None
                self.places.append(_Place(len(self.operators), place, forced, step.times, tuple(loops), around))
                sealed = False

    def every(self, apart: int) -> list[int]:
        """Indices of every ``apart``-th place, and of all that are forced."""
        return [i for i, place in enumerate(self.places) if place.forced or i % apart == 0]

    @cached_property
    def _sums(self) -> list[float]:
        """Running sums over the operators of their costs alone; those in ``lasting`` count 0."""
        known: dict[str, float] = {}
        sums = [0.0]
        for operator in self.operators:
            if operator.label in self.lasting:
                known[operator.label] = 0.0
            elif operator.label not in known:
                known[operator.label] = self.costs.alone(operator)
            sums.append(sums[-1] + known[operator.label])
        return sums

    def alone(self, first: int, last: int) -> float:
        """Lower bound of the cost of operators ``first`` to ``last`` - 1."""
        return self._sums[last] - self._sums[first]

    def _between(self, one: int, other: int) -> tuple[Operator, ...]:
        """Operators of a phase between two places; counts the stretch as costed."""
        if (one, other) not in self.known:
            begin, end = self.places[one], self.places[other]
            inside = (*begin.context, *self.operators[begin.number : end.number])
            self.known[one, other] = tuple({o.label: o for o in inside}.values())
        if (one, other) not in self.costed:
            if self.nodes >= self.budget:
                raise _SpentError
            self.nodes += 1
            self.costed.add((one, other))
        return self.known[one, other]

    def _exits(self, one: int, other: int) -> float:
        """How often a phase between two places is left."""
        begin, end = self.places[one], self.places[other]
        back = sum(
            times
            for at, loop, times in self.loop_ends
            if begin.number <= at <= end.number and self._ends(loop, begin, end)
        )
        return end.times + back

    @staticmethod
    def _ends(loop: int, begin: _Place, end: _Place) -> bool:
        """Does the phase begin inside the loop and end behind it? Then it is left at the end of each round but the last."""
        return loop in begin.loops and loop not in end.loops

    def _following(self, points: Sequence[int], k: int) -> Iterator[int]:
        """Indices of ``points`` at which a phase that begins at ``points[k]`` may end."""
        for j in range(k + 1, len(points)):
            yield j
            if self.places[points[j]].forced:
                return

    def divided(self, points: Sequence[int], limit: float) -> tuple[float, frozenset[Break]]:
        """The best division that ends phases at ``points`` only, if it is below ``limit``."""
        total = len(self.operators)
        last = len(points) - 1
        # By point and number of phases so far (0 if that has no limit): cost, and the point where the last phase began.
        best: list[dict[int, tuple[float, int]]] = [{} for _ in points]
        best[0][0] = 0.0, -1
        for k in range(last):
            if not best[k]:
                continue
            begin = points[k]
            least = min(cost for cost, _ in best[k].values())
            full = False
            for j in self._following(points, k):
                if full and j < last:
                    continue
                end = points[j]
                operators = self._between(begin, end)
                rest = self.alone(self.places[end].number, total)
                if least + (self.costs.least(operators, 0.0) if operators else 0.0) + rest >= limit:
                    break  # longer phases cost more
                if operators and least + self.costs.least(operators, SELDOM) + rest >= limit:
                    full = True  # and need no room for a barrier only where they last to the end
                    if j < last:
                        continue
                cost = self.costs.phase(operators, self._exits(begin, end)) if operators else 0.0
                if cost == inf:
                    continue
                for phases, (so_far, _) in best[k].items():
                    count = phases + 1 if self.most is not None else 0
                    if self.most is not None and count > self.most:
                        continue
                    value = so_far + cost
                    if value + rest < limit and value < best[j].get(count, (inf, 0))[0]:
                        best[j][count] = value, k
                    if j == last:
                        limit = min(limit, best[j].get(count, (inf, 0))[0] + 1e-9)
        if not best[last]:
            return inf, frozenset()
        count = min(best[last], key=lambda phases: (best[last][phases][0], phases))
        cost, k = best[last][count]
        ends = set()
        while k > 0:
            place = self.places[points[k]].place
            if place is not None:
                ends.add(place)
            count = count - 1 if self.most is not None else 0
            k = best[k][count][1]
        return cost, frozenset(ends)

    def _left(self, points: Sequence[int], k: int) -> float:
        """Lower bound of a phase that begins after point k - 1 and ends before point k + 1, less its operators' costs alone."""
        first, end = points[max(0, k - 1)], points[k + 1]
        exits = min(self.places[i].times for i in range(points[k], end))
        inside = self.operators[self.places[first].number : self.places[end].number]
        return max(0.0, min((self.costs.least((o,), exits) - self.costs.alone(o) for o in inside), default=0.0))

    def bound(self, points: Sequence[int], limit: float) -> float:
        """Lower bound of the cost of any division, or ``limit`` if that is less."""
        total = len(self.operators)
        last = len(points) - 1
        best: list[dict[int, float]] = [{} for _ in points]
        best[0][0] = 0.0
        found = limit
        for k in range(last + 1):
            full = False
            for j in range(k, last + 1):
                if not best[k]:
                    break
                if full and j < last:
                    if self.places[points[j]].forced:
                        break
                    continue
                begin, end = points[k], points[j]
                if j == k:
                    cost = 0.0 if j == last else self._left(points, k)
                else:
                    operators = self._between(begin, end)
                    exits = 0.0 if j == last else min(self.places[i].times for i in range(end, points[j + 1]))
                    cost = self.costs.least(operators, exits) if operators else 0.0
                rest = self.alone(self.places[end].number, total)
                if j > k and operators and min(best[k].values()) + self.costs.least(operators, 0.0) + rest >= found:
                    break
                if j > k and operators and min(best[k].values()) + self.costs.least(operators, SELDOM) + rest >= found:
                    full = True
                for phases, so_far in list(best[k].items()):
                    count = phases + 1 if self.most is not None else 0
                    if self.most is not None and count > self.most:
                        continue
                    value = so_far + cost
                    if j == last:
                        found = min(found, value)
                        continue
                    if value + rest >= found:
                        continue
                    # The phase ends at this place, or somewhere before the next place of the level.
                    if j > k:
                        best[j][count] = min(best[j].get(count, inf), value)
                    block = self.alone(self.places[end].number, self.places[points[j + 1]].number)
                    best[j + 1][count] = min(best[j + 1].get(count, inf), value + block)
                if j > k and self.places[end].forced:
                    break
        return found
