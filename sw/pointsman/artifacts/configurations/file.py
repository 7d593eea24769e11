"""The JSON files that ``pointsman configure`` reads (a problem) and writes (its answer)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import msgspec

from pointsman.artifacts.json_file import read_json
from pointsman.errors import PointsmanError
from pointsman.files import write_whole

from .configurations import (
    Configurations,
    Connection,
    ConnectionProblem,
    DemandProblem,
    Network,
    Timetable,
)


class _Network(msgspec.Struct, forbid_unknown_fields=True):
    kind: Literal["torus", "mesh", "crossbar"]
    size: int | list[int]


class _File(msgspec.Struct, forbid_unknown_fields=True):
    network: _Network
    routing: Literal["xy", "free"] = "xy"
    connections: list[tuple[int, int]] | None = None
    demand: list[list[int | float]] | None = None
    delta: int | float | None = None
    switches: int | None = None
    overlap: bool | None = None


def read_problem(given: Path | Mapping[str, Any]) -> ConnectionProblem | DemandProblem:
    """Read CONNECTIONS.json, or take its values.

    Raises
    ------
    PointsmanError
        If the file is wrong; the message has the place of the first fault.
    """
    return read_json(given, "connections file", _File, _problem, page="docs/connections.md")


def write_answer(path: Path, answer: Configurations | Timetable) -> None:
    """Write OUT.json, a configuration a line."""
    write_whole(path, answer_text(answer))


def answer_text(answer: Configurations | Timetable) -> str:
    """OUT.json as text."""
    content = answer.as_dict()
    lines = ",\n".join("  " + json.dumps(entry, separators=(",", ":")) for entry in content.pop("configurations"))
    rest = json.dumps(content, indent=1)
    return '{\n "configurations": [' + (f"\n{lines}\n " if lines else "") + "]," + rest[1:] + "\n"


def _problem(file: _File) -> ConnectionProblem | DemandProblem:
    size = file.network.size if isinstance(file.network.size, list) else [file.network.size]
    network = Network(file.network.kind, tuple(size))
    if (file.connections is None) == (file.demand is None):
        raise PointsmanError('there must be either "connections" or "demand"')
    if file.demand is None:
        for name in ("delta", "switches", "overlap"):
            if getattr(file, name) is not None:
                raise PointsmanError(f'"{name}" belongs to "demand": connections have no durations')
        assert file.connections is not None
        pairs: tuple[Connection, ...] = tuple(file.connections)
        return ConnectionProblem(network, pairs, file.routing)
    if network.kind != "crossbar":
        raise PointsmanError(f'"demand" is for a crossbar, not for a {network.kind}')
    if len(file.demand) != network.nodes:
        raise PointsmanError(
            f"demand: there must be a row for each of the {network.nodes} ports, and there are {len(file.demand)}"
        )
    rows = tuple(
        tuple(_exact(amount, f"demand[{u}][{v}]") for v, amount in enumerate(row)) for u, row in enumerate(file.demand)
    )
    switches = 1 if file.switches is None else file.switches
    return DemandProblem(rows, _exact(file.delta or 0, "delta"), switches, bool(file.overlap))


def _exact(value: Any, place: str) -> Fraction:
    """The number exactly as it is written in decimal: 0.1 is a tenth. ``place``: for messages."""
    if not math.isfinite(value) or abs(value) > 1e15:
        raise PointsmanError(f"{place}: a time must be a number up to 1e15, not {value}")
    return Fraction(str(value))
