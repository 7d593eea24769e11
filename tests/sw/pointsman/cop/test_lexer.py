"""Colours for COP: every word of the language has one, and no text is lost."""

from __future__ import annotations

from importlib.metadata import entry_points
from pathlib import Path

import pytest
from pygments.token import Comment, Error, Keyword, Name, Number, String

from pointsman.cop.compile import FORMS
from pointsman.cop.evaluation.operators import OPERATORS
from pointsman.cop.lexer import CopLexer
from pointsman.cop.library.library import LIBRARY

EXAMPLES = sorted((Path(__file__).resolve().parents[4] / "examples").rglob("*.cop"))


def tokens(text: str) -> dict[str, object]:
    return {value: kind for kind, value in CopLexer(stripnl=False).get_tokens(text)}


def test_pygments_finds_it() -> None:
    (found,) = [entry for entry in entry_points(group="pygments.lexers") if entry.name == "cop"]
    assert found.load() is CopLexer
    assert "*.cop" in CopLexer.filenames


def test_kinds_of_words() -> None:
    found = tokens("(loop 'l *xsize* (broadcast 'b (runtime) :m 2/3)) ; why\n(define x \"s\")")
    assert found["loop"] is Keyword.Reserved
    assert found["broadcast"] is Name.Builtin
    assert found["'b"] is Name.Label
    assert found["*xsize*"] is Name.Variable.Global
    assert found[":m"] is Name.Attribute
    assert found["2/3"] is Number
    assert found["; why"] is Comment.Single
    assert found["define"] is Keyword
    assert found['"s"'] is String
    assert found["x"] is Name


@pytest.mark.parametrize("word", sorted({*FORMS, *OPERATORS, *LIBRARY}))
def test_every_word_of_the_language_has_a_colour(word: str) -> None:
    kind = tokens(f"({word} 1)").get(word, tokens(f"{word}").get(word))
    assert kind is not Name
    assert kind is not None


def test_the_beginning_of_a_longer_name_is_no_word() -> None:
    found = tokens("(loops 1) (define-it) (broadcast2)")
    assert {found["loops"], found["define-it"], found["broadcast2"]} == {Name}


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_have_no_unknown_parts(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    pairs = list(CopLexer(stripnl=False, ensurenl=False).get_tokens(text))
    assert "".join(value for _, value in pairs) == text
    assert not [value for kind, value in pairs if kind is Error]
