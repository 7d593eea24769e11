"""``pointsman compile``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pointsman.cli.options import (
    FilePath,
    check_output,
    effort_option,
    emit_text,
    language_options,
    network_options,
    note,
    parameters_of,
    phases_option,
    set_option,
    shape_options,
    warnings_option,
)
from pointsman.cli.target_options import addresses_option, api_options, network_of, switch_options, target_option
from pointsman.errors import PointsmanError


@click.command("compile")
@click.argument("program", type=FilePath())
@network_options
@click.option("-o", "--output", type=FilePath(), help="Image file, the text of --emit, or the folder of --emit c.")
@set_option
@addresses_option
@click.option("--period", type=int, help="Schedule length; chosen when not given.")
@effort_option
@phases_option
@click.option(
    "--emit",
    type=click.Choice(["program", "python", "plan", "routes", "images", "tables", "c"]),
    help="Stop after this stage and print it: the program as COP or as Python, the others as JSON; tables: of target tdm; "
    "c: tables, functions and a driver in C, into the folder -o.",
)
@click.option("--readmemh", type=FilePath(), help="Folder for $readmemh files of every memory.")
@click.option("--check/--no-check", default=True, help="Prove the images before they are written.")
@target_option
@switch_options
@warnings_option
@language_options
@shape_options
@click.pass_context
def compile_(ctx: click.Context, program: Path, emit: str | None, output: Path | None, **given: Any) -> None:
    """Compile a PROGRAM for a mesh of routers or a switch: a COP file, or a file of Python with a function `program`.

    Prints the phases: which operators share the network, how each is done, what bandwidth it gets, and how the phase
    ends.

    \b
    Example:
      pointsman compile examples/matmul/matmul.cop --mesh 4x4 --set block=225 -o matmul.image
      pointsman compile examples/matmul/matmul.cop --mesh 2x2 --set block=16 --emit c -o matmul_c
    """
    from pointsman import api
    from pointsman.api.compiling import stage

    if emit == "c":
        _check_folder(output, given["target"])
    elif output is not None:
        check_output(output)
    source = {"parameters": parameters_of(given["settings"]), **api_options(ctx), "tell": note}
    if emit is not None and emit != "c":
        emit_text(stage(program, network_of(ctx.params), emit, **source), output)
        return
    if emit == "c":
        source["in_c"] = True
    compiled = api.compile(program, network_of(ctx.params), **source)
    click.echo(compiled.text)
    if emit == "c":
        assert output is not None
        click.echo(f"wrote {compiled.write_c(output)} files into {output}")
        output = None
    for line in compiled.write(output, readmemh=given["readmemh"]):
        click.echo(line)


def _check_folder(output: Path | None, target: str | None) -> None:
    """Refuse what would leave C without a place, before anything is compiled."""
    if output is None:
        raise PointsmanError("--emit c writes several files", hint="name their folder with -o")
    if target not in (None, "numesh"):
        raise PointsmanError(f"--emit c is a stage of target numesh, not of {target}")
    if output.exists() and not output.is_dir():
        raise PointsmanError(f"{output} is no folder, into which --emit c could write")
