"""Positions, and how errors print."""

from __future__ import annotations

import pytest

from pointsman.cop import CopError, Limits, compile_text
from pointsman.cop.text.source import Source, suggestion
from pointsman.errors import PointsmanError
from pointsman.network import mesh


def shown(text: str, at: int) -> list[str]:
    return Source(text).excerpt(at).split("\n")


@pytest.mark.parametrize(
    ("text", "at", "line", "column"),
    [
        ("", 0, 1, 1),
        ("ab", 2, 1, 3),
        ("ab\ncd", 2, 1, 3),
        ("ab\ncd", 3, 2, 1),
        ("a\r\nb\rc\nd", 3, 2, 1),
        ("a\r\nb\rc\nd", 5, 3, 1),
        ("a\r\nb\rc\nd", 7, 4, 1),
        ("ab", 99, 1, 3),
    ],
)
def test_lines_and_columns_count_from_one(text: str, at: int, line: int, column: int) -> None:
    position = Source(text, "f.cop").position(at)
    assert (position.line, position.column, position.file) == (line, column, "f.cop")
    assert str(position) == f"f.cop:{line}:{column}"


def test_an_error_shows_its_line_with_a_caret_and_a_hint() -> None:
    text = "(loop 'mul 4\n  (subset '((0 1 2 3))\n    (broadcast 'b 9)))\n"
    with pytest.raises(CopError) as caught:
        compile_text(text, file="matmul.cop", topology=mesh(4, 4))
    assert isinstance(caught.value, PointsmanError)
    assert str(caught.value) == (
        "matmul.cop:3:19: broadcast source 9 is outside the subset (0..3)\n"
        "  (broadcast 'b 9)))\n"
        "                ^\n"
        "hint: node numbers are relative to the enclosing subset"
    )
    assert caught.value.position.line == 3
    assert caught.value.message == "broadcast source 9 is outside the subset (0..3)"


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("    (a b)", 7),
        ("\t(a\tb)", 4),
        ("漢字 x", 3),
        ("e\u0301 x", 3),
        ("x" * 300 + "!" + "y" * 300, 300),
        ("(a b)\r\n(c)", 3),
        ("a\x07\x1b b", 4),
    ],
)
def test_the_caret_stands_under_the_character_and_the_line_is_short(text: str, at: int) -> None:
    import unicodedata

    line, caret = shown(text, at)
    assert line.isprintable()
    assert len(line) <= 110
    column = len(caret) - 1
    width = 0
    for character in line:
        if width == column and not unicodedata.combining(character):
            assert character == text[at]
            break
        wide = unicodedata.east_asian_width(character) in "WF"
        width += 0 if unicodedata.combining(character) else 2 if wide else 1
    else:
        pytest.fail("the caret stands under nothing")


def test_an_empty_line_has_no_excerpt() -> None:
    assert Source("\n\n").excerpt(1) == ""


def test_several_errors_come_together_in_the_order_of_the_text() -> None:
    text = "(sequential\n  (cshift 'c 1/2 :m 0)\n  (broadcast 'b 99 :k 3)\n  (stream 's 0))"
    with pytest.raises(CopError) as caught:
        compile_text(text, topology=mesh(2, 2))
    found = [(error.position.line, error.message) for error in caught.value.errors]
    assert found == [
        (2, "cshift distance must be an integer, not 1/2"),
        (2, ":m must be a positive integer, not 0"),
        (3, "broadcast source 99 is outside the network (0..3)"),
        (3, "broadcast has no argument :k"),
        (4, "stream takes a label and 2 operands, not 1"),
    ]
    assert str(caught.value).endswith("\n5 errors")
    assert str(caught.value).count("^") == 5


def test_one_place_is_reported_once_however_often_it_is_evaluated() -> None:
    with pytest.raises(CopError) as caught:
        compile_text("(doall ((i (all 100))) (stream 's i (+ i 1000)))", topology=mesh(4, 4))
    places = [(error.position.line, error.position.column) for error in caught.value.errors]
    assert len(places) == len(set(places)) <= 2


def test_a_text_full_of_errors_ends_after_twenty() -> None:
    with pytest.raises(CopError) as caught:
        compile_text("(broadcast 'b 99)\n" * 1000, topology=mesh(4, 4))
    assert len(caught.value.errors) == 20


def test_a_name_that_nothing_defines_is_reported_once() -> None:
    with pytest.raises(CopError) as caught:
        compile_text("(subset rows (broadcast 'b nowhere))\n(subset rows (barrier 'c))", topology=mesh(4, 4))
    assert [error.message for error in caught.value.errors] == ["unknown variable 'rows'"]


def test_what_follows_from_a_failed_definition_is_not_reported() -> None:
    text = "(define n (/ 4 0))\n(parameter p (car '()))\n(broadcast 'b n)\n(loop 'l p (barrier 'c))"
    with pytest.raises(CopError) as caught:
        compile_text(text, topology=mesh(4, 4))
    assert [error.position.line for error in caught.value.errors] == [1, 2]


def test_an_error_in_a_function_names_the_call() -> None:
    text = "(define (row i)\n  (broadcast 'b i))\n\n(row 77)"
    with pytest.raises(CopError) as caught:
        compile_text(text, file="f.cop", topology=mesh(4, 4))
    assert str(caught.value) == (
        "f.cop:2:17: broadcast source 77 is outside the network (0..15)\n"
        "  (broadcast 'b i))\n"
        "                ^\n"
        "f.cop:4:1: called from here\n"
        "  (row 77)\n"
        "  ^"
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("brodcast", "did you mean 'broadcast'?"),
        ("CSHIFT", "did you mean 'cshift'?"),
        ("zzzz", None),
        ("b" * 100_000, None),
    ],
)
def test_misspelt_names_get_a_suggestion(name: str, hint: str | None) -> None:
    assert suggestion(name, ["broadcast", "cshift", "barrier"]) == hint


def test_limits_must_be_positive_and_printable() -> None:
    with pytest.raises(PointsmanError, match=r"^limit steps must be a positive integer, not 0$"):
        Limits(steps=0)
    with pytest.raises(PointsmanError, match=r"^limit number_bits must be at most 14000, not 20000$"):
        Limits(number_bits=20_000)
