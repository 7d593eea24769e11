"""The target *optical* of ``pointsman compile`` and ``run``: phases as configurations of an optical mesh or torus.

It runs on the switch, whose registers hold the configurations of all connections of the program: slot by slot the same
connections, so the same words in the same slots. Light is not simulated.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pointsman.api.judged import judge_configurations
from pointsman.api.options import option_of, refuse_addresses, refuse_engine
from pointsman.api.showing import refuse_lines
from pointsman.errors import PointsmanError
from pointsman.files import write_whole
from pointsman.report.table import short, table
from pointsman.targets.optical import OpticalProgram, make_optical, switch_tables
from pointsman.targets.target import TargetRun

from .tdm import SwitchTarget

if TYPE_CHECKING:
    from pointsman.network import Topology
    from pointsman.program.program import Program
    from pointsman.runtime import Application
    from pointsman.targets.target import Given

_ROUTERS_ONLY = (
    "preload",
    "period",
    "phases",
    "readmemh",
    "plugins",
    "in_c",
    "pipelines",
    "vfsms",
    "schedule_depth",
    "registers",
    "width",
)
"""Options that mean something to scheduled routers only."""


class OpticalTarget:
    """Programs as sets of connections that an optical network makes in turn."""

    name = "optical"
    stages = ("tables",)
    plan = None

    def __init__(self) -> None:
        self._compiled: tuple[OpticalProgram, Program, int] | None = None
        """What was compiled last, of which program, with which seed."""

    def refuse(self, given: Given) -> None:
        refuse_addresses(given)
        refuse_engine(given)
        refuse_lines(given)
        for name in _ROUTERS_ONLY:
            if given.get(name):
                raise PointsmanError(f"{option_of(name)} is for the mesh of scheduled routers, not for target optical")
        if given.get("emit", "tables") != "tables":
            raise PointsmanError(f"--emit {given['emit']} is a stage of target numesh", hint="--emit tables")

    def stage(self, program: Program, name: str, emit: str, given: Given) -> str:
        return json.dumps(self.compile(program, name, given).as_dict(), indent=1)

    def compile(self, program: Program, name: str, given: Given) -> OpticalProgram:
        made = make_optical(program, name=name, seed=given["seed"] or 0)
        for one in made.sets:
            judge_configurations(one)
        self._compiled = made, program, given["seed"] or 0
        return made

    def predicted(self, program: Program, name: str, given: Given) -> float | None:
        """A slot carries a word, as a link of the other targets does in a cycle, so slots are cycles. All connections of the
        program stand for ever, and processors are played as those of the switch are."""
        from cosim.tdm.prediction import predicted_cycles

        seed = given.get("seed") or 0
        found = switch_tables(program, make_optical(program, name=name, seed=seed), seed=seed)
        if found is None:
            return None
        tables, configurations = found
        judge_configurations(configurations)
        return predicted_cycles(tables, program)

    def describe(self, artifact: OpticalProgram) -> str:
        rows: list[list[str]] = []
        for phase in artifact.phases:
            configured = [artifact.sets[one] for one in phase.sets]
            for number, (label, way) in enumerate(phase.operators):
                first = number == 0
                rows.append(
                    [
                        short(phase.name) if first else "",
                        label,
                        way,
                        *(
                            [
                                str(max(len(one.problem.connections) for one in configured)),
                                str(max(one.degree for one in configured)),
                                str(max(one.bound for one in configured)),
                                str(max(artifact.crossbar[one] for one in phase.sets)),
                                f"{phase.slots:g}",
                            ]
                            if first
                            else [""] * 5
                        ),
                    ]
                )
        head = ["phase", "operator", "implementation", "connections", "configurations", "bound", "crossbar", "slots"]
        return (
            f"{artifact.name} on an optical {artifact.network} {artifact.network.kind}: {artifact.degree} channels, about "
            f"{artifact.slots:g} slots\n" + table(head, rows)
        )

    def write(self, artifact: OpticalProgram, given: Given) -> Iterator[str]:
        if given["output"] is not None:
            write_whole(given["output"], json.dumps(artifact.as_dict(), indent=1) + "\n")
            yield f"wrote {given['output']}"

    def read(self, path: Path, topology: Topology, given: Given) -> OpticalProgram:
        raise PointsmanError("--image is for scheduled routers, not for --target optical")

    def run(
        self, artifact: OpticalProgram, application: Application, seconds: dict[str, float], given: Given
    ) -> TargetRun:
        assert self._compiled is not None  # images of this target are not read, so what is run was compiled
        made, program, seed = self._compiled
        assert made is artifact
        found = switch_tables(program, artifact, seed=seed)
        if found is None:
            raise PointsmanError(
                f"{artifact.name} needs more configurations at a time, or more ports, than the switch has on which target optical"
                " runs",
                hint="pointsman optical simulates traffic on such a network",
            )
        tables, configurations = found
        judge_configurations(configurations)
        return SwitchTarget().run(tables, application, seconds, given)
