"""The command ``pointsman``. Rooms are opened when a command needs them, so that help and errors come at once."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

import pointsman
from pointsman.errors import PointsmanError
from pointsman.files import check_writable, write_whole

if TYPE_CHECKING:
    from numesh.shape import NodeShape
    from pointsman.images.image import Images
    from pointsman.network import Topology

EXIT_USER = 2
"""Exit status for anything that the user can mend."""
EXIT_WRONG = 1
"""Exit status of a run with a wrong answer, and of a check with findings."""


class _Group(click.Group):
    """Prints a user's error as it is, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PointsmanError as error:
            click.echo(f"pointsman: {error}", err=True)
            ctx.exit(EXIT_USER)
        except KeyboardInterrupt:
            click.echo("pointsman: interrupted", err=True)
            ctx.exit(130)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(pointsman.__version__, prog_name="pointsman", message="%(prog)s %(version)s")
def main() -> None:
    """Compile an application's communications into timetables for network hardware, and run them on it.

    A COP program says which nodes communicate and how; Pointsman finds for every router which word it moves in which
    cycle, loads that into the hardware description and runs the application on it, cycle by cycle.

    \b
    Try:
      pointsman run examples/matmul/matmul.py --mesh 4x4
      pointsman compile examples/matmul/matmul.cop --mesh 4x4 -o matmul.image
      pointsman check matmul.image
      pointsman verilog numesh --mesh 4x4 -o mesh.v
    """


def _mesh_option(required: bool = True) -> Callable[[Any], Any]:
    return click.option(
        "--mesh", metavar="XxY[xZ]", required=required, help="Size of the mesh, for instance 4x4. Nodes count x first."
    )


def _shape_options(command: Any) -> Any:
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


def _topology(mesh: str) -> Topology:
    from pointsman.network import mesh as make_mesh
    from pointsman.network import parse_size

    return make_mesh(*parse_size(mesh))


def _shape(topology: Topology, sizes: dict[str, Any]) -> NodeShape:
    from numesh.shape import NodeShape, ShapeError

    try:
        return NodeShape(neighbours=max(4, topology.ports), **sizes)
    except ShapeError as error:
        raise PointsmanError(str(error)) from None


def _note(text: str) -> None:
    click.echo(text, err=True)


# -- compile -------------------------------------------------------------------------------------------------


@main.command("compile")
@click.argument("program", type=click.Path(path_type=Path))
@_mesh_option()
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Image file, or the text of --emit.")
@click.option("--set", "settings", metavar="NAME=VALUE", multiple=True, help="Value of a (parameter …) of the program.")
@click.option("--period", type=int, help="Schedule length; chosen when not given.")
@click.option(
    "--emit",
    type=click.Choice(["program", "plan", "routes", "images"]),
    help="Stop after this stage and print it: the program as COP, the others as JSON.",
)
@click.option("--readmemh", type=click.Path(path_type=Path), help="Folder for $readmemh files of every memory.")
@click.option("--check/--no-check", default=True, help="Prove the images before they are written.")
@_shape_options
def compile_(
    program: Path,
    mesh: str,
    output: Path | None,
    settings: tuple[str, ...],
    period: int | None,
    emit: str | None,
    readmemh: Path | None,
    check: bool,
    **sizes: int,
) -> None:
    """Compile a COP PROGRAM for a mesh of scheduled routers.

    Prints the phases: which operators share the network, how each is done, what bandwidth it gets, and how the phase
    ends.

    \b
    Example:
      pointsman compile examples/matmul/matmul.cop --mesh 4x4 --set block=225 -o matmul.image
    """
    from pointsman.cop import compile_file, program_to_cop

    topology = _topology(mesh)
    shape = _shape(topology, sizes)
    if output is not None:
        check_writable(output)
    parsed = compile_file(program, topology=topology, parameters=_settings(settings))
    if emit == "program":
        _emit(program_to_cop(parsed), output)
        return
    from pointsman.plan.build import make_plan
    from pointsman.targets.numesh import make_images

    plan = make_plan(parsed, shape, name=program.stem, period=period)
    if emit in ("plan", "routes"):
        from pointsman.report.stages import plan_json, routes_json

        _emit(json.dumps(plan_json(plan) if emit == "plan" else routes_json(plan), indent=1), output)
        return
    images = make_images(plan)
    if emit == "images":
        from pointsman.report.stages import images_json

        _emit(json.dumps(images_json(images), indent=1), output)
        return
    if check:
        _prove(images)
    from pointsman.report.run import phase_table

    click.echo(f"{images.name} on a {topology} {topology.kind}, {images.period} slots")
    click.echo(phase_table(images))
    if output is not None:
        from pointsman.images.format import write_images

        write_images(images, output)
        click.echo(f"wrote {output}")
    if readmemh is not None:
        from pointsman.images.readmemh import write_readmemh

        count = len(write_readmemh(images, readmemh))
        click.echo(f"wrote {count} files into {readmemh}")


def _settings(pairs: Sequence[str]) -> dict[str, int]:
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


def _emit(text: str, output: Path | None) -> None:
    if output is None:
        click.echo(text)
    else:
        write_whole(output, text + "\n")


def _prove(images: Images) -> None:
    """The compiler's own work is proved by the judge; a finding is a fault of ours."""
    from pointsman.streams.check import check_images

    report = check_images(images)
    if not report.ok:
        raise PointsmanError(
            f"the compiled images break rules of the hardware:\n{report.render()}",
            hint="this is a fault of the compiler: please report it with the program",
        )


# -- check ---------------------------------------------------------------------------------------------------


@main.command()
@click.argument("image", type=click.Path(path_type=Path))
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the findings as JSON.")
@click.pass_context
def check(ctx: click.Context, image: Path, json_path: Path | None) -> None:
    """Prove an IMAGE file: replay all nodes over a period, for every run-time value and every pair of phases.

    Exit status 0: every rule holds; 1: some rule is broken; 2: the file cannot be read.
    """
    from pointsman.images.format import read_images
    from pointsman.streams.check import check_images

    if json_path is not None:
        check_writable(json_path)
    report = check_images(read_images(image))
    click.echo(report.render())
    if json_path is not None:
        write_whole(json_path, json.dumps(report.as_dict(), indent=1) + "\n")
    if not report.ok:
        ctx.exit(EXIT_WRONG)


# -- run -----------------------------------------------------------------------------------------------------


@main.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("application", type=click.Path(path_type=Path))
@_mesh_option()
@click.option(
    "--target", type=click.Choice(["numesh"]), default="numesh", show_default=True, help="Hardware to run on."
)
@click.option(
    "--engine",
    type=click.Choice(["auto", "verilated", "model", "amaranth"]),
    default="auto",
    show_default=True,
    help="verilated: the RTL, compiled; model: a cycle model; amaranth: the RTL, interpreted (slow). "
    "auto: verilated if there is a C++ compiler, else model.",
)
@click.option("--image", type=click.Path(path_type=Path), help="Run this image instead of compiling the program.")
@click.option("--preload", is_flag=True, help="Fill the routers' memories at once instead of by the processors.")
@click.option("--period", type=int, help="Schedule length; chosen when not given.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the stream router.")
@click.option("--max-cycles", type=click.IntRange(min=1), help="Stop with an error after so many cycles.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the results as JSON.")
@_shape_options
@click.pass_context
def run(
    ctx: click.Context,
    application: Path,
    mesh: str,
    target: str,
    engine: Literal["auto", "verilated", "model", "amaranth"],
    image: Path | None,
    preload: bool,
    period: int | None,
    seed: int,
    max_cycles: int | None,
    json_path: Path | None,
    **sizes: int,
) -> None:
    """Compile an APPLICATION's COP program, load it into the hardware, run it and check the answer.

    Options that are not listed below go to the application; see its file.

    \b
    Example:
      pointsman run examples/matmul/matmul.py --mesh 4x4 --size 60 --json result.json

    Exit status 0: the answer is right; 1: it is wrong; 2: something has to be mended first.
    """
    from pointsman.runtime.application import application_errors, load_application, options_help, parse_options

    topology = _topology(mesh)
    shape = _shape(topology, sizes)
    if json_path is not None:
        check_writable(json_path)
    kind = load_application(application)
    try:
        options = parse_options(kind, application, ctx.args)
    except PointsmanError as error:
        raise PointsmanError(f"{error.message}\n{options_help(kind, application)}".rstrip()) from None
    with application_errors(application):
        app = kind(options, topology)
        parameters = dict(app.parameters())

    seconds: dict[str, float] = {}
    started = time.perf_counter()
    if image is not None:
        from pointsman.images.format import read_images

        images = read_images(image)
    else:
        from pointsman.cop import compile_file
        from pointsman.plan.build import make_plan
        from pointsman.targets.numesh import make_images

        path = application.parent / app.program
        parsed = compile_file(path, topology=topology, parameters=parameters)
        images = make_images(make_plan(parsed, shape, name=path.stem, period=period, seed=seed))
        _prove(images)
    seconds["compile"] = time.perf_counter() - started

    from cosim.machine import Machine
    from cosim.session import run_application
    from pointsman.report.run import run_json, run_text

    started = time.perf_counter()
    with Machine(shape, topology, engine=engine) as machine:
        seconds["build"] = time.perf_counter() - started
        with application_errors(application):
            result = run_application(images, app, machine, preload=preload, seconds=seconds, max_cycles=max_cycles)
    record = result.record
    plain = run_json(
        images,
        correct=result.correct,
        answer=result.answer,
        target=target,
        engine=result.engine,
        seed=seed,
        cycles=record.cycles,
        total_cycles=record.total_cycles,
        node_cycles_per_second=record.node_cycles_per_second,
        seconds=result.seconds,
    )
    click.echo(run_text(plain, images, app.reference()))
    if json_path is not None:
        write_whole(json_path, json.dumps(plain, indent=1) + "\n")
    if not result.correct:
        ctx.exit(EXIT_WRONG)


# -- verilog -------------------------------------------------------------------------------------------------


@main.command()
@click.argument("block", type=click.Choice(["numesh"]))
@_mesh_option()
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Verilog file.")
@click.option("--image", type=click.Path(path_type=Path), help="Image whose contents the memories get at power-up.")
@_shape_options
def verilog(block: str, mesh: str, output: Path, image: Path | None, **sizes: int) -> None:
    """Write the Verilog of a BLOCK, and its memory map beside it as JSON and Markdown.

    \b
    Example:
      pointsman verilog numesh --mesh 4x4 -o mesh.v
    """
    from numesh.emit import mesh_verilog
    from numesh.memory_map import memory_map, memory_map_markdown

    topology = _topology(mesh)
    shape = _shape(topology, sizes)
    check_writable(output)
    contents = None
    if image is not None:
        from pointsman.images.format import read_images
        from pointsman.images.readmemh import memories_of

        images = read_images(image)
        if images.shape != shape or images.topology != topology:
            raise PointsmanError(
                f"the image {image} is for a {images.topology} {images.topology.kind} of nodes {images.shape}",
                hint="give the same mesh and sizes here",
            )
        contents = memories_of(images)
    links = [(link.node, link.port, link.other, link.other_port) for link in topology.links]
    text = mesh_verilog(shape, topology.nodes, links, contents=contents)
    write_whole(output, text)
    json_path, markdown_path = output.with_suffix(".map.json"), output.with_suffix(".map.md")
    write_whole(json_path, json.dumps(memory_map(shape), indent=1) + "\n")
    write_whole(markdown_path, memory_map_markdown(shape))
    click.echo(f"wrote {output}, {json_path} and {markdown_path}")


if __name__ == "__main__":
    sys.exit(main())
