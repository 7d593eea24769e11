"""Products over specifications of ``pointsman optical``, and their cases.

    [[sweep]]
    mode = ["reserve", "multihop"]
    [sweep.optical]                          # as SPEC.json, with lists of values
    network = { kind = "torus", size = [[4, 4], [8, 8]] }
    degree = [4, 8]
    reservation = [{ label = "forward", direction = "forward" }, { label = "backward", cset = 2 }]
    traffic = { kind = "uniform", rate = [0.001, 0.002], slots = 8 }
    slots = 3000

A list is a list of values, wherever it stands; a list of numbers where the specification has one is a single value, and so is
what lists messages or links. Of a list of tables each is a value; its ``label`` names it in tables and plots.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, NoReturn

from pointsman.errors import PointsmanError
from pointsman.files import read_bytes

from .cases import SweptCase

KEYS = ("optical", "mode")
MODES = ("reserve", "multihop", "compiled", "mixed")
WHOLE = ("links", "messages", "demand", "phases")
"""Keys whose lists are a value as they are."""
LISTS = ("size", "control_slots")
"""Keys that have a list of numbers as value."""
MOST_CASES = 100_000
Wrong = Callable[[str, str, str | None], NoReturn]


@dataclass(frozen=True, eq=False)
class OpticalCase(SweptCase):
    """A specification in one mode. ``content``: as SPEC.json; ``label``: of the tables that were chosen for it. The application
    is the sweep's own file, and ``sources`` a digest of the traces that it reads."""

    content: Mapping[str, Any] = field(default_factory=dict)
    mode: str = "reserve"
    label: str = ""

    def as_dict(self) -> dict[str, Any]:
        named = {"label": self.label} if self.label else {}
        return {**named, "mode": self.mode, "optical": dict(self.content)}

    def __str__(self) -> str:
        return f"{self.label or 'optical'} {self.mode} {json.dumps(self.content, separators=(',', ':'))}"

    def values(self) -> tuple[bool, dict[str, Any]]:
        from pointsman.api.optics import optical_figures

        folder = Path(self.application).parent
        figures = optical_figures(self.content, folder, modes=(self.mode,))[self.mode]
        return True, {name: value for name, value in figures.items() if not isinstance(value, list)}


def optical_cases(path: Path, key: str, plain: Mapping[str, Any], wrong: Wrong) -> Iterator[OpticalCase]:
    """The cases of a product; what is wrong in it is told to ``wrong`` as key, rule and hint."""
    modes = plain.get("mode", list(MODES[:3]))
    modes = modes if isinstance(modes, list) else [modes]
    for mode in modes:
        if mode not in MODES:
            wrong(f"{key}.mode", f"must be one of {', '.join(MODES)}, not {mode!r}", None)
    if not isinstance(plain["optical"], dict):
        wrong(f"{key}.optical", "must be a table, as the file of pointsman optical", "docs/optical.md shows the form")
    axes = dict(_axes(f"{key}.optical", (), plain["optical"], wrong))
    size = prod(map(len, axes.values())) * len(modes)
    if size > MOST_CASES:
        wrong(key, f"the product has {size:,} cases, more than {MOST_CASES:,}", None)
    for combination in product(*axes.values()):
        content: dict[str, Any] = {}
        labels = []
        for place, value in zip(axes, combination, strict=True):
            at = content
            for part in place[:-1]:
                at = at.setdefault(part, {})
            if isinstance(value, dict) and "label" in value:
                labels.append(str(value["label"]))
                value = {name: one for name, one in value.items() if name != "label"}
            at[place[-1]] = value
        _check(f"{key}.optical", content, wrong)
        sources = _digest(path.parent, content)
        for mode in modes:
            yield OpticalCase(str(path.resolve()), sources, content=content, mode=mode, label=" ".join(labels))


def _axes(
    key: str, place: tuple[str, ...], plain: Mapping[str, Any], wrong: Wrong
) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """The values of each key, tables looked into."""
    for name, value in plain.items():
        if isinstance(value, dict):
            yield from _axes(f"{key}.{name}", (*place, name), value, wrong)
            continue
        single = not isinstance(value, list) or name in WHOLE
        if name in LISTS and isinstance(value, list) and not any(isinstance(one, list) for one in value):
            single = True
        values = [value] if single else value
        if not values:
            wrong(f"{key}.{name}", "a list must not be empty", None)
        yield (*place, name), values


def _check(key: str, content: Mapping[str, Any], wrong: Wrong) -> None:
    from pointsman.optical.spec import check_form

    try:
        check_form(content)
    except PointsmanError as error:
        wrong(key, error.message, error.hint)


def _digest(folder: Path, content: Mapping[str, Any]) -> str:
    """Of the traces that a specification reads."""
    found = hashlib.sha256()
    for part in (content, content.get("dynamic", {})):
        trace = part.get("traffic", {}).get("trace")
        if trace is not None:
            found.update(read_bytes(folder / trace, "trace"))
    return found.hexdigest()[:16]
