"""The command ``pointsman``, a file a command. Rooms open when a command needs them, so help and errors come at once."""

from __future__ import annotations

import io
import os
import sys
from typing import Any

import click

import pointsman
from pointsman.errors import PointsmanError
from pointsman.files import cache_folder
from pointsman.foreign import said_by, visible

from .commands.arrays import arrays
from .commands.channels import channels
from .commands.check import check
from .commands.collective import collective
from .commands.compare import compare
from .commands.compile import compile_
from .commands.configure import configure
from .commands.explain import explain
from .commands.export import export
from .commands.fem import fem
from .commands.fmt import fmt
from .commands.import_ import import_
from .commands.noc import noc
from .commands.optical import optical
from .commands.place import place
from .commands.route import route
from .commands.run import run
from .commands.show import show
from .commands.sweep import sweep
from .commands.synth import synth
from .commands.tam import tam
from .commands.verilog import verilog
from .options import EXIT_INTERRUPTED, EXIT_USER


class _Group(click.Group):
    """Command group that prints the errors of users and of their machines as a message, without a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        _open_streams()
        _print_any_text()
        before, sys.unraisablehook = sys.unraisablehook, _told
        try:
            cache_folder()
            result = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()  # a full disk is told now, not at the end of Python
            return result
        except PointsmanError as error:
            click.echo(f"pointsman: {visible(said_by(error))}", err=True)
            ctx.exit(EXIT_USER)
        except KeyboardInterrupt:
            click.echo("pointsman: interrupted", err=True)
            ctx.exit(EXIT_INTERRUPTED)
        except MemoryError:
            click.echo("pointsman: there is not enough memory for this", err=True)
            ctx.exit(EXIT_USER)
        finally:
            sys.unraisablehook = before

    def main(self, *args: Any, **given: Any) -> Any:
        try:
            return super().main(*args, **given)
        except OSError as error:
            # Of --help, too, which is printed while options are read; click takes those of closed pipes.
            what = f"{error.filename}: " if error.filename is not None else ""
            click.echo(f"pointsman: {visible(f'{what}{error.strerror or error}')}", err=True)
            _drop_output()
            sys.exit(EXIT_USER)


def _told(ignored: Any) -> None:
    """What cannot be raised, as from ``__del__`` of an application's objects, is told in a line."""
    where = getattr(ignored.object, "__qualname__", type(ignored.object).__name__)
    click.echo(f"pointsman: {ignored.exc_type.__name__} in {where} is ignored", err=True)


def _open_streams() -> None:
    """A standard stream that is closed, as by ``2>&-``, takes what is said and is empty. Left closed, it is nothing that could be
    asked whether it is a terminal, and the next file that is opened has its number, to which compilers that are called write.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        if getattr(sys, name) is None:
            nowhere = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115 (it stays open)
            try:
                os.fstat(number)
            except OSError:
                os.dup2(nowhere.fileno(), number)
            setattr(sys, name, nowhere)


def _print_any_text() -> None:
    """Names of files and texts of applications may have characters that the terminal has not: they are printed as numbers."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """What could not be written to standard output is not tried again at the end of Python."""
    try:
        sys.stdout.flush()
    except (OSError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(pointsman.__version__, prog_name="pointsman", message="%(prog)s %(version)s")
def main() -> None:
    """Compile an application's communications into timetables for network hardware, and run them on it.

    A COP program says which nodes communicate and how; Pointsman finds for every router which word it moves in which
    cycle, loads that into the hardware description and runs the application on it, cycle by cycle.

    \b
    Try:
      pointsman run examples/matmul/matmul.py --mesh 4x4
      pointsman show examples/matmul/matmul.py --mesh 4x4 -o matmul.html
      pointsman compile examples/matmul/matmul.cop --mesh 4x4 -o matmul.image
      pointsman check matmul.image
      pointsman route streams.json --router ideal --json routes.json
      pointsman collective all-gather --topology torus:5x7
      pointsman configure connections.json --json configurations.json
      pointsman channels connections.json --json phases.json
      pointsman fem plate:12x12 --parts 16 --mesh 4x4 --run
      pointsman optical examples/optical/torus.json
      pointsman arrays examples/arrays/livermore18.f90
      pointsman noc examples/flows/decoder.toml --mesh 3x3 -o noc
      pointsman sweep examples/sweep/matmul.toml
      pointsman verilog numesh --mesh 4x4 -o mesh.v
    """


for _command in (
    arrays,
    channels,
    compile_,
    configure,
    check,
    collective,
    compare,
    explain,
    fem,
    fmt,
    import_,
    export,
    noc,
    optical,
    place,
    route,
    run,
    show,
    sweep,
    synth,
    tam,
    verilog,
):
    main.add_command(_command)
