"""``pointsman export``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from pointsman.cli.options import FilePath, check_output
from pointsman.files import read_text, write_all

FORMATS = ("goal", "chakra", "htsim")

Outputs = dict[Path, bytes | str]


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
@click.option(
    "--nodes",
    type=click.IntRange(1, (1 << 31) - 1),
    help="Hosts of the network for which the matrix is (htsim); by default as many as the tasks need.",
)
def export(
    format_: str, file: Path, output: Path, words: int, cycles: float, word_bytes: int, nodes: int | None
) -> None:
    """Write a file for other tools: goal (GOAL text of an algorithm, as `pointsman import msccl` writes it), chakra
    (execution traces of an algorithm, a file a rank), or htsim (a connection matrix of flows).

    \b
    Example:
      pointsman export htsim examples/flows/decoder.toml -o decoder.cm
    """
    from pointsman.errors import PointsmanError

    if format_ == "chakra" and output.suffix != ".et":
        raise PointsmanError(f"{output}: an output of chakra must be called NAME.et", hint=f"{output.stem}.et")
    check_output(output)
    if format_ == "htsim":
        outputs, told = _connections(file, output, cycles, word_bytes, nodes)
    else:
        outputs, told = _algorithm(file, format_, output, words * word_bytes)
    write_all(outputs)
    first, *others = outputs
    click.echo(f"{told}: wrote {first}{f' and {len(others)} more' if others else ''}")


def _connections(file: Path, output: Path, cycles: float, word_bytes: int, hosts: int | None) -> tuple[Outputs, str]:
    from pointsman.artifacts.flows.file import read_flows
    from pointsman.artifacts.flows.htsim import htsim_text

    flows = read_flows(file)
    with _told_of(file):
        text = htsim_text(flows, cycles=cycles, word_bytes=word_bytes, hosts=hosts)
    told = f"{len(flows.tasks)} tasks, {sum(len(flow.destinations) for flow in flows.flows)} connections"
    return {output: text}, told


def _algorithm(file: Path, format_: str, output: Path, chunk_bytes: int) -> tuple[Outputs, str]:
    from pointsman.artifacts.algorithms.file import algorithm_from
    from pointsman.artifacts.algorithms.goal import goal_text
    from pointsman.artifacts.chakra.writer import chakra_traces
    from pointsman.errors import PointsmanError

    text = read_text(file, "file of an algorithm")
    with _told_of(file):
        algorithm = algorithm_from(text)
        told = f"{algorithm.ranks} ranks, {len(algorithm.messages)} messages"
        if format_ == "goal":
            return {output: goal_text(algorithm, chunk_bytes=chunk_bytes)}, told
        traces = chakra_traces(algorithm, chunk_bytes=chunk_bytes)
    beyond = output.with_name(f"{output.stem}.{len(traces)}.et")
    if beyond.exists():
        raise PointsmanError(
            f"there is a file {beyond}, which would be read as the trace of rank {len(traces)}, and there are "
            f"{len(traces)} ranks",
            hint="another name, or remove the traces of ranks that there are not",
        )
    return {output.with_name(f"{output.stem}.{rank}.et"): trace for rank, trace in enumerate(traces)}, told


@contextmanager
def _told_of(file: Path) -> Iterator[None]:
    """What is wrong inside is told with the name of the file."""
    from pointsman.errors import PointsmanError

    try:
        yield
    except PointsmanError as error:
        raise PointsmanError(f"{file}: {error.message}", hint=error.hint or "docs/formats.md shows the form") from None
