"""Programs on tori, lattices, graphs and meshes with faults: from the command to the last word."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner

from cosim.numesh.machine import Machine
from cosim.packet.session import PacketMachine
from cosim.session import run_nodes
from cosim.tdm.model import switch_machine
from numesh.shape import NodeShape
from pointsman.api.targets.packet import packet_shape
from pointsman.artifacts.images.file import images_to_bytes, read_images
from pointsman.artifacts.tables import Mode, read_tables
from pointsman.cli import main
from pointsman.network import Topology, graph, mesh, torus
from pointsman.network.faults import with_faults
from pointsman.network.lattice import diamond
from pointsman.plan.make_plan import make_plan
from pointsman.runtime.numesh.substrate import numesh_node
from pointsman.runtime.packet import packet_node
from pointsman.runtime.reference import ReferenceMachine
from pointsman.runtime.tdm.substrate import tdm_node
from pointsman.targets.numesh import make_images
from pointsman.targets.packet import make_packet_program
from pointsman.targets.tdm import make_tables
from pointsman.verify.images import check_images
from pointsman.verify.tables import check_tables
from tdm_switch.shape import SwitchShape

NETWORKS = {
    "torus": torus(3, 2),
    "lattice": diamond(2),
    "graph": graph(5, [(0, 3), (3, 1), (1, 4), (4, 2), (2, 0), (0, 1)]),
    "dead link": with_faults(mesh(3, 2), links=[(1, 4)]),
    "dead node": with_faults(mesh(3, 3), nodes=[4]),
    "mesh of three dimensions": mesh(2, 1, 2),
}
TEXT = """
(loop 'l 2
  (broadcast 'a (runtime) :m 5)
  (cshift 'b 1 :m 3)
  (broadcast 'c (runtime :distributed t))
  (stream 's (runtime) (runtime) :m 2)
  (optional (eoshift 'e 2))
  (barrier 'd)
  (broadcast 'f 2 :m 9 :impl 'dyn_bcast))
"""


@pytest.mark.parametrize("name", NETWORKS)
def test_every_node_receives_what_the_reference_machine_gives_it(trees: ModuleType, name: str, tmp_path: Path) -> None:
    topology: Topology = NETWORKS[name]
    walker = trees.walker_of(TEXT, topology, 7, slowest=300)
    assert all(operator.nodes == frozenset(topology.working) for operator in walker.program.operators())
    expected = ReferenceMachine(walker.program, "p", {}).run(walker.main)
    images = make_images(make_plan(walker.program, NodeShape(neighbours=max(4, topology.ports)), name="p", effort=0.3))
    report = check_images(images)
    assert report.ok, report.render()
    path = tmp_path / "p.image"
    path.write_bytes(images_to_bytes(images))
    assert read_images(path).topology == topology
    with Machine(images.shape, topology, engine="model") as machine:
        nodes = [numesh_node(images, number, machine) for number in range(topology.nodes)]
        record = run_nodes(nodes, walker.main, machine)
    assert record.results == expected.results


@pytest.mark.parametrize("name", NETWORKS)
def test_packet_routers_of_every_network_give_the_same(trees: ModuleType, name: str) -> None:
    topology: Topology = NETWORKS[name]
    walker = trees.walker_of(TEXT, topology, 7, slowest=300)
    expected = ReferenceMachine(walker.program, "p", {}).run(walker.main)
    made = make_packet_program(walker.program, packet_shape(topology), name="p")
    with PacketMachine(made.shape, engine="model") as machine:
        nodes = [packet_node(made, number, machine) for number in range(topology.nodes)]
        assert run_nodes(nodes, walker.main, machine).results == expected.results


@pytest.mark.parametrize("mode", ["preload", "dynamic", "hybrid"])
def test_a_switch_serves_the_nodes_that_work(trees: ModuleType, mode: Mode) -> None:
    # Nodes of a switch are joined through it alone: the middle of a row may fail.
    topology = with_faults(mesh(5), nodes=[2], apart=True)
    walker = trees.walker_of(TEXT, topology, 7, slowest=300)
    expected = ReferenceMachine(walker.program, "p", {}).run(walker.main)
    tables = make_tables(walker.program, SwitchShape(ports=5), mode=mode, name="p")
    assert not check_tables(tables)
    with switch_machine(tables.shape, "model") as machine:
        nodes = [tdm_node(tables, number, machine) for number in range(topology.nodes)]
        assert run_nodes(nodes, walker.main, machine).results == expected.results


def test_a_switch_with_a_faulty_processor_is_chosen_a_mode_and_has_no_faulty_links(tmp_path: Path) -> None:
    source, faults, tables = tmp_path / "p.cop", tmp_path / "faults.json", tmp_path / "p.tables"
    source.write_text("(cshift 'shift 1 :m 4)")
    network = ("--target", "tdm", "--ports", "5", "--faults", faults)
    faults.write_text(json.dumps({"nodes": [2]}))
    call("compile", source, *network, "-o", tables)
    assert read_tables(tables).topology == with_faults(mesh(5), nodes=[2], apart=True)
    call("check", tables)
    faults.write_text(json.dumps({"nodes": [2], "links": [[0, 1]]}))
    assert "a switch has no links between nodes that could be faulty" in call("compile", source, *network, status=2)


def test_packet_routers_are_written_for_every_network(tmp_path: Path) -> None:
    links = tmp_path / "graph.json"
    links.write_text(json.dumps({"kind": "graph", "nodes": 5, "links": [[0, 3], [3, 1], [1, 4], [4, 2], [2, 0]]}))
    faults = tmp_path / "faults.json"
    faults.write_text(json.dumps({"nodes": [4]}))
    written = tmp_path / "packets.v"
    for network in (("--topology", links), ("--mesh", "3x3", "--faults", faults)):
        call("verilog", "packet-router", *network, "-o", written)
        assert "routing up-down" in written.read_text()
    refused = call("verilog", "packet-router", "--topology", links, "--routing", "e-cube", "-o", written, status=2)
    assert "routing on a graph of 5 nodes must be up-down, not e-cube" in refused
    refused = call("verilog", "packet-router", "--topology", links, "--torus", "-o", written, status=2)
    assert "--torus closes a mesh without faults to rings, not a graph of 5 nodes" in refused


def test_the_command_compiles_and_runs_on_a_mesh_with_faults(tmp_path: Path) -> None:
    faults = tmp_path / "faults.json"
    faults.write_text(json.dumps({"links": [[0, 1]], "nodes": [8]}))
    source = tmp_path / "ring.py"
    (tmp_path / "ring.cop").write_text("(cshift 'shift 1 :m 4)")
    source.write_text(
        "from pointsman.runtime import Application\n"
        "class Ring(Application):\n"
        '    program = "ring.cop"\n'
        "    async def main(self, node):\n"
        "        await node.cop.shift_load()\n"
        "        return [int(w) for w in await node.cop.shift_func([node.number] * 4)]\n"
        "    def check(self, results):\n"
        "        right = [[(n - 1) % 8] * 4 for n in range(8)] + [None]\n"
        "        assert results == right\n"
        "        return 'the shift'\n"
    )
    network = ("--mesh", "3x3", "--faults", faults)
    image = tmp_path / "ring.image"
    said = call("compile", tmp_path / "ring.cop", *network, "-o", image)
    assert "on a 3x3 mesh with faults" in said
    said = call("run", source, *network, "--engine", "model", "--image", image)
    assert "WRONG" not in said
    assert "8 of 8 nodes" not in said
    call("check", image)
    call("explain", tmp_path / "ring.cop", *network)
    call("verilog", "numesh", *network, "-o", tmp_path / "mesh.v")
    refused = call("run", source, "--mesh", "3x3", "--engine", "model", "--image", image, status=2)
    assert "the image is for a 3x3 mesh with faults, not for a 3x3 mesh" in refused


def call(*arguments: object, status: int = 0) -> str:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == status, result.output
    return result.output
