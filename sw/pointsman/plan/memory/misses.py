"""Routed phases -> how often each is loaded into the routers again, and the cycles of that: misses are predicted
(Metcalf 1997, §6.2.5, "future extension").

Takes phases and their order. A phase is loaded again when a phase with its place in the schedule memory, or with some of its
VFSMs at some node, has run in between; that is no more often than it is entered, nor than those phases run. A node that loads
has left the phase before, so loading runs during the time to settle after a barrier, and only the rest of it costs cycles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from numesh.codes import POINTER_LATENCY, Codes
from numesh.shape import NodeShape
from pointsman.plan.errors import PlanError
from pointsman.plan.plan import PlannedPhase
from pointsman.plan.structure.phase_graph import Distances
from pointsman.plan.structure.structure import Structure

from .residency_plan import again
from .schedule_blocks import schedule_blocks
from .vfsm_numbers import reserved, vfsm_numbers

WORD = 2
"""Cycles for a word of a command in the loader phase."""
BACK = POINTER_LATENCY + 8
"""Cycles for the change from the loader phase to the next phase, which a node that loads nothing does not need."""


@dataclass(frozen=True)
class Misses:
    """Loads of a phase in a whole run, at the node that has most to load."""

    loads: float
    """How often the phase is loaded again; the first load is not counted."""
    router: float
    """Cycles in which a node's processor sends commands for that."""
    cycles: float
    """Cycles that loading and going back from the loader phase add, beyond those spent waiting for neighbours anyway."""


def predicted_misses(
    planned: Sequence[PlannedPhase],
    structure: Structure,
    period: int,
    shape: NodeShape,
    standing: Sequence[PlannedPhase] = (),
) -> dict[int, Misses]:
    """By phase, its misses; only phases loaded more than once. ``standing``: operators that continue, and keep their VFSMs."""
    exits = {i: max(1.0, phase.exits) for i, phase in enumerate(structure.phases)}
    blocks = schedule_blocks(structure, period, shape)
    between = structure.graph.distances
    found: dict[int, Misses] = {}
    word = WORD * Codes(shape).command_words
    for index, (count, vfsms) in _vfsm_loads(planned, structure, shape, standing, exits, between).items():
        rivals = [j for j, block in blocks.items() if j != index and block == blocks[index]]
        whole = again(index, rivals, exits, between)
        loads = max(whole, count)
        vfsms = vfsms if count else 0
        if loads <= 0:
            continue
        spent = (whole * period + loads * vfsms) * word
        before = [planned[i].settle for i, after in structure.successors.items() if i >= 0 and index in after]
        hidden = min(before, default=0)
        each = spent / loads + BACK
        found[index] = Misses(loads, spent, loads * max(0.0, each - hidden))
    return found


def _vfsm_loads(
    planned: Sequence[PlannedPhase],
    structure: Structure,
    shape: NodeShape,
    standing: Sequence[PlannedPhase],
    exits: dict[int, float],
    between: Distances,
) -> dict[int, tuple[float, int]]:
    """By phase, how often VFSMs are loaded again at the worst node, and how many in its fullest pipeline."""
    found = dict.fromkeys(range(len(planned)), (0.0, 0))
    try:
        numbers = vfsm_numbers(planned, structure, shape, reserved(standing, shape))
    except PlanError:
        return found  # refused later
    for node in {node for by_node in numbers for node in by_node}:
        here = {i: by_node[node] for i, by_node in enumerate(numbers) if node in by_node}
        places = {
            i: {(p, n) for p, own in zip(one.pipelines, one.numbers, strict=True) for n in own}
            for i, one in here.items()
        }
        for i, own in places.items():
            rivals = [j for j in places if j != i and places[j] & own]
            if rivals:
                shared = set().union(*(own & places[j] for j in rivals))
                count = again(i, rivals, exits, between)
                most = max(sum(p == q for p, _ in shared) for q in range(shape.pipelines))
                found[i] = max(found[i], (count, most))
    return found
