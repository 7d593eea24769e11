# amaranth: UnusedElaboratable=no
"""The loader in hardware: routers that it has loaded do, cycle by cycle, what preloaded ones do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from amaranth.sim import Simulator
from click.testing import CliRunner

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from host.loader import ImageLoader, LoaderRow
from host.shape import HostShape, HostShapeError
from loading import module_at
from pointsman.artifacts.images.file import read_images
from pointsman.artifacts.images.readmemh import memories_of
from pointsman.cli import main
from pointsman.runtime.numesh.substrate import numesh_node

networks = module_at(Path(__file__).parents[2] / "sim/cosim/test_verilog_networks.py")


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="there is no iverilog")
def test_loaded_routers_are_in_step_with_preloaded_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("program.cop").write_text(networks.TEXT.replace("'b 2", "'b 0"))
    sizes = ["--mesh", "2x1", "--vfsms", "16", "--schedule-depth", "64"]
    for command in (
        ["compile", "program.cop", *sizes, "-o", "program.image"],
        ["verilog", "numesh", *sizes, "-o", "mesh.v"],
        ["verilog", "host-loader", "--image", "program.image", "-o", "loader.v"],
    ):
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0, done.output
    images = read_images("program.image")

    async def application(node) -> None:  # type: ignore[no-untyped-def]
        for k in range(2):
            await node.cop.b_load()
            if node.number == 0:
                await node.cop.b_write(np.arange(4, dtype=np.int32) + 100 * k)
            else:
                await node.cop.b_read()
            await node.cop.c_load()
            await node.cop.c_func(np.array([node.number, k], np.int32))

    with Machine(images.shape, images.topology, engine="model", progress=False) as machine:
        machine.preload(memories_of(images))
        nodes = [numesh_node(images, i, machine, preloaded=True) for i in range(2)]
        events = run_nodes(nodes, application, machine, events=True).events
    assert events is not None
    assert len(events) > 20
    said = {}
    reset = images.shape.reset_cycles
    for shift in (0, 1):
        # The events of the preloaded run, whole periods later, when all is loaded; and a cycle beside that, which must not do.
        later = events.copy()
        later["time"] += 60 * images.period + shift
        text = networks.bench(later, 2, images.shape.registers, reset)
        wires, ports = [], []
        for i in range(2):
            for name, bits in (
                ("address", 8),
                ("write", 1),
                ("read", 1),
                ("write_data", 32),
                ("full", 16),
                ("read_data", 32),
            ):
                wires.append(f"    wire [{bits - 1}:0] {name}_{i};")
                ports.append(f".p_{name}_{i}({name}_{i})")
        start = text.index("    numesh_mesh mesh(")
        end = text.index("\n", start)
        inner = (
            text[start:end]
            .replace("numesh_mesh mesh(", "numesh_loader loader(.loaded(), .h_rst(), ")
            .replace(".p_", ".h_")
        )
        text = "\n".join(
            [
                text[:start],
                *wires,
                f"    numesh_mesh mesh(.clk(clk), .rst(rst), {', '.join(ports)});",
                inner.replace(");", f", {', '.join(ports)});"),
                f"    always @(posedge clk) if (cycle == {reset + 60 * images.period} && !loader.loaded) wrong = wrong + 1000;",
                text[end + 1 :],
            ]
        )
        Path("bench.v").write_text(text)
        subprocess.run(
            ["iverilog", "-g2012", "-s", "bench", "-o", "b.vvp", "bench.v", "loader.v", "mesh.v"], check=True
        )
        done = subprocess.run(["vvp", "-n", "b.vvp"], check=True, capture_output=True, text=True)
        said[shift] = done.stdout.split("\n")[0]
    assert said[0] == "wrong 0"
    assert said[1] != "wrong 0"


def test_commands_of_the_host_leave_it_loaded():
    """A host behind the loader fills command registers, too; its ports and its reset must stay as they are."""
    loader = ImageLoader(
        shape=HostShape(nodes=2, registers=4), rows=[[LoaderRow(0, 5)], [LoaderRow(1, 6)]], period=3, phase=0
    )

    async def bench(ctx):  # type: ignore[no-untyped-def]
        for _ in range(12):
            await ctx.tick()
        assert (ctx.get(loader.loaded), ctx.get(loader.h_rst)) == (1, 0)
        ctx.set(loader.h_write_0, 1)
        ctx.set(loader.h_write_data_0, 77)
        await ctx.delay(1e-8)
        assert (ctx.get(loader.p_write_0), ctx.get(loader.p_write_data_0)) == (1, 77)
        ctx.set(loader.p_full_0, 1)
        for _ in range(3):
            await ctx.tick()
            assert (ctx.get(loader.loaded), ctx.get(loader.h_rst), ctx.get(loader.p_write_0)) == (1, 0, 1)

    simulator = Simulator(loader)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()


def test_rows_must_be_there_for_every_node():
    with pytest.raises(HostShapeError, match="rows must be given for each of the 2 nodes, at least one"):
        ImageLoader(shape=HostShape(nodes=2), rows=[[LoaderRow(0, 1)], []], period=8, phase=-3)


def test_an_image_is_needed(tmp_path: Path):
    done = CliRunner().invoke(main, ["verilog", "host-loader", "-o", str(tmp_path / "l.v")])
    assert done.exit_code == 2
    assert "the block host-loader needs an image" in done.output
    done = CliRunner().invoke(main, ["verilog", "host-loader", "--mesh", "2x2", "-o", str(tmp_path / "l.v")])
    assert "the block host-loader has no option --mesh" in done.output
