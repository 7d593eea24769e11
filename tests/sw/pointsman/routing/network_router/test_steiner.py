"""Trees to several ends, and the slots for them."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from pointsman.network import mesh
from pointsman.routing.network_router.arrays import OPERATION
from pointsman.routing.network_router.packing import PackingArrays, PackingAttempt, PackingProblem, PackingStream
from pointsman.routing.network_router.steiner import grow_tree, route_tree

LINKS = tuple(
    sorted({pair for link in mesh(3, 3).links for pair in ((link.node, link.other), (link.other, link.node))})
)


@pytest.mark.parametrize("ends", [(2, 6), (1, 3, 8), tuple(range(1, 9))], ids=str)
def test_a_tree_reaches_all_ends_and_its_slots_follow_one_another(ends: tuple[int, ...]) -> None:
    problem = PackingProblem(9, 2, LINKS, tuple(range(24)), 30, 14, np.ones(9, np.bool_), (PackingStream(0, ends),))
    arrays, slots = PackingArrays(problem), 12
    one = PackingAttempt(arrays, slots, [1], [1], hold=False)
    scratch = arrays.scratch(slots, 2)
    count = grow_tree(
        arrays.net, arrays.allowed[0], 0, np.array(ends, np.int32), one.use, np.full(9, 16), np.ones(24, np.int64),
        one.state, scratch,
    )  # fmt: skip
    tree = scratch.links[:count].copy()
    graph = nx.DiGraph(LINKS[link] for link in tree.tolist())
    assert nx.is_arborescence(graph)
    assert {node for node in graph if graph.out_degree(node) == 0} <= set(ends) <= set(graph)
    seen = {0}
    for link in tree.tolist():
        assert LINKS[link][0] in seen, "parents first"
        seen.add(LINKS[link][1])
    ops = np.zeros((40, OPERATION), np.int32)
    made, _, _ = route_tree(
        arrays.net, tree, 0, np.array(ends, np.int32), np.zeros(1, np.int64), slots, one.use, 30, 16, True,
        np.zeros(2000, np.int32), one.state, scratch, ops,
    )  # fmt: skip
    rows = ops[:made].tolist()
    assert sorted(row[2] for row in rows if row[2] >= 0) == sorted(tree.tolist())
    assert sorted(row[0] // 2 for row in rows if row[2] < 0) == sorted(ends)
    for place, offset, _, _, _, parent in rows:
        if parent >= 0:
            same_node = rows[parent][0] // 2 == place // 2
            assert offset > rows[parent][1]
            assert same_node or LINKS[rows[parent][2]][1] == place // 2
    assert len({(place, offset) for place, offset, *_ in rows}) == made


def test_an_end_that_cannot_be_reached_has_no_tree() -> None:
    alive = np.ones(9, np.bool_)
    problem = PackingProblem(9, 2, LINKS, tuple(range(24)), 30, 14, alive, (PackingStream(0, (4, 8)),))
    arrays = PackingArrays(problem)
    one = PackingAttempt(arrays, 8, [1], [1], hold=False)
    allowed = alive.copy()
    allowed[[5, 7]] = False
    found = grow_tree(
        arrays.net, allowed, 0, np.array([4, 8], np.int32), one.use, np.full(9, 16), np.ones(24, np.int64), one.state,
        arrays.scratch(8, 2),
    )  # fmt: skip
    assert found == -1
