"""Options and steps that commands share."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pointsman.api.options import NODE_SIZES, WARNINGS
from pointsman.errors import PointsmanError
from pointsman.files import check_writable, same_file, write_whole

if TYPE_CHECKING:
    from pointsman.cop import Program
    from pointsman.cop.limits import Limits
    from pointsman.network import Topology

EXIT_USER = 2
"""Exit status for anything that the user can mend."""
EXIT_INTERRUPTED = 130
"""Exit status after Ctrl-C."""
EXIT_WRONG = 1
"""Exit status of a run with a wrong answer, and of a check with findings."""


def network_options(command: Any) -> Any:
    """The network, for `topology_of`: ``--mesh`` or ``--topology``, and ``--faults``."""
    for option in (
        click.option(
            "--faults",
            type=FilePath(),
            metavar="FILE",
            help='Nodes and links that do not work, as JSON: {"nodes": [5], "links": [[0, 1]]}. Programs go around them.',
        ),
        click.option(
            "--topology",
            "network",
            metavar="FILE|KIND:SIZE",
            help="Network instead of --mesh: mesh:4x4, torus:4x4, diamond:3, or a JSON file with nodes and links.",
        ),
        click.option("--mesh", metavar="XxY[xZ]", help="Size of the mesh, for instance 4x4. Nodes count x first."),
    ):
        command = option(command)
    return command


class FilePath(click.Path):
    """Names of files and folders."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":  # Path("") would be the folder in which the command is called
            self.fail("a name must not be empty.", param, ctx)
        return super().convert(value, param, ctx)


def check_output(path: Path) -> None:
    """Find out before long work whether the running command can write ``path``, and overwrites nothing else that it was given.

    Raises
    ------
    PointsmanError
        If it cannot be written, or another option or argument of the command names the same file.
    """
    ctx = click.get_current_context()
    for param in ctx.command.params:
        value = ctx.params.get(param.name or "")
        for other in value if isinstance(value, tuple) else (value,):
            if isinstance(other, str | Path) and other is not path and same_file(Path(other), path):
                name = param.human_readable_name if isinstance(param, click.Argument) else param.opts[0]
                raise PointsmanError(f"cannot write {path}: {name} is the same file", hint="give another name")
    check_writable(path)


class Effort(click.FloatRange):
    """Values of ``--effort``: above 0 up to 1000, and a number (``nan`` is between all bounds)."""

    def __init__(self) -> None:
        super().__init__(min=0, min_open=True, max=1000)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if math.isnan(number):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return number


SEED = click.IntRange(0, (1 << 32) - 1)
"""Values of ``--seed``, for any generator of random numbers."""


def effort_option(command: Any) -> Any:
    return click.option(
        "--effort",
        type=Effort(),
        default=1.0,
        show_default=True,
        help="Work to spend on phases and routes: less is quicker, more may find better ones.",
    )(command)


def phases_option(command: Any) -> Any:
    return click.option(
        "--phases", type=click.IntRange(min=1), help="Most phases of a node (any number if not given)."
    )(command)


def set_option(command: Any) -> Any:
    return click.option(
        "--set", "settings", metavar="NAME=VALUE", multiple=True, help="Value of a (parameter …) of the program."
    )(command)


def warnings_option(command: Any) -> Any:
    return click.option(
        "--warnings",
        type=click.Choice(WARNINGS),
        default="show",
        show_default=True,
        help="What to do about likely mistakes in the program: print them, stop, or nothing.",
    )(command)


def parameters_of(pairs: Sequence[str]) -> dict[str, int]:
    """Values of ``--set``."""
    values = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        try:
            if not equals or len(value) > 20:
                raise ValueError
            values[name] = int(value)
        except ValueError:
            raise PointsmanError(f"--set takes NAME=VALUE with a whole number, not {pair!r}") from None
    return values


@dataclass(frozen=True)
class SourceOptions:
    """Settings for reading COP text: values of its parameters, limits, and the treatment of likely mistakes."""

    settings: tuple[str, ...]
    limits: tuple[str, ...]
    warnings: str

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> SourceOptions:
        """Taken from the options of a command."""
        return cls(given.get("settings", ()), given["limits"], given["warnings"])

    def program(self, path: Path, topology: Topology) -> Program:
        """The program of a COP file, or of a file of Python; likely mistakes are told."""
        from pointsman.api.compiling import mistakes, program_of_file

        bounds = limits_of(self.limits)
        program = program_of_file(path, topology, {"parameters": parameters_of(self.settings), "limits": bounds})
        for warning in mistakes(program, bounds, self.warnings):
            note(warning)
        return program


def shape_options(command: Any) -> Any:
    """Sizes of a node."""
    for name, (text, default) in reversed(NODE_SIZES.items()):
        option = f"--{name.replace('_', '-')}"
        command = click.option(option, type=int, default=default, show_default=True, help=text)(command)
    return command


def language_options(command: Any) -> Any:
    """Limits on the COP text, and implementations from outside."""
    command = click.option(
        "--implementations",
        "plugins",
        metavar="FILE",
        type=FilePath(),
        multiple=True,
        help="Python file with further implementations of operators; it is run.",
    )(command)
    return limit_option(command)


def limit_option(command: Any) -> Any:
    """Limits on the COP text."""
    return click.option(
        "--limit",
        "limits",
        metavar="NAME=VALUE",
        multiple=True,
        help="Bound on what the COP text may use, for instance steps=5000000.",
    )(command)


def limits_of(pairs: Sequence[str]) -> Limits:
    """The default limits, but for those of ``pairs``, such as "steps=5000000"."""
    from pointsman.cop.limits import Limits
    from pointsman.cop.text.source import suggestion

    names = [entry.name for entry in fields(Limits)]
    values: dict[str, int] = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        if name not in names:
            hint = suggestion(name, names) or f"known are {', '.join(names)}"
            raise PointsmanError(f"--limit takes NAME=VALUE, and there is no limit '{name}'", hint=hint)
        if not (value.isascii() and value.isdigit() and len(value) <= 18):
            raise PointsmanError(f"--limit {name} takes a positive whole number, not {value!r}")
        values[name] = int(value)
    return Limits(**values)


def names_network(given: Mapping[str, Any]) -> bool:
    """Does the user say which network it is?"""
    return given["mesh"] is not None or given["network"] is not None


def topology_of(given: Mapping[str, Any]) -> Topology:
    """The network of `network_options`."""
    from pointsman.artifacts.network_files import faults_from, topology_from
    from pointsman.network import mesh, parse_size

    if given["mesh"] is not None and given["network"] is not None:
        raise PointsmanError("--mesh and --topology both name the network: give one of them")
    if given["network"] is not None:
        topology = topology_from(given["network"])
    elif given["mesh"] is not None:
        topology = mesh(*parse_size(given["mesh"]))
    else:
        raise PointsmanError("the size of the network is missing", hint="--mesh 4x4, or --topology torus:4x4")
    if given["faults"] is None:
        return topology
    return faults_from(given["faults"], topology, apart=given.get("target") == "tdm")


def note(text: str) -> None:
    click.echo(text, err=True)


def emit_text(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text)
    else:
        write_whole(output, text + "\n")
