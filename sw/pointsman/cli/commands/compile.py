"""``pointsman compile``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from pointsman.cli.options import (
    compile_source,
    effort_option,
    emit_text,
    implementations_of,
    language_options,
    limits_of,
    mesh_option,
    phases_option,
    prove,
    report_warnings,
    set_option,
    shape_of,
    shape_options,
    topology_of,
    warnings_option,
)
from pointsman.cli.targets.tdm import (
    compile_for_switch,
    mesh_for,
    refuse_others,
    switch_given,
    switch_options,
    target_option,
)
from pointsman.errors import PointsmanError
from pointsman.files import check_writable


@click.command("compile")
@click.argument("program", type=click.Path(path_type=Path))
@mesh_option(required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Image file, or the text of --emit.")
@set_option
@click.option("-P", "--addresses", type=int, help="Interface addresses to use, of 16; all when not given.  [packet]")
@click.option("--period", type=int, help="Schedule length; chosen when not given.")
@effort_option
@phases_option
@click.option(
    "--emit",
    type=click.Choice(["program", "python", "plan", "routes", "images", "tables"]),
    help="Stop after this stage and print it: the program as COP or as Python, the others as JSON; tables: of target tdm.",
)
@click.option("--readmemh", type=click.Path(path_type=Path), help="Folder for $readmemh files of every memory.")
@click.option("--check/--no-check", default=True, help="Prove the images before they are written.")
@target_option
@switch_options
@warnings_option
@language_options
@shape_options
@click.pass_context
def compile_(
    ctx: click.Context,
    program: Path,
    mesh: str | None,
    output: Path | None,
    settings: tuple[str, ...],
    addresses: int | None,
    period: int | None,
    effort: float,
    phases: int | None,
    emit: str | None,
    readmemh: Path | None,
    check: bool,
    target: str,
    warnings: str,
    limits: tuple[str, ...],
    plugins: tuple[Path, ...],
    **sizes: int,
) -> None:
    """Compile a PROGRAM for a mesh of routers or a switch: a COP file, or a file of Python with a function `program`.

    Prints the phases: which operators share the network, how each is done, what bandwidth it gets, and how the phase
    ends.

    \b
    Example:
      pointsman compile examples/matmul/matmul.cop --mesh 4x4 --set block=225 -o matmul.image
    """
    from pointsman.cop import program_to_cop, program_to_python

    switch = switch_given(ctx, target)
    topology = topology_of(mesh_for(mesh, target, switch))
    shape = shape_of(topology, sizes)
    if output is not None:
        check_writable(output)
    bounds = limits_of(limits)
    parsed = compile_source(program, topology, settings, bounds)
    report_warnings(parsed, warnings, bounds)
    if emit == "program":
        emit_text(program_to_cop(parsed, bounds).rstrip("\n"), output)
        return
    if emit == "python":
        emit_text(program_to_python(parsed, limits=bounds).rstrip("\n"), output)
        return
    if target == "packet":
        from pointsman.cli.targets.packet import check_options, compile_packet

        check_options(ctx, "auto")
        compile_packet(parsed, name=program.stem, emit=emit, addresses=addresses, output=output)
        return
    if addresses is not None:
        raise PointsmanError("--addresses is for --target packet")
    if target == "tdm":
        refuse_others(period=period, readmemh=readmemh, implementations=plugins)
        if emit not in (None, "tables"):
            raise PointsmanError(f"--emit {emit} is a stage of target numesh", hint="--emit tables")
        compile_for_switch(parsed, program.stem, switch, emit, output)
        return
    if emit == "tables":
        raise PointsmanError("--emit tables is a stage of target tdm", hint="add --target tdm")
    from pointsman.plan.make_plan import PlanOptions, make_plan
    from pointsman.targets.numesh import make_images

    known = implementations_of(plugins)
    options = PlanOptions(most_phases=phases)
    plan = make_plan(
        parsed, shape, name=program.stem, period=period, implementations=known, effort=effort, options=options
    )
    if emit in ("plan", "routes"):
        from pointsman.report.stages import plan_json, routes_json

        emit_text(json.dumps(plan_json(plan) if emit == "plan" else routes_json(plan), indent=1), output)
        return
    images = make_images(plan)
    if emit == "images":
        from pointsman.report.stages import images_json

        emit_text(json.dumps(images_json(images), indent=1), output)
        return
    if check:
        prove(images)
    from pointsman.report.run import phase_table

    click.echo(f"{images.name} on a {topology} {topology.kind}, {images.period} slots")
    click.echo(phase_table(images))
    if output is not None:
        from pointsman.artifacts.images.file import write_images

        write_images(images, output)
        click.echo(f"wrote {output}")
    if readmemh is not None:
        from pointsman.artifacts.images.readmemh import write_readmemh

        count = len(write_readmemh(images, readmemh))
        click.echo(f"wrote {count} files into {readmemh}")
