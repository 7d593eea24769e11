"""Plan -> Plan with the cycles that each phase and the whole program will take, computing taken to cost nothing.

Takes a plan with routes. Its program is played on them (``kernel``) by sampled rounds and values (``sampling``); so
slots, bandwidth, latency, accesses of the interface, rewriting, changes of phase and waiting for others all count.
Schedules made at run time are charged (`pointsman.protocol.costs.scheduling_cycles`), and their words take the time that such a
schedule gives them on the mean. Gives the same plan with other cycles, and leaves all else alone. Non-goals: messages that
processors pass on over changes of phase: such a plan keeps its estimate.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Literal

import numpy as np

from pointsman.plan.plan import Plan
from pointsman.program.program import Group

from .board import BoardNumbers
from .kernel import CALM, play
from .memories import PlannedMemories
from .path_taken import Ways
from .sampling import SampledVisit, samples, visits
from .steps.writer import StepWriter

LIMIT = 60_000_000
"""Most cycles times nodes that are played, which takes some two seconds."""
PURPOSES = 4_000_000
"""Most operators times nodes for which cycles are counted in one play, in 32 MB."""


@dataclass(frozen=True)
class Timeline:
    """``phases``: by phase, mean cycles of a node in it and in the change to it; the last number: before the first
    phase. ``total``: cycles of the slowest node."""

    phases: tuple[float, ...]
    total: float
    played: int
    """Cycles that were played, with sampled rounds only."""


def timeline(
    plan: Plan, ways: Ways | None = None, *, most: float = inf, whole: Collection[str] = ()
) -> Timeline | None:
    """The cycles that a plan takes; None if it cannot be played, or does not end within LIMIT. ``ways``: the visits of a run
    (`pointsman.plan.timeline.path_taken`); None: sampled ones. ``most``: once the plan is sure to take more cycles than these
    it is played no further; ``total`` is then more than that, and less than it takes. ``whole``: labels of operators whose
    function combines whole messages only, which the program does not say where the application has one of a built-in name."""
    return _played(plan, None, ways, most=most, whole=whole) if _is_playable(plan) else None


def operator_cycles(plan: Plan, ways: Ways | None = None, *, whole: Collection[str] = ()) -> dict[str, float] | None:
    """By label, cycles that a node spends in functions of an operator, mean over all nodes; None if the plan cannot be played.
    ``ways``, ``whole``: as of `timeline`.

    A load function includes the change to its phase.
    """
    if not _is_playable(plan):
        return None
    labels = [operator.label for operator in plan.program.operators()]
    most = max(1, PURPOSES // plan.program.topology.nodes)
    found: dict[str, float] = {}
    for first in range(0, len(labels), most):
        counted = {label: number for number, label in enumerate(labels[first : first + most], len(plan.phases) + 1)}
        played = _played(plan, counted, ways, whole=whole)
        if played is None:
            return None
        found |= {label: played.phases[number] for label, number in counted.items()}
    return found


def optional_range(plan: Plan) -> tuple[Timeline, Timeline] | None:
    """The cycles that a plan takes if none of its program's optional groups is taken, and if all are; None if there are no such
    groups, or the plan cannot be played. What `timeline` takes is expected in between: a program does not say which are taken."""
    if not _is_playable(plan):
        return None
    if not any(isinstance(part, Group) and part.kind == "optional" for part, _ in plan.program.root.walk()):
        return None
    none, all_ = _played(plan, None, None, "none"), _played(plan, None, None, "all")
    return None if none is None or all_ is None else (none, all_)


def _is_playable(plan: Plan) -> bool:
    # Messages that go on over changes of phase are not known to the kernel.
    return all(one.planned.part is None for one in plan.continuing)


def _played(
    plan: Plan,
    counted: Mapping[str, int] | None,
    ways: Ways | None,
    optional: Literal["some", "none", "all"] = "some",
    most: float = inf,
    whole: Collection[str] = (),
) -> Timeline | None:
    network = BoardNumbers(plan)
    limit = max(1, LIMIT // network.nodes)
    times, memories = 1 if ways is not None else samples(plan.program), PlannedMemories(plan, network)
    purposes = 0 if counted is None else len(counted)
    phases, total, all_played = np.zeros(len(plan.phases) + 1 + purposes), 0.0, 0
    writer = StepWriter(plan, network, memories, counted, whole)
    for sample in range(times):
        for at_once in (False, True):
            writer.begin()
            if ways is None:
                book = writer.write(_visits(plan, sample, optional, at_once=at_once))
            else:
                book = writer.write_ways(ways)
            board = network.board(writer.steps.standing())
            post = writer.steps.messages.post()
            spent, _, played, ended = play(
                board,
                book,
                post,
                network.nodes,
                len(plan.phases),
                purposes,
                writer.tables.most_lanes,
                limit - all_played,
                CALM,
            )
            if ended or ways is not None or played >= limit - all_played:
                break
        if not ended:
            return None
        all_played += int(played)
        phases += np.mean(spent, axis=0) / times
        total += float(np.max(np.sum(spent, axis=1))) / times
        if total > most:
            break
    return Timeline(tuple(phases.tolist()), total, all_played)


def _visits(
    plan: Plan, sample: int, optional: Literal["some", "none", "all"], *, at_once: bool
) -> Iterator[SampledVisit]:
    """The sampled visits. ``at_once``: nodes read what comes while they write. Where all write first, as in a ring of streams,
    messages that routers cannot hold would stop them for ever, so no application does that."""
    for visit in visits(plan.program, sample, optional):
        yield replace(visit, at_once=True) if at_once and visit.operator.kind == "stream" else visit


def timed(plan: Plan, *, most: float = inf) -> Plan:
    """The plan with the cycles of its timeline; unchanged if it has none. ``most``: as of `timeline`."""
    found = timeline(plan, most=most)
    if found is None:
        return plan
    phases = tuple(replace(phase, cycles=cycles) for phase, cycles in zip(plan.phases, found.phases, strict=False))
    return replace(plan, phases=phases, total=found.total)
