"""All-to-all on N×N tori as N³/8 configurations, and all-to-all within rows and columns, N a multiple of 4 from 8 on.

The least that the links permit (Yuan 1998, §4.1.2, names the numbers; how they are reached is ours). Let n = N/4.

Four nodes x, y, x + N/2 and y + N/2 of a ring, a *group*, close it in either direction by a connection from each to the next, all
shorter than half way round. Groups are the pairs of different numbers below N/2; by the rounds of a tournament (Kirkman 1850)
these make N/2 - 1 *families* of n groups, each of which has every node once. Configuration s of a family has group s in one
direction and group s + 1 (mod n) in the other, so its 8 nodes are sources and destinations once. A last family has the
connections half way round, beside which the nodes of another group send to themselves. In all, 2n families of n configurations,
N²/8 for a ring.

A configuration of the torus gives every row one configuration of a family, every column one of another; a connection goes along
its row, turns where a connection of the column begins, and goes on. So the columns where row y ends connections must be those
that begin connections at y. Where the rows of group r take configuration a + r, or a - r, columns of group c must take c - a -
1, or a - c. For every a that makes 2n configurations, in which each connection of the row's family meets each of the column's
once: (2n)² pairs of families with 2n configurations are 8n³ = N³/8."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx

from pointsman.artifacts.configurations.configurations import Connection

Line = list[Connection]
"""A configuration of a ring."""


@dataclass(frozen=True)
class Family:
    """Configurations of a ring that take the same groups of nodes: configuration s has groups s and s + 1."""

    configurations: list[Line]
    groups: list[list[int]]


def suits(size: tuple[int, ...]) -> bool:
    """Whether this module knows a torus of that size."""
    return len(size) == 2 and size[0] == size[1] and size[0] >= 8 and size[0] % 4 == 0


def families(nodes: int) -> list[Family]:
    """All connections of a ring of ``nodes`` nodes, and of each node with itself, in N²/8 configurations."""
    half, n = nodes // 2, nodes // 4
    found = []
    others = half - 1
    for turn in range(0, -others, -1):
        # All numbers but 0 sit in a circle: pairs are opposite each other, and 0 has the one that is left.
        pairs = [(0, turn % others + 1), *(((turn + k) % others + 1, (turn - k) % others + 1) for k in range(1, n))]
        arcs = sorted((x, y) if (y - x) % half <= n else (y, x) for x, y in map(sorted, pairs))
        groups = [[x, y, x + half, y + half] if x < y else [x, y + half, x + half, y] for x, y in arcs]
        lines = [_around(groups[s], 1) + _around(groups[(s + 1) % n], -1) for s in range(n)]
        found.append(Family(lines, groups))
    opposites = [[i, i + 1, i + half, i + half + 1] for i in range(0, half, 2)]
    lines = []
    for s in range(n):
        a, b, c, d = opposites[s]
        lines.append([(a, c), (c, a), (b, d), (d, b), *((node, node) for node in opposites[(s + 1) % n])])
    found.append(Family(lines, opposites))
    return found


def square_all_to_all(side: int) -> list[list[Connection]]:
    """Configurations of all pairs of nodes of a ``side``×``side`` torus, xy-routed, each node with itself included."""
    every = families(side)
    return [pairs for across in every for down in every for pairs in _together(across, down, side)]


def square_rows_and_columns(side: int) -> list[list[Connection]]:
    """Configurations of all pairs of different nodes in the same row or column of a ``side``×``side`` torus: max(2N - 2, N²/8)
    where all configurations of the ring can be paired so that those of a pair have no node in common, as from N = 16 on."""
    lines = [
        [pair for pair in line if pair[0] != pair[1]] for family in families(side) for line in family.configurations
    ]
    ends = [{source for source, _ in line} for line in lines]
    apart = nx.Graph((i, j) for i in range(len(lines)) for j in range(i) if not ends[i] & ends[j])
    couples = sorted(tuple(sorted(couple)) for couple in nx.max_weight_matching(apart, maxcardinality=True))
    answer = []
    # Rows that are ends of the column's first line take the row's first line, others the second; columns that are ends of
    # the row's first line take the column's second line, so that no node is an end twice. Then all are exchanged.
    for a, b in couples:
        for turn in (0, 1):
            pairs = []
            for at in range(side):
                inside = (at in ends[a]) ^ turn
                row, column = (lines[a], lines[b]) if inside else (lines[b], lines[a])
                pairs += [(s + side * at, d + side * at) for s, d in row]
                pairs += [(at + side * s, at + side * d) for s, d in column]
            answer.append(pairs)
    for single in set(range(len(lines))) - {one for couple in couples for one in couple}:
        answer.append([(s + side * at, d + side * at) for at in range(side) for s, d in lines[single]])
        answer.append([(at + side * s, at + side * d) for at in range(side) for s, d in lines[single]])
    return answer


def _together(across: Family, down: Family, side: int) -> list[list[Connection]]:
    """Configurations of the torus in which rows take those of ``across`` and columns those of ``down``."""
    n = len(across.groups)
    answer = []
    for turn in range(n):
        for sign in (1, -1):
            begins: dict[int, dict[int, int]] = {}  # for each column the destination of each source
            for group, columns in enumerate(across.groups):
                taken = (group - turn - 1) % n if sign > 0 else (turn - group) % n
                line = dict(down.configurations[taken])
                begins.update((column, line) for column in columns)
            pairs: list[Connection] = []
            for group, rows in enumerate(down.groups):
                row = across.configurations[(turn + sign * group) % n]
                for sy in rows:
                    pairs += [(sx + side * sy, dx + side * begins[dx][sy]) for sx, dx in row]
            answer.append(pairs)
    return answer


def _around(corners: list[int], direction: int) -> Line:
    """Connections that close the ring through these nodes."""
    pairs = [(corners[k], corners[(k + 1) % 4]) for k in range(4)]
    return pairs if direction > 0 else [(d, s) for s, d in pairs]
