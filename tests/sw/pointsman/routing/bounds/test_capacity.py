"""How many words there is room for in a slot."""

from __future__ import annotations

from fractions import Fraction

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.network import mesh
from pointsman.routing.bounds.capacity import capacity_of, demand_of


@pytest.mark.parametrize(
    ("pipelines", "vfsms", "length", "free", "node"),
    [
        (2, 32, None, None, Fraction(2)),
        (2, 2, None, None, Fraction(0)),  # numbers 0 and 1 are taken
        (2, 32, 10, None, Fraction(18, 10)),  # a slot of each pipeline stays free
        (2, 32, 10, 1, Fraction(19, 10)),
        (1, 4, 9, 0, Fraction(8, 9)),  # two usable VFSMs, each every other slot
        (1, 2, 9, 0, Fraction(0)),
    ],
)
def test_slots_of_a_node(pipelines: int, vfsms: int, length: int | None, free: int | None, node: Fraction) -> None:
    assert capacity_of(NodeShape(pipelines=pipelines, vfsms=vfsms), length, free).node == node


def test_words_are_wanted_in_the_ideal_model_and_shares_on_the_node() -> None:
    problem = make_problem(mesh(3), [RouteStream(0, (2,), weight=0.5, words=3)])
    ideal, numesh = capacity_of(None, None), capacity_of(NodeShape(), 8)
    assert (ideal.model, numesh.model) == ("ideal", "numesh")
    assert demand_of(problem, ideal) == [3]
    assert demand_of(problem, numesh) == [Fraction(1, 2)]
