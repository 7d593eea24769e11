"""``pointsman compare``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from pointsman.cli.options import FilePath
from pointsman.files import check_writable, write_whole


@click.command()
@click.argument("first", metavar="A.json", type=FilePath())
@click.argument("second", metavar="B.json", type=FilePath())
@click.option("--json", "json_path", type=FilePath(), help="Write the comparison as JSON.")
def compare(first: Path, second: Path, json_path: Path | None) -> None:
    """Show two runs side by side: cycles by category, operators, and what was set otherwise.

    A.json and B.json are results of `pointsman run --json`.
    """
    from pointsman.report.compare import compare_json, compare_text, read_result

    if json_path is not None:
        check_writable(json_path)
    one, two = read_result(first), read_result(second)
    text = compare_text(one, two, (str(first), str(second)))
    if json_path is not None:
        write_whole(json_path, json.dumps(compare_json(one, two), indent=1) + "\n")
    click.echo(text)
