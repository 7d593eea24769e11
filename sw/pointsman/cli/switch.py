"""What ``pointsman verilog`` does for the time-multiplexed switch."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from pointsman.errors import PointsmanError
from pointsman.files import check_writable, write_whole
from pointsman.fpga.blocks import SWITCH_SIZES

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
