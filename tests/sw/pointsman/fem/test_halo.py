"""Halos: partial sums of parts, exchanged and added, are those of the whole mesh."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.fem.generators import generated
from pointsman.fem.halo import halo_of
from pointsman.fem.partition import partition


def test_two_parts_of_a_plate_share_a_line():
    mesh = generated("plate:2x2")
    halo = halo_of(mesh, (np.arange(8) % 4 >= 2).astype(int))
    assert halo.shared[0, 1].tolist() == [3, 4, 5]
    assert halo.words().tolist() == [[0, 3], [3, 0]]
    assert halo.nodes[0].tolist() == [0, 1, 2, 3, 4, 5]
    assert halo.places(1, 0).tolist() == [0, 1, 2]
    assert halo.neighbours(0) == [1]


@pytest.mark.parametrize("text", ["random:120:1", "crack:90:2", "valley:80:3"])
def test_counts_of_elements_at_mesh_nodes_come_out_right_after_an_exchange(text):
    mesh = generated(text)
    part_of = partition(mesh, 9)
    halo = halo_of(mesh, part_of)
    right = np.bincount(mesh.elements.ravel(), minlength=len(mesh.points))
    own = [
        np.bincount(mesh.elements[part_of == p].ravel(), minlength=len(mesh.points))[halo.nodes[p]] for p in range(9)
    ]
    for part in range(9):
        total = own[part].copy()
        for other in halo.neighbours(part):
            total[halo.places(part, other)] += own[other][halo.places(other, part)]
        assert (total == right[halo.nodes[part]]).all()
