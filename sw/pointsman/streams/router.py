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
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

from numesh.shape import NodeShape
from pointsman.network import Topology

from .assembly import assemble
from .bounds import Need, need_of, overloaded
from .errors import RoutingError
from .negotiation import Budget, Limits, Negotiation, Outcome, Task
from .periods import repeated, short_tasks, thinned
from .problem import Part, Site, split
from .route import Chain
from .stream import RoutedPhase, Stream
from .validation import validate

__all__ = ["RoutingError", "route_phase"]

SHORT = 8
"""Longest period that is tried for every number of words before anything longer is."""


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
        self.outcomes: dict[tuple[Task, bool], Outcome] = {}
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
        found, best = self._short(levels)
        work = sum(len(part.demands) * part.nodes for part in self.needs)
        budget = Budget(self.effort * (150_000 + 6_000 * work * self.period / 16))
        low, high = best, len(levels) - 1
        while low < high and not budget.empty:
            middle = (low + high + 1) // 2
            chains = self._long(levels[middle], budget)
            if chains is None:
                high = middle - 1
            else:
                found, low = chains, middle
        if found is None:
            found = self._long(levels[0], Budget(float("inf")))
            low = 0
        if found is None:
            raise self._failed()
        words = list(levels[low])
        for index in range(len(self.groups)) if len(self.groups) > 1 else ():
            low, high = words[index], self.groups[index].most
            while low < high and not budget.empty:
                words[index] = (low + high + 1) // 2
                chains = self._long(tuple(words), budget) if self._counted(tuple(words)) else None
                if chains is None:
                    high = words[index] - 1
                else:
                    found, low = chains, words[index]
            words[index] = low
        return [(site, part, found[part]) for part, site in self.parts]

    # What to try --------------------------------------------------------------------------------------------------

    def _levels(self) -> list[tuple[int, ...]]:
        """Words per group from the least share up, as far as counting allows."""
        shares = sorted(
            {Fraction(words) / g.weight for g in self.groups for words in range(1, g.most + 1)} | {Fraction(0)}
        )
        levels = [tuple(min(g.most, max(1, int(share * g.weight))) for g in self.groups) for share in shares]
        return [level for level in dict.fromkeys(levels) if self._counted(level)]

    def _short(self, levels: list[tuple[int, ...]]) -> tuple[dict[Part, list[Chain]] | None, int]:
        """The highest level that repeating a short period reaches: (chains, index), or (None, -1)."""
        for index in range(len(levels) - 1, -1, -1):
            for most in range(self.most_chains, 0, -1):
                chains = self._every_part(levels[index], most, SHORT, None)
                if chains is not None:
                    return chains, index
        return None, -1

    def _long(self, level: tuple[int, ...], budget: Budget) -> dict[Part, list[Chain]] | None:
        for most in range(self.most_chains, 0, -1):
            chains = self._every_part(level, most, self.period, budget)
            if chains is not None:
                return chains
        return None

    def _every_part(
        self, level: tuple[int, ...], most: int, longest: int, budget: Budget | None
    ) -> dict[Part, list[Chain]] | None:
        """Chains of all parts at ``level`` with at most ``most`` chains a stream."""
        found: dict[Part, list[Chain]] = {}
        for part, site in self.parts:
            if part in found:
                continue
            words = [level[self.group_of[stream]] for stream in site.streams]
            chains = [
                max(c for c in range(1, min(most, demand.chains) + 1) if count % c == 0)
                for demand, count in zip(part.demands, words, strict=True)
            ]
            routed = self._part(part, words, chains, longest, budget)
            if routed is None:
                return None
            found[part] = routed
        return found

    def _part(
        self, part: Part, words: list[int], chains: list[int], longest: int, budget: Budget | None
    ) -> list[Chain] | None:
        for task, drop in short_tasks(part, words, chains, self.period, longest):
            outcome = self._attempt(task, budget, 40)
            if outcome.chains is None:
                continue
            full = repeated(outcome.chains, task.slots, self.period)
            if not any(drop):
                return full
            thin = thinned(part, full, [drop[chain.demand] for chain in full], self.period, self.limits)
            if thin is not None:
                return thin
        if longest < self.period:
            return None
        task = Task(part, self.period, tuple(words), tuple(chains), True)
        return self._attempt(task, budget, 120).chains

    def _attempt(self, task: Task, budget: Budget | None, rounds: int) -> Outcome:
        key = task, budget is None
        if key not in self.outcomes:
            if overloaded(
                task.part,
                self.needs[task.part],
                task.words,
                task.slots,
                self.limits.pipelines,
                reserve=task.reserve and self.limits.phase_change,
            ):
                outcome = Outcome(None)
            else:
                self.tell(f"{task.slots} slots, words {max(task.words)}, chains {max(task.chains)}")
                spend = Budget(float("inf")) if budget is None else budget
                outcome = Negotiation(task, self.limits, self.seed).run(rounds, spend)
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
