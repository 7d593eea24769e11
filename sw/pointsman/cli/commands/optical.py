"""``pointsman optical``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from pointsman.cli.options import FilePath, check_output, note
from pointsman.files import write_whole

MODES = ("reserve", "multihop", "compiled", "mixed")


@click.command()
@click.argument("spec", metavar="SPEC.json", type=FilePath())
@click.option("--json", "json_path", type=FilePath(), help="Write the figures and every message's times as JSON.")
@click.option(
    "--mode",
    type=click.Choice([*MODES, "all"]),
    default="all",
    show_default=True,
    help="Reserve connections on demand, hop over a logical topology, compile, or a part of each; or all of them.",
)
def optical(spec: Path, json_path: Path | None, mode: str) -> None:
    """Reserve, hop or compile? One traffic on an optical TDM network, in each of the three ways.

    SPEC.json has the network, its channels and the traffic; docs/optical.md shows the form. All times are slots. The same file
    gives the same answer, byte by byte.

    \b
    Example:
      pointsman optical examples/optical/torus.json --json figures.json
    """
    from pointsman import api
    from pointsman.api.optics import optical_text
    from pointsman.kernels import is_cold
    from pointsman.optical import reservation
    from pointsman.report.table import table

    if json_path is not None:
        check_output(json_path)
    if is_cold(Path(reservation.__path__[0])):
        note("compiling kernels, once (about twenty seconds)")
    answer = api.optical(spec, modes=None if mode == "all" else (mode,))
    if json_path is not None:
        write_whole(json_path, optical_text(answer))
    rows = [
        [
            name,
            str(figures["degree"]),
            f"{figures['delivered']} of {len(figures['messages'])}",
            str(figures["slots"]),
            *(_shown(figures["delay"][key]) for key in ("mean", "p50", "p99")),
            f"{figures['throughput']:.4g}",
            str(figures["retries"]),
        ]
        for name, figures in answer.items()
    ]
    for name, figures in answer.items():
        for kind, part in figures.get("classes", {}).items():
            rows.append(
                [
                    f"{name}: {kind}",
                    "",
                    f"{part['delivered']} of {part['messages']}",
                    str(part["slots"]),
                    *(_shown(part["delay"][key]) for key in ("mean", "p50", "p99")),
                    "",
                    "",
                ]
            )
    if len(answer) > 1:
        click.echo(_verdict(answer))
    columns = ["mode", "channels", "delivered", "slots", "delay", "median", "99 %", "messages/slot", "retries"]
    click.echo(table(columns, rows))


def _verdict(answer: Mapping[str, Mapping[str, Any]]) -> str:
    """The modes in order of the figures that decide, among those that deliver most."""
    most = max(figures["delivered"] for figures in answer.values())
    whole = {name: figures for name, figures in answer.items() if figures["delivered"] == most}
    if not most:
        return "nothing was delivered in any mode"
    delays = {name: figures["delay"]["mean"] for name, figures in whole.items()}
    ends = {name: figures["slots"] for name, figures in whole.items()}
    said = "least mean delay: " + _ranked(delays)
    if len(set(ends.values())) > 1:
        said += "\nsoonest done: " + _ranked(ends)
    if len(whole) < len(answer):
        said += f"\nfewer are delivered by {', '.join(name for name in answer if name not in whole)}"
    return said


def _ranked(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {_shown(values[name])}" for name in sorted(values, key=lambda name: values[name]))


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"
