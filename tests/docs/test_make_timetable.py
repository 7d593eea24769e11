"""The README's picture is what the compiler makes today."""

from __future__ import annotations

import importlib.util
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "docs/pictures"


def test_the_picture_is_drawn_from_the_compiled_program() -> None:
    spec = importlib.util.spec_from_file_location("make_timetable", FOLDER / "make_timetable.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.draw(module.plan())
    assert text.count("<circle") >= 4, "a word from every node"
    assert (FOLDER / "timetable.svg").read_text() == text, "run docs/pictures/make_timetable.py"
