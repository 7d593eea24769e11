"""Fixed routes: VFSMs, slots and links of a part that are taken before its streams are routed.

A continuing operator keeps its VFSMs and slots in all of its phases (Metcalf 1997, §5.1.2), so they are obstacles to the other
streams of each phase. Takes the chains beside a phase; gives a row for each of their VFSMs in the numbers of a part, and
counts the rows into the tables of ``repetition`` (``arrays`` counts them into those of a negotiation).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pointsman.routing.streams import RoutedPhase


@dataclass(frozen=True)
class FixedVfsm:
    """A VFSM of a fixed route: its place and slots, the wire that it writes (-1: none), and its accesses to the interface."""

    node: int
    pipeline: int
    slots: tuple[int, ...]
    wire: int
    reads: bool
    writes: bool


def fixed_vfsms(
    beside: Sequence[RoutedPhase], local: Mapping[int, int], wire_at: Mapping[tuple[int, int], int]
) -> tuple[FixedVfsm, ...]:
    """Rows for the VFSMs of ``beside`` at nodes of a part. ``local``: number in the part; ``wire_at``: wire by (node, port)."""
    found = []
    for routed in beside:
        for chain in routed.chains:
            for vfsm in chain.vfsms:
                if vfsm.node not in local:
                    continue
                to = vfsm.destination
                wire = wire_at.get((vfsm.node, to.number), -1) if to.kind == "link" else -1
                found.append(
                    FixedVfsm(
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
    """The routes of operator ``one`` among those ``beside`` another phase (same streams, perhaps other slots); None if absent."""
    return next((other for other in beside if other.streams == one.streams), None)


def count_cells(rows: Sequence[FixedVfsm], use: np.ndarray, writers: np.ndarray, pipelines: int) -> None:
    """Count the rows into tables of VFSM slots and of writes to the interface, by place and slot."""
    for one in rows:
        place = one.node * pipelines + one.pipeline
        use[place, list(one.slots)] += 1
        if one.writes:
            writers[place, list(one.slots)] += 1


def registers_held(rows: Sequence[FixedVfsm], nodes: int) -> list[int]:
    """Interface registers that the fixed routes hold at each node, at most."""
    held = [0] * nodes
    for one in rows:
        held[one.node] += one.reads + one.writes
    return held
