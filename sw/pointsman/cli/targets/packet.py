"""The target *packet* of ``pointsman compile`` and ``pointsman run``."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click

from packet_router.shape import RouterShape, ShapeError
from pointsman.cop import Program
from pointsman.errors import PointsmanError
from pointsman.files import write_whole
from pointsman.network import Topology
from pointsman.targets.packet import PacketProgram, make_packet_program


def packet_shape(topology: Topology) -> RouterShape:
    """The e-cube router for a mesh or torus."""
    try:
        return RouterShape(size=topology.size, torus=topology.kind == "torus")
    except ShapeError as error:
        raise PointsmanError(str(error)) from None


_NOT_HERE = (
    *("image", "preload", "period", "seed", "readmemh", "check", "plugins"),
    *("trace", "wave", "wave_window", "monitors"),
    *("pipelines", "vfsms", "schedule_depth", "registers", "width"),
)
"""Options that mean something to scheduled routers only."""


def check_options(ctx: click.Context, engine: str) -> None:
    """Refuse what packet routers do not have, in place of leaving it out of account."""
    for name in _NOT_HERE:
        if name in ctx.params and ctx.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE:
            option = {"plugins": "implementations", "check": "check/--no-check"}.get(name, name.replace("_", "-"))
            raise PointsmanError(f"--{option} is for scheduled routers, not for --target packet")
    if engine not in ("auto", "verilated"):
        raise PointsmanError(f"packet routers run on the verilated engine, not on {engine}")


def compile_packet(
    program: Program, *, name: str, emit: str | None, addresses: int | None, output: Path | None
) -> None:
    """``pointsman compile --target packet``."""
    made = make_packet_program(program, packet_shape(program.topology), name=name, addresses=addresses)
    if emit not in (None, "plan"):
        raise PointsmanError(
            f"--emit {emit} is for scheduled routers", hint="the target packet has program, python and plan"
        )
    if emit == "plan":
        from pointsman.cli.options import emit_text

        emit_text(json.dumps(made.as_json(), indent=1), output)
        return
    click.echo(_table(made))
    if output is not None:
        write_whole(output, json.dumps(made.as_json(), indent=1) + "\n")
        click.echo(f"wrote {output}")


def run_packet(
    application: Any,
    program: Program,
    *,
    name: str,
    addresses: int | None,
    max_cycles: int | None,
    started: float,
) -> tuple[dict[str, Any], str]:
    """``pointsman run --target packet``: the results as plain values, and as text."""
    from cosim.packet.session import packet_machine, run_packet_application
    from pointsman.report.run import CATEGORIES

    made = make_packet_program(program, packet_shape(program.topology), name=name, addresses=addresses)
    seconds = {"compile": time.perf_counter() - started}
    started = time.perf_counter()
    with packet_machine(made) as machine:
        seconds["build"] = time.perf_counter() - started
        result = run_packet_application(made, application, machine, seconds=seconds, max_cycles=max_cycles)
    record = result.record
    means = record.cycles.mean(axis=0)
    plain: dict[str, Any] = {
        "correct": result.correct,
        "answer": result.answer,
        "target": "packet",
        "engine": result.engine,
        "network": {"kind": made.topology.kind, "size": list(made.topology.size)},
        "shape": made.shape.as_dict(),
        "parameters": dict(made.parameters),
        "total_cycles": record.total_cycles,
        "categories": {category: float(means[i]) for i, category in enumerate(CATEGORIES)},
        "per_node": {category: [int(c) for c in record.cycles[:, i]] for i, category in enumerate(CATEGORIES)},
        "operators": {
            one.operator.label: {"implementation": one.way.name, "phase": str(one.phase), "bandwidth": None}
            for one in made.operators
        },
        "node_cycles_per_second": record.node_cycles_per_second,
        "seconds": result.seconds,
    }
    io = sum(plain["categories"][category] for category in ("write", "read"))
    lines = [
        f"{made.name} on a {made.topology} {made.topology.kind} of packet routers, engine {result.engine}",
        f"  answer: {result.answer}" if result.correct else f"  WRONG: {result.answer}",
        "",
        _table(made),
        "",
        f"cycles, mean over the nodes: cpu {plain['categories']['cpu']:,.0f}, write "
        f"{plain['categories']['write']:,.0f}, read {plain['categories']['read']:,.0f}, I/O {io:,.0f}",
        f"{record.total_cycles:,} cycles; {record.node_cycles_per_second / 1e6:.1f} M node-cycles/s; "
        + ", ".join(f"{what} {value:.1f} s" for what, value in result.seconds.items()),
    ]
    return plain, "\n".join(lines)


def _table(made: PacketProgram) -> str:
    from pointsman.report.table import table

    rows: list[list[object]] = []
    for one in made.operators:
        numbers = sorted({address.number for address in one.addresses.values()})
        virtual = sum(address.virtual is not None for address in one.addresses.values())
        shown = ", ".join(map(str, numbers)) + (f" ({virtual} virtual)" if virtual else "")
        rows.append([one.phase, one.operator.label, one.way.name, one.operator.m, shown])
    lines = [table(["phase", "operator", "implementation", "words", "interface addresses"], rows)]
    return "\n".join([*lines, *(f"note: {note}" for note in made.notes)])


def packet_options(command: Any) -> Any:
    """Sizes of a packet router."""
    for option in reversed(
        (
            click.option("--torus", is_flag=True, help="Packet routers: close the dimensions to rings."),
            click.option(
                "--routing",
                type=click.Choice(["e-cube", "adaptive"]),
                default="e-cube",
                show_default=True,
                help="Packet routers: dimension order, or any shortest way.",
            ),
            click.option(
                "--channels", type=int, help="Packet routers: virtual channels of a link (1, 2 on a torus, or 5)."
            ),
            click.option(
                "--buffer", type=int, default=8, show_default=True, help="Packet routers: words buffered for a channel."
            ),
            click.option(
                "--addresses", type=int, default=16, show_default=True, help="Packet routers: interface addresses."
            ),
            click.option(
                "--queue", type=int, default=8, show_default=True, help="Packet routers: words queued for an address."
            ),
        )
    ):
        command = option(command)
    return command


def check_given(ctx: click.Context, block: str, names: tuple[str, ...]) -> None:
    """Refuse options that a block does not have."""
    for name in names:
        if ctx.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE:
            raise PointsmanError(f"the block {block} has no option --{name.replace('_', '-')}")


def write_packet_verilog(output: Path, **sizes: Any) -> None:
    """``pointsman verilog packet-router``."""
    from packet_router.emit import mesh_verilog
    from pointsman.files import check_writable

    try:
        shape = RouterShape(**sizes)
    except ShapeError as error:
        raise PointsmanError(str(error)) from None
    check_writable(output)
    write_whole(output, mesh_verilog(shape))
    click.echo(f"wrote {output}")
