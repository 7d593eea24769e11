"""Comparison of two runs, from the JSON that ``pointsman run --json`` writes; and of a program on several targets."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pointsman.errors import PointsmanError
from pointsman.files import read_text
from pointsman.runtime import Category

from .table import table

CATEGORIES = [category.name.lower() for category in Category]


_MOST = 1e18
"""Numbers of a run are below this."""
_ABSENT = {"online": 0.0}
"""Categories that files of older versions lack, with the value assumed for them."""


def read_result(path: Path) -> dict[str, Any]:
    """Read the JSON file of a run and check its form.

    Raises
    ------
    PointsmanError
        If the file cannot be read, or is no result of a run.
    """
    try:
        result = json.loads(read_text(path, "result"))
    except (ValueError, RecursionError):
        raise PointsmanError(f"{path} is not JSON") from None
    problem = _problem(result)
    if problem:
        raise PointsmanError(f"{path} is no result of a run: {problem}", hint="pointsman run APP.py --json FILE")
    assert isinstance(result, dict)
    return result


def _problem(result: object) -> str | None:
    if not isinstance(result, dict):
        return "it is no object"
    for name, kind in (
        ("target", str),
        ("engine", str),
        ("total_cycles", int),
        ("categories", dict),
        ("operators", dict),
    ):
        if not isinstance(result.get(name), kind) or isinstance(result.get(name), bool):
            return f"{name} is missing or of the wrong kind"
    if not _is_number(result["total_cycles"]):
        return "total_cycles is no number of cycles"
    for name in CATEGORIES:
        if not _is_number(result["categories"].get(name, _ABSENT.get(name))):
            return f"categories must have a number for {name}"
    for label, operator in result["operators"].items():
        if not isinstance(operator, dict) or not _is_bandwidth(operator.get("bandwidth")):
            return f"operator {label} has a bandwidth that is no number"
        if not isinstance(operator.get("implementation"), str):
            return f"operator {label} has no implementation"
    return None


def _cycles(result: Mapping[str, Any], category: str) -> float:
    return result["categories"].get(category, _ABSENT.get(category))


def _is_bandwidth(value: object) -> bool:
    """Packet routers promise none, nor do operators whose work others do."""
    return value is None or _is_number(value)


def _is_number(value: object) -> bool:
    """Is it a count or a share: finite, not negative, and small enough for arithmetic?"""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < _MOST


def compare_json(one: Mapping[str, Any], two: Mapping[str, Any]) -> dict[str, Any]:
    """Values of both runs as pairs [first, second]; of settings only those that differ."""
    labels = list(dict.fromkeys([*one["operators"], *two["operators"]]))
    return {
        "total_cycles": [one["total_cycles"], two["total_cycles"]],
        "ratio": two["total_cycles"] / one["total_cycles"] if one["total_cycles"] else None,
        "categories": {name: [_cycles(one, name), _cycles(two, name)] for name in CATEGORIES},
        "operators": {label: [one["operators"].get(label), two["operators"].get(label)] for label in labels},
        "settings": {
            name: [one.get(name), two.get(name)]
            for name in ("target", "engine", "network", "shape", "period", "seed", "parameters", "correct")
            if one.get(name) != two.get(name)
        },
    }


def compare_text(one: Mapping[str, Any], two: Mapping[str, Any], names: tuple[str, str]) -> str:
    """Two runs side by side as text; ``names`` are those of their files."""
    found = compare_json(one, two)
    lines = [f"A: {names[0]}", f"B: {names[1]}", ""]
    rows: list[list[object]] = []
    for name, (first, second) in {"total": found["total_cycles"], **found["categories"]}.items():
        rows.append([name, f"{first:,.0f}", f"{second:,.0f}", _change(first, second)])
    lines += [table(["cycles, mean over the nodes", "A", "B", "B over A"], rows), ""]
    rows = []
    for label, (first, second) in found["operators"].items():
        rows.append([label, *(_operator(operator) for operator in (first, second)), _bandwidths(first, second)])
    if rows:
        lines += [table(["operator", "A", "B", "bandwidth, B over A"], rows), ""]
    for name, (first, second) in found["settings"].items():
        lines.append(f"{name}: {_short(first)} in A, {_short(second)} in B")
    return "\n".join(lines).rstrip()


def targets_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """A program on several targets (`pointsman.api.compare`) as text."""
    lines: list[list[object]] = []
    for row in rows:
        cycles, ratio = row["cycles"], row["ratio"]
        said = "not known: too long to be played, or more channels than the model has"
        if row["error"] is not None:
            said = row["error"]
        elif cycles is not None:
            said = row["hardware"]
        lines.append(
            [row["target"], "–" if cycles is None else f"{cycles:,.0f}", "–" if ratio is None else f"{ratio:.2f}", said]
        )
    head = ["target", "cycles", "over the least", "hardware"]
    return (
        table(head, lines)
        + "\n\nPredicted until the last processor has ended, nothing computed, loads included. A word takes a cycle on a link, "
        "and a slot of the optical network."
    )


def _change(first: float, second: float) -> str:
    return f"{second / first:.3f}" if first else ("1.000" if not second else "–")


def _operator(operator: Mapping[str, Any] | None) -> str:
    if operator is None:
        return "–"
    bandwidth = operator.get("bandwidth")
    return f"{operator['implementation']}" + ("" if bandwidth is None else f" {bandwidth:.3f}")


def _bandwidths(first: Mapping[str, Any] | None, second: Mapping[str, Any] | None) -> str:
    bandwidths = [None if one is None else one.get("bandwidth") for one in (first, second)]
    if bandwidths[0] is None or bandwidths[1] is None:
        return "–"
    return _change(bandwidths[0], bandwidths[1])


def _short(value: object) -> str:
    return "nothing" if value is None else json.dumps(value)
