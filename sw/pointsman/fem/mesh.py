"""Meshes of triangles or tetrahedra: from files, through meshio, and what they must be."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.files import is_file

MAX_ELEMENTS = 2_000_000
KINDS = {"triangle": 3, "tetra": 4}
"""Corners of the elements that are taken, by meshio's names."""


@dataclass(frozen=True, eq=False)
class ElementMesh:
    """A mesh.

    Parameters
    ----------
    points : array [node, 2 or 3] of float
        Places of the mesh's nodes.
    elements : array [element, 3 or 4] of int
        Corners of triangles or tetrahedra.
    """

    points: np.ndarray
    elements: np.ndarray

    def __post_init__(self) -> None:
        if not len(self.elements):
            raise PointsmanError("a mesh must have an element at least")
        if len(self.elements) > MAX_ELEMENTS:
            raise PointsmanError(f"a mesh must have at most {MAX_ELEMENTS} elements, not {len(self.elements)}")
        if self.points.shape[1] + 1 != self.elements.shape[1]:
            raise PointsmanError(
                f"elements of {self.elements.shape[1]} corners need points of {self.elements.shape[1] - 1} coordinates, "
                f"not of {self.points.shape[1]}"
            )
        if not np.isfinite(self.points).all():
            raise PointsmanError(
                f"point {int(np.argmin(np.isfinite(self.points).all(axis=1)))} is no place: not a number"
            )
        wrong = np.argwhere((self.elements < 0) | (self.elements >= len(self.points)))
        if len(wrong):
            element, corner = wrong[0].tolist()
            raise PointsmanError(
                f"element {element}: a corner must be one of the nodes 0..{len(self.points) - 1}, not "
                f"{self.elements[element, corner]}"
            )
        flat = np.flatnonzero(self.volumes <= 1e-14 * max(float(self.volumes.max()), 1e-300))
        if len(flat):
            raise PointsmanError(f"element {flat[0]} has no extent: its corners are {self.elements[flat[0]].tolist()}")
        unused = np.setdiff1d(np.arange(len(self.points)), self.elements)
        if len(unused):
            raise PointsmanError(f"node {unused[0]} of the mesh belongs to no element")
        pieces = self._pieces()
        if pieces.max() > 0:
            raise PointsmanError(
                f"the mesh is not connected: no way over edges leads from node 0 to node {int(np.argmax(pieces > 0))}"
            )

    @cached_property
    def volumes(self) -> np.ndarray:
        """Area or volume of each element, times a constant."""
        corners = self.points[self.elements]
        return np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1]))

    @cached_property
    def faces(self) -> np.ndarray:
        """Pairs of elements that share a face (an edge, of triangles)."""
        size = self.elements.shape[1]
        ordered = np.sort(self.elements, axis=1)
        parts = [ordered[:, list(chosen)] for chosen in combinations(range(size), size - 1)]
        faces, owner = np.concatenate(parts), np.tile(np.arange(len(ordered)), size)
        order = np.lexsort(faces.T)
        same = (faces[order][1:] == faces[order][:-1]).all(axis=1)
        return np.stack([owner[order][:-1][same], owner[order][1:][same]], axis=1)

    @cached_property
    def border(self) -> np.ndarray:
        """Mesh nodes on the border: those of faces that belong to one element."""
        size = self.elements.shape[1]
        ordered = np.sort(self.elements, axis=1)
        faces = np.concatenate([ordered[:, list(chosen)] for chosen in combinations(range(size), size - 1)])
        kinds, count = np.unique(faces, axis=0, return_counts=True)
        return np.unique(kinds[count == 1])

    def _pieces(self) -> np.ndarray:
        """The number of the connected piece of each node."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        u, v = self.elements[:, :-1].ravel(), self.elements[:, 1:].ravel()
        graph = coo_matrix((np.ones(len(u), np.int8), (u, v)), shape=(len(self.points),) * 2)
        return np.asarray(connected_components(graph, directed=False)[1])


def read_mesh(path: Path) -> ElementMesh:
    """The triangles or tetrahedra of a mesh file, in any form that meshio reads. Points that belong to no element are left out.

    Raises
    ------
    PointsmanError
        If the file cannot be read or is no such mesh.
    """
    import meshio

    if not is_file(path):
        raise PointsmanError(f"there is no mesh file {path}")
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            found = meshio.read(path)
    except (Exception, SystemExit) as error:  # meshio ends the process for some files, and prints why
        text = said.getvalue() if isinstance(error, SystemExit) else str(error)
        line = " ".join(text.split())[:200] or type(error).__name__
        hint = "for instance .msh, .vtk, .vtu, .inp, .stl"
        raise PointsmanError(f"cannot read the mesh {path}: {line}", hint=hint) from None
    kinds = {block.type for block in found.cells}
    kind = "tetra" if "tetra" in kinds else "triangle"
    others = kinds - {"vertex", "line", "triangle", "tetra"}
    if kind not in kinds or others:
        named = ", ".join(sorted(others or kinds)) or "nothing"
        raise PointsmanError(f"{path}: a mesh must have triangles or tetrahedra, not {named}")
    elements = np.concatenate([block.data for block in found.cells if block.type == kind]).astype(np.int64)
    points = np.asarray(found.points, float)
    if kind == "triangle" and points.shape[1] == 3:
        if np.ptp(points[:, 2]) > 1e-9 * max(np.ptp(points), 1e-300):
            raise PointsmanError(f"{path}: triangles must lie in a plane of equal z")
        points = points[:, :2]
    try:
        inside = (elements >= 0).all() and (elements < len(points)).all()
        if inside:
            used, numbers = np.unique(elements, return_inverse=True)
            points, elements = points[used], numbers.reshape(elements.shape)
        return ElementMesh(points, elements)
    except PointsmanError as error:
        raise PointsmanError(f"{path}: {error.message}", hint=error.hint) from None
