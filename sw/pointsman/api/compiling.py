"""``pointsman.compile``: a program to images, tables or addresses; the command ``compile`` is this function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from pointsman.errors import PointsmanError

from .options import (
    MODES,
    TARGETS,
    CompileOptions,
    given_and_named,
    network_from,
    plain,
    refuse_switch_options,
    shape_of,
    target_for,
)
from .result import Compiled
from .targets.by_name import target_named

if TYPE_CHECKING:
    import networkx

    from pointsman.cop import Parts
    from pointsman.cop.compile import Host
    from pointsman.network import Topology
    from pointsman.program.program import Program
    from pointsman.runtime import Application
    from pointsman.targets.target import Given, Target


def compile_(
    program: Path | str | Program | Callable[..., Parts],
    network: Topology | networkx.Graph | str | None = None,
    *,
    target: str | None = None,
    parameters: Mapping[str, int] | None = None,
    **options: Unpack[CompileOptions],
) -> Compiled:
    """Compile a program for hardware, and have it proved.

    Parameters
    ----------
    program : path, Program, or function
        A COP file, a Python file with a function ``program``, or a program made by Python: a function that takes a
        `pointsman.cop.Network` and returns parts, or a `Program`.
    network : Topology, networkx.Graph or str
        The nodes and links, for instance ``mesh(4, 4)`` or "torus:4x4"; see `options.network_from`.
    target : str, optional
        "numesh" (scheduled routers), "tdm" (a time-multiplexed switch) or "packet" (packet routers). When not given, the one that
        the program's ``*mode*`` sets, or numesh.
    parameters : mapping of str to int
        Values of the program's parameters.
    options
        See `CompileOptions`.

    Raises
    ------
    PointsmanError
        If the program is wrong or does not fit the hardware, or an option is wrong.

    >>> import pointsman
    >>> from pointsman import cop
    >>> compiled = pointsman.compile(lambda net: [cop.cshift("c", 1, m=8)], "3", target="tdm", mode="preload")
    >>> compiled.artifact.mode
    'preload'
    """
    source = ProgramSource(network, target, options)
    made = source.read(program, parameters or {})
    return source.compiled(made, name_of(program))


def stage(
    program: Path | str | Program | Callable[..., Parts],
    network: Topology | networkx.Graph | str | None = None,
    emit: str = "program",
    *,
    target: str | None = None,
    parameters: Mapping[str, int] | None = None,
    **options: Unpack[CompileOptions],
) -> str:
    """What is known of a program after a stage, as text: "program" (COP), "python", or a stage of the target ("plan", "routes",
    "images" or "tables", as JSON). Raises as `compile_`."""
    source = ProgramSource(network, target, options)
    if emit in ("program", "python"):
        from pointsman.cop import program_to_cop, program_to_python

        made = source.read(program, parameters or {})
        limits = source.limits
        return (program_to_cop(made, limits) if emit == "program" else program_to_python(made, limits=limits)).rstrip(
            "\n"
        )
    made = source.read(program, parameters or {})
    chosen = source.target_of(made, emit=emit)
    if emit not in chosen.stages:
        raise PointsmanError(f"the stage must be one of program, python, {', '.join(chosen.stages)}, not {emit!r}")
    return chosen.stage(made, name_of(program), emit, source.given)


class ProgramSource:
    """How programs are read and compiled: a network, a target and options. Notes pile up in ``notes``."""

    def __init__(
        self, network: Topology | networkx.Graph | str | None, target: str | None, options: Mapping[str, Any]
    ) -> None:
        from pointsman.cop.limits import DEFAULT_LIMITS

        self.target = target
        self.given: Given
        self.named: Given
        self.given, self.named = given_and_named(options, target)
        self.topology = network_from(network, target=target, ports=self.given["ports"])
        shape_of(self.topology, self.given)
        self.limits = options.get("limits", DEFAULT_LIMITS)
        self.notes: list[str] = []
        self._tell: Callable[[str], None] = options.get("tell", lambda text: None)

    def note(self, text: str) -> None:
        self.notes.append(text)
        self._tell(text)

    def host(self, parameters: Mapping[str, int]) -> Host:
        """What a program is given besides the network."""
        mode, schedlen = MODES[self.target or TARGETS[0]], self.given["period"]
        parameters = {name: plain(value) for name, value in parameters.items()}
        return {"parameters": parameters, "limits": self.limits, "mode": mode, "schedlen": schedlen}

    def target_of(self, program: Program, **also: Any) -> Target[Any, Application]:
        """The target of a program; options of another target are refused, and so is what is in ``also``."""
        name = target_for(program, self.target)
        refuse_switch_options(self.named, name)
        chosen = target_named(name)
        chosen.refuse({**self.named, **also})
        beyond = shape_of(program.topology, self.given).beyond_chip if name == "numesh" else ()
        if beyond:
            self.note(f"warning: not executable on the NuMesh chip: {', '.join(beyond)}")
        return chosen

    def read(self, program: Any, parameters: Mapping[str, int]) -> Program:
        """The program on the network; likely mistakes are noted."""
        from pointsman.cop import compile_program
        from pointsman.program.program import Program

        if not isinstance(parameters, Mapping):
            raise PointsmanError(f"parameters must be a mapping of names to numbers, not {type(parameters).__name__}")
        if isinstance(program, Program):
            if program.topology != self.topology:
                raise PointsmanError(
                    f"the program was made for a {program.topology.described}, not for a {self.topology.described}"
                )
            if parameters and dict(program.parameters) != self.host(parameters)["parameters"]:
                raise PointsmanError("the program was made with other parameters")
            made = program
        elif isinstance(program, str | Path):
            made = program_of_file(Path(program), self.topology, self.host(parameters))
        elif not callable(program):
            raise PointsmanError(
                f"a program must be the path of a file, a function that makes it, or a Program, not {type(program).__name__}",
                hint="docs/python.md shows the forms",
            )
        else:
            made = compile_program(program, topology=self.topology, **self.host(parameters))
        self.look_for_mistakes(made)
        return made

    def look_for_mistakes(self, program: Program) -> None:
        """Note likely mistakes, or stop because of them, as the option ``warnings`` says."""
        for warning in mistakes(program, self.limits, self.given["warnings"]):
            self.note(warning)

    def compiled(self, program: Program, name: str) -> Compiled:
        chosen = self.target_of(program)
        artifact = chosen.compile(program, name, self.given)
        return Compiled(chosen.name, artifact, chosen.describe(artifact), tuple(self.notes), chosen.plan)


def program_of_file(path: Path, topology: Topology, host: Host) -> Program:
    """The program of a COP file, or of a file of Python."""
    from pointsman.cop import compile_file, compile_python_file

    return (compile_python_file if path.suffix == ".py" else compile_file)(path, topology=topology, **host)


def mistakes(program: Program, limits: Any, warnings: str) -> list[str]:
    """Likely mistakes in a program as text. ``warnings``: "show", "error" or "ignore".

    Raises
    ------
    PointsmanError
        If there are any and they are errors.
    """
    from pointsman.cop.mistakes import find_mistakes

    if warnings == "ignore":
        return []
    found = [str(warning) for warning in find_mistakes(program, limits=limits)]
    if warnings == "error" and found:
        raise PointsmanError("\n".join([*found, "warnings are errors here"]), hint="--warnings show lets them pass")
    return found


def name_of(program: Any) -> str:
    """Name of a program for reports."""
    if isinstance(program, str | Path):
        return Path(program).stem
    return getattr(program, "__name__", "program").replace("<lambda>", "program")
