"""Rows, marks and page of the switch's measurements."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from pointsman.errors import PointsmanError


@pytest.fixture
def synth(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("tdm_synth.py")


def test_rows_are_there_once_and_have_the_marks(synth: ModuleType) -> None:
    names = [row.name for row in synth.rows()]
    assert len(names) == len(set(names))
    assert set(synth.MARKED.values()) <= set(names)
    marked = [row for row in synth.rows() if row.name in synth.MARKED.values()]
    assert all(row.seeds == 3 for row in marked)


def _row(name: str, mhz: float) -> dict:
    return {
        "name": name,
        "lut4": 7,
        "ff": 8,
        "dpr16x4": 0,
        "mhz": {"median": mhz},
        "ns": round(1000 / mhz, 2),
        "seeds": 3,
        "critical_path": {"levels": 5},
        "published_ns": 120,
    }


def test_page_says_whether_marks_are_met(synth: ModuleType) -> None:
    wrapped, pipelined = synth.MARKED["wrapped"], synth.MARKED["pipelined"]
    text = synth.page(synth._result({wrapped: _row(wrapped, 40.0), pipelined: _row(pipelined, 240.0)}))
    assert "| wrapped | 32 | fixed | 7 | 8 | 5 | 25.00 | 40.0 | 3 | 120 |" in text
    assert "25.00 ns: met." in text
    assert "240.0 MHz: not met." in text


def test_what_could_not_be_measured_is_said(synth: ModuleType) -> None:
    name = "tdm-switch ports=64 order=wrapped"
    text = synth.page(synth._result({name: {"name": name, "failed": "the ecp5-85k is too small"}}))
    assert "| tdm-switch | 64 | – | – | – | – | – | the ecp5-85k is too small |" in text


def test_foreign_results_are_refused(synth: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"rows": 3}))
    with pytest.raises(PointsmanError, match="holds no results of this benchmark"):
        synth._load(tmp_path / "x.json")
    with pytest.raises(PointsmanError, match="must have the lines"):
        synth.put_into("nothing", "measured")
