"""The soak of programs finds what it is for, says what is refused, and what it once found stays mended."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from loading import module_at

soak = module_at(Path(__file__).with_name("soak_programs.py"))
KEPT = sorted(soak.KEPT.glob("seed_*.json"))


@pytest.mark.long
@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_what_went_wrong_once_goes_well(path: Path):
    assert soak.run_case(soak.kept(path), "model").images is not None


def test_there_are_kept_programs():
    assert KEPT


def test_a_word_that_is_changed_is_found_and_the_program_shrunk(monkeypatch: pytest.MonkeyPatch):
    text = "(barrier 'a)\n(broadcast 'b 0 :m 3)\n(barrier 'c)"
    case = soak.Case(1, text, (2, 1), True, 16)
    plain = soak.run_nodes

    def wrong(nodes: Any, main: Any, machine: Any) -> Any:
        record = plain(nodes, main, machine)
        for received in record.results:
            for _, _, words in received:
                words[-1] ^= 1
        return record

    monkeypatch.setattr(soak, "run_nodes", wrong)
    with pytest.raises(soak.SoakError, match=r"^node 1 received .* instead of "):
        soak.run_case(case, "model")
    assert soak.shrink(case, "model").text == "(broadcast 'b 0 :m 3)"


def test_a_program_is_run_several_times_once_it_is_compiled(monkeypatch: pytest.MonkeyPatch):
    case = soak.Case(1, "(loop 'l 2 (barrier 'a) (cshift 'b 1 :m 2))", (2, 1), True, 16)
    once, thrice = (soak.run_case(soak.replace(case, runs=runs), "model") for runs in (1, 3))
    assert thrice.changes == 3 * once.changes > 0
    assert thrice.node_cycles != 3 * once.node_cycles  # other delays


def test_reasons_are_told_without_names_and_numbers():
    reason = "<cop>:3:7: node 12 cannot tell when the others leave phase 'a+b', which a barrier closes"
    assert soak.rule(reason) == "<cop>: node N cannot tell when the others leave phase '…', which a barrier closes"


def test_refused_programs_are_counted_by_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(soak, "compiled", lambda case: f"node {case.seed} is in the way")
    progress = soak.Progress(40)
    soak.soak(progress, 3, 0, "model", lambda progress: None)
    assert (progress.cases, progress.refused, progress.reasons) == (3, 3, {"node N is in the way": 3})


def test_several_processes_are_added_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    paths = []
    for i, part in enumerate((soak.Progress(0, cases=2, changes=10), soak.Progress(9, cases=3, reasons={"no": 2}))):
        paths.append(tmp_path / f"{i}.json")
        paths[-1].write_text(json.dumps(soak.asdict(part)))
    assert soak.main(["--sum", *map(str, paths)]) == 0
    total = json.loads(capsys.readouterr().out)
    assert (total["cases"], total["changes"], total["reasons"]) == (5, 10, {"no": 2})
