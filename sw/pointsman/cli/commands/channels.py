"""``pointsman channels``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pointsman.cli.options import SEED, Effort, FilePath, check_output, note

if TYPE_CHECKING:
    from pointsman.artifacts.channels.channels import PhasedConnections


@click.command()
@click.argument("connections", metavar="SPEC.json", type=FilePath())
@click.option("--json", "json_path", type=FilePath(), help="Write phases, ways, channels and timetables as JSON.")
@click.option(
    "--algorithm",
    default="best",
    show_default=True,
    metavar="NAME",
    help="best, apr (as published in 1993), exact (small problems).",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Same seed, same answer.")
@click.option("--effort", type=Effort(), default=1.0, show_default=True, help="Work to spend, relative to the usual.")
def channels(connections: Path, json_path: Path | None, algorithm: str, seed: int, effort: float) -> None:
    """Divide the connections of a SPEC.json file into phases on the logical channels of a network.

    The connections of a phase stand together: each takes a channel at every node that it passes. The answer is judged before
    it is written, and stands beside the bound that none can go below. Exit status 2: the file is wrong, or the connections
    do not fit into the phases that are given.
    """
    from pointsman import api
    from pointsman.api.progress import telling
    from pointsman.artifacts.channels.file import read_channel_problem, write_phases
    from pointsman.connections import channels as room
    from pointsman.kernels import is_cold

    if json_path is not None:
        check_output(json_path)
    problem = read_channel_problem(connections)
    if is_cold(Path(room.__path__[0])):
        note("compiling kernels, once (about fifteen seconds)")
    with telling("dividing the connections into phases"):
        answer = api.channels(problem, algorithm=algorithm, seed=seed, effort=effort)
    if json_path is not None:
        write_phases(json_path, answer)
    _summary(answer)


def _summary(answer: PhasedConnections) -> None:
    from pointsman.artifacts.channels.channels import channels_used, length

    problem = answer.problem
    click.echo(f"{len(problem.connections)} connections in {len(answer.phases)} phases ({answer.algorithm})")
    for number, routes in enumerate(answer.phases):
        used = max(channels_used(routes).values())
        click.echo(
            f"phase {number}: {len(routes)} connections, {used} of {problem.channels} channels, {length(routes)} clocks"
        )
    click.echo(f"predicted: {answer.predicted} clocks, context switches of {problem.costs.switch} included")
    for bound in answer.bounds:
        click.echo(f"bound: {bound.value} ({bound.kind}): {bound.text}")
    click.echo(f"{answer.seconds:.2f} s of processor time")
