"""The page of the house is what the code says today, and its answers are where it says they are."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from types import ModuleType

import pytest

from loading import module_at

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/house.md").read_text(encoding="utf-8")
ANSWERS = re.findall(r"^\| (.+?) \| `([\w/.]+)`: (.+?) \|$", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    return module_at(ROOT / "docs/make_house.py")


def test_the_page_and_the_picture_are_made_from_the_code(maker: ModuleType) -> None:
    assert maker.page(PAGE) == PAGE, "run docs/make_house.py"
    assert maker.PICTURE.read_text(encoding="utf-8") == maker.draw(), "run docs/make_house.py"


def test_every_package_says_what_is_in_it(maker: ModuleType) -> None:
    assert [path for path, said, _ in maker.packages() if not said] == []


def test_the_way_of_a_program_goes_through_rooms_that_exist(maker: ModuleType) -> None:
    assert set(maker.WAY) <= {name for layer in maker.layers() for name in layer}


def test_ten_questions_are_answered() -> None:
    assert len(ANSWERS) >= 10


@pytest.mark.parametrize(("question", "path", "names"), ANSWERS)
def test_an_answer_is_where_the_page_says(question: str, path: str, names: str) -> None:
    defined = {
        node.name
        for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    assert set(re.findall(r"`(\w+)`", names)) <= defined, question
