"""Candidate -> Plan, or why not: the phases of one division are planned with one schedule length, so that they go together.

How each is done and ends is for ``phase_planner``. A phase whose wires collide with another's is routed around it, or closed by a
barrier that joins those who may send in the other; one that keeps registers or VFSMs which others need gets a barrier.
Leaves alone: VFSM and register numbers, memory addresses (targets).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf

from pointsman.plan.conflicts.collisions import collisions, settling, turned_round
from pointsman.plan.conflicts.freed_links import Freed
from pointsman.plan.conflicts.link_slots import Link, keep_off, link_writes
from pointsman.plan.conflicts.reroute import reroute
from pointsman.plan.conflicts.thread_barriers import comes_next, odd_one, refuse_crossing, unsolved
from pointsman.plan.conflicts.writers import word_spans
from pointsman.plan.continuing.operators import continuing
from pointsman.plan.continuing.routes import plan_beside
from pointsman.plan.continuing.slots import with_more_slots
from pointsman.plan.errors import PlanError
from pointsman.plan.membership.leaving import leaving
from pointsman.plan.membership.loop_rounds import refuse_missed_rounds
from pointsman.plan.membership.schedule_choice import refuse_split_barriers
from pointsman.plan.membership.transit import refuse_secret_phases
from pointsman.plan.memory.capacity import crowding_phase
from pointsman.plan.memory.misses import predicted_misses
from pointsman.plan.plan import Leaving, Plan, PlannedPhase

from .drafts import PhasePlanner


class _TooSlowError(Exception):
    """Phases reach the limit."""


class Planner(PhasePlanner):
    """One attempt: one schedule length."""

    def forget(self) -> None:
        super().forget()
        self.reasons: dict[int, str] = {}
        """By phase, why it needs a barrier though it could end by messages."""
        self.least: list[float] = []
        """By phase, what it takes at least, if that has been found out."""
        self.limit = inf
        """Cycles from which on phases that are all planned are given up."""

    def plan(self, name: str, limit: float) -> Plan | None:
        """The plan, or None as soon as its predicted cycles reach ``limit``."""
        if self.structure.through:
            return plan_beside(self, name, limit)
        # What continues leaves phases other room each time they are planned again, so they may come to less in the end.
        self.limit = limit
        try:
            return self.plan_phases(name, limit)
        except _TooSlowError:
            return None

    def draft(self) -> float | None:
        """What the phases take at least, about, before they are closed and kept apart; None where others continue through
        phases.

        Raises
        ------
        PlanError
            If a phase cannot be routed.
        """
        if self.structure.through:
            return None
        self.least = [self.least_cycles(index) for index in range(len(self.structure.phases))]
        return sum(self.least)

    def plan_phases(self, name: str, limit: float) -> Plan | None:
        """The plan with what stands already."""
        planned: list[PlannedPhase] = []
        for i in range(len(self.structure.phases)):
            rest = limit - sum(self.least[i + 1 :]) - sum(before.cycles for before in planned)
            phase = self.plan_phase(i, self.reasons.get(i), rest)
            if phase is None:
                return None
            planned.append(phase)
        self.taken |= reroute(
            self.structure, planned, self._on_other_wires, aliased_handshake=self.shape.aliased_handshake
        )
        self._refuse_slow(planned)
        refuse_crossing(self.structure, planned)
        # Where the wires of a phase collide with those of a later one, everybody who may send in the later one has to
        # wait in a barrier until all have left the earlier. Its own route changes with that, so look again.
        crowded_out: list[str] = []
        for _ in range(len(planned) ** 2 + 1):
            found = unsolved(self.structure, planned, self._collisions(planned), self.joined)
            for earlier, later, link in found:
                self._separate(planned, earlier, later, link)
                self._refuse_slow(planned)
            if found or self._turn_nothing_round(planned):
                continue
            keeps = crowding_phase(planned, [alone for _, alone in self.standing], self.shape, self.structure)
            if keeps is None or keeps[0] in self.reasons:
                break
            index, self.reasons[keeps[0]] = keeps
            crowded_out.append(f"'{planned[index].name}' has to have a barrier because {keeps[1]}")
            crowded = self.plan_phase(index, self.reasons[index])
            assert crowded is not None
            planned[index] = crowded
        else:
            why = f"; {'; '.join(crowded_out)}" if crowded_out else ""
            raise PlanError(f"the wires of its phases cannot be kept apart with {self.period} slots{why}")
        if self.standing:
            planned = with_more_slots(planned, self.standing, self.structure, self.shape)
        refuse_crossing(self.structure, planned)
        planned = self._settled(planned)
        self._count_reloads(planned)
        refuse_secret_phases(self.structure, planned)
        refuse_split_barriers(self.structure, planned)
        leaves = self._leaving(planned)
        return Plan(
            name,
            self.program,
            self.shape,
            self.period,
            self.structure,
            tuple(planned),
            leaves,
            tuple(self.notes),
            self.variant.replaced,
            continuing=continuing(self.standing, self.structure, planned, leaves),
        )

    def _separate(self, planned: list[PlannedPhase], earlier: int, later: int, link: Link) -> None:
        """Plan one of two phases with the same wires again: the earlier with a barrier that all join who may send in the later,
        or, if threads may not wait for each other there, the later on other wires."""
        node, port, slot = link
        joined, part = self.joined.setdefault(earlier, {}), planned[earlier].part
        nearest = comes_next(self.structure, planned, earlier, later)
        joined[later] = word_spans(planned[later], planned[earlier]) if nearest else None
        barrier = self._barrier(self.structure.phases[earlier], planned[earlier].routed, part)
        if any(odd_one(self.structure, earlier, instance.nodes) is not None for instance in barrier.instances):
            del joined[later]
            aliased = self.shape.aliased_handshake
            self.taken.setdefault(later, {})[earlier] = keep_off(planned[earlier].routed, aliased_handshake=aliased)
            index = later
        else:
            # If something else made it have a barrier before, that is the reason.
            self.reasons.setdefault(
                earlier,
                f"the link at port {port} of node {node} carries words in slot {slot} in this phase and in "
                f"'{planned[later].name}'",
            )
            index = earlier
        try:
            again = self.plan_phase(index, self.reasons.get(index))
        except PlanError:
            # It may have been routed around others to save a barrier that it gets now all the same.
            if index == later or self.taken.pop(index, None) is None:
                raise
            again = self.plan_phase(index, self.reasons.get(index))
        assert again is not None
        planned[index] = again

    def _left(self, planned: Sequence[PlannedPhase]) -> float:
        """Cycles until the limit, as the phases would settle now."""
        return self.limit if self.limit == inf else self.limit - sum(one.cycles for one in self._settled(planned))

    def _refuse_slow(self, planned: Sequence[PlannedPhase]) -> None:
        if self._left(planned) <= 0:
            raise _TooSlowError

    def _turn_nothing_round(self, planned: list[PlannedPhase]) -> bool:
        """Plan phases again that come right behind a barrier, off wires that the phase before uses the other way round."""
        turned = turned_round(planned, self.structure) if self.shape.aliased_handshake else {}
        moved: set[int] = set()
        for (earlier, later), links in turned.items():
            if moved.isdisjoint((earlier, later)):
                try:
                    self._plan_off(planned, later, earlier, links)
                    moved.add(later)
                except PlanError:
                    at_port = self.program.topology.at_port
                    back = frozenset((*at_port[n][port], slot) for n, port, slot in link_writes(planned[later].routed))
                    self._plan_off(planned, earlier, later, back)
                    moved.add(earlier)
        return bool(turned)

    def _plan_off(self, planned: list[PlannedPhase], index: int, other: int, links: frozenset[Link]) -> None:
        """Plan a phase again off wires of another."""
        before = self.taken.get(index, {})
        self.taken[index] = {**before, other: before.get(other, frozenset()) | links}
        try:
            again = self.plan_phase(index, self.reasons.get(index))
        except PlanError:
            self.taken[index] = before
            raise
        assert again is not None
        planned[index] = again

    def _leaving(self, planned: list[PlannedPhase]) -> Leaving:
        optional = self.variant.analysis.optional
        refuse_missed_rounds(self.program, planned, optional)
        return leaving(planned, self.structure, optional)

    def _on_other_wires(
        self,
        planned: list[PlannedPhase],
        later: int,
        taken: dict[int, frozenset[Link]],
        instead: Iterable[int],
        freed: Freed,
    ) -> PlannedPhase | None:
        """A phase routed again off the links and slots in ``taken``; None if that costs more than barriers at the ends of
        ``instead``, or cannot be done."""
        saved = 0.0
        for earlier in instead:
            phase = self.structure.phases[earlier]
            saved += phase.exits * self._barrier_cycles(self._barrier(phase, planned[earlier].routed))
        self.taken[later], self.freed[later] = taken, freed
        left = self._left(planned)
        again = None
        try:
            again = self.plan_phase(later, self.reasons.get(later), planned[later].cycles + min(saved, left))
        except PlanError:
            pass
        finally:
            del self.taken[later]
        if again is None and saved >= left:
            # Neither this nor the barriers come to less than the limit.
            raise _TooSlowError
        return again

    def _settled(self, planned: Sequence[PlannedPhase]) -> list[PlannedPhase]:
        """With the phases before which nodes wait for their neighbours; who need not does not pay for it."""
        needed = settling(planned, self.structure, aliased_handshake=self.shape.aliased_handshake)
        found = []
        for index, (before, settles) in enumerate(zip(planned, needed, strict=True)):
            more = 0.0
            if (
                before.barrier is not None
                and settles is not None
                and settles.isdisjoint(self.structure.successors[index])
            ):
                more = -before.exits * before.settle
            found.append(replace(before, settles=settles, cycles=before.cycles + more, changing=before.changing + more))
        return found

    def _count_reloads(self, planned: list[PlannedPhase]) -> None:
        """Phases that take turns in the routers' memories cost what loading them again takes."""
        standing = [alone for _, alone in self.standing]
        for index, misses in predicted_misses(planned, self.structure, self.period, self.shape, standing).items():
            before, more = planned[index], misses.cycles
            planned[index] = replace(before, cycles=before.cycles + more, changing=before.changing + more)

    def _collisions(self, planned: list[PlannedPhase]) -> list[tuple[int, int, Link]]:
        return collisions(planned, self.structure, aliased_handshake=self.shape.aliased_handshake)
