"""``pointsman run``."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pointsman.cli.options import (
    EXIT_WRONG,
    SourceOptions,
    effort_option,
    language_options,
    network_options,
    phases_option,
    shape_of,
    shape_options,
    warnings_option,
)
from pointsman.cli.targets.by_name import target_named
from pointsman.cli.targets.options import (
    addresses_option,
    named_options,
    network_of,
    refuse_switch_options,
    switch_options,
    target_option,
)
from pointsman.errors import PointsmanError
from pointsman.files import check_writable, write_whole

if TYPE_CHECKING:
    from pointsman.network import Topology
    from pointsman.program.program import Program
    from pointsman.runtime import Application
    from pointsman.targets.target import TargetRun


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("application", type=click.Path(path_type=Path))
@network_options
@target_option
@addresses_option
@click.option(
    "--engine",
    type=click.Choice(["auto", "verilated", "model", "amaranth"]),
    default="auto",
    show_default=True,
    help="verilated: the RTL, compiled; model: a cycle model; amaranth: the RTL, interpreted (slow). "
    "auto: verilated if there is a C++ compiler, else model.",
)
@click.option("--image", type=click.Path(path_type=Path), help="Run this image instead of compiling the program.")
@click.option("--dry", is_flag=True, help="Run the program by its meaning alone, without hardware; quick.")
@click.option("--preload", is_flag=True, help="Fill the routers' memories at once instead of by the processors.")
@click.option("--period", type=int, help="Schedule length; chosen when not given.")
@effort_option
@phases_option
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the stream router.")
@click.option("--max-cycles", type=click.IntRange(min=1), help="Stop with an error after so many cycles.")
@click.option(
    "--trace",
    type=click.Path(path_type=Path),
    help="Write every word and activity: .jsonl as lines of JSON, else for Perfetto.",
)
@click.option(
    "--wave", type=click.Path(path_type=Path), help="Write a waveform (FST) of all routers; engine verilated."
)
@click.option("--wave-window", nargs=2, type=click.IntRange(min=0), help="First and last cycle of the waveform.")
@click.option("--monitors", is_flag=True, help="Check every link and register in every cycle; slow.")
@click.option("--json", "json_path", type=click.Path(path_type=Path), help="Write the results as JSON.")
@switch_options
@warnings_option
@language_options
@shape_options
@click.pass_context
def run(ctx: click.Context, application: Path, target: str, dry: bool, json_path: Path | None, **given: Any) -> None:
    """Compile an APPLICATION's COP program, load it into the hardware, run it and check the answer.

    Options that are not listed below go to the application; see its file.

    \b
    Example:
      pointsman run examples/matmul/matmul.py --mesh 4x4 --size 60 --json result.json

    Exit status 0: the answer is right; 1: it is wrong; 2: something has to be mended first.
    """
    from pointsman.runtime.api.application import application_errors

    topology = network_of(ctx.params)
    named = named_options(ctx)
    refuse_switch_options(named, target)
    shape_of(topology, given)
    for path in (json_path, given["trace"], given["wave"]):
        if path is not None:
            check_writable(path)
    if given["wave_window"] is not None and given["wave"] is None:
        raise PointsmanError("--wave-window needs --wave")
    app, parameters = _application(application, ctx.args, topology)
    if dry and given["image"] is not None:
        raise PointsmanError("--dry runs the program, --image an image: give one of them")
    with application_errors(application):
        done = _dry(ctx, app, parameters, topology) if dry else _on_target(ctx, app, parameters, topology)
    click.echo(done.text)
    if json_path is not None:
        write_whole(json_path, json.dumps(done.results, indent=1) + "\n")
    if not done.results["correct"]:
        ctx.exit(EXIT_WRONG)


def _application(path: Path, arguments: list[str], topology: Topology) -> tuple[Application, dict[str, int]]:
    """The application of a file with its own options, and the values of its program's parameters."""
    from pointsman.runtime.api.application import application_errors, load_application, options_help, parse_options

    kind = load_application(path)
    try:
        options = parse_options(kind, path, arguments)
    except PointsmanError as error:
        raise PointsmanError(f"{error.message}\n{options_help(kind, path)}".rstrip()) from None
    with application_errors(path):
        app = kind(options, topology)
        return app, dict(app.parameters())


def _program(
    ctx: click.Context, app: Application, parameters: dict[str, int], topology: Topology
) -> tuple[Program, str]:
    """The application's program, and a name for it."""
    from pointsman.runtime.api.application import compile_application

    reading = SourceOptions.of(ctx.params)
    parsed, name = compile_application(app, ctx.params["application"], topology, parameters, reading.bounds)
    reading.warn(parsed)
    return parsed, name


def _dry(ctx: click.Context, app: Application, parameters: dict[str, int], topology: Topology) -> TargetRun:
    from pointsman.cli.targets.reference import run_dry

    started = time.perf_counter()
    parsed, name = _program(ctx, app, parameters, topology)
    return run_dry(parsed, name, app, time.perf_counter() - started)


def _on_target(ctx: click.Context, app: Application, parameters: dict[str, int], topology: Topology) -> TargetRun:
    given = ctx.params
    chosen = target_named(given["target"])
    chosen.refuse(named_options(ctx))
    started = time.perf_counter()
    if given["image"] is not None:
        artifact = chosen.read(given["image"], topology, given)
    else:
        artifact = chosen.compile(*_program(ctx, app, parameters, topology), given)
    return chosen.run(artifact, app, {"compile": time.perf_counter() - started}, given)
