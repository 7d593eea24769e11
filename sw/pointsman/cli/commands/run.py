"""``pointsman run``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pointsman.cli.options import (
    EXIT_WRONG,
    SEED,
    FilePath,
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
    MODES,
    addresses_option,
    named_options,
    network_of,
    refuse_hardware_options,
    refuse_switch_options,
    switch_options,
    target_for,
    target_option,
)
from pointsman.errors import PointsmanError
from pointsman.files import check_writable, write_whole

if TYPE_CHECKING:
    from pointsman.network import Topology
    from pointsman.program.program import Program
    from pointsman.runtime.api.guarded import GuardedApplication
    from pointsman.targets.target import TargetRun

    _Maker = Callable[[Topology], GuardedApplication]


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("application", type=FilePath())
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
@click.option("--image", type=FilePath(), help="Run this image instead of compiling the program.")
@click.option(
    "--dry",
    is_flag=True,
    help="Run the program by its meaning alone, without hardware; quick. It is read as for --target.",
)
@click.option("--preload", is_flag=True, help="Fill the routers' memories at once instead of by the processors.")
@click.option("--period", type=int, help="Schedule length; chosen when not given.")
@effort_option
@phases_option
@click.option("--seed", type=SEED, default=0, show_default=True, help="Seed of the stream router.")
@click.option("--max-cycles", type=click.IntRange(min=1), help="Stop with an error after so many cycles.")
@click.option(
    "--trace",
    type=FilePath(),
    help="Write every word and activity: .jsonl as lines of JSON, else for Perfetto.",
)
@click.option("--wave", type=FilePath(), help="Write a waveform (FST) of all routers; engine verilated.")
@click.option("--wave-window", nargs=2, type=click.IntRange(min=0), help="First and last cycle of the waveform.")
@click.option("--monitors", is_flag=True, help="Check every link and register in every cycle; slow.")
@click.option("--json", "json_path", type=FilePath(), help="Write the results as JSON.")
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
    if "target" in named:
        refuse_switch_options(named, target)
    shape_of(topology, given)
    if dry and given["image"] is not None:
        raise PointsmanError("--dry runs the program, --image an image: give one of them")
    if dry:
        refuse_hardware_options(named)
    for path in (json_path, given["trace"], given["wave"]):
        if path is not None:
            check_writable(path)
    if given["wave_window"] is not None and given["wave"] is None:
        raise PointsmanError("--wave-window needs --wave")
    make = _maker(application, ctx.args)
    with application_errors(application):
        done = _dry(ctx, make, topology) if dry else _on_target(ctx, make, topology)
    if json_path is not None:
        write_whole(json_path, json.dumps(done.results, indent=1) + "\n")
    click.echo(done.text)
    if not done.results["correct"]:
        ctx.exit(EXIT_WRONG)


def _maker(path: Path, arguments: list[str]) -> _Maker:
    """A function that makes the application of a file, with its own options, for a network."""
    from pointsman.foreign import foreign_code
    from pointsman.runtime.api.application import (
        ApplicationOptionError,
        load_application,
        options_help,
        parse_options,
    )
    from pointsman.runtime.api.guarded import GuardedApplication

    kind = load_application(path)
    try:
        options = parse_options(kind, path, arguments)
    except ApplicationOptionError as error:
        raise PointsmanError(f"{error.message}\n{options_help(kind, path)}".rstrip()) from None

    def make(topology: Topology) -> GuardedApplication:
        with foreign_code(path, "the application", doing=f"{kind.__name__}.__init__"):
            return GuardedApplication(kind(options, topology), path)

    return make


def _compiled(ctx: click.Context, make: _Maker, topology: Topology) -> tuple[GuardedApplication, Program, str]:
    """The application, its program, and a name for that. Both are for the network that the program sets, if it sets one."""
    from pointsman.runtime.api.application import compile_application

    reading = SourceOptions.of(ctx.params)
    app, path = make(topology), ctx.params["application"]
    for _ in range(2):
        host = reading.host(app.parameters(), mode=MODES[ctx.params["target"]], schedlen=ctx.params["period"])
        parsed, name = compile_application(app.application, path, topology, **host)
        if parsed.topology == topology:
            break
        topology = parsed.topology
        app = make(topology)
    reading.warn(parsed)
    return app, parsed, name


def _dry(ctx: click.Context, make: _Maker, topology: Topology) -> TargetRun:
    from pointsman.cli.targets.reference import run_dry

    started = time.perf_counter()
    app, parsed, name = _compiled(ctx, make, topology)
    target_for(parsed, ctx.params, named_options(ctx))
    return run_dry(parsed, name, app, time.perf_counter() - started)


def _on_target(ctx: click.Context, make: _Maker, topology: Topology) -> TargetRun:
    given, named = ctx.params, named_options(ctx)
    started = time.perf_counter()
    if given["image"] is not None:
        refuse_switch_options(named, given["target"])
        chosen = target_named(given["target"])
        chosen.refuse(named)
        app, artifact = make(topology), chosen.read(given["image"], topology, given)
    else:
        app, parsed, name = _compiled(ctx, make, topology)
        target = target_for(parsed, given, named)
        refuse_switch_options(named, target)
        chosen = target_named(target)
        chosen.refuse(named)
        artifact = chosen.compile(parsed, name, given)
    return chosen.run(artifact, app, {"compile": time.perf_counter() - started}, given)
