"""``pointsman compile``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pointsman.cli.options import (
    FilePath,
    SourceOptions,
    effort_option,
    emit_text,
    language_options,
    network_options,
    phases_option,
    set_option,
    shape_of,
    shape_options,
    warnings_option,
)
from pointsman.cli.targets.by_name import target_named
from pointsman.cli.targets.options import (
    MODES,
    addresses_option,
    named_options,
    network_of,
    refuse_switch_options,
    switch_options,
    target_for,
    target_option,
)
from pointsman.files import check_writable


@click.command("compile")
@click.argument("program", type=FilePath())
@network_options
@click.option("-o", "--output", type=FilePath(), help="Image file, or the text of --emit.")
@set_option
@addresses_option
@click.option("--period", type=int, help="Schedule length; chosen when not given.")
@effort_option
@phases_option
@click.option(
    "--emit",
    type=click.Choice(["program", "python", "plan", "routes", "images", "tables"]),
    help="Stop after this stage and print it: the program as COP or as Python, the others as JSON; tables: of target tdm.",
)
@click.option("--readmemh", type=FilePath(), help="Folder for $readmemh files of every memory.")
@click.option("--check/--no-check", default=True, help="Prove the images before they are written.")
@target_option
@switch_options
@warnings_option
@language_options
@shape_options
@click.pass_context
def compile_(
    ctx: click.Context, program: Path, target: str, emit: str | None, output: Path | None, **given: Any
) -> None:
    """Compile a PROGRAM for a mesh of routers or a switch: a COP file, or a file of Python with a function `program`.

    Prints the phases: which operators share the network, how each is done, what bandwidth it gets, and how the phase
    ends.

    \b
    Example:
      pointsman compile examples/matmul/matmul.cop --mesh 4x4 --set block=225 -o matmul.image
    """
    named = named_options(ctx)
    if "target" in named:
        refuse_switch_options(named, target)
    topology = network_of(ctx.params)
    shape_of(topology, given)
    if output is not None:
        check_writable(output)
    reading = SourceOptions.of(given)
    parsed = reading.program(program, topology, mode=MODES[target], schedlen=given["period"])
    target = target_for(parsed, ctx.params, named)
    refuse_switch_options(named, target)
    if emit in ("program", "python"):
        from pointsman.cop import program_to_cop, program_to_python

        limits = reading.bounds
        text = program_to_cop(parsed, limits) if emit == "program" else program_to_python(parsed, limits=limits)
        emit_text(text.rstrip("\n"), output)
        return
    chosen = target_named(target)
    chosen.refuse(named)
    if emit is not None:
        emit_text(chosen.stage(parsed, program.stem, emit, ctx.params), output)
        return
    artifact = chosen.compile(parsed, program.stem, ctx.params)
    click.echo(chosen.describe(artifact))
    for line in chosen.write(artifact, ctx.params):
        click.echo(line)
