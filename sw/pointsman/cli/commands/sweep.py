"""``pointsman sweep``."""

from __future__ import annotations

from pathlib import Path

import click

from pointsman.cli.options import EXIT_WRONG, FilePath, check_output, note


@click.command()
@click.argument("spec", metavar="SPEC.toml", type=FilePath())
@click.option(
    "-o", "--output", type=FilePath(), help="Folder of the records; the file's name without .toml when not given."
)
@click.option(
    "--on",
    default="pool",
    show_default=True,
    metavar="WHERE",
    help="pool: a process a core; pool:N: N processes; dask:ADDRESS: workers of a dask scheduler.",
)
@click.option("--again", is_flag=True, help="Run cases again that ended with an error.")
@click.option("--plot", "plot_path", type=FilePath(), help="Draw the plot that the file describes (.png, .svg, .pdf).")
@click.option("--list", "only_list", is_flag=True, help="Print the cases and run nothing.")
@click.pass_context
def sweep(
    ctx: click.Context, spec: Path, output: Path | None, on: str, again: bool, plot_path: Path | None, only_list: bool
) -> None:
    """Run applications with every combination of options that SPEC.toml asks for.

    Each case has a record in the output folder. A case that is recorded is not run again, so a sweep that was stopped goes on
    where it was; a case that fails does not stop the others. Prints a table; results.jsonl in the folder has all values, a
    line for each case.

    \b
    Example:
      pointsman sweep examples/sweep/matmul.toml --on pool:2

    Exit status 0: every answer is right; 1: an answer is wrong or a case failed; 2: something has to be mended first.
    """
    from pointsman.api.progress import telling
    from pointsman.errors import PointsmanError
    from pointsman.sweep.drive import run_sweep
    from pointsman.sweep.outcome import absent, plot, table_text
    from pointsman.sweep.spec import read_spec

    asked = read_spec(spec)
    if plot_path is not None:
        from pointsman.report.figures.route_plot import check_plot_name

        check_plot_name(plot_path)
        check_output(plot_path)
        if asked.plot is None:
            raise PointsmanError(
                f"{spec}: plot: there must be a table [plot] to draw", hint='x = "network", y = "total_cycles"'
            )
    if only_list:
        for case in asked.cases:
            click.echo(str(case))
        return
    with telling(f"running the cases of {spec.name}"):
        records = run_sweep(asked, output or spec.with_suffix(""), on=on, again=again, tell=note)
    click.echo(table_text(records, asked.columns))
    for name in absent(records, asked.columns):
        note(f"no case has a value {name}: table.columns of {spec} takes names of the JSON of a run, with dots")
    if plot_path is not None:
        assert asked.plot is not None
        plot(records, asked.plot, plot_path)
        note(f"wrote {plot_path}")
    if any(record["status"] != "right" for record in records):
        ctx.exit(EXIT_WRONG)
