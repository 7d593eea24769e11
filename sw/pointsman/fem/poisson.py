"""Poisson's equation on a mesh, part by part: what each part knows, and the serial solution beside.

-Δu = 1 inside, u = 0 on the border, with elements of first order. A part assembles its own elements only, so its product with a
vector is a partial sum at mesh nodes that it shares; the parts' sums are exchanged and added in the order of the parts, so
that all copies of a value are equal to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from pointsman.errors import PointsmanError

from .exchange import HaloExchange
from .mesh import ElementMesh

HEXAHEDRON = (0, 4, 3, 1, 7, 5, 2, 6)
"""Corners of a hexahedron in scikit-fem's order, by their places in meshio's."""


@dataclass(frozen=True, eq=False)
class PartSystem:
    """What a part knows: all arrays are of its own mesh nodes.

    ``stiffness`` has its own elements only, ``load`` everybody's. ``free``: the value is not given by the border; ``owned``: the
    node counts here in sums over all nodes, of which each has one owner, the lowest part that has it.
    """

    part: int
    stiffness: csr_matrix
    load: np.ndarray
    free: np.ndarray
    owned: np.ndarray


@dataclass(frozen=True, eq=False)
class Poisson:
    """The whole system, and its parts."""

    stiffness: csr_matrix
    load: np.ndarray
    free: np.ndarray
    parts: tuple[PartSystem, ...]

    def solution(self) -> np.ndarray:
        """By SciPy's direct solver."""
        from scipy.sparse.linalg import spsolve

        inner = np.flatnonzero(self.free)
        found = np.zeros(len(self.load))
        found[inner] = spsolve(self.stiffness[inner][:, inner].tocsc(), self.load[inner])
        return found

    def rounds(self, tolerance: float) -> int:
        """Rounds of conjugate gradients until the residual is ``tolerance`` of what it was, counted serially."""
        x, r = np.zeros(len(self.load)), self.load * self.free
        p, rho = r.copy(), float(r @ r)
        least = tolerance**2 * rho
        for count in range(1, 10 * len(x) + 1):
            q = (self.stiffness @ p) * self.free
            alpha = rho / float(p @ q)
            x += alpha * p
            r -= alpha * q
            before, rho = rho, float(r @ r)
            if rho <= least:
                return count
            p = r + rho / before * p
        raise PointsmanError(
            f"conjugate gradients do not reach a residual of {tolerance:g} of the first in {10 * len(x)} rounds",
            hint="a larger tolerance",
        )


def poisson(exchange: HaloExchange) -> Poisson:
    """Assemble the system of a mesh and of its parts.

    Raises
    ------
    PointsmanError
        If all mesh nodes are on the border.
    """
    import skfem
    from skfem.models.poisson import laplace, unit_load

    mesh = exchange.mesh
    whole = _whole(mesh)
    load = np.asarray(unit_load.assemble(whole))
    free = np.ones(len(mesh.points), bool)
    free[mesh.border] = False
    if not free.any():
        raise PointsmanError("all nodes of the mesh are on its border: there is nothing to solve", hint="a finer mesh")
    parts = []
    for part, nodes in enumerate(exchange.halo.nodes):
        own = skfem.Basis(whole.mesh, whole.elem, elements=np.flatnonzero(exchange.part_of == part))
        stiffness = laplace.assemble(own).tocsr()[nodes][:, nodes]
        owned = np.ones(len(nodes), bool)
        for other in exchange.halo.neighbours(part):
            if other < part:
                owned[exchange.halo.places(part, other)] = False
        parts.append(PartSystem(part, csr_matrix(stiffness), load[nodes], free[nodes], owned))
    return Poisson(csr_matrix(laplace.assemble(whole)), load, free, tuple(parts))


def _whole(mesh: ElementMesh) -> Any:
    """The basis of the whole mesh in scikit-fem."""
    import skfem

    kinds = {
        "triangle": (skfem.MeshTri, skfem.ElementTriP1),
        "quad": (skfem.MeshQuad, skfem.ElementQuad1),
        "tetra": (skfem.MeshTet, skfem.ElementTetP1),
        "hexahedron": (skfem.MeshHex, skfem.ElementHex1),
    }
    made, element = kinds[mesh.kind]
    corners = mesh.elements[:, HEXAHEDRON] if mesh.kind == "hexahedron" else mesh.elements
    return skfem.Basis(made(np.ascontiguousarray(mesh.points.T), np.ascontiguousarray(corners.T)), element())


def summed(own: np.ndarray, part: int, others: dict[int, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
    """Partial sums of a part, with those of others at the nodes they share: ``others[part] = (places, values)``, added in the
    order of the parts."""
    total = np.zeros_like(own)
    for one in sorted((*others, part)):
        if one == part:
            total += own
        else:
            places, values = others[one]
            total[places] += values
    return total
