"""The glossary is in order, and whoever is cited by name and year stands in the bibliography."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
WORDS, _, BIBLIOGRAPHY = PAGE.partition("## Bibliography")
ENTRIES = BIBLIOGRAPHY.split("\n- ")[1:]
CITED = re.compile(r"\b([A-Z][\wáéíóöőüä]+)(?: et al\.)? ((?:19|20)\d\d)\b")
MONTHS = {
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
}
ELSEWHERE = {"beside_others.md", "glossary.md", "features.md"}
"""Pages with sources of their own, or none."""


def citations() -> set[tuple[str, str]]:
    files = [path for folder in ("sw", "hdl", "sim") for path in (ROOT / folder).rglob("*.py")]
    files += [path for path in (ROOT / "docs").rglob("*.md") if path.name not in ELSEWHERE]
    found = {match for path in files for match in CITED.findall(path.read_text(encoding="utf-8"))}
    return {(name, year) for name, year in found if name not in MONTHS}


def test_everybody_who_is_cited_stands_in_the_bibliography() -> None:
    cited = citations()
    assert {("Metcalf", "1997"), ("Ebeling", "1995"), ("Ding", "2005")} <= cited
    lost = [(name, year) for name, year in cited if not any(name in entry and year in entry for entry in ENTRIES)]
    assert sorted(lost) == []


def test_every_entry_has_a_full_title() -> None:
    assert len(ENTRIES) > 10
    assert [entry for entry in ENTRIES if not re.search(r"\*[^*]{15,}\.\*", entry)] == []


def test_words_are_in_order_and_told_once() -> None:
    words = re.findall(r"^- \*\*([^*]+)\*\*", WORDS, re.MULTILINE)
    assert len(words) > 60
    assert words == sorted(words, key=str.lower)
    assert len(set(words)) == len(words)
