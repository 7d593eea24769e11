"""Cycles through the nodes of a network: through all of them where that is known, otherwise through as many as a search finds."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from pointsman.artifacts.routes.routes import RouteProblem

ROTATIONS = 150
"""Steps of the search for a longer cycle, for each node (`_rotated`)."""
MOST_NODES = 600
"""Nodes of the largest network that is searched so: a step takes time in proportion to them."""


def cycle_through(net: RouteProblem) -> list[int]:
    """A cycle of working links, as long as is known: its nodes in order, each once.

    Meshes with an even side and tori have one through all nodes; a mesh of odd sides, being two-coloured, has one through all
    but a
    corner. A link and the link back are a cycle of two nodes. Empty if there is no cycle.
    """
    if net.topology.regular and not net.dead_nodes and not net.dead_links:
        found = _cartesian(net.topology.kind, net.topology.size)
        if found:
            return found
    return _grown(net)


def _cartesian(kind: str, size: Sequence[int]) -> list[int]:
    """The cycle of a mesh or torus; empty for a line."""
    strides = [prod(size[:axis]) for axis in range(len(size))]
    axes = sorted((extent, axis) for axis, extent in enumerate(size) if extent > 1)
    if not axes:
        return []
    if len(axes) == 1:
        extent, axis = axes[0]
        line = [at * strides[axis] for at in range(extent)]
        return line if extent == 2 or kind == "torus" else []
    # The largest side is the column of a grid; a path through the others, forth and back, is its row.
    longest, last = axes.pop()
    row = [0]
    for extent, axis in axes:
        row = [
            node + at * strides[axis] for at in range(extent) for node in (row if at % 2 == 0 else list(reversed(row)))
        ]
    column = [at * strides[last] for at in range(longest)]
    if kind == "torus" and longest % 2 and len(row) % 2:
        return _odd_torus(size, strides, axes, longest, column)
    if longest % 2 == 0:
        grid = [[at + node for node in row] for at in column]
    elif len(row) % 2 == 0:
        grid = [[at + node for at in column] for node in row]
    else:
        return _all_but_a_corner([[at + node for node in row] for at in column])
    return _comb(grid)


def _comb(grid: list[list[int]]) -> list[int]:
    """A cycle through a grid with an even number of rows: the first row, forth and back through the others, the
    first column back."""
    found = list(grid[0])
    for number, row in enumerate(grid[1:], 1):
        found += row[:0:-1] if number % 2 else row[1:]
    return found + [row[0] for row in reversed(grid[1:])]


def _all_but_a_corner(grid: list[list[int]]) -> list[int]:
    """A cycle through a grid of odd sides without the first node of its last row, which hangs on the row before."""
    found = _comb(grid[:-1])
    row, below = grid[-2], grid[-1]
    under = dict(zip(row, below, strict=True))
    at = len(row)
    start = found.index(row[-1])
    if at == 1:
        return found
    made = found[:start]
    # The last row of the comb goes from its end to its beginning, and every second step of it goes round by the row below.
    for place in range(at - 1, 0, -2):
        made += [row[place], under[row[place]], under[row[place - 1]], row[place - 1]]
    return made + found[start + at - 1 :]


def _odd_torus(
    size: Sequence[int], strides: Sequence[int], axes: list[tuple[int, int]], longest: int, column: list[int]
) -> list[int]:
    """A cycle through a torus of odd sides: rows are rings, and where a row is left moves by one, so many times up and so many
    times down that the last row ends where the first began."""
    row = _cartesian(
        "torus", [size[axis] if any(axis == other for _, other in axes) else 1 for axis in range(len(size))]
    )
    ring = len(row)
    # Strides of the smaller torus are those of a torus whose other sides are 1: put the nodes back into this one.
    small = [
        prod(size[other] if any(other == a for _, a in axes) else 1 for other in range(axis))
        for axis in range(len(size))
    ]
    row = [sum(node // small[axis] % size[axis] * strides[axis] for _, axis in axes) for node in row]
    if ring <= longest:
        rings, length, lines = column, ring, row
    else:
        rings, length, lines = row, longest, column
    ups = len(rings) * (length + 1) // 2 % length
    found, at = [], 0
    for number, base in enumerate(rings):
        step = 1 if number < ups else -1
        found += [base + lines[(at + step * turn) % length] for turn in range(length)]
        at = (at + step * (length - 1)) % length
    return found


def _grown(net: RouteProblem) -> list[int]:
    """A long cycle of any network: begin with a short one, and go round by free nodes in place of a link as long as
    that is possible."""
    best: list[int] = []
    following = [set(row) for row in net.following]
    working = [node for node in range(net.nodes) if node not in net.dead_nodes and following[node]]
    for start in working[:: max(1, len(working) // 8)]:
        cycle = _short(net, start)
        if not cycle:
            continue
        _widen(cycle, following)
        if len(cycle) > len(best):
            best = cycle
        if len(best) == net.nodes - len(net.dead_nodes):
            break
    most = _most(following, working)
    if 2 < len(best) < most and len(working) <= MOST_NODES:
        best = _rotated(best, following, most, ROTATIONS * len(working))
        _widen(best, following)
    return best


def _most(following: list[set[int]], working: list[int]) -> int:
    """Nodes of a cycle at most: if links join nodes of two colours only, as many of one as of the other."""
    colour: dict[int, int] = {}
    most = 0
    for first in working:
        if first in colour:
            continue
        colour[first] = 0
        queue, two_coloured = [first], True
        for node in queue:
            for other in following[node]:
                if other not in colour:
                    colour[other] = 1 - colour[node]
                    queue.append(other)
                two_coloured &= colour[other] != colour[node]
        black = sum(colour[node] for node in queue)
        most = max(most, 2 * min(black, len(queue) - black) if two_coloured else len(queue))
    return most


def _rotated(cycle: list[int], following: list[set[int]], most: int, steps: int) -> list[int]:
    """A longer cycle than ``cycle``, of at most ``most`` nodes, or itself: a path is made longer at its end as long as there are
    free nodes, and otherwise turned round behind a neighbour of its end (Pósa 1976); where it comes near itself it is a cycle.
    Only links both ways are used."""
    both = [sorted(other for other in row if node in following[other]) for node, row in enumerate(following)]
    chance = np.random.default_rng(len(cycle))
    if any(b not in both[a] for a, b in zip(cycle, [*cycle[1:], cycle[0]], strict=True)):
        return cycle
    path, best = list(cycle), list(cycle)
    place = {node: at for at, node in enumerate(path)}
    for _ in range(steps):
        end = path[-1]
        free = [other for other in both[end] if other not in place]
        if free:
            # The one with the fewest ways on would be the hardest to reach later.
            node = min(free, key=lambda other: sum(after not in place for after in both[other]))
            place[node] = len(path)
            path.append(node)
            continue
        near = [place[other] for other in both[end] if place[other] < len(path) - 2]
        if not near:
            path.reverse()
            place = {node: at for at, node in enumerate(path)}
            continue
        first = min(near)
        if len(path) - first > max(2, len(best)):
            best = path[first:]
            if len(best) >= most:
                break
        at = near[int(chance.integers(len(near)))]
        path[at + 1 :] = path[:at:-1]
        place = {node: at for at, node in enumerate(path)}
    return best


def _short(net: RouteProblem, start: int) -> list[int]:
    """A shortest cycle of at least three nodes through ``start``; of two if there is none."""
    both = [other for other in net.following[start] if start in net.following[other]]
    before = {start: -1}
    origin = {start: start}
    queue = [start]
    for node in queue:
        for after in net.following[node]:
            if after == start and before[node] != start and node != start:
                return _way(before, node)
            if after not in before:
                before[after] = node
                origin[after] = after if node == start else origin[node]
                queue.append(after)
            elif after != start and origin[after] != origin[node] and node != start:
                # Two ways to one node that part at the start: there and back, if links go both ways.
                there, back = _way(before, node), _way(before, after)
                turned = [*there, *reversed(back[1:])]
                if all(b in net.following[a] for a, b in zip(turned, [*turned[1:], start], strict=True)):
                    return turned
    return [start, both[0]] if both else []


def _way(before: dict[int, int], node: int) -> list[int]:
    way = [node]
    while before[way[-1]] >= 0:
        way.append(before[way[-1]])
    return way[::-1]


def _widen(cycle: list[int], following: list[set[int]]) -> None:
    """Replace links of ``cycle`` by ways of one or two free nodes, until none is left that can be."""
    inside = set(cycle)
    at = unchanged = 0
    while unchanged < len(cycle):
        u, v = cycle[at % len(cycle)], cycle[(at + 1) % len(cycle)]
        way = _around(u, v, following, inside)
        if way:
            place = at % len(cycle) + 1
            cycle[place:place] = way
            inside.update(way)
            unchanged = 0
            at = place - 1
        else:
            at += 1
            unchanged += 1


def _around(u: int, v: int, following: list[set[int]], inside: set[int]) -> list[int]:
    for x in sorted(following[u] - inside):
        for y in sorted(following[x] - inside):
            if v in following[y] and y != x:
                return [x, y]
    for x in sorted(following[u] - inside):
        if v in following[x]:
            return [x]
    return []
