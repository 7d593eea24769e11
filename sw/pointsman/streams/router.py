"""Streams to routes and timeslots (Metcalf 1997, §7.1.3): the router's face.

Takes the streams of one phase; gives a ``RoutedPhase`` that keeps the rules of the node (§7.1.1, §7.1.4), or raises
``RoutingError``. It makes the smallest share (words per period over weight) as large as it can, then lets groups that
have room go on. Non-goals: registers' and VFSMs' final numbers, and judging schedules.

Method: streams that share no nodes are routed apart, look-alikes once (``problem``); short periods that divide the
period are tried first and repeated (``periods``); chains are placed by negotiated congestion (``negotiation``), each as
cheaply as present prices allow (``timing``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from numesh.shape import NodeShape
from pointsman.network import Topology

from .assembly import assemble
from .bounds import Need, need_of, overloaded
from .errors import RoutingError
from .kernels import INTERPRETED, compiled
from .negotiation import Budget, Limits, Negotiation, Outcome, Task
from .periods import divisors, repeated, short_task, thinned
from .problem import Part, Site, split
from .route import Chain
from .stream import RoutedPhase, Stream
from .validation import validate

__all__ = ["RoutingError", "route_phase"]

SMALL = 400
"""Destinations times links up to which kernels are interpreted: starting the compiler takes longer than routing."""
QUICK = 8
"""Periods up to this are tried with patience from the first."""
HASTE = 24, 10
PATIENCE = 200, 60
"""Rounds of negotiation, and rounds without fewer conflicts, after which an attempt is given up."""
STUBBORN = 3
"""Numbers of words that may fail before a period is left."""


def route_phase(
    streams: Sequence[Stream],
    topology: Topology,
    shape: NodeShape,
    *,
    period: int,
    seed: int = 0,
    forbidden: Collection[tuple[int, int, int]] = (),
    phase_change: bool = True,
    effort: float = 1.0,
    progress: Callable[[str], None] | None = None,
) -> RoutedPhase:
    """Route ``streams`` in ``period`` slots.

    Parameters
    ----------
    streams : sequence of Stream
        The streams of one phase.
    topology : Topology
        The network.
    shape : NodeShape
        Sizes of its nodes.
    period : int
        Slots after which the schedule repeats, at least 2.
    seed : int
        Of the choice between ways that cost the same. Same input and seed: same result, on any machine.
    forbidden : collection of (node, port, slot)
        Link writes not to be used; the slot is that of the VFSM that writes.
    phase_change : bool
        Keep a slot for the reprogramming VFSM in pipeline 0 of every node in use (§7.1.4).
    effort : float
        Work to spend on more words, 1.0 being usual.
    progress : callable or None
        Told in a line what is being tried.

    Raises
    ------
    RoutingError
        If the streams make no sense here, or not every stream can have a word per period.
    """
    began = time.perf_counter()
    validate(streams, topology, shape, period, forbidden, effort)
    parts = split(streams, topology, shape, forbidden) if streams else []
    limits = Limits(shape.pipelines, shape.vfsms, shape.registers, phase_change)
    search = _Search(streams, parts, limits, period, seed, effort, progress)
    placed = search.run()
    routed = assemble(streams, topology, shape, period, placed)
    return RoutedPhase(shape, topology, period, tuple(streams), routed, time.perf_counter() - began)


@dataclass
class _Group:
    """Streams that get the same number of words."""

    name: str
    weight: Fraction
    most: int


class _Search:
    """Looks for the largest words per group that can be routed."""

    def __init__(
        self,
        streams: Sequence[Stream],
        parts: list[tuple[Part, Site]],
        limits: Limits,
        period: int,
        seed: int,
        effort: float,
        progress: Callable[[str], None] | None,
    ) -> None:
        self.streams, self.parts, self.limits = streams, parts, limits
        self.period, self.seed, self.effort = period, seed, effort
        self.tell = progress or (lambda line: None)
        self.needs: dict[Part, list[Need]] = {}
        for part, site in parts:
            if part not in self.needs:
                self.needs[part] = [self._need(part, site, number) for number in range(len(part.demands))]
        self.most_chains = self._most_chains()
        self.outcomes: dict[tuple[Task, tuple[int, int]], Outcome] = {}
        self.known: dict[tuple[Part, tuple[int, ...]], list[Chain]] = {}
        self.patience = PATIENCE
        work = sum(len(part.links) * sum(len(d.destinations) for d in part.demands) for part in self.needs)
        self.kernels = INTERPRETED if work <= SMALL else compiled()
        units = 300_000 if work <= SMALL else min(100_000_000 + 50_000 * work, 2_000_000_000)
        self.budget = self.share = Budget(effort * units)
        self.failure: tuple[Task, Outcome] | None = None
        names = list(dict.fromkeys(stream.group for stream in streams))
        self.group_of = [names.index(stream.group) for stream in streams]
        self.groups = [_Group(name, Fraction(1), period * limits.pipelines) for name in names]
        for group, index in zip(self.groups, range(len(names)), strict=True):
            mine = [s for s, g in zip(streams, self.group_of, strict=True) if g == index]
            group.weight = max(Fraction(s.weight) for s in mine)
            group.most = min([group.most, *(s.max_words for s in mine if s.max_words is not None)])

    def run(self) -> list[tuple[Site, Part, list[Chain]]]:
        """Chains of every part."""
        if not self.parts:
            return []
        least = (1,) * len(self.groups)
        self._refuse_overload(least)
        for index, group in enumerate(self.groups):
            group.most = self._largest(
                lambda words, index=index: self._counted(  # type: ignore[misc]
                    tuple(words if g == index else 1 for g in range(len(self.groups)))
                ),
                group.most,
            )
        levels = self._levels()
        found, reached = self._climb(levels)
        if found is None:
            found = self._least(levels[0])
        words = list(levels[max(reached, 0)])
        for index, group in enumerate(self.groups) if len(self.groups) > 1 else ():
            higher = [(*words[:index], count, *words[index + 1 :]) for count in range(words[index] + 1, group.most + 1)]
            higher = [level for level in higher if self._counted(level)]
            more, reached = self._climb(higher)
            if more is not None:
                found, words = more, list(higher[reached])
        return [(site, part, found[part]) for part, site in self.parts]

    # What to try --------------------------------------------------------------------------------------------------

    def _levels(self) -> list[tuple[int, ...]]:
        """Words per group from the least share up, as far as counting allows."""
        shares = sorted({Fraction(words) / g.weight for g in self.groups for words in range(1, g.most + 1)})
        levels = [(1,) * len(self.groups)]
        levels += [tuple(min(g.most, max(1, int(share * g.weight))) for g in self.groups) for share in shares]
        return [level for level in dict.fromkeys(levels) if self._counted(level)]

    def _climb(self, levels: list[tuple[int, ...]]) -> tuple[dict[Part, list[Chain]] | None, int]:
        """The highest of ``levels`` that is reached within the budget: (chains, index), or (None, -1).

        First every period in haste, the shortest first, by halving the levels above the best so far that it divides;
        then with patience, the levels just above the best one.
        """
        found, reached = None, -1
        half = self.budget.share(0.5)
        for slots in divisors(self.period):
            above = [index for index in range(reached + 1, len(levels)) if self._divides(levels[index], slots)]
            self._be_patient(PATIENCE if slots <= QUICK else HASTE)
            self.share = half.share(1.0 if slots <= QUICK else 0.4)
            while above and not self.share.empty:
                middle = len(above) // 2
                chains = self._every_part(levels[above[middle]], slots)
                if chains is None:
                    above = above[:middle]
                else:
                    found, reached, above = chains, above[middle], above[middle + 1 :]
        self._be_patient(PATIENCE)
        for slots in divisors(self.period):
            self.share = self.budget.share(0.5 if slots < self.period else 1.0)
            failures = 0
            for index in range(reached + 1, len(levels)):
                if self.share.empty or failures > STUBBORN:
                    break
                if self._divides(levels[index], slots):
                    chains = self._every_part(levels[index], slots)
                    if chains is None:
                        failures += 1
                    else:
                        found, reached, failures = chains, index, 0
        return found, reached

    def _be_patient(self, limits: tuple[int, int]) -> None:
        self.patience = max(4, int(limits[0] * self.effort)), max(4, int(limits[1] * self.effort))

    def _least(self, level: tuple[int, ...]) -> dict[Part, list[Chain]]:
        """Chains for the lowest level, however long it takes."""
        for attempt in range(1, 4):
            self.share, self.outcomes = Budget(float("inf")), {}
            self.seed += 1
            self._be_patient((PATIENCE[0] * attempt, PATIENCE[1] * attempt))
            found = self._every_part(level, self.period)
            if found is not None:
                return found
        raise self._failed()

    def _divides(self, level: tuple[int, ...], slots: int) -> bool:
        part, site = self.parts[0]
        return any(True for _ in self._tasks(part, site, level, slots))

    def _tasks(
        self, part: Part, site: Site, level: tuple[int, ...], slots: int
    ) -> Iterator[tuple[Task, tuple[int, ...]]]:
        """Ways to reach ``level`` in ``part`` by repeating ``slots``, most chains first: task, words to drop by demand."""
        words = [level[self.group_of[stream]] for stream in site.streams]
        tried: set[Task] = set()
        for most in (self.most_chains, 1):
            for drop in (0, 1) if slots < self.period else (0,):
                task = short_task(part, words, most, slots, self.period, drop=drop)
                if task is not None and task not in tried:
                    tried.add(task)
                    yield task, tuple(drop for _ in words)

    def _every_part(self, level: tuple[int, ...], slots: int) -> dict[Part, list[Chain]] | None:
        """Chains of all parts at ``level`` by repeating ``slots``."""
        found: dict[Part, list[Chain]] = {}
        for part, site in self.parts:
            if part in found:
                continue
            words = tuple(level[self.group_of[stream]] for stream in site.streams)
            known = self.known.get((part, words))
            if known is None:
                known = self._part(part, site, level, slots)
                if known is None:
                    return None
                self.known[part, words] = known
            found[part] = known
        return found

    def _part(self, part: Part, site: Site, level: tuple[int, ...], slots: int) -> list[Chain] | None:
        for task, drop in self._tasks(part, site, level, slots):
            outcome = self._attempt(task)
            if outcome.chains is None:
                continue
            full = repeated(outcome.chains, slots, self.period)
            if not any(drop):
                return full
            thin = thinned(part, full, [drop[chain.demand] for chain in full], self.period, self.limits)
            if thin is not None:
                return thin
        return None

    def _attempt(self, task: Task) -> Outcome:
        key = task, self.patience
        if key not in self.outcomes:
            reserve = task.reserve and self.limits.phase_change
            needs = self.needs[task.part]
            if overloaded(task.part, needs, task.words, task.slots, self.limits.pipelines, reserve=reserve):
                outcome = Outcome(None)
            else:
                self.tell(f"{task.slots} slots, words {max(task.words)}, chains {max(task.chains)}")
                outcome = Negotiation(task, needs, self.limits, self.kernels, self.seed).run(*self.patience, self.share)
                if outcome.chains is None and task.slots == self.period:
                    self.failure = task, outcome
            self.outcomes[key] = outcome
        return self.outcomes[key]

    # Counting -----------------------------------------------------------------------------------------------------

    def _counted(self, level: tuple[int, ...]) -> bool:
        return all(self._overload(part, site, level) is None for part, site in self.parts)

    def _overload(self, part: Part, site: Site, level: tuple[int, ...]) -> tuple[str, int] | None:
        return overloaded(
            part,
            self.needs[part],
            [level[self.group_of[stream]] for stream in site.streams],
            self.period,
            self.limits.pipelines,
            reserve=self.limits.phase_change,
        )

    @staticmethod
    def _largest(fits: Callable[[int], bool], most: int) -> int:
        low, high = 1, most
        while low < high:
            middle = (low + high + 1) // 2
            if fits(middle):
                low = middle
            else:
                high = middle - 1
        return low

    def _most_chains(self) -> int:
        """Most chains a stream may be split into with the interface registers that there are."""
        room = self.limits.registers - self.limits.pipelines
        wanted = max((stream.chains for stream in self.streams), default=1)
        for most in range(wanted, 0, -1):
            used: dict[int, int] = {}
            for stream in self.streams:
                for node in (stream.source, *stream.destinations):
                    used[node] = used.get(node, 0) + min(most, stream.chains)
            if max(used.values(), default=0) <= room:
                return most
        node = max(used, key=lambda n: (used[n], -n))
        raise RoutingError(
            f"{used[node]} streams start or end at node {node}, which has {room} interface registers for them",
            hint=f"a shape with at least {used[node] + self.limits.pipelines} registers, or fewer streams in one phase",
        )

    # What went wrong ------------------------------------------------------------------------------------------------

    def _need(self, part: Part, site: Site, number: int) -> Need:
        need = need_of(part, part.demands[number])
        if need is None:
            stream = self.streams[site.streams[number]]
            raise RoutingError(
                f"stream {stream.name} cannot reach all its destinations from node {stream.source}",
                hint="it may use only the nodes of its subset, and only links that exist",
            )
        return need

    def _refuse_overload(self, level: tuple[int, ...]) -> None:
        for part, site in self.parts:
            found = self._overload(part, site, level)
            if found is None:
                continue
            kind, number = found
            if kind == "node":
                what = f"node {site.nodes[number]} has too few VFSM slots"
            elif kind == "wire":
                writer, _ = part.links[part.wires.index(number)]
                what = f"a link of node {site.nodes[writer]} has too few slots"
            elif kind == "chains":
                what = f"stream {self.streams[site.streams[number]].name} forks too often"
            else:
                what = "the nodes have too few VFSM slots together"
            raise RoutingError(
                f"{what} for one word of every stream in {self.period} slots",
                hint="a longer period, more pipelines, or fewer streams in one phase",
            )

    def _failed(self) -> RoutingError:
        where = ""
        names = [stream.name for stream in self.streams]
        if self.failure is not None:
            task, outcome = self.failure
            site = next(site for part, site in self.parts if part == task.part)
            if outcome.contested:
                names = [self.streams[site.streams[number]].name for number in outcome.contested]
            if outcome.nodes:
                where = " at nodes " + ", ".join(str(site.nodes[node]) for node in outcome.nodes[:6])
        listed = ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
        return RoutingError(
            f"no slots found for one word of every stream in {self.period} slots: {listed} stay in conflict{where}",
            hint="a longer period, more pipelines, more effort, or fewer streams in one phase",
        )
