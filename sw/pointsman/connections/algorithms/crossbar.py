"""Connections of a crossbar into the fewest configurations there can be (edge colouring of a bipartite graph).

König 1916: as many colours as the largest number of edges at a node are enough. An edge whose two ends miss different
colours is coloured after an exchange of the two colours along the path that starts at one of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pointsman.artifacts.configurations.configurations import Connection, check_connections
from pointsman.kernels import kernel


def colour_crossbar(connections: Sequence[Connection], ports: int) -> list[list[Connection]]:
    """Configurations of ``connections`` on a crossbar; as many as the busiest port has connections, always.

    Complexity O(E · (V + D)) for E connections, V ports and degree D. Within a configuration, connections are in order of
    their sources.

    Raises
    ------
    PointsmanError
        If a port does not exist or a connection is named twice.

    >>> colour_crossbar([(0, 0), (0, 1), (1, 1)], 2)
    [[(0, 0), (1, 1)], [(0, 1)]]
    """
    check_connections(connections, ports)
    pairs = np.array(connections, np.int64).reshape(-1, 2)
    colours = edge_colours(pairs, ports)
    degree = int(colours.max()) + 1 if len(colours) else 0
    configurations: list[list[Connection]] = [[] for _ in range(degree)]
    for (source, destination), colour in zip(connections, colours.tolist(), strict=True):
        configurations[colour].append((source, destination))
    return [sorted(configuration) for configuration in configurations]


def edge_colours(pairs: np.ndarray, ports: int) -> np.ndarray:
    """A colour for each row (source, destination); rows may repeat (a multigraph)."""
    if not len(pairs):
        return np.zeros(0, np.int64)
    degree = max(np.bincount(pairs[:, 0]).max(), np.bincount(pairs[:, 1]).max())
    colours: np.ndarray = _edge_colours(pairs, ports, int(degree))
    return colours


@kernel
def _edge_colours(pairs: np.ndarray, ports: int, degree: int) -> np.ndarray:
    none = -1
    at = np.full((2 * ports, degree), none, np.int64)  # edge of each colour at each end; destinations after sources
    colours = np.full(len(pairs), none, np.int64)
    for edge in range(len(pairs)):
        u, v = pairs[edge, 0], ports + pairs[edge, 1]
        mine, other = none, none
        for colour in range(degree):
            if at[u, colour] == none and at[v, colour] == none:
                mine = colour
                break
        if mine == none:
            for colour in range(degree):
                if at[u, colour] == none and mine == none:
                    mine = colour
                if at[v, colour] == none and other == none:
                    other = colour
            # The path from v along mine, other, mine … cannot end at u, which misses `mine`: exchange it.
            _exchange(at, colours, pairs, ports, v, mine, other)
        at[u, mine] = edge
        at[v, mine] = edge
        colours[edge] = mine
    return colours


@kernel
def _exchange(
    at: np.ndarray, colours: np.ndarray, pairs: np.ndarray, ports: int, start: int, first: int, second: int
) -> None:
    """Exchange two colours along the path from ``start``, which misses ``second``."""
    node, colour, instead = start, first, second
    edge = at[node, colour]
    at[node, colour] = -1
    while edge >= 0:
        u, v = pairs[edge, 0], ports + pairs[edge, 1]
        far = v if node == u else u
        after = at[far, instead]
        at[node, instead] = edge
        at[far, instead] = edge
        colours[edge] = instead
        if after < 0:
            at[far, colour] = -1
        node, edge = far, after
        colour, instead = instead, colour
