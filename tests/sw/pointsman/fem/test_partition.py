"""Parts of meshes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from pointsman.errors import PointsmanError
from pointsman.fem.generators import generated
from pointsman.fem.partition import METHODS, partition


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("text", "parts"), [("plate:6x5", 7), ("random:300:1", 16), ("valley:150:2", 5), ("plate:2x2", 1)]
)
def test_parts_are_of_about_equal_size(method, text, parts):
    mesh = generated(text)
    sizes = np.bincount(partition(mesh, parts, method), minlength=parts)
    assert sizes.sum() == len(mesh.elements)
    assert sizes.min() > 0.5 * sizes.mean()
    assert sizes.max() < 1.5 * sizes.mean() + 1


@pytest.mark.parametrize("text", ["plate:9x7", "random:100:1", "random:100:2", "crack:100:1"])
def test_few_elements_a_part_do_not_leave_parts_in_pieces(text):
    mesh = generated(text)
    part = partition(mesh, 9)
    u, v = mesh.faces[part[mesh.faces[:, 0]] == part[mesh.faces[:, 1]]].T
    graph = coo_matrix((np.ones(len(u)), (u, v)), shape=(len(part),) * 2)
    assert connected_components(graph, directed=False)[0] <= 10


def test_bisection_gives_every_part_an_element():
    mesh = generated("plate:3x2")
    assert sorted(partition(mesh, 12, "bisection").tolist()) == list(range(12))


@pytest.mark.parametrize(
    ("parts", "method", "message"),
    [
        (0, "metis", "a mesh of 12 elements can have 1 to 12 parts, not 0"),
        (13, "metis", "a mesh of 12 elements can have 1 to 12 parts, not 13"),
        (2, "knife", "there is no partitioner 'knife'"),
    ],
)
def test_impossible_parts_are_refused(parts, method, message):
    with pytest.raises(PointsmanError, match=message):
        partition(generated("plate:3x2"), parts, method)


def test_an_empty_part_is_told(monkeypatch):
    monkeypatch.setitem(METHODS, "metis", lambda mesh, parts: np.zeros(len(mesh.elements), int))
    with pytest.raises(PointsmanError, match="part 1 of 2 would be empty"):
        partition(generated("plate:3x2"), 2)
