"""Blocks of the schedule memory for the phases of a plan, which may have to share them."""

from __future__ import annotations

from collections.abc import Sequence

from numesh.shape import NodeShape
from pointsman.errors import RefusedError
from pointsman.plan.memory.residency_plan import schedule_places
from pointsman.plan.plan import PlannedPhase
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


def second_blocks(
    structure: Structure, phases: Sequence[PlannedPhase], period: int, shape: NodeShape
) -> dict[int, int]:
    """By phase with two schedules, the block of the second one, behind the blocks of all phases.

    Raises
    ------
    RefusedError
        If there are not enough.
    """
    asking = [index for index, phase in enumerate(phases) if phase.routed.second]
    first = 1 + max(schedule_blocks(structure, period, shape).values(), default=0)
    if asking and (first + len(asking)) * period > shape.schedule_depth:
        depth = 1 << ((first + len(asking)) * period - 1).bit_length()
        raise RefusedError(
            f"phase '{phases[asking[0]].name}', which has two schedules,",
            resource="entries of the schedule memory",
            size=shape.schedule_depth,
            needed=depth,
            why=f"it holds {shape.schedule_depth // period} schedules of {period} slots, the loader's included",
            sizes={"schedule_depth": depth},
        )
    return {phase: first + k for k, phase in enumerate(asking)}
