"""Functions on the network: Metcalf 1997, Table A.2."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pointsman.cop.evaluation.geometry import SubsetContext
from pointsman.cop.evaluation.values import Complaint
from pointsman.cop.library.network import PLAIN
from pointsman.cop.text.reader import Symbol
from pointsman.network import mesh

FUNCTIONS = {name: function for names, _, _, function in PLAIN for name in names.split()}


def call(name: str, *arguments: Any) -> Any:
    machine = SimpleNamespace(
        context=SubsetContext(mesh(3, 2)), list_of=tuple, allocate=lambda *cells: None, survey=lambda: None
    )
    return FUNCTIONS[name](machine, list(arguments))


@pytest.mark.parametrize(
    ("name", "arguments", "value"),
    [
        ("all", (3,), (0, 1, 2)),
        ("count", (4, 3), (4, 5, 6)),
        ("step", (3, 1, 8), (1, 4, 7)),
        ("step", (-1, 3, 1), (3, 2, 1)),
        ("step", (1, 3, 1), ()),
        ("coord", (2, 1), 5),
        ("coords", (5,), (2, 1, 0)),
        ("make-1d", (Symbol("x"),), ((0, 1, 2), (3, 4, 5))),
        ("make-1d", (1,), ((0, 3), (1, 4), (2, 5))),
    ],
)
def test_values(name: str, arguments: tuple[Any, ...], value: object) -> None:
    assert call(name, *arguments) == value


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("step", (0, 1, 2), "the step must not be zero"),
        ("coord", (3,), "x coordinate 3 is outside the network (0..2)"),
        ("coords", (6,), "node 6 is outside the network (0..5)"),
        ("make-1d", (Symbol("w"),), "a dimension must be 'x, 'y or 'z, or 0, 1 or 2, not w"),
    ],
)
def test_complaints(name: str, arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(Complaint) as found:
        call(name, *arguments)
    assert found.value.message == said
