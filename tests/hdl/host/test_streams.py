# amaranth: UnusedElaboratable=no
"""Streams at interface registers: words in order, once, under random stalls on all sides, in turn, and valid until taken."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from amaranth.sim import Simulator
from click.testing import CliRunner

from host.shape import HostShape, HostShapeError
from host.streams import StreamBridge, StreamEnd, stream_ends
from pointsman.cli import main

SHAPE = HostShape(nodes=2, registers=8)
TEXT = "0:2:in,0:3:out,0:7:in,0:5:out,1:4:out"


@pytest.mark.parametrize("busy", [1.0, 0.5, 0.1])
def test_words_pass_in_order_and_once(busy: float):
    """The registers' other side, which is the router's, fills and empties them at random as well."""
    ends = stream_ends(TEXT, SHAPE)
    bridge = StreamBridge(shape=SHAPE, ends=ends)
    draw = random.Random(f"streams {busy}")
    sent: dict[StreamEnd, list[int]] = {end: [] for end in ends}
    received: dict[StreamEnd, list[int]] = {end: [] for end in ends}
    stalls = dict.fromkeys(ends, 0)

    async def bench(ctx):  # type: ignore[no-untyped-def]
        registers: dict[tuple[int, int], int] = {}
        offered: dict[StreamEnd, int | None] = dict.fromkeys(ends)
        before: dict[StreamEnd, int | None] = dict.fromkeys(ends)
        for _ in range(1200):
            for end in ends:
                place = end.node, end.register
                if end.into:
                    if offered[end] is None and draw.random() < busy:
                        offered[end] = draw.getrandbits(32)
                    ctx.set(getattr(bridge, f"{end.prefix}_tvalid"), offered[end] is not None)
                    ctx.set(getattr(bridge, f"{end.prefix}_tdata"), offered[end] or 0)
                    if place in registers and draw.random() < busy:
                        received[end].append(registers.pop(place))
                else:
                    if place not in registers and draw.random() < busy:
                        registers[place] = draw.getrandbits(32)
                        sent[end].append(registers[place])
                    ctx.set(getattr(bridge, f"{end.prefix}_tready"), draw.random() < busy)
            reads = {}
            for node in range(SHAPE.nodes):
                full = sum(1 << r for n, r in registers if n == node)
                ctx.set(getattr(bridge, f"p_full_{node}"), full)
            for node in range(SHAPE.nodes):
                register = ctx.get(getattr(bridge, f"p_address_{node}"))
                writes = ctx.get(getattr(bridge, f"p_write_{node}"))
                if ctx.get(getattr(bridge, f"p_read_{node}")):
                    assert not writes
                    reads[node] = registers.pop((node, register))
                elif writes:
                    assert (node, register) not in registers
                    registers[node, register] = ctx.get(getattr(bridge, f"p_write_data_{node}"))
            for end in ends:
                valid = ctx.get(getattr(bridge, f"{end.prefix}_tvalid"))
                moves = valid and ctx.get(getattr(bridge, f"{end.prefix}_tready"))
                word = ctx.get(getattr(bridge, f"{end.prefix}_tdata"))
                if end.into:
                    stalls[end] = stalls[end] + 1 if valid and not moves else 0
                    if busy == 1.0:
                        assert stalls[end] <= 12, "a stream waits for others for ever"
                    if moves:
                        sent[end].append(word)
                        offered[end] = None
                else:
                    if before[end] is not None:
                        assert valid, "a word was taken back"
                        assert word == before[end]
                    before[end] = word if valid and not moves else None
                    if moves:
                        received[end].append(word)
            await ctx.tick()
            for node in range(SHAPE.nodes):
                ctx.set(getattr(bridge, f"p_read_data_{node}"), reads.get(node, draw.getrandbits(32)))

    simulator = Simulator(bridge)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    for end in ends:
        assert received[end] == sent[end][: len(received[end])]
        assert len(sent[end]) - len(received[end]) <= 3
        assert len(received[end]) > 60 * busy


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0:2", "a stream must be NODE:REGISTER:in or NODE:REGISTER:out, not '0:2'"),
        ("0:2:up", "a stream must be NODE:REGISTER:in or NODE:REGISTER:out, not '0:2:up'"),
        ("2:0:in", "a stream must be at a node of 0..1 and a register of 0..7, not 2:0:in"),
        ("0:2:in,0:2:out", "register 2 of node 0 must have one stream, not two"),
        ("", "a stream must be NODE:REGISTER:in or NODE:REGISTER:out, not ''"),
    ],
)
def test_streams_that_cannot_be_are_refused(text: str, said: str):
    with pytest.raises(HostShapeError, match=f"^{re.escape(said)}$"):
        stream_ends(text, SHAPE)


def test_a_bridge_without_streams_is_refused():
    with pytest.raises(HostShapeError, match="at least one stream"):
        StreamBridge(shape=SHAPE, ends=())


def test_the_command_writes_verilog_with_the_streams(tmp_path: Path):
    output = tmp_path / "streams.v"
    command = ["verilog", "host-bridge", "--bus", "axi4-stream", "--nodes", "2", "--registers", "8", "-o", str(output)]
    done = CliRunner().invoke(main, [*command, "--streams", TEXT])
    assert done.exit_code == 0, done.output
    for name in ("s_axis_0_2_tdata", "m_axis_1_4_tvalid", "p_full_1"):
        assert name in output.read_text()
    assert (tmp_path / "streams.core").is_file()
    if shutil.which("iverilog") is not None:
        subprocess.run(["iverilog", "-g2005", "-t", "null", str(output)], check=True)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--bus", "axi4-stream"], "--bus axi4-stream needs --streams"),
        (["--bus", "wishbone", "--streams", "0:0:in"], "--streams is for --bus axi4-stream"),
        (
            ["--bus", "axi4-stream", "--streams", "0:0:in", "--blocked", "error"],
            "--blocked is not for --bus axi4-stream",
        ),
    ],
)
def test_options_that_do_not_go_together_are_refused(tmp_path: Path, more: list[str], said: str):
    done = CliRunner().invoke(main, ["verilog", "host-bridge", "-o", str(tmp_path / "b.v"), *more])
    assert done.exit_code == 2
    assert said in done.output
    assert not list(tmp_path.iterdir())
