"""``pointsman synth``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from pointsman.cli.options import FilePath, check_output
from pointsman.files import write_whole
from pointsman.fpga.blocks import BLOCKS


def _size_options(command: Any) -> Any:
    """The sizes of all blocks; which of them a block has is checked when the block is known."""
    sizes: dict[str, list[str]] = {}
    choices: dict[str, dict[str, None]] = {}
    for block in BLOCKS.values():
        for size in block.sizes:
            sizes.setdefault(size.name, []).append(f"{block.name}: {size.help} ({size.default})")
            choices.setdefault(size.name, {}).update(dict.fromkeys(size.choices))
    for name, texts in reversed(sizes.items()):
        option = f"--{name.replace('_', '-')}"
        kind: Any = click.Choice(list(choices[name])) if choices[name] else int
        command = click.option(option, type=kind, help=f"{'; '.join(texts)}.")(command)
    return command


@click.command()
@click.argument("block", type=click.Choice(list(BLOCKS)))
@_size_options
@click.option(
    "--device",
    default="ecp5-85k",
    show_default=True,
    help="ecp5-12k, ecp5-25k, ecp5-45k, ecp5-85k, gw1nr-9 or gw2ar-18.",
)
@click.option("--speed", type=int, help="Speed grade: 6, 7 or 8 of an ECP5. The fastest if left out.")
@click.option(
    "--seeds", type=int, default=3, show_default=True, help="How often to place, each time from another seed."
)
@click.option("--freq", type=float, default=300.0, show_default=True, help="MHz that the placer aims at.")
@click.option("--json", "json_path", type=FilePath(), help="Write the figures as JSON.")
@click.option("--keep", type=FilePath(), help="Folder for all that yosys and nextpnr wrote.")
def synth(
    block: str,
    device: str,
    speed: int | None,
    seeds: int,
    freq: float,
    json_path: Path | None,
    keep: Path | None,
    **sizes: int | str | None,
) -> None:
    """Measure a BLOCK on an FPGA: look-up tables, flip-flops, memories, clock, critical path.

    The figures are those of the block alone. Around it stand shift registers, so that pins do not limit the clock; links
    of a node lead back to the node itself, as between neighbours.

    \b
    Example:
      pointsman synth numesh --device ecp5-85k --speed 8 --seeds 3 --json node.json
      pointsman synth numesh --device gw2ar-18 --pipelines 1 --seeds 1
      pointsman synth tdm-array --ports 32 --order wrapped --freq 40
    """
    from pointsman.fpga.synth import synthesise

    if json_path is not None:
        check_output(json_path)
    given = {name: value for name, value in sizes.items() if value is not None}
    result = synthesise(block, given, device=device, speed=speed, seeds=seeds, freq=freq, keep=keep)
    plain = result.as_json()
    click.echo(_text(plain))
    if json_path is not None:
        write_whole(json_path, json.dumps(plain, indent=1) + "\n")


def _text(plain: dict[str, Any]) -> str:
    mhz, path = plain["mhz"], plain["critical_path"]
    lines = [
        f"{plain['block']} on {plain['device']}, speed grade {plain['speed']}",
        f"  {plain['lut4']} LUT4, {plain['ff']} flip-flops, {plain['dpr16x4']} RAM cells of 16x4, {plain['ebr']} block RAM",
        f"  {mhz['median']:.1f} MHz ({mhz['min']:.1f} to {mhz['max']:.1f}, {plain['seeds']} seeds)",
        f"  {path['ns']:.2f} ns from {path['from']} to {path['to']}: {path['levels']} levels of logic, "
        f"{path['routing_ns']:.2f} ns routing (seed {path['seed']})",
    ]
    for step in path["steps"]:
        if step["kind"] == "logic":
            name = ""
        elif "signal" in step:
            name = step["signal"]
        else:
            name = f"logic near {step['logic_near']}"
        lines.append(f"    {step['ns']:6.2f}  {step['kind']:8}  {name:40}  {step.get('source', '')}".rstrip())
    return "\n".join(lines)
