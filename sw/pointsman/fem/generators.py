"""Meshes by name: plates, random plates, plates with a crack, a valley and a basin in three dimensions.

They stand for the kinds of meshes of Feldmann et al. 1993, Table 4, whose own files are not published: a plate with random nodes
(m11k), plates refined towards the tip of a crack (c10k, c100k), and soft ground in a box of rock (q20k: its 20,000 elements have
22,451 nodes, so they are hexahedra).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pointsman.errors import PointsmanError

from .mesh import ElementMesh

MAX_NODES = 200_000


def generated(text: str) -> ElementMesh:
    """The mesh that ``text`` names: ``plate:20x10``, ``basin:20x10x5``, or KIND:NODES or KIND:NODES:SEED for ``random``,
    ``crack``, ``valley``.

    Raises
    ------
    PointsmanError
        If it is none of these.
    """
    kind, _, rest = text.partition(":")
    if kind not in GENERATORS:
        raise PointsmanError(f"there is no mesh generator {kind!r}", hint=f"known are {', '.join(GENERATORS)}")
    numbers = rest.replace("x", ":").split(":")
    most, least = (3, 3) if kind == "basin" else (2, 1)
    if not least <= len(numbers) <= most or not all(
        one.isascii() and one.isdigit() and len(one) < 10 for one in numbers
    ):
        example = {"plate": "plate:20x10", "basin": "basin:20x10x5"}.get(kind, f"{kind}:500:1")
        raise PointsmanError(f"{text!r} does not say the size of the mesh", hint=f"for instance {example}")
    values = [int(one) for one in numbers]
    if len(values) == 1:
        values.append(values[0] if kind == "plate" else 0)
    return GENERATORS[kind](*values)


def plate(across: int, down: int) -> ElementMesh:
    """A rectangle of ``across`` by ``down`` squares, two triangles each."""
    if not (across >= 1 and down >= 1 and (across + 1) * (down + 1) <= MAX_NODES):
        raise PointsmanError(
            f"a plate must have 1x1 squares at least and {MAX_NODES} nodes at most, not {across}x{down}"
        )
    x, y = np.meshgrid(np.arange(across + 1), np.arange(down + 1))
    corner = (np.arange(across) + (across + 1) * np.arange(down)[:, None]).ravel()
    other = corner + across + 1
    elements = np.concatenate(
        [np.stack([corner, corner + 1, other]), np.stack([corner + 1, other + 1, other])], axis=1
    ).T
    return ElementMesh(np.stack([x.ravel(), y.ravel()], axis=1).astype(float), elements)


def random_plate(nodes: int, seed: int) -> ElementMesh:
    """A square with random nodes."""
    random = np.random.default_rng([1, seed])
    return _triangulated(_with_border(random.random((_checked(nodes), 2)), nodes), nodes)


def crack(nodes: int, seed: int) -> ElementMesh:
    """A square whose nodes are the denser, the nearer the tip of a crack in its middle."""
    random = np.random.default_rng([2, seed])
    radius = 0.5 * random.random(_checked(nodes)) ** 2
    angle = 2 * np.pi * random.random(nodes)
    near = 0.5 + np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    return _triangulated(_with_border(near, nodes), nodes)


def valley(nodes: int, seed: int) -> ElementMesh:
    """A flat box with most nodes in a basin under the middle of its upper side."""
    random = np.random.default_rng([3, seed])
    count = _checked(nodes)
    places = random.random((count, 3))
    basin = random.random(count) < 0.7
    depth = 0.3 * np.exp(-8 * ((places[:, :2] - 0.5) ** 2).sum(axis=1))
    places[basin, 2] = 1 - depth[basin] * random.random(int(basin.sum()))
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    places[: len(corners)] = corners
    return _triangulated(places * [1, 1, 0.3], nodes)


def basin(across: int, down: int, deep: int) -> ElementMesh:
    """A flat box of ``across`` by ``down`` by ``deep`` hexahedra, whose layers lie deeper in the middle."""
    nodes = (across + 1) * (down + 1) * (deep + 1)
    if not (min(across, down, deep) >= 1 and nodes <= MAX_NODES):
        size = f"{across}x{down}x{deep}"
        raise PointsmanError(f"a basin must have 1x1x1 hexahedra at least and {MAX_NODES} nodes at most, not {size}")
    z, y, x = (
        grid.ravel() for grid in np.meshgrid(*(np.linspace(0, 1, n + 1) for n in (deep, down, across)), indexing="ij")
    )
    sunk = 0.5 * z * (1 - z) * np.exp(-8 * ((x - 0.5) ** 2 + (y - 0.5) ** 2))
    row, layer = across + 1, (across + 1) * (down + 1)
    k, j, i = (grid.ravel() for grid in np.meshgrid(np.arange(deep), np.arange(down), np.arange(across), indexing="ij"))
    first = i + row * j + layer * k
    corners = [first, first + 1, first + row + 1, first + row]
    elements = np.stack([*corners, *(corner + layer for corner in corners)], axis=1)
    return ElementMesh(np.stack([x * across, y * down, (z - sunk) * deep], axis=1), elements)


GENERATORS: dict[str, Callable[..., ElementMesh]] = {
    "plate": plate,
    "random": random_plate,
    "crack": crack,
    "valley": valley,
    "basin": basin,
}


def _checked(nodes: int) -> int:
    if not 16 <= nodes <= MAX_NODES:
        raise PointsmanError(f"a generated mesh must have 16 to {MAX_NODES} nodes, not {nodes}")
    return nodes


def _with_border(places: np.ndarray, nodes: int) -> np.ndarray:
    """The square's corners and a share of evenly spaced nodes on its sides instead of the first places."""
    each = max(1, int(np.sqrt(nodes) / 2))
    steps = np.arange(each) / each
    zero, one = np.zeros(each), np.ones(each)
    sides = [(steps, zero), (one, steps), (1 - steps, one), (zero, 1 - steps)]
    border = np.concatenate([np.stack(side, axis=1) for side in sides])
    return np.concatenate([border, places[len(border) :]])


def _triangulated(places: np.ndarray, nodes: int) -> ElementMesh:
    """Delaunay's triangulation, without elements that are almost flat."""
    from scipy.spatial import Delaunay

    elements = Delaunay(places).simplices.astype(np.int64)
    corners = places[elements]
    volume = np.abs(np.linalg.det(corners[:, 1:] - corners[:, :1]))
    longest = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    elements = elements[volume > 1e-6 * longest ** places.shape[1]]
    used, numbers = np.unique(elements, return_inverse=True)
    return ElementMesh(places[used], numbers.reshape(elements.shape))
