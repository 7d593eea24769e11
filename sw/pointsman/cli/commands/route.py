"""``pointsman route``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pointsman.cli.options import SEED, FilePath, check_output, note
from pointsman.errors import PointsmanError
from pointsman.files import write_whole
from pointsman.routing.routers import ROUTERS

from .collective import tell_collective, write_collective

if TYPE_CHECKING:
    from pointsman.artifacts.routes.routes import RouteProblem, RouteResult


@click.command()
@click.argument("streams", type=FilePath())
@click.option("--json", "json_path", type=FilePath(), help="Write routes, slots and bounds as JSON.")
@click.option(
    "--router",
    type=click.Choice(list(ROUTERS)),
    default="numesh",
    show_default=True,
    help="numesh: all rules of the node; ideal: one word per link and slot, nothing else.",
)
@click.option(
    "--length", type=int, metavar="S", help="Slots of the schedule. Default: chosen, with the reason printed."
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Same seed, same answer.")
@click.option("--effort", type=float, default=1.0, show_default=True, help="Work to spend, relative to the usual.")
@click.option("--time", "time_limit", type=float, metavar="SECONDS", help="Take the best answer after this time.")
@click.option("--plot", "plot_path", type=FilePath(), help="Draw link load and slots (.png, .svg, .pdf).")
def route(
    streams: Path,
    json_path: Path | None,
    router: str,
    length: int | None,
    seed: int,
    effort: float,
    time_limit: float | None,
    plot_path: Path | None,
) -> None:
    """Find routes and slots for the streams, or the collective, of a STREAMS.json file.

    The answer is judged before it is written, and stands beside the bound that no router can pass. Exit status 2: the file is
    wrong, or the streams do not fit into the length asked for (the reason is printed, and written to --json).
    """
    from pointsman import api
    from pointsman.api.progress import telling
    from pointsman.artifacts.routes.collectives import CollectiveProblem, CollectiveResult
    from pointsman.artifacts.routes.file import read_wanted, write_result
    from pointsman.routing.ideal_router.explain import PeriodError

    for path in (json_path, plot_path):
        if path is not None:
            check_output(path)
    if plot_path is not None:
        from pointsman.report.figures.route_plot import check_plot_name

        check_plot_name(plot_path)
    problem = read_wanted(streams)
    if isinstance(problem, CollectiveProblem) and router == "ideal" and plot_path is not None:
        raise PointsmanError("--plot draws streams, not a collective")
    try:
        with telling(f"routing {streams.name}", has_bar=True):
            result = api.route(
                problem, router=router, length=length, seed=seed, effort=effort, time_limit=time_limit, progress=True
            )
    except PeriodError as error:
        if json_path is not None:
            write_whole(json_path, json.dumps(error.report, indent=1) + "\n")
        raise
    if isinstance(result, CollectiveResult):
        if json_path is not None:
            write_collective(json_path, result)
        tell_collective(result)
        return
    if isinstance(problem, CollectiveProblem):
        problem = replace(problem.net, streams=problem.streams())
    if json_path is not None:
        write_result(json_path, result)
    _summary(problem, result)
    if plot_path is not None:
        from pointsman.report.figures.route_plot import plot_route

        plot_route(problem, result, plot_path)
        note(f"wrote {plot_path}")


def _summary(problem: RouteProblem, result: RouteResult) -> None:
    words = sum(len(stream.words) for stream in result.streams)
    click.echo(f"{len(problem.streams)} streams, {words} words in {result.period} slots ({result.router} model)")
    if result.bound is not None:
        click.echo(
            f"bound: {result.bound.value:g} ({result.bound.kind})"
            + (f": {result.bound.text}" * bool(result.bound.text))
        )
    if result.router == "numesh" and result.streams:
        shares = [
            routed.bandwidth / stream.weight for stream, routed in zip(problem.streams, result.streams, strict=True)
        ]
        click.echo(f"smallest bandwidth / weight: {min(shares):.4f} words per slot")
    if result.length_reason:
        click.echo(f"length: {result.length_reason}")
    for text in result.notes:
        click.echo(text)
    click.echo(f"routed in {result.seconds:.2f} s, bounds in {result.bound_seconds:.2f} s")
