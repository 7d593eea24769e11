"""Branch and bound against all placements, one by one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pointsman.artifacts.flows.flows import Flow, FlowSet, Task
from pointsman.artifacts.routes.file import make_problem
from pointsman.network import mesh
from pointsman.routing.placement.cost import PlacementCost
from pointsman.routing.placement.exact import least_of_all


def flows_of(seed: int, tasks: int) -> FlowSet:
    chance = np.random.default_rng(seed)
    pairs = [(a, b) for a in range(tasks) for b in range(tasks) if a != b and chance.random() < 0.4]
    limits = [None, 2, 3, 5, 9]
    return FlowSet(
        tuple(Task(str(task)) for task in range(tasks)),
        tuple(
            Flow(f"{a} {b}", a, (b,), float(chance.choice([0.1, 0.4, 0.9])), limits[int(chance.integers(5))])
            for a, b in pairs
        ),
    )


@pytest.mark.parametrize("seed", range(6))
def test_the_least_of_all_placements_is_found_and_proved(seed):
    flows, net = flows_of(seed, 5), make_problem(mesh(3, 2), [])
    cost = PlacementCost(flows, net)
    fixed = [2] if seed % 2 else []
    prices = [
        cost.place_all(list(nodes))
        for nodes in itertools.permutations(range(6), 5)
        if not fixed or nodes[0] == fixed[0]
    ]
    at = [fixed[0] if fixed and task == 0 else -1 for task in range(5)]
    free = [node for node in range(6) if node not in fixed]
    start = [fixed[0] if fixed else 0, *[node for node in range(6) if node != (fixed[0] if fixed else 0)][:4]]
    known = cost.place_all(start), start
    best, proved = least_of_all(flows, cost, at, free, known)
    assert proved
    assert cost.place_all(best) == pytest.approx(min(prices))


def test_without_work_what_was_known_stays():
    flows, net = flows_of(1, 5), make_problem(mesh(3, 2), [])
    cost = PlacementCost(flows, net)
    known = cost.place_all([0, 1, 2, 3, 4]), [0, 1, 2, 3, 4]
    assert least_of_all(flows, cost, [-1] * 5, list(range(6)), known, work=3) == ([0, 1, 2, 3, 4], False)
