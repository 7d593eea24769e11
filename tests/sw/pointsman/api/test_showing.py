"""What was compiled or run, as a document."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from pointsman import api, cop
from pointsman.api.showing import document_of, program_lines, refuse_lines
from pointsman.errors import PointsmanError


def test_what_was_compiled_has_a_document_with_the_reasons(tmp_path: Path) -> None:
    path = tmp_path / "one.cop"
    path.write_text("(broadcast 'd 0 :m 6)")
    compiled = api.compile(path, "2x1")
    document = compiled.document()
    assert document.why["ways"]
    assert document.source == ["(broadcast 'd 0 :m 6)"]
    compiled.write_page(tmp_path / "one.html")
    assert (tmp_path / "one.html").read_text().startswith("<!DOCTYPE html>")


def test_every_target_has_documents(tmp_path: Path) -> None:
    path = tmp_path / "one.cop"
    path.write_text("(broadcast 'd 0 :m 6)")
    for target in ("numesh", "tdm", "packet"):
        assert api.compile(path, "2x1", target=target).document().target == target


def test_programs_on_an_optical_network_have_no_document(tmp_path: Path) -> None:
    path = tmp_path / "one.cop"
    path.write_text("(broadcast 'd 0 :m 6)")
    with pytest.raises(PointsmanError, match="programs on an optical network are not shown"):
        api.compile(path, "2x1", target="optical").document()


def test_what_has_no_hardware_has_no_document() -> None:
    with pytest.raises(PointsmanError, match="a dry run has no hardware to show"):
        document_of(None)


def test_lines_are_those_of_the_file_that_most_operators_come_from(tmp_path: Path) -> None:
    path = tmp_path / "a.cop"
    path.write_text("one\ntwo\n")
    assert program_lines([f"{path}:1:1", f"{path}:2:1", "other.cop:1:1", ""]) == ["one", "two"]
    assert program_lines(["gone.cop:1:1"]) == []
    assert program_lines([]) == []


def test_traces_as_lines_are_for_scheduled_routers() -> None:
    refuse_lines({"trace": Path("a.json")})
    refuse_lines({})
    with pytest.raises(PointsmanError, match="lines of JSON for scheduled routers only"):
        refuse_lines({"trace": Path("a.jsonl")})


def test_a_notebook_gets_the_page_and_a_terminal_the_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    compiled = api.compile(lambda net: [cop.cshift("c", 1, m=4)], "2")
    compiled.show()
    assert capsys.readouterr().out == compiled.text + "\n"
    shown: list[str] = []
    display = SimpleNamespace(HTML=str, display=shown.append)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: True, display=display))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    compiled.show()
    assert shown[0].startswith('<iframe srcdoc="&lt;!')
    assert capsys.readouterr().out == ""
