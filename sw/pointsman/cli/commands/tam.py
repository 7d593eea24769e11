"""``pointsman tam``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from pointsman.api.options import ENGINES
from pointsman.cli.options import EXIT_WRONG, FilePath, check_output, note
from pointsman.files import write_whole

TARGETS = ("logp", "numesh", "tdm", "packet")


@click.command()
@click.argument("program", type=FilePath())
@click.argument("arguments", nargs=-1)
@click.option("--nodes", type=click.IntRange(1, 1024), default=1, show_default=True, help="Processors.")
@click.option(
    "--target",
    type=click.Choice(TARGETS),
    default="logp",
    show_default=True,
    help="What carries the messages: an abstract machine, or hardware as in `pointsman run`, as a mesh as square as it can be.",
)
@click.option("--logp", help="The machine: a name (example, cm5), then changes, as cm5,latency=50.  [logp]")
@click.option("--engine", type=click.Choice(ENGINES), help="As in `pointsman run`.  [numesh, tdm, packet]")
@click.option(
    "--costs",
    type=click.Choice(["cm5", "hybrid"]),
    default="cm5",
    show_default=True,
    help="The processor whose cycles are counted: the CM-5's, or one with the network interface of the J-Machine.",
)
@click.option(
    "--threads",
    type=click.Choice(["operations", "partitions"]),
    default="partitions",
    show_default=True,
    help="Threads of a functional program: one an operation, or as large as they can be.",
)
@click.option("--assembler", type=FilePath(), help="Write what a functional program is compiled to, as assembler text.")
@click.option(
    "--page", type=FilePath(), help="Write a page of HTML that shows messages, quanta and counters over time."
)
@click.option("--max-cycles", type=click.IntRange(min=1), help="Stop with an error after so many cycles.")
@click.option("--json", "json_path", type=FilePath(), help="Write the counts to this file.")
def tam(program: Path, arguments: tuple[str, ...], **given: Any) -> None:
    """Run a PROGRAM of the Threaded Abstract Machine with these ARGUMENTS, and count what it does.

    PROGRAM is assembler text, or, with the ending .fun, a functional program.

    \b
    Example:
      pointsman tam examples/tam/fib.tam 12 --nodes 4 --json counts.json
      pointsman tam examples/tam/gamteb.fun 20 1 --nodes 4 --threads operations

    Exit status 0: it has ended; 2: something has to be mended first.
    """
    from pointsman.api.machines.threads import run_tam

    json_path, assembler, page = (given[name] for name in ("json_path", "assembler", "page"))
    for path in (json_path, assembler, page):
        if path is not None:
            check_output(path)
    named = {name: given[name] for name in ("logp", "engine", "max_cycles") if given[name] is not None}
    named |= {name: given[name] for name in ("target", "costs", "threads")}
    done = run_tam(program, arguments, given["nodes"], tell=note, events=page is not None, **named)
    if page is not None:
        from pointsman.report.show.page import write_page

        document = done.result.document()
        document.title = f"{program.name}: {document.title.partition(' on ')[2]}"
        write_page(document, page)
    if assembler is not None:
        write_whole(assembler, done.assembler)
    if json_path is not None:
        write_whole(json_path, json.dumps(done.values, indent=1) + "\n")
    click.echo(done.text)
    if not done.correct:
        raise click.exceptions.Exit(EXIT_WRONG)
