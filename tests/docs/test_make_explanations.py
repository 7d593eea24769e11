"""The pictures of the explanations are what their script draws today."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from loading import module_at

FOLDER = Path(__file__).parents[2] / "docs/pictures"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    return module_at(FOLDER / "make_explanations.py")


@pytest.mark.parametrize("name", ["phases", "divisions", "gauss", "engine", "stages", "landing"])
def test_picture_is_drawn_from_documents_and_constants(maker: ModuleType, name: str) -> None:
    text = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert text == maker.PICTURES[name](), "run docs/pictures/make_explanations.py"
    assert len(text) < 40_000


def test_every_picture_stands_on_a_page(maker: ModuleType) -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in FOLDER.parent.glob("*.md"))
    assert [name for name in maker.PICTURES if f"](pictures/{name}.svg)" not in pages] == []
