"""``pointsman import``."""

from __future__ import annotations

from pathlib import Path

import click

from pointsman.cli.options import FilePath
from pointsman.files import check_writable, write_whole

FORMATS = ("csv", "matrix-market", "vtr")


@click.command("import")
@click.argument("format_", metavar="FORMAT", type=click.Choice(FORMATS))
@click.argument("file", type=FilePath())
@click.option("-o", "--output", type=FilePath(), required=True, help="Write the flows as JSON, for `pointsman place`.")
@click.option(
    "--clock", type=click.FloatRange(min=1, max=1e15), default=1e9, show_default=True, help="Cycles a second (vtr)."
)
@click.option("--word-bytes", type=click.IntRange(1, 4096), default=4, show_default=True, help="Bytes of a word (vtr).")
def import_(format_: str, file: Path, output: Path, clock: float, word_bytes: int) -> None:
    """Read flows in a format of others: csv or matrix-market (demand matrices), vtr (traffic flows).

    What a format has and Pointsman has not is refused with its line; docs/placement.md has an example of each.

    \b
    Example:
      pointsman import csv demand.csv -o flows.json
    """
    from pointsman.artifacts.flows.file import flows_bytes
    from pointsman.artifacts.flows.readers.by_name import import_flows

    check_writable(output)
    flows = import_flows(format_, file, clock=clock, word_bytes=word_bytes)
    write_whole(output, flows_bytes(flows))
    click.echo(f"{len(flows.tasks)} tasks, {len(flows.flows)} flows: wrote {output}")
