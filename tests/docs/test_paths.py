"""Files that the documentation names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
ROOTS = (
    "",
    "sw/pointsman",
    "sim",
    "sim/cosim",
    "hdl",
    "tests",
    "tests/sw/pointsman",
    "tests/sim/cosim",
    "tests/hdl",
    "examples",
    "benchmarks",
)
"""Where a path may begin."""
PATH = re.compile(r"`((?:[\w-]+/)+(?:[\w-]+\.(?:py|cop|md|v|json|csv|cpp|h))?)`")
TEST = re.compile(r"`(test_\w+\.py)`")
"""A test beside the one that was named before it, as in the table of features."""
MADE = ("build/", "node_modules/")
"""What is only there when something has been made."""


def named(page: Path) -> list[str]:
    return [path for path in PATH.findall(page.read_text(encoding="utf-8")) if not path.startswith(MADE)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_a_page_names_are_there(page: Path) -> None:
    lost = [path for path in named(page) if not any((ROOT / root / path).exists() for root in ROOTS)]
    assert lost == []


def test_tests_that_pages_name_without_their_folder_are_there() -> None:
    there = {path.name for path in (ROOT / "tests").rglob("test_*.py")}
    names = {page.name: set(TEST.findall(page.read_text(encoding="utf-8"))) for page in PAGES}
    assert len(names["features.md"]) > 20
    assert {page: lost for page, found in names.items() if (lost := found - there)} == {}


def test_pages_name_files() -> None:
    assert sum(len(named(page)) for page in PAGES) > 300
