"""Options and steps that commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pointsman.errors import PointsmanError
from pointsman.files import write_whole

if TYPE_CHECKING:
    from numesh.shape import NodeShape
    from pointsman.cop import Program
    from pointsman.images.image import Images
    from pointsman.network import Topology

EXIT_USER = 2
"""Exit status for anything that the user can mend."""
EXIT_WRONG = 1
"""Exit status of a run with a wrong answer, and of a check with findings."""


def mesh_option(required: bool = True) -> Callable[[Any], Any]:
    return click.option(
        "--mesh", metavar="XxY[xZ]", required=required, help="Size of the mesh, for instance 4x4. Nodes count x first."
    )


def set_option(command: Any) -> Any:
    return click.option(
        "--set", "settings", metavar="NAME=VALUE", multiple=True, help="Value of a (parameter …) of the program."
    )(command)


def warnings_option(command: Any) -> Any:
    return click.option(
        "--warnings",
        type=click.Choice(["show", "error", "ignore"]),
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


def report_warnings(program: Program, how: str) -> None:
    """Print likely mistakes, or stop because of them."""
    from pointsman.cop.mistakes import find_mistakes

    if how == "ignore":
        return
    found = find_mistakes(program)
    if how == "error" and found:
        raise PointsmanError(
            "\n".join(map(str, found)) + "\nwarnings are errors here", hint="--warnings show lets them pass"
        )
    for warning in found:
        note(str(warning))


def shape_options(command: Any) -> Any:
    """Sizes of a node."""
    options = [
        ("--pipelines", "Words that a node can move in a cycle.", 2),
        ("--vfsms", "Virtual state machines per pipeline.", 32),
        ("--schedule-depth", "Entries of the schedule memory.", 128),
        ("--registers", "Interface registers between processor and router.", 16),
        ("--width", "Bits of a word.", 32),
    ]
    for name, text, default in reversed(options):
        command = click.option(name, type=int, default=default, show_default=True, help=text)(command)
    return command


def topology_of(mesh: str) -> Topology:
    from pointsman.network import mesh as make_mesh
    from pointsman.network import parse_size

    return make_mesh(*parse_size(mesh))


def shape_of(topology: Topology, sizes: dict[str, Any]) -> NodeShape:
    from numesh.shape import NodeShape, ShapeError

    try:
        return NodeShape(neighbours=max(4, topology.ports), **sizes)
    except ShapeError as error:
        raise PointsmanError(str(error)) from None


def note(text: str) -> None:
    click.echo(text, err=True)


def emit_text(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text)
    else:
        write_whole(output, text + "\n")


def prove(images: Images) -> None:
    """The compiler's own work is proved by the judge; a finding is a fault of ours."""
    from pointsman.streams.check import check_images

    report = check_images(images)
    if not report.ok:
        raise PointsmanError(
            f"the compiled images break rules of the hardware:\n{report.render()}",
            hint="this is a fault of the compiler: please report it with the program",
        )
