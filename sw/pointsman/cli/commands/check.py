"""``pointsman check``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from pointsman.cli.options import EXIT_WRONG, FilePath, check_output
from pointsman.errors import PointsmanError
from pointsman.files import is_file, open_without_waiting, write_whole


@click.command()
@click.argument("image", type=FilePath())
@click.option(
    "--program",
    type=FilePath(),
    help="COP program, or file of Python, of which the image must be: its operators, loops, parameters and network.",
)
@click.option("--json", "json_path", type=FilePath(), help="Write the findings as JSON.")
@click.pass_context
def check(ctx: click.Context, image: Path, program: Path | None, json_path: Path | None) -> None:
    """Prove an IMAGE file: replay all nodes over a period, for every run-time value and every pair of phases.
    Or check the connection tables of a switch.

    Exit status 0: every rule holds; 1: some rule is broken; 2: the file cannot be read.
    """
    if json_path is not None:
        check_output(json_path)
    from pointsman.api.progress import telling

    with telling(f"proving {image.name}"):
        if is_tables(image):
            if program is not None:
                raise PointsmanError(
                    f"{image}: tables of a switch are not compared with a program", hint="leave --program out"
                )
            text, plain = _tables(image)
        else:
            text, plain = _images(image, program)
    if json_path is not None:
        write_whole(json_path, json.dumps(plain, indent=1) + "\n")
    click.echo(text)
    if not plain["ok"]:
        ctx.exit(EXIT_WRONG)


def _images(path: Path, source: Path | None) -> tuple[str, dict[str, Any]]:
    """What the judge says of images, and of whether they are those of a program: for a reader, and as plain values."""
    from pointsman.api.compiling import program_of_file
    from pointsman.api.judged import judged
    from pointsman.artifacts.images.file import read_images
    from pointsman.report.run import beyond_chip_lines
    from pointsman.verify.programs import program_differences

    images = read_images(path)
    report = judged(images)
    plain = {**report.as_dict(), "beyond_chip": list(images.shape.beyond_chip)}
    lines = [report.render(), *beyond_chip_lines(images)]
    if source is not None:
        program = program_of_file(source, images.topology, {"parameters": dict(images.parameters)})
        differences = program_differences(images, program)
        plain |= {"ok": report.ok and not differences, "differences": differences}
        lines += differences or [f"{images.name}: every operator is that of {source}"]
    return "\n".join(lines), plain


def _tables(path: Path) -> tuple[str, dict[str, Any]]:
    """The same of connection tables."""
    from pointsman.artifacts.tables import read_tables
    from pointsman.verify.tables import check_tables

    tables = read_tables(path)
    findings = check_tables(tables)
    sets, phases = len(tables.sets), len(tables.phases)
    size = f"{sets} {'set' if sets == 1 else 'sets'} of {phases} {'phase' if phases == 1 else 'phases'}"
    said = (
        f"{size}, {len(findings)} {'finding' if len(findings) == 1 else 'findings'}"
        if findings
        else f"every rule holds for {size}"
    )
    return "\n".join([*findings, f"{tables.name}: {said}"]), {"ok": not findings, "findings": findings}


def is_tables(path: Path) -> bool:
    """Does the file begin as connection tables do?"""
    from pointsman.artifacts.tables.file import KIND

    try:
        with open(path, "rb", opener=open_without_waiting) as file:
            return is_file(path) and file.read(len(KIND.magic)) == KIND.magic
    except (OSError, ValueError):
        return False
