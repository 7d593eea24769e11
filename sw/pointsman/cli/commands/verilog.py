"""``pointsman verilog``."""

from __future__ import annotations

import json
from pathlib import Path

import click

from pointsman.cli.options import mesh_option, shape_of, shape_options, topology_of
from pointsman.cli.targets.packet import check_given, packet_options, write_packet_verilog
from pointsman.cli.targets.tdm import BLOCK as SWITCH
from pointsman.cli.targets.tdm import refuse_switch_sizes, switch_size_options, write_switch_verilog
from pointsman.errors import PointsmanError
from pointsman.files import check_writable, write_whole


@click.command()
@click.argument("block", type=click.Choice(["numesh", SWITCH, "packet-router"]))
@mesh_option(required=False)
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="Verilog file.")
@click.option("--image", type=click.Path(path_type=Path), help="Image whose contents the memories get at power-up.")
@shape_options
@switch_size_options
@packet_options
@click.pass_context
def verilog(
    ctx: click.Context,
    block: str,
    mesh: str | None,
    output: Path,
    image: Path | None,
    torus: bool,
    routing: str,
    channels: int | None,
    buffer: int,
    addresses: int,
    queue: int,
    **sizes: int,
) -> None:
    """Write the Verilog of a BLOCK, and its memory or address map beside it, if it has one.

    \b
    Example:
      pointsman verilog numesh --mesh 4x4 -o mesh.v
      pointsman verilog tdm-switch --ports 16 --slots 4 -o switch.v
    """
    from numesh.emit import mesh_verilog
    from numesh.memory_map import memory_map, memory_map_markdown

    if block == SWITCH:
        check_given(ctx, block, ("torus", "routing", "channels", "buffer", "addresses", "queue"))
        write_switch_verilog(ctx, output, sizes["width"])
        return
    refuse_switch_sizes(ctx, block)
    if mesh is None:
        raise click.MissingParameter(ctx=ctx, param_type="option", param_hint="--mesh")
    topology = topology_of(mesh)
    if block == "packet-router":
        check_given(ctx, block, ("image", "pipelines", "vfsms", "schedule_depth", "registers"))
        write_packet_verilog(
            output,
            size=topology.size,
            torus=torus,
            routing=routing,
            channels=channels,
            buffer=buffer,
            addresses=addresses,
            queue=queue,
            width=sizes["width"],
        )
        return
    check_given(ctx, block, ("torus", "routing", "channels", "buffer", "addresses", "queue"))
    shape = shape_of(topology, sizes)
    check_writable(output)
    contents = None
    if image is not None:
        from pointsman.artifacts.images.file import read_images
        from pointsman.artifacts.images.readmemh import memories_of

        images = read_images(image)
        if images.shape != shape or images.topology != topology:
            raise PointsmanError(
                f"the image {image} is for a {images.topology} {images.topology.kind} of nodes {images.shape}",
                hint="give the same mesh and sizes here",
            )
        contents = memories_of(images)
    links = [(link.node, link.port, link.other, link.other_port) for link in topology.links]
    text = mesh_verilog(shape, topology.nodes, links, contents=contents)
    write_whole(output, text)
    json_path, markdown_path = output.with_suffix(".map.json"), output.with_suffix(".map.md")
    write_whole(json_path, json.dumps(memory_map(shape), indent=1) + "\n")
    write_whole(markdown_path, memory_map_markdown(shape))
    click.echo(f"wrote {output}, {json_path} and {markdown_path}")
