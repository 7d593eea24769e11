"""``pointsman verilog``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pointsman.api.options import NODE_SIZES, shape_of
from pointsman.cli.options import (
    FilePath,
    check_output,
    names_network,
    network_options,
    note,
    shape_options,
    topology_of,
)
from pointsman.errors import PointsmanError
from pointsman.files import write_whole
from pointsman.fpga.blocks import SWITCH_SIZES
from pointsman.garbage import seldom_collected
from pointsman.network import torus

if TYPE_CHECKING:
    from pointsman.network import Topology

NUMESH, SWITCH, PACKET, HOST, LOADER = "numesh", "tdm-switch", "packet-router", "host-bridge", "host-loader"
_NODE = tuple(name for name in NODE_SIZES if name != "width")
_SWITCH = tuple(size.name for size in SWITCH_SIZES if size.name != "width")
_PACKET = ("torus", "routing", "channels", "buffer", "addresses", "queue")
STREAMS = "numesh_streams"
"""Module of a bridge of streams."""
LONG = 96
"""Ports from which on a switch takes so long that it is said beforehand."""
_NETWORK = ("mesh", "network", "faults")
FULL_BITS = click.Choice(["memory", "flip-flops"])
_HOST = ("bus", "nodes", "blocked", "streams")
_ELSEWHERE = {
    NUMESH: (*_SWITCH, *_PACKET, *_HOST),
    SWITCH: (*_PACKET, *_NETWORK, "image", "full_bits", *_NODE, *_HOST),
    PACKET: (*_SWITCH, "image", "full_bits", *_NODE, *_HOST),
    HOST: (*_SWITCH, *_PACKET, *_NETWORK, "image", "full_bits", *(name for name in _NODE if name != "registers")),
    LOADER: (*_SWITCH, *_PACKET, *_NETWORK, "full_bits", *_NODE, *_HOST, "width"),
}
"""Options that a block does not have."""


def _switch_options(command: Any) -> Any:
    """Sizes of a switch; None where they are not given. The width of a word is an option of every block."""
    for size in reversed([size for size in SWITCH_SIZES if size.name != "width"]):
        kind: Any = click.Choice(size.choices) if size.choices else int
        text = f"{size.help[0].upper()}{size.help[1:]}; {size.default} when not given.  [{SWITCH}]"
        command = click.option(f"--{size.name.replace('_', '-')}", type=kind, help=text)(command)
    return command


def _packet_options(command: Any) -> Any:
    """Sizes of a packet router."""
    for option in reversed(
        (
            click.option("--torus", is_flag=True, help="Packet routers: close the dimensions to rings."),
            click.option(
                "--routing",
                type=click.Choice(["e-cube", "adaptive"]),
                help="Packet routers of a mesh or torus: dimension order (if not given), or any shortest way. Others go up-down.",
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


def _host_options(command: Any) -> Any:
    """Sizes of a bridge to a host; None where they are not given."""
    bus, blocked = click.Choice(["axi4-lite", "wishbone", "axi4-stream"]), click.Choice(["stall", "error"])
    for option in (
        click.option(
            "--blocked", type=blocked, help=f"Accesses that cannot be made wait (if not given), or fail.  [{HOST}]"
        ),
        click.option("--streams", help=f"Streams of axi4-stream: NODE:REGISTER:in, NODE:REGISTER:out, …  [{HOST}]"),
        click.option("--nodes", type=int, help=f"Nodes behind the bridge; 1 when not given.  [{HOST}]"),
        click.option("--bus", type=bus, help=f"Bus of the host; axi4-lite when not given.  [{HOST}]"),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("block", type=click.Choice([NUMESH, SWITCH, PACKET, HOST, LOADER]))
@network_options
@click.option("-o", "--output", type=FilePath(), required=True, help="Verilog file.")
@click.option("--image", type=FilePath(), help="Image whose contents the memories get at power-up.")
@click.option(
    "--full-bits",
    type=FULL_BITS,
    default="memory",
    show_default=True,
    help=f"Where buffers' full bits are; flip-flops for FPGAs as the iCE40 and GateMate.  [{NUMESH}]",
)
@shape_options
@_switch_options
@_packet_options
@_host_options
@click.pass_context
def verilog(ctx: click.Context, block: str, output: Path, **given: Any) -> None:
    """Write the Verilog of a BLOCK, and its memory or address map beside it, if it has one.

    \b
    Example:
      pointsman verilog numesh --mesh 4x4 -o mesh.v
      pointsman verilog numesh --topology torus:4x4 -o torus.v
      pointsman verilog numesh --topology graph.json -o graph.v
      pointsman verilog packet-router --mesh 4x4 --torus -o packets.v
      pointsman verilog packet-router --topology graph.json -o packets.v
      pointsman verilog tdm-switch --ports 16 --slots 4 -o switch.v
      pointsman verilog host-bridge --bus axi4-lite --nodes 4 -o bridge.v
      pointsman verilog host-bridge --bus axi4-stream --nodes 2 --streams 0:2:in,1:3:out -o streams.v
      pointsman verilog host-loader --image program.image -o loader.v
    """
    for name in _ELSEWHERE[block]:
        if ctx.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE:
            option = "topology" if name == "network" else name.replace("_", "-")
            raise PointsmanError(f"the block {block} has no option --{option}")
    if block in (NUMESH, PACKET) and not names_network(given):
        raise click.MissingParameter(ctx=ctx, param_type="option", param_hint="--mesh")
    from amaranth._toolchain.yosys import YosysError

    try:
        if block == SWITCH:
            _write_switch(output, given)
        elif block == HOST:
            _write_bridge(output, given)
        elif block == LOADER:
            _write_loader(output, given["image"])
        else:
            (_write_packet_routers if block == PACKET else _write_numesh)(output, topology_of(given), given)
    except YosysError as error:  # its own disk is full, for example
        said = str(error).strip().splitlines() or ["it failed"]
        raise PointsmanError(f"Yosys, which writes the Verilog: {said[-1]}") from None


@seldom_collected
def _write_switch(output: Path, given: dict[str, Any]) -> None:
    from tdm_switch.address_map import address_map
    from tdm_switch.emit import switch_verilog
    from tdm_switch.shape import ShapeError, SwitchShape

    sizes = {name: given[name] for name in (*_SWITCH, "width") if given[name] is not None}
    try:
        shape = SwitchShape(**sizes)
    except ShapeError as error:
        raise PointsmanError(str(error)) from None
    check_output(output)
    if shape.ports >= LONG:
        note(f"a switch of {shape.ports} ports has {shape.ports**2} cells; that takes a minute …")
    write_whole(output, switch_verilog(shape))
    json_path = output.with_suffix(".map.json")
    write_whole(json_path, json.dumps(address_map(shape), indent=1) + "\n")
    click.echo(f"wrote {output} and {json_path}")


def _write_bridge(output: Path, given: dict[str, Any]) -> None:
    from emission import component_verilog, verilog_head
    from host.emit import MODULE, address_map, bridge_verilog
    from host.shape import HostShape, HostShapeError
    from host.streams import StreamBridge, stream_ends
    from host.system_rdl import system_rdl

    bus: Any = given["bus"] or "axi4-lite"
    try:
        sizes = {name: given[name] for name in ("nodes", "registers", "width", "blocked") if given[name] is not None}
        shape = HostShape(**sizes)
        ends = stream_ends(given["streams"], shape) if bus == "axi4-stream" and given["streams"] is not None else ()
    except HostShapeError as error:
        raise PointsmanError(str(error)) from None
    if bus != "axi4-stream" and given["streams"] is not None:
        raise PointsmanError("--streams is for --bus axi4-stream")
    check_output(output)
    if bus == "axi4-stream":
        if not ends:
            raise PointsmanError("--bus axi4-stream needs --streams", hint="for instance --streams 0:2:in,1:3:out")
        if given["blocked"] is not None:
            raise PointsmanError("--blocked is not for --bus axi4-stream", hint="streams wait")
        title = f"AXI4-Streams at {shape.nodes} NuMesh nodes"
        write_whole(output, verilog_head(title) + component_verilog(StreamBridge(shape=shape, ends=ends), STREAMS))
        click.echo(f"wrote {output} and {_write_core(output, title, STREAMS)}")
        return
    write_whole(output, bridge_verilog(shape, bus))
    json_path, rdl_path = output.with_suffix(".map.json"), output.with_suffix(".rdl")
    write_whole(json_path, json.dumps(address_map(shape, bus), indent=1) + "\n")
    write_whole(rdl_path, system_rdl(shape))
    core_path = _write_core(output, f"bridge from {bus} to {shape.nodes} NuMesh nodes", MODULE)
    click.echo(f"wrote {output}, {json_path}, {rdl_path} and {core_path}")


def _write_loader(output: Path, image: Path | None) -> None:
    from emission import component_verilog, verilog_head
    from host.loader import ImageLoader
    from host.shape import HostShape
    from pointsman.artifacts.images.file import read_images
    from pointsman.artifacts.images.loading import loading_rows
    from pointsman.protocol.costs import ALIGN

    if image is None:
        raise PointsmanError(
            f"the block {LOADER} needs an image", hint="--image FILE, which pointsman compile -o FILE writes"
        )
    images = read_images(image)
    if images.shape.width not in (32, 64):
        raise PointsmanError(f"words must have 32 or 64 bits for a loader, not {images.shape.width}")
    shape = HostShape(nodes=len(images.nodes), registers=images.shape.registers, width=images.shape.width)
    check_output(output)
    loader = ImageLoader(shape=shape, rows=loading_rows(images), period=images.period, phase=ALIGN)
    title = f"loader of the image {images.name}"
    write_whole(output, verilog_head(title) + component_verilog(loader, "numesh_loader"))
    core = _write_core(output, title, "numesh_loader")
    click.echo(f"wrote {output} and {core}")


def _write_core(output: Path, about: str, top: str) -> Path:
    """Write the FuseSoC core file of a Verilog file beside it."""
    from emission.core_file import core_file

    path = output.with_suffix(".core")
    write_whole(path, core_file(re.sub(r"\W", "_", output.stem, flags=re.ASCII), about, [output.name], top))
    return path


def _write_packet_routers(output: Path, topology: Topology, given: dict[str, Any]) -> None:
    from packet_router.emit import mesh_verilog
    from pointsman.api.targets.packet import packet_shape

    sizes = {name: given[name] for name in (*_PACKET, "width") if given[name] is not None}
    if sizes.pop("torus"):
        if not topology.regular:
            raise PointsmanError(f"--torus closes a mesh without faults to rings, not a {topology.described}")
        topology = torus(*topology.size)
    if not topology.regular and sizes.setdefault("routing", "up-down") != "up-down":
        raise PointsmanError(
            f"routing on a {topology.described} must be up-down, not {sizes['routing']}",
            hint="--routing is for a mesh or torus without faults",
        )
    shape = packet_shape(topology, **sizes)
    check_output(output)
    write_whole(output, mesh_verilog(shape))
    click.echo(f"wrote {output}")


def _write_numesh(output: Path, topology: Topology, given: dict[str, Any]) -> None:
    from numesh.emit import mesh_verilog
    from numesh.memory_map import Joined, memory_map, memory_map_markdown
    from numesh.system_rdl import system_rdl

    shape = shape_of(topology, given)
    check_output(output)
    contents, image = None, given["image"]
    if image is not None:
        from pointsman.artifacts.images.file import read_images
        from pointsman.artifacts.images.readmemh import memories_of

        images = read_images(image)
        if images.shape != shape or images.topology != topology:
            ours, theirs = shape.as_dict(), images.shape.as_dict()
            wrong = [
                f"{name.replace('_', ' ')} {theirs[name]}, not {ours[name]}"
                for name in ours
                if ours[name] != theirs[name]
            ]
            if images.topology != topology:
                wrong.insert(0, f"a {images.topology.described}, not a {topology.described}")
            raise PointsmanError(
                f"the image {image} is for {'; '.join(wrong)}", hint="give the same network and sizes here"
            )
        contents = memories_of(images)
    links = [(link.node, link.port, link.other, link.other_port) for link in topology.links]
    text = mesh_verilog(shape, topology.nodes, links, contents=contents, full_bits=given["full_bits"])
    write_whole(output, text)
    json_path, markdown_path = output.with_suffix(".map.json"), output.with_suffix(".map.md")
    joined = Joined(topology.described, topology.nodes, links, grid=topology.kind in ("mesh", "torus"))
    write_whole(json_path, json.dumps(memory_map(shape, joined), indent=1) + "\n")
    write_whole(markdown_path, memory_map_markdown(shape, joined))
    rdl_path = output.with_suffix(".rdl")
    write_whole(rdl_path, system_rdl(shape))
    core_path = _write_core(output, f"NuMesh routers of a {topology.described}", "numesh_mesh")
    click.echo(f"wrote {output}, {json_path}, {markdown_path}, {rdl_path} and {core_path}")
