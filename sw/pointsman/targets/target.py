"""Protocol of a hardware target, as used by ``pointsman compile`` and ``pointsman run``.

A target turns a Program into an artifact: images of scheduled routers (*numesh*), connection tables of a switch (*tdm*), or
implementations and interface addresses of packet routers (*packet*). Its module is in ``api/targets``, above this room, because
it combines the compiler of its artifact (``targets``), the judge (``verify``), the machine (``cosim``) and the report. The
commands know only this protocol.

Non-goals: the stages that all targets share (reading the program, ``--emit program`` and ``python``, warnings, ``--dry``), and
what a shell sees: options, exit status, files of results.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from pointsman.network import Topology
from pointsman.program.program import Program

Artifact = TypeVar("Artifact")
Application = TypeVar("Application", contravariant=True)

Given = Mapping[str, Any]
"""Options of the command by their names in Python (``slot_cycles`` for ``--slot-cycles``), with their defaults."""


class TargetRun(NamedTuple):
    """Results of running an application. ``results``: plain values, as written to ``--json``, "correct" among them.
    ``text``: the same as text. ``finished``: the run itself, with its record (`cosim.numesh.session.Run` and others)."""

    results: dict[str, Any]
    text: str
    finished: Any


class Target(Protocol[Artifact, Application]):
    """A kind of hardware. ``Artifact``: type that `compile` gives; ``Application``: type that `run` takes."""

    @property
    def name(self) -> str:
        """As after ``--target``: "numesh"."""

    @property
    def stages(self) -> tuple[str, ...]:
        """Stages that ``--emit`` can show besides "program" and "python", for example ("plan", "routes", "images")."""

    @property
    def plan(self) -> Any:
        """The plan (`pointsman.plan.plan.Plan`) that `compile` made its last artifact from; None where none was made."""

    def refuse(self, given: Given) -> None:
        """Check options before anything is compiled. ``given``: options that the user has named, without defaults.

        Raises
        ------
        PointsmanError
            If an option, a stage or an engine belongs to another target.
        """

    def stage(self, program: Program, name: str, emit: str, given: Given) -> str:
        """Compile as far as the stage ``emit``, one of ``stages``. Gives it as text (JSON), without a newline at its end."""

    def compile(self, program: Program, name: str, given: Given) -> Artifact:
        """Compile a program, called ``name`` in reports, and have it judged (unless ``given["check"]`` is False).

        Raises
        ------
        PointsmanError
            If the program does not fit the hardware, or the judge refutes what was compiled for it.
        """

    def predicted(self, program: Program, name: str, given: Given) -> float | None:
        """Cycles that a program, compiled as `compile` does but for the proof, is predicted to take; None if they are not known.

        Raises
        ------
        PointsmanError
            If the program does not fit the hardware.
        """

    def describe(self, artifact: Artifact) -> str:
        """For a reader: how each operator is done, in which phase."""

    def write(self, artifact: Artifact, given: Given) -> Iterator[str]:
        """Write the files that ``given`` asks for (``output``, ``readmemh``). Gives a line after each: "wrote a.image"."""

    def read(self, path: Path, topology: Topology, given: Given) -> Artifact:
        """Read the artifact of a file, to be run without compiling.

        Raises
        ------
        PointsmanError
            If the file is no artifact of this target, is inconsistent, or is for another network than ``topology``.
        """

    def run(self, artifact: Artifact, application: Application, seconds: dict[str, float], given: Given) -> TargetRun:
        """Build the machine, load it, run an application and check its answer.

        ``seconds`` has the times of earlier stages ("compile"); those of the run are added ("build", "run", …).
        """
