"""The target *logp* of ``pointsman run``: active messages on an abstract machine with a latency, overheads and a gap."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pointsman.api.options import option_of
from pointsman.errors import PointsmanError
from pointsman.targets.target import TargetRun

if TYPE_CHECKING:
    from pointsman.network import Topology
    from pointsman.program.program import Program
    from pointsman.runtime import Application
    from pointsman.targets.target import Given

_CLOCKS = ("processor_mhz", "network_mhz", "operation_cycles")
_TAKEN = ("target", "logp", "max_cycles", "warnings", "events", *_CLOCKS)
"""Options that mean something here, or to every target."""


class LogpTarget:
    """Programs of active messages; their operators are not used, only what is sent from anybody to anybody."""

    name = "logp"
    stages = ("plan",)
    plan = None

    def refuse(self, given: Given) -> None:
        for name, value in given.items():
            if name not in _TAKEN and value not in (None, False, (), "auto", "plan"):
                raise PointsmanError(f"{option_of(name)} is about hardware, and a LogP machine has none")

    def stage(self, program: Program, name: str, emit: str, given: Given) -> str:
        made = self.compile(program, name, given)
        return json.dumps({"program": made.name, "processors": made.topology.nodes}, indent=1)

    def compile(self, program: Program, name: str, given: Given) -> LogpProgram:
        return LogpProgram(name, program.topology)

    def predicted(self, program: Program, name: str, given: Given) -> float | None:
        """What a program of active messages does is known only when it runs."""
        return None

    def describe(self, artifact: LogpProgram) -> str:
        return f"{artifact.name} on {artifact.topology.nodes} processors of a LogP machine"

    def write(self, artifact: LogpProgram, given: Given) -> Iterator[str]:
        if given.get("output") is not None:
            raise PointsmanError("nothing is compiled for a LogP machine", hint="leave --output out")
        yield from ()

    def read(self, path: Path, topology: Topology, given: Given) -> LogpProgram:
        raise PointsmanError("--image is for scheduled routers, not for --target logp")

    def run(
        self, artifact: LogpProgram, application: Application, seconds: dict[str, float], given: Given
    ) -> TargetRun:
        from cosim.logp.parameters import logp_named
        from cosim.logp.session import run_logp_application
        from pointsman.report.run import means_json
        from pointsman.report.table import table
        from pointsman.runtime.active.application import ActiveApplication

        inner = getattr(application, "application", application)
        if not isinstance(inner, ActiveApplication):
            raise PointsmanError(
                f"{type(inner).__name__} uses operators of COP, and a LogP machine carries active messages only",
                hint="it runs Split-C (an application derived from pointsman.runtime.splitc.SplitCApplication) and TAM",
            )
        parameters = logp_named(given["logp"] or "example")
        done = run_logp_application(
            application, artifact.topology, parameters, name=artifact.name, max_cycles=given["max_cycles"]
        )
        record = done.record
        results: dict[str, Any] = {
            "correct": done.correct,
            "answer": done.answer,
            "target": "logp",
            "network": {"kind": artifact.topology.kind, "size": list(artifact.topology.size)},
            "machine": parameters.as_dict(),
            "messages": done.messages,
            **means_json(record.cycles, record.total_cycles),
            "seconds": {**seconds, "run": record.wall_seconds},
        }
        means = results["categories"]
        rows = [["this run", *(f"{means[one]:,.0f}" for one in ("cpu", "write", "read"))]]
        lines = [
            f"{self.describe(artifact)}: L {parameters.latency}, o {parameters.send} and {parameters.receive}, "
            f"g {parameters.gap}, capacity {parameters.room}; a unit is 1 {parameters.unit}".replace("1 0.1", "0.1"),
            f"  answer: {done.answer}" if done.correct else f"  WRONG: {done.answer}",
            "",
            table(["units, mean over the processors", "cpu", "write", "read"], rows),
            "",
            f"{record.total_cycles:,} units; {done.messages:,} messages, "
            f"{done.messages / max(record.wall_seconds, 1e-9) / 1e3:.0f} thousand a second",
        ]
        return TargetRun(results, "\n".join(lines), done)


class LogpProgram:
    """A program for a LogP machine: its name, and the network whose nodes are processors."""

    def __init__(self, name: str, topology: Topology) -> None:
        self.name = name
        self.topology = topology
