"""The README's picture is what the compiler makes today."""

from __future__ import annotations

from pathlib import Path

from loading import module_at

FOLDER = Path(__file__).parents[2] / "docs/pictures"


def test_the_picture_is_drawn_from_the_compiled_program() -> None:
    module = module_at(FOLDER / "make_timetable.py")
    text = module.draw(module.plan())
    assert text.count("<circle") >= 4, "a word from every node"
    assert (FOLDER / "timetable.svg").read_text() == text, "run docs/pictures/make_timetable.py"
