"""All benchmarks are run, and what they measured is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest


def test_results_that_a_benchmark_keeps_itself_are_left(
    load: Callable[[str], ModuleType], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_all = load("run_all.py")
    (tmp_path / "prints.py").write_text("print('[1]')")
    (tmp_path / "keeps.py").write_text(
        "from pathlib import Path\nPath(__file__).with_name('results').joinpath('keeps.json').write_text('[2]')"
    )
    (tmp_path / "fpga.py").write_text("raise SystemExit(1)")
    assert run_all.main(tmp_path) == 0
    assert {path.name: path.read_text() for path in (tmp_path / "results").iterdir()} == {
        "prints.json": "[1]\n",
        "keeps.json": "[2]",
    }
    (tmp_path / "fails.py").write_text("raise SystemExit('no')")
    assert run_all.main(tmp_path) == 1
    assert "no" in capsys.readouterr().err


def test_programs_that_are_not_run_are_there(load: Callable[[str], ModuleType]) -> None:
    run_all = load("run_all.py")
    assert all((run_all.HERE / name).is_file() for name in run_all.ELSEWHERE)
