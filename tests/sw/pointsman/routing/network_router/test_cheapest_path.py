"""The cheapest way of a word: against all ways there are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from pointsman.network import Topology, graph, mesh
from pointsman.routing.network_router.arrays import OPERATION
from pointsman.routing.network_router.cheapest_path import route_path
from pointsman.routing.network_router.packing import PackingArrays, PackingAttempt, PackingProblem, PackingStream
from pointsman.routing.pathfinder.costs import UNIT


def tables_of(topology: Topology, streams: list[tuple[int, int]]) -> PackingArrays:
    links = tuple((n, other) for n in range(topology.nodes) for _, (other, _) in sorted(topology.at_port[n].items()))
    carried = tuple(PackingStream(source, (end,)) for source, end in streams)
    alive = np.ones(topology.nodes, np.bool_)
    return PackingArrays(PackingProblem(topology.nodes, 2, links, tuple(range(len(links))), 30, 14, alive, carried))


def simple_paths(tables: PackingArrays, source: int, end: int, most: int) -> Iterator[list[int]]:
    """Links of every path without repeated nodes, of at most ``most`` hops."""

    def onward(node: int, seen: set[int], links: list[int]) -> Iterator[list[int]]:
        if node == end:
            yield list(links)
            return
        if len(links) == most:
            return
        for link, (writer, reader) in enumerate(tables.problem.links):
            if writer == node and reader not in seen:
                yield from onward(reader, seen | {reader}, [*links, link])

    yield from onward(source, {source}, [])


@pytest.mark.parametrize("seed", range(12))
def test_a_way_is_the_cheapest_of_all(seed: int) -> None:
    chance = np.random.default_rng(seed)
    topology = mesh(3, 2) if seed % 2 else graph(5, [(0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (1, 3)])
    source, end = (int(node) for node in chance.choice(topology.nodes, 2, replace=False))
    tables, slots = tables_of(topology, [(source, end)]), 5
    packing = PackingAttempt(tables, slots, [1], [1], hold=False)
    use = packing.use
    price = chance.integers(0, 200, use.cells.shape).astype(np.int32)
    use.cell_cost[:] = np.concatenate([price, price], 1)
    wire = chance.integers(0, 200, use.wires.shape).astype(np.int32)
    use.wire_cost[:] = np.concatenate([wire, wire], 1)
    ops = np.zeros((40, OPERATION), np.int32)
    slack = 2
    made, start, _ = route_path(
        tables.net, tables.hops[0], tables.allowed[0], source, end, slack, np.zeros(1, np.int64), slots, use, 30, 16,
        False, np.zeros(2000, np.int32), packing.state, tables.scratch(slots, slack), ops,
    )  # fmt: skip

    def cost(links: list[int], at: int) -> int:
        total, node = 0, source
        for step, link in enumerate([*links, -1]):
            slot = (at + step) % slots
            total += UNIT + min(int(price[2 * node + pipeline, slot]) for pipeline in range(2))
            if link >= 0:
                total += int(wire[link, slot])
                node = tables.problem.links[link][1]
        return total

    shortest = int(tables.hops[0][source])
    best = min(cost(p, s) for p in simple_paths(tables, source, end, shortest + slack) for s in range(slots))
    if not made:
        return  # the cheapest walk passes a node twice: the caller falls back on shortest ways
    found = [int(link) for link in ops[:made, 2] if link >= 0]
    chosen = sum(UNIT + int(price[op[0], (start + op[1]) % slots]) for op in ops[:made])
    chosen += sum(int(wire[op[2], (start + op[1]) % slots]) for op in ops[:made] if op[2] >= 0)
    assert chosen == cost(found, start) == best
