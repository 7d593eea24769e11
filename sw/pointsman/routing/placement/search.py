"""Placements of little cost: all of them where they are few, otherwise simulated annealing from several starts.

A step exchanges two tasks, or moves one to a free node (Kirkpatrick, Gelatt and Vecchi 1983). Work is counted in steps, so
that the same flows and
seed give the same placement.
"""

from __future__ import annotations

from itertools import permutations
from math import exp, perm

import numpy as np

from pointsman.artifacts.flows.flows import FlowSet
from pointsman.artifacts.routes.routes import RouteProblem
from pointsman.errors import PointsmanError

from .cost import PlacementCost

FEW = 5_000
"""Placements that are all tried."""
STEPS = 300
"""Steps of an annealing for each task."""
STARTS = 3


def place_tasks(flows: FlowSet, net: RouteProblem, *, seed: int = 0, effort: float = 1.0) -> tuple[list[int], str]:
    """The node of each task, and how it was found.

    Raises
    ------
    PointsmanError
        If there are more tasks than working nodes, or a task is put where none can be.
    """
    working = [node for node in range(net.nodes) if node not in net.dead_nodes]
    if len(flows.tasks) > len(working):
        raise PointsmanError(
            f"there must be a node for each task: {len(flows.tasks)} tasks and {len(working)} nodes that work"
        )
    at = [-1] * len(flows.tasks)
    for index, task in enumerate(flows.tasks):
        if task.at is not None:
            if task.at not in working:
                raise PointsmanError(f"task '{task.name}': node {task.at} is no working node of the network")
            at[index] = task.at
    taken = set(at)
    free = [node for node in working if node not in taken]
    movable = [index for index, node in enumerate(at) if node < 0]
    cost = PlacementCost(flows, net)
    if perm(len(free), len(movable)) <= FEW:
        return _all(cost, at, movable, free), "all placements tried"
    chance = np.random.default_rng(seed)
    found = [_anneal(cost, at, movable, free, chance, effort) for _ in range(STARTS)]
    return min(found)[1], f"annealing from {STARTS} starts"


def _all(cost: PlacementCost, at: list[int], movable: list[int], free: list[int]) -> list[int]:
    best: tuple[float, list[int]] | None = None
    for nodes in permutations(free, len(movable)):
        trial = list(at)
        for task, node in zip(movable, nodes, strict=True):
            trial[task] = node
        price = cost.place_all(trial)
        if best is None or price < best[0] - 1e-9:
            best = price, trial
    assert best is not None
    return best[1]


def _anneal(
    cost: PlacementCost, at: list[int], movable: list[int], free: list[int], chance: np.random.Generator, effort: float
) -> tuple[float, list[int]]:
    at = list(at)
    nodes = [free[number] for number in chance.permutation(len(free)).tolist()]
    for task, node in zip(movable, nodes, strict=False):
        at[task] = node
    # Which task is on a free node; -1: none.
    holds = dict.fromkeys(free, -1) | {at[task]: task for task in movable}
    price = cost.place_all(at)
    best = price, list(at)
    steps = max(1, int(STEPS * effort * len(movable)))
    heat = max(price, 1e-9) / max(1, len(movable))
    cooling = (1e-3) ** (1.0 / steps)
    for _ in range(steps):
        task = movable[int(chance.integers(len(movable)))]
        node, old = free[int(chance.integers(len(free)))], at[task]
        heat *= cooling
        if node == old:
            continue
        other = holds[node]
        moved = (task,) if other < 0 else (task, other)
        at[task], holds[node], holds[old] = node, task, other
        if other >= 0:
            at[other] = old
        new = cost.move(moved, at)
        if new <= price or chance.random() < exp((price - new) / heat):
            price = new
            if price < best[0] - 1e-9:
                best = price, list(at)
            continue
        at[task], holds[old], holds[node] = old, task, other
        if other >= 0:
            at[other] = node
        cost.move(moved, at)
    return best
