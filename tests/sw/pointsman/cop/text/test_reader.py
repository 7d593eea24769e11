"""Reading: text to forms, numbers, strings, and what is refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pointsman.cop import CopError, CopLimitError, Limits
from pointsman.cop.text.reader import FALSE, TRUE, Atom, Keyword, ListForm, Symbol, datum, read, write
from pointsman.cop.text.source import Source

SYMBOLS = st.from_regex(r"[a-zA-Z*_!?<>=+/-][a-zA-Z0-9*_!?<>=+/-]{0,12}", fullmatch=True).filter(
    lambda name: name not in ("nil",) and name[0] not in "+-"
)
ATOMS = st.one_of(
    st.integers(-(10**30), 10**30),
    st.fractions(max_denominator=10**12).map(lambda f: f.numerator if f.denominator == 1 else f),
    SYMBOLS.map(Symbol),
    st.from_regex(r":[a-z][a-z0-9-]{0,8}", fullmatch=True).map(Keyword),
    st.text(st.sampled_from("abc \"\\\n\t\r();'漢é"), max_size=12),
)
VALUES = st.recursive(ATOMS, lambda inner: st.lists(inner, max_size=5).map(tuple), max_leaves=20)


def values(source: str, **limits: int) -> list[object]:
    return [datum(form) for form in read(Source(source, "t.cop"), Limits(**limits))]


def same(one: object, other: object) -> bool:
    """Equal in type too: a string is not a symbol."""
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and one == other


@given(st.lists(VALUES, max_size=5))
@settings(derandomize=True, deadline=None, max_examples=60)
def test_values_written_out_read_back_to_equal_values(items: list[object]) -> None:
    text = "\n".join(write(item) for item in items)
    back = values(text)
    assert len(back) == len(items)
    assert all(map(same, back, items)), text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-17", -17),
        ("+5", 5),
        ("007", 7),
        ("6/4", Fraction(3, 2)),
        ("-8/4", -2),
        ("0.25", Fraction(1, 4)),
        (".5", Fraction(1, 2)),
        ("5.", 5),
        ("-1.5e3", -1500),
        ("1e-2", Fraction(1, 100)),
        ("nil", ()),
        ("()", ()),
        ("#f", ()),
        ("#t", TRUE),
        ("t", TRUE),
        ("1+", Symbol("1+")),
        ("-", Symbol("-")),
        ("...", Symbol("...")),
        ("**min**", Symbol("**min**")),
        (":m", Keyword(":m")),
        (r'"a\n\"b\\"', 'a\n"b\\'),
        ("'x", (Symbol("quote"), Symbol("x"))),
        ("''()", (Symbol("quote"), (Symbol("quote"), ()))),
    ],
)
def test_atoms_have_the_value_that_they_look_like(text: str, value: object) -> None:
    (found,) = values(text)
    assert same(found, value)


def test_comments_and_every_line_end_are_passed_over() -> None:
    assert values("1 ; one\r\n2 ; two\r3 ; three\n4 ;") == [1, 2, 3, 4]


def test_byte_order_mark_at_the_head_is_passed_over() -> None:
    assert values("\ufeff7") == [7]


def test_text_embedded_in_c_ends_where_the_c_comment_ends() -> None:
    assert values(";/*\n(a b)\n*/\nint main(void) { return 0; } // 'unbalanced\0") == [("a", "b")]
    assert values("; /*\r\n1 */ 2") == [1]
    assert values("1 ;/*\n2 */ 3") == [1, 2, Symbol("*/"), 3], "only the first line makes it C"
    assert values("; /* a remark */\n1") == [1]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("(a (b)", "1:1", "this parenthesis is never closed"),
        ("a\n  (b (c)", "2:3", "this parenthesis is never closed"),
        ("(a))", "1:4", "this parenthesis closes nothing"),
        ("(a ')", "1:4", "nothing follows this quote"),
        ("'", "1:1", "nothing follows this quote"),
        ('(a "b)', "1:4", "this string is never closed"),
        ('"a\\qb"', "1:3", "'\\q' means nothing in a string"),
        ("1/0", "1:1", "the denominator of a ratio may not be zero"),
        ("2x2", "1:1", "'2x2' is neither a number nor a name"),
        ("²", "1:1", "'²' is neither a number nor a name"),
        ("(a . b)", "1:4", "dotted pairs are not part of COP"),
        ("`", "1:1", "nothing follows this quote"),
        ("(a ,@)", "1:4", "nothing follows this quote"),
        ("|a|", "1:1", "'|' is not part of COP"),
        ("#'car", "1:1", "'#' is not part of COP"),
        (":", "1:1", "a colon must be followed by the name of an argument"),
        ("a\0", "1:2", "character U+0000 may not stand in a COP text"),
        ("; a comment\n;\x1b[31m", "2:2", "character U+001B may not stand in a COP text"),
        ("(b \u2019x)", "1:4", "character U+2019 is not part of COP"),
        ("a\u00a0b", "1:2", "character U+00A0 is not a space of COP"),
        ("(a\u202eb)", "1:3", "character U+202E may not stand in a COP text"),
        ("\ud800", "1:1", "character U+D800 may not stand in a COP text"),
    ],
)
def test_what_is_not_a_form_is_refused_with_its_place(text: str, place: str, message: str) -> None:
    with pytest.raises(CopError) as caught:
        values(text)
    assert caught.value.message == message
    assert str(caught.value.position) == f"t.cop:{place}"


def test_a_list_that_begins_in_column_1_shows_where_one_before_it_is_not_closed() -> None:
    with pytest.raises(CopError) as caught:
        values("(loop 'l 3\n  (broadcast 'b 0)\n\n(loop 'k 3\n  (barrier 'c))")
    assert str(caught.value) == (
        "t.cop:1:1: this parenthesis is never closed\n"
        "  (loop 'l 3\n"
        "  ^\n"
        "t.cop:4:1: a list that begins in column 1 while it is still open\n"
        "  (loop 'k 3\n"
        "  ^"
    )


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("a" * 101, "text"),
        ("(a) " * 20, "forms"),
        ("'" * 40 + "a", "forms"),
        ("9" * 50, "number_bits"),
        ("-" + "9" * 20, "number_bits"),
        ("1e40", "number_bits"),
        ("1e-40", "number_bits"),
        ("1e9999999", "number_bits"),
        ("1/" + "7" * 40, "number_bits"),
        ("7" * 40 + "/2", "number_bits"),
        ('"' + "a" * 33 + '"', "list_length"),
    ],
)
def test_reading_stays_within_its_limits(text: str, limit: str) -> None:
    with pytest.raises(CopLimitError) as caught:
        values(text, text=100, forms=30, number_bits=64, list_length=32)
    assert caught.value.limit == limit
    assert f"(limit {limit}: " in caught.value.message


def test_numbers_up_to_the_limit_are_read_exactly() -> None:
    assert values(str(2**64 - 1), number_bits=64) == [2**64 - 1]
    assert values(str(1 - 2**64), number_bits=64) == [1 - 2**64]
    assert values("0" * 100 + "5", number_bits=64) == [5]
    assert values(str(2**13_999), number_bits=14_000) == [2**13_999]


@pytest.mark.parametrize("text", ["(" * 100_000 + ")" * 100_000, "'" * 100_000 + "x"], ids=["lists", "quotes"])
def test_nesting_of_100_000_reads_and_is_quoted_without_recursion(text: str) -> None:
    (form,) = read(Source(text))
    depth = 0
    value = datum(form)
    while isinstance(value, tuple) and value:
        value, depth = value[-1], depth + 1
    assert depth in (99_999, 100_000)
    assert value == FALSE or value == "x"
    assert len(write(datum(form), 50)) <= 50


def test_forms_know_their_places() -> None:
    text = "(a\n  'b (c 12))"
    (form,) = read(Source(text))
    assert isinstance(form, ListForm)
    assert [item.at for item in form.items] == [0 + 1, 5, 8]
    quoted = form.items[1]
    assert isinstance(quoted, ListForm)
    assert [item.at for item in quoted.items] == [5, 6]
    inner = form.items[2]
    assert isinstance(inner, ListForm)
    assert isinstance(inner.items[1], Atom)
    assert (inner.items[1].at, inner.items[1].value) == (11, 12)
