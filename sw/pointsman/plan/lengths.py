"""Structure and node -> schedule lengths to try."""

from __future__ import annotations

from numesh.shape import NodeShape

from .roles import PlanError
from .structure import Structure

PERIODS = (8, 16, 24, 32, 40)
"""Schedule lengths among which the compiler chooses."""


def schedule_lengths(structure: Structure, shape: NodeShape, asked: int | None) -> list[int]:
    """Schedule lengths to try: the one that was asked for, or those with which all phases fit the schedule memory."""
    blocks = len(structure.phases) + 1
    fitting = [p for p in PERIODS if blocks * p <= shape.schedule_depth]
    lengths = [asked] if asked is not None else fitting or [max(2, shape.schedule_depth // blocks)]
    if blocks * lengths[0] > shape.schedule_depth:
        raise PlanError(
            f"{len(structure.phases)} phases and the loader phase of {lengths[0]} slots each do not fit a schedule "
            f"memory of {shape.schedule_depth} entries",
            hint="use a shorter schedule, fewer phases, or a node with a deeper schedule memory",
        )
    return lengths
