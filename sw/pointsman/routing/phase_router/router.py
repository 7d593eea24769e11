"""Streams of a phase to routes and timeslots (Metcalf 1997, §7.1.3): the entry point for the planner.

Takes the streams of a phase; gives a ``RoutedPhase`` that keeps the rules of the node (§7.1.1, §7.1.4), or raises
``RoutingError``. It makes the smallest share (words per period / weight) as large as it can, then gives more words to groups
that have room. Leaves alone the final numbers of registers and VFSMs; does not check its answer.

Method: sets of streams that share no nodes are routed separately, equal sets once (``problem``); short periods that divide the
period are tried first and repeated (``repetition``); chains are placed by negotiated congestion (``attempt``, ``rip_up``), each
as cheaply as present prices allow (``cheapest_path``). Multicasts that all go round one cycle are placed by construction
(``rounds``), and many streams of single words packed as those of a whole network are (``packed``). Where processors pass
words on, slots are given out by when words are there (``in_turn``, ``paced``); short messages of several operators get slots in
the order of the program (``in_order``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from numesh.shape import NodeShape
from pointsman.network import Topology
from pointsman.routing.errors import RoutingError
from pointsman.routing.streams import RoutedPhase, Stream
from pointsman.routing.validation import validate

from .assembly import assemble
from .in_order import in_better_order
from .in_turn import PlacedParts, in_turn, last_read, renumbered, sooner
from .paced.search import paced
from .packed import route_packed
from .problem import NodeLimits, RoutingPart, Site, split
from .rounds import route_rounds
from .share_search import Search
from .turn_order import in_order, is_in_turn


@dataclass(frozen=True)
class PhaseConditions:
    """Slots and routes that are taken before the streams of a phase are routed, and how the phase ends.

    Parameters
    ----------
    forbidden : collection of (node, port, slot)
        Link writes not to be used; the slot is that of the VFSM that writes.
    freed : mapping
        For the name of a stream, link writes of ``forbidden`` that it may use all the same.
    beside : sequence of RoutedPhase
        Fixed routes, whose slots, links, VFSMs and registers are taken. Same network, shape and period.
    had : sequence of int
        Words per period that the first streams had when routed with fewer other streams, or with more room: levels that give
        some of them more, and none of them less, are not tried.
    phase_change : bool
        Keep a slot for the reprogramming VFSM in pipeline 0 of every node in use (§7.1.4).
    """

    forbidden: Collection[tuple[int, int, int]] = ()
    freed: Mapping[str, Collection[tuple[int, int, int]]] = field(default_factory=dict)
    beside: Sequence[RoutedPhase] = ()
    had: Sequence[int] = ()
    phase_change: bool = True


ALONE = PhaseConditions()


def route_phase(
    streams: Sequence[Stream],
    topology: Topology,
    shape: NodeShape,
    *,
    period: int,
    seed: int = 0,
    effort: float = 1.0,
    progress: Callable[[str], None] | None = None,
    conditions: PhaseConditions = ALONE,
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
        Seed of the choice between routes that cost the same. Same input and seed: same result, on any machine.
    effort : float
        Work to spend on getting more words; the default is 1.0.
    progress : callable or None
        Called with a line of text for each attempt.
    conditions : PhaseConditions
        Slots and routes that are taken already.

    Raises
    ------
    RoutingError
        If the streams do not fit the network, or not every stream can have a word per period.
    """
    began = time.perf_counter()
    validate(streams, topology, shape, period, conditions.forbidden, effort)
    if (
        not conditions.beside
        and (made := route_rounds(streams, topology, shape, period, conditions.forbidden)) is not None
    ):
        return made
    if not conditions.beside and not conditions.had and any(stream.packed for stream in streams):
        packed = route_packed(streams, topology, shape, period, conditions.forbidden, seed)
        if packed is not None:
            return packed
    limits = NodeLimits(shape.pipelines, shape.vfsms, shape.registers, conditions.phase_change)

    def parts_of(chosen: Sequence[Stream], beside: Sequence[RoutedPhase]) -> list[tuple[RoutingPart, Site]]:
        return split(chosen, topology, shape, conditions.forbidden, beside, conditions.freed)

    def searched(some: Sequence[int], parts: list[tuple[RoutingPart, Site]]) -> PlacedParts:
        """Chains of the streams of these numbers, which are those of ``parts``."""
        chosen = [streams[k] for k in some]
        had = [conditions.had[k] for k in some if k < len(conditions.had)]
        return renumbered(Search(chosen, parts, limits, period, seed, effort, progress, had).run(), some)

    def ahead() -> PlacedParts | None:
        """Chains where words that processors pass on have got their slots first; None where that is of no use."""
        chosen = [streams[k] for k in first]
        placed = in_turn(chosen, split(chosen, topology, shape, conditions.forbidden), limits, period, seed)
        if placed is None:
            return None
        chains = assemble(chosen, topology, shape, period, placed)
        try:
            beside = [RoutedPhase(shape, topology, period, tuple(chosen), chains)]
            others = searched(rest, parts_of([streams[k] for k in rest], beside)) if rest else []
        except RoutingError:
            return None
        return [*renumbered(placed, first), *others]

    first = [k for k, stream in enumerate(streams) if is_in_turn(stream)] if not conditions.beside else []
    rest = sorted(set(range(len(streams))) - set(first))
    placed = ahead() if first and not rest else None
    if placed is None:
        parts = parts_of(streams, conditions.beside)
        if not conditions.beside and not conditions.had:
            placed = paced(streams, parts, limits, period, seed)
    if placed is None:
        placed = searched(range(len(streams)), parts)
        if first and rest:
            placed = sooner(streams, placed, limits, period)
        ordered = in_order(streams) if rest and not conditions.beside and not conditions.had else None
        if ordered is not None and (better := in_better_order(ordered, placed, limits, period, seed)) is not None:
            placed = better
        elif first and rest:
            other = ahead()
            if other is not None and _is_quicker(streams, other, placed, limits, period):
                placed = other
    routed = assemble(streams, topology, shape, period, placed)
    return RoutedPhase(
        shape, topology, period, tuple(streams), routed, time.perf_counter() - began, tuple(conditions.beside)
    )


def _is_quicker(
    streams: Sequence[Stream], one: PlacedParts, other: PlacedParts, limits: NodeLimits, period: int
) -> bool:
    """Do words that processors pass on come sooner with ``one`` than with ``other``, and the other streams have as many words?"""
    counts = []
    for placed in (one, other):
        words = [0] * len(streams)
        for site, _, chains in placed:
            for chain in chains:
                words[site.streams[chain.demand]] += len(chain.starts)
        counts.append(words)
    mine, theirs = counts
    if any(a < b for a, b in zip(mine, theirs, strict=True)):
        return False
    return last_read(streams, one, limits, period) < last_read(streams, other, limits, period)
