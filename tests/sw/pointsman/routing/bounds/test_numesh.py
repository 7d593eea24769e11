"""Greatest bandwidths on the node, where they are known."""

from __future__ import annotations

import pytest

from numesh.shape import NodeShape
from pointsman.artifacts.routes.file import RouteStream, make_problem
from pointsman.network import mesh
from pointsman.routing.bounds.numesh import numesh_bounds


def test_a_link_carries_a_word_a_slot_at_most() -> None:
    bounds = numesh_bounds(make_problem(mesh(2), [RouteStream(0, (1,))]), None)
    assert bounds[0].value == pytest.approx(1.0)
    assert [bound.value for bound in bounds] == sorted(bound.value for bound in bounds)


def test_weights_divide_a_bound_and_pipelines_multiply_it() -> None:
    """Node 0 sends to seven others with one pipeline: eight slots, of which one stays free, for seven words."""
    streams = [RouteStream(0, (node,), weight=2.0) for node in range(1, 8)]
    problem = make_problem(mesh(8), streams, shape=NodeShape(pipelines=1))
    kinds = {bound.kind: bound.value for bound in numesh_bounds(problem, 8, flow=False)}
    assert kinds["injection"] == pytest.approx(7 / 8 / 14)


def test_a_register_moves_a_word_every_other_slot() -> None:
    problem = make_problem(mesh(2), [RouteStream(0, (1,))], shape=NodeShape(registers=3, pipelines=2))
    assert min(numesh_bounds(problem, None), key=lambda bound: bound.value).kind == "back-to-back"
    assert numesh_bounds(problem, None)[0].value == 0.5
