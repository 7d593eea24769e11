"""``pointsman place``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from pointsman.cli.options import EXIT_WRONG, SEED, Effort, FilePath, check_output, network_options, topology_of
from pointsman.files import write_whole
from pointsman.routing.routers import ROUTERS


@click.command()
@click.argument("flows", metavar="FLOWS.toml", type=FilePath())
@click.option("-o", "--output", type=FilePath(), help="Write the streams, for `pointsman route`, with the places.")
@network_options
@click.option(
    "--router", type=click.Choice(list(ROUTERS)), default="numesh", show_default=True, help="As of `pointsman route`."
)
@click.option("--failing", is_flag=True, help="Tell only the flows that do not get what they demand.")
@click.option("--seed", type=SEED, default=0, show_default=True, help="Same seed, same answer.")
@click.option("--effort", type=Effort(), default=1.0, show_default=True, help="Work to spend, relative to the usual.")
@click.option("--json", "json_path", type=FilePath(), help="Write places and what each flow gets as JSON.")
def place(
    flows: Path,
    output: Path | None,
    router: str,
    failing: bool,
    seed: int,
    effort: float,
    json_path: Path | None,
    **network: Any,
) -> None:
    """Place the tasks of FLOWS.toml (or .json) on nodes, route the flows between them, and tell what each flow gets.

    docs/placement.md shows the form. Exit status 1: a flow gets less bandwidth than it demands, or its words may come late.

    \b
    Example:
      pointsman place examples/flows/decoder.toml --mesh 3x3 -o streams.json
    """
    from pointsman.api.placing import place as placed_by
    from pointsman.api.progress import telling
    from pointsman.report.table import table

    for path in (output, json_path):
        if path is not None:
            check_output(path)
    topology = topology_of(network)
    with telling(f"placing {flows.name}", has_bar=True):
        answer = placed_by(flows, topology, router=router, seed=seed, effort=effort)
    if output is not None:
        write_whole(output, json.dumps(answer.streams) + "\n")
    if json_path is not None:
        write_whole(json_path, json.dumps(answer.as_dict(), indent=1) + "\n")
    shown = [flow for flow in answer.flows if not (failing and flow.holds)]
    rows = [
        [
            flow.name,
            f"{flow.demanded:.4g}" if flow.demanded else "best effort",
            f"{flow.given:.4g}",
            "-" if flow.worst_latency is None else str(flow.worst_latency),
            "-" if flow.slack is None else f"{flow.slack:g}",
            "yes" if flow.holds else "no",
        ]
        for flow in shown
    ]
    if rows:
        click.echo(table(["flow", "demanded", "given", "worst latency", "slack", "holds"], rows))
    wrong = sum(not flow.holds for flow in answer.flows)
    least = "" if answer.least_slack is None else f"least slack {answer.least_slack:g}, "
    click.echo(
        f"{len(answer.places)} tasks, {len(answer.flows)} flows, {wrong} failing; {least}busiest link {answer.busiest_link:.3g}; "
        f"period {answer.result.period} ({answer.method})"
    )
    if answer.limits_held < answer.limits:
        click.echo(
            f"{answer.limits_held} of {answer.limits} limits of latency are held; "
            f"no placement and no routes hold more than {answer.most_limits}"
        )
    beyond = {task: demanded for task, demanded in answer.accesses.items() if demanded > 1 + 1e-9}
    if beyond and answer.result.router == "numesh":
        task = max(beyond, key=lambda one: beyond[one])
        others = f" (and {len(beyond) - 1} more)" if len(beyond) > 1 else ""
        click.echo(
            f"routers have room for the flows of task '{task}'{others}, a processor has not: it would make {beyond[task]:.3g} "
            "accesses a cycle at its port, which makes one"
        )
    if wrong:
        click.get_current_context().exit(EXIT_WRONG)
