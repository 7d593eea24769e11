"""Routes that stand while others are routed around them: what they take up of a part.

A continuing operator keeps its VFSMs and slots in all of its phases (Metcalf 1997, §5.1.2), so they are obstacles to the other
streams of each phase. Takes the chains beside a phase; gives rows in the numbers of a part, and counts them into the tables of
the negotiation and of the thinning of short periods, both with any period that divides theirs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pointsman.routing.streams import RoutedPhase

if TYPE_CHECKING:
    from .rip_up import Use

PRICE = 1 << 12
"""Put on what is taken from the first: no negotiation will make it free."""


@dataclass(frozen=True)
class Standing:
    """A VFSM that stands: where, when, and which wire (-1: none) and interface access it has."""

    node: int
    pipeline: int
    slots: tuple[int, ...]
    wire: int
    reads: bool
    writes: bool


def standing(
    beside: Sequence[RoutedPhase], local: Mapping[int, int], wire_at: Mapping[tuple[int, int], int]
) -> tuple[Standing, ...]:
    """Rows for the nodes of a part (``local``: their numbers in it); ``wire_at``: wires by node and port."""
    found = []
    for routed in beside:
        for chain in routed.chains:
            for vfsm in chain.vfsms:
                if vfsm.node not in local:
                    continue
                to = vfsm.destination
                wire = wire_at.get((vfsm.node, to.number), -1) if to.kind == "link" else -1
                found.append(
                    Standing(
                        local[vfsm.node],
                        vfsm.pipeline,
                        vfsm.slots,
                        wire,
                        vfsm.source.kind in ("inject", "register"),
                        to.kind in ("deliver", "register"),
                    )
                )
    return tuple(sorted(found, key=lambda one: (one.node, one.pipeline, one.slots)))


def goes_on(one: RoutedPhase, beside: Iterable[RoutedPhase]) -> RoutedPhase | None:
    """The same streams among what stands beside another phase, where they may have other slots; None if they are not there."""
    return next((other for other in beside if other.streams == one.streams), None)


def count_in(rows: Sequence[Standing], use: Use, pipelines: int, slots: int) -> None:
    """Count VFSMs that stand into the tables of a negotiation of ``slots`` slots. Accesses to the interface are under no
    condition, so they meet all others."""
    for one in rows:
        place = one.node * pipelines + one.pipeline
        use.numbers[place] += 1
        for slot in sorted({slot % slots for slot in one.slots}):
            use.cells[place, slot] = 1
            use.cell_history[place, slot] = PRICE
            if one.wire >= 0:
                use.wires[one.wire, slot] = 1
                use.wire_history[one.wire, slot] = PRICE
            if one.reads:
                use.readers[0, place, slot] = 1
                use.readers_met[:, place, slot] = 1
                use.turn_history[place, slot - 1] = PRICE
            if one.writes:
                use.writers[0, place, slot] = 1
                use.writers_met[:, place, slot] = 1
                use.turn_history[place, slot] = PRICE


def count_cells(rows: Sequence[Standing], use: np.ndarray, writers: np.ndarray, pipelines: int) -> None:
    """Count them into tables of VFSM slots and of writes to the interface, by place and slot."""
    for one in rows:
        place = one.node * pipelines + one.pipeline
        use[place, list(one.slots)] += 1
        if one.writes:
            writers[place, list(one.slots)] += 1


def registers_held(rows: Sequence[Standing], nodes: int) -> list[int]:
    """Interface registers by node, at most."""
    held = [0] * nodes
    for one in rows:
        held[one.node] += one.reads + one.writes
    return held
