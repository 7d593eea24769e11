"""Meshes of triangles, quadrilaterals, tetrahedra or hexahedra: from files, through meshio, and what they must be."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from pointsman.errors import PointsmanError
from pointsman.files import is_file

MAX_ELEMENTS = 2_000_000
KINDS = {(2, 3): "triangle", (2, 4): "quad", (3, 4): "tetra", (3, 8): "hexahedron"}
"""Elements that are taken: meshio's name by dimensions and corners."""
FACES = {
    "triangle": ((0, 1), (0, 2), (1, 2)),
    "quad": ((0, 1), (1, 2), (2, 3), (3, 0)),
    "tetra": ((0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 2, 3)),
    "hexahedron": ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
}
"""Corners of each face of an element (an edge, in a plane), in meshio's order of corners."""
EDGES = {
    "triangle": ((0, 1, 2),),
    "quad": ((0, 1, 3), (1, 2, 0), (2, 3, 1), (3, 0, 2)),
    "tetra": ((0, 1, 2, 3),),
    "hexahedron": (
        *((0, 1, 3, 4), (1, 2, 0, 5), (2, 3, 1, 6), (3, 0, 2, 7)),
        *((4, 7, 5, 0), (5, 4, 6, 1), (6, 5, 7, 2), (7, 6, 4, 3)),
    ),
}
"""A corner with those to which edges lead from it, turning the same way round at each: nowhere may an element be turned over."""
OTHERS = {"vertex", "line"}
"""Elements of fewer dimensions that files have beside."""


@dataclass(frozen=True, eq=False)
class ElementMesh:
    """A mesh.

    Parameters
    ----------
    points : array [node, 2 or 3] of float
        Places of the mesh's nodes.
    elements : array [element, 3, 4 or 8] of int
        Corners of triangles or quadrilaterals in a plane, tetrahedra or hexahedra in space, in meshio's order.
    """

    points: np.ndarray
    elements: np.ndarray

    def __post_init__(self) -> None:
        if not len(self.elements):
            raise PointsmanError("a mesh must have an element at least")
        if len(self.elements) > MAX_ELEMENTS:
            raise PointsmanError(f"a mesh must have at most {MAX_ELEMENTS} elements, not {len(self.elements)}")
        if (self.points.shape[1], self.elements.shape[1]) not in KINDS:
            raise PointsmanError(
                f"there are no elements of {self.elements.shape[1]} corners among points of {self.points.shape[1]} coordinates",
                hint=f"known are {', '.join(KINDS.values())}",
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
            what = (
                "has no extent"
                if self.kind in ("triangle", "tetra")
                else "has no extent, or is turned over at a corner"
            )
            raise PointsmanError(f"element {flat[0]} {what}: its corners are {self.elements[flat[0]].tolist()}")
        unused = np.setdiff1d(np.arange(len(self.points)), self.elements)
        if len(unused):
            raise PointsmanError(f"node {unused[0]} of the mesh belongs to no element")
        pieces = self._pieces()
        if pieces.max() > 0:
            raise PointsmanError(
                f"the mesh is not connected: no way over edges leads from node 0 to node {int(np.argmax(pieces > 0))}"
            )

    @property
    def kind(self) -> str:
        """Meshio's name of the elements."""
        return KINDS[self.points.shape[1], self.elements.shape[1]]

    @cached_property
    def volumes(self) -> np.ndarray:
        """Area or volume of each element, times a constant; of quadrilaterals and hexahedra at their narrowest corner, and
        nothing where they are turned over at one."""
        corners = self.points[self.elements]
        signed = np.stack(
            [np.linalg.det(corners[:, list(ends)] - corners[:, at : at + 1]) for at, *ends in EDGES[self.kind]], axis=1
        )
        least = np.abs(signed).min(axis=1)
        return np.where((signed > 0).all(axis=1) | (signed < 0).all(axis=1), least, 0.0)

    @cached_property
    def _all_faces(self) -> np.ndarray:
        """Nodes of all faces, in order; those of the first face of all elements come first."""
        corners = self.elements
        if self.kind in ("triangle", "tetra"):  # any corners make a face, so their order need not matter
            corners = np.sort(corners, axis=1)
        return np.sort(np.concatenate([corners[:, list(face)] for face in FACES[self.kind]]), axis=1)

    @cached_property
    def faces(self) -> np.ndarray:
        """Pairs of elements that share a face (an edge, in a plane)."""
        faces = self._all_faces
        owner = np.tile(np.arange(len(self.elements)), len(faces) // len(self.elements))
        order = np.lexsort(faces.T)
        same = (faces[order][1:] == faces[order][:-1]).all(axis=1)
        return np.stack([owner[order][:-1][same], owner[order][1:][same]], axis=1)

    @cached_property
    def border(self) -> np.ndarray:
        """Mesh nodes on the border: those of faces that belong to one element."""
        kinds, count = np.unique(self._all_faces, axis=0, return_counts=True)
        return np.unique(kinds[count == 1])

    def _pieces(self) -> np.ndarray:
        """The number of the connected piece of each node."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        u, v = self.elements[:, :-1].ravel(), self.elements[:, 1:].ravel()
        graph = coo_matrix((np.ones(len(u), np.int8), (u, v)), shape=(len(self.points),) * 2)
        return np.asarray(connected_components(graph, directed=False)[1])


def read_mesh(path: Path) -> ElementMesh:
    """The elements of a mesh file, in any form that meshio reads. Points that belong to no element are left out.

    Raises
    ------
    PointsmanError
        If the file cannot be read or is no such mesh.
    """
    import meshio

    if not is_file(path):
        raise PointsmanError(f"there is no mesh file {path}")
    if not path.stat().st_size:
        raise PointsmanError(f"the mesh file {path} is empty")
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            found = meshio.read(path)
    except (Exception, SystemExit) as error:  # meshio ends the process for some files, and prints why
        text = said.getvalue() if isinstance(error, SystemExit) else str(error)
        line = " ".join(text.split())[:200] or type(error).__name__
        if not isinstance(
            error, meshio.ReadError | SystemExit
        ):  # its reader stumbled, and says over what in its own code
            line = f"it is broken, cut off or of another kind ({line})"
        hint = "for instance .msh, .vtk, .vtu, .inp, .stl"
        raise PointsmanError(f"cannot read the mesh {path}: {line}", hint=hint) from None
    kinds = {block.type for block in found.cells}
    flat, solid = (kinds & {name for (size, _), name in KINDS.items() if size == dimension} for dimension in (2, 3))
    whole = solid or flat  # files of bodies have their surfaces beside
    others = kinds - OTHERS - set(KINDS.values())
    if len(whole) != 1 or others:
        named = ", ".join(sorted(others or kinds)) or "nothing"
        raise PointsmanError(f"{path}: a mesh must have elements of one kind, {', '.join(KINDS.values())}, not {named}")
    (kind,) = whole
    elements = np.concatenate([block.data for block in found.cells if block.type == kind]).astype(np.int64)
    points = np.asarray(found.points, float)
    if not solid and points.shape[1] == 3:
        if np.ptp(points[:, 2]) > 1e-9 * max(np.ptp(points), 1e-300):
            raise PointsmanError(f"{path}: elements in a plane must have equal z")
        points = points[:, :2]
    try:
        inside = (elements >= 0).all() and (elements < len(points)).all()
        if inside:
            used, numbers = np.unique(elements, return_inverse=True)
            points, elements = points[used], numbers.reshape(elements.shape)
        return ElementMesh(points, elements)
    except PointsmanError as error:
        raise PointsmanError(f"{path}: {error.message}", hint=error.hint) from None
