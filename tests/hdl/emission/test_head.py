"""The head of a file of Verilog, and Verilator's lint of every kind of file that has it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import verilator

from emission import verilog_head
from host.emit import BRIDGES, bridge_verilog
from host.shape import HostShape
from packet_router import emit as packets
from packet_router.shape import RouterShape
from tdm_switch.emit import switch_verilog
from tdm_switch.shape import SwitchShape


def lint(text: str, top: str, folder: Path) -> list[str]:
    """What ``verilator --lint-only -Wall`` says; nothing if all is well."""
    (folder / "lint.v").write_text(text)
    root = Path(verilator.__file__).parent
    command = [str(root / "bin" / "verilator_bin"), "--lint-only", "-Wall", "--top-module", top, "lint.v"]
    environment = {**os.environ, "VERILATOR_ROOT": str(root)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("%")]


def test_the_head_says_what_a_file_is_and_why_warnings_are_off() -> None:
    lines = verilog_head("A block.", UNOPTFLAT="no loop").splitlines()
    assert lines[0] == "// A block."
    assert lines[1] == "/* verilator lint_off DECLFILENAME */ // modules stand together in one file"
    assert lines[-1] == "/* verilator lint_off UNOPTFLAT */ // no loop"


def test_a_program_with_a_line_break_in_its_name_stays_a_comment() -> None:
    assert verilog_head("loader of the image a\nb").splitlines()[0] == "// loader of the image a b"
    assert all(line.startswith(("//", "/*")) for line in verilog_head("a\r\nb\vc\x85d\u2028e").split("\n")[:-1])


@pytest.mark.long
@pytest.mark.parametrize(
    "shape",
    [
        {"size": (1, 1)},
        {"size": (1, 5)},
        {"size": (2, 1, 2), "routing": "adaptive", "channels": 2},
        {"size": (2,), "torus": True, "routing": "adaptive", "channels": 3, "queue": 2},
    ],
    ids=str,
)
def test_packet_networks_pass_lint(shape: dict[str, object], tmp_path: Path) -> None:
    assert lint(packets.mesh_verilog(RouterShape(**shape)), packets.MESH_MODULE, tmp_path) == []


@pytest.mark.parametrize(
    "shape", [{"ports": 1}, {"ports": 5, "slots": 3, "order": "wrapped", "priority": "random"}], ids=str
)
def test_switches_pass_lint(shape: dict[str, object], tmp_path: Path) -> None:
    assert lint(switch_verilog(SwitchShape(**shape)), "tdm_switch", tmp_path) == []


@pytest.mark.parametrize("bus", BRIDGES)
@pytest.mark.parametrize(
    "shape", [{"nodes": 1}, {"nodes": 3, "registers": 5, "width": 64, "blocked": "error"}], ids=str
)
def test_bridges_pass_lint(bus: str, shape: dict[str, object], tmp_path: Path) -> None:
    assert lint(bridge_verilog(HostShape(**shape), bus), "numesh_host", tmp_path) == []
