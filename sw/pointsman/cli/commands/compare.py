"""``pointsman compare``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from pointsman.cli.options import FilePath, check_output, network_options, note, parameters_of, set_option, topology_of
from pointsman.cli.target_options import named_options
from pointsman.errors import PointsmanError
from pointsman.files import write_whole


@click.command()
@click.argument("first", metavar="A.json|PROGRAM", type=FilePath())
@click.argument("second", metavar="[B.json]", type=FilePath(), required=False)
@network_options
@set_option
@click.option("--json", "json_path", type=FilePath(), help="Write the comparison as JSON.")
@click.pass_context
def compare(ctx: click.Context, first: Path, second: Path | None, json_path: Path | None, **given: Any) -> None:
    """Show two runs side by side: cycles by category, operators, and what was set otherwise.

    A.json and B.json are results of `pointsman run --json`. With a COP PROGRAM instead, or a file of Python with a function
    `program`, show its predicted cycles on all targets: scheduled routers, the switch, packet routers and an optical network.

    \b
    Examples:
      pointsman compare one.json two.json
      pointsman compare examples/matmul/matmul.cop --topology torus:4x4 --set block=225
    """
    if json_path is not None:
        check_output(json_path)
    if second is None:
        text, plain = _on_all_targets(first, given)
    else:
        for name in named_options(ctx):
            if name not in ("json_path", "first", "second"):
                raise PointsmanError("two results are compared as they are: a network and --set are for a program")
        text, plain = _of_results(first, second)
    if json_path is not None:
        write_whole(json_path, json.dumps(plain, indent=1) + "\n")
    click.echo(text)


def _of_results(first: Path, second: Path) -> tuple[str, Any]:
    from pointsman.report.compare import compare_json, compare_text, read_result

    one, two = read_result(first), read_result(second)
    return compare_text(one, two, (str(first), str(second))), compare_json(one, two)


def _on_all_targets(program: Path, given: dict[str, Any]) -> tuple[str, Any]:
    from pointsman import api
    from pointsman.report.compare import targets_text

    if program.suffix == ".json":
        raise PointsmanError("there is one result: a second is missing", hint=f"pointsman compare {program} OTHER.json")
    rows = api.compare(program, topology_of(given), parameters=parameters_of(given["settings"]), tell=note)
    return targets_text(rows), rows
