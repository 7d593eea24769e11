"""A case runs once, and its record says what came of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pointsman.errors import PointsmanError
from pointsman.sweep import cases
from pointsman.sweep.cases import Case, digest_beside, read_record, record_path, run_case


def case(path: Path, **arguments: object) -> Case:
    return Case(str(path), digest_beside(path), "2", None, True, {}, arguments)


@pytest.mark.parametrize(
    ("fail", "status", "said"),
    [("", "right", ""), ("wrong", "wrong", ""), ("raise", "error", "ValueError: as asked for")],
)
def test_a_record_says_what_came_of_a_case(noted: Path, tmp_path: Path, fail: str, status: str, said: str) -> None:
    one = case(noted, fail=fail)
    assert run_case(str(tmp_path), one) == status if (tmp_path / "cases").mkdir() is None else None
    record = read_record(tmp_path, one)
    assert record is not None
    assert record["case"] == {"application": "noted", "network": "2", "dry": True, "arguments": {"fail": fail}}
    assert record["status"] == status
    assert said in record.get("error", "")
    assert ("values" in record) == (status != "error")


def test_a_recorded_case_is_not_run_again(noted: Path, tmp_path: Path) -> None:
    (tmp_path / "cases").mkdir()
    for _ in range(3):
        assert run_case(str(tmp_path), case(noted, number=1)) == "right"
    assert noted.with_name("log").read_text().count("start 1") == 1


def test_a_broken_record_is_said(noted: Path, tmp_path: Path) -> None:
    (tmp_path / "cases").mkdir()
    record_path(tmp_path, case(noted)).write_text("{")
    with pytest.raises(PointsmanError, match=r"cannot read the record .*\n.*remove it, and the case is run again"):
        read_record(tmp_path, case(noted))


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "3",
        '{"status": "right", "values": {}, "seconds": 1}',
        '{"case": CASE, "status": "right", "seconds": 1}',
        '{"case": CASE, "status": "error", "values": {}, "seconds": 1}',
        '{"case": CASE, "status": "right", "values": {}}',
        '{"case": {}, "status": "right", "values": {}, "seconds": 1}',
    ],
)
def test_a_file_that_is_no_record_is_said(noted: Path, tmp_path: Path, text: str) -> None:
    (tmp_path / "cases").mkdir()
    record_path(tmp_path, case(noted)).write_text(text.replace("CASE", json.dumps(case(noted).as_dict())))
    with pytest.raises(PointsmanError, match=r"json is no record of noted 2.*\n.*remove it, and the case is run again"):
        read_record(tmp_path, case(noted))


def test_cases_that_differ_have_different_names(noted: Path) -> None:
    assert case(noted, number=1).key == case(noted, number=1).key
    assert len({case(noted).key, case(noted, number=1).key, case(noted, number=1.0).key}) == 3
    assert str(case(noted, number=1)) == "noted 2 dry=True number=1"


def test_another_pointsman_makes_other_cases(noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = case(noted).key
    monkeypatch.setattr(cases, "own_digest", lambda: "another")
    assert case(noted).key != before
