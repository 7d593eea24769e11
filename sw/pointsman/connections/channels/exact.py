"""Fewest phases, proved by CP-SAT: every simple way of every connection in every phase is a variable. For small problems.

The solver runs in a process of its own (`pointsman.routing.solver`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from pointsman.artifacts.channels.channels import ChannelProblem
from pointsman.errors import PointsmanError
from pointsman.routing.solver import serve_tasks, solved

from .starts import put
from .tables import Assignment, Tables, empty

MOST_WAYS = 20_000
"""Most ways of all connections together, and beginnings of ways."""
SECONDS = 60.0
"""For each number of phases."""

Found = tuple[int, list[tuple[int, list[int]]] | None]
"""A number of phases, with a phase and a way for each connection; None: the solver did not settle that number."""


def fewest(problem: ChannelProblem, tables: Tables, least: int, most: int, seconds: float = SECONDS) -> Assignment:
    """An answer with the fewest phases, from ``least`` (a bound) to ``most`` (known to be enough).

    Raises
    ------
    PointsmanError
        If the solver is not installed, the problem is too large, or time runs out.
    """
    [(phases, found)] = solved(__name__, [task_of(problem, least, most, seconds)], "the exact division")
    if found is None:
        raise PointsmanError(
            f"the exact division found in {seconds:g} s neither an answer in {phases} phases nor a proof that there is none",
            hint="another algorithm gives an answer without a proof, and the bound",
        )
    given = empty(tables)
    for index, (phase, way) in enumerate(found):
        put(given, index, phase, tuple(way))
    return given


def task_of(problem: ChannelProblem, least: int, most: int, seconds: float) -> dict[str, Any]:
    """What the solver's process is told of a problem.

    Raises
    ------
    PointsmanError
        If there are too many ways.
    """
    ways: list[list[tuple[int, ...]]] = []
    total = 0
    for index in range(len(problem.connections)):
        ways.append([])
        for way in _ways(problem, index):
            total += 1
            if total > MOST_WAYS:
                raise PointsmanError(
                    f"the exact division takes up to {MOST_WAYS} ways, and these connections have more",
                    hint="another algorithm",
                )
            if way[-1] == problem.connections[index].destination:
                ways[-1].append(way)
    return {
        "ways": ways,
        "channels": problem.channels,
        "sharers": [problem.sharers(index) for index in range(len(ways))],
        "order": problem.order,
        "least": least,
        "most": most,
        "seconds": seconds,
    }


def _ways(problem: ChannelProblem, index: int) -> Iterator[tuple[int, ...]]:
    """All simple ways and their beginnings, shortest first."""
    topology, one = problem.topology, problem.connections[index]
    queue: list[tuple[int, ...]] = [(one.source,)]
    for path in queue:
        yield path
        if path[-1] != one.destination and len(path) <= problem.longest(index):
            following = {other for other, _ in topology.at_port[path[-1]].values()}
            queue.extend((*path, after) for after in sorted(following) if after not in path)


def serve() -> None:
    """Main function of the solver's process."""
    serve_tasks(_fewest)


def _fewest(least: int, most: int, **given: Any) -> Found:
    """The fewest phases from ``least`` to ``most``."""
    for phases in range(least, most + 1):
        settled, found = _solve(phases, **given)
        if found is not None or not settled:
            return phases, found
    raise AssertionError(f"{most} phases are known to be enough")


def _solve(
    phases: int,
    ways: list[list[list[int]]],
    channels: int,
    sharers: list[int],
    order: list[tuple[int, int]],
    seconds: float,
) -> tuple[bool, list[tuple[int, list[int]]] | None]:
    """Whether it is known if there is a division into so many phases, and the division."""
    from ortools.sat.python import cp_model

    model = cp_model.CpModel()
    at_node: dict[tuple[int, int], list[cp_model.IntVar]] = {}
    on_link: dict[tuple[int, int, int], list[tuple[int, cp_model.IntVar]]] = {}
    chosen = []
    for paths, least in zip(ways, sharers, strict=True):
        variables = [(p, path, model.new_bool_var("")) for p in range(phases) for path in paths]
        model.add_exactly_one(variable for _, _, variable in variables)
        for p, path, variable in variables:
            for node in path:
                at_node.setdefault((p, node), []).append(variable)
            for u, v in pairwise(path):
                on_link.setdefault((p, u, v), []).append((least, variable))
        chosen.append(variables)
    for takers in at_node.values():
        model.add(sum(takers) <= channels)
    for users in on_link.values():
        for least, variable in users:
            if least < len(ways):
                model.add(sum(other for _, other in users) <= least).only_enforce_if(variable)
    for before, later in order:
        first, second = (sum(p * variable for p, _, variable in chosen[one]) for one in (before, later))
        model.add(first <= second)
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    solver.parameters.max_time_in_seconds = seconds
    status = solver.solve(model)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return status == cp_model.INFEASIBLE, None
    return True, [next((p, way) for p, way, variable in group if solver.boolean_value(variable)) for group in chosen]
