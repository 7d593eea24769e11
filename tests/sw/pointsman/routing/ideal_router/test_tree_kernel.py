"""One word to several nodes: its tree keeps the rules, and on a line it is the only one there is."""

from __future__ import annotations

import pytest

from pointsman.artifacts.routes.routes import RouteStream
from pointsman.network import mesh
from pointsman.routing.ideal_router.kernels import HOP
from pointsman.routing.ideal_router.tree_kernel import place_tree


def tree(one, *, extra: int = 0) -> tuple[int, list[tuple[tuple[int, int], int]]]:
    """Start slot, and links with their depths."""
    buffers = one.problem.buffers
    start, size, _ = place_tree(one.net, one.rows, one.words, one.room, 0, extra, one.period, one.price, buffers)
    links = [one.problem.links[link] for link in one.words.links[:size].tolist()]
    return int(start), list(zip(links, one.words.depth[:size].tolist(), strict=True))


@pytest.mark.parametrize("buffers", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_tree_reaches_all_ends_and_enters_no_node_twice(placing, seed: int, buffers: bool) -> None:
    ends = ((2, 6, 8), (1, 7), (3, 5, 8))[seed % 3]
    one = placing(mesh(3, 3), RouteStream(0, ends), 6, seed, extra=2, buffers=buffers)
    start, links = tree(one, extra=2)
    assert 0 <= start < 6
    there = {0: 0}
    for (u, v), depth in links:
        assert v not in there, "parents come first, and each node once"
        wait = depth - there[u]
        assert wait >= 0 if buffers and u != 0 else wait == 0 or (buffers and len(there) > 1)
        there[v] = depth + 1
    assert set(ends) <= set(there)
    leaves = set(there) - {u for (u, _), _ in links}
    assert leaves <= set(ends), "no branch leads to nobody"


@pytest.mark.parametrize("seed", range(5))
def test_on_a_line_the_start_is_the_best_of_those_tried(placing, seed: int) -> None:
    one = placing(mesh(4), RouteStream(0, (1, 3)), 5, seed)
    start, links = tree(one)
    assert [link for link, _ in links] == [(0, 1), (1, 2), (2, 3)]
    assert [depth for _, depth in links] == [0, 1, 2]

    def cost(at: int) -> int:
        ways = sum(one.link(k, k + 1, at + k) + HOP for k in range(3))
        return one.injection(0, at) + ways + one.ejection(1, at + 1) + one.ejection(3, at + 3)

    assert cost(start) == min(map(cost, range(5))), "five starts are all tried"
