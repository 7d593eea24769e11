"""``pointsman collective``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pointsman.cli.options import SEED, Effort, FilePath, check_output, network_options, topology_of
from pointsman.files import write_whole

if TYPE_CHECKING:
    from pointsman.artifacts.routes.collectives import CollectiveResult

KINDS = (
    *("broadcast", "all-gather", "gather", "scatter", "reduce", "reduce-scatter", "all-reduce"),
    *("all-to-all", "halo", "shift", "reversal"),
)


@click.command()
@click.argument("kind", type=click.Choice(KINDS))
@network_options
@click.option(
    "--words", type=click.IntRange(min=1), default=1, show_default=True, help="Words of the vector, node or part."
)
@click.option("--root", type=click.IntRange(min=0), default=0, show_default=True, help="Node of a rooted collective.")
@click.option(
    "--ordered", is_flag=True, help="Combine in the order of the node numbers: the function does not commute."
)
@click.option("--length", type=int, metavar="S", help="Slots of the schedule. Default: as few as are found.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Same seed, same answer.")
@click.option("--effort", type=Effort(), default=1.0, show_default=True, help="Work to spend, relative to the usual.")
@click.option("--json", "json_path", type=FilePath(), help="Write figures, bounds and the moves of all words as JSON.")
def collective(
    kind: str,
    words: int,
    root: int,
    ordered: bool,
    length: int | None,
    seed: int,
    effort: float,
    json_path: Path | None,
    **network: Any,
) -> None:
    """Schedule a collective on all nodes of a network, one word a link and slot: period, latency, bound and share.

    The schedule is judged before anything is told. --words are those of the vector (broadcast, reduce, all-reduce), of a node
    (all-gather), or of a part or pair (the others).

    \b
    Example:
      pointsman collective all-gather --topology torus:5x7
    """
    from pointsman import api
    from pointsman.api.progress import telling

    if json_path is not None:
        check_output(json_path)
    topology = topology_of(network)
    with telling(f"scheduling {kind}", has_bar=True):
        result = api.collective(
            kind, topology, words=words, root=root, ordered=ordered, length=length, seed=seed, effort=effort
        )
    if json_path is not None:
        write_collective(json_path, result)
    tell_collective(result)


def write_collective(path: Path, result: CollectiveResult) -> None:
    """Write OUT.json."""
    write_whole(path, json.dumps(result.as_dict(), separators=(",", ":")) + "\n")


def tell_collective(result: CollectiveResult) -> None:
    """Print the figures of a collective."""
    click.echo(f"{result.problem.described}: period {result.period}, latency {result.latency} slots (ideal model)")
    if result.bound is not None:
        click.echo(f"bound: {result.bound.value:g} ({result.bound.kind}): {result.bound.text}")
        click.echo(f"share: {result.share:.4f} of what the bound permits")
    if result.latency_bound is not None:
        click.echo(f"bound of the latency: {result.latency_bound.value:g}: {result.latency_bound.text}")
    click.echo(f"how: {result.method}" + "" if result.ordered else f"how: {result.method}; the function must commute")
    for text in result.notes:
        click.echo(text)
    click.echo(f"scheduled in {result.seconds:.2f} s, bounds in {result.bound_seconds:.2f} s")
