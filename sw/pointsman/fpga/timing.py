"""What placing and routing gave: the clock, and the path that limits it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .netlist import Names
from .tools import ToolError


@dataclass(frozen=True)
class Step:
    """A piece of a path: ``kind`` is clk-to-q, routing, logic or setup."""

    kind: str
    ns: float
    signal: str
    source: str
    exact: bool


@dataclass(frozen=True)
class Path:
    """A path from register to register."""

    seed: int
    ns: float
    steps: tuple[Step, ...]

    def as_json(self) -> dict[str, Any]:
        steps: list[dict[str, Any]] = []
        for step in self.steps:
            plain: dict[str, Any] = {"kind": step.kind, "ns": round(step.ns, 3)}
            if step.kind != "logic":
                plain["signal" if step.exact else "logic_near"] = step.signal
                if step.source:
                    plain["source"] = step.source
            steps.append(plain)
        return {
            "seed": self.seed,
            "ns": round(self.ns, 3),
            "from": self.steps[0].signal,
            "to": self.steps[-1].signal,
            "levels": sum(step.kind == "logic" for step in self.steps),
            "logic_ns": round(sum(step.ns for step in self.steps if step.kind != "routing"), 3),
            "routing_ns": round(sum(step.ns for step in self.steps if step.kind == "routing"), 3),
            "steps": steps,
        }


@dataclass(frozen=True)
class Timing:
    """Clock of one placement."""

    seed: int
    mhz: float
    path: Path


def read_report(text: str, seed: int, names: Names) -> Timing:
    """The clock and its critical path from nextpnr's report.

    Raises
    ------
    ToolError
        If there is not exactly one clock.
    """
    try:
        report = json.loads(text)
        clocks = {clock: float(value["achieved"]) for clock, value in report["fmax"].items()}
        if len(clocks) != 1:
            raise ToolError(f"the design must have one clock, and nextpnr reports {len(clocks)}")
        ((clock, mhz),) = clocks.items()
        edge = f"posedge {clock}"
        (found,) = [path["path"] for path in report["critical_paths"] if path["from"] == path["to"] == edge]
        steps = tuple(_step(part, names) for part in found)
    except (ValueError, KeyError, TypeError) as error:
        raise ToolError(f"the report of nextpnr cannot be understood: {error!r}") from None
    return Timing(seed, mhz, Path(seed, sum(step.ns for step in steps), steps))


def _step(part: dict[str, Any], names: Names) -> Step:
    kind = part["type"]
    name = names.net(part["net"]) if kind == "routing" else names.cell(part["to"]["cell"])
    return Step(kind, float(part["delay"]), name.signal, name.source, name.exact)
