"""Blocks of the schedule memory for the phases of a plan, which may have to share them."""

from __future__ import annotations

from numesh.shape import NodeShape
from pointsman.plan.memory.residency_plan import schedule_places
from pointsman.plan.structure.structure import Structure


def schedule_blocks(structure: Structure, period: int, shape: NodeShape) -> dict[int, int]:
    """By phase, its block of the schedule memory, from 1 (block 0 is the loader's): a block each if there are enough,
    else shared by phases that come long after each other (Metcalf 1997, §5.4.1)."""
    phases, blocks = range(len(structure.phases)), shape.schedule_depth // period - 1
    if len(phases) <= blocks:
        return {phase: phase + 1 for phase in phases}
    # While a phase is loaded the loader phase runs, so phases that follow each other may share a block where they must.
    places = schedule_places(phases, structure.graph, blocks, apart_at_least=1)
    return {phase: place + 1 for phase, place in places.items()}
