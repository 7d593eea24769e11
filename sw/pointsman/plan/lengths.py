"""Structure and node -> schedule lengths to try."""

from __future__ import annotations

from numesh.shape import NodeShape

from .roles import PlanError
from .structure import Structure

PERIODS = (8, 16, 24, 32, 40)
"""Schedule lengths among which the compiler chooses."""
RESIDENT = 2
"""Least phases that the schedule memory must hold besides the loader phase."""


def schedule_lengths(structure: Structure, shape: NodeShape, asked: int | None) -> list[int]:
    """Schedule lengths to try: the one that was asked for, or those with which all phases fit the schedule memory; failing
    that, those with which it holds two besides the loader's, so that the others take turns."""
    blocks = len(structure.phases) + 1
    least = min(blocks, 1 + RESIDENT)
    fitting = [p for p in PERIODS if blocks * p <= shape.schedule_depth]
    sharing = [p for p in PERIODS if least * p <= shape.schedule_depth]
    lengths = [asked] if asked is not None else fitting or sharing or [max(2, shape.schedule_depth // least)]
    if least * lengths[0] > shape.schedule_depth:
        raise PlanError(
            f"{least - 1} phases and the loader phase of {lengths[0]} slots each do not fit a schedule "
            f"memory of {shape.schedule_depth} entries",
            hint="use a shorter schedule, fewer phases, or a node with a deeper schedule memory",
        )
    return lengths
