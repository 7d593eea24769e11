"""How much the network can carry, about: where that is known."""

from __future__ import annotations

import numpy as np
import pytest

from pointsman.network import mesh, torus
from pointsman.routing.network_router.levels import Levels
from pointsman.routing.network_router.packing import PackingArrays, PackingProblem, PackingStream


def estimate(topology, pairs: list[tuple[int, int]], pipelines: int = 2) -> float:
    links = tuple(sorted({p for link in topology.links for p in ((link.node, link.other), (link.other, link.node))}))
    streams = tuple(PackingStream(a, (b,)) for a, b in pairs)
    alive = np.ones(topology.nodes, np.bool_)
    problem = PackingProblem(topology.nodes, pipelines, links, tuple(range(len(links))), 30, 14, alive, streams)
    return Levels(PackingArrays(problem), [8]).estimate()


def test_streams_that_share_a_link_share_its_words() -> None:
    assert estimate(mesh(4), [(0, 3), (1, 2), (1, 3)]) == pytest.approx(1 / 3, rel=0.05)


def test_a_node_sends_and_passes_on_no_more_than_it_has_slots() -> None:
    """Node 1 passes on two streams and begins one, with a pipeline for all of them."""
    assert estimate(mesh(3), [(0, 2), (2, 0), (1, 0)], pipelines=1) == pytest.approx(1 / 3, rel=0.1)


def test_streams_spread_over_paths_that_are_equally_short() -> None:
    """Two words a slot from corner to corner of a torus take two of the links of either corner."""
    assert 0.8 <= estimate(torus(4, 4), [(0, 10), (0, 10)], pipelines=4) <= 2.0
