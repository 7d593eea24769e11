"""Phases -> places in a router's memories, which need not hold all phases at once (Metcalf 1997, §5.4).

The memories are a cache that software manages. Takes which phase may follow which; gives each phase its place, such that a phase
evicts the phases that will be used again last. Leaves alone: when to load (the run time loads what is not there).

`schedule_places` is §5.4.1: blocks of the schedule memory. `VfsmPlaces` is §5.4.2: VFSMs of one node, where a phase's
pipelines are also assigned to the node's pipelines at the least cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from math import inf

from pointsman.plan.structure.phase_graph import Distances, PhaseGraph


def apart(between: Distances, one: int, other: int) -> float:
    """Least number of changes of phase from either of two phases to the other."""
    return min(between[one].get(other, inf), between[other].get(one, inf))


def schedule_places(
    phases: Sequence[int], graph: PhaseGraph, places: int, *, apart_at_least: int = 2
) -> dict[int, int]:
    """By phase, the place of its schedule, from 0 to ``places`` - 1.

    Each phase takes the place whose nearest phase is farthest away; of equals the place with fewer phases, then the
    lowest. Phases that are not seldom run choose first.

    Parameters
    ----------
    apart_at_least : int
        Least changes of phase between two phases that share a place. 2: phases that follow each other are in the memory
        together (§5.4.1); 1 will do where another schedule runs during a load.

    Raises
    ------
    ValueError
        If phases that come closer would have to share a place.
    """
    between = graph.distances
    holders: list[list[int]] = [[] for _ in range(places)]
    chosen: dict[int, int] = {}
    ordered = sorted(phases, key=lambda phase: phase in graph.seldom)
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
    """Number of loads in a run through the phases in this ``order``; ``chosen``: by phase, its place."""
    resident: dict[int, int] = {}
    count = 0
    for phase in order:
        if resident.get(chosen[phase]) != phase:
            resident[chosen[phase]] = phase
            count += 1
    return count


class VfsmPlaces:
    """VFSMs of one node, handed out phase by phase (§5.4.2).

    Parameters
    ----------
    pipelines, places : int
        Number of pipelines, and of VFSMs in each pipeline that phases may have.
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
        """Find places for ``counts[i]`` VFSMs of each pipeline i as the phase numbers its pipelines.

        Parameters
        ----------
        fixed : mapping
            By pipeline of the phase, the pipeline of the node that it must become.
        taken : sequence of frozenset of int
            By pipeline of the node, places that are not free: of continuing operators, and of phases that keep theirs.
        barred : frozenset
            Pairs (pipeline of the phase, pipeline of the node) that are not allowed.

        Returns
        -------
        order, places
            By pipeline of the phase, the pipeline of the node, and the places in it.

        Raises
        ------
        ValueError
            If no assignment of pipelines has places enough.
        """
        pipelines = range(len(self.holders))
        wanted = fixed or {}
        others = {other for places in self.holders for held_by in places for other in held_by}
        changes = {other: apart(self.between, phase, other) for other in others}
        options: dict[tuple[int, int], tuple[float, int, tuple[int, ...]]] = {}
        for own, pipeline in product(pipelines, pipelines):
            held = taken[pipeline] if taken else frozenset()
            if (own, pipeline) in barred or wanted.get(own, pipeline) != pipeline:
                continue
            if counts[own] <= len(self.holders[pipeline]) - len(held):
                options[own, pipeline] = self._choose(pipeline, changes, counts[own], held)
        order = _cheapest(len(pipelines), {pair: option[:2] for pair, option in options.items()})
        if order is None:
            raise ValueError(f"phase {phase} needs {max(counts)} VFSMs of a pipeline")
        found = tuple(options[own, pipeline][2] for own, pipeline in enumerate(order))
        for own, chosen in enumerate(found):
            for place in chosen:
                self.holders[order[own]][place].append(phase)
        return order, found

    def _choose(
        self, pipeline: int, changes: Mapping[int, float], number: int, held: frozenset[int]
    ) -> tuple[float, int, tuple[int, ...]]:
        """Choose places for ``number`` VFSMs: the cost (for each evicted phase 1 / changes of phase until it may run
        again), the number of phases evicted, and the places. ``changes``: by other phase, least changes of phase between
        the two."""
        holders = self.holders[pipeline]
        evicted: set[int] = set()
        chosen: list[int] = []
        left = {place for place in range(len(holders)) if place not in held}
        worth: dict[int, tuple[float, int, int]] = {}
        for _ in range(number):
            for place in left - worth.keys():
                # Phases evicted by an earlier choice must be loaded again anyway, so they do not count.
                nearest = min([changes[other] for other in holders[place] if other not in evicted], default=inf)
                worth[place] = (-nearest, len(holders[place]), place)
            *_, place = min(worth.values())
            left.remove(place)
            del worth[place]
            more = set(holders[place]) - evicted
            evicted |= more
            if more:
                worth = {other: one for other, one in worth.items() if more.isdisjoint(holders[other])}
            chosen.append(place)
        cost = sum(1.0 / changes[other] for other in sorted(evicted))
        return cost, len(evicted), tuple(sorted(chosen))


def _cheapest(count: int, prices: Mapping[tuple[int, int], tuple[float, int]]) -> tuple[int, ...] | None:
    """The permutation of pipelines with the least sum of ``prices``, which are by (phase's pipeline, node's pipeline); of equals
    the first. Dynamic programming over sets of pipelines, so that many pipelines do not mean all permutations."""
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
    """How often in a run a phase is loaded again, about: each time that one of ``rivals``, phases in its place, has run
    since. That is no more often than the phase is entered, nor than the rivals that are in a loop with it run.

    Parameters
    ----------
    exits : mapping
        By phase, how often it is left, about.
    """
    inside = [r for r in rivals if r in between[phase] and phase in between[r]]
    return max(0.0, min(max(1.0, exits[phase]), sum(max(1.0, exits[r]) for r in inside)) - 1) if inside else 0.0
