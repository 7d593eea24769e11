"""Symmetries of a problem: permutations of the nodes that map links to links and streams to streams, perhaps shifted in time.

If a schedule is invariant under such a group, a place for a single word of each orbit gives places for all. A member may also
shift the slots by a fraction of the period, so that words of an orbit use a node that the permutation fixes in different slots.
The shape of the network only suggests candidates; each is checked against links, faults and streams.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import gcd

import numpy as np

from pointsman.artifacts.routes.routes import RouteProblem

from .arrays import Rows

MAX_MEMBERS = 4096

Generator = tuple[tuple[int, ...], Fraction]


@dataclass(frozen=True)
class Symmetry:
    """A group: ``members[h]`` maps each node, ``turns[h]`` is the fraction of the period by which slots shift.

    Words of stream s are images of the words of stream ``leader[s]`` under member ``by[s]``.
    """

    name: str
    members: np.ndarray
    turns: tuple[Fraction, ...]
    leader: tuple[int, ...]
    by: tuple[int, ...]

    @property
    def size(self) -> int:
        return len(self.members)

    def fits(self, period: int) -> bool:
        """Is every shift a whole number of slots in this period?"""
        return all((turn * period).denominator == 1 for turn in self.turns)

    def shift(self, member: int, period: int) -> int:
        return int(self.turns[member] * period)

    def rows(self, problem: RouteProblem, period: int) -> tuple[Rows, int]:
        """Rows of all resources for this period (a row per orbit), and the number of rows."""
        number = {link: index for index, link in enumerate(problem.links)}
        n_links, nodes = len(number), problem.nodes
        resources = n_links + 2 * nodes
        row = np.full(resources, -1, np.int32)
        shift = np.zeros(resources, np.int32)
        fold = np.full(resources, period, np.int32)
        images = np.empty((self.size, resources), np.int64)
        pairs = np.array(problem.links, np.int64).reshape(-1, 2)
        for member, to in enumerate(self.members):
            images[member, :n_links] = [number[u, v] for u, v in to[pairs].tolist()]
            images[member, n_links : n_links + nodes] = n_links + to
            images[member, n_links + nodes :] = n_links + nodes + to
        shifts = [self.shift(member, period) for member in range(self.size)]
        count = 0
        for resource in range(resources):
            if row[resource] >= 0:
                continue
            again = period
            for member, image in enumerate(images[:, resource].tolist()):
                if image == resource:
                    again = gcd(again, shifts[member])
                if row[image] < 0:
                    row[image] = count
                    shift[image] = shifts[member]
            fold[row == count] = again
            count += 1
        return Rows(row, shift, fold), count


def no_symmetry(problem: RouteProblem) -> Symmetry:
    streams = range(len(problem.streams))
    identity = np.arange(problem.nodes)[None, :]
    return Symmetry("none", identity, (Fraction(0),), tuple(streams), (0,) * len(streams))


def symmetries(problem: RouteProblem) -> list[Symmetry]:
    """The groups found, largest first, the trivial group last."""
    found = [no_symmetry(problem)]
    if len(problem.streams) < 2:
        return found
    seen = {(1, found[0].members.tobytes(), found[0].turns)}
    links = set(problem.links)
    checked: dict[tuple[int, ...], bool] = {}
    for name, generators in _candidates(problem):
        for permutation, _ in generators:
            if permutation not in checked:
                checked[permutation] = _keeps_links(permutation, links)
        if not all(checked[permutation] for permutation, _ in generators):
            continue
        group = make_group(problem, name, generators)
        if group is None:
            continue
        key = (group.size, group.members.tobytes(), group.turns)
        if key not in seen:
            seen.add(key)
            found.append(group)
    return sorted(found, key=lambda group: -group.size)


def make_group(problem: RouteProblem, name: str, generators: Iterable[Generator]) -> Symmetry | None:
    """The group of ``generators``; None if it does not keep the streams, or if an orbit of words is smaller than the group."""
    generators = list(generators)
    identity = tuple(range(problem.nodes))
    members: dict[tuple[int, ...], Fraction] = {identity: Fraction(0)}
    order = [identity]
    for member in order:
        for permutation, turn in generators:
            image = tuple(permutation[node] for node in member)
            turned = (members[member] + turn) % 1
            if image not in members:
                if len(members) == MAX_MEMBERS:
                    return None
                members[image] = turned
                order.append(image)
            elif members[image] != turned:
                return None
    if len(order) == 1:
        return None
    turns = tuple(members[member] for member in order)
    table = np.array(order, np.int64)
    # Members that fix a node need different shifts, so that words of an orbit use the node in different slots.
    for node in range(problem.nodes):
        kept = [turns[index] for index in np.flatnonzero(table[:, node] == node)]
        if len(set(kept)) < len(kept):
            return None
    stream_orbits = _stream_orbits(problem, table)
    if stream_orbits is None:
        return None
    return Symmetry(name, table, turns, *stream_orbits)


def _stream_orbits(problem: RouteProblem, members: np.ndarray) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    places: dict[tuple[int, tuple[int, ...], int], list[int]] = {}
    rank = []
    for index, stream in enumerate(problem.streams):
        same = places.setdefault((stream.source, tuple(sorted(stream.destinations)), stream.words), [])
        rank.append(len(same))
        same.append(index)
    leader = [-1] * len(problem.streams)
    by = [0] * len(problem.streams)
    lists = members.tolist()
    for index, stream in enumerate(problem.streams):
        if leader[index] >= 0:
            continue
        for member, to in enumerate(lists):
            key = (to[stream.source], tuple(sorted(to[node] for node in stream.destinations)), stream.words)
            same = places.get(key, [])
            if rank[index] >= len(same):
                return None
            image = same[rank[index]]
            if leader[image] >= 0:
                return None
            leader[image] = index
            by[image] = member
    return tuple(leader), tuple(by)


def _keeps_links(permutation: Sequence[int], links: set[tuple[int, int]]) -> bool:
    return len(set(permutation)) == len(permutation) and all(
        (permutation[u], permutation[v]) in links for u, v in links
    )


def _candidates(problem: RouteProblem) -> Iterator[tuple[str, list[Generator]]]:
    topology = problem.topology
    nodes = problem.nodes
    still = Fraction(0)
    if topology.kind in ("mesh", "torus"):
        size = topology.size
        places = [topology.coordinates(node) for node in range(nodes)]

        def mapped(move: Sequence[tuple[int, int, int]]) -> tuple[int, ...]:
            """Coordinate k of the image is sign · (coordinate ``axis``) + step."""
            return tuple(
                topology.node_at(*((sign * at[axis] + step) % size[k] for k, (axis, sign, step) in enumerate(move)))
                for at in places
            )

        axes = range(len(size))
        if topology.kind == "torus":
            steps = [[step for step in range(1, extent + 1) if extent % step == 0] for extent in size]
            for choice in sorted(product(*steps), key=lambda c: (sum(c), c)):
                moves = [
                    mapped([(k, 1, choice[k] if k == axis else 0) for k in axes])
                    for axis in axes
                    if choice[axis] < size[axis]
                ]
                if moves:
                    name = "translations by " + ", ".join(map(str, choice))
                    yield name, [(move, still) for move in moves]
        inversion = mapped([(k, -1, size[k] - 1) for k in axes])
        turns = [still, Fraction(1, 2)]
        if len(size) >= 2 and size[0] == size[1]:
            quarter = [(1, -1, size[1] - 1), (0, 1, 0), *((k, 1, 0) for k in axes if k > 1)]
            for part in (0, 1, 2, 3):
                yield f"quarter turns, {part}/4 of the period", [(mapped(quarter), Fraction(part, 4))]
        for turn in turns:
            yield f"half turn, {turn} of the period", [(inversion, turn)]
        if len(size) == 3:
            for axis in axes:
                half = mapped([(k, 1, 0) if k == axis else (k, -1, size[k] - 1) for k in axes])
                for turn in turns:
                    yield f"half turn about axis {axis}, {turn} of the period", [(half, turn)]
        return
    steps_of_ring = [step for step in range(1, nodes) if nodes % step == 0]
    for step in steps_of_ring:
        yield f"numbers shifted by {step}", [(tuple((node + step) % nodes for node in range(nodes)), still)]
    if nodes & (nodes - 1) == 0 and nodes > 1:
        flips = [tuple(node ^ (1 << bit) for node in range(nodes)) for bit in range(nodes.bit_length() - 1)]
        for count in range(len(flips), 0, -1):
            yield f"{count} bits flipped", [(flip, still) for flip in flips[:count]]
    mirrored = tuple(nodes - 1 - node for node in range(nodes))
    for turn in (still, Fraction(1, 2)):
        yield f"numbers reversed, {turn} of the period", [(mirrored, turn)]
