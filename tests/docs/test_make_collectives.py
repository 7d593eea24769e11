"""The page of collectives: its tables are those of the saved measurements."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from loading import module_at

SCRIPT = Path(__file__).resolve().parents[2] / "docs" / "make_collectives.py"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    return module_at(SCRIPT)


def test_the_page_is_not_stale(maker: ModuleType) -> None:
    text = maker.PAGE.read_text()
    assert text == maker.generated(text), "run docs/make_collectives.py"


def test_every_mark_has_its_row(maker: ModuleType) -> None:
    gathers = [row for row in maker.ideal() if row.startswith("| all-gather")]
    assert len(gathers) == 12
    assert all(row.endswith("| yes |") for row in gathers)
    held = {re.match(r"\| (\S+) \| (\S+) \| (\S+) \|", row)[0]: row for row in maker.node()[2:]}  # type: ignore[index]
    assert len(held) == len(maker.node()) - 2
    assert {key for key in held if "| 4x4 |" in key} == {
        f"| {kind} | 4x4 | {words} |"
        for kind in ("all-reduce", "reduce-scatter", "all-gather")
        for words in ("1", "64", "4,096")
    }
    large = {
        f"| {kind} | 8x8 | {words} |" for kind in ("all-reduce", "reduce-scatter") for words in ("1", "64", "4,096")
    }
    assert large < held.keys()
    assert not any("another" in row for row in held.values()), "the cycle model equals the RTL"
    assert len(maker.published()) == 2 + 5
