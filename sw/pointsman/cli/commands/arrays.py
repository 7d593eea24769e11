"""``pointsman arrays``."""

from __future__ import annotations

import json
import re
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pointsman.api.options import ENGINES
from pointsman.cli.options import EXIT_WRONG, SEED, FilePath, check_output, effort_option, note, topology_of
from pointsman.cli.target_options import api_options, named_options, target_option
from pointsman.errors import PointsmanError
from pointsman.files import write_whole

if TYPE_CHECKING:
    from pointsman.arrays.analysis import Communications
    from pointsman.arrays.execution.following import Followed
    from pointsman.arrays.phases import ArrayPhases
    from pointsman.arrays.tree.statements import ArrayProgram
    from pointsman.artifacts.configurations.configurations import Network
    from pointsman.runtime.array_programs import ArrayApplication


EMITTED = ("scd", "communications", "patterns", "phases", "cop", "app", "traffic")


@click.command()
@click.argument("program", type=FilePath())
@click.option("--procs", metavar="PxQ", help="Grid of processors, such as 4x4, instead of the program's.")
@click.option("--set", "values", multiple=True, metavar="NAME=INTEGER", help="Value of a parameter; may be repeated.")
@click.option(
    "--network",
    metavar="torus|mesh|crossbar[:XxY]",
    default="torus",
    show_default=True,
    help="Network whose slots the phases share, and its size, x first; without a size a plane of the processors.",
)
@click.option("--slots", type=click.IntRange(min=1), default=10, show_default=True, help="Slots of the network.")
@click.option(
    "--degrees",
    type=click.Choice(["fewest", "quickest"]),
    default="fewest",
    show_default=True,
    help="Phases as few as the slots allow, or each with the degree that is best for a run: few slots of communication.",
)
@click.option(
    "--load",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Slots that it takes to establish a phase, for --degrees quickest.",
)
@click.option(
    "--count", is_flag=True, help="Carry the program out, all values 1 at first, and count elements and messages."
)
@click.option(
    "--emit",
    type=click.Choice(EMITTED),
    help="Print one stage: first descriptors, communications after each step, patterns, phases, the COP program that carries "
    "them, an application for `pointsman run`, or all that a run sends, as traffic for `pointsman optical`.",
)
@click.option(
    "--run", "run_it", is_flag=True, help="Run the program on hardware and compare it with its sequential meaning."
)
@click.option("--dry", is_flag=True, help="Run it without hardware.")
@target_option
@click.option(
    "--mesh", metavar="XxY[xZ]", help="Network to run on, x first; by default a mesh of the shape of the grid."
)
@click.option("--topology", metavar="FILE|KIND:SIZE", help="Network instead of --mesh: torus:4x4, or a JSON file.")
@click.option("--engine", type=click.Choice(ENGINES), default="auto", show_default=True, help="As for `pointsman run`.")
@effort_option
@click.option("--check/--no-check", default=True, help="Prove the images.  [numesh]")
@click.option(
    "--words",
    type=click.IntRange(1, 2),
    default=1,
    show_default=True,
    help="32-bit words of an element when the program runs: 1, REAL; 2, DOUBLE PRECISION.",
)
@click.option("--data", type=FilePath(), help="First values when the program runs: a .npz file with arrays by name.")
@click.option("--values", "seed", type=SEED, default=1, show_default=True, help="Seed of the other first values.")
@click.option(
    "--inspect",
    is_flag=True,
    help="Carry the program out first, and send through subscripts that are not affine only what is read with these values.",
)
@click.option("--save", type=FilePath(), help="Write the last values of the nodes: a .npz file with arrays by name.")
@click.option(
    "--json", "json_path", type=FilePath(), help="Write communications, patterns, phases and the run as JSON."
)
@click.pass_context
def arrays(ctx: click.Context, program: Path, json_path: Path | None, **given: Any) -> None:
    """Derive the communications of a Fortran PROGRAM with HPF directives, place them on processors and in phases, and run it.

    Files that end in .f or .for are in fixed form. What is not affine is named and treated conservatively. Exit status 1: the
    answer of a run is wrong; 2: the program is wrong.

    \b
    Example:
      pointsman arrays livermore18.f90 --procs 4x4 --count
      pointsman arrays jacobi.f90 --procs 2x2 --run
    """
    import time

    from pointsman.api.progress import telling
    from pointsman.arrays.analysis import derive
    from pointsman.arrays.fortran.reading import read_program

    for path in (json_path, given["save"]):
        if path is not None:
            check_output(path)
    runs = given["run_it"] or given["dry"]
    _refuse_options_of_runs(ctx, runs)
    try:
        text = program.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise PointsmanError(f"{program}: a program is text in UTF-8, and this file is none") from None
    except OSError as error:
        raise PointsmanError(f"cannot read {program}: {error.strerror}") from None
    values, processors = _values(given["values"]), _grid(given["procs"])
    read = read_program(text, str(program), values=values, processors=processors)
    for remark in read.remarks:
        click.echo(f"remark: {remark}", err=True)
    if given["emit"] == "app":
        click.echo(_application_text(text, program, values, read.grid.shape, given))
        return
    started = time.process_time()
    with telling(f"deriving the communications of {program.name}"):
        steps = derive(read)
    seconds = time.process_time() - started
    if given["emit"] in ("scd", "communications"):
        for name in ("initial",) if given["emit"] == "scd" else tuple(steps):
            _print_communications(name, steps[name])
        return
    if given["emit"] == "traffic":
        click.echo(_traffic(steps["scheduled"], given))
        return
    if given["emit"] == "cop":
        click.echo(_cop_text(read, steps["scheduled"], given))
        return
    started = time.process_time()
    with telling(f"placing the communications of {program.name} in phases"):
        phases = None if runs else _phases(steps["scheduled"], given)
    of_phases = time.process_time() - started
    with telling(f"counting what {program.name} sends"):
        answer = _answer(read, steps, phases, count=given["count"])
    answer |= {"seconds": seconds, "phases_seconds": of_phases}
    if given["emit"] is not None:
        click.echo(json.dumps(answer[given["emit"]], indent=1))
        return
    for step, figures in answer["steps"].items():
        said = f"{step}: {figures['communications']} communications in {figures['places']} messages"
        counted = f", {figures['elements']} elements, {figures['messages']} messages sent" if given["count"] else ""
        click.echo(said + counted)
    for number, phase in enumerate(answer["phases"], start=1):
        what = f"{len(phase['connections'])} connections in {phase['degree']} configurations"
        click.echo(f"phase {number}: {what}: {'; '.join(phase['names'])}")
    if answer["slots"] is not None:
        click.echo(f"communication of a run: {answer['slots']} slots")
    correct = _run(ctx, read, steps["scheduled"], answer) if runs else True
    if json_path is not None:
        write_whole(json_path, json.dumps(answer, indent=1) + "\n")
    if not correct:
        ctx.exit(EXIT_WRONG)


_OF_RUNS = ("inspect", "target", "mesh", "topology", "engine", "effort", "check", "words", "data", "seed", "save")


def _refuse_options_of_runs(ctx: click.Context, runs: bool) -> None:
    named = named_options(ctx)
    emit = named.get("emit")
    if runs and emit is not None:
        raise PointsmanError("--emit prints a stage, --run and --dry run the program: give one of them")
    if runs and "degrees" in named:
        raise PointsmanError("--degrees is for phases, not for runs")
    allowed = {"words", "mesh", "topology"} if emit in ("cop", "app") else set()
    allowed |= {"words", "data", "seed"} if emit == "traffic" or named.get("degrees") == "quickest" else set()
    if "load" in named and named.get("degrees") != "quickest":
        raise PointsmanError("--load is for phases that are made for a run", hint="give --degrees quickest")
    for name in _OF_RUNS:
        if name in named and not runs and name not in allowed:
            option = {"seed": "values", "check": "check/--no-check"}.get(name, name)
            raise PointsmanError(f"--{option} is for runs", hint="give --run")


def _phases(communications: Communications, given: dict[str, Any]) -> ArrayPhases:
    from pointsman.arrays.phases import Run, array_phases

    run = None
    if given["degrees"] == "quickest":
        run = Run(_followed(communications, given), given["words"], given["load"])
    return array_phases(communications, _network(communications.program, given["network"]), given["slots"], run=run)


def _network(program: ArrayProgram, said: str) -> Network:
    """A network with a node for each processor."""
    from pointsman.artifacts.configurations.configurations import Network

    found = re.fullmatch(r"(torus|mesh|crossbar)(?::([1-9]\d{0,3}(?:x[1-9]\d{0,3})*))?", said)
    if found is None:
        raise PointsmanError(f"--network is torus, mesh or crossbar, perhaps with a size as in torus:8x8, not {said}")
    kind: Any = found[1]
    size: tuple[int, ...] = (program.grid.size,) if kind == "crossbar" else program.grid.plane
    if found[2]:
        size = tuple(map(int, found[2].split("x")))
    nodes = prod(size)
    if nodes != program.grid.size or len(size) != (1 if kind == "crossbar" else 2):
        raise PointsmanError(
            f"--network {said}: {program.name} has {program.grid.size} processors, so a {kind} of "
            + ("that many ports" if kind == "crossbar" else "that many nodes in two dimensions")
        )
    return Network(kind, size)


def _followed(communications: Communications, given: dict[str, Any]) -> Followed:
    from pointsman.arrays.execution.following import follow
    from pointsman.arrays.execution.sites import find_sites
    from pointsman.runtime.array_programs import first_values, read_values

    program = communications.program
    first = dict(first_values(program, given["seed"]))
    if given["data"] is not None:
        first.update(read_values(given["data"], program))
    return follow(find_sites(communications), first)


def _traffic(communications: Communications, given: dict[str, Any]) -> str:
    """A specification for ``pointsman optical``, with the settings of Yuan 1998, Chapter 6: each message behind the other."""
    from pointsman.arrays.execution.following import packets

    on = _network(communications.program, given["network"])
    if on.kind == "crossbar":
        raise PointsmanError("traffic is for an optical mesh or torus, not for a crossbar", hint="--network torus")
    phases = [
        [[source, end, count] for (source, end), count in sorted(packets(transfers, given["words"]).items())]
        for _, transfers in _followed(communications, given).messages()
    ]
    network = {"kind": on.kind, "size": list(on.size)}
    scheme = {"conservative": True, "requests": 1}
    return json.dumps({"network": network, "reservation": scheme, "traffic": {"phases": phases}})


def _print_communications(name: str, communications: Communications) -> None:
    for statement, one in communications.descriptors():
        place = f"{statement.position}: " if statement.position is not None else ""
        click.echo(f"{name}: {place}{one}")


def _application(read: ArrayProgram, communications: Communications, given: dict[str, Any]) -> ArrayApplication:
    from pointsman.runtime.array_programs import ArrayApplication, read_values

    topology = None
    if given["mesh"] is not None or given["topology"] is not None:
        topology = topology_of({"mesh": given["mesh"], "network": given["topology"], "faults": None})
    made = ArrayApplication(
        read,
        topology,
        first=None if given["data"] is None else read_values(given["data"], read),
        words=given["words"],
        communications=communications,
        inspect=given["inspect"],
        seed=given["seed"],
    )
    if made.inspected is not None:
        before, after = made.inspected
        note(f"inspected: of {before} elements that subscripts might pick, {after} are read")
    return made


def _cop_text(read: ArrayProgram, communications: Communications, given: dict[str, Any]) -> str:
    from pointsman.cop import compile_program, program_to_cop

    application = _application(read, communications, given)
    return program_to_cop(compile_program(application.program, topology=application.topology)).rstrip("\n")


def _application_text(
    text: str, path: Path, values: dict[str, int], shape: tuple[int, ...], given: dict[str, Any]
) -> str:
    from pointsman.runtime.array_programs import application_text

    return application_text(text, path.name, values, shape, given["words"])


def _run(ctx: click.Context, read: ArrayProgram, communications: Communications, answer: dict[str, Any]) -> bool:
    """Run the program and print and keep what came of it; was the answer right?"""
    from pointsman import api

    given = ctx.params
    application = _application(read, communications, given)
    named = api_options(ctx)
    options = {name: named[name] for name in ("target", "engine", "effort", "check") if name in named}
    result = api.run(application, dry=given["dry"], **options, tell=note)
    click.echo(result.text)
    answer["operators"] = application.described()
    answer["run"] = result.values
    if given["save"] is not None:
        application.save(given["save"])
    return result.correct


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
    program: ArrayProgram, steps: dict[str, Communications], phases: ArrayPhases | None, *, count: bool
) -> dict[str, Any]:
    import numpy as np

    from pointsman.arrays.analysis.emulation import count as counted
    from pointsman.arrays.errors import ArrayProgramError

    figures: dict[str, Any] = {}
    for step, found in steps.items():
        try:
            first = {name: np.ones(array.shape) for name, array in program.arrays.items()} if count else {}
            cost = counted(found, first) if count else None
        except ArrayProgramError as error:
            message = f"with all values 1, {error.message}"
            raise ArrayProgramError(message, position=error.position, hint="leave out --count") from None
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
            for one in (phases.patterns if phases is not None else ())
        ],
        "slots": None if phases is None else phases.slots,
        "phases": [
            {
                "place": list(phase.place),
                "degree": phase.degree,
                "names": list(phase.names),
                "connections": sorted(map(list, phase.connections)),
                "configurations": [[list(pair) for pair in slot] for slot in slots],
            }
            for phase, slots in (zip(phases.phases, phases.configurations, strict=True) if phases is not None else ())
        ],
    }
