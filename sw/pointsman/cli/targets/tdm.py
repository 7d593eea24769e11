"""What ``pointsman compile``, ``run`` and ``check`` do for the time-multiplexed switch."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pointsman.cli.options import EXIT_WRONG, emit_text, report_warnings
from pointsman.errors import PointsmanError
from pointsman.files import check_writable, write_whole
from pointsman.fpga.blocks import SWITCH_SIZES

if TYPE_CHECKING:
    from pointsman.artifacts.tables import ConnectionTables
    from pointsman.cop import Program
    from pointsman.cop.limits import Limits
    from pointsman.network import Topology
    from pointsman.runtime import Application
    from tdm_switch.shape import SwitchShape

TARGETS = ("numesh", "tdm", "packet")
DEFAULT_MODE = "preload"
SIZES = ("slots", "slot_cycles", "sl_cycles")


def target_option(command: Any) -> Any:
    return click.option(
        "--target",
        type=click.Choice(TARGETS),
        default="numesh",
        show_default=True,
        help="Hardware: numesh, a mesh of scheduled routers; tdm, a time-multiplexed crossbar switch; packet, a mesh of packet "
        "routers.",
    )(command)


def switch_options(command: Any) -> Any:
    """Options of ``--target tdm``, gathered in ``switch``."""

    def keep(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
        def put(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
            if value is not None:
                ctx.meta.setdefault("pointsman.switch", {})[name] = value

        return put

    options = [
        ("--ports", int, "Ports of the switch; one for each node when not given.  [tdm]"),
        ("--slots", int, "Configuration registers of the switch, its greatest degree; 4 when not given.  [tdm]"),
        ("--slot-cycles", int, "Cycles of a slot, guard band included; 8 when not given.  [tdm]"),
        ("--sl-cycles", int, "Cycles of a decision of the scheduler; 1 when not given.  [tdm]"),
        (
            "--mode",
            click.Choice(["preload", "dynamic", "hybrid"]),
            "Who makes connections; preload when not given.  [tdm]",
        ),
    ]
    for name, kind, text in reversed(options):
        key = name.strip("-").replace("-", "_")
        command = click.option(name, key, type=kind, help=text, expose_value=False, callback=keep(key))(command)
    return command


def switch_given(ctx: click.Context, target: str) -> dict[str, Any]:
    """The options of the switch that were given; none may be for another target."""
    given: dict[str, Any] = dict(ctx.meta.get("pointsman.switch", {}))
    if target != "tdm" and given:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise PointsmanError(f"{names} are for the switch, not for target {target}", hint="add --target tdm")
    return given


def mesh_for(mesh: str | None, target: str, given: dict[str, Any]) -> str:
    """Size of the network; the processors of a switch stand in a row if nothing else is said."""
    if mesh is not None:
        return mesh
    if target == "tdm" and "ports" in given:
        return str(given["ports"])
    raise PointsmanError("the size of the network is missing", hint="--mesh 4x4, or --ports 16 for target tdm")


def refuse_others(**given: object) -> None:
    """Options that mean nothing for the switch."""
    for name, value in given.items():
        if value:
            raise PointsmanError(
                f"--{name.replace('_', '-')} is for the mesh of scheduled routers, not for target tdm",
                hint="see docs/tdm_target.md for what the switch takes",
            )


def switch_shape(given: dict[str, Any], topology: Topology) -> SwitchShape:
    from tdm_switch.shape import ShapeError, SwitchShape

    sizes = {name: given[name] for name in SIZES if name in given}
    try:
        return SwitchShape(ports=given.get("ports", topology.nodes), **sizes)
    except ShapeError as error:
        raise PointsmanError(str(error)) from None


def compile_tables(program: Program, name: str, given: dict[str, Any]) -> ConnectionTables:
    """Tables of a program, and the judge's word on them."""
    from pointsman.targets.tdm import make_tables
    from pointsman.verify.tables import check_tables

    shape = switch_shape(given, program.topology)
    tables = make_tables(program, shape, mode=given.get("mode", DEFAULT_MODE), name=name)
    findings = check_tables(tables)
    if findings:
        lines = "\n".join(findings)
        raise PointsmanError(
            f"the compiled tables break rules of the switch:\n{lines}",
            hint="this is a fault of the compiler: please report it with the program",
        )
    return tables


def compile_for_switch(
    program: Program, name: str, given: dict[str, Any], emit: str | None, output: Path | None
) -> None:
    from pointsman.report.tdm import tables_json, tables_text

    tables = compile_tables(program, name, given)
    if emit == "tables":
        emit_text(json.dumps(tables_json(tables), indent=1), output)
        return
    click.echo(tables_text(tables))
    if output is not None:
        from pointsman.artifacts.tables import write_tables

        write_tables(tables, output)
        click.echo(f"wrote {output}")


def run_on_switch(
    ctx: click.Context,
    app: Application,
    path: Path,
    topology: Topology,
    parameters: dict[str, int],
    given: dict[str, Any],
    *,
    engine: str,
    image: Path | None,
    warnings: str,
    bounds: Limits,
    max_cycles: int | None,
    json_path: Path | None,
) -> None:
    """Compile or read the tables, run the application on the switch, report."""
    from cosim.tdm.model import switch_machine
    from cosim.tdm.session import run_tdm_application
    from pointsman.artifacts.tables import read_tables
    from pointsman.report.tdm import tdm_json, tdm_text
    from pointsman.runtime.api.application import application_errors, compile_application

    if json_path is not None:
        check_writable(json_path)
    seconds: dict[str, float] = {}
    started = time.perf_counter()
    if image is not None:
        shape = switch_shape(given, topology) if given.keys() & {"ports", *SIZES} else None
        tables = read_tables(image, shape=shape)
        if tables.topology != topology:
            raise PointsmanError(
                f"{image}: the tables are for a {tables.topology} {tables.topology.kind}, not for {topology}",
                hint="compile for this size",
            )
        if given.get("mode", tables.mode) != tables.mode:
            raise PointsmanError(f"{image}: the tables are for mode {tables.mode}, not {given['mode']}")
    else:
        with application_errors(path):
            parsed, name = compile_application(app, path, topology, parameters, bounds)
        report_warnings(parsed, warnings, bounds)
        tables = compile_tables(parsed, name, given)
    seconds["compile"] = time.perf_counter() - started

    started = time.perf_counter()
    with switch_machine(tables.shape, engine) as machine:  # type: ignore[arg-type]
        seconds["build"] = time.perf_counter() - started
        with application_errors(path):
            result = run_tdm_application(tables, app, machine, seconds=seconds, max_cycles=max_cycles)
    record = result.record
    plain = tdm_json(
        tables,
        correct=result.correct,
        answer=result.answer,
        engine=result.engine,
        seed=0,
        cycles=record.cycles,
        total_cycles=record.total_cycles,
        node_cycles_per_second=record.node_cycles_per_second,
        refused=result.refused,
        seconds=result.seconds,
    )
    click.echo(tdm_text(plain, tables, app.reference()))
    if json_path is not None:
        write_whole(json_path, json.dumps(plain, indent=1) + "\n")
    if not result.correct:
        ctx.exit(EXIT_WRONG)


def is_tables(path: Path) -> bool:
    """Does the file begin as connection tables do?"""
    from pointsman.artifacts.tables.file import KIND

    try:
        with path.open("rb") as file:
            return path.is_file() and file.read(len(KIND.magic)) == KIND.magic
    except OSError:
        return False


def check_table_file(ctx: click.Context, path: Path, json_path: Path | None) -> None:
    """``pointsman check`` of connection tables."""
    from pointsman.artifacts.tables import read_tables
    from pointsman.verify.tables import check_tables

    tables = read_tables(path)
    findings = check_tables(tables)
    for line in findings:
        click.echo(line)
    click.echo(
        f"{tables.name}: {len(tables.sets)} sets of {len(tables.phases)} phases, {len(findings)} rules broken"
        if findings
        else f"{tables.name}: every rule holds for {len(tables.sets)} sets of {len(tables.phases)} phases"
    )
    if json_path is not None:
        write_whole(json_path, json.dumps({"ok": not findings, "findings": findings}, indent=1) + "\n")
    if findings:
        ctx.exit(EXIT_WRONG)


BLOCK = "tdm-switch"


_META = "pointsman.switch_sizes"


def switch_size_options(command: Any) -> Any:
    """Sizes of a switch, gathered in the context; the width of a word is an option of every block."""

    def keep(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
        def put(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
            if value is not None:
                ctx.meta.setdefault(_META, {})[name] = value

        return put

    for size in reversed([size for size in SWITCH_SIZES if size.name != "width"]):
        kind: Any = click.Choice(size.choices) if size.choices else int
        name = f"--{size.name.replace('_', '-')}"
        text = f"{size.help[0].upper()}{size.help[1:]}; {size.default} when not given.  [{BLOCK}]"
        command = click.option(name, type=kind, expose_value=False, callback=keep(size.name), help=text)(command)
    return command


def refuse_switch_sizes(ctx: click.Context, block: str) -> None:
    """Refuse sizes of a switch for another block."""
    for name in ctx.meta.get(_META, {}):
        raise PointsmanError(f"the block {block} has no option --{name.replace('_', '-')}")


def write_switch_verilog(ctx: click.Context, output: Path, width: int) -> None:
    """``pointsman verilog tdm-switch``."""
    from tdm_switch.address_map import address_map
    from tdm_switch.emit import switch_verilog
    from tdm_switch.shape import ShapeError, SwitchShape

    for name in ("mesh", "image", "pipelines", "vfsms", "schedule_depth", "registers"):
        if ctx.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE:
            raise PointsmanError(f"the block {BLOCK} has no option --{name.replace('_', '-')}")
    try:
        shape = SwitchShape(width=width, **ctx.meta.get(_META, {}))
    except ShapeError as error:
        raise PointsmanError(str(error)) from None
    check_writable(output)
    write_whole(output, switch_verilog(shape))
    json_path = output.with_suffix(".map.json")
    write_whole(json_path, json.dumps(address_map(shape), indent=1) + "\n")
    click.echo(f"wrote {output} and {json_path}")
