"""Do the VFSMs and interface registers of a plan fit the nodes, before they get their numbers (``targets``)?"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from numesh.shape import NodeShape
from pointsman.errors import RefusedError
from pointsman.operators import Wiring
from pointsman.plan.plan import Plan, PlannedPhase
from pointsman.plan.structure.structure import Structure
from pointsman.routing.errors import RoutingError
from pointsman.routing.streams import Stream

from .kept_registers import keeps_registers
from .schedule_blocks import second_blocks
from .vfsm_numbers import CrowdedError, reserved, vfsm_numbers


def refuse_overfull_plan(plan: Plan) -> None:
    """Refuse a plan that no node can hold.

    Raises
    ------
    CrowdedError
        If a pipeline has too few VFSMs for a phase beside those that are kept.
    RefusedError
        If a node has too few interface registers, or the schedule memory no room for second schedules.
    """
    second_blocks(plan.structure, plan.phases, plan.period, plan.shape)
    vfsm_numbers(
        plan.phases, plan.structure, plan.shape, reserved([one.planned for one in plan.continuing], plan.shape)
    )
    phases = [*plan.phases, *(one.planned for one in plan.continuing)]
    keeps = [*keeps_registers(plan.structure, plan.phases), *(True for _ in plan.continuing)]
    refuse_few_registers(phases, plan.shape, keeps)


def refuse_few_registers(phases: Sequence[PlannedPhase], shape: NodeShape, keeps: Sequence[bool]) -> None:
    """Raise `RefusedError` if a node has too few interface registers for ``phases``. Those of ``keeps`` have registers of their
    own, all others share the rest."""
    full = _full(phases, shape, keeps)
    if full is None:
        return
    index, node, left = full
    needed = _most_registers(phases, shape, keeps)
    raise RefusedError(
        f"phase '{phases[index].name}'",
        resource="interface registers a node",
        size=shape.registers,
        needed=needed,
        why=f"it has {phases[index].wiring.registers_used[node]} at node {node}, which has {left} left",
        sizes={"registers": needed},
    )


def registers_needed(plan: Plan) -> int:
    """Interface registers that a node must have at least for a plan that fits."""
    phases = [*plan.phases, *(one.planned for one in plan.continuing)]
    keeps = [*keeps_registers(plan.structure, plan.phases), *(True for _ in plan.continuing)]
    return _most_registers(phases, plan.shape, keeps)


def _most_registers(phases: Sequence[PlannedPhase], shape: NodeShape, keeps: Sequence[bool]) -> int:
    kept: dict[int, int] = defaultdict(lambda: shape.pipelines)
    shared: dict[int, int] = defaultdict(int)
    for phase, keep in zip(phases, keeps, strict=True):
        for where, count in phase.wiring.registers_used.items():
            kept[where] += count if keep else 0
            shared[where] = max(shared[where], 0 if keep else count)
    return max((kept[where] + shared[where] for where in {*kept, *shared}), default=shape.pipelines)


def crowding_phase(
    phases: Sequence[PlannedPhase], standing: Sequence[PlannedPhase], shape: NodeShape, structure: Structure
) -> tuple[int, str] | None:
    """Of phases that keep registers or VFSMs because nodes leave them without a barrier: the phase that keeps most at a
    node where another phase lacks some, with a text of what is missing. None if all fit, or if no such phase is there.
    ``standing``: operators that continue, and keep theirs in any case."""
    keeps = [*keeps_registers(structure, phases), *(True for _ in standing)]
    full = _full([*phases, *standing], shape, keeps)
    if full is not None:
        crowded, node, _ = full
        what = f"interface registers of node {node}"
        needy = [*phases, *standing][crowded].name
        used = {i: phase.wiring.registers_used.get(node, 0) for i, phase in enumerate(phases) if keeps[i]}
    else:
        try:
            vfsm_numbers(phases, structure, shape, reserved(standing, shape))
        except CrowdedError as error:
            what, needy = f"VFSMs of node {error.node}", error.phase
            used = {i: _vfsms_at(phases[i], error.node) for i in error.kept if phases[i].loose}
        else:
            return None
    index = max(used, key=lambda i: (used[i], i), default=None)
    if index is None or not used[index]:
        return None
    return index, f"phase '{needy}' needs {what} that this one would keep without"


def _vfsms_at(phase: PlannedPhase, node: int) -> int:
    return sum(vfsm.node == node for chain in phase.routed.chains for vfsm in chain.vfsms)


def _full(phases: Sequence[PlannedPhase], shape: NodeShape, keeps: Sequence[bool]) -> tuple[int, int, int] | None:
    """A phase for which a node has too few registers, the node, and how many are left there; None if all fit. Phases of
    ``keeps`` have registers of their own, all others share the rest."""
    kept: dict[int, int] = defaultdict(lambda: shape.pipelines)
    for index in sorted(range(len(phases)), key=lambda i: not keeps[i]):
        for node, count in phases[index].wiring.registers_used.items():
            if kept[node] + count > shape.registers:
                return index, node, shape.registers - kept[node]
            if keeps[index]:
                kept[node] += count
    return None


def refuse_many_streams(streams: Iterable[Stream], shape: NodeShape) -> None:
    """Raise `RoutingError` if a word of every stream needs more interface registers than a node has, wherever it is routed:
    one where a stream begins, and one where it ends unless it ends in the register of another."""
    ends = Counter[int]()
    for stream in streams:
        ends[stream.source] += 1
        if stream.into is None:
            ends.update(stream.destinations)
    full = [node for node, count in ends.items() if count > shape.registers - shape.pipelines]
    if full:
        raise RoutingError(
            f"node {min(full)} has too few interface registers for one word of every stream and of the barrier",
            hint="a shape with more interface registers, or fewer streams in one phase",
        )


def refuse_overfull_phase(wiring: Wiring, shape: NodeShape) -> None:
    """Raise `RoutingError` if a phase alone needs more interface registers than a node has."""
    room = shape.registers - shape.pipelines
    for node, count in sorted(wiring.registers_used.items()):
        if count > room:
            raise RoutingError(
                f"node {node} would need {count} interface registers and has {room} besides its command registers",
                hint="use fewer operators, another implementation, or a node with more interface registers",
            )
