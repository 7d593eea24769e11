"""Decisions of the planner, for ``pointsman explain --decision``: phases, implementations, ends, and the alternatives.

Takes a Plan and the analysis of its program; gives plain values (`decision_json`), and text made of these
(`decision_text`). All times are predicted cycles of the whole program.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, isfinite
from typing import Any

from pointsman.plan.analysis import ProgramAnalysis
from pointsman.plan.candidates.alternatives import estimates
from pointsman.plan.plan import Considered, Continuing, Plan, PlannedPhase
from pointsman.plan.timeline.one_call import in_sequence
from pointsman.plan.timeline.timeline import optional_range
from pointsman.routing.phase_router.fixed_routes import goes_on

from .table import table

TOO_MUCH = "needs more slots, VFSMs or interface registers than a node has with {period} slots"
"""Why an implementation has no cycles."""
MOST_WAYS = 6
"""Divisions into phases, and phases of each, that the text shows at most."""
MOST_IMPLEMENTATIONS = 3
"""Alternative implementations of an operator that the text shows at most."""
LONGEST = 60
"""Characters of an outcome that the text shows at most."""


def decision_json(plan: Plan, analysis: ProgramAnalysis) -> dict[str, Any]:
    """The decision as plain values.

    Parameters
    ----------
    analysis : ProgramAnalysis
        Of the plan's program.
    """
    ends = optional_range(plan)
    turns = in_sequence(plan, analysis.rounds)
    return {
        "period": plan.period,
        "cycles": plan.cycles,
        "range": None if ends is None else sorted(one.total for one in ends),
        "gap": plan.gap,
        "phases": [
            {
                **_phase(phase, analysis, plan.period),
                "range": None if ends is None else sorted(one.phases[index] for one in ends),
                "in_sequence": phase.cycles + turns[index] if index in turns else None,
                "continuing": [one.operator.operator.label for one in plan.beside(index)],
            }
            for index, phase in enumerate(plan.phases)
        ],
        "continuing": [
            {
                "label": one.operator.operator.label,
                "implementation": one.operator.implementation.name,
                "phases": [plan.phases[p].name for p in one.phases],
                "words": [_least_words(plan, one, p) for p in one.phases],
                "cycles": one.planned.cycles,
            }
            for one in plan.continuing
        ],
        "ways": [_way(one) for one in plan.considered],
    }


def _least_words(plan: Plan, one: Continuing, phase: int) -> int:
    """Words a period of the slowest stream of a continuing operator, in phase number ``phase``."""
    routed = goes_on(one.planned.routed, plan.phases[phase].routed.beside) or one.planned.routed
    return min((routed.words(s) for s in range(len(routed.streams))), default=0)


def _phase(phase: PlannedPhase, analysis: ProgramAnalysis, period: int) -> dict[str, Any]:
    costs = [estimates(one.operator, analysis, period) for one in phase.operators]
    alone = [ways.get(one.implementation.name, inf) for one, ways in zip(phase.operators, costs, strict=True)]
    return {
        "name": phase.name,
        "cycles": phase.cycles,
        "bridge": None
        if not isfinite(sum(alone))
        else {
            "alone": sum(alone),
            "changes": phase.changing,
            "together": phase.cycles - sum(alone) - phase.changing,
        },
        "change": {
            "technique": phase.technique,
            "reason": phase.reason,
            "exits": phase.exits,
            "cycles": phase.changing,
            "each": phase.changing / phase.exits if phase.exits else 0.0,
        },
        "operators": [
            {
                "label": one.operator.label,
                "implementation": one.implementation.name,
                "alternatives": [
                    {"implementation": name, "alone": cycles if isfinite(cycles) else None}
                    | ({} if isfinite(cycles) else {"reason": TOO_MUCH.format(period=period)})
                    for name, cycles in sorted(ways.items(), key=lambda way: (way[1], way[0]))
                ],
            }
            for one, ways in zip(phase.operators, costs, strict=True)
        ],
    }


def _way(one: Considered) -> dict[str, Any]:
    return {
        "phases": [list(labels) for labels in one.phases],
        "period": one.period,
        "estimate": one.estimate if isfinite(one.estimate) else None,
        "cycles": one.cycles,
        "outcome": one.outcome,
    }


def _between(ends: Sequence[float]) -> str:
    return f"{ends[0]:,.0f} to {ends[1]:,.0f}"


def _phases(number: int) -> str:
    return "1 phase" if number == 1 else f"{number} phases"


def decision_text(plain: dict[str, Any]) -> str:
    """The values of `decision_json` as text."""
    lines = [
        f"decision: {_phases(len(plain['phases']))} of {plain['period']} slots, {plain['cycles']:,.0f} cycles predicted"
        + (f" ({_between(plain['range'])}: with none and with all optional groups)" if plain["range"] else "")
        + (f"; the search stopped {plain['gap']:.1%} above its bound" if plain["gap"] else "")
    ]
    for phase in plain["phases"]:
        change = phase["change"]
        ends = phase["range"]
        between = f" ({_between(ends)})" if ends and ends[1] - ends[0] >= 1 else ""
        lines += ["", f"phase {phase['name']}: {phase['cycles']:,.0f} cycles{between}"]
        cost = f"{change['exits']:,.0f} times {change['each']:,.0f} cycles" if change["cycles"] else "at no cost"
        lines.append(f"  ends by {change['technique']} ({cost}): {change['reason']}")
        if phase["in_sequence"] is not None:
            lines.append(
                "  as if each node had its messages ready at the start; at most "
                f"{phase['in_sequence']:,.0f} cycles where nodes write only what they have read"
            )
        for operator in phase["operators"]:
            others = [one for one in operator["alternatives"] if one["implementation"] != operator["implementation"]]
            own = [one for one in operator["alternatives"] if one["implementation"] == operator["implementation"]]
            alone = f", {_alone(own[0], ' cycles alone')}" if own else ""
            shown = [f"{one['implementation']} {_alone(one)}" for one in others[:MOST_IMPLEMENTATIONS]]
            more = f", and {len(others) - len(shown)} more" if len(others) > len(shown) else ""
            instead = f"; instead: {', '.join(shown)}{more}" if shown else ""
            lines.append(f"  '{operator['label']}: {operator['implementation']}{alone}{instead}")
        lines += [f"  '{label}: continues" for label in phase["continuing"]]
        if phase["bridge"] is not None and phase["operators"]:
            lines.append(f"  in all: {_bridge(phase['bridge'])} = {phase['cycles']:,.0f} cycles")
    for one in plain["continuing"]:
        lines += ["", f"'{one['label']} continues through {len(one['phases'])} phases: {', '.join(one['phases'])}"]
        words = set(one["words"])
        slots = "the same slots in all of them"
        if len(words) > 1:
            slots = f"{', '.join(map(str, one['words']))} words a period in them"
        lines.append(f"  {one['implementation']}, {one['cycles']:,.0f} cycles, {slots}")
    ways = sorted(plain["ways"], key=lambda way: way["outcome"] != "chosen")[:MOST_WAYS]
    rows = [
        [
            " | ".join("+".join(labels) for labels in way["phases"][:MOST_WAYS])
            + (" | …" if len(way["phases"]) > MOST_WAYS else ""),
            way["period"],
            "–" if way["estimate"] is None else f"{way['estimate']:,.0f}",
            "" if way["cycles"] is None else f"{way['cycles']:,.0f}",
            way["outcome"] if len(way["outcome"]) <= LONGEST else way["outcome"][: LONGEST - 1] + "…",
        ]
        for way in ways
    ]
    lines += ["", table(["phases", "slots", "estimate", "routed", "outcome"], rows)]
    if len(plain["ways"]) > len(ways):
        lines.append(f"… and {len(plain['ways']) - len(ways)} more")
    return "\n".join(lines)


def _alone(way: dict[str, Any], unit: str = "") -> str:
    """Cycles of an implementation with the network to itself, or why there are none."""
    return f"{way['alone']:,.0f}{unit}" if way["alone"] is not None else f"({way['reason']})"


def _bridge(bridge: dict[str, float]) -> str:
    """From the operators' cycles alone to those of their phase. Estimates are rough, so the last part is what is left."""
    together = bridge["together"]
    what = "sharing it and waiting for each other" if together >= 0 else "done at the same time, or estimated too high"
    return (
        f"{bridge['alone']:,.0f} alone + {bridge['changes']:,.0f} for changes "
        f"{'+' if together >= 0 else '−'} {abs(together):,.0f} {what}"
    )
