"""``pointsman check``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from pointsman.cli.options import EXIT_WRONG
from pointsman.cli.targets.tdm import check_table_file, is_tables
from pointsman.files import check_writable, write_whole


@click.command()
@click.argument("image", type=click.Path(path_type=Path))
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the findings as JSON.")
@click.pass_context
def check(ctx: click.Context, image: Path, json_path: Path | None) -> None:
    """Prove an IMAGE file: replay all nodes over a period, for every run-time value and every pair of phases.
    Or check the connection tables of a switch.

    Exit status 0: every rule holds; 1: some rule is broken; 2: the file cannot be read.
    """
    from pointsman.artifacts.images.file import read_images
    from pointsman.verify.images import check_images

    if json_path is not None:
        check_writable(json_path)
    if is_tables(image):
        check_table_file(ctx, image, json_path)
        return
    report = check_images(read_images(image))
    click.echo(report.render())
    if json_path is not None:
        write_whole(json_path, json.dumps(report.as_dict(), indent=1) + "\n")
    if not report.ok:
        ctx.exit(EXIT_WRONG)
