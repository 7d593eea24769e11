"""``pointsman configure``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pointsman.cli.options import SEED, FilePath, check_output, note

if TYPE_CHECKING:
    from pointsman.connections import Configurations, Timetable


@click.command()
@click.argument("connections", type=FilePath())
@click.option("--json", "json_path", type=FilePath(), help="Write configurations and bounds as JSON.")
@click.option(
    "--algorithm",
    default="best",
    show_default=True,
    metavar="NAME",
    help="best, greedy, colouring, colouring-updated, aapc, combined, dsatur, koenig (crossbars); "
    "for a demand best, birkhoff, pack, list.",
)
@click.option("--degree", type=int, metavar="K", help="Slots there are; an error if the connections do not fit.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Same seed, same answer.")
@click.option("--effort", type=float, default=1.0, show_default=True, help="Work to spend, relative to the usual.")
def configure(
    connections: Path, json_path: Path | None, algorithm: str, degree: int | None, seed: int, effort: float
) -> None:
    """Divide the connections of a CONNECTIONS.json file into configurations of a time-multiplexed network.

    Connections in a configuration share no link, no source and no destination. The answer is judged before it is
    written, and stands beside the bound that none can go below. Exit status 2: the file is wrong, or the connections
    do not fit.
    """
    from pointsman import api
    from pointsman.api.progress import telling
    from pointsman.artifacts.configurations.file import read_problem, write_answer
    from pointsman.connections import algorithms
    from pointsman.kernels import is_cold

    if json_path is not None:
        check_output(json_path)
    problem = read_problem(connections)
    if is_cold(Path(algorithms.__path__[0])):
        note("compiling kernels, once (about fifteen seconds)")
    with telling("dividing the connections into configurations"):
        answer = api.configure(problem, algorithm=algorithm, degree=degree, seed=seed, effort=effort)
    if json_path is not None:
        write_answer(json_path, answer)
    _summary(answer)


def _summary(answer: Configurations | Timetable) -> None:
    from pointsman.artifacts.configurations.configurations import number
    from pointsman.connections import Timetable

    what = f"{answer.degree} configurations ({answer.algorithm})"
    if isinstance(answer, Timetable):
        what += f", {number(answer.total)} in all, set-up included"
    else:
        what = f"{len(answer.problem.connections)} connections in {what}"
    click.echo(what)
    for bound in answer.bounds:
        click.echo(f"bound: {number(bound.value)} ({bound.kind}): {bound.text}")
    click.echo(f"{answer.seconds:.2f} s of processor time")
