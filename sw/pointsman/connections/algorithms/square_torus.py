"""All-to-all on N×N tori as N³/8 configurations, and all-to-all within rows and columns, N a multiple of 4 from 8 on.

The least that the links permit (Yuan 1998, §4.1.2, names the numbers; how they are reached is ours). Let n = N/4.

A configuration of a ring has 8 connections, or 4 and 4 nodes that send to themselves; its 8 nodes are two *groups* of 4, each
of which closes the ring in one direction: nodes s, s + l, s + N/2, s + N/2 + l, connected in that order. The N²/8
configurations of a ring are 2n *families*: in a family n groups divide the nodes, and configuration s has groups s and s + d
(mod n), for every s.

A configuration of the torus gives every row one configuration of a family, every column one of another; a connection goes along
its row, turns where a connection of the column begins, and goes on. So the columns where row y ends connections must be those
that begin connections at y. Where the rows of group r take configuration a + r, or a - r, columns of group c must take c - a -
1, or a - c (groups counted in steps of d). For every a that makes 2n configurations, in which each connection of the row's
family meets each of the column's once. Families whose steps have different divisors in common with n are combined one by one,
without this saving; there are some where n is neither a prime nor 4."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd

import networkx as nx

from pointsman.artifacts.configurations.configurations import Connection

Line = list[Connection]
"""A configuration of a ring."""


@dataclass(frozen=True)
class Family:
    """Configurations of a ring that take the same groups of nodes: configuration s has groups s and s + ``step``."""

    configurations: list[Line]
    groups: list[list[int]]
    step: int

    @property
    def cycles(self) -> int:
        """Cycles of groups, each of which has one group in common with the next."""
        return gcd(self.step, len(self.groups))

    def place(self, group: int) -> tuple[int, int]:
        """Cycle of a group, and its number in the cycle."""
        cycle = group % self.cycles
        number, at = 0, cycle
        while at != group:
            number, at = number + 1, (at + self.step) % len(self.groups)
        return cycle, number

    def at(self, cycle: int, number: int) -> int:
        """The group there."""
        return (cycle % self.cycles + number * self.step) % len(self.groups)


def suits(size: tuple[int, ...]) -> bool:
    """Whether this module knows a torus of that size."""
    return len(size) == 2 and size[0] == size[1] and size[0] >= 8 and size[0] % 4 == 0


def families(nodes: int) -> list[Family]:
    """All connections of a ring of ``nodes`` nodes, and of each node with itself, in N²/8 configurations."""
    half, n = nodes // 2, nodes // 4
    found = []
    for length in range(1, n):
        for first in (0, 1):
            starts = [(first + 2 * s) % half for s in range(n)]
            if length % 2:  # groups begin at every second node; the second of a configuration is the next
                groups = [_corners(nodes, start, length) for start in starts]
                lines = [_around(groups[s], 1) + _around(groups[(s + 1) % n], -1) for s in range(n)]
                found.append(Family(lines, groups, 1))
            else:  # groups are pairs of neighbours and their opposites; a direction takes one node of either pair of a group
                groups = [
                    [node % nodes for node in (start, start + 1, start + half, start + half + 1)] for start in starts
                ]
                lines = [
                    _around(_corners(nodes, start, length), 1) + _around(_corners(nodes, start + 1, length), -1)
                    for start in starts
                ]
                found.append(Family(lines, groups, length // 2))
    quarters = [_corners(nodes, start, n) for start in range(n)]
    found.append(Family([_around(quarters[s], 1) + _around(quarters[(s + 1) % n], -1) for s in range(n)], quarters, 1))
    pairs = [[node % nodes for node in (i, i + 1, i + half, i + half + 1)] for i in range(0, half, 2)]
    lines = []
    for s in range(n):
        a, b, c, d = pairs[s]
        lines.append([(a, c), (c, a), (b, d), (d, b), *((node, node) for node in pairs[(s + 1) % n])])
    found.append(Family(lines, pairs, 1))
    return found


def square_all_to_all(side: int) -> list[list[Connection]]:
    """Configurations of all pairs of nodes of a ``side``×``side`` torus, xy-routed, each node with itself included."""
    answer = []
    for across in families(side):
        for down in families(side):
            if across.cycles == down.cycles:
                answer += _together(across, down, side)
            else:
                answer += [
                    [(sx + side * sy, dx + side * dy) for sx, dx in row for sy, dy in column]
                    for row in across.configurations
                    for column in down.configurations
                ]
    return answer


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
    length = len(across.groups) // across.cycles
    column_places = [down.place(group) for group in range(len(down.groups))]
    answer = []
    for shift in range(across.cycles):
        for turn in range(length):
            for sign in (1, -1):
                pairs: list[Connection] = []
                begins = _column_sources(across, down, shift, turn, sign)
                for group, (cycle, number) in enumerate(column_places):
                    line = across.configurations[across.at(cycle + shift, turn + sign * number)]
                    for sy in down.groups[group]:
                        pairs += [(sx + side * sy, dx + side * begins[dx][sy]) for sx, dx in line]
                answer.append(pairs)
    return answer


def _column_sources(across: Family, down: Family, shift: int, turn: int, sign: int) -> dict[int, dict[int, int]]:
    """For each column the configuration that it takes, as a mapping from source to destination."""
    found = {}
    for group, nodes in enumerate(across.groups):
        cycle, number = across.place(group)
        start = number - turn - 1 if sign > 0 else turn - number
        line = dict(down.configurations[down.at(cycle - shift, start)])
        found.update(dict.fromkeys(nodes, line))
    return found


def _corners(nodes: int, start: int, length: int) -> list[int]:
    half = nodes // 2
    return [node % nodes for node in (start, start + length, start + half, start + half + length)]


def _around(corners: list[int], direction: int) -> Line:
    """Connections that close the ring through these nodes."""
    pairs = [(corners[k], corners[(k + 1) % 4]) for k in range(4)]
    return pairs if direction > 0 else [(d, s) for s, d in pairs]
