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
RESULTS = ROOT / "benchmarks/results"
STALE = "python benchmarks/claims/reproduce.py --saved"


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
    for name in (
        "answers",
        "collectives",
        "ding",
        "digest",
        "feldmann",
        "metcalf",
        "metcalf_evaluation",
        "metcalf_figures",
        "von_eicken",
        "yuan",
        "yuan_arrays",
        "yuan_programs",
    ):
        sys.modules.pop(name)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("metcalf1997", 69 + 10),
        ("ding2005", 20 + 3),
        ("feldmann1993", 22 + 6),
        ("von_eicken1993", 25 + 4),
        ("yuan1998", 39 + 6 + 12),
        ("yuan1998_chapter_5", 10),
        ("collectives_of_today", 5),
    ],
)
def test_every_claim_and_table_has_an_answer_with_a_reason(program: ModuleType, name: str, count: int) -> None:
    rows = program.answered(name, program.load(RESULTS))
    assert len(rows) == count
    for number, _, _, _, answer in rows:
        assert answer.verdict in program.VERDICTS, number
        assert answer.ours, number
        assert answer.why, number
        assert "not measured" not in answer.why, number


def test_no_answer_is_without_a_claim(program: ModuleType) -> None:
    asked = {number for name in program.DOCUMENTS for number, *_ in program.claims(name)}
    assert set(program.ANSWERS) == asked


def test_page_and_data_are_made_of_the_results_that_are_there(program: ModuleType) -> None:
    measured = program.load(RESULTS)
    assert (ROOT / "docs/reproduction.md").read_text(encoding="utf-8") == program.page(measured), STALE
    assert json.loads((RESULTS / "claims.json").read_text(encoding="utf-8")) == program.document(measured), STALE
    assert set(program.stamps(RESULTS)) == set(program.BENCHMARKS), STALE


def test_verdicts_follow_the_figures(program: ModuleType) -> None:
    measured = program.load(RESULTS)
    assert program.ANSWERS["Table 8.3"](measured).verdict == "better"
    worse = json.loads(json.dumps(measured))
    worse["matmul"]["runs"][0]["categories"]["read"] = 1e6
    assert program.ANSWERS["Table 8.3"](worse).verdict == "contradicted"
    assert program.ANSWERS["C210"](measured).verdict == "reproduced"
    for point in worse["tdm_space"]["points"]:
        for row in point["figure_5"]:
            row["2 preloaded"] = row["1 preloaded"]
        for row in point["figure_4"]:
            row["dynamic"] = 0.01
    for number in ("C206", "C207", "C210"):
        assert program.ANSWERS[number](worse).verdict == "contradicted", number
    worse["worked_examples"]["examples"]["C041 C042"]["loop"]["B"] = 3
    assert program.ANSWERS["C042"](worse).verdict == "contradicted"
    differ = program.changed(measured, worse)
    assert any(line.startswith("C042: reproduced before, now contradicted") for line in differ)


def test_a_claim_of_several_parts_needs_a_point_at_which_all_hold(program: ModuleType) -> None:
    found = sys.modules["ding"].Found
    points = [
        {"window": 4, "time_out": 0, "order": "plain", "cable": 8, "a": a, "b": b} for a, b in ((6, 4), (5, 6), (1, 6))
    ]
    parts = {name: (lambda point, name=name: found(point[name], 6, "")) for name in ("a", "b")}
    judged = sys.modules["ding"].judged
    assert judged({"tdm_space": {"points": points}}, parts).verdict == "reproduced"
    assert "at 1 of 3 points" in judged({"tdm_space": {"points": points}}, parts).why
    assert judged({"tdm_space": {"points": points[::2]}}, parts).verdict == "contradicted"


@pytest.fixture
def three(program: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Benchmarks of which none has saved results: one adds rows, one fails, one prints."""
    monkeypatch.setattr(program, "RESULTS", tmp_path / "saved")
    monkeypatch.setattr(program, "present", lambda name: "now")
    return ["worked_examples", "gauss", "matmul"]


def test_what_was_measured_before_a_stop_is_not_measured_again(
    program: ModuleType, three: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[str] = []

    def stopping(command: list[str], **given: object) -> SimpleNamespace:
        ran.append(Path(command[1]).stem)
        if len(ran) == 3:
            raise KeyboardInterrupt
        if len(command) > 2:
            Path(command[3]).write_text("{}")
        return SimpleNamespace(returncode=int(ran[-1] == "gauss"), stdout="{}")

    monkeypatch.setattr(subprocess, "run", stopping)
    with pytest.raises(KeyboardInterrupt):
        program.run(tmp_path, three)
    assert program.run(tmp_path, three) == ["gauss"]  # it fails again, and nothing else is run twice
    assert ran == [*three, "gauss", "matmul"]
    assert program.run(tmp_path, ["worked_examples", "matmul"]) == []
    assert len(ran) == 5
    monkeypatch.setattr(program, "present", lambda name: "later")
    assert program.run(tmp_path, ["matmul"]) == []  # other code: measured again
    assert ran[5:] == ["matmul"]
    assert program.stamps(tmp_path)["matmul"]["code"] == "later"


def test_a_time_limit_leaves_the_rest_for_another_run(
    program: ModuleType,
    three: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def slow(command: list[str], **given: object) -> SimpleNamespace:
        assert given["timeout"] is not None
        raise subprocess.TimeoutExpired(command, 1)

    monkeypatch.setattr(subprocess, "run", slow)
    assert program.run(tmp_path, ["worked_examples"], 60) == ["worked_examples"]
    assert program.run(tmp_path, three, -1) == three
    assert "goes on next time" in capsys.readouterr().out
    assert program.stamps(tmp_path) == {}


def test_saved_results_of_the_present_code_are_taken(program: ModuleType, three: list[str], tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    saved.mkdir()
    (saved / "matmul.json").write_text('{"runs": []}')
    program.enter(saved, "matmul", {"code": "now", "date": "2026-01-01"})
    assert program.run(tmp_path / "new", ["matmul"]) == []
    assert program.current(tmp_path / "new", "matmul")
    assert program.stamps(tmp_path / "new")["matmul"]["date"] == "2026-01-01"


def test_a_digest_is_of_what_code_does(program: ModuleType, tmp_path: Path) -> None:
    digest = sys.modules["digest"].code_digest
    (tmp_path / "room").mkdir()
    file = tmp_path / "room/a.py"
    file.write_text('"""What it does."""\n\n\ndef f(x):\n    """Double."""\n    return 2 * x\n')
    before = digest(tmp_path, ["room"])
    file.write_text("# said otherwise\ndef f(x):\n    return (2 * x)\n")
    assert digest(tmp_path, ["room"]) == before
    file.write_text("def f(x):\n    return 3 * x\n")
    assert digest(tmp_path, ["room"]) != before
    file.write_text("def f(x):\n    return 2 * x\n")
    file.rename(tmp_path / "room/b.py")
    assert digest(tmp_path, ["room"]) != before
