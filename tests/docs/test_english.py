"""Small faults of language that have come up before: decimals without a digit before the point, "in 1 slots"."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MADE_OF_DATA = {"reproduction.md"}
"""Its sentences are those of the claims, as they are written there."""
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if page.name not in MADE_OF_DATA),
]
BLOCK = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
FAULTS = {
    "a decimal needs a digit before its point": re.compile(r"(?<=[ (\[|])\.\d+"),
    "one of them is singular": re.compile(
        r"(?:\b(?:in|of|with|for|by|take|takes|has|have) 1 (?:slots|words|cycles|nodes|phases|streams|sets|links)\b)"
    ),
}


def faults(text: str) -> list[str]:
    prose = BLOCK.sub("", text)
    return [f"{rule}: {match}" for rule, pattern in FAULTS.items() for match in pattern.findall(prose)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_has_none_of_the_faults(page: Path) -> None:
    assert faults(page.read_text(encoding="utf-8")) == []


def test_the_faults_are_found() -> None:
    assert len(faults("took .2 and .8 s\nin 1 slots")) == 3
    assert faults("`.2` 0.2 s; in 1 slot; 1.5 slots") == []
