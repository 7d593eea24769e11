"""Where phases end: branch and bound over the places where they may (Metcalf 1997, §6.2.1, §6.2.4).

Takes a tree of extents and the costs of phases; gives the set of places where phases end for which the costs have the
smallest sum. The program is walked once, in the order of the text. A search node is a place in it, with the operators
of the open phase, the phases that wait for the end of disjoint groups, and the costs of the closed phases. At a place
where a phase may end it has two successors. Nodes wait in a priority queue in the order of a bound that no completion
can beat: the closed phases, the open phase as it is, and every other operator as if it were alone in a phase that is
never left. Of nodes at the same place with the same open phase only the cheapest is followed.

The search ends when no bound in the queue is below the best complete division. If the budget of nodes is spent before, the best
known division is given, with the gap to the bound. Programs without threads are divided by dynamic programming instead
(``dynamic_program``), which asks for the costs of fewer phases. Leaves alone: implementations, routes; they are in the costs.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import inf

from pointsman.plan.candidates.walk import Operators, PhaseCosts, WalkStep, walk_steps
from pointsman.plan.structure.extents import ProgramPart
from pointsman.plan.structure.phase_tree import Break, Phases, breaks, fold, leaves

from .dynamic_program import divide, without_threads


@dataclass(frozen=True)
class SearchResult:
    """A division into phases.

    ``bound``: no division costs less; equal to ``cost`` if the search came to its end.
    """

    root: ProgramPart
    ends: frozenset[Break]
    phases: Phases
    cost: float
    bound: float
    nodes: int
    """Search nodes that were followed."""

    @property
    def gap(self) -> float:
        """Share of the cost, from 0 to 1, by which a better division could still be cheaper."""
        return 0.0 if self.cost <= self.bound or self.cost == 0 else 1 - self.bound / self.cost


def cost_of(phases: Phases, costs: PhaseCosts) -> float:
    """Sum of the costs of all phases."""
    return sum(costs.phase(leaf.operators, leaf.exits) for leaf in leaves(phases))


def search(
    root: ProgramPart,
    costs: PhaseCosts,
    *,
    budget: int = 20_000,
    places: Sequence[Break] | None = None,
    most: int | None = None,
) -> SearchResult:
    """The best division of ``root`` into phases.

    Parameters
    ----------
    budget : int
        Most search nodes to follow.
    places : sequence or None
        Places of `breaks` where a phase may end; None: all of them.
    most : int or None
        Most phases, all threads together, for example as many as the schedule memory holds; None: any number.
    """
    places = breaks(root) if places is None else places
    walk = _Walk(root, places, costs, most)
    if without_threads(walk.steps):
        found = divide(walk.steps, costs, budget=budget, most=most)
        ends, cost = (found.ends, found.cost) if found.cost < inf else _first_guess(root, places, costs, most)
        phases = fold(root, _told(ends))
        return SearchResult(root, ends, phases, cost, min(found.bound, cost), found.nodes)
    best_ends, best = _first_guess(root, places, costs, most)
    order = count()
    start = walk.start()
    queue: list[tuple[float, int, _State]] = [(walk.bound(start), -next(order), start)]
    seen: dict[object, float] = {}
    followed = 0
    bound = best
    while queue:
        least, _, state = heapq.heappop(queue)
        if least >= best:
            bound = best
            break
        if followed >= budget:
            bound = least
            break
        followed += 1
        for following in walk.follow(state):
            if following.place == walk.end:
                total = walk.total(following)
                if total < best:
                    best, best_ends = total, frozenset(_chain(following.ends))
                continue
            value = walk.bound(following)
            if value >= best:
                continue
            key = following.key() if most is not None else (*following.key()[:-1], 0)
            if seen.get(key, inf) <= following.cost:
                continue
            seen[key] = following.cost
            heapq.heappush(queue, (value, -next(order), following))
    return SearchResult(root, best_ends, fold(root, _told(best_ends)), best, min(bound, best), followed)


def every_division(root: ProgramPart) -> Iterator[frozenset[Break]]:
    """All sets of places where phases may end, to check the search on small programs."""
    places = breaks(root)
    for number in range(1 << len(places)):
        yield frozenset(place for i, place in enumerate(places) if number >> i & 1)


def _told(ends: frozenset[Break]) -> Callable[[ProgramPart, int], bool]:
    return lambda part, i: (part, i) in ends


def _first_guess(
    root: ProgramPart, places: Sequence[Break], costs: PhaseCosts, most: int | None
) -> tuple[frozenset[Break], float]:
    """A first division: ends at all places, each dropped if that is cheaper or phases are too many; or no ends at all."""

    def score(ends: frozenset[Break]) -> tuple[int, float]:
        phases = fold(root, _told(ends))
        many = sum(1 for _ in leaves(phases))
        excess = 0 if most is None else max(0, many - most)
        return excess, inf if excess else cost_of(phases, costs)

    ends = frozenset(places)
    best = score(ends)
    for place in places:
        fewer = score(ends - {place})
        if fewer < best:
            ends, best = ends - {place}, fewer
    whole = cost_of(fold(root, _never), costs)
    return (ends, best[1]) if best <= (0, whole) else (frozenset(), whole)


def _never(_: ProgramPart, __: int) -> bool:
    return False


# -- the walk ----------------------------------------------------------------------------------------------------------

_Chain = tuple[Break, "_Chain"] | None


def _chain(ends: _Chain) -> Iterator[Break]:
    while ends is not None:
        yield ends[0]
        ends = ends[1]


@dataclass(frozen=True)
class _Open:
    """A phase that is open: its operators so far, and how often it is left, as far as known."""

    operators: Operators = ()
    exits: float = 0.0

    def joined(self, other: _Open, exits: float) -> _Open:
        together = {o.label: o for o in (*self.operators, *other.operators)}
        return _Open(tuple(together.values()), exits)

    def key(self) -> object:
        return tuple(o.label for o in self.operators), self.exits


@dataclass(frozen=True)
class _Frame:
    """A disjoint group that is being walked: the phase before it, the merged first and merged last phases of its
    children so far, and whether a phase has ended in the current child."""

    before: _Open
    first: _Open = _Open()
    last: _Open | None = None
    broken: bool = False

    def key(self) -> object:
        return self.before.key(), self.first.key(), self.last and self.last.key(), self.broken


@dataclass(frozen=True)
class _State:
    place: int
    open: _Open
    cost: float
    waiting: float
    """`PhaseCosts.alone` of all operators that are in no closed phase."""
    sealed: bool
    frames: tuple[_Frame, ...]
    contexts: tuple[Operators, ...]
    loops: tuple[bool, ...]
    """For each of the loops around: has a phase ended in it?"""
    ends: _Chain
    closed: int = 0
    """Phases that are complete."""

    def key(self) -> tuple[object, ...]:
        return (
            self.place,
            self.open.key(),
            self.sealed,
            tuple(frame.key() for frame in self.frames),
            tuple(tuple(o.label for o in context) for context in self.contexts),
            self.loops,
            self.closed,
        )


class _Walk:
    """The program as steps, and how each step changes a search node."""

    def __init__(self, root: ProgramPart, places: Sequence[Break], costs: PhaseCosts, most: int | None = None) -> None:
        self.costs = costs
        self.most = most
        self.steps = list(walk_steps(root, set(places)))
        self.end = len(self.steps)
        operators = {o.label: o for step in self.steps for o in step.operators}
        self.alone = {label: costs.alone(operator) for label, operator in operators.items()}

    def start(self) -> _State:
        return _State(0, _Open(), 0.0, sum(self.alone.values()), False, (), (), (), None)

    def bound(self, state: _State) -> float:
        opened = state.open.operators
        more = self.costs.least(opened, state.open.exits) - sum(self.alone[o.label] for o in opened) if opened else 0.0
        return state.cost + max(0.0, state.waiting) + max(0.0, more)

    def total(self, state: _State) -> float:
        """Cost of a complete node."""
        return state.cost + (self.costs.phase(state.open.operators, state.open.exits) if state.open.operators else 0.0)

    def follow(self, state: _State) -> Iterator[_State]:
        """The next search nodes: at the next place where there is a choice, or at the end."""
        while state.place < self.end:
            step = self.steps[state.place]
            if step.kind == "gap" and not (step.must or state.sealed):
                if step.may:
                    closed = self._close(state, step)
                    if closed is not None:
                        yield closed
                    yield _replaced(state, place=state.place + 1)
                    return
                state = _replaced(state, place=state.place + 1)
                continue
            moved = self._move(state, step)
            if moved is None:
                return
            state = moved
        yield state

    def _move(self, state: _State, step: WalkStep) -> _State | None:
        place = state.place + 1
        if step.kind == "operators":
            joined = state.open.joined(_Open(step.operators), state.open.exits)
            return _replaced(state, place=place, open=joined, sealed=step.must)
        if step.kind == "gap":
            return self._close(state, step)
        if step.kind == "loop":
            return _replaced(state, place=place, loops=(*state.loops, False))
        if step.kind == "loop ends":
            left = state.open.exits + (step.times if state.loops[-1] else 0.0)
            return _replaced(state, place=place, open=_Open(state.open.operators, left), loops=state.loops[:-1])
        if step.kind == "context":
            # These operators are in the open phase already; every phase that is opened from now on begins with them.
            return _replaced(state, place=place, contexts=(*state.contexts, step.operators))
        if step.kind == "no context":
            return _replaced(state, place=place, contexts=state.contexts[:-1])
        if step.kind == "threads":
            frame = _Frame(state.open, first=_Open())
            return _replaced(state, place=place, open=_Open(self._context(state)), frames=(*state.frames, frame))
        if step.kind == "thread ends":
            frame = state.frames[-1]
            if frame.broken:
                last = state.open if frame.last is None else _widest(frame.last, state.open)
                frame = _Frame(frame.before, frame.first, last)
            else:
                frame = _Frame(frame.before, _widest(frame.first, state.open), frame.last)
            opened = _Open(self._context(state))
            return _replaced(state, place=place, open=opened, frames=(*state.frames[:-1], frame))
        assert step.kind == "threads end"
        frame = state.frames[-1]
        first = frame.before.joined(frame.first, frame.before.exits + frame.first.exits)
        outside = _replaced(state, place=place, open=first, frames=state.frames[:-1])
        return outside if frame.last is None else self._closed(outside, frame.last)

    def _close(self, state: _State, step: WalkStep) -> _State | None:
        """End the open phase at a gap."""
        assert step.place is not None
        left = _Open(state.open.operators, state.open.exits + step.times)
        ends = (step.place, state.ends) if step.may else state.ends
        following = _replaced(state, place=state.place + 1, open=left, sealed=False, ends=ends)
        return self._closed(following, _Open(self._context(state)))

    def _closed(self, state: _State, opened: _Open) -> _State | None:
        """The open phase is complete; ``opened`` is open after it. None if the phase is not possible."""
        loops = (True,) * len(state.loops)
        if state.frames and not state.frames[-1].broken:
            # The first phase of a thread waits to be merged with those of the others.
            frame = state.frames[-1]
            frame = _Frame(frame.before, _widest(frame.first, state.open), frame.last, True)
            return _replaced(state, open=opened, frames=(*state.frames[:-1], frame), loops=loops)
        if self.most is not None and state.closed + 2 > self.most:
            return None  # the phase that closes, and the phase that opens
        cost = self.costs.phase(state.open.operators, state.open.exits)
        if cost == inf:
            return None
        done = {o.label for o in state.open.operators} - {o.label for o in self._context(state)}
        waiting = state.waiting - sum(self.alone[label] for label in done)
        return _replaced(
            state, open=opened, cost=state.cost + cost, waiting=waiting, loops=loops, closed=state.closed + 1
        )

    def _context(self, state: _State) -> Operators:
        return tuple({o.label: o for context in state.contexts for o in context}.values())


def _widest(one: _Open, other: _Open) -> _Open:
    """The first (or last) phases of two threads, merged."""
    return one.joined(other, max(one.exits, other.exits))


def _replaced(state: _State, **changes: object) -> _State:
    """As `dataclasses.replace`, but ten times as fast."""
    other = object.__new__(_State)
    other.__dict__.update(state.__dict__, **changes)
    return other
