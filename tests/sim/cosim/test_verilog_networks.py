"""The Verilog of any network with a preloaded image does in another simulator what the model does, cycle by cycle.

What each processor does at its port is written down on the model, and played at the ports of the emitted Verilog in Icarus: every
word that is read must be the same, and every register full or empty in the same cycle.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from cosim.numesh.machine import Machine
from cosim.session import run_nodes
from pointsman.artifacts.images.file import read_images
from pointsman.artifacts.images.readmemh import memories_of
from pointsman.cli import main
from pointsman.runtime.numesh.substrate import numesh_node

pytestmark = pytest.mark.skipif(shutil.which("iverilog") is None, reason="there is no iverilog")
PETERSEN = [
    *((i, (i + 1) % 5) for i in range(5)),
    *((5 + i, 5 + (i + 2) % 5) for i in range(5)),
    *((i, 5 + i) for i in range(5)),
]
TEXT = "(loop 'l 2 (broadcast 'b 2 :m 4) (cshift 'c 1 :m 2))"


async def application(node: Any) -> None:
    for k in range(2):
        await node.cop.b_load()
        if node.number == 2:
            await node.cop.b_write(np.arange(4, dtype=np.int32) + 100 * k)
        else:
            await node.cop.b_read()
        await node.cop.c_load()
        await node.cop.c_func(np.array([node.number, k], np.int32))


def bench(events: Any, nodes: int, registers: int, reset: int) -> str:
    """A Verilog bench that plays the events, which were counted from the end of reset."""
    bits = (registers - 1).bit_length()
    lines = ["module bench;", "    reg clk = 0, rst = 1;", "    integer cycle = 0, wrong = 0;"]
    ports = []
    for i in range(nodes):
        lines += [
            f"    reg [{bits - 1}:0] a_{i}; reg w_{i}, r_{i}; reg [31:0] d_{i};",
            f"    wire [{registers - 1}:0] f_{i}; wire [31:0] q_{i};",
        ]
        names = {"address": "a", "write": "w", "read": "r", "write_data": "d", "full": "f", "read_data": "q"}
        ports += [f".p_{name}_{i}({short}_{i})" for name, short in names.items()]
    lines += [f"    numesh_mesh mesh(.clk(clk), .rst(rst), {', '.join(ports)});", "    always #5 clk = !clk;"]
    lines += ["    always @(negedge clk) begin", f"        rst = cycle < {reset};"]
    lines += [f"        w_{i} = 0; r_{i} = 0;" for i in range(nodes)]
    lines.append("        case (cycle)")
    happening: dict[int, list[str]] = {}
    for event in events:
        at, i, register, word = (int(event[name]) for name in ("time", "node", "register", "word"))
        if event["write"]:
            play = f"a_{i} = {register}; w_{i} = 1; d_{i} = 32'd{word}; if (f_{i}[{register}] !== 0) wrong = wrong + 1;"
        else:
            play = f"a_{i} = {register}; r_{i} = 1; if (f_{i}[{register}] !== 1) wrong = wrong + 1;"
            check = f"if (q_{i} !== 32'd{word}) wrong = wrong + 1;"
            happening.setdefault(at + reset + 1, []).insert(0, check)
        happening.setdefault(at + reset, []).append(play)
    for at, several in sorted(happening.items()):
        lines.append(f"            {at}: begin {' '.join(several)} end")
    last = max(happening) + 2
    lines += ["        endcase", "        cycle = cycle + 1;"]
    lines += [
        f'        if (cycle > {last}) begin $display("wrong %0d", wrong); $finish; end',
        "    end",
        "endmodule",
        "",
    ]
    return "\n".join(lines)


@pytest.mark.parametrize("network", [pytest.param("torus:3x3", marks=pytest.mark.slow), "petersen.json"])
def test_preloaded_verilog_of_any_network_does_what_the_model_does(
    network: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    Path("petersen.json").write_text(json.dumps({"kind": "graph", "nodes": 10, "links": PETERSEN}))
    Path("program.cop").write_text(TEXT)
    sizes = ["--topology", network, "--vfsms", "16", "--schedule-depth", "64"]
    for command in (
        ["compile", "program.cop", *sizes, "-o", "program.image"],
        ["verilog", "numesh", *sizes, "--image", "program.image", "-o", "mesh.v"],
    ):
        done = CliRunner().invoke(main, command)
        assert done.exit_code == 0, done.output
    images = read_images("program.image")
    with Machine(images.shape, images.topology, engine="model", progress=False) as machine:
        machine.preload(memories_of(images))
        nodes = [numesh_node(images, i, machine, preloaded=True) for i in range(images.topology.nodes)]
        events = run_nodes(nodes, application, machine, events=True).events
    assert events is not None
    assert len(events) > 50
    text = bench(events, images.topology.nodes, images.shape.registers, images.shape.reset_cycles)
    said = []
    mutant = text.replace("=== 0) wrong", "=== 1) wrong").replace("32'd100;", "32'd101;", 1)
    for name, verilog in (("bench", text), ("mutant", mutant)):
        Path(f"{name}.v").write_text(verilog)
        subprocess.run(["iverilog", "-g2012", "-s", "bench", "-o", f"{name}.vvp", f"{name}.v", "mesh.v"], check=True)
        said.append(subprocess.run(["vvp", "-n", f"{name}.vvp"], check=True, capture_output=True, text=True).stdout)
    assert said[0].strip().splitlines()[0] == "wrong 0"
    assert said[1].strip().splitlines()[0] != "wrong 0"
    links = json.loads(Path("mesh.map.json").read_text())["network"]["links"]
    ends = {(row["node"], row["link"]): (row["neighbour"], row["neighbour_link"]) for row in links}
    assert len(ends) == 2 * len(images.topology.links)
    for node, joined in enumerate(images.topology.at_port):
        for port, (other, other_port) in joined.items():
            assert ends[node, port] == (other, other_port)
    assert {row["direction"] for row in links} == (
        {"-x", "+x", "-y", "+y"} if network.startswith("torus") else {"link 0", "link 1", "link 2"}
    )
    assert "## Links" in Path("mesh.map.md").read_text()
