"""The pages of ``pointsman show`` in the documentation."""

from __future__ import annotations

from pathlib import Path

from loading import module_at

DOCS = Path(__file__).parents[2] / "docs"


def test_every_document_of_the_documentation_makes_a_small_page(tmp_path: Path) -> None:
    module = module_at(DOCS / "make_shown.py")
    paths = module.make_pages(tmp_path)
    assert {path.stem for path in paths} == {path.name.partition(".")[0] for path in (DOCS / "shown").iterdir()}
    assert all(path.stat().st_size < 500_000 for path in paths)
    page = (DOCS / "show.md").read_text()
    assert all(f'href="shown/{path.name}"' in page for path in paths)
