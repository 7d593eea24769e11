"""A logical hypercube on arrays, rings, meshes and tori (Yuan 1998, §4.1.1): assignments at most two above the optimum.

Nodes i and j are connected both ways when their numbers differ in a single bit; nodes are numbered x first. Yuan's channels are
configurations here.

- Array (Theorems 1 to 3): floor(2N/3), the load of the link after node floor(N/3). Dimension 0 takes a configuration (or
  dimensions 0 and 1 take two); the rest are hypercubes on every second (or every fourth) node.
- Ring (Lemma 6, Theorems 4 and 5): floor(N/3 + N/4). Both halves are arrays at the same time; of the last dimension, whose pairs
  are half way round, four connections share a configuration (`last_dimension`).
- Mesh (Lemmas 7 and 8, second Theorem 4): at most floor(2X/3) + 2 for the longer side X. Configurations between even nodes and
  between odd nodes of the rows are combined with those of the columns.
- Torus (Lemmas 9 and 10, second Theorem 5): at most floor(X/3 + X/4) + 2, from four meshes and the last dimension of each side.
"""

from __future__ import annotations

from itertools import zip_longest

import numpy as np

from pointsman.artifacts.configurations.configurations import ConfigurationBound, Connection, ConnectionProblem, Network
from pointsman.errors import PointsmanError

Line = list[Connection]
"""A configuration of an array or a ring, as pairs of coordinates."""
Lines = list[Line]
"""A `Line` for every row, or for every column."""
NOTHING: Line = []


def hypercube(bits: int) -> list[Connection]:
    """All connections of the hypercube of 2^bits nodes, dimension by dimension."""
    return [(node, node ^ (1 << dimension)) for dimension in range(bits) for node in range(1 << bits)]


def assign_hypercube(network: Network) -> list[list[Connection]]:
    """Configurations of the hypercube of all nodes of a mesh or torus (an array or ring if it has one dimension), xy-routed.

    Raises
    ------
    PointsmanError
        If it has three dimensions, or a side that is no power of two.
    """
    sides = _sides(network)
    if len(sides) == 1:
        return ring(sides[0]) if network.kind == "torus" else array(sides[0])
    x, y = sides
    rows, columns = (_torus_parts if network.kind == "torus" else _mesh_parts)(x, y)
    return [
        [(_at(sx, row, x), _at(dx, row, x)) for row, line in enumerate(across) for sx, dx in line]
        + [(_at(column, sy, x), _at(column, dy, x)) for column, line in enumerate(down) for sy, dy in line]
        for across, down in zip(rows, columns, strict=True)
    ]


def of_hypercube(problem: ConnectionProblem) -> np.ndarray | None:
    """The configuration of each connection in `assign_hypercube`; None if some connection is not of the hypercube, or the network
    has no such assignment."""
    network = problem.network
    if network.kind == "crossbar" or len(network.size) > 2 or any(side & (side - 1) for side in network.size):
        return None
    if any((s ^ d) & ((s ^ d) - 1) for s, d in problem.connections):
        return None
    number = {pair: index for index, pairs in enumerate(assign_hypercube(network)) for pair in pairs}
    found = np.array([number[pair] for pair in problem.connections], np.int64)
    return np.asarray(np.unique(found, return_inverse=True)[1], np.int64)


def hypercube_bound(network: Network) -> ConfigurationBound:
    """Least configurations of the hypercube with any routing: by ports, or by the links across the cut of Lemma 3, 6, 7 or 9."""
    sides = _sides(network)
    longest = max(sides)
    bits = (network.nodes - 1).bit_length()
    links = 7 * longest // 12 if network.kind == "torus" else 2 * longest // 3
    if bits >= links:
        return ConfigurationBound(bits, "ports", f"every node sends to {bits} others")
    return ConfigurationBound(links, "cut", f"a link is used {links} times, however the connections are routed")


def problem_of(network: Network) -> ConnectionProblem:
    """The hypercube of all nodes as a problem for `configure`."""
    _sides(network)
    return ConnectionProblem(network, tuple(hypercube((network.nodes - 1).bit_length())))


def array(nodes: int) -> list[Line]:
    """Yuan's Algorithm 1: floor(2N/3) configurations of the hypercube on a linear array."""
    even, odd, both = array_classes(nodes)
    return even + odd + both


def ring(nodes: int) -> list[Line]:
    """Yuan's Algorithm 2: floor(N/3 + N/4) configurations of the hypercube on a ring."""
    if nodes < 4:
        return array(nodes)
    half = nodes // 2
    inner = [line + [(s + half, d + half) for s, d in line] for line in array(half)]
    return inner + last_dimension(nodes)


def array_classes(nodes: int) -> tuple[list[Line], list[Line], list[Line]]:
    """Configurations of the hypercube on an array: between even nodes, between odd nodes, and one or two others."""
    bits = (nodes - 1).bit_length()
    if not bits:
        return [], [], []
    if bits % 2:
        inner = array(nodes // 2)
        even, odd = _spread(inner, 2, 0), _spread(inner, 2, 1)
        return even, odd, [[(node, node ^ 1) for node in range(nodes)]]
    inner = array(nodes // 4)
    even = _spread(inner, 4, 0) + _spread(inner, 4, 2)
    odd = _spread(inner, 4, 1) + _spread(inner, 4, 3)
    # Dimensions 0 and 1 of every four nodes in two configurations: each is a cycle through the four nodes.
    pairs: list[Line] = [[], []]
    for base in range(0, nodes, 4):
        pairs[0] += [(base + s, base + d) for s, d in ((0, 1), (1, 3), (3, 2), (2, 0))]
        pairs[1] += [(base + s, base + d) for s, d in ((1, 0), (3, 1), (2, 3), (0, 2))]
    return even, odd, pairs


def last_dimension(nodes: int) -> list[Line]:
    """Pairs half way round a ring: in each configuration two even nodes exchange one way round, two odd nodes the other."""
    half = nodes // 2
    return [[(i, i + half), (i + half, i), (i + 1, i + 1 + half), (i + 1 + half, i + 1)] for i in range(0, half, 2)]


def _mesh_parts(x: int, y: int) -> tuple[list[Lines], list[Lines]]:
    """(rows, columns): for each configuration of the mesh, a `Line` for every row, and a `Line` for every column."""
    if x < y:
        return _mesh_parts(y, x)[::-1]
    even_x, odd_x, both_x = array_classes(x)
    even_y, odd_y, both_y = array_classes(y)
    rows: list[Lines] = []
    columns: list[Lines] = []
    for index in range(len(even_x)):
        down = (even_y[index], odd_y[index]) if index < len(even_y) else (NOTHING, NOTHING)
        for turn in (0, 1):
            rows.append([(even_x, odd_x)[(row + turn) % 2][index] for row in range(y)])
            columns.append([down[(column + 1 + turn) % 2] for column in range(x)])
    rows += [[line] * y for line in both_x] + [[NOTHING] * y for _ in both_y]
    columns += [[NOTHING] * x for _ in both_x] + [[line] * x for line in both_y]
    return rows, columns


def _torus_parts(x: int, y: int) -> tuple[list[Lines], list[Lines]]:
    if x < y:
        return _torus_parts(y, x)[::-1]
    if y < 4:  # a ring of two nodes is an array; of a single node, empty
        rings, arrays = ring(x), array(y)
        return (
            [[line] * y for line in rings] + [[NOTHING] * y for _ in arrays],
            [[NOTHING] * x for _ in rings] + [[line] * x for line in arrays],
        )
    half_x, half_y = x // 2, y // 2
    inner_rows, inner_columns = _mesh_parts(half_x, half_y)
    rows = [[_twice(line, half_x) for line in lines] * 2 for lines in inner_rows]
    columns = [[_twice(line, half_y) for line in lines] * 2 for lines in inner_columns]
    # Two configurations of the last dimension of x make two of the torus with two of y: rows that have no ends of `down[1]` take
    # `across[0]`, the others `across[1]`; columns without ends of `across[0]` take `down[0]`, the others `down[1]`. In the second
    # configuration all are exchanged (Lemma 10).
    pairs = zip_longest(_two(last_dimension(x)), _two(last_dimension(y)), fillvalue=(NOTHING, NOTHING))
    for across, down in pairs:
        for turn in (0, 1):
            rows.append([across[(_ends(down[1], row) + turn) % 2] for row in range(y)])
            columns.append([down[(_ends(across[0], column) + turn) % 2] for column in range(x)])
    kept = [number for number in range(len(rows)) if any(rows[number]) or any(columns[number])]
    return [rows[number] for number in kept], [columns[number] for number in kept]


def _two(lines: list[Line]) -> list[tuple[Line, Line]]:
    return [(lines[i], lines[i + 1]) if i + 1 < len(lines) else (lines[i], NOTHING) for i in range(0, len(lines), 2)]


def _ends(line: Line, node: int) -> bool:
    """Is ``node`` an end of some connection of the line?"""
    return any(node in pair for pair in line)


def _twice(line: Line, offset: int) -> Line:
    return line + [(s + offset, d + offset) for s, d in line]


def _spread(lines: list[Line], factor: int, offset: int) -> list[Line]:
    return [[(s * factor + offset, d * factor + offset) for s, d in line] for line in lines]


def _at(x: int, y: int, width: int) -> int:
    return x + width * y


def _sides(network: Network) -> tuple[int, ...]:
    sides = network.size
    if network.kind == "crossbar" or len(sides) > 2 or any(side & (side - 1) for side in sides):
        raise PointsmanError(
            "a hypercube is assigned on meshes and tori of one or two dimensions that are powers of two, "
            f"not on a {network.kind} of {network}"
        )
    return sides
