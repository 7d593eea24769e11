"""Streams of one phase to routes and timeslots (Metcalf 1997, §7.1.3): where the planner enters the router.

Takes the streams of one phase; gives a ``RoutedPhase`` that keeps the rules of the node (§7.1.1, §7.1.4), or raises
``RoutingError``. It makes the smallest share (words per period over weight) as large as it can, then lets groups that
have room go on. Leaves alone the final numbers of registers and VFSMs, and judges nothing.

Method: streams that share no nodes are routed apart, look-alikes once (``problem``); short periods that divide the
period are tried first and repeated (``repetition``); chains are placed by negotiated congestion (``attempt``, ``rip_up``), each
as cheaply as present prices allow (``cheapest_path``).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from numesh.shape import NodeShape
from pointsman.network import Topology
from pointsman.routing.streams import RoutedPhase, Stream
from pointsman.routing.validation import validate

from .assembly import assemble
from .problem import NodeLimits, split
from .share_search import Search


@dataclass(frozen=True)
class PhaseConditions:
    """What the streams of a phase are routed beside, and how the phase is left.

    Parameters
    ----------
    forbidden : collection of (node, port, slot)
        Link writes not to be used; the slot is that of the VFSM that writes.
    freed : mapping
        By name of a stream, those of ``forbidden`` that it may use all the same.
    beside : sequence of RoutedPhase
        Routes that stay: their slots, links, VFSMs and registers are taken. Same network, shape and period.
    had : sequence of int
        Words a period that the first streams had when they were routed with fewer others, or with more room: more than that
        for some, and no less for the others, is not tried.
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
        Of the choice between routes that cost the same. Same input and seed: same result, on any machine.
    effort : float
        Work to spend on more words, 1.0 being usual.
    progress : callable or None
        Told in a line what is being tried.
    conditions : PhaseConditions
        What is taken already.

    Raises
    ------
    RoutingError
        If the streams make no sense here, or not every stream can have a word per period.
    """
    began = time.perf_counter()
    validate(streams, topology, shape, period, conditions.forbidden, effort)
    parts = (
        split(streams, topology, shape, conditions.forbidden, conditions.beside, conditions.freed) if streams else []
    )
    limits = NodeLimits(shape.pipelines, shape.vfsms, shape.registers, conditions.phase_change)
    search = Search(streams, parts, limits, period, seed, effort, progress, conditions.had)
    placed = search.run()
    routed = assemble(streams, topology, shape, period, placed)
    return RoutedPhase(
        shape, topology, period, tuple(streams), routed, time.perf_counter() - began, tuple(conditions.beside)
    )
