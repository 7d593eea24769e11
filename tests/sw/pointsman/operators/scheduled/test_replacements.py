"""Operators done by others in their place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from numesh.shape import NodeShape
from pointsman.network import mesh
from pointsman.operators import Context
from pointsman.operators.scheduled.replacements import REPLACEMENTS


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("(allreduce 'o 'sum :m 5)", ["reduce", "broadcast"]),
        ("(barrier 'o)", ["reduce", "broadcast"]),
        ("(reduce 'o (runtime) 'sum :m 5)", ["reduce", "stream"]),
    ],
)
def test_what_stands_for_an_operator(text: str, kinds: list[str], operator_of: Callable[..., Any]) -> None:
    operator = operator_of(text)
    context = Context(mesh(3, 2), NodeShape())
    made = [one.replace(operator, context) for one in REPLACEMENTS if operator.kind in one.kinds]
    assert kinds in [[part.kind for part in parts] for parts in made if parts is not None]
    for parts in made:
        for part in parts or ():
            assert [one.nodes for one in part.instances] == [one.nodes for one in operator.instances]
