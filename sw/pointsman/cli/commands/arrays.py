"""``pointsman arrays``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pointsman.cli.options import FilePath
from pointsman.errors import PointsmanError
from pointsman.files import check_writable, write_whole

if TYPE_CHECKING:
    from pointsman.arrays.analysis import Communications
    from pointsman.arrays.phases import ArrayPhases
    from pointsman.arrays.tree.statements import ArrayProgram


@click.command()
@click.argument("program", type=FilePath())
@click.option("--procs", metavar="PxQ", help="Grid of processors, such as 4x4, instead of the program's.")
@click.option("--set", "values", multiple=True, metavar="NAME=INTEGER", help="Value of a parameter; may be repeated.")
@click.option(
    "--network",
    type=click.Choice(["torus", "mesh", "crossbar"]),
    default="torus",
    show_default=True,
    help="Network whose slots the phases share; a grid of one or two dimensions, or all processors on a crossbar.",
)
@click.option("--slots", type=click.IntRange(min=1), default=10, show_default=True, help="Slots of the network.")
@click.option(
    "--count", is_flag=True, help="Carry the program out, all values 1 at first, and count elements and messages."
)
@click.option("--json", "json_path", type=FilePath(), help="Write communications, patterns and phases as JSON.")
def arrays(
    program: Path,
    procs: str | None,
    values: tuple[str, ...],
    network: str,
    slots: int,
    count: bool,
    json_path: Path | None,
) -> None:
    """Derive the communications of a Fortran PROGRAM with HPF directives: after each step, on processors, and in phases.

    Files that end in .f or .for are in fixed form. What is not affine is named and treated conservatively. Exit status 2: the
    program is wrong, or a communication alone needs more slots than there are.

    \b
    Example:
      pointsman arrays livermore18.f90 --procs 4x4 --count
    """
    import time

    from pointsman.arrays.analysis import derive
    from pointsman.arrays.fortran.reading import read_program
    from pointsman.arrays.phases import array_phases
    from pointsman.artifacts.configurations.configurations import Network

    if json_path is not None:
        check_writable(json_path)
    try:
        text = program.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise PointsmanError(f"{program}: a program is text in UTF-8, and this file is none") from None
    read = read_program(text, str(program), values=_values(values), processors=_grid(procs))
    shape = read.grid.shape
    size = (read.grid.size,) if network == "crossbar" else (*reversed(shape), *([1] * (2 - len(shape))))
    started = time.process_time()
    steps = derive(read)
    seconds = time.process_time() - started
    made = Network(network, size)  # type: ignore[arg-type]
    phases = array_phases(steps["scheduled"], made, slots)
    answer = _answer(read, steps, phases, count=count)
    answer["seconds"] = seconds
    for remark in read.remarks:
        click.echo(f"remark: {remark}", err=True)
    for step, figures in answer["steps"].items():
        said = f"{step}: {figures['communications']} communications in {figures['places']} messages"
        click.echo(said + (f", {figures['elements']} elements, {figures['messages']} messages sent" if count else ""))
    for number, phase in enumerate(answer["phases"], start=1):
        what = f"{len(phase['connections'])} connections in {phase['degree']} configurations"
        click.echo(f"phase {number}: {what}: {'; '.join(phase['names'])}")
    if json_path is not None:
        write_whole(json_path, json.dumps(answer, indent=1) + "\n")


def _values(given: tuple[str, ...]) -> dict[str, int]:
    found = {}
    for one in given:
        parts = re.fullmatch(r"([A-Za-z]\w*)=([+-]?\d{1,9})", one)
        if parts is None:
            raise PointsmanError(f"--set is NAME=INTEGER of at most nine digits, not {one}")
        found[parts[1]] = int(parts[2])
    return found


def _grid(given: str | None) -> tuple[int, ...] | None:
    if given is None:
        return None
    if re.fullmatch(r"[1-9]\d{0,3}(x[1-9]\d{0,3})*", given) is None:
        raise PointsmanError(f"--procs is sizes between x, such as 4x4, not {given}")
    return tuple(map(int, given.split("x")))


def _answer(
    program: ArrayProgram, steps: dict[str, Communications], phases: ArrayPhases, *, count: bool
) -> dict[str, Any]:
    import numpy as np

    from pointsman.arrays.analysis.emulation import count as counted

    first = {name: np.ones(array.shape) for name, array in program.arrays.items()}
    figures: dict[str, Any] = {}
    for step, found in steps.items():
        try:
            cost = counted(found, first) if count else None
        except (ArithmeticError, ValueError) as error:
            raise PointsmanError(
                f"{program.name} cannot be carried out with all values 1: {error}", hint="leave out --count"
            ) from None
        figures[step] = {
            "communications": sum(1 for _ in found.descriptors()),
            "places": sum(map(len, found.before.values())),
            "elements": None if cost is None else cost.elements,
            "messages": None if cost is None else cost.messages,
        }
    return {
        "program": program.name,
        "processors": list(program.grid.shape),
        "remarks": list(program.remarks),
        "steps": figures,
        "patterns": [
            {"name": one.name, "descriptors": list(map(str, one.message)), "pairs": sorted(map(list, one.pairs))}
            for one in phases.patterns
        ],
        "phases": [
            {
                "place": list(phase.place),
                "degree": phase.degree,
                "names": list(phase.names),
                "connections": sorted(map(list, phase.connections)),
            }
            for phase in phases.phases
        ],
    }
