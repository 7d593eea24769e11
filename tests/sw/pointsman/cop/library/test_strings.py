"""Strings and symbols of COP."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pointsman.cop.evaluation.values import Complaint
from pointsman.cop.library.strings import PLAIN
from pointsman.cop.text.reader import FALSE, Symbol

COUNTED = SimpleNamespace(allocate=lambda cells: None, check_bits=lambda bits: None, number=lambda value: value)
FUNCTIONS = {name: function for names, _, _, function in PLAIN for name in names.split()}


def call(name: str, *arguments: Any) -> Any:
    return FUNCTIONS[name](COUNTED, list(arguments))


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("string-append", ("ab", "", "c"), "abc"),
        ("string-length", ("four",), 4),
        ("substring", ("abcdef", 2, 4), "cd"),
        ("substring", ("abc", 1), "bc"),
        ("string->number", ("-017",), -17),
        ("string->number", ("1.5",), FALSE),
        ("symbol-append", (Symbol("s"), 3), Symbol("s3")),
        ("symbol->string", (Symbol("row"),), "row"),
    ],
)
def test_values(name: str, arguments: tuple[Any, ...], value: object) -> None:
    found = call(name, *arguments)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize("text", ["3s", "a b", "é", "-"])
def test_what_cannot_be_a_symbol(text: str) -> None:
    with pytest.raises(Complaint, match="cannot be a symbol"):
        call("string->symbol", text)


def test_an_error_of_the_program_is_its_own() -> None:
    with pytest.raises(Complaint) as found:
        call("error", "no node", 7)
    assert (found.value.message, found.value.own) == ("no node 7", True)
