"""All phases of a division: each planned alone, then again where their wires or memories conflict.

A phase whose wires collide with those of a later phase is closed by a barrier that joins the nodes which may send in
the later, or the later is routed around it; a phase that keeps registers or VFSMs which others need gets a barrier.
Takes a `PlanContext` and initial `Constraints`; gives planned phases without conflicts, with the cycles to settle after
each and to load them again. How each phase is done and ends is for ``drafts``. Leaves alone: VFSM and register numbers,
memory addresses (targets). Source: Metcalf 1997, Table 5.2, §5.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf

from pointsman.plan.conflicts.collisions import collisions, settling, turned_round
from pointsman.plan.conflicts.freed_links import Freed
from pointsman.plan.conflicts.link_slots import Link, keep_off, link_writes
from pointsman.plan.conflicts.reroute import reroute
from pointsman.plan.conflicts.thread_barriers import all_meet, comes_next, odd_one, refuse_crossing, unsolved
from pointsman.plan.conflicts.writers import word_spans
from pointsman.plan.context import PlanContext
from pointsman.plan.continuing.slots import with_more_slots
from pointsman.plan.errors import PlanError
from pointsman.plan.memory.capacity import crowding_phase
from pointsman.plan.memory.misses import predicted_misses
from pointsman.plan.plan import PlannedPhase

from .closing import barrier_of, cycles_of_barrier
from .constraints import Constraints
from .drafts import plan_phase

DETOUR = 1.5
"""Factor on the cycles that a phase may take around wires of others, up to which it may exceed them with its barrier: what
barriers cost elsewhere is a rough estimate."""
CROWDED_OUT = 1.2
"""Factor by which barriers may lengthen phases, as they take slots from operators, before longer detours are tried."""


class TooSlowError(Exception):
    """The phases take as many cycles as the limit, or more."""


@dataclass(frozen=True, eq=False)
class PhaseSet:
    """The phases of a division, by index, and the constraints under which they have been planned."""

    planned: tuple[PlannedPhase, ...]
    constraints: Constraints

    def again(self, context: PlanContext, index: int, constraints: Constraints) -> PhaseSet:
        """Plan phase ``index`` again under other constraints.

        Raises
        ------
        PlanError
            If it cannot be routed under them.
        """
        phase = plan_phase(context, constraints, index)
        assert phase is not None
        return PhaseSet((*self.planned[:index], phase, *self.planned[index + 1 :]), constraints)

    @property
    def cycles(self) -> float:
        """Cycles of all phases."""
        return sum(phase.cycles for phase in self.planned)


def plan_phases(
    context: PlanContext, constraints: Constraints, limit: float, least: Sequence[float] = ()
) -> list[PlannedPhase] | None:
    """Planned phases without conflicts; None if their cycles reach ``limit`` before conflicts are looked at.

    Parameters
    ----------
    least : sequence of float
        By phase, the cycles that it takes at least; empty if not known.

    Raises
    ------
    TooSlowError
        If their cycles reach ``limit`` once conflicts are solved.
    PlanError
        If a phase cannot be routed, or conflicts cannot be solved.
    """
    structure, shape = context.structure, context.shape
    planned: list[PlannedPhase] = []
    for index in range(len(structure.phases)):
        rest = limit - sum(least[index + 1 :]) - sum(before.cycles for before in planned)
        with refusal_kept(context, index):
            phase = plan_phase(context, constraints, index, rest)
        if phase is None:
            return None
        planned.append(phase)
    # Beside continuing operators a phase that is planned again may also become quicker, so no limit holds.
    limit = inf if structure.through else limit
    planned = list(_apart(context, PhaseSet(tuple(planned), constraints), limit).planned)
    if constraints.standing.operators:
        planned = with_more_slots(planned, constraints.standing.operators, structure, shape)
    refuse_crossing(structure, planned)
    return _with_reloads(context, constraints, settled(context, planned))


@contextmanager
def refusal_kept(context: PlanContext, index: int) -> Iterator[None]:
    """Keep it if a phase cannot be planned here, or not with the barrier that it needs: most likely it cannot be in another
    division either."""
    try:
        yield
    except PlanError:
        context.memo.refused.add(context.refused_key(index))
        raise


def _apart(context: PlanContext, phases: PhaseSet, limit: float) -> PhaseSet:
    """The phases without conflicts. Where barriers crowd out the words of operators, longer detours may be quicker."""
    free = _rerouted(context, phases, limit)
    apart = keep_apart(context, free, limit)
    if apart.cycles <= CROWDED_OUT * free.cycles:
        return apart
    try:
        around = keep_apart(context, _rerouted(context, phases, limit, apart.cycles - free.cycles), limit)
    except (PlanError, TooSlowError):
        return apart
    return min(apart, around, key=lambda one: one.cycles)


def _rerouted(context: PlanContext, phases: PhaseSet, limit: float, lost: float = 0.0) -> PhaseSet:
    """Route phases again around wires of others, where that costs less than barriers. ``lost``: cycles that barriers take from
    operators, beside their own."""

    def again(
        planned: Sequence[PlannedPhase],
        later: int,
        taken: Mapping[int, frozenset[Link]],
        instead: Iterable[int],
        freed: Freed,
    ) -> PlannedPhase | None:
        """A phase routed again off the links and slots in ``taken``; None if that costs more than barriers at the ends
        of ``instead``, or cannot be done."""
        saved = lost
        for earlier in instead:
            barrier = barrier_of(context, phases.constraints, earlier, planned[earlier].routed)
            saved += context.structure.phases[earlier].exits * cycles_of_barrier(context, barrier)
        # Waits that are not needed only make it quicker.
        left = limit - sum(one.cycles for one in planned)
        left = left if left > saved else _left(context, planned, limit)
        try:
            constraints = phases.constraints.taking(later, taken, freed)
            most = planned[later].cycles + min(saved, left)
            # Where operators find no detour as they are, they hardly ever find one done in another way, and trying takes long.
            only = tuple(one.implementation for one in planned[later].operators)
            found = plan_phase(context, constraints, later, most, only)
            if found is not None and found.cycles > DETOUR * most:
                found = None  # the barrier of its own has taken what the detour left it
        except PlanError:
            found = None
        if found is None and saved >= left:
            # With the detour as with the barriers the phases reach the limit.
            raise TooSlowError
        return found

    aliased = context.shape.aliased_handshake
    planned, constraints = list(phases.planned), phases.constraints
    for index, one in reroute(context.structure, planned, again, aliased_handshake=aliased).items():
        planned[index] = one.phase
        constraints = constraints.taking(index, one.taken, one.freed)
    return PhaseSet(tuple(planned), constraints)


def keep_apart(context: PlanContext, phases: PhaseSet, limit: float = inf) -> PhaseSet:
    """Plan phases again until none can take words of another phase for its own.

    Where the wires of a phase collide with those of a later phase, all nodes that may send in the later have to wait in
    a barrier until all have left the earlier. A phase gets other routes with a barrier, so all pairs are checked again.

    Raises
    ------
    TooSlowError
        If the phases reach ``limit`` cycles.
    PlanError
        If they cannot be kept apart.
    """
    structure, aliased = context.structure, context.shape.aliased_handshake
    _refuse_slow(context, phases, limit)
    refuse_crossing(structure, phases.planned)
    crowded_out: list[str] = []
    for _ in range(len(phases.planned) ** 2 + 1):
        collided = collisions(phases.planned, structure, aliased_handshake=aliased)
        found = unsolved(structure, phases.planned, collided, phases.constraints.joined)
        for earlier, later, link in found:
            if all_meet(structure, phases.planned[earlier]):
                continue  # since an earlier pair has been kept apart
            before, phases = phases, _separate(context, phases, earlier, later, link)
            if phases.planned is not before.planned:
                _refuse_slow(context, phases, limit)
        if found:
            continue
        turned = turned_round(phases.planned, structure) if aliased else {}
        if turned:
            phases = _turn_back(context, phases, turned)
            continue
        standing = [alone for _, alone in phases.constraints.standing.operators]
        keeps = crowding_phase(phases.planned, standing, context.shape, structure)
        if keeps is None or keeps[0] in phases.constraints.reasons:
            return phases
        index, reason = keeps
        crowded_out.append(f"'{phases.planned[index].name}' has to have a barrier because {reason}")
        with refusal_kept(context, index):
            phases = phases.again(context, index, phases.constraints.closing(index, reason))
    why = f"; {'; '.join(crowded_out)}" if crowded_out else ""
    raise PlanError(f"the wires of its phases cannot be kept apart with {context.period} slots{why}")


def _separate(context: PlanContext, phases: PhaseSet, earlier: int, later: int, link: Link) -> PhaseSet:
    """Plan one of two phases with the same wires again: the earlier with a barrier of all nodes that may send in the
    later, or, if threads may not wait for each other there, the later on other wires."""
    planned, constraints, structure = phases.planned, phases.constraints, context.structure
    nearest = comes_next(structure, planned, earlier, later)
    spans = word_spans(planned[later], planned[earlier]) if nearest else None
    joined = constraints.joining(earlier, later, spans)
    node, port, slot = link
    # A reason that gave the phase a barrier before is kept.
    closing = joined.closing(
        earlier,
        f"the link at port {port} of node {node} carries words in slot {slot} in this phase and in "
        f"'{planned[later].name}'",
    )
    stands = planned[earlier].barrier
    met = [] if stands is None else [set(one.nodes) for one in stands.operator.instances]
    if spans and any(planned[earlier].nodes.union(*spans) <= nodes for nodes in met):
        return PhaseSet(planned, closing)  # it got that barrier because of another phase
    barrier = barrier_of(context, joined, earlier, planned[earlier].routed, planned[earlier].part)
    if any(odd_one(structure, earlier, instance.nodes) is not None for instance in barrier.instances):
        off = keep_off(planned[earlier].routed, aliased_handshake=context.shape.aliased_handshake)
        taken = {**constraints.taken.get(later, {}), earlier: off}
        return phases.again(context, later, constraints.parting(earlier, later).taking(later, taken))
    if met and all(any(nodes.issuperset(one.nodes) for nodes in met) for one in barrier.instances):
        return PhaseSet(planned, closing)
    with refusal_kept(context, earlier):
        try:
            return phases.again(context, earlier, closing)
        except PlanError:
            # The phase may have been routed around others to save the barrier that it gets now; then the detour is not needed.
            if not constraints.taken.get(earlier):
                raise
            return phases.again(context, earlier, closing.free(earlier))


def _turn_back(context: PlanContext, phases: PhaseSet, turned: Mapping[tuple[int, int], frozenset[Link]]) -> PhaseSet:
    """Plan phases again that come right behind a barrier, off wires that the phase before uses in the other direction.
    ``turned``: by (earlier, later), links and slots that the later must not write."""
    moved: set[int] = set()
    for (earlier, later), links in turned.items():
        if not moved.isdisjoint((earlier, later)):
            continue
        try:
            phases = _plan_off(context, phases, later, earlier, links)
            moved.add(later)
        except PlanError:
            at_port = context.program.topology.at_port
            back = frozenset((*at_port[n][port], slot) for n, port, slot in link_writes(phases.planned[later].routed))
            phases = _plan_off(context, phases, earlier, later, back)
            moved.add(earlier)
    return phases


def _plan_off(context: PlanContext, phases: PhaseSet, index: int, other: int, links: frozenset[Link]) -> PhaseSet:
    """Plan phase ``index`` again without ``links``, which phase ``other`` uses."""
    before = phases.constraints.taken.get(index, {})
    taken = {**before, other: before.get(other, frozenset()) | links}
    return phases.again(context, index, phases.constraints.taking(index, taken))


def _left(context: PlanContext, planned: Sequence[PlannedPhase], limit: float) -> float:
    """Cycles left until ``limit``, with the waits for neighbours that the phases need now."""
    return limit if limit == inf else limit - sum(one.cycles for one in settled(context, planned, straight=True))


def _refuse_slow(context: PlanContext, phases: PhaseSet, limit: float) -> None:
    # Waits that are not needed only make it quicker.
    if sum(one.cycles for one in phases.planned) >= limit and _left(context, phases.planned, limit) <= 0:
        raise TooSlowError


def settled(context: PlanContext, planned: Sequence[PlannedPhase], *, straight: bool = False) -> list[PlannedPhase]:
    """The phases with ``settles`` filled in, and without the cycles to wait for neighbours where no successor needs the wait.
    ``straight``: ``settles`` only with phases that may come straight after, which do for the cycles."""
    aliased = context.shape.aliased_handshake
    needed = settling(planned, context.structure, aliased_handshake=aliased, straight=straight)
    found = []
    for index, (before, settles) in enumerate(zip(planned, needed, strict=True)):
        more = 0.0
        if (
            before.barrier is not None
            and settles is not None
            and settles.isdisjoint(context.structure.successors[index])
        ):
            more = -before.exits * before.settle
        found.append(replace(before, settles=settles, cycles=before.cycles + more, changing=before.changing + more))
    return found


def _with_reloads(
    context: PlanContext, constraints: Constraints, planned: Sequence[PlannedPhase]
) -> list[PlannedPhase]:
    """The phases with the cycles of loading them again, where they take turns in the routers' memories."""
    standing = [alone for _, alone in constraints.standing.operators]
    misses = predicted_misses(planned, context.structure, context.period, context.shape, standing)
    found = list(planned)
    for index, miss in misses.items():
        before, more = planned[index], miss.cycles
        found[index] = replace(before, cycles=before.cycles + more, changing=before.changing + more)
    return found
