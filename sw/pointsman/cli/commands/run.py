"""``pointsman run``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from pointsman.api.options import ENGINES, MOST_CYCLES
from pointsman.cli.options import (
    EXIT_WRONG,
    SEED,
    FilePath,
    check_output,
    effort_option,
    language_options,
    network_options,
    note,
    phases_option,
    shape_options,
    warnings_option,
)
from pointsman.cli.target_options import addresses_option, api_options, network_of, switch_options, target_option
from pointsman.files import write_whole


@click.command(context_settings={"ignore_unknown_options": True, "allow_extra_args": True})
@click.argument("application", type=FilePath())
@network_options
@target_option
@addresses_option
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="auto",
    show_default=True,
    help="verilated: the RTL, compiled; model: a cycle model; amaranth: the RTL, interpreted (slow). "
    "auto: verilated if there is a C++ compiler, else model.",
)
@click.option("--logp", help="The machine: a name (example, cm5), then changes, as cm5,latency=50.  [logp]")
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
@click.option(
    "--max-cycles",
    type=click.IntRange(min=1),
    default=MOST_CYCLES,
    show_default=True,
    help="Stop with an error after so many cycles.",
)
@click.option(
    "--trace",
    type=FilePath(),
    help="Write every word and activity: .jsonl as lines of JSON, else for Perfetto.",
)
@click.option(
    "--wave",
    type=FilePath(),
    help="Write a waveform (FST) of all routers, and beside it a .gtkw for GTKWave; engine verilated, targets numesh and packet.",
)
@click.option("--wave-window", nargs=2, type=click.IntRange(min=0), help="First and last cycle of the waveform.")
@click.option("--monitors", is_flag=True, help="Check every link and register in every cycle; slow.")
@click.option(
    "--hints",
    is_flag=True,
    help="Plan small changes to the program and say which would be quicker; takes up to a minute.",
)
@click.option("--processor-mhz", type=float, help="Clock of the processors; that of the network when not given.")
@click.option(
    "--network-mhz", type=float, help="Clock of the network, in which runs are counted: gives times beside cycles."
)
@click.option(
    "--operation-cycles",
    type=float,
    help="Cycles of a processor for each that an application computes; 1 when not given.",
)
@click.option("--json", "json_path", type=FilePath(), help="Write the results as JSON.")
@switch_options
@warnings_option
@language_options
@shape_options
@click.pass_context
def run(ctx: click.Context, application: Path, dry: bool, json_path: Path | None, **given: Any) -> None:
    """Compile an APPLICATION's COP program, load it into the hardware, run it and check the answer.

    Options that are not listed below go to the application; see its file.

    \b
    Example:
      pointsman run examples/matmul/matmul.py --mesh 4x4 --size 60 --json result.json

    Exit status 0: the answer is right; 1: it is wrong; 2: something has to be mended first.
    """
    from pointsman import api

    for path in (json_path, given["trace"], given["wave"]):
        if path is not None:
            check_output(path)
    result = api.run(
        application,
        network_of(ctx.params),
        arguments=ctx.args,
        image=given["image"],
        dry=dry,
        outputs=() if json_path is None else (json_path,),
        **api_options(ctx),
        tell=note,
    )
    if json_path is not None:
        write_whole(json_path, json.dumps(result.values, indent=1) + "\n")
    click.echo(result.text)
    if not result.correct:
        ctx.exit(EXIT_WRONG)
