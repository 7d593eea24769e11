"""Simulators are built where the tools are there; what Verilator is told of a design."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from cosim.benches import build as building
from cosim.benches.bench import Design
from cosim.benches.build import BuildError, build
from cosim.benches.catalogue import BENCHES, find
from pointsman.errors import PointsmanError

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")


def test_missing_compiler_is_an_error_with_a_hint(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    building._tools.cache_clear()
    building._library_key.cache_clear()
    monkeypatch.setattr(building.shutil, "which", lambda name: None)
    with pytest.raises(BuildError, match=r"^the test benches need g\+\+\n  hint: on Debian: apt install g\+\+ make$"):
        build(find("annotation").design, tmp_path)
    assert list(tmp_path.iterdir()) == []


@needs_compiler
def test_faulty_verilog_fails_its_bench_with_what_verilator_says(tmp_path: Path) -> None:
    design = Design("faulty", "faulty", lambda: "module faulty (clk, rst);\n  input clk, rst;\n  nonsense\nendmodule\n")
    with pytest.raises(BuildError, match=r"^verilator_bin failed with exit status 1:\n(?s:.)*syntax error"):
        build(design, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_module_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    design = Design("absent", "absent", lambda: "module other (clk);\n  input clk;\nendmodule\n")
    with pytest.raises(PointsmanError, match=r"^the Verilog has no module absent$"):
        build(design, tmp_path)


VERILOG = """module inner(a, b);
  input a; output b;
endmodule
module outer(clk,
  rst, q);
  input clk, rst; output q;
endmodule
"""


def test_ports_of_the_top_can_be_written_and_those_of_visible_modules_read() -> None:
    design = Design("d", "outer", lambda: VERILOG, ("inner",))
    lines = building._control_file(design, VERILOG).splitlines()
    found = [re.fullmatch(r'(\w+) -module "(\w+)" -var "(\w+)"', line) for line in lines[1:]]
    assert lines[0] == "`verilator_config"
    assert [match.groups() for match in found if match] == [
        *(("public_flat_rw", "outer", port) for port in ("clk", "rst", "q")),
        *(("public_flat_rd", "inner", port) for port in ("a", "b")),
    ]
    assert all(found)


@needs_compiler
def test_a_simulator_that_is_there_is_not_built_again_and_another_text_is_another_one(tmp_path: Path) -> None:
    design = Design("kept", "outer", lambda: VERILOG)
    key = building._digest(
        VERILOG, building._control_file(design, VERILOG), *building._VERILATOR_OPTIONS, building._library_key()
    )
    path = tmp_path / f"kept-{key}"
    path.touch()
    assert build(design, tmp_path) == (str(path),)
    assert building._digest("a", "bc") != building._digest("ab", "c")


@pytest.mark.parametrize("bench", BENCHES, ids=lambda bench: bench.name)
def test_every_design_has_the_modules_whose_ports_its_bench_looks_at(bench) -> None:
    assert bench.design.top
    assert len({bench.design.top, *bench.design.visible}) == 1 + len(bench.design.visible)
