"""The dynamic router on the diamond lattice."""

from __future__ import annotations

import graphlib
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest


@pytest.fixture(scope="module")
def model(load: Callable[[str], ModuleType]) -> ModuleType:
    return load("evaluation/lattice.py")


def test_ways_are_shortest_and_no_channels_wait_in_a_circle(model: ModuleType) -> None:
    net = model.lattice(4)
    far = np.full((net.nodes, net.nodes), 99)
    np.fill_diagonal(far, 0)
    near = [[int(n) for n in row if n >= 0] for row in net.neighbours]
    for _ in range(12):
        far = np.minimum(far, np.array([far[row].min(0) for row in near]) + 1)
    waits: dict[tuple[int, int, int], set[tuple[int, int, int]]] = {}
    for a in range(net.nodes):
        for b in range(net.nodes):
            here, before, hops = a, None, 0
            while here != b:
                channel = (here, int(net.ports[here, b]), int(net.classes[here, b]))
                if before is not None:
                    waits.setdefault(channel, set()).add(before)
                before, here, hops = channel, int(net.neighbours[here, channel[1]]), hops + 1
            assert hops == far[a, b]
    list(graphlib.TopologicalSorter(waits).static_order())  # raises if there is a circle


def test_light_load_is_accepted_whole_and_takes_the_hops(model: ModuleType) -> None:
    net = model.lattice(4)
    flow = model.simulate(net, 0.002, cycles=8000, settle=1000)
    assert flow.accepted == pytest.approx(0.002, rel=0.15)
    # Into the lane and out of it a cycle each, a cycle a hop, four more words: and seldom a wait.
    assert net.hops / net.nodes + 5 <= flow.latency <= net.hops / net.nodes + 8


def test_no_more_is_accepted_than_the_busiest_link_carries(model: ModuleType) -> None:
    net = model.lattice(4)
    limit = 1 / 5 / net.loads().max()
    found = [model.simulate(net, rate, model.Router(4, 8)).accepted for rate in (0.5 * limit, limit, 2 * limit)]
    assert found[0] == pytest.approx(0.5 * limit, rel=0.1)
    assert max(found) <= 1.05 * limit
