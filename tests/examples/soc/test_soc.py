"""The chip of RISC-V nodes: binaries, Verilog that elaborates, and, slowly, the whole RTL with right answers."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from loading import module_at
from pointsman.errors import PointsmanError

ROOT = Path(__file__).parents[3]
soc = module_at(ROOT / "examples/soc/soc.py")


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
