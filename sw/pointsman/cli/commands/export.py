"""``pointsman export``."""

from __future__ import annotations

from pathlib import Path

import click

from pointsman.cli.options import FilePath
from pointsman.files import check_writable, read_text, write_whole

FORMATS = ("goal", "htsim")


@click.command("export")
@click.argument("format_", metavar="FORMAT", type=click.Choice(FORMATS))
@click.argument("file", type=FilePath())
@click.option("-o", "--output", type=FilePath(), required=True, help="Write the text here.")
@click.option("--words", type=click.IntRange(1, 1 << 30), default=1, show_default=True, help="Words of a chunk (goal).")
@click.option(
    "--cycles",
    type=click.FloatRange(min=1, max=1e15),
    default=1000,
    show_default=True,
    help="Cycles of traffic (htsim).",
)
@click.option("--word-bytes", type=click.IntRange(1, 4096), default=4, show_default=True, help="Bytes of a word.")
def export(format_: str, file: Path, output: Path, words: int, cycles: float, word_bytes: int) -> None:
    """Write a file for other tools: goal (GOAL text of an algorithm, as `pointsman import msccl` writes it), or htsim (a
    connection matrix of flows).

    \b
    Example:
      pointsman export htsim examples/flows/decoder.toml -o decoder.cm
    """
    from pointsman.errors import PointsmanError

    check_writable(output)
    if format_ == "goal":
        from pointsman.artifacts.algorithms.file import algorithm_from
        from pointsman.artifacts.algorithms.goal import goal_text

        try:
            algorithm = algorithm_from(read_text(file, "file of an algorithm"))
        except PointsmanError as error:
            raise PointsmanError(
                f"{file}: {error.message}", hint=error.hint or "docs/formats.md shows the form"
            ) from None
        text = goal_text(algorithm, chunk_bytes=words * word_bytes)
        told = f"{algorithm.ranks} ranks, {len(algorithm.messages)} messages"
    else:
        from pointsman.artifacts.flows.file import read_flows
        from pointsman.artifacts.flows.htsim import htsim_text

        flows = read_flows(file)
        text = htsim_text(flows, cycles=cycles, word_bytes=word_bytes)
        told = f"{len(flows.tasks)} tasks, {sum(len(flow.destinations) for flow in flows.flows)} connections"
    write_whole(output, text.encode())
    click.echo(f"{told}: wrote {output}")
