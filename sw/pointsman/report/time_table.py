"""Where the time of a run on the mesh went: predicted beside measured, what is possible at least, and what was waited
for.

Takes a program, the plan and the images made of it, and the calls of a run; gives plain values, and text made of these.
*Measured* and *predicted* are cycles of a node outside its computing, mean over the nodes (predicted: as if computing
cost nothing). *Under
way* are cycles in which messages of the operators are between the first I/O call and the last
(`pointsman.report.calls`); *at least*
is a bound of these (`pointsman.plan.cost.lower_bound`), and *reached* its share.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pointsman.artifacts.images.images import Images
from pointsman.plan.cost.lower_bound import Cuts, Demand, LowerBound, demand, lower_bound
from pointsman.plan.plan import Plan
from pointsman.plan.timeline.timeline import operator_cycles
from pointsman.program.program import Operator, Program

from .calls import CallRecord, Waiting, under_way, united, waits
from .table import table

MOST_WAITS = 3
"""Functions whose waiting is told."""
SHORT = 0.03
"""Share of all waiting below which nothing is told of a function."""

Categories = Mapping[str, float]


def time_json(
    program: Program,
    plan: Plan,
    images: Images,
    calls: Sequence[CallRecord],
    *,
    by_operator: Mapping[Any, Categories],
    by_phase: Mapping[Any, Categories],
) -> dict[str, Any]:
    """The table as plain values.

    Parameters
    ----------
    program : Program
        As it was written; ``plan`` and ``images`` were made of it.
    by_operator, by_phase : mapping
        Measured cycles by category, mean over the nodes: by label of an operator, and by number of a phase.

    Returns
    -------
    dict
        "operators" by label and "phases" in order, each with "predicted", "measured", "under_way" and "at_least";
        "waits".
    """
    cuts = Cuts(program.topology)
    operators = {operator.label: operator for operator in program.operators()}
    subsets = {
        label: [frozenset(instance.nodes) for instance in operator.instances] for label, operator in operators.items()
    }
    spans = under_way(calls, subsets)
    needs = {label: demand(operator, cuts) for label, operator in operators.items()}
    messages = _messages(needs, calls)
    predicted = dict(operator_cycles(plan) or {})
    for one in images.replaced:
        parts = [predicted.get(images.operators[index].label) for index in one.parts]
        if all(part is not None for part in parts):
            predicted[one.program.label] = sum(part for part in parts if part is not None)
    phases_of = _phases_of(images)
    found_operators = {}
    for label in operators:
        need = needs[label]
        found_operators[label] = _entry(
            predicted.get(label),
            by_operator.get(label, {}),
            spans.get(label, []),
            None if need is None else [(need, messages[label])],
            cuts,
            images.shape.pipelines,
        )
    found_phases = []
    for number, phase in enumerate(plan.phases):
        inside = [label for label, where in phases_of.items() if where == {number} and label in operators]
        given = [(need, messages[label]) for label in inside if (need := needs[label]) is not None]
        entry = _entry(
            phase.cycles,
            by_phase.get(number, {}),
            united(span for label in inside for span in spans.get(label, [])),
            given or None,
            cuts,
            images.shape.pipelines,
        )
        found_phases.append({"name": phase.name, "operators": inside, **entry})
    bandwidths: dict[str, float] = {}
    for made in images.operators:
        bandwidths[made.label] = min(made.bandwidth, bandwidths.get(made.label, made.bandwidth))
    found_waits = waits(
        calls,
        subsets,
        {label: _accesses(operators[label], need) for label, need in needs.items()},
        {label: one.m / bandwidths[label] if bandwidths.get(label) else 0.0 for label, one in operators.items()},
    )
    return {
        "operators": found_operators,
        "phases": found_phases,
        "waits": [_wait_json(one, operators[one.label], images, phases_of) for one in found_waits],
    }


def _entry(
    predicted: float | None,
    categories: Categories,
    spans: Sequence[tuple[int, int]],
    given: list[tuple[Demand, float]] | None,
    cuts: Cuts,
    pipelines: int,
) -> dict[str, Any]:
    bound: LowerBound | None = None if given is None else lower_bound(given, cuts, pipelines=pipelines)
    cycles = sum(end - start for start, end in spans)
    share = bound.cycles / cycles if bound is not None and bound.cycles and cycles else None
    return {
        "predicted": predicted,
        "measured": sum(value for name, value in categories.items() if name != "cpu"),
        "under_way": cycles or None,
        "at_least": None
        if bound is None or not bound.cycles
        else {"cycles": bound.cycles, "kind": bound.kind, "text": bound.text},
        "reached": share,
    }


def _messages(needs: Mapping[str, Demand | None], calls: Sequence[CallRecord]) -> dict[str, float]:
    """By label, how many messages an operator has moved at least: by the node with the fewest calls."""
    counts: dict[str, dict[int, int]] = {}
    for call in calls:
        if call.what != "load":
            of_label = counts.setdefault(call.label, {})
            of_label[call.node] = of_label.get(call.node, 0) + 1
    found: dict[str, float] = {}
    for label, need in needs.items():
        per_node = (
            []
            if need is None
            else [
                counts.get(label, {}).get(node, 0) // int(need.calls[node])
                for node in range(len(need.calls))
                if need.calls[node] and need.accesses[node]
            ]
        )
        found[label] = float(min(per_node, default=0))
    return found


def _accesses(operator: Operator, need: Demand | None) -> float:
    """Accesses of a node in a call of an I/O function."""
    if operator.flow == "directional" or need is None:
        return float(operator.m)
    busy = need.accesses[need.accesses > 0]
    return float(busy.mean()) if len(busy) else 0.0


def _phases_of(images: Images) -> dict[str, set[int]]:
    """By label of an operator of the program, the phases in which its work is done."""
    found: dict[str, set[int]] = {}
    for operator in images.operators:
        found.setdefault(operator.label, set()).update({operator.phase, *operator.continues})
    for one in images.replaced:
        found[one.program.label] = {images.operators[index].phase for index in one.parts}
    return found


def _wait_json(one: Waiting, operator: Operator, images: Images, phases_of: Mapping[str, set[int]]) -> dict[str, Any]:
    return {
        "function": f"{one.label}_{one.what}",
        "calls": one.calls,
        "words": operator.m,
        "cycles": one.cycles,
        "rate": one.rate,
        "late": one.late,
        "latency": one.rest,
        "cause": _cause(one, images, phases_of),
    }


def _cause(one: Waiting, images: Images, phases_of: Mapping[str, set[int]]) -> str:
    """In words, what most of the waiting was for."""
    if one.late >= max(one.rate, one.rest):
        return f"most of it until all nodes have called it; node {one.last} comes last"
    if one.rest > one.rate:
        return "most of it while words are on their way, or passed on by other nodes"
    made = [operator for operator in images.operators if operator.label == one.label]
    bandwidth = min((operator.bandwidth for operator in made), default=0.0)
    mine = phases_of.get(one.label, set())
    beside = [
        label for label, where in phases_of.items() if label != one.label and where & mine and label in _named(images)
    ]
    slots = round(bandwidth * images.period)
    shared = (
        f"; {', '.join(map(repr, beside[:4]))}{' and others' if len(beside) > 4 else ''} share the phase"
        if beside
        else ""
    )
    return f"its slowest stream has {slots} of {images.period} slots{shared}"


def _named(images: Images) -> set[str]:
    """Labels of operators of the program, without barriers and carriers that the compiler has added."""
    added = {index for phase in images.phases for index in (phase.barrier, phase.online) if index is not None}
    return {operator.label for index, operator in enumerate(images.operators) if index not in added}


def time_text(plain: Mapping[str, Any]) -> str:
    """The values of `time_json` as text: a table of phases and operators, then what was waited for."""
    rows: list[list[object]] = []
    told: set[str] = set()
    for phase in plain["phases"]:
        rows.append([f"phase {phase['name']}", *_cells(phase)])
        for label in phase["operators"]:
            told.add(label)
            rows.append([f"  {label}", *_cells(plain["operators"][label])])
    rows += [[label, *_cells(entry)] for label, entry in plain["operators"].items() if label not in told]
    lines = [table(["cycles of a node", "predicted", "measured", "under way", "at least", "reached", "because"], rows)]
    worth = [one for one in plain["waits"] if one["cycles"] * one["calls"] > 0]
    whole = sum(one["cycles"] * one["calls"] for one in worth)
    for one in worth[:MOST_WAITS]:
        if one["cycles"] * one["calls"] >= SHORT * whole:
            words = f"{one['words']:,} word{'' if one['words'] == 1 else 's'}"
            lines.append(f"{one['function']} waits {one['cycles']:,.0f} cycles a call for {words}: {one['cause']}")
    return "\n".join(lines)


def _cells(entry: Mapping[str, Any]) -> list[object]:
    bound, reached = entry["at_least"], entry["reached"]
    return [
        "–" if entry["predicted"] is None else f"{entry['predicted']:,.0f}",
        f"{entry['measured']:,.0f}",
        "–" if entry["under_way"] is None else f"{entry['under_way']:,}",
        "–" if bound is None else f"{bound['cycles']:,.0f}",
        "–" if reached is None else f"{reached:.0%}",
        "" if bound is None else bound["kind"],
    ]
