"""Claims of the documents beside our figures: each has an answer, the page is made of today's results, and runs resume."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def program() -> Iterator[ModuleType]:
    """``benchmarks/claims/reproduce.py``."""
    path = list(sys.path)
    spec = importlib.util.spec_from_file_location("reproduce", ROOT / "benchmarks/claims/reproduce.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path[:] = path
    sys.modules.pop("answers")


@pytest.mark.parametrize(("name", "count"), [("metcalf1997", 69 + 10), ("ding2005", 20 + 3)])
def test_every_claim_and_table_has_an_answer_with_a_reason(program: ModuleType, name: str, count: int) -> None:
    rows = program.answered(name, program.load(ROOT / "benchmarks/results"))
    assert len(rows) == count
    for number, _, _, _, answer in rows:
        assert answer.verdict in program.VERDICTS, number
        assert answer.ours, number
        assert answer.why, number


def test_no_answer_is_without_a_claim(program: ModuleType) -> None:
    asked = {number for name in program.DOCUMENTS for number, *_ in program.claims(name)}
    assert set(program.ANSWERS) == asked


def test_the_page_is_made_of_the_results_that_are_there(program: ModuleType) -> None:
    made = program.page(program.load(ROOT / "benchmarks/results"))
    assert (ROOT / "docs/reproduction.md").read_text(encoding="utf-8") == made, (
        "python benchmarks/claims/reproduce.py --measured benchmarks/results --page docs/reproduction.md"
    )


def test_verdicts_follow_the_figures(program: ModuleType) -> None:
    measured = program.load(ROOT / "benchmarks/results")
    assert program.ANSWERS["Table 8.3"](measured).verdict == "better"
    worse = json.loads(json.dumps(measured))
    worse["matmul"]["runs"][0]["categories"]["read"] = 1e6
    assert program.ANSWERS["Table 8.3"](worse).verdict == "contradicted"
    worse["scheduled_vs_packet"]["cases"][0]["rows"][0]["cycles"] = 1
    assert program.ANSWERS["C005"](worse).verdict == "contradicted"


def test_what_was_measured_before_a_stop_is_not_measured_again(
    program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def stopping(command: list[str], **given: object) -> SimpleNamespace:
        name = Path(command[1]).stem
        ran.append(name)
        if len(ran) == 4:
            raise KeyboardInterrupt
        if len(command) > 2:
            Path(command[3]).write_text("{}")
        return SimpleNamespace(returncode=int(name == "gauss"), stdout="{}")

    monkeypatch.setattr(subprocess, "run", stopping)
    with pytest.raises(KeyboardInterrupt):
        program.run(tmp_path)
    assert program.run(tmp_path) == 1  # gauss fails again, and nothing else is run twice
    assert sorted(ran) == sorted([*program.BENCHMARKS, "gauss", ran[3]])
    assert {path.stem for path in tmp_path.iterdir()} == set(program.BENCHMARKS) - {"gauss"}
