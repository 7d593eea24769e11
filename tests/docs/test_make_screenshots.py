"""The pictures of pages in the documentation."""

from __future__ import annotations

from pathlib import Path

import pytest

from loading import module_at

DOCS = Path(__file__).parents[2] / "docs"
made = module_at(DOCS / "make_screenshots.py")


def test_every_picture_is_small_and_in_the_page() -> None:
    text = (DOCS / "show.md").read_text()
    for name in made.SHOTS:
        path = DOCS / "pictures" / f"{name}.png"
        assert 3_000 < path.stat().st_size < 60_000
        assert f"pictures/{path.name}" in text


def test_a_picture_can_be_made_again(tmp_path: Path) -> None:
    if made.module_of(made.DRIVER).find_chromium() is None:
        pytest.skip("there is no Chromium")
    (path,) = made.make_pictures(["show_route"], tmp_path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert path.stat().st_size > 3_000
