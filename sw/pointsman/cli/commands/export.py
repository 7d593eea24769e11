"""``pointsman export``."""

from __future__ import annotations

from pathlib import Path

import click

from pointsman.cli.options import FilePath
from pointsman.files import check_writable, read_text, write_whole

FORMATS = ("goal", "chakra", "htsim")


@click.command("export")
@click.argument("format_", metavar="FORMAT", type=click.Choice(FORMATS))
@click.argument("file", type=FilePath())
@click.option(
    "-o",
    "--output",
    type=FilePath(),
    required=True,
    help="Write the text here; chakra: NAME.et, of which NAME.RANK.et are made.",
)
@click.option(
    "--words", type=click.IntRange(1, 1 << 30), default=1, show_default=True, help="Words of a chunk (goal, chakra)."
)
@click.option(
    "--cycles",
    type=click.FloatRange(min=1, max=1e15),
    default=1000,
    show_default=True,
    help="Cycles of traffic (htsim).",
)
@click.option("--word-bytes", type=click.IntRange(1, 4096), default=4, show_default=True, help="Bytes of a word.")
def export(format_: str, file: Path, output: Path, words: int, cycles: float, word_bytes: int) -> None:
    """Write a file for other tools: goal (GOAL text of an algorithm, as `pointsman import msccl` writes it), chakra
    (execution traces of an algorithm, a file a rank), or htsim (a connection matrix of flows).

    \b
    Example:
      pointsman export htsim examples/flows/decoder.toml -o decoder.cm
    """
    from pointsman.errors import PointsmanError

    if format_ == "htsim":
        from pointsman.artifacts.flows.file import read_flows
        from pointsman.artifacts.flows.htsim import htsim_text

        check_writable(output)
        flows = read_flows(file)
        outputs = {output: htsim_text(flows, cycles=cycles, word_bytes=word_bytes).encode()}
        told = f"{len(flows.tasks)} tasks, {sum(len(flow.destinations) for flow in flows.flows)} connections"
    else:
        from pointsman.artifacts.algorithms.file import algorithm_from

        if format_ == "chakra" and output.suffix != ".et":
            raise PointsmanError(f"{output}: an output of chakra must be called NAME.et", hint=f"{output.stem}.et")
        check_writable(output)
        try:
            algorithm = algorithm_from(read_text(file, "file of an algorithm"))
        except PointsmanError as error:
            raise PointsmanError(
                f"{file}: {error.message}", hint=error.hint or "docs/formats.md shows the form"
            ) from None
        told = f"{algorithm.ranks} ranks, {len(algorithm.messages)} messages"
        if format_ == "chakra":
            from pointsman.artifacts.chakra.writer import chakra_traces

            traces = chakra_traces(algorithm, chunk_bytes=words * word_bytes)
            outputs = {output.with_name(f"{output.stem}.{rank}.et"): trace for rank, trace in enumerate(traces)}
        else:
            from pointsman.artifacts.algorithms.goal import goal_text

            outputs = {output: goal_text(algorithm, chunk_bytes=words * word_bytes).encode()}
    for path in outputs:
        check_writable(path)
    for path, content in outputs.items():
        write_whole(path, content)
    first, *others = outputs
    click.echo(f"{told}: wrote {first}{f' and {len(others)} more' if others else ''}")
