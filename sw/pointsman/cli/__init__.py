"""The command ``pointsman``, a file a command. Rooms open when a command needs them, so help and errors come at once."""

from __future__ import annotations

from typing import Any

import click

import pointsman
from pointsman.errors import PointsmanError

from .commands.check import check
from .commands.compare import compare
from .commands.compile import compile_
from .commands.configure import configure
from .commands.explain import explain
from .commands.fmt import fmt
from .commands.route import route
from .commands.run import run
from .commands.synth import synth
from .commands.verilog import verilog
from .options import EXIT_USER


class _Group(click.Group):
    """Command group that prints a `PointsmanError` as a message, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except PointsmanError as error:
            click.echo(f"pointsman: {error}", err=True)
            ctx.exit(EXIT_USER)
        except KeyboardInterrupt:
            click.echo("pointsman: interrupted", err=True)
            ctx.exit(130)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(pointsman.__version__, prog_name="pointsman", message="%(prog)s %(version)s")
def main() -> None:
    """Compile an application's communications into timetables for network hardware, and run them on it.

    A COP program says which nodes communicate and how; Pointsman finds for every router which word it moves in which
    cycle, loads that into the hardware description and runs the application on it, cycle by cycle.

    \b
    Try:
      pointsman run examples/matmul/matmul.py --mesh 4x4
      pointsman compile examples/matmul/matmul.cop --mesh 4x4 -o matmul.image
      pointsman check matmul.image
      pointsman route streams.json --router ideal --json routes.json
      pointsman configure connections.json --json configurations.json
      pointsman verilog numesh --mesh 4x4 -o mesh.v
    """


for _command in (compile_, configure, check, compare, explain, fmt, route, run, synth, verilog):
    main.add_command(_command)
