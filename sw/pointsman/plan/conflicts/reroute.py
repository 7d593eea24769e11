"""Routes later phases around wires on which a neighbour in an earlier phase could take their words for its own (Metcalf
1997, Table 5.2).

A phase that nodes leave without a barrier may share no (link, slot) with any phase that may run later. Where it would,
either the later phase moves to other slots, which may cost it words, or the earlier gets a barrier. Takes planned
phases; gives those that can move at lower cost than the barriers saved. The other collisions are left for barriers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pointsman.plan.plan import PlannedPhase
from pointsman.plan.structure.structure import Structure

from .collisions import apart_not_proved, collisions
from .freed_links import Freed, freed_links
from .happens_before import HappensBefore
from .link_slots import Link, keep_off


class PlanAgain(Protocol):
    """Plans phase ``later`` again, off the wires in ``taken``, if that costs less than barriers at the ends of ``instead``."""

    def __call__(
        self,
        planned: Sequence[PlannedPhase],
        later: int,
        taken: Mapping[int, frozenset[Link]],
        instead: Iterable[int],
        freed: Freed,
    ) -> PlannedPhase | None: ...


@dataclass(frozen=True, eq=False)
class Rerouted:
    """A phase on other wires."""

    phase: PlannedPhase
    taken: Mapping[int, frozenset[Link]]
    """By other phase, links and slots of it that this phase leaves alone."""
    freed: Freed
    """Which links and slots of ``taken`` some of its operators use all the same."""


def reroute(
    structure: Structure, phases: Sequence[PlannedPhase], again: PlanAgain, *, aliased_handshake: bool
) -> dict[int, Rerouted]:
    """By index, the phases that move to other wires; each is tried once."""
    planned = list(phases)
    found: dict[int, Rerouted] = {}
    if not planned:
        return found

    def against(phases: list[PlannedPhase]) -> tuple[HappensBefore, list[tuple[int, int]]]:
        known = HappensBefore(structure, phases, phases[0].routed.topology)
        collided = collisions(phases, structure, aliased_handshake=aliased_handshake, known=known)
        return known, [(a, b) for a, b, _ in collided if phases[a].loose]

    known, pairs = against(planned)
    for later in sorted({b for _, b in pairs}):
        instead = {a for a, b in pairs if b == later}
        if not instead:
            continue
        before = {p for p, phase in enumerate(planned) if phase.loose and later in structure.graph.later(p)}
        after = structure.graph.later(later) if planned[later].loose else frozenset()
        taken: dict[int, frozenset[Link]] = {}
        lingering: dict[int, frozenset[Link]] = {}
        for p in sorted((before | after) - {later}):
            links = keep_off(planned[p].routed, aliased_handshake=aliased_handshake)
            behind = apart_not_proved(known, planned[p], p, later, links) if p in before else frozenset()
            # The operators of this phase cannot free wires that are taken because a node may linger in it in a later phase.
            ahead = apart_not_proved(known, planned[later], later, p, links) if p in after else frozenset()
            taken[p], lingering[p] = frozenset(behind | ahead), frozenset(ahead)
        stuck = frozenset().union(*lingering.values())
        free = freed_links(known, planned, later, {p: links - stuck for p, links in taken.items()})
        # On its new routes an operator may prove less than before; then the freed links are given up.
        for own in [free, {}] if free else [{}]:
            moved = again(planned, later, taken, instead, own)
            if moved is None:
                continue
            changed = [*planned[:later], moved, *planned[later + 1 :]]
            then = against(changed)
            if not any(later in pair for pair in then[1]):
                planned, (known, pairs) = changed, then
                found[later] = Rerouted(moved, taken, own)
                break
    return found
