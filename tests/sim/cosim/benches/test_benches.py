"""The command, and one bench from end to end."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from cosim.benches.__main__ import main
from cosim.benches.catalogue import BENCHES

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


@pytest.mark.long
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="there is no Icarus Verilog")
@pytest.mark.parametrize("name", ["annotation", "packet_ring", "tdm_switch"])
def test_icarus_runs_a_bench_of_each_block(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--only", name, "--simulator", "icarus", "--folder", str(tmp_path)])
    told = capsys.readouterr().out
    assert status == 0, told
    assert re.search(r" (\d+) of \1 bins covered: passed", told)


def test_without_icarus_the_bench_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["--only", "annotation", "--simulator", "icarus", "--folder", str(tmp_path)]) == 1
    assert "there is no iverilog" in capsys.readouterr().out


@pytest.mark.long
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
