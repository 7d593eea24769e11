"""What parts of a mesh have in common: the mesh nodes that elements of several parts share, and what is exchanged for them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from .mesh import ElementMesh


@dataclass(frozen=True, eq=False)
class Halo:
    """Mesh nodes of parts.

    Parameters
    ----------
    nodes : tuple of array
        For each part the mesh nodes of its elements, in order.
    shared : dict
        For each pair of parts (lower first) that have nodes in common these nodes, in order. A value for each goes either way.
    """

    nodes: tuple[np.ndarray, ...]
    shared: dict[tuple[int, int], np.ndarray]

    @property
    def parts(self) -> int:
        return len(self.nodes)

    def words(self) -> np.ndarray:
        """Values from part to part, a symmetric matrix."""
        matrix = np.zeros((self.parts, self.parts), np.int64)
        for (one, other), nodes in self.shared.items():
            matrix[one, other] = matrix[other, one] = len(nodes)
        return matrix

    def neighbours(self, part: int) -> list[int]:
        """Parts that have nodes in common with ``part``, in order."""
        return sorted(one if other == part else other for one, other in self.shared if part in (one, other))

    def places(self, part: int, other: int) -> np.ndarray:
        """Where the nodes shared with ``other`` are among the nodes of ``part``: for gather and scatter."""
        return np.searchsorted(self.nodes[part], self.shared[min(part, other), max(part, other)])


def halo_of(mesh: ElementMesh, part_of: np.ndarray) -> Halo:
    """The halo of a partition: ``part_of[element]``."""
    parts = int(part_of.max()) + 1
    corners = mesh.elements.shape[1]
    pairs = np.unique(np.stack([mesh.elements.ravel(), np.repeat(part_of, corners)], axis=1), axis=0)
    nodes = tuple(pairs[pairs[:, 1] == part, 0] for part in range(parts))
    first = np.searchsorted(pairs[:, 0], np.arange(len(mesh.points) + 1))
    shared: dict[tuple[int, int], list[int]] = {}
    for node in np.flatnonzero(np.diff(first) > 1).tolist():
        for one, other in combinations(pairs[first[node] : first[node + 1], 1].tolist(), 2):
            shared.setdefault((one, other), []).append(node)
    return Halo(nodes, {pair: np.array(found) for pair, found in sorted(shared.items())})
