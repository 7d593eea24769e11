"""Poisson's equation part by part."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.fem.exchange import exchange_of
from pointsman.fem.generators import generated
from pointsman.fem.mesh import ElementMesh
from pointsman.fem.poisson import poisson, summed
from pointsman.network import mesh


@pytest.mark.parametrize("text", ["plate:6x5", "random:150:1", "crack:120:2", "valley:120:3", "basin:4x4x3"])
def test_products_of_parts_add_up_to_the_product_of_the_whole(text):
    exchange = exchange_of(generated(text), 6, mesh(3, 2))
    system = poisson(exchange)
    vector = np.random.default_rng(0).standard_normal(len(system.load))
    halo, right = exchange.halo, system.stiffness @ vector
    own = [one.stiffness @ vector[halo.nodes[one.part]] for one in system.parts]
    everywhere = np.full(len(vector), np.nan)
    for part in range(6):
        others = {one: (halo.places(part, one), own[one][halo.places(one, part)]) for one in halo.neighbours(part)}
        total = summed(own[part], part, others)
        assert np.allclose(total, right[halo.nodes[part]])
        known = ~np.isnan(everywhere[halo.nodes[part]])
        assert (everywhere[halo.nodes[part]][known] == total[known]).all()  # to the last bit
        everywhere[halo.nodes[part]] = total
    assert sum(int(one.owned.sum()) for one in system.parts) == len(vector)


def test_the_solution_of_a_square_is_known():
    # -Δu = 1 on the unit square: 0.0736713… in the middle.
    exchange = exchange_of(generated("plate:32x32"), 1, mesh(1, 1))
    found = poisson(exchange).solution().max() / 32**2
    assert abs(found - 0.0736713) < 2e-4


def test_the_solutions_of_quadrilaterals_and_hexahedra_are_known():
    # The square again, and 0.0562… in the middle of the unit cube.
    grid, box = generated("plate:32x32"), generated("basin:12x12x12")
    corner = (np.arange(32) + 33 * np.arange(32)[:, None]).ravel()
    quads = ElementMesh(grid.points / 32, np.stack([corner, corner + 1, corner + 34, corner + 33], axis=1))
    k, j, i = np.unravel_index(np.arange(13**3), (13, 13, 13))
    cube = ElementMesh(np.stack([i, j, k], axis=1) / 12, box.elements)
    for mesh_of, right in ((quads, 0.0736713), (cube, 0.0562119)):
        assert abs(poisson(exchange_of(mesh_of, 1, mesh(1, 1))).solution().max() - right) < 1e-3


def test_a_mesh_without_inner_nodes_is_refused():
    with pytest.raises(PointsmanError, match="all nodes of the mesh are on its border"):
        poisson(exchange_of(generated("plate:1x3"), 2, mesh(2)))
