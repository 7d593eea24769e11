"""Elements of a mesh into parts of about equal size: by METIS on neighbouring elements, or by geometric bisection."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pointsman.errors import PointsmanError

from .mesh import ElementMesh


def partition(mesh: ElementMesh, parts: int, method: str = "metis") -> np.ndarray:
    """The part of each element, 0..parts-1; every part has one.

    Raises
    ------
    PointsmanError
        If there is no such method, there are more parts than elements, or a part would be empty.
    """
    if method not in METHODS:
        raise PointsmanError(f"there is no partitioner '{method}'", hint=f"known are {', '.join(METHODS)}")
    if not 1 <= parts <= len(mesh.elements):
        raise PointsmanError(
            f"a mesh of {len(mesh.elements)} elements can have 1 to {len(mesh.elements)} parts, not {parts}"
        )
    found = METHODS[method](mesh, parts)
    empty = np.flatnonzero(np.bincount(found, minlength=parts) == 0)
    if len(empty):
        raise PointsmanError(f"part {empty[0]} of {parts} would be empty", hint="--partition bisection, or fewer parts")
    return found


def by_metis(mesh: ElementMesh, parts: int) -> np.ndarray:
    """Few faces between parts (Karypis and Kumar 1998), on the graph of elements that share a face.

    Both ways of METIS are tried, at once into all parts and into halves again and again. With few elements a part the first,
    which is its own choice for more than eight parts, leaves parts in pieces.
    """
    import pymetis

    pairs = np.concatenate([mesh.faces, mesh.faces[:, ::-1]])
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    first = np.searchsorted(pairs[:, 0], np.arange(len(mesh.elements) + 1))
    if parts == 1:
        return np.zeros(len(mesh.elements), np.int64)
    adjacency = pymetis.CSRAdjacency(first, pairs[:, 1])
    found = [pymetis.part_graph(parts, adjacency=adjacency, recursive=halves) for halves in (False, True)]
    best = min(found, key=lambda one: (-len(set(one.vertex_part)), one.edge_cuts))
    return np.array(best.vertex_part, np.int64)


def by_bisection(mesh: ElementMesh, parts: int) -> np.ndarray:
    """Cuts across the longer side of the box around the middles of elements, again and again."""
    middles = mesh.points[mesh.elements].mean(axis=1)
    found = np.zeros(len(mesh.elements), np.int64)
    stack = [(np.arange(len(middles)), 0, parts)]
    while stack:
        members, first, count = stack.pop()
        if count == 1:
            found[members] = first
            continue
        axis = int(np.argmax(np.ptp(middles[members], axis=0)))
        order = members[np.argsort(middles[members, axis], kind="stable")]
        lower = count // 2
        cut = round(len(order) * lower / count)
        cut = min(max(cut, lower), len(order) - (count - lower))
        stack += [(order[:cut], first, lower), (order[cut:], first + lower, count - lower)]
    return found


METHODS: dict[str, Callable[[ElementMesh, int], np.ndarray]] = {"metis": by_metis, "bisection": by_bisection}
