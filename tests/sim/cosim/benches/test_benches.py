"""The command, one bench from end to end, and what happens when something is wrong."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from cosim.benches import build as building
from cosim.benches.__main__ import main
from cosim.benches.bench import Design
from cosim.benches.build import BuildError, build
from cosim.benches.catalogue import BENCHES, find
from cosim.benches.simulate import simulate
from pointsman.errors import PointsmanError

ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "build" / "sim"
"""Where `make sim` keeps its simulators, which so need not be built twice."""

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="there is no C++ compiler")


def test_list_names_every_bench_and_runs_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert listed == [bench.name for bench in BENCHES]
    assert {"schedule", "annotation", "transfer", "interface", "node", "mesh_2x2", "image_2x2"} <= set(listed)


def test_unknown_bench_is_refused_with_the_known_ones(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "nodes"]) == 2
    names = ", ".join(bench.name for bench in BENCHES)
    assert capsys.readouterr().err == f"error: there is no bench 'nodes'\n  hint: there are: {names}\n"


def test_names_of_benches_and_designs_are_unique() -> None:
    assert len({bench.name for bench in BENCHES}) == len(BENCHES)
    designs = {bench.design.name: bench.design for bench in BENCHES}
    assert all(bench.design is designs[bench.design.name] for bench in BENCHES)


@needs_compiler
def test_annotation_bench_passes_and_says_what_it_covered(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--only", "annotation", "--seed", "3", "--folder", str(FOLDER)])
    told = capsys.readouterr().out
    assert status == 0, told
    assert re.match(
        r"annotation   seed 3: [\d,]{5,} cycles, [\d,]{5,} values compared, 31 of 31 bins covered: passed", told
    )
    assert "    write: 4 of 4\n" in told
    assert re.search(r"^1 passed, 0 failed in \d+ s\n\Z", told, re.M)


@needs_compiler
def test_one_wrong_bit_in_a_memory_fails_the_bench(tmp_path: Path) -> None:
    bench = find("annotation")
    verilog = bench.design.verilog()
    found = re.search(r"(ram\[5\] = \d+'h)([0-9a-f]+);", verilog)
    assert found is not None
    wrong = f"{found[1]}{int(found[2], 16) ^ 2:x};"
    broken = replace(bench, design=Design("annotation", bench.design.top, lambda: verilog.replace(found[0], wrong)))
    outcome = simulate(broken, build(broken.design, FOLDER), seed=1, folder=tmp_path)
    assert not outcome.passed
    assert re.match(r"cycle \d+: annotation is 0x[0-9a-f]+ and must be 0x[0-9a-f]+\n", outcome.failure)
    assert 0 < outcome.cycles < 2000


@needs_compiler
def test_simulator_that_leaves_nothing_fails(tmp_path: Path) -> None:
    outcome = simulate(find("annotation"), Path(shutil.which("true") or "/bin/true"), seed=1, folder=tmp_path)
    assert outcome.failure == "the simulator ended with status 0 and left no results"


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
