"""Phases -> places in a router's memories, which hold fewer than all of them (Metcalf 1997, §5.4).

The memories are a cache that software manages. Takes which phase may follow which; gives each phase its place, such that what
has to make room is what will be used again last. Leaves alone: when to load (the run time loads what is not there).

`schedule_places` is §5.4.1: blocks of the schedule memory. `vfsm_places` is §5.4.2: VFSMs of one node, in the pipelines of
which the cheapest order is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import inf

from pointsman.plan.structure.phase_graph import Distances, PhaseGraph


def apart(between: Distances, one: int, other: int) -> float:
    """How soon one of two phases may come after the other, in changes of phase."""
    return min(between[one].get(other, inf), between[other].get(one, inf))


def schedule_places(
    phases: Sequence[int], graph: PhaseGraph, places: int, *, apart_at_least: int = 2
) -> dict[int, int]:
    """A place for each phase's schedule, from 0.

    Each phase takes the place whose nearest phase is farthest away; of equals the one with fewer phases, then the lowest.
    Phases that are always run choose first, so that the common way has the best places.

    Parameters
    ----------
    apart_at_least : int
        Least changes between phases of one place. 2: two phases that follow each other are there at a time (§5.4.1); 1 will do
        where another schedule runs while one is loaded.

    Raises
    ------
    ValueError
        If phases that come closer would need one place.
    """
    between = graph.distances
    holders: list[list[int]] = [[] for _ in range(places)]
    chosen: dict[int, int] = {}
    ordered = sorted(phases, key=lambda phase: phase in graph.optional)
    for phase in ordered:

        def worth(place: int, phase: int = phase) -> tuple[float, int, int]:
            nearest = min((apart(between, phase, other) for other in holders[place]), default=inf)
            return (-nearest if holders[place] else -inf, len(holders[place]), place)

        best = min(range(places), key=worth)
        if any(apart(between, phase, other) < apart_at_least for other in holders[best]):
            raise ValueError(f"phases {phase} and {holders[best]} follow each other and have one place")
        holders[best].append(phase)
        chosen[phase] = best
    return chosen


def reloads(chosen: Mapping[int, int], order: Sequence[int]) -> int:
    """Loads in a run that goes through the phases in this order."""
    resident: dict[int, int] = {}
    count = 0
    for phase in order:
        if resident.get(chosen[phase]) != phase:
            resident[chosen[phase]] = phase
            count += 1
    return count


class VfsmPlaces:
    """VFSMs of the pipelines of one node, given to one phase after the other (§5.4.2).

    Parameters
    ----------
    pipelines, places : int
        Pipelines, and VFSMs of each that phases may have.
    """

    def __init__(self, pipelines: int, places: int, between: Distances) -> None:
        self.between = between
        self.holders: list[list[list[int]]] = [[[] for _ in range(places)] for _ in range(pipelines)]

    def add(
        self,
        phase: int,
        counts: Sequence[int],
        fixed: Mapping[int, int] | None = None,
        taken: Sequence[frozenset[int]] = (),
        barred: frozenset[tuple[int, int]] = frozenset(),
    ) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
        """Places for ``counts[i]`` VFSMs of the phase's own pipeline i.

        Parameters
        ----------
        fixed : mapping
            Pipelines of the phase that must be certain pipelines of the node, because an operator continues in them.
        taken : sequence of frozenset of int
            Places, by the node's pipeline, that nobody else may have: of continuing operators, and of phases that keep theirs.
        barred : frozenset
            Pairs of a pipeline of the phase and one of the node that it must not be.

        Returns
        -------
        order, places
            The node's pipeline for each of the phase's, and the places there.

        Raises
        ------
        ValueError
            If a pipeline has not that many.
        """
        pipelines = range(len(self.holders))
        wanted = fixed or {}
        options: dict[tuple[int, int], tuple[float, int, tuple[int, ...]]] = {}
        for own, pipeline in product(pipelines, pipelines):
            held = taken[pipeline] if taken else frozenset()
            if (own, pipeline) in barred or wanted.get(own, pipeline) != pipeline:
                continue
            if counts[own] <= len(self.holders[pipeline]) - len(held):
                options[own, pipeline] = self._choose(pipeline, phase, counts[own], held)
        order = _cheapest(len(pipelines), {pair: option[:2] for pair, option in options.items()})
        if order is None:
            raise ValueError(f"phase {phase} needs {max(counts)} VFSMs of a pipeline")
        found = tuple(options[own, pipeline][2] for own, pipeline in enumerate(order))
        for own, chosen in enumerate(found):
            for place in chosen:
                self.holders[order[own]][place].append(phase)
        return order, found

    def _choose(
        self, pipeline: int, phase: int, number: int, held: frozenset[int]
    ) -> tuple[float, int, tuple[int, ...]]:
        """Places for ``number`` VFSMs: what evicting costs, how many phases are evicted, and the places."""
        evicted: set[int] = set()
        chosen: list[int] = []
        for _ in range(number):

            def worth(place: int) -> tuple[float, int, int]:
                # Phases that must be loaded again anyway do not count any more.
                others = [p for p in self.holders[pipeline][place] if p not in evicted]
                nearest = min((apart(self.between, phase, other) for other in others), default=inf)
                return (-nearest, len(self.holders[pipeline][place]), place)

            place = min((p for p in range(len(self.holders[pipeline])) if p not in held and p not in chosen), key=worth)
            evicted.update(self.holders[pipeline][place])
            chosen.append(place)
        cost = sum(1.0 / apart(self.between, phase, other) for other in sorted(evicted))
        return cost, len(evicted), tuple(sorted(chosen))


def _cheapest(count: int, prices: Mapping[tuple[int, int], tuple[float, int]]) -> tuple[int, ...] | None:
    """The permutation of the least sum of ``prices``, by own pipeline and the node's; of equals the first. Pipelines are
    few, but need not be: sets of them instead of all permutations."""
    best: dict[int, tuple[float, int, tuple[int, ...]]] = {0: (0.0, 0, ())}
    for own in range(count):
        following: dict[int, tuple[float, int, tuple[int, ...]]] = {}
        for used, (cost, away, order) in best.items():
            for pipeline in range(count):
                if used >> pipeline & 1 or (own, pipeline) not in prices:
                    continue
                price, more = prices[own, pipeline]
                found = cost + price, away + more, (*order, pipeline)
                key = used | 1 << pipeline
                if key not in following or found < following[key]:
                    following[key] = found
        best = following
    return best[(1 << count) - 1][2] if best else None


def again(phase: int, rivals: Iterable[int], exits: Mapping[int, float], between: Distances) -> float:
    """How often a phase is put into the memories after the first time, in a run: each time that one of ``rivals``, which take its
    place, has run in between. That is no more often than it is entered, nor than those run that are in a loop with it.

    Parameters
    ----------
    exits : mapping
        How often each phase is left, about.
    """
    inside = [r for r in rivals if r in between[phase] and phase in between[r]]
    return max(0.0, min(max(1.0, exits[phase]), sum(max(1.0, exits[r]) for r in inside)) - 1) if inside else 0.0
