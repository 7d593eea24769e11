"""``pointsman noc``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pointsman.cli.options import SEED, Effort, FilePath, check_output, network_options, topology_of
from pointsman.errors import PointsmanError
from pointsman.files import check_writable, write_whole


@click.command()
@click.argument("flows", metavar="FLOWS.toml", type=FilePath())
@click.option("-o", "--output", type=FilePath(), required=True, help="Folder of the files; it is made.")
@network_options
@click.option("--width", type=int, default=32, show_default=True, help="Bits of a word: 32 or 64.")
@click.option("--pipelines", type=click.IntRange(1, 16), default=2, show_default=True, help="Pipelines of a router.")
@click.option(
    "--full-bits",
    type=click.Choice(["memory", "flip-flops"]),
    default="memory",
    show_default=True,
    help="Where buffers' full bits are; flip-flops for FPGAs as the iCE40 and GateMate.",
)
@click.option("--seed", type=SEED, default=0, show_default=True, help="Same seed, same answer.")
@click.option("--effort", type=Effort(), default=1.0, show_default=True, help="Work to spend, relative to the usual.")
def noc(
    flows: Path, output: Path, width: int, pipelines: int, full_bits: Any, seed: int, effort: float, **network: Any
) -> None:
    """Make a network for the flows of FLOWS.toml (or .json) that serves each with guaranteed bandwidth and latency.

    The folder gets noc.v (AXI4-Streams, routers, timetable in their memories), noc.core for FuseSoC, test_noc.py for cocotb, and
    the guarantees as report.json and report.md. A demand that cannot be kept is refused with the reason.

    \b
    Example:
      pointsman noc examples/flows/decoder.toml --mesh 3x3 -o noc
    """
    from pointsman.api.guaranteeing import guarantee
    from pointsman.api.progress import telling
    from pointsman.noc.files import noc_files, noc_report
    from pointsman.report.table import table

    if output.exists():
        if not output.is_dir():
            raise PointsmanError(f"{output} is no folder, into which the files could be written")
        check_writable(output / "noc.v")
    else:
        check_output(output)
    topology = topology_of(network)
    with telling(f"a timetable for {flows.name}", has_bar=True):
        found = guarantee(flows, topology, width=width, pipelines=pipelines, seed=seed, effort=effort)
        files = noc_files(found, full_bits)
    output.mkdir(exist_ok=True)
    for name, text in files.items():
        write_whole(output / name, text)
    rows = [
        [
            flow["name"],
            f"{flow['demanded']:.4g}",
            f"{flow['guaranteed']:.4g}",
            str(flow["links"]),
            str(flow["worst_latency"]),
            "-" if flow["limit"] is None else f"{flow['limit']:g}",
        ]
        for flow in noc_report(found)["flows"]
    ]
    click.echo(table(["flow", "demanded", "guaranteed", "links", "worst latency", "limit"], rows))
    click.echo(f"timetable of {found.period} cycles; wrote {', '.join(files)} into {output}")
