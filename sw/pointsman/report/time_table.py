"""Where the time of a run went: predicted beside measured, what is possible at least, and what was waited for.

Takes what was compiled (`pointsman.report.timed`) and the calls of a run, on any target; gives plain values, and text made of
these. *Measured* and *predicted* are cycles of a node outside its computing, mean over the nodes (predicted: as if computing cost
nothing). *Under way* are cycles in which messages of the operators are between the first I/O call and the last
(`pointsman.report.calls`); *bound* is a bound of these (`pointsman.plan.cost.lower_bound`), *reached* its share, and *pace* what
words alone take at the rate that the compiler has given them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pointsman.plan.cost.lower_bound import Demand, LowerBound, demand, lower_bound
from pointsman.program.program import Operator

from .calls import CallRecord, Waiting, under_way, united, waits
from .table import short, table
from .timed import Timed

MOST_WAITS = 3
"""Functions whose waiting is told."""
SHORT = 0.03
"""Share of all waiting below which nothing is told of a function."""

Categories = Mapping[str, float]


def time_json(
    timed: Timed,
    calls: Sequence[CallRecord],
    *,
    by_operator: Mapping[Any, Categories],
    by_phase: Mapping[Any, Categories],
) -> dict[str, Any]:
    """The table as plain values.

    Parameters
    ----------
    timed : Timed
        What was compiled.
    by_operator, by_phase : mapping
        Measured cycles by category, mean over the nodes: by label of an operator, and by number of a phase.

    Returns
    -------
    dict
        "predicted_cycles"; "operators" by label and "phases" in order, each with "predicted", "measured", "under_way", "bound",
        "reached" and "pace"; "waits".
    """
    subsets = {
        label: [frozenset(instance.nodes) for instance in operator.instances]
        for label, operator in timed.operators.items()
    }
    spans = under_way(calls, subsets)
    needs = {label: demand(operator, timed.cuts) for label, operator in timed.operators.items()}
    messages = _messages(needs, calls)
    found_operators = {}
    for label in timed.operators:
        need = needs[label]
        found_operators[label] = _entry(
            timed,
            timed.predicted.get(label),
            by_operator.get(label, {}),
            spans.get(label, []),
            None if need is None else [(need, messages[label])],
        ) | {"pace": _pace(timed, label, messages[label])}
    found_phases = []
    for number, phase in enumerate(timed.phases):
        given = [(need, messages[label]) for label in phase.operators if (need := needs[label]) is not None]
        entry = _entry(
            timed,
            phase.predicted,
            by_phase.get(number, {}),
            united(span for label in phase.operators for span in spans.get(label, [])),
            given or None,
        )
        paces = [pace for label in phase.operators if (pace := found_operators[label]["pace"]) is not None]
        slowest = max(paces, key=lambda pace: pace["cycles"], default=None)
        if slowest is not None and phase.short is not None:
            slowest = {**slowest, "kind": phase.short[0], "text": phase.short[1]}
        found_phases.append({"name": phase.name, "operators": list(phase.operators), **entry, "pace": slowest})
    found_waits = waits(
        calls,
        subsets,
        {label: _accesses(timed.operators[label], need) for label, need in needs.items()},
        {label: one.m * _gap(timed, label) for label, one in timed.operators.items()},
    )
    return {
        "predicted_cycles": timed.predicted_cycles,
        "operators": found_operators,
        "phases": found_phases,
        "waits": [_wait_json(one, timed) for one in found_waits],
    }


def add_times(results: dict[str, Any], times: Mapping[str, Any]) -> None:
    """Put the values of `time_json` into the results of a run: what is known of an operator or a phase beside the rest of it."""
    results["predicted_cycles"] = times["predicted_cycles"]
    for label, entry in times["operators"].items():
        results["operators"].setdefault(label, {}).update(entry)
    for phase, entry in zip(results["phases"], times["phases"], strict=True):
        phase.update(entry)
    results["waits"] = times["waits"]


def times_of(results: Mapping[str, Any]) -> dict[str, Any] | None:
    """The values of `time_json` out of the results of a run; None if they are not there."""
    if "waits" not in results:
        return None
    timed = {label: one for label, one in results["operators"].items() if "under_way" in one}
    return {"operators": timed, **{name: results[name] for name in ("predicted_cycles", "phases", "waits")}}


def _gap(timed: Timed, label: str) -> float:
    """Cycles from word to word at an operator's pace; 0 if none was given."""
    pace = timed.paces.get(label)
    return 1 / pace.words_per_cycle if pace is not None and pace.words_per_cycle else 0.0


def _pace(timed: Timed, label: str, messages: float) -> dict[str, Any] | None:
    cycles = messages * timed.operators[label].m * _gap(timed, label)
    pace = timed.paces.get(label)
    return None if pace is None or not cycles else {"cycles": cycles, "kind": pace.kind, "text": pace.text}


def _entry(
    timed: Timed,
    predicted: float | None,
    categories: Categories,
    spans: Sequence[tuple[int, int]],
    given: list[tuple[Demand, float]] | None,
) -> dict[str, Any]:
    bound: LowerBound | None = None if given is None else lower_bound(given, timed.cuts, timed.hardware)
    cycles = sum(end - start for start, end in spans)
    share = bound.cycles / cycles if bound is not None and bound.cycles and cycles else None
    return {
        "predicted": predicted,
        "measured": sum(value for name, value in categories.items() if name != "cpu"),
        "under_way": cycles or None,
        "bound": None
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


def _wait_json(one: Waiting, timed: Timed) -> dict[str, Any]:
    return {
        "function": f"{one.label}_{one.what}",
        "calls": one.calls,
        "words": timed.operators[one.label].m,
        "cycles": one.cycles,
        "rate": one.rate,
        "late": one.late,
        "latency": one.rest,
        "cause": _cause(one, timed),
    }


def _cause(one: Waiting, timed: Timed) -> str:
    """In words, what most of the waiting was for."""
    if one.late >= max(one.rate, one.rest):
        return f"most of it until all nodes have called it; node {one.last} comes last"
    if one.rest > one.rate:
        return "most of it while words are on their way, or passed on by other nodes"
    mine = timed.phases_of.get(one.label, frozenset())
    beside = [label for label, where in timed.phases_of.items() if label != one.label and where & mine]
    others = f"{', '.join(map(repr, beside[:4]))}{' and others' if len(beside) > 4 else ''}"
    shared = f"; {others} {'shares' if len(beside) == 1 else 'share'} the phase" if beside else ""
    if one.apart and timed.parallel.get(one.label, frozenset()).intersection(beside):
        # Slots of the others go by unused meanwhile. Only the application can tell whether it has what they need.
        shared += f"; node.together waits for {'both' if len(beside) == 1 else 'all'} at once"
    return f"{timed.paces[one.label].text}{shared}"


def time_text(results: Mapping[str, Any]) -> str:
    """Results of a run with the values of `time_json` as text: a table of phases and operators, then what was waited for."""
    plain = times_of(results)
    if plain is None:
        return ""
    rows: list[list[object]] = []
    told: set[str] = set()
    for phase in plain["phases"]:
        rows.append([f"phase {short(phase['name'])}", *_cells(phase)])
        for label in phase["operators"]:
            told.add(label)
            rows.append([f"  {short(label)}", *_cells(plain["operators"][label])])
    rows += [[short(label), *_cells(entry)] for label, entry in plain["operators"].items() if label not in told]
    head = ["cycles of a node", "predicted", "measured", "under way", "at least", "reached", "because"]
    lines = [table([*head, "at this pace", "set by"], rows)]
    worth = [one for one in plain["waits"] if one["cycles"] * one["calls"] > 0]
    whole = sum(one["cycles"] * one["calls"] for one in worth)
    for one in worth[:MOST_WAITS]:
        if one["cycles"] * one["calls"] >= SHORT * whole:
            words = f"{one['words']:,} word{'' if one['words'] == 1 else 's'}"
            cycles = f"{one['cycles']:,.0f} cycle"
            cycles += "" if cycles == "1 cycle" else "s"
            lines.append(f"{one['function']} waits {cycles} a call for {words}: {one['cause']}")
    if plain["predicted_cycles"] is not None:
        said = f"{plain['predicted_cycles']:,.0f} cycles predicted without computing"
        lines.append(f"{said}; the slowest node took {results['total_cycles']:,} with it")
    return "\n".join(lines)


def _cells(entry: Mapping[str, Any]) -> list[object]:
    bound, reached, pace = entry["bound"], entry["reached"], entry["pace"]
    return [
        "–" if entry["predicted"] is None else f"{entry['predicted']:,.0f}",
        f"{entry['measured']:,.0f}",
        "–" if entry["under_way"] is None else f"{entry['under_way']:,}",
        "–" if bound is None else f"{bound['cycles']:,.0f}",
        "–" if reached is None else f"{reached:.0%}",
        "" if bound is None else bound["kind"],
        "–" if pace is None else f"{pace['cycles']:,.0f}",
        "" if pace is None else pace["kind"],
    ]
