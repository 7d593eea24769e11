"""Lists of COP: what the functions give, and what they say of arguments that are wrong."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pointsman.cop.evaluation.values import Complaint
from pointsman.cop.library.lists import CALLING, PLAIN
from pointsman.cop.text.reader import FALSE, Symbol

COUNTED = SimpleNamespace(list_of=tuple, allocate=lambda cells: None, charge=lambda steps: None)
FUNCTIONS = {name: function for names, _, _, function in PLAIN for name in names.split()}


def call(name: str, *arguments: Any) -> Any:
    return FUNCTIONS[name](COUNTED, list(arguments))


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("cons", (1, (2, 3)), (1, 2, 3)),
        ("caddr", ((1, 2, 3),), 3),
        ("cdddr", ((1, 2, 3),), FALSE),
        ("nth", ((7, 8, 9), 1), 8),
        ("list-ref", (1, (7, 8, 9)), 8),
        ("sublist", ((0, 1, 2, 3), 1, 3), (1, 2)),
        ("append", ((1,), (), (2, 3)), (1, 2, 3)),
        ("reverse", ((1, 2, 3),), (3, 2, 1)),
        ("member", (2, (1, 2, 3)), (2, 3)),
        ("member", (9, (1, 2, 3)), FALSE),
        ("positions", ((3, 1), (1, 2, 3)), (2, 0)),
        ("remove-duplicates", ((1, 2, 1, 3, 2),), (1, 2, 3)),
        ("assoc", (Symbol("b"), ((Symbol("a"), 1), (Symbol("b"), 2))), (Symbol("b"), 2)),
    ],
)
def test_values(name: str, arguments: tuple[Any, ...], value: object) -> None:
    assert call(name, *arguments) == value


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("third", ((1, 2),), "the list has 2 elements, so there is no element 2"),
        ("last", ((),), "an empty list has no last element"),
        ("reverse", (3,), "expected a list, not 3"),
        ("cadr", ((1,),), "car needs a list with an element, not ()"),
    ],
)
def test_complaints(name: str, arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(Complaint) as found:
        call(name, *arguments)
    assert found.value.message == said


def test_an_element_that_is_not_in_the_list_has_no_position() -> None:
    with pytest.raises(Complaint):
        call("positions", (4,), (1, 2, 3))


def test_names_stand_once() -> None:
    names = [name for table in (PLAIN, CALLING) for row in table for name in row[0].split()]
    assert len(names) == len(set(names))
