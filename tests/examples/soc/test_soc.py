"""The chip of RISC-V nodes: binaries, Verilog that elaborates, and, slowly, the whole RTL with right answers."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from host.emit import bridge_verilog
from host.shape import HostShape
from loading import module_at
from numesh.emit import mesh_verilog
from numesh.shape import NodeShape
from pointsman.errors import PointsmanError
from pointsman.network import mesh

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "examples/soc"
soc = module_at(FOLDER / "soc.py")


@pytest.fixture(scope="module")
def chip(tmp_path_factory: pytest.TempPathFactory):
    return soc.make("halo", (2, 1), 2, tmp_path_factory.mktemp("soc"))


def test_python_does_the_same_program(chip):
    python = soc.in_python(chip)
    assert python.correct


def test_binaries_begin_with_code_and_leave_a_stack(chip):
    for node in range(2):
        words = (chip.folder / f"node_{node}.hex").read_text().split()
        assert len(words) == soc.MEMORY
        assert int(words[0], 16) & 3 == 3  # an instruction of 32 bits
        assert set(words[-256:]) == {"0"}
    assert (chip.folder / "node_0.hex").read_text() != (chip.folder / "node_1.hex").read_text()


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="there is no iverilog")
def test_the_whole_elaborates_in_icarus(chip):
    command = soc.interpreted(chip)
    assert Path(command[-1]).is_file()


def test_an_executable_that_leaves_no_stack_is_refused():
    header = b"\x7fELF\x01" + bytes(23) + struct.pack("<I", 52) + bytes(10) + struct.pack("<HH", 32, 1) + bytes(6)
    segment = struct.pack("<8I", 1, 84, 0, 0, 4, 4 * soc.MEMORY, 7, 4)
    with pytest.raises(PointsmanError, match="a program of 32768 bytes leaves no stack in a memory of 32768"):
        soc.loaded(header + segment + bytes(4))
    assert soc.loaded(header + struct.pack("<8I", 1, 84, 4, 0, 4, 8, 7, 4) + b"abcd") == b"\0\0\0\0abcd"
    with pytest.raises(PointsmanError, match="no 32-bit ELF file"):
        soc.loaded(b"\x7fELF\x02")


def test_other_words_and_answers_are_told(chip):
    python = soc.in_python(chip)
    output = {node: [*chip.application.expected(node), *range(6), 7] for node in range(2)}
    right = soc.Outcome(output, {}, 1, 1, 0, 1.0)
    assert soc.differences(chip, right, python) == []
    assert right.spent(0) == dict(zip(soc.CATEGORIES, range(6), strict=True))
    assert right.changes(1) == 7
    output[1] = [9, *output[1][1:]]
    (line,) = soc.differences(chip, right, python)
    assert line.startswith("node 1 outputs [9, ")
    (line,) = soc.differences(chip, soc.Outcome(output, {}, 1, 1, 105, 1.0), python)
    assert line == "the nodes ended with status 105"
    moved = soc.Outcome({0: output[0], 1: output[0]}, {(0, 5): [1], (0, 0): [4]}, 1, 1, 0, 1.0)
    assert "node 0: other changes of phase than in Python" in soc.differences(chip, moved, python)
    assert "node 0: other words through register 5 than in Python" in soc.differences(chip, moved, python)


WAITS = [0x6F]
"""Machine code: a jump to itself."""
ENDS = [0x300000B7, 0x0000A223, 0x6F]
"""0 is written to the second word of the output."""


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two nodes in Icarus; what they do is read from files."""
    folder = tmp_path_factory.mktemp("bench")
    shape, topology = NodeShape(), mesh(2)
    links = [(link.node, link.port, link.other, link.other_port) for link in topology.links]
    (folder / "mesh.v").write_text(mesh_verilog(shape, 2, links))
    (folder / "bridge.v").write_text(bridge_verilog(HostShape(registers=shape.registers), "wishbone"))
    (folder / "soc.v").write_text(soc.top_verilog(shape, 2))
    (folder / "bench.v").write_text(
        "module bench; reg clk = 0, rst = 1; wire ended; wire [31:0] status; integer cycle = 0;\n"
        "soc soc (.clk(clk), .rst(rst), .ended(ended), .status(status), .tx()); always #5 clk = !clk;\n"
        "always @(posedge clk) begin cycle <= cycle + 1; rst <= cycle < 40;\n"
        'if (ended === 1 || cycle == 400) begin $display("%b %0d", ended, status); $finish; end end endmodule\n'
    )
    parts = ["bench.v", "soc.v", "mesh.v", "bridge.v", *(FOLDER / f"soc_{part}.v" for part in ("node", "serial"))]
    command = ["iverilog", "-g2012", "-s", "bench", "-o", "bench.vvp", *parts, soc.picorv32()]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="there is no iverilog")
@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (WAITS, WAITS, "0 0"),
        (ENDS, WAITS, "0 0"),
        (ENDS, ENDS, "1 0"),
        # A node that fails ends all, for others may wait for it.
        ([0x300000B7, 0x06500113, 0x0020A223, 0x6F], WAITS, "1 101"),  # writes 101
        ([0x100000B7, 0x0000A103, 0x6F], WAITS, "trap 0"),  # reads between memory and bridge
        ([0x000080B7, 0x0000A103, 0x6F], WAITS, "trap 0"),  # reads behind its memory
        ([0x200000B7, 0x0E00A103, *ENDS], ENDS, "trap 0"),  # reads a word of the bridge that is not there
        ([0x200000B7, 0x09C0A103, *ENDS], ENDS, "1 0"),  # its last word
    ],
)
def test_a_node_that_fails_ends_the_whole(bench: Path, first: list[int], second: list[int], said: str):
    for node, code in enumerate((first, second)):
        (bench / f"node_{node}.hex").write_text(
            "\n".join(f"{word:08x}" for word in code + [0] * (soc.MEMORY - len(code)))
        )
    done = subprocess.run(["vvp", "-n", "bench.vvp"], cwd=bench, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1 if said[0] != "t" else 0] == said


def test_a_serial_line_has_no_more_nodes_than_it_has_digits():
    with pytest.raises(PointsmanError, match="there must be at most 16, not 17"):
        soc.top_verilog(NodeShape(), 17, 50)
    assert "node_16" in soc.top_verilog(NodeShape(), 17)


@pytest.mark.parametrize(
    ("name", "size", "side", "told"),
    [
        ("matmul", (3, 1), 2, "needs a square mesh"),
        ("matmul", (2, 2), 0, "--side must be at least 1, not 0"),
        ("halo", (2, 2, 2), 2, "squares lie on a mesh of two dimensions"),
        ("halo", (4,), 2, "squares lie on a mesh of two dimensions"),
        ("halo", (2, 2), -1, "--side must be at least 1, not -1"),
    ],
)
def test_sizes_that_a_program_cannot_have_are_refused(name: str, size: tuple[int, ...], side: int, told: str):
    with pytest.raises(PointsmanError, match=told):
        soc.application_of(name, mesh(*size), side)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["matmul", "halo"])
def test_the_whole_rtl_gives_the_answer_and_the_words_of_python(name: str, tmp_path: Path):
    done = subprocess.run(
        [sys.executable, ROOT / "examples/soc/soc.py", name, "--folder", tmp_path, "--side", "4"],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    assert "words and changes of phase as in Python" in done.stdout
