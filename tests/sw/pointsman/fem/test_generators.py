"""Meshes by name."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.fem.generators import generated


@pytest.mark.parametrize(
    "text", ["plate:4x3", "random:200:1", "random:16", "crack:300:2", "valley:200:3", "basin:5x4x3"]
)
def test_generated_meshes_are_whole_and_the_same_each_time(text):
    mesh, again = generated(text), generated(text)
    assert (mesh.elements == again.elements).all()
    assert (mesh.volumes > 0).all()
    assert mesh.points.shape[1] == (3 if text.startswith(("valley", "basin")) else 2)


def test_elements_near_the_crack_are_smaller():
    mesh = generated("crack:400")
    near = np.linalg.norm(mesh.points[mesh.elements].mean(axis=1) - 0.5, axis=1)
    assert np.median(mesh.volumes[near < 0.1]) < 0.1 * np.median(mesh.volumes[near > 0.3])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ball:3", "there is no mesh generator 'ball'"),
        ("plate", "'plate' does not say the size of the mesh"),
        ("random:-5", "does not say the size of the mesh"),
        ("random:5", "a generated mesh must have 16 to 200000 nodes, not 5"),
        ("basin:4x4", "'basin:4x4' does not say the size of the mesh"),
        ("basin:4x0x4", "a basin must have 1x1x1 hexahedra at least"),
        ("plate:0x4", "a plate must have 1x1 squares at least"),
    ],
)
def test_wrong_names_are_refused(text, message):
    with pytest.raises(PointsmanError, match=message):
        generated(text)
