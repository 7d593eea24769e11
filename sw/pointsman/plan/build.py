"""Program -> Plan: the most promising candidates are planned, the quickest is kept.

Takes a Program and a shape. Which ways there are is for ``candidates`` to say, what becomes of one for ``planner``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import product
from math import inf

from numesh.shape import NodeShape
from pointsman.cop.program import Program
from pointsman.errors import PointsmanError
from pointsman.operators import IMPLEMENTATIONS, Context, Implementation

from .candidates import Candidate, find_candidates
from .fit import fit
from .plan import Considered, Plan
from .planner import Planner, Routes
from .roles import PlanError
from .structure import Structure
from .timeline.timeline import timed

PLANS = 4
"""Most divisions and schedule lengths that are routed, times the effort: those that promise most."""
HOPELESS = 1.5
"""Those that promise more than this times the cycles of the best plan are not routed."""
ROUGH = 1.25
"""What is routed is given up when its phases together come to more than this times those of the best plan, before it is timed."""


def make_plan(
    program: Program,
    shape: NodeShape,
    *,
    name: str,
    period: int | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
    implementations: Sequence[Implementation] = IMPLEMENTATIONS,
    express: int = 0,
    effort: float = 1.0,
    structures: Sequence[Structure] | None = None,
    most_phases: int | None = None,
) -> Plan:
    """Plan ``program`` for nodes of ``shape``.

    Parameters
    ----------
    period : int or None
        Schedule length; None: the one of ``lengths.PERIODS`` with the smallest predicted time that fits the schedule memory.
    implementations : sequence of Implementation
        Those to choose from; `pointsman.operators.registry` finds more than the built-in ones.
    express : int
        Channels for online messages: 0: those with which they are expected to be quickest (``streams.overlays``), 1: to all
        neighbours, k: to all neighbours and express channels of k hops (Metcalf 1997, §4.2.3).
    effort : float
        Work to spend: search nodes, divisions that are routed, and the router's own; 1.0 being usual.
    structures : sequence of Structure or None
        Divisions into phases to choose among; None: those of ``division``.
    most_phases : int or None
        Most phases of a node; None: any number.

    Raises
    ------
    PlanError
        With the first reason, if no plan is found.
    """
    if program.topology.ports > shape.neighbours:
        raise PlanError(f"the network needs {program.topology.ports} ports a node, the node has {shape.neighbours}")
    context = Context(program.topology, shape)
    asked = period if period is not None else program.schedlen
    if asked is not None and asked < 2:
        raise PlanError(f"the schedule length must be at least 2, not {asked}")
    candidates = find_candidates(
        program,
        context,
        implementations,
        period=asked,
        effort=effort,
        structures=structures,
        most_phases=most_phases,
    )
    best: Plan | None = None
    before = inf  # cycles of the best plan by the rough measure that plans are made with
    failure = candidates.refused[0] if candidates.refused else None
    routes: Routes = {}
    considered: dict[int, Considered] = {}
    tried: Tried = {}
    planned = 0
    # Processors pass on messages only where nothing else can be done.
    # With more operators than VFSMs that is so from the first.
    tries = (False, True) if candidates.fits else (True,)
    for fallbacks, (number, one) in product(tries, enumerate(candidates.ways)):
        if best is not None:
            # What is in one phase takes long to route: not unless it promises more than what the best plan takes.
            hopeless = one.estimate > (min(HOPELESS * before, best.cycles) if one.whole else HOPELESS * before)
            if fallbacks or hopeless or planned >= max(1, round(PLANS * effort)) or _behind(one, tried):
                why = "promises too little" if hopeless else "not routed: there were better ones"
                considered.setdefault(number, _considered(one, None, why))
                continue
        if one.estimate == inf and not fallbacks and len(one.structure.phases) > 1:
            considered[number] = _considered(one, None, "a phase has too much in it")
            continue
        if progress is not None:
            phases = len(one.structure.phases)
            progress(f"planning {name} with {phases} phases of {one.period} slots ({one.estimate:.0f} cycles)")
        planner = Planner(one, shape, seed, routes, implementations, express, effort, fallbacks)
        try:
            plan = planner.plan(name, limit=ROUGH * before)
            if plan is not None:
                fit(plan)
                rough, plan = plan.cycles, timed(plan)
        except PointsmanError as error:
            failure = failure or error
            considered[number] = _considered(one, None, f"refused: {error.message}")
            continue
        planned += 1
        cycles = None if plan is None else plan.cycles
        tried.setdefault(one.labels, {})[one.period] = inf if cycles is None else cycles
        considered[number] = _considered(one, cycles, "slower" if best is not None else "chosen")
        if plan is not None and (best is None or plan.cycles < best.cycles):
            best, before = plan, rough
            for other, way in considered.items():
                if way.cycles is not None:
                    considered[other] = replace(way, outcome="chosen" if other == number else "slower")
    if best is None:
        raise failure or PlanError(f"{name} cannot be planned: too many streams for the nodes")
    return replace(best, considered=tuple(considered[i] for i in sorted(considered)), gap=candidates.gap)


Tried = dict[tuple[tuple[str, ...], ...], dict[int, float]]
"""By division, the cycles of the schedule lengths that were routed."""


def _behind(one: Candidate, tried: Tried) -> bool:
    """Does its schedule length lie behind one that was worse than another on this side of it? Short schedules give more of
    what is asked for, long ones have room; a division has one best length."""
    cycles = tried.get(one.labels, {})
    for worse, much in cycles.items():
        if any(
            less < much and (other < worse < one.period or one.period < worse < other) for other, less in cycles.items()
        ):
            return True
    return False


def _considered(one: Candidate, cycles: float | None, outcome: str) -> Considered:
    return Considered(one.labels, one.period, one.estimate, cycles, outcome)
