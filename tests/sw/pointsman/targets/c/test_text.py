"""C text: names, literals and tables."""

from __future__ import annotations

import pytest

from pointsman.targets.c.text import WIDTH, Tables, identifier, signed, string


@pytest.mark.parametrize(
    ("name", "expected"),
    [("b", "b"), ("x-1", "x_1"), ("int", "int"), ("2nd", "_2nd"), ("größe", "gr__e"), ("", "_"), ("a+b", "a_b")],
)
def test_any_name_becomes_an_identifier(name: str, expected: str):
    assert identifier(name) == expected


def test_strings_hold_nothing_but_plain_ascii():
    assert string('a"b\\c?\n') == '"a\\042b\\134c\\077\\012"'
    assert string("é") == '"\\303\\251"'


def test_the_least_number_is_no_literal():
    assert signed(-(1 << 31)) == "(-2147483647 - 1)"
    assert signed(-5) == "-5"


def test_equal_tables_are_one_and_empty_ones_null():
    tables = Tables()
    assert tables.table("int", "a", []) == "0"
    first = tables.table("int", "a", [1, 2])
    assert tables.table("int", "b", [1, 2]) == first
    assert tables.table("char", "b", [1, 2]) != first
    assert len([line for line in tables.lines if line.startswith("static")]) == 2


def test_rows_are_folded():
    tables = Tables()
    tables.table("int", "a", list(range(500)))
    assert max(map(len, tables.lines)) <= WIDTH
    assert sum(line.count(",") for line in tables.lines) == 500
