"""Meshes from files, and meshes that are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pointsman.errors import PointsmanError
from pointsman.fem.generators import basin, plate
from pointsman.fem.mesh import ElementMesh, read_mesh

meshio = pytest.importorskip("meshio")
ROOT = Path(__file__).parents[4]
CUBE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], float)
SQUARE = np.array([[0, 0], [1, 0], [0, 1], [1, 1]], float)


def test_faces_and_border_of_a_plate():
    mesh = plate(3, 2)
    assert len(mesh.elements) == 12
    assert len(mesh.faces) == 6 + 3 + 4  # diagonals, and inner sides of squares across and along
    assert np.setdiff1d(np.arange(12), mesh.border).tolist() == [5, 6]


@pytest.mark.parametrize("ending", ["msh", "vtk", "vtu", "inp"])
def test_meshes_are_read_from_files_and_stray_points_left_out(tmp_path, ending):
    points = np.concatenate([SQUARE, [[9, 9]]])
    points = np.concatenate([points, np.zeros((5, 1))], axis=1)
    path = tmp_path / f"square.{ending}"
    meshio.Mesh(points, [("triangle", np.array([[0, 1, 2], [1, 3, 2]]))]).write(path)
    mesh = read_mesh(path)
    assert mesh.points.tolist() == SQUARE.tolist()
    assert mesh.elements.tolist() == [[0, 1, 2], [1, 3, 2]]


def test_tetrahedra_are_read(tmp_path):
    points = np.concatenate([np.zeros((1, 3)), np.eye(3)])
    path = tmp_path / "corner.vtk"
    meshio.Mesh(points, [("tetra", np.array([[0, 1, 2, 3]]))]).write(path)
    assert read_mesh(path).elements.shape == (1, 4)


@pytest.mark.parametrize(
    ("points", "elements", "message"),
    [
        (SQUARE, np.zeros((0, 3), int), "a mesh must have an element at least"),
        (SQUARE, np.array([[0, 1, 4]]), "element 0: a corner must be one of the nodes 0..3, not 4"),
        (SQUARE, np.array([[0, 1, -1]]), "element 0: a corner must be one of the nodes 0..3, not -1"),
        (SQUARE, np.array([[0, 1, 2], [1, 1, 2]]), "element 1 has no extent"),
        (SQUARE, np.array([[0, 1, 2]]), "node 3 of the mesh belongs to no element"),
        (
            np.concatenate([SQUARE, SQUARE[:2] + 5]),
            np.array([[0, 1, 2], [3, 4, 5]]),
            "the mesh is not connected: no way over",
        ),
        (np.concatenate([SQUARE[:3], [[np.nan, 0]]]), np.array([[0, 1, 2]]), "point 3 is no place: not a number"),
        (SQUARE, np.array([[0, 1, 2, 3]]), "element 0 has no extent, or is turned over at a corner"),
        (SQUARE, np.array([[0, 1, 3, 3]]), "element 0 has no extent, or is turned over at a corner"),
        (
            SQUARE,
            np.array([[0, 1]]),
            "there are no elements of 2 corners among points of 2 coordinates\n  hint: known are",
        ),
        (CUBE, np.array([[0, 1, 2, 3, 4, 5, 7, 6]]), "element 0 has no extent, or is turned over at a corner"),
    ],
)
def test_what_is_no_mesh_is_refused(points, elements, message):
    with pytest.raises(PointsmanError) as caught:
        ElementMesh(points, elements)
    assert message in str(caught.value)


def test_files_of_the_wrong_kind_are_refused(tmp_path):
    with pytest.raises(PointsmanError, match=r"there is no mesh file"):
        read_mesh(tmp_path / "none.msh")
    text = tmp_path / "text.msh"
    text.write_text("this is no mesh\n")
    with pytest.raises(PointsmanError, match=r"cannot read the mesh .*text\.msh"):
        read_mesh(text)
    text.write_bytes(b"\x00\x01junk")
    with pytest.raises(PointsmanError, match="Couldn't read file"):
        read_mesh(text)
    unknown = tmp_path / "mesh.txt"
    unknown.write_text("?")
    with pytest.raises(PointsmanError, match="cannot read the mesh"):
        read_mesh(unknown)
    mixed = tmp_path / "mixed.vtk"
    blocks = [("quad", np.array([[0, 1, 3, 2]])), ("triangle", np.array([[0, 1, 3]]))]
    meshio.Mesh(np.concatenate([SQUARE, np.zeros((4, 1))], axis=1), blocks).write(mixed)
    with pytest.raises(PointsmanError, match=r"must have elements of one kind, .*, not quad, triangle"):
        read_mesh(mixed)
    wedge = tmp_path / "wedge.vtk"
    meshio.Mesh(CUBE[:6], [("wedge", np.arange(6).reshape(1, 6))]).write(wedge)
    with pytest.raises(PointsmanError, match=r"must have elements of one kind, .*, not wedge"):
        read_mesh(wedge)


def test_files_that_are_empty_or_cut_off_are_refused(tmp_path):
    empty, cut = tmp_path / "empty.msh", tmp_path / "cut.msh"
    empty.touch()
    cut.write_text((ROOT / "examples/fem/plate.msh").read_text()[:2000])
    with pytest.raises(PointsmanError, match=r"the mesh file .*empty\.msh is empty"):
        read_mesh(empty)
    with pytest.raises(
        PointsmanError, match=r"cannot read the mesh .*cut\.msh: it is broken, cut off or of another kind \("
    ):
        read_mesh(cut)


@pytest.mark.parametrize("ending", ["msh", "vtk", "inp"])
def test_quadrilaterals_and_hexahedra_are_read_surfaces_of_bodies_left_out(tmp_path, ending):
    body = tmp_path / f"body.{ending}"
    blocks = [("hexahedron", np.arange(8).reshape(1, 8)), ("quad", np.array([[0, 1, 2, 3]]))]
    meshio.Mesh(CUBE, blocks[: 1 if ending == "inp" else 2]).write(body)
    mesh = read_mesh(body)
    assert mesh.kind == "hexahedron"
    assert mesh.elements.tolist() == [list(range(8))]
    flat = tmp_path / f"flat.{ending}"
    meshio.Mesh(np.concatenate([SQUARE, np.zeros((4, 1))], axis=1), [("quad", np.array([[0, 1, 3, 2]]))]).write(flat)
    assert read_mesh(flat).kind == "quad"


def test_faces_and_border_of_hexahedra():
    mesh = basin(3, 4, 5)
    assert len(mesh.points) == 4 * 5 * 6
    assert len(mesh.faces) == 2 * 4 * 5 + 3 * 3 * 5 + 3 * 4 * 4
    assert len(mesh.points) - len(mesh.border) == 2 * 3 * 4
