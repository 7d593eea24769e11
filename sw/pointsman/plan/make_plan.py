"""Program -> Plan: candidates are found, the most promising are planned, and the quickest is kept.

Takes a Program and the shape of a node. Leaves alone: which divisions and schedule lengths are candidates
(``candidates``), how they are tried (``attempts``), and what is tried near the quickest (``polish``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from numesh.shape import NodeShape
from pointsman.errors import PointsmanError
from pointsman.garbage import seldom_collected
from pointsman.operators import IMPLEMENTATIONS, Context, Implementation, Loading
from pointsman.program.program import Group, Program

from .analysis import ProgramAnalysis
from .attempts import Attempts
from .candidates.candidates import find_candidates
from .cost.schedule_lengths import other_lengths
from .errors import PlanError
from .options import PlanOptions
from .plan import Considered, Plan
from .polish import Polish
from .structure.structure import Structure


@seldom_collected
def make_plan(
    program: Program,
    shape: NodeShape,
    *,
    name: str,
    period: int | None = None,
    implementations: Sequence[Implementation] = IMPLEMENTATIONS,
    structures: Sequence[Structure] | None = None,
    effort: float = 1.0,
    options: PlanOptions | None = None,
) -> Plan:
    """Plan ``program`` for nodes of ``shape``.

    Parameters
    ----------
    period : int or None
        Schedule length in slots; None: the length of ``schedule_lengths.PERIODS`` that fits the schedule memory and
        whose plan takes the fewest predicted cycles, or one that suits the operators; if there is no plan with any of them, the
        shortest other one that will do.
    implementations : sequence of Implementation
        Implementations to choose from; `pointsman.operators.api.registry` finds others than the built-in ones.
    structures : sequence of Structure or None
        Divisions into phases to choose from; None: those of ``candidates.divisions``.
    effort : float
        Factor on the work: search nodes, candidates that are routed, and work inside the router; 1.0 is usual. With more the plan
        is never slower.

    Raises
    ------
    PointsmanError
        With the first reason met, if no plan is found. `pointsman.plan.fitting.fitted_plan` says what hardware would do.
    """
    options = options or PlanOptions()
    if program.topology.ports > shape.neighbours:
        raise PlanError(f"the network needs {program.topology.ports} ports a node, the node has {shape.neighbours}")
    asked = period if period is not None else program.schedlen
    if asked is not None and asked < 2:
        raise PlanError(f"the schedule length must be at least 2, not {asked}")
    analysis = ProgramAnalysis(program, Context(program.topology, shape), tuple(implementations))

    def attempted(length: int | None, analysis: ProgramAnalysis = analysis) -> Attempts:
        candidates = find_candidates(
            analysis, period=length, effort=effort, structures=structures, most_phases=options.most_phases
        )
        attempts = Attempts(name, candidates, effort, options)
        attempts.run()
        return attempts

    first = attempts = attempted(asked)
    if asked is None and not options.first and first.best is None and first.crowded:
        for length in other_lengths(shape, {way.period for way in first.ways}):
            attempts = attempted(length)
            if attempts.best is not None:
                break
    refused: tuple[Considered, ...] = ()
    if structures is None and attempts.best is None and first.secret and _has_phases(program):
        # What comes next in the same phase needs no node to know when it begins.
        refused = first.decisions
        attempts = attempted(asked, replace(analysis, sealed=False))
    if (
        structures is None
        and attempts.best is None
        and not any(one.loading is Loading.ONLINE for one in implementations)
    ):
        # With messages, a phase for which nothing else has room was planned with these, or not even these have room.
        attempts = first
        attempts.remedy()
    if structures is None and not options.first:
        Polish(attempts).run()
    best = attempts.best
    if best is None:
        raise first.failure or PlanError(f"{name} cannot be planned: too many streams for the nodes")
    found = replace(best, considered=(*refused, *attempts.decisions), gap=attempts.candidates.gap)
    if effort <= 1.0 or structures is not None or options.first:
        return found
    # More work leads to other plans first, and what is near these need not be as quick as what usual effort comes to.
    try:
        usual = make_plan(program, shape, name=name, period=period, implementations=implementations, options=options)
    except PointsmanError:  # in a corner of the search, or with no work left
        return found
    return min(found, usual, key=lambda plan: plan.cycles)


def _has_phases(program: Program) -> bool:
    """Does the program say of any operators that they are to share a phase?"""
    return any(isinstance(part, Group) and part.kind == "phase" for part, _ in program.root.walk())
