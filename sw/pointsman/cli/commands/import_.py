"""``pointsman import``."""

from __future__ import annotations

from pathlib import Path

import click

from pointsman.cli.options import FilePath, check_output
from pointsman.files import MOST_BYTES, write_whole

FLOWS = ("csv", "matrix-market", "vtr", "npe", "npe-trace", "mlir-aie", "poseidon", "chakra")
FORMATS = (*FLOWS, "msccl", "mscclpp", "te-ccl")


@click.command("import")
@click.argument("format_", metavar="FORMAT", type=click.Choice(FORMATS))
@click.argument("file", type=FilePath())
@click.option(
    "-o",
    "--output",
    type=FilePath(),
    required=True,
    help="Write what was read, as JSON; algorithms: .py, an application.",
)
@click.option(
    "--clock", type=click.FloatRange(min=1, max=1e15), default=1e9, show_default=True, help="Cycles a second (vtr)."
)
@click.option("--word-bytes", type=click.IntRange(1, 4096), default=4, show_default=True, help="Bytes of a word (vtr).")
@click.option(
    "--groups", type=FilePath(), help='Ranks of each group of processes, as JSON: {"1": [0, 1], "2": [2, 3]} (chakra).'
)
@click.option(
    "--link-chunks",
    type=click.IntRange(1, 4096),
    default=1,
    show_default=True,
    help="Chunks on a link an epoch (te-ccl).",
)
@click.option(
    "--chip", type=click.IntRange(0), help="Number of the chip whose part of a trace of several is read (npe-trace)."
)
def import_(
    format_: str,
    file: Path,
    output: Path,
    clock: float,
    word_bytes: int,
    groups: Path | None,
    link_chunks: int,
    chip: int | None,
) -> None:
    """Read a format of others.

    Flows for `pointsman place`: csv, matrix-market (demand matrices), vtr (traffic flows), npe, npe-trace (tt-npe), mlir-aie,
    poseidon, chakra (execution traces; FILE is that of one rank, NAME.0.et, and those of the others are read with it).
    Collective algorithms: msccl and mscclpp become an application for `pointsman run` if OUTPUT ends in .py, else JSON for
    `pointsman export`; te-ccl becomes streams for `pointsman route` on the links that the schedule uses.

    What a format has and Pointsman has not is refused with its line, a wrong algorithm with its step; docs/formats.md has an
    example of each.

    \b
    Example:
      pointsman import csv demand.csv -o flows.json
    """
    from pointsman.errors import PointsmanError

    check_output(output)
    told_beside: list[str] = []
    if format_ in ("msccl", "mscclpp", "te-ccl"):
        from pointsman.artifacts.algorithms.by_name import import_msccl, import_te_ccl

        if format_ == "te-ccl":
            content, told = import_te_ccl(file, link_chunks=link_chunks)
        else:
            content, told = import_msccl(file, application=output.suffix == ".py", plan=format_ == "mscclpp")
    else:
        from pointsman.artifacts.flows.file import flows_bytes

        if format_ == "chakra":
            from pointsman.artifacts.chakra.reader import import_chakra

            flows = import_chakra(file, groups)
        else:
            from pointsman.artifacts.flows.readers.by_name import import_flows

            flows = import_flows(format_, file, clock=clock, word_bytes=word_bytes, chip=chip, tell=told_beside.append)
        content, told = flows_bytes(flows), f"{len(flows.tasks)} tasks, {len(flows.flows)} flows"
    if len(content) > MOST_BYTES:
        raise PointsmanError(
            f"{file}: {told} are {len(content)} bytes as {output.name}, and a file that is read again has at most {MOST_BYTES}"
        )
    write_whole(output, content)
    for line in told_beside:
        click.echo(f"note: {line}", err=True)
    click.echo(f"{told}: wrote {output}")
