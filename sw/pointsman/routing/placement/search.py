"""Placements of little cost: simulated annealing from several starts, and branch and bound where that is soon over.

A step exchanges two tasks, or moves one to a free node (Kirkpatrick, Gelatt and Vecchi 1983). Work is counted in steps, so
that the same flows and seed give the same placement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pointsman.artifacts.flows.flows import FlowSet
from pointsman.artifacts.routes.routes import RouteProblem
from pointsman.errors import PointsmanError

from .cost import PlacementCost
from .exact import WORK, least_of_all

STEPS = 900
"""Steps of an annealing for each task."""
STARTS = 3
EXACT_TASKS = 12
"""Most tasks without a node for which all placements are searched."""


@dataclass(frozen=True)
class Places:
    """Placements, each the node of every task, the best first; ``method``: how the first was found."""

    choices: tuple[tuple[int, ...], ...]
    method: str


def place_tasks(flows: FlowSet, net: RouteProblem, *, seed: int = 0, effort: float = 1.0) -> Places:
    """Placements of little cost.

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
    if not movable:
        return Places((tuple(at),), "every task has its node")
    cost = PlacementCost(flows, net)
    chance = np.random.default_rng(seed)
    found = sorted(_anneal(cost, at, movable, free, chance, effort) for _ in range(STARTS))
    choices = [nodes for _, nodes in found]
    method = f"annealing from {STARTS} starts"
    if len(movable) <= EXACT_TASKS:
        best, proved = least_of_all(flows, cost, at, free, found[0], int(WORK * effort))
        choices.insert(0, best)
        if proved:
            method = "least of all placements"
    return Places(tuple(dict.fromkeys(map(tuple, choices))), method)


def _anneal(
    cost: PlacementCost, at: list[int], movable: list[int], free: list[int], chance: np.random.Generator, effort: float
) -> tuple[float, list[int]]:
    at = list(at)
    nodes = [free[number] for number in chance.permutation(len(free)).tolist()]
    for task, node in zip(movable, nodes, strict=False):
        at[task] = node
    price = cost.place_all(at)
    steps = max(1, int(STEPS * effort * len(movable)))
    heat = max(price, 1e-9) / max(1, len(movable))
    return cost.anneal(at, movable, free, chance, steps=steps, heat=heat, cooling=(1e-3) ** (1.0 / steps))
