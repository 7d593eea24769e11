"""Bounds that no division into phases can beat, each with its argument.

All are one argument: give every node a weight. A connection takes a channel at every node of its way, so it takes at least the
least weight of any way; a phase offers the weight of all channels of all nodes. Weights of one node alone count what ends there,
weights of the nodes along a cut what must cross it, and equal weights the links of shortest ways.

Bandwidths bound what the links of a node can take: nobody may be left with less of a link than he must have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from pointsman.artifacts.channels.channels import ChannelProblem
from pointsman.artifacts.configurations.configurations import ConfigurationBound

from .kernel import weighted_distances
from .tables import Tables

ROUNDS = 40
"""Rounds in which weights are looked for."""
SCALE = 1000
"""Weights that are looked for are rounded to whole numbers below this, so that the bound is exact."""


def bounds_of(problem: ChannelProblem, tables: Tables) -> tuple[ConfigurationBound, ...]:
    """Lower bounds of the number of phases, the tightest first; with none connection there are none."""
    if not problem.connections:
        return ()
    found = [_busiest(problem)]
    cuts = [
        ConfigurationBound(value, "cut", f"{text}, whose nodes have {room} channels in a phase")
        for value, room, text in _cuts(problem, tables)
    ]
    found += sorted(cuts, key=lambda bound: -bound.value)[:1]
    need = sum(problem.distances) + len(problem.connections)
    room = problem.channels * len(problem.topology.working)
    value = -(-need // room)
    text = f"shortest ways take {need} channels, and all nodes together have {room} in a phase"
    found.append(ConfigurationBound(value, "channels", text))
    if tables.least_sharers < len(problem.connections):
        found.append(_links(problem, tables))
    least = max(int(bound.value) for bound in found)
    if problem.topology.nodes <= 256:
        for weight in _weights(tables):
            sought = _weighted(tables, weight)
            room = problem.channels * int(weight.sum())
            if -(-sought // room) > least:
                least = -(-sought // room)
                text = f"with weights for nodes, ways take {sought} channels at least, and a phase has {room}"
                found.append(ConfigurationBound(least, "weighted", text))
    return tuple(sorted(found, key=lambda bound: -bound.value))


def _busiest(problem: ChannelProblem) -> ConfigurationBound:
    ends = Counter(node for one in problem.connections for node in (one.source, one.destination))
    node, count = max(ends.items(), key=lambda item: (item[1], -item[0]))
    value = -(-count // problem.channels)
    what = f"node {node} is an end of {count} connections and has {problem.channels} channels"
    return ConfigurationBound(value, "node", what)


def _links(problem: ChannelProblem, tables: Tables) -> ConfigurationBound:
    """Where bandwidths leave the least of the links from, or to, a node."""
    found = []
    for end, what, links in ((0, "leave", tables.tail), (1, "reach", tables.head)):
        degree = np.bincount(links, minlength=problem.topology.nodes).tolist()
        sharers: dict[int, list[int]] = {}
        for node, most in zip(tables.ends[:, end].tolist(), tables.sharers.tolist(), strict=True):
            sharers.setdefault(node, []).append(most)
        for node, members in sharers.items():
            filled = _filled(sorted(members))
            text = f"{len(members)} connections that {what} node {node} take {filled} links for their bandwidths, and it has "
            text += str(degree[node])
            found.append((-(-filled // degree[node]), -node, text))
    value, _, text = max(found, key=lambda one: one[:2])
    return ConfigurationBound(value, "links", text)


def _filled(sharers: list[int]) -> int:
    """Fewest links, or links of several phases, for connections that share one with so many at most, in rising order. Who lets
    on the fewest is best put together with the next; in any other division they can change places."""
    links = begin = 0
    while begin < len(sharers):
        begin += sharers[begin]
        links += 1
    return links


def _cuts(problem: ChannelProblem, tables: Tables) -> Iterator[tuple[int, int, str]]:
    """For parts of the nodes: phases, channels along the border, and what crosses."""
    topology = problem.topology
    if not topology.has_coordinates:
        return
    source, destination = tables.ends[:, 0], tables.ends[:, 1]
    places = np.array([topology.coordinates(node) for node in range(topology.nodes)])
    alive = np.array([node not in topology.dead for node in range(topology.nodes)])
    for axis, extent in enumerate(topology.size):
        for begin in range(extent if topology.kind == "torus" else 1):
            for count in range(1, extent):
                inside = (places[:, axis] - begin) % extent < count
                crossing = int((inside[source] != inside[destination]).sum())
                for side in (inside, ~inside):
                    border = np.zeros(topology.nodes, bool)
                    over = side[tables.tail] & ~side[tables.head]
                    border[tables.tail[over]] = True
                    room = problem.channels * int((border & alive).sum())
                    if room:
                        name = f"{'xyz'[axis]} = {begin}..{(begin + count - 1) % extent}"
                        yield -(-crossing // room), room, f"{crossing} connections cross the border of {name}"


def _weights(tables: Tables) -> Iterator[np.ndarray]:
    """Whole weights of nodes, higher where shortest ways by the weights so far meet (multiplicative weights)."""
    price = np.ones(len(tables.first) - 1)
    sources = np.unique(tables.ends[:, 0])
    for _ in range(ROUNDS):
        load = np.zeros(len(price))
        for source in sources.tolist():
            _, via = weighted_distances(tables, price, source)
            for v in tables.ends[tables.ends[:, 0] == source, 1].tolist():
                while v >= 0:
                    load[v] += 1
                    v = int(via[v])
        price *= 1 + 0.3 * load / load.max()
        price /= price.max()
        yield np.rint(price * SCALE).astype(np.int64)


def _weighted(tables: Tables, weight: np.ndarray) -> int:
    """Sum over the connections of the least weight of their ways."""
    total = 0
    for source in np.unique(tables.ends[:, 0]).tolist():
        price, _ = weighted_distances(tables, weight.astype(float), source)
        total += int(np.rint(price[tables.ends[tables.ends[:, 0] == source, 1]]).sum())
    return total
